/* kept.c - a program in a process of its own. */
#include "kept.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __linux__
#include <sys/prctl.h>
#endif

#include "base/message.h"

enum { NO_SUCH_PROGRAM = 127 /* as shells say it */, WORDS = 16, MOST = 4096 /* files */ };

/* Of all files the standard ones and these, which an exec is to keep. */
static void keep_files(int line, int file) {
  const int most = (int)sysconf(_SC_OPEN_MAX) < MOST ? (int)sysconf(_SC_OPEN_MAX) : MOST;

  for (int fd = STDERR_FILENO + 1; fd < most; fd++)
    fcntl(fd, F_SETFD, fd == line || fd == file ? 0 : FD_CLOEXEC);
}

/* In the new process: this program again, as small as it began, keeps the other one. */
_Noreturn static void become(const char *const *program, int line, int file, pid_t above) {
  static const char *const one_thread[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                           "MKL_NUM_THREADS"};
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  char number[16], parent[16];
  const char *words[WORDS] = {"bench", kept_command, parent};
  int count = 3;

  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    dup2(nothing, fd);
  for (size_t i = 0; i < sizeof one_thread / sizeof *one_thread; i++)
    setenv(one_thread[i], "1", 1);
  keep_files(line, file);
  snprintf(number, sizeof number, "%d", line);
  snprintf(parent, sizeof parent, "%d", (int)above);
  while (*program && count + 2 < WORDS)
    words[count++] = *program++;
  words[count] = number;
  execv("/proc/self/exe", (char *const *)(uintptr_t)words);
  _exit(NO_SUCH_PROGRAM);
}

const char kept_command[] = "keep";

/* Processes that the program has begun and left, also in groups of their own. */
static void end_orphans(void) {
#if defined __linux__
  enum { TIMES = 1000 }; /* some may be begun meanwhile */
  bool any = true;

  for (int i = 0; i < TIMES && any; i++) {
    FILE *children = fopen("/proc/thread-self/children", "re");
    int pid;
    any = false;
    while (children && fscanf(children, "%d", &pid) == 1) {
      kill(pid, SIGKILL);
      any = waitpid(pid, NULL, 0) == pid || any;
    }
    if (children)
      fclose(children);
  }
#endif
}

int kept_keep(int argc, char **argv) {
  sigset_t noted, before;
  int status = 0, number = 0;
  pid_t group;

  if (argc < 4)
    message_refuse("keep is for this program's own use");
#if defined __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* so that all it begins is known */
  prctl(PR_SET_DUMPABLE, 0);        /* the program's core is enough */
#endif
  sigfillset(&noted);
  sigprocmask(SIG_SETMASK, &noted, &before);
  group = fork();
  if (group == 0) {
    setpgid(0, 0);
#if defined __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* where the program ends who keeps it */
#endif
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(argv[2], argv + 2);
  }
  if (group <= 0)
    _exit(NO_SUCH_PROGRAM);
  setpgid(group, group);
  close(atoi(argv[argc - 1])); /* whose end is to be seen */
  sigemptyset(&noted);
  sigaddset(&noted, SIGTERM);
  sigaddset(&noted, SIGCHLD);
  while (number != SIGTERM && getppid() == atoi(argv[1]) && waitpid(group, &status, WNOHANG) == 0)
    sigwait(&noted, &number);
  kill(-group, SIGKILL);
  waitpid(group, &status, 0); /* leaves the status of one that was waited for */
  end_orphans();
  if (WIFEXITED(status))
    _exit(WEXITSTATUS(status));
  signal(SIGTERM, SIG_IGN); /* forgets one that came meanwhile */
  signal(WTERMSIG(status), SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  raise(WTERMSIG(status));
  _exit(NO_SUCH_PROGRAM);
}

bool kept_start(kept *k, const char *const *program, int file) {
  const pid_t above = getpid();
  int ends[2];

  k->line = NULL;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 || (k->pid = fork()) < 0) {
    k->pid = 0;
    return false;
  }
  if (k->pid == 0)
    become(program, ends[1], file, above);
  close(ends[1]);
  k->line = fdopen(ends[0], "r+");
  return true;
}

bool kept_answer(kept *k, char *answer, size_t size) {
  char *end, *plain;

  if (!k->line || !fgets(answer, (int)size, k->line) || !(end = strchr(answer, '\n')))
    return false;
  *end = 0;
  plain = message_plain(answer);
  if (plain)
    snprintf(answer, size, "%s", plain);
  free(plain);
  return plain != NULL;
}

kept_end kept_stop(kept *k) {
  int status = 0;

  if (k->line)
    fclose(k->line);
  kill(k->pid, SIGTERM); /* in case the program left the line and goes on */
  waitpid(k->pid, &status, 0);
  k->pid = 0;
  k->line = NULL;
  if (WIFSIGNALED(status))
    return (kept_end){.signal = WTERMSIG(status)};
  return (kept_end){.status = WEXITSTATUS(status),
                    .missing = WEXITSTATUS(status) == NO_SUCH_PROGRAM};
}

void kept_tell(const kept_end *end, char *text, size_t size) {
  if (end->signal)
    snprintf(text, size, "ended with signal %d, %s", end->signal, strsignal(end->signal));
  else
    snprintf(text, size, "ended with status %d", end->status);
}
