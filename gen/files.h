/* files.h - the generator's only ways to the file system. */
#ifndef LATHE_FILES_H
#define LATHE_FILES_H

#include <lua.h>

/* Pushes a table of functions. Each returns nil and a message with the path where it fails.
 *   read(path)            the file's bytes
 *   write(path, text)     true when the file was made or changed, false when it held just that
 *                         text already; makes missing folders; no reader sees half a file.
 *                         What is no plain file (a device, a pipe, a link) is written through
 *   list(folder, suffix)  the names in a folder that end so, sorted
 *   remove(path)          true; a file that is not there is no error */
void files_push(lua_State *L);

#endif
