/* lathe-gen: turns specs and templates into kernels, a dispatch table and build edges.
 * The stages are the Lua modules beside this file; driver.lua runs them. */
#define _POSIX_C_SOURCE 200809L
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"
#include "kernels.h"
#include "lines.h"
#include "modules.h"
#include "sandbox.h"

/* As gen/pour/instruction_sets.lua has it: what the compiler of this program defines. */
#if defined __x86_64__
#define PROCESSOR "x86_64"
#elif defined __aarch64__
#define PROCESSOR "aarch64"
#else
#define PROCESSOR "unknown"
#endif

static int protected_main(lua_State *L) {
  char **argv = lua_touserdata(L, 1);
  luaL_openlibs(L);
  modules_preload(L);
  lua_newtable(L);
  files_push(L);
  lua_setfield(L, -2, "files");
  lua_pushcfunction(L, lines_new);
  lua_setfield(L, -2, "lines");
  sandbox_push(L);
  lua_setfield(L, -2, "sandbox");
  kernels_push(L);
  lua_setfield(L, -2, "spirv_kernel");
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  if (length > 0 && length < (ssize_t)sizeof program) {
    lua_pushlstring(L, program, (size_t)length);
    lua_setfield(L, -2, "program");
  }
  lua_pushliteral(L, PROCESSOR);
  lua_setfield(L, -2, "processor");
  lua_setglobal(L, "host");

  lua_getglobal(L, "require");
  lua_pushliteral(L, "driver");
  lua_call(L, 1, 1);
  int arguments = 0;
  for (; argv[arguments + 1]; arguments++) {
    luaL_checkstack(L, 4, "arguments");
    lua_pushstring(L, argv[arguments + 1]);
  }
  lua_call(L, arguments, 1);
  return 1;
}

int main(int argc, char **argv) {
  (void)argc;
  lua_State *L;
  sandbox *box = sandbox_new(&L);
  if (!box) {
    fputs("lathe-gen: not enough memory to start\n", stderr);
    return EXIT_FAILURE;
  }
  lua_pushcfunction(L, protected_main);
  lua_pushlightuserdata(L, argv);
  int status = EXIT_FAILURE;
  if (lua_pcall(L, 1, 1, 0) == LUA_OK) {
    status = (int)lua_tointeger(L, -1);
  } else {
    const char *message = lua_tostring(L, -1);
    fprintf(stderr, "%s\n", message ? message : "lathe-gen: not enough memory");
  }
  lua_close(L);
  sandbox_free(box);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    perror("lathe-gen: cannot write standard output");
    status = EXIT_FAILURE;
  }
  return status;
}
