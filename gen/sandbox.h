/* sandbox.h - runs a spec's Lua under a limit on instructions and on memory. */
#ifndef LATHE_SANDBOX_H
#define LATHE_SANDBOX_H

#include <lua.h>

/* A Lua state whose allocator keeps count, so that a spec's memory can be capped. Null when
 * there is no memory. Close it with lua_close; sandbox_free after that. */
typedef struct sandbox sandbox;
sandbox *sandbox_new(lua_State **state);
void sandbox_free(sandbox *box);

/* Pushes the function `sandbox(methods, f, ...)`: calls f with the hooks set, the memory capped and
 * `methods` as the methods of strings, and returns true and what f returned; or false and a table
 * { message, file, line } that says where in which spec it stopped. */
void sandbox_push(lua_State *L);

#endif
