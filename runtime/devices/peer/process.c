/* process.c - Python with a library that kernels are held against. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __linux__
#include <sys/prctl.h>
#endif

#include "base/message.h"
#include "base/signals.h"

/* peer.py and the parts before it, put in by the assembler, which finds them through -Wa,-I. */
__asm__(".section .rodata\n"
        "lathe_peer_script:\n"
        ".incbin \"calls.py\"\n"
        ".incbin \"with_numpy.py\"\n"
        ".incbin \"with_torch.py\"\n"
        ".incbin \"peer.py\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char lathe_peer_script[];

enum { LIBRARIES = 8, ANSWER = 300, PATH = 4096, NO_SUCH_PROGRAM = 127 /* as shells say it */ };

typedef struct process {
  const char *library;
  pid_t pid; /* 0: none */
  FILE *line;
  unsigned ended;
  bool refused; /* what it was last asked */
  char version[ANSWER];
  char refusal[128];      /* what the last one said that has no such library, in brackets */
  char missing[PEER_WHY]; /* why there is none for good; or empty */
} process;

static process all[LIBRARIES];

static process *process_of(const char *library) {
  process *p = all;

  while (p->library && strcmp(p->library, library) != 0)
    p++;
  p->library = library;
  return p;
}

/* Where a Python may be: as asked for; of this build; or any. */
static const char *python_at(int place) {
  static const char *const others[] = {"python3", "/usr/bin/python3"};
  static char own[PATH];
  const char *asked = getenv("LATHE_PYTHON");
  ssize_t length;
  char *slash;

  if (asked && *asked)
    return place == 0 ? asked : NULL;
  if (place > 0)
    return place <= 2 ? others[place - 1] : NULL;
  length = readlink("/proc/self/exe", own, sizeof own - 1);
  own[length > 0 ? length : 0] = 0;
  slash = strrchr(own, '/');
  snprintf(slash ? slash : own, sizeof own - (slash ? (size_t)(slash - own) : 0),
           "/peers/bin/python3");
  return own;
}

/* In the new process: this program again, as small as it began, keeps Python. */
_Noreturn static void become(const char *python, const char *library, int line, pid_t above) {
  static const char *const one_thread[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                           "MKL_NUM_THREADS"};
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  char number[16], parent[16];

  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    dup2(nothing, fd);
  for (size_t i = 0; i < sizeof one_thread / sizeof *one_thread; i++)
    setenv(one_thread[i], "1", 1);
  line = dup(line); /* which an exec keeps */
  snprintf(number, sizeof number, "%d", line);
  snprintf(parent, sizeof parent, "%d", (int)above);
  execl("/proc/self/exe", "bench", peer_keep_command, parent, python, "-c", lathe_peer_script,
        library, number, (char *)NULL);
  _exit(NO_SUCH_PROGRAM);
}

const char peer_keep_command[] = "keep";

int peer_keep(int argc, char **argv) {
  sigset_t noted, before;
  int status = 0, number = 0;
  pid_t group;

  if (argc < 4)
    message_refuse("keep is for this program's own use");
#if defined __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_DUMPABLE, 0); /* Python's core is enough */
#endif
  sigfillset(&noted);
  sigprocmask(SIG_SETMASK, &noted, &before);
  group = fork();
  if (group == 0) {
    setpgid(0, 0);
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
  if (WIFEXITED(status))
    _exit(WEXITSTATUS(status));
  signal(SIGTERM, SIG_IGN); /* forgets one that came meanwhile */
  signal(WTERMSIG(status), SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  raise(WTERMSIG(status));
  _exit(NO_SUCH_PROGRAM);
}

/* An answer's line without its newline; false where the process has ended. */
static bool read_answer(process *p, char answer[ANSWER]) {
  char *end, *plain;

  if (!fgets(answer, ANSWER, p->line) || !(end = strchr(answer, '\n')))
    return false;
  *end = 0;
  plain = message_plain(answer);
  if (plain)
    snprintf(answer, ANSWER, "%s", plain);
  free(plain);
  return plain != NULL;
}

/* Waits for the process's end, and says how it came to it. False where there was none to begin with. */
static bool bury(process *p, char why[PEER_WHY]) {
  int status = 0;

  fclose(p->line);
  kill(p->pid, SIGTERM); /* in case Python left the line and goes on */
  waitpid(p->pid, &status, 0);
  p->pid = 0;
  p->ended++;
  if (WIFSIGNALED(status))
    snprintf(why, PEER_WHY, "%s's process ended with signal %d, %s", p->library, WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else
    snprintf(why, PEER_WHY, "%s's process ended with status %d", p->library, WEXITSTATUS(status));
  return !WIFEXITED(status) || WEXITSTATUS(status) != NO_SUCH_PROGRAM;
}

/* What becomes of a library in one Python. */
typedef enum beginning { BEGUN, LACKING, ENDED } beginning;

/* Where it has not begun why says more. */
static beginning start_in(process *p, const char *python, char why[PEER_WHY]) {
  const pid_t above = getpid();
  char answer[ANSWER] = "";
  int ends[2];

  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 || (p->pid = fork()) < 0) {
    p->pid = 0;
    snprintf(why, PEER_WHY, "no process for %s: %s", p->library, strerror(errno));
    return ENDED;
  }
  if (p->pid == 0)
    become(python, p->library, ends[1], above);
  close(ends[1]);
  p->line = fdopen(ends[0], "r+");
  if (p->line && read_answer(p, answer) && strncmp(answer, "ok ", 3) == 0) {
    memcpy(p->version, answer + 3, sizeof answer - 3);
    return BEGUN;
  }
  if (!bury(p, why))
    return LACKING;
  if (strncmp(answer, "no ", 3) != 0)
    return ENDED;
  snprintf(p->refusal, sizeof p->refusal, " (%.110s)", answer + 3);
  return LACKING;
}

static bool start(process *p, char why[PEER_WHY]) {
  const char *python;
  char ended[PEER_WHY] = "";

  if (p->missing[0]) {
    snprintf(why, PEER_WHY, "%s", p->missing);
    return false;
  }
  for (int place = 0; (python = python_at(place)); place++) {
    beginning b = start_in(p, python, why);
    if (b ==
        ENDED) /* another program may have done that, as the system does when memory is short */
      b = start_in(p, python, why);
    if (b == BEGUN)
      return true;
    if (b == ENDED)
      snprintf(ended, sizeof ended, "%s", why);
  }
  if (ended[0])
    snprintf(why, PEER_WHY, "%s", ended);
  else
    snprintf(why, PEER_WHY,
             "%s was found in no Python here%s; ./configure --install-deps=peers installs it, and "
             "LATHE_PYTHON names a Python",
             p->library, p->refusal);
  if (!p->version[0]) /* one that was there may be again */
    snprintf(p->missing, sizeof p->missing, "%s", why);
  return false;
}

bool peer_ask(const char *library, const char *request, double *figure, char why[PEER_WHY]) {
  process *p = process_of(library);
  char answer[ANSWER];

  p->refused = false;
  if (!p->pid && !start(p, why))
    return false;
  if (fputs(request, p->line) < 0 || fflush(p->line) != 0 || !read_answer(p, answer)) {
    bury(p, why);
    return false;
  }
  if (sscanf(answer, "ok %lf", figure) == 1)
    return true;
  p->refused = true;
  snprintf(why, PEER_WHY, "%s", strncmp(answer, "no ", 3) == 0 ? answer + 3 : answer);
  return false;
}

const char *peer_version(const char *library) {
  const process *p = process_of(library);

  return p->version[0] ? p->version : NULL;
}

bool peer_refused(const char *library) {
  return process_of(library)->refused;
}

unsigned peer_ended(const char *library) {
  return process_of(library)->ended;
}
