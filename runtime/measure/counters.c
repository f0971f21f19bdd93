/* counters.c - what this processor counts while this thread runs, from the kernel's performance events. */
#include "counters.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { INSTRUCTIONS, CYCLES, CACHE_MISSES, EVENTS };

static int event[EVENTS] = {-1, -1, -1}; /* files; -1: not counted */
static char missing[160];

#if defined __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>

static const uint64_t configs[EVENTS] = {[INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
                                         [CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
                                         [CACHE_MISSES] = PERF_COUNT_HW_CACHE_MISSES};

static void say_why(int error) {
  FILE *from = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
  int paranoid = 0;
  const int known = from ? fscanf(from, "%d", &paranoid) : 0;

  if (from)
    fclose(from);
  if ((error == EACCES || error == EPERM) && known == 1)
    snprintf(
        missing, sizeof missing,
        "the kernel does not let it (kernel.perf_event_paranoid is %d; 2 or less does, where a "
        "container does as well)",
        paranoid);
  else if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
    snprintf(missing, sizeof missing,
             "this machine shows no counters, as most virtual machines do not");
  else
    snprintf(missing, sizeof missing, "perf_event_open: %s", strerror(error));
}

static void open_events(void) {
  int error = 0, opened = 0;

  for (int e = 0; e < EVENTS; e++) {
    struct perf_event_attr about = {.type = PERF_TYPE_HARDWARE,
                                    .size = sizeof about,
                                    .config = configs[e],
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    event[e] = (int)syscall(SYS_perf_event_open, &about, 0, -1, -1, 0);
    if (event[e] >= 0)
      opened++;
    else
      error = errno;
  }
  if (!opened)
    say_why(error);
}
#else
static void open_events(void) {
  snprintf(missing, sizeof missing, "this system has no performance events");
}
#endif

/* Files count for the process that opened them: a forked one opens its own. */
static void open_once(void) {
  static pid_t owner;

  if (owner == getpid())
    return;
  for (int e = 0; e < EVENTS; e++)
    if (event[e] >= 0)
      close(event[e]);
  owner = getpid();
  open_events();
}

const char *counters_missing(void) {
  open_once();
  return missing[0] ? missing : NULL;
}

static double value_of(int e) {
  uint64_t value;

  if (event[e] < 0 || read(event[e], &value, sizeof value) != (ssize_t)sizeof value)
    return NAN;
  return (double)value;
}

counters counters_read(void) {
  open_once();
  return (counters){value_of(INSTRUCTIONS), value_of(CYCLES), value_of(CACHE_MISSES)};
}
