/* modules.h - the generator's Lua modules, carried inside the program. */
#ifndef LATHE_MODULES_H
#define LATHE_MODULES_H

#include <lua.h>

/* Makes every module known to require(). */
void modules_preload(lua_State *L);

#endif
