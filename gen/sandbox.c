#include "sandbox.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Far more than the largest spec needs (tracing one op takes some thousands), far less than a
 * person notices. */
enum { STEP = 1000 };
static const uint64_t instruction_limit = 10 * 1000 * 1000;
static const int seconds_limit = 5; /* for instructions that each copy megabytes */
static const size_t memory_limit = (size_t)64 << 20;

struct sandbox {
  size_t used, cap; /* bytes */
  uint64_t instructions;
  clock_t start;
  bool running, too_long, too_large;
  char file[256]; /* the spec's line that ran last */
  int line;
};

static void *allocate(void *user, void *old, size_t old_size, size_t size) {
  sandbox *box = user;
  if (!old) {
    old_size = 0; /* it then tells the kind of object */
  }
  if (size == 0) {
    box->used -= old_size;
    free(old);
    return NULL;
  }
  if (size > old_size && box->used - old_size > box->cap - size) {
    box->too_large = box->running;
    return NULL;
  }
  void *new = realloc(old, size);
  if (new) {
    box->used += size - old_size;
  }
  return new;
}

sandbox *sandbox_new(lua_State **state) {
  sandbox *box = calloc(1, sizeof *box);
  if (!box) {
    return NULL;
  }
  box->cap = SIZE_MAX;
  *state = lua_newstate(allocate, box);
  if (!*state) {
    free(box);
    return NULL;
  }
  return box;
}

void sandbox_free(sandbox *box) {
  free(box);
}

static sandbox *box_of(lua_State *L) {
  void *box;
  lua_getallocf(L, &box);
  return box;
}

static void hook(lua_State *L, lua_Debug *event) {
  sandbox *box = box_of(L);
  if (event->event == LUA_HOOKLINE) {
    lua_getinfo(L, "Sl", event);
    /* The generator's own modules are not what the user can mend. */
    if (event->source[0] == '@' && strncmp(event->source, "@gen/", 5) != 0) {
      snprintf(box->file, sizeof box->file, "%s", event->source + 1);
      box->line = event->currentline;
    }
    return;
  }
  box->instructions += STEP;
  if (box->instructions > instruction_limit ||
      clock() - box->start > (clock_t)seconds_limit * CLOCKS_PER_SEC) {
    box->too_long = true;
    luaL_error(L, "too long");
  }
}

/* Swaps the table that string methods are found in with the one at the top of the stack,
 * and pops it; the former one is pushed. Pattern matching can run for ever inside one call
 * of C, where no hook stops it. */
static void swap_string_methods(lua_State *L) {
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_getfield(L, -1, "__index"); /* new "" meta old */
  lua_pushvalue(L, -4);
  lua_setfield(L, -3, "__index");
  lua_replace(L, -4);
  lua_pop(L, 2);
}

static int run(lua_State *L) {
  sandbox *box = box_of(L);
  int arguments = lua_gettop(L) - 2;
  lua_pushvalue(L, 1);
  swap_string_methods(L);
  lua_replace(L, 1); /* the methods to restore */

  box->instructions = 0;
  box->start = clock();
  box->too_long = box->too_large = false;
  box->file[0] = '\0';
  box->line = 0;
  lua_sethook(L, hook, LUA_MASKLINE | LUA_MASKCOUNT, STEP);
  box->running = true;
  box->cap = box->used + memory_limit;
  int status = lua_pcall(L, arguments, LUA_MULTRET, 0);
  box->running = false;
  box->cap = SIZE_MAX;
  lua_sethook(L, NULL, 0, 0);

  lua_pushvalue(L, 1);
  swap_string_methods(L);
  lua_pop(L, 1);
  if (status == LUA_OK) {
    lua_pushboolean(L, true);
    lua_replace(L, 1);
    return lua_gettop(L);
  }
  lua_pushboolean(L, false);
  lua_newtable(L);
  if (box->too_long) {
    lua_pushfstring(L,
                    "the spec ran more than %d million instructions or %d seconds; expected one "
                    "that ends (look for a loop without an end)",
                    (int)(instruction_limit / 1000000), seconds_limit);
  } else if (box->too_large) {
    lua_pushfstring(L,
                    "the spec used more than %d MiB of memory; expected a few KiB (look for a "
                    "table or string that grows without end)",
                    (int)(memory_limit >> 20));
  } else {
    lua_pushvalue(L, -3);
  }
  lua_setfield(L, -2, "message");
  if (box->line > 0) {
    lua_pushstring(L, box->file);
    lua_setfield(L, -2, "file");
    lua_pushinteger(L, box->line);
    lua_setfield(L, -2, "line");
  }
  return 2;
}

void sandbox_push(lua_State *L) {
  lua_pushcfunction(L, run);
}
