#define _DEFAULT_SOURCE
#include "sandbox.h"

#include <lauxlib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"

/* Far more than the largest spec needs (tracing one op takes some thousands of instructions and
 * some milliseconds), far less than a person waits for. Time is for what runs long inside one
 * call of C, where no hook looks: sorting, say, or repeating nothing for ever. */
enum { STEP = 1000 };
static const uint64_t instruction_limit = 10 * 1000 * 1000; /* of one call */
static const double seconds_limit = 5;                      /* of all calls of one spec */
static const size_t memory_limit = (size_t)64 << 20; /* of one call: none keeps what it used */
static const char too_long[] =
    "the spec ran more than 10 million instructions or 5 seconds; expected one that ends (look "
    "for a loop without an end)";
static const char too_large[] =
    "the spec used more than 64 MiB of memory; expected a few KiB (look for a table or string "
    "that grows without end)";

/* A line of a spec. */
typedef struct place {
  char file[256];
  int line;
} place;

struct sandbox {
  pool pool;
  size_t used, cap; /* bytes */
  uint64_t instructions;
  bool running, stopped, refused;
};

/* The line that ran last, which the handler below reads whenever it comes: it is written to the
 * place that is not `last` one. */
static place places[2];
static volatile sig_atomic_t last;

static void *allocate(void *user, void *old, size_t old_size, size_t size) {
  sandbox *box = user;
  if (!old) {
    old_size = 0; /* it then tells the kind of object */
  }
  if (size == 0) {
    box->used -= old_size;
    return pool_resize(&box->pool, old, old_size, 0);
  }
  if (size > old_size && size - old_size > box->cap - box->used) {
    box->refused = box->running;
    return NULL;
  }
  void *new = pool_resize(&box->pool, old, old_size, size);
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
    sandbox_free(box);
    return NULL;
  }
  return box;
}

void sandbox_free(sandbox *box) {
  pool_free(&box->pool);
  free(box);
}

static sandbox *box_of(lua_State *L) {
  void *box;
  lua_getallocf(L, &box);
  return box;
}

static void set_place(const char *file, int line) {
  if (strncmp(places[last].file, file, sizeof places[0].file - 1) != 0) {
    place *next = &places[!last];
    snprintf(next->file, sizeof next->file, "%s", file);
    next->line = line;
    last = !last;
  }
  places[last].line = line;
}

static void hook(lua_State *L, lua_Debug *event) {
  sandbox *box = box_of(L);
  if (event->event == LUA_HOOKLINE) {
    lua_getinfo(L, "Sl", event);
    /* The generator's own modules are not what the user can mend. */
    if (event->source[0] == '@' && strncmp(event->source, "@gen/", 5) != 0) {
      set_place(event->source + 1, event->currentline);
    }
    return;
  }
  box->instructions += STEP;
  if (box->instructions > instruction_limit) {
    box->stopped = true;
    luaL_error(L, too_long);
  }
}

/* Out of time: says so and ends the program, for nothing gets a function of C to return early. Only
 * calls that a handler may make. */
static void end_late(int number) {
  (void)number;
  char line[16], *digit = line + sizeof line;
  const place *at = &places[last];
  for (int rest = at->line; rest > 0; rest /= 10) {
    *--digit = (char)('0' + rest % 10);
  }
  if (at->line > 0) {
    *--digit = ':';
  }
  const struct iovec parts[] = {
      {(void *)at->file, strlen(at->file)},
      {digit, (size_t)(line + sizeof line - digit)},
      {": ", 2},
      {(void *)too_long, sizeof too_long - 1},
      {"\n", 1},
  };
  _exit(writev(STDERR_FILENO, parts, sizeof parts / sizeof *parts) < 0 ? 2 : 1);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Lets end_late come after so many seconds of the process's own time; 0: never. */
static void set_alarm(double seconds) {
  struct itimerval timer = {
      .it_value = {(time_t)seconds, (suseconds_t)((seconds - (time_t)seconds) * 1e6)}};
  struct sigaction action = {.sa_handler = end_late};
  sigaction(SIGPROF, &action, NULL);
  setitimer(ITIMER_PROF, &timer, NULL);
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

enum { METHODS = 1, WHERE, SPENT, FUNCTION };

static int run(lua_State *L) {
  sandbox *box = box_of(L);
  int arguments = lua_gettop(L) - FUNCTION;
  lua_getfield(L, SPENT, "seconds");
  double seconds = lua_tonumber(L, -1);
  lua_pop(L, 1);
  lua_pushvalue(L, METHODS);
  swap_string_methods(L);
  lua_replace(L, METHODS); /* the methods to restore */

  box->instructions = 0;
  box->stopped = box->refused = false;
  set_place(lua_tostring(L, WHERE), 0);
  double start = seconds_now(), left = seconds_limit - seconds;
  lua_sethook(L, hook, LUA_MASKLINE | LUA_MASKCOUNT, STEP);
  set_alarm(left > 1e-3 ? left : 1e-3);
  box->running = true;
  box->cap = box->used + memory_limit;
  int status = lua_pcall(L, arguments, LUA_MULTRET, 0);
  box->running = false;
  box->cap = SIZE_MAX;
  set_alarm(0);
  lua_sethook(L, NULL, 0, 0);

  lua_pushvalue(L, METHODS);
  swap_string_methods(L);
  lua_pop(L, 1);
  lua_pushnumber(L, seconds + seconds_now() - start);
  lua_setfield(L, SPENT, "seconds");
  if (status == LUA_OK) {
    lua_pushboolean(L, true);
    lua_replace(L, SPENT);
    return lua_gettop(L) - SPENT + 1;
  }
  lua_pushboolean(L, false);
  lua_newtable(L);
  if (box->stopped) {
    lua_pushstring(L, too_long);
  } else if (status == LUA_ERRMEM && box->refused) {
    lua_pushstring(L, too_large);
  } else {
    lua_pushvalue(L, FUNCTION);
  }
  lua_setfield(L, -2, "message");
  if (places[last].line > 0) {
    lua_pushfstring(L, "%s:%d", places[last].file, places[last].line);
  } else {
    lua_pushvalue(L, WHERE);
  }
  lua_setfield(L, -2, "where");
  return 2;
}

void sandbox_push(lua_State *L) {
  lua_pushcfunction(L, run);
}
