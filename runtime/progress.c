/* progress.c - one line on the terminal that says how far we are. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

static bool shown;

void progress_show(size_t done, size_t total, const char *now) {
  const double between_ns = 100e6;
  static double start, last;
  const double time = clock_ns();

  if (start == 0)
    start = time;
  if (!isatty(STDERR_FILENO) || time - last < between_ns)
    return;
  last = time;
  fprintf(stderr, "\r\033[K%zu of %zu rows", done, total);
  if (done > 0)
    fprintf(stderr, ", %.0f s left", (time - start) / (double)done * (double)(total - done) / 1e9);
  fprintf(stderr, ": %.60s", now);
  shown = true;
}

void progress_clear(void) {
  if (shown)
    fputs("\r\033[K", stderr);
  shown = false;
}
