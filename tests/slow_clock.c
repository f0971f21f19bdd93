/* slow_clock.c - for LD_PRELOAD: a clock on which everything takes SLOW_CLOCK times as long; or from process to process
 * up to SLOW_CLOCK_SPREAD longer, as a part of that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double number_of(const char *variable, double otherwise) {
  const char *text = getenv(variable);

  return text ? atof(text) : otherwise;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  static int (*own)(clockid_t, struct timespec *);
  static double slow, spread;
  double times, seconds, whole, rest;

  if (!own) {
    slow = number_of("SLOW_CLOCK", 1);
    spread = number_of("SLOW_CLOCK_SPREAD", 0);
    own = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  }
  if (own(clock, at) != 0)
    return -1;
  times = slow;
  if (spread > 0)
    times *= 1 + spread * ((uint32_t)getpid() * 2654435761u >> 8) * 0x1p-24;
  seconds = times * (double)at->tv_sec;
  whole = (double)(long long)seconds;
  rest = times * (double)at->tv_nsec + 1e9 * (seconds - whole);
  at->tv_sec = (time_t)whole + (time_t)(rest / 1e9);
  at->tv_nsec = (long)(rest - 1e9 * (double)(time_t)(rest / 1e9));
  return 0;
}
