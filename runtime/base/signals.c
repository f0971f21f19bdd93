/* signals.c - crashes of kernels caught, requests to end noted. */
#include "signals.h"

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#ifdef SIGRTMAX
#define LAST SIGRTMAX
#else
#define LAST (NSIG - 1)
#endif

static const struct {
  int number;
  const char *name;
} crashes[] = {
    {SIGSEGV, "SIGSEGV"},
    {SIGBUS, "SIGBUS"},
    {SIGILL, "SIGILL"},
    {SIGFPE, "SIGFPE"},
};
enum { CRASHES = sizeof crashes / sizeof *crashes };

const char *signals_name(int number) {
  for (int i = 0; i < CRASHES; i++)
    if (crashes[i].number == number)
      return crashes[i].name;
  return number == SIGABRT ? "SIGABRT" : "a signal";
}

static sigjmp_buf back;
static volatile sig_atomic_t guarding, noted;
static bool installed;

static void on_crash(int number) {
  if (guarding)
    siglongjmp(back, number);
  signal(number, SIG_DFL); /* not a kernel's crash but ours: die of it */
  raise(number);
}

static void install(void) {
  /* The kernel may have run over its stack, and AVX-512 state makes signal frames large. */
  static char stack[1 << 16];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};

  sigaltstack(&alternate, NULL);
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < CRASHES; i++)
    sigaction(crashes[i].number, &action, NULL);
}

const char *signals_guard(void (*function)(void *), void *argument) {
  int number;

  if (!installed) {
    install();
    installed = true;
  }
  number = sigsetjmp(back, 1);
  if (number == 0) {
    guarding = 1;
    function(argument);
    guarding = 0;
    return NULL;
  }
  guarding = 0;
  fesetenv(FE_DFL_ENV); /* the kernel may have left any rounding mode behind */
  return signals_name(number);
}

/* Whether a signal asks the program to end: each that would and can be caught, but for those that a fault raises. */
static bool is_request(int number) {
  static const int others[] = {
      SIGKILL, SIGSTOP,                    /* cannot be caught */
      SIGCHLD, SIGCONT, SIGURG,  SIGWINCH, /* tell of something */
      SIGTSTP, SIGTTIN, SIGTTOU,           /* stop */
      SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,   SIGABRT, SIGTRAP, SIGSYS,
  };

  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i] == number)
      return false;
  return true;
}

/* A second one is somebody who will not wait. */
static bool is_insistent(int number) {
  return number == SIGINT || number == SIGQUIT || number == SIGTERM;
}

static void (*before_death)(void);

/* A shell, a terminal and timeout(1) may send the same signal twice at once: that is but one. */
static bool same_again(int number) {
  static double first;
  struct timespec now;
  double seconds;

  clock_gettime(CLOCK_MONOTONIC, &now);
  seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
  if (!noted)
    first = seconds;
  return noted == number && seconds - first < 1;
}

static void on_request(int number) {
  const bool again = same_again(number);

  if (!noted) {
    noted = number;
    return;
  }
  if (is_insistent(number) && !again) {
    if (before_death)
      before_death();
    signal(number, SIG_DFL);
    raise(number); /* comes when this handler has returned */
  }
}

void signals_note_interrupts(void (*last)(void)) {
  struct sigaction action = {.sa_handler = on_request, .sa_flags = SA_RESTART}, before;

  before_death = last;
  sigemptyset(&action.sa_mask);
  for (int i = 1; i <= LAST; i++)
    if (is_request(i))
      sigaddset(&action.sa_mask, i);
  for (int i = 1; i <= LAST; i++)
    if (is_request(i) && sigaction(i, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(i, &action, NULL);
}

int signals_interrupted(void) {
  return noted;
}

void signals_begin_child(void) {
  for (int i = 0; i < CRASHES; i++)
    signal(crashes[i].number, SIG_DFL);
  installed = false;
  signal(SIGABRT, SIG_DFL);
  for (int i = 1; i <= LAST; i++)
    if (is_request(i))
      signal(i, SIG_IGN);
  signal(SIGTERM, SIG_DFL); /* whoever sends it to a child means that child */
  signal(SIGXCPU, SIG_DFL); /* as does a limit that it has used up itself */
}
