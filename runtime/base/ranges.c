/* ranges.c - named ranges of time, for a tool that names its library in NVTX_INJECTION64_PATH, as NVTX's headers look
 * for it. The tool is handed tables of places for its functions, and fills in those that it has. Nothing of NVTX is
 * needed to build or to run this. */
#include "ranges.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "message.h"

/* NvtxExportTableID, NvtxCallbackModule and NvtxCallbackIdCore: of each the values used. */
enum {
  TABLE_OF_CALLBACKS = 1,
  MODULE_CORE = 1,
  MODULE_CORE2 = 5,
  CORE_RANGE_PUSH = 9,
  CORE_RANGE_POP = 11,
  SLOTS = 16, /* of each of these modules; the first stands for nothing */
};

typedef void function(void);

static function *core[SLOTS], *core2[SLOTS];

/* Says where a module's functions are to be put, and the number of the last; 0 for a module that there is not. */
static int module_table(int module, function ***table, unsigned *last) {
  static function **places[2][SLOTS];
  const int which = module == MODULE_CORE2;

  if (module != MODULE_CORE && module != MODULE_CORE2)
    return 0;
  for (int i = 1; i < SLOTS; i++)
    places[which][i] = which ? &core2[i] : &core[i];
  if (table)
    *table = (function **)places[which];
  if (last)
    *last = SLOTS - 1;
  return 1;
}

/* NvtxExportTableCallbacks. */
static const struct {
  size_t size;
  int (*module_table)(int module, function ***table, unsigned *last);
} callbacks = {sizeof callbacks, module_table};

static const void *export_table(uint32_t id) {
  return id == TABLE_OF_CALLBACKS ? &callbacks : NULL;
}

/* A tool that cannot be used is worth a warning, and no more. */
static void open_tool(void) {
  const char *path = getenv("NVTX_INJECTION64_PATH");
  int (*initialize)(const void *(*tables)(uint32_t)) = NULL;
  void *tool;

  if (!path || !*path)
    return;
  tool = dlopen(path, RTLD_LAZY);
  if (tool)
    *(void **)&initialize = dlsym(tool, "InitializeInjectionNvtx2");
  if (!initialize || !initialize(export_table))
    message_warn("NVTX_INJECTION64_PATH names %s, which takes no ranges", path);
}

void ranges_begin(const char *name) {
  static int opened;

  if (!opened)
    open_tool();
  opened = 1;
  if (core[CORE_RANGE_PUSH])
    ((int (*)(const char *))core[CORE_RANGE_PUSH])(name);
}

void ranges_end(void) {
  if (core[CORE_RANGE_POP])
    ((int (*)(void))core[CORE_RANGE_POP])();
}
