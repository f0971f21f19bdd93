#include "modules.h"

#include <lauxlib.h>

/* One row per module: its file in gen/, put into the program by the assembler, which finds it
 * through -Wa,-I. (clang-format does not agree with itself on these lines.) */
/* clang-format off */
#define MODULES(ROW)                                                                    \
  ROW(axes) ROW(call) ROW(cheaper) ROW(cost) ROW(definitions) ROW(dispatch)             \
  ROW(driver) ROW(edges) ROW(environment) ROW(expand) ROW(expr) ROW(gradient)           \
  ROW(family) ROW(graph_size) ROW(guard) ROW(limits) ROW(load) ROW(loops) ROW(lower)    \
  ROW(lower_c) ROW(lower_cuda) ROW(lower_glsl) ROW(magnitude) ROW(names) ROW(outside)   \
  ROW(parts) ROW(plan) ROW(power) ROW(program) ROW(schema) ROW(sizes) ROW(symbol)       \
  ROW(template) ROW(text) ROW(trace) ROW(vecmath) ROW(zero)
/* clang-format on */

#define EMBED(name)                                                                                \
  __asm__(".section .rodata\n"                                                                     \
          "lathe_module_" #name ":\n"                                                              \
          ".incbin \"" #name ".lua\"\n"                                                            \
          "lathe_module_" #name "_end:\n"                                                          \
          ".byte 0\n"                                                                              \
          ".previous\n");                                                                          \
  extern const char lathe_module_##name[], lathe_module_##name##_end[];
MODULES(EMBED)

static const struct {
  const char *name, *file, *start, *end;
} modules[] = {
#define ENTRY(name) {#name, "@gen/" #name ".lua", lathe_module_##name, lathe_module_##name##_end},
    MODULES(ENTRY)};

void modules_preload(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    size_t size = (size_t)(modules[i].end - modules[i].start);
    if (luaL_loadbufferx(L, modules[i].start, size, modules[i].file, "t") != LUA_OK) {
      lua_error(L);
    }
    lua_setfield(L, -2, modules[i].name);
  }
  lua_pop(L, 1);
}
