/* aside.c - work beside the caller's. */
#include "aside.h"

#include <signal.h>

void aside_begin(aside *a, void *(*work)(void *context), void *context) {
  sigset_t all, before;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  a->begun = pthread_create(&a->thread, NULL, work, context) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!a->begun)
    work(context);
}

void aside_end(aside *a) {
  if (a->begun)
    pthread_join(a->thread, NULL);
  a->begun = false;
}
