/* sandbox.h - runs a spec's Lua under limits on instructions, time and memory. */
#ifndef LATHE_SANDBOX_H
#define LATHE_SANDBOX_H

#include <lua.h>

/* A Lua state whose allocator keeps count, so that a spec's memory can be capped. Null when
 * there is no memory. Close it with lua_close; sandbox_free after that. */
typedef struct sandbox sandbox;
sandbox *sandbox_new(lua_State **state);
void sandbox_free(sandbox *box);

/* Pushes the function `sandbox(methods, where, spent, f, ...)`: calls f with the hooks set, the memory
 * capped and `methods` as the methods of strings, and returns true and what f returned; or false and a
 * table { message, where }: the line of a spec where it stopped, or the `where` given if none ran.
 * spent is a table, one for each spec, empty at first: it keeps the seconds that the calls of
 * a spec took, for that limit holds for all of them together. Where the time is over, the process
 * ends: with that line on standard error and status 1. */
void sandbox_push(lua_State *L);

#endif
