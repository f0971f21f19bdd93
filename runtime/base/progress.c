/* progress.c - one line on the terminal that says how far we are. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "terminal.h"

static bool shown;

void progress_show(size_t done, size_t total, const char *now) {
  const double between_ns = 100e6;
  const int width = terminal_width(STDERR_FILENO, 80);
  static double start, last;
  const double time = clock_ns();
  char left[48], text[320];

  if (start == 0)
    start = time;
  if (!isatty(STDERR_FILENO) || time - last < between_ns)
    return;
  last = time;
  snprintf(left, sizeof left, ", %.0f s left",
           (time - start) / (double)done * (double)(total - done) / 1e9);
  snprintf(text, sizeof text, "%zu of %zu rows%s: %s", done, total, done > 0 ? left : "", now);
  /* A line that goes on below could not be wiped. */
  fprintf(stderr, "\r\033[K%.*s", width - 1, text);
  shown = true;
}

void progress_clear(void) {
  if (shown)
    fputs("\r\033[K", stderr);
  shown = false;
}
