/* pool.c - work on all processors. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "aside.h"

enum { MOST_THREADS = 256 };

/* The work to be done. Threads wake when `round` changes; those that are not needed sleep on. */
static struct {
  pthread_mutex_t turn; /* whose work it is */
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  unsigned round;
  int wanted;  /* threads of this round, the caller's among them */
  int working; /* of these, others than the caller's that are not done yet */
  int started; /* threads that there are, the caller's among them */
  pool_work *work;
  void *context;
  size_t parts;
  atomic_size_t next;
} pool = {.turn = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .begin = PTHREAD_COND_INITIALIZER,
          .end = PTHREAD_COND_INITIALIZER,
          .started = 1};

static int asked; /* for threads; 0: one for each processor */

static int processors(void) {
  cpu_set_t set;
  int count = 1;

  if (sched_getaffinity(0, sizeof set, &set) == 0)
    count = CPU_COUNT(&set);
  return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : count;
}

int pool_threads(void) {
  static int found;

  if (asked > 0)
    return asked;
  if (found == 0)
    found = processors();
  return found;
}

void pool_use(int threads) {
  asked = threads > MOST_THREADS ? MOST_THREADS : threads;
}

static cpu_set_t strayed; /* where threads may run, but the one that stays */
static bool stays;

void pool_stay(size_t nth) {
  cpu_set_t one;
  size_t left;

  pool_threads(); /* counts processors before */
  if (!stays && sched_getaffinity(0, sizeof strayed, &strayed) != 0)
    return;
  left = nth % (size_t)CPU_COUNT(&strayed);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &strayed) && left-- == 0)
      CPU_SET(cpu, &one);
  stays = sched_setaffinity(0, sizeof one, &one) == 0 || stays;
}

static void work_on(int thread) {
  for (size_t part; (part = atomic_fetch_add(&pool.next, 1)) < pool.parts;)
    pool.work(pool.context, part, thread);
}

static void *serve(void *number) {
  const int thread = (int)(intptr_t)number;
  unsigned seen;

  if (stays) /* that is the thread that has started this one */
    sched_setaffinity(0, sizeof strayed, &strayed);
  pthread_mutex_lock(&pool.lock);
  seen = pool.round - 1; /* it was started for the round that is under way */
  for (;;) {
    while (seen == pool.round || thread >= pool.wanted) {
      seen = pool.round;
      pthread_cond_wait(&pool.begin, &pool.lock);
    }
    seen = pool.round;
    pthread_mutex_unlock(&pool.lock);
    work_on(thread);
    pthread_mutex_lock(&pool.lock);
    if (--pool.working == 0)
      pthread_cond_signal(&pool.end);
  }
  return NULL;
}

/* A forked process has the thread that forked alone. */
static void forget_threads(void) {
  pthread_mutex_init(&pool.turn, NULL);
  pthread_mutex_init(&pool.lock, NULL);
  pthread_cond_init(&pool.begin, NULL);
  pthread_cond_init(&pool.end, NULL);
  pool.started = 1;
}

/* Starts threads until there are as many, or no more to be had. */
static void start_threads(int wanted) {
  static bool prepared;

  if (pool.started >= wanted)
    return;
  if (!prepared)
    prepared = pthread_atfork(NULL, NULL, forget_threads) == 0;
  while (prepared && pool.started < wanted) {
    pthread_t thread;
    if (!aside_start(&thread, serve, (void *)(intptr_t)pool.started)) /* NOLINT */
      break;
    pthread_detach(thread);
    pool.started++;
  }
}

void pool_run(pool_work *work, void *context, size_t parts) {
  int wanted = pool_threads();

  if ((size_t)wanted > parts)
    wanted = (int)parts;
  if (wanted <= 1 || pthread_mutex_trylock(&pool.turn) != 0) {
    for (size_t part = 0; part < parts; part++)
      work(context, part, 0);
    return;
  }
  pthread_mutex_lock(&pool.lock);
  pool.work = work;
  pool.context = context;
  pool.parts = parts;
  atomic_store(&pool.next, 0);
  pool.round++;
  pool.wanted = 0; /* of those that are starting none begins until it is known how many there are */
  start_threads(wanted);
  pool.wanted = wanted < pool.started ? wanted : pool.started;
  pool.working = pool.wanted - 1;
  pthread_cond_broadcast(&pool.begin);
  pthread_mutex_unlock(&pool.lock);
  work_on(0);
  pthread_mutex_lock(&pool.lock);
  while (pool.working > 0)
    pthread_cond_wait(&pool.end, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
  pthread_mutex_unlock(&pool.turn);
}

size_t pool_parts(size_t all, size_t each) {
  return all / each + (all % each != 0);
}

size_t pool_part_size(size_t all, size_t each, size_t nth) {
  const size_t left = all - nth * each;

  return left < each ? left : each;
}
