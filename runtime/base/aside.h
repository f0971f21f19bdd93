/* aside.h - work beside the caller's, in a thread of its own, which takes no signals. */
#ifndef ASIDE_H
#define ASIDE_H

#include <pthread.h>
#include <stdbool.h>

typedef struct aside {
  pthread_t thread;
  bool begun;
} aside;

/* Begins it; what it returns is not looked at. Where no thread is to be had it is done before this returns. */
void aside_begin(aside *a, void *(*work)(void *context), void *context);

/* Waits until it is done. */
void aside_end(aside *a);

#endif
