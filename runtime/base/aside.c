/* aside.c - work beside the caller's. */
#include "aside.h"

#include <signal.h>

bool aside_start(pthread_t *thread, void *(*work)(void *context), void *context) {
  sigset_t all, before;
  bool started;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  started = pthread_create(thread, NULL, work, context) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

void aside_begin(aside *a, void *(*work)(void *context), void *context) {
  a->begun = aside_start(&a->thread, work, context);
  if (!a->begun)
    work(context);
}

void aside_end(aside *a) {
  if (a->begun)
    pthread_join(a->thread, NULL);
  a->begun = false;
}
