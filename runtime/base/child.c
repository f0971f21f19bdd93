/* child.c - this program again, or another one, as a process beside this one. */
#define _GNU_SOURCE /* vasprintf */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __linux__
#include <sys/personality.h>
#include <sys/prctl.h>
#endif

#include "message.h"
#include "signals.h"

void child_word(child_words *words, const char *format, ...) {
  va_list list;
  char *word = NULL;

  va_start(list, format);
  message_need(vasprintf(&word, format, list) < 0 ? NULL : word);
  va_end(list);
  words->at = message_need(realloc(words->at, ((size_t)words->count + 2) * sizeof *words->at));
  words->at[words->count++] = word;
  words->at[words->count] = NULL;
}

void child_words_free(child_words *words) {
  for (int i = 0; i < words->count; i++)
    free(words->at[i]);
  free(words->at);
  *words = (child_words){0};
}

pid_t child_start(const char *program, const child_words *words, int in, int out, int err) {
  const pid_t above = getpid(), child = fork();

  if (child != 0)
    return child > 0 ? child : 0;
#if defined __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  if (getppid() != above || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
      dup2(err, STDERR_FILENO) < 0)
    _exit(127);
  if (program)
    execvp(program, words->at);
  else
    execv("/proc/self/exe", words->at);
  _exit(127);
}

int child_wait(pid_t child) {
  bool told = false;
  int status = 0;
  pid_t found;

  while ((found = waitpid(child, &status, WNOHANG)) == 0 || (found < 0 && errno == EINTR)) {
    if (signals_interrupted() && !told)
      kill(child, SIGTERM);
    told = signals_interrupted();
    usleep(2000);
  }
  return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_settle(char **argv) {
#if defined __linux__
  const unsigned long asks = 0xffffffff; /* what it is, and changes nothing */
  const int now = personality(asks);

  if (now >= 0 && !(now & ADDR_NO_RANDOMIZE) &&
      personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0 &&
      personality(asks) & ADDR_NO_RANDOMIZE)
    execv("/proc/self/exe", argv);
#else
  (void)argv;
#endif
}
