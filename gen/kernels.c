#include "kernels.h"

#include <lauxlib.h>

/* What takes a kernel out of a module is the runtime's: this program has no part of that besides. */
#include "../runtime/library/spirv.c"

static int kernel_of(lua_State *L) {
  size_t size = 0, count = 0;
  const char *bytes = luaL_checklstring(L, 1, &size);
  const lua_Integer nth = luaL_checkinteger(L, 2);
  uint32_t *words = malloc(size + 1), *kernel = NULL;
  if (words) {
    memcpy(words, bytes, size);
    kernel = lathe_spirv_kernel(words, size / sizeof *words, (uint32_t)nth, &count);
  }
  free(words);
  if (!kernel) {
    return luaL_error(L, "a module of SPIR-V has no kernel %I", nth);
  }
  lua_pushlstring(L, (const char *)kernel, count * sizeof *kernel);
  free(kernel);
  return 1;
}

void kernels_push(lua_State *L) {
  lua_pushcfunction(L, kernel_of);
}
