/* slow_clock.c - for LD_PRELOAD: a clock on which everything takes SLOW_CLOCK times as long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *at) {
  static int (*own)(clockid_t, struct timespec *);
  static double times;
  int failed;

  if (!own) {
    const char *asked = getenv("SLOW_CLOCK");
    times = asked ? atof(asked) : 1;
    own = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  }
  failed = own(clock, at);
  if (!failed) {
    const double seconds = times * (double)at->tv_sec, whole = (double)(long long)seconds;
    const double rest = times * (double)at->tv_nsec + 1e9 * (seconds - whole);
    at->tv_sec = (time_t)whole + (time_t)(rest / 1e9);
    at->tv_nsec = (long)(rest - 1e9 * (double)(time_t)(rest / 1e9));
  }
  return failed;
}
