/* process.c - Python with a library that kernels are held against. */
#define _GNU_SOURCE /* memfd_create */
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devices/common/kept.h"
#include "devices/foreign/foreign.h"
#include "devices/foreign/trust.h"

/* peer.py and the parts before it, put in by the assembler, which finds them through -Wa,-I. */
__asm__(".section .rodata\n"
        "lathe_peer_script:\n"
        ".incbin \"calls.py\"\n"
        ".incbin \"with_numpy.py\"\n"
        ".incbin \"with_torch.py\"\n"
        ".incbin \"with_foreign.py\"\n"
        ".incbin \"peer.py\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char lathe_peer_script[];

enum { LIBRARIES = 64, ANSWER = 300, PATH = 4096 };

typedef struct process {
  const char *library;
  kept kept;
  unsigned ended;
  int file;     /* that it has from its beginning on; 0: none */
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

/* Waits for the process's end, and says how it came to it. False where there was none to begin with. */
static bool bury(process *p, char why[PEER_WHY]) {
  const kept_end end = kept_stop(&p->kept);
  char how[PEER_WHY / 2];

  p->ended++;
  kept_tell(&end, how, sizeof how);
  snprintf(why, PEER_WHY, "%s's process %s", p->library, how);
  return !end.missing;
}

/* The state of a library in one Python. */
typedef enum beginning { BEGUN, LACKING, ENDED } beginning;

/* Where it has not begun why says more. */
static beginning start_in(process *p, const char *python, char why[PEER_WHY]) {
  const bool judged = strchr(p->library, ':');
  const char *const shut[] = {"/proc/self/exe",  trust_command, foreign_trust_word(),
                              p->library,        python,        "-c",
                              lathe_peer_script, p->library,    NULL};
  const char *const *program = judged ? shut : shut + 4;
  char answer[ANSWER] = "";

  if (!kept_start(&p->kept, program, judged ? p->file : -1)) {
    snprintf(why, PEER_WHY, "no process for %s: %s", p->library, strerror(errno));
    return ENDED;
  }
  if (kept_answer(&p->kept, answer, sizeof answer) && strncmp(answer, "ok ", 3) == 0) {
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
  if (!p->kept.pid && !start(p, why))
    return false;
  if (fputs(request, p->kept.line) < 0 || fflush(p->kept.line) != 0 ||
      !kept_answer(&p->kept, answer, sizeof answer)) {
    bury(p, why);
    return false;
  }
  if (sscanf(answer, "ok %lf", figure) == 1)
    return true;
  p->refused = true;
  snprintf(why, PEER_WHY, "%s", strncmp(answer, "no ", 3) == 0 ? answer + 3 : answer);
  return false;
}

int peer_file(const char *library) {
  process *p = process_of(library);

  if (!p->file)
    p->file = memfd_create("lathe-foreign", 0);
  return p->file;
}

bool peer_refused(const char *library) {
  return process_of(library)->refused;
}

unsigned peer_ended(const char *library) {
  return process_of(library)->ended;
}
