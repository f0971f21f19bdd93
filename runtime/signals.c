/* signals.c - crashes of kernels caught, the user's interrupt noted. */
#include "signals.h"

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

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
static volatile sig_atomic_t guarding, interrupted;
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

static void on_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

void signals_note_interrupts(void) {
  struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};

  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

bool signals_interrupted(void) {
  return interrupted != 0;
}

void signals_begin_child(void) {
  for (int i = 0; i < CRASHES; i++)
    signal(crashes[i].number, SIG_DFL);
  installed = false;
  signal(SIGABRT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_IGN);
}
