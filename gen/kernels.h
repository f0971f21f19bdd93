/* kernels.h - device code of single kernels. */
#ifndef LATHE_KERNELS_H
#define LATHE_KERNELS_H

#include <lua.h>

/* Pushes a function (bytes, nth) that gives the bytes of a module of SPIR-V with the nth kernel alone, of one with
 * several. */
void kernels_push(lua_State *L);

#endif
