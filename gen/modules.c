#include "modules.h"

#include <lauxlib.h>

#include "../runtime/library/launch.h"

/* One row per module: its file in gen/, put into the program by the assembler, which finds it
 * through -Wa,-I. (clang-format does not agree with itself on these lines.) */
/* clang-format off */
#define MODULES(ROW)                                                                    \
  ROW(apart) ROW(axes) ROW(backends) ROW(call) ROW(chain) ROW(cheaper) ROW(coefficients)\
  ROW(contraction) ROW(cost) ROW(cut) ROW(defaults) ROW(definitions) ROW(dispatch) ROW(driver) \
  ROW(edges) ROW(environment) ROW(expr) ROW(fold) ROW(formula) ROW(gradient)\
  ROW(graph_size) ROW(guard) ROW(instruction_sets) ROW(keys) ROW(kind) ROW(launches) ROW(limits)  \
  ROW(load) ROW(loops) ROW(lower) ROW(lower_c) ROW(lower_cuda) ROW(lower_glsl)          \
  ROW(lower_steps) ROW(magnitude) ROW(names) ROW(narrow) ROW(operands) ROW(operations)  \
  ROW(operators) ROW(outside) ROW(parts) ROW(passes) ROW(pattern) ROW(plan) ROW(points) ROW(pour)    \
  ROW(power) ROW(program) ROW(reductions) ROW(reference) ROW(schedule) ROW(schema)      \
  ROW(show) ROW(sizes) ROW(steps) ROW(symbol) ROW(template) ROW(text) ROW(trace)        \
  ROW(types) ROW(vecmath) ROW(vocabulary) ROW(wording) ROW(zero)
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

/* The module capacity: how much a call has places for, as lathe.h and launch.h say. */
static int open_capacity(lua_State *L) {
  static const struct {
    const char *name;
    int value;
  } capacity[] = {{"dims", LATHE_MAX_DIMS},
                  {"operands", LATHE_MAX_OPERANDS},
                  {"scalars", LATHE_MAX_SCALARS},
                  {"launches", LATHE_MAX_LAUNCHES}};

  lua_newtable(L);
  for (size_t i = 0; i < sizeof capacity / sizeof *capacity; i++) {
    lua_pushinteger(L, capacity[i].value);
    lua_setfield(L, -2, capacity[i].name);
  }
  return 1;
}

void modules_preload(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    size_t size = (size_t)(modules[i].end - modules[i].start);
    if (luaL_loadbufferx(L, modules[i].start, size, modules[i].file, "t") != LUA_OK) {
      lua_error(L);
    }
    lua_setfield(L, -2, modules[i].name);
  }
  lua_pushcfunction(L, open_capacity);
  lua_setfield(L, -2, "capacity");
  lua_pop(L, 1);
}
