/* files.h - the generator's only ways to the file system. */
#ifndef LATHE_FILES_H
#define LATHE_FILES_H

#include <lua.h>

/* Pushes a table of functions. Each returns nil and a message with the path where it fails.
 *   read(path, most)      the bytes of a regular file: of at most so many where that is given
 *   write(path, text)     true when the file was made or changed, false when it held just that
 *                         text already; makes missing folders; no reader sees half a file.
 *                         What is no plain file (a device, a pipe, a link) is written through
 *   list(folder, suffix)  the names in a folder that end so, sorted; for "/" those of its folders
 *   remove(path)          true; a file that is not there, or a folder with something in it, is no
 *                         error */
void files_push(lua_State *L);

#endif
