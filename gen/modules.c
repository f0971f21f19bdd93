#include "modules.h"

#include <lauxlib.h>

#include "../runtime/library/launch.h"

/* One row per module, its folder in gen/ and its name: put into the program by the assembler, which finds the file
 * through -Wa,-I, and build.ninja.in what this file depends on. (clang-format does not agree with itself on
 * these lines.) */
/* clang-format off */
#define MODULES(ROW) \
  ROW(base, axes) ROW(base, text) ROW(base, types) \
  ROW(command, cost) ROW(command, definitions) ROW(command, device_code) ROW(command, driver) ROW(command, export) \
  ROW(command, export_command) ROW(command, found) ROW(command, python) ROW(command, raw) \
  ROW(command, raw_steps) ROW(command, shards) ROW(command, show) \
  ROW(load, environment) ROW(load, guard) ROW(load, keys) ROW(load, limits) ROW(load, load) \
  ROW(load, names) ROW(load, operands) ROW(load, outside) ROW(load, schema) \
  ROW(load, sizes) \
  ROW(trace, apart) ROW(trace, call) ROW(trace, contraction) ROW(trace, cut) ROW(trace, elementary) \
  ROW(trace, expr) ROW(trace, fold) ROW(trace, formula) ROW(trace, gradient) \
  ROW(trace, graph_size) ROW(trace, kind) ROW(trace, magnitude) ROW(trace, move) ROW(trace, operations) \
  ROW(trace, pattern) ROW(trace, power) ROW(trace, saved) ROW(trace, symbol) ROW(trace, trace) \
  ROW(trace, vocabulary) ROW(trace, zero) \
  ROW(program, chain) ROW(program, cutting) ROW(program, nest) ROW(program, passes) \
  ROW(program, products) ROW(program, program) ROW(program, reads) ROW(program, reductions) \
  ROW(program, reference) ROW(program, sequence) ROW(program, spans) ROW(program, joined) ROW(program, steps) \
  ROW(program, stream) \
  ROW(schedule, backends) ROW(schedule, defaults) ROW(schedule, parts) ROW(schedule, preferences) \
  ROW(schedule, schedule) ROW(schedule, sources) ROW(schedule, variants) \
  ROW(pour, cheaper) ROW(pour, coefficients) ROW(pour, headers) ROW(pour, instruction_sets) ROW(pour, interface) \
  ROW(pour, launches) ROW(pour, loops) ROW(pour, lower) ROW(pour, lower_c) ROW(pour, lower_cuda) ROW(pour, lower_glsl) \
  ROW(pour, lower_steps) ROW(pour, narrow) ROW(pour, operators) ROW(pour, points) \
  ROW(pour, pour) ROW(pour, ranges) ROW(pour, template) ROW(pour, trigonometry) ROW(pour, vecmath) ROW(pour, wording) \
  ROW(table, dispatch) ROW(table, edges) ROW(table, library)
/* clang-format on */

#define EMBED(folder, name)                                                                        \
  __asm__(".section .rodata\n"                                                                     \
          "lathe_module_" #name ":\n"                                                              \
          ".incbin \"" #folder "/" #name ".lua\"\n"                                                \
          "lathe_module_" #name "_end:\n"                                                          \
          ".byte 0\n"                                                                              \
          ".previous\n");                                                                          \
  extern const char lathe_module_##name[], lathe_module_##name##_end[];
MODULES(EMBED)

static const struct {
  const char *name, *file, *start, *end;
} modules[] = {
#define ENTRY(folder, name)                                                                        \
  {#name, "@gen/" #folder "/" #name ".lua", lathe_module_##name, lathe_module_##name##_end},
    MODULES(ENTRY)};

/* The module capacity: how much a call has places for, as call.h and launch.h say. */
static int open_capacity(lua_State *L) {
  static const struct {
    const char *name;
    int value;
  } capacity[] = {{"dims", LATHE_MAX_DIMS},
                  {"operands", LATHE_MAX_OPERANDS},
                  {"scalars", LATHE_MAX_SCALARS},
                  {"launches", LATHE_MAX_LAUNCHES / 2},
                  {"prefers", LATHE_PREFERS}};

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
