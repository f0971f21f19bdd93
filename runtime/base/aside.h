/* aside.h - work beside the caller's, in threads that take no signals: those are the main thread's to heed. */
#ifndef ASIDE_H
#define ASIDE_H

#include <pthread.h>
#include <stdbool.h>

typedef struct aside {
  pthread_t thread;
  bool begun;
} aside;

/* Starts such a thread; false where none is to be had. */
bool aside_start(pthread_t *thread, void *(*work)(void *context), void *context);

/* Begins work that is waited for; what it returns is not looked at. Where no thread is to be had it is done before this
 * returns. */
void aside_begin(aside *a, void *(*work)(void *context), void *context);

/* Waits until it is done. */
void aside_end(aside *a);

#endif
