/* terminal.c - what a terminal shows: how wide it is, and colours where they are wanted. */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(int descriptor, int otherwise) {
  struct winsize size;

  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

const char *terminal_paint(colour c) {
  static const char *const codes[] = {"\033[0m", "\033[1;32m", "\033[1;31m", "\033[2m", "\033[1m"};
  static int wanted = -1;

  if (wanted < 0) {
    const char *term = getenv("TERM");
    const char *no = getenv("NO_COLOR");
    wanted = isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
  }
  return wanted ? codes[c] : "";
}
