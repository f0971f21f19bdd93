/* modules.h - the generator's Lua modules, carried inside the program. */
#ifndef LATHE_MODULES_H
#define LATHE_MODULES_H

#include <lua.h>

/* Makes every module known to require(), and one, `capacity`, that is made here. */
void modules_preload(lua_State *L);

#endif
