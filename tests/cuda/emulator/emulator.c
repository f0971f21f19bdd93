/* emulator.c - a libcuda.so.1 whose one device is this machine's processor: it runs the kernels that this
 * folder's nvcc makes, so that what they compute can be checked where there is no GPU. It is not there to be
 * timed, and threads of a block take turns, so that it does not see races.
 *
 * A block has one of the operating system's threads at a time, and with it shared memory of its own, which
 * is thread-local; the block's threads are fibers in it, which go on to the next where they wait. A few
 * clusters of blocks run at a time, begun in the order of their numbers. The file that EMULATOR_RAN in the
 * environment names gets a line with the name of each kernel that is launched. EMULATOR_MULTIPROCESSORS says how
 * many multiprocessors the device tells of. */
#include "emulator.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "launch.h"

enum {
  STACK = 256 << 10, /* bytes of a fiber's */
  STAGGER =
      192, /* bytes that a stack begins below the one before, lest all share a few lines of the caches */
  MOST_COPIES = 256, /* that a thread has begun */
  MOST_PRODUCTS = 32,
  MOST_ROUNDS = 1 << 20, /* that a thread waits for a phase */
};

/* Where a fiber goes on, by the compiler's own setjmp: it keeps next to nothing, and C's costs as much as all else. */
typedef void *place_in_code[5];

/* Fibers that wait for each other. */
typedef struct barrier {
  unsigned members, arrived, generation;
} barrier;

/* What a thread has begun, in groups of which `ended` have their end: the first `count` of a list, in their order. */
typedef struct begun {
  unsigned count, ended;
} begun;

typedef struct copy {
  unsigned group;
  void *to;
  unsigned char from[16];
} copy;

typedef struct product {
  unsigned group;
  emulator_multiply *of;
  float *sums;
  const void *a, *b;
} product;

/* What a fiber is seldom asked for. */
typedef struct errands {
  begun copying, multiplying;
  bool may_multiply; /* sums are at rest */
  copy copies[MOST_COPIES];
  product products[MOST_PRODUCTS];
  ucontext_t start;
} errands;

/* Small, so that those of a warp lie on a page: fibers take turns every few hundred instructions. */
typedef struct fiber {
  emulator_places places; /* first: kernels are given its address */
  place_in_code at;
  bool begun, ended;
  bool waited; /* for the kernel before this one */
  unsigned exchanges;
} fiber;

/* The clusters that run of a launch. */
typedef struct cluster {
  const launch *of;
  unsigned *next; /* cluster's number, for all that run */
  unsigned number;
  pthread_barrier_t all;
  void *anchor[MOST_CLUSTER];
} cluster;

/* What runs one block after the other: the cluster's block `rank`. */
typedef struct worker {
  cluster *in;
  unsigned rank, count; /* count: threads of a block */
  unsigned running;     /* the fiber that does */
  fiber *fibers;
  errands *errands; /* by fiber */
  char *stacks;
  place_in_code idle;
  barrier block, first, warp[MOST_THREADS / WARP];
  emulator_words words[MOST_THREADS / WARP][2]; /* that were exchanged last */
} worker;

EMULATOR_THREAD const emulator_places *emulator_at;
static EMULATOR_THREAD worker *self;

/* ---- fibers ------------------------------------------------------------------------------------- */

static void run_fiber(void);

/* Goes on with fiber `nth`, until something goes on with this one. Never a part of what sets a place in code. */
__attribute__((noinline)) static void switch_to(unsigned nth) {
  fiber *f = &self->fibers[nth];

  self->running = nth;
  emulator_at = &f->places;
  if (f->begun)
    __builtin_longjmp(f->at, 1);
  f->begun = true;
  setcontext(&self->errands[nth].start);
}

/* The next fiber that has not ended, of `count` from the first on; that which runs where there is no other. */
static unsigned next_fiber(unsigned first, unsigned count) {
  unsigned nth = self->running;

  do
    nth = nth + 1 < first + count ? nth + 1 : first;
  while (self->fibers[nth].ended && nth != self->running);
  return nth;
}

/* The next of these fibers goes on. A macro, for what sets a place in code is never a part of another function, and each
 * function that is returned from costs what a processor guessed wrongly: it returns to where the fiber before did. */
#define GIVE_WAY(nth)                                                                              \
  do {                                                                                             \
    if (!__builtin_setjmp(self->fibers[self->running].at))                                         \
      switch_to(nth);                                                                              \
  } while (0)

/* Its generation before. */
static unsigned arrive(barrier *b) {
  const unsigned generation = b->generation;

  if (++b->arrived >= b->members) {
    b->arrived = 0;
    b->generation++;
  }
  return generation;
}

/* For all of a block's fibers. */
static void await(barrier *b) {
  const unsigned generation = arrive(b);

  while (b->generation == generation)
    GIVE_WAY(next_fiber(0, self->count));
}

/* One that has ended is waited for no longer. */
static void leave(barrier *b) {
  b->members--;
  if (b->members > 0 && b->arrived == b->members) {
    b->arrived = 0;
    b->generation++;
  }
}

/* One block's thread after the other, as many as the worker has blocks. */
static void run_fiber(void) {
  worker *w = self;
  const unsigned nth = w->running;

  for (;;) {
    const emulator_map *maps = w->in->of->maps;
    w->in->of->kernel(w->in->of->args, maps[0], maps[1], maps[2], maps[3], maps[4], maps[5]);
    if (w->in->of->early && !w->fibers[nth].waited) {
      fprintf(stderr, "emulator: a kernel does not wait for the one before it\n");
      abort();
    }
    w->fibers[nth].ended = true;
    leave(&w->block);
    leave(&w->warp[nth / WARP]);
    if (__builtin_setjmp(w->fibers[nth].at))
      continue;
    if (w->block.members > 0)
      switch_to(next_fiber(0, w->count));
    __builtin_longjmp(w->idle, 1);
  }
}

/* ---- what kernels call -------------------------------------------------------------------------- */

void emulator_begin(void) {
  self->fibers[self->running].waited = true;
}

void emulator_await_block(void) {
  await(&self->block);
}

void emulator_await_cluster(void) {
  emulator_await_block();
  if (self->running == 0)
    pthread_barrier_wait(&self->in->all);
  emulator_await_block();
}

void emulator_await_first(unsigned threads) {
  self->first.members = threads;
  await(&self->first);
}

void emulator_let_others(unsigned rounds) {
  unsigned nth = self->running | (WARP - 1);

  if (rounds == MOST_ROUNDS) {
    fprintf(stderr, "emulator: a thread waits for a phase that does not end\n");
    abort();
  }
  do
    nth = (nth + 1) % self->count;
  while (self->fibers[nth].ended && nth != self->running);
  GIVE_WAY(nth);
}

unsigned emulator_cluster_size(void) {
  return self->in->of->cluster;
}

/* Other fibers of the warp go on: so a warp runs ahead of others as far as the block's barriers let it. */
const emulator_words *emulator_exchange_all(const unsigned *words, unsigned count) {
  const unsigned warp = self->running / WARP, first = warp * WARP, left = self->count - first;
  emulator_words *all = &self->words[warp][self->fibers[self->running].exchanges++ % 2];
  barrier *const b = &self->warp[warp];
  unsigned generation;

  for (unsigned nth = 0; nth < count; nth++)
    (*all)[nth][self->running % WARP] = words[nth];
  generation = arrive(b);
  while (b->generation == generation)
    GIVE_WAY(next_fiber(first, left < WARP ? left : WARP));
  return all;
}

/* One more in a list with room for `most`; which. */
static unsigned begin(begun *b, unsigned most) {
  if (b->count == most) {
    fprintf(stderr, "emulator: a thread has begun more than %u\n", most);
    abort();
  }
  return b->count++;
}

void emulator_copy(void *to, const void *from) {
  errands *f = &self->errands[self->running];
  copy *c = &f->copies[begin(&f->copying, MOST_COPIES)];

  c->group = f->copying.ended;
  c->to = to;
  memcpy(c->from, from, sizeof c->from);
  memset(to, 0xff, sizeof c->from);
}

void emulator_end_copies(void) {
  self->errands[self->running].copying.ended++;
}

void emulator_await_copies(int most) {
  errands *f = &self->errands[self->running];
  unsigned done = 0;

  while (done < f->copying.count && f->copies[done].group + (unsigned)most < f->copying.ended) {
    memcpy(f->copies[done].to, f->copies[done].from, sizeof f->copies[done].from);
    done++;
  }
  f->copying.count -= done;
  memmove(f->copies, f->copies + done, f->copying.count * sizeof *f->copies);
}

void emulator_begin_multiplying(void) {
  self->errands[self->running].may_multiply = true;
}

void emulator_multiply_ahead(emulator_multiply *of, float *sums, const void *a, const void *b) {
  errands *f = &self->errands[self->running];

  if (!f->may_multiply)
    sums[0] = NAN;
  f->products[begin(&f->multiplying, MOST_PRODUCTS)] =
      (product){f->multiplying.ended, of, sums, a, b};
}

void emulator_end_multiplying(void) {
  self->errands[self->running].multiplying.ended++;
}

void emulator_await_products(int most) {
  errands *f = &self->errands[self->running];
  unsigned done = 0;

  while (done < f->multiplying.count &&
         f->products[done].group + (unsigned)most < f->multiplying.ended) {
    const product *p = &f->products[done++];
    p->of(p->sums, p->a, p->b);
  }
  f->multiplying.count -= done;
  memmove(f->products, f->products + done, f->multiplying.count * sizeof *f->products);
  f->may_multiply = f->may_multiply && most > 0;
}

unsigned emulator_shared(void) {
  return self->in->of->shared;
}

void *emulator_in_block(void *shared, unsigned block) {
  const char *mine = self->in->anchor[self->rank];

  return (char *)self->in->anchor[block] + ((char *)shared - mine);
}

#ifndef __F16C__
float emulator_from_half(uint16_t bits) {
  _Float16 x;

  memcpy(&x, &bits, sizeof x);
  return x;
}

uint16_t emulator_to_half(float x) {
  const _Float16 half = (_Float16)x;
  uint16_t bits;

  memcpy(&bits, &half, sizeof bits);
  return bits;
}
#endif

/* ---- blocks ------------------------------------------------------------------------------------- */

static emulator_place place_of(unsigned nth, emulator_place of) {
  return (emulator_place){nth % of.x, nth / of.x % of.y, nth / of.x / of.y};
}

static void run_block(worker *w, unsigned number) {
  const launch *l = w->in->of;

  w->block = (barrier){.members = w->count};
  w->first = (barrier){0};
  for (unsigned nth = 0; nth < w->count; nth++) {
    fiber *f = &w->fibers[nth];
    const unsigned after = w->count - nth / WARP * WARP;
    f->places = (emulator_places){place_of(nth, l->threads), place_of(number, l->blocks),
                                  l->threads, l->blocks};
    f->ended = f->waited = false;
    f->exchanges = 0;
    w->errands[nth].copying = w->errands[nth].multiplying = (begun){0};
    w->errands[nth].may_multiply = false;
    w->warp[nth / WARP] = (barrier){.members = after < WARP ? after : WARP};
  }
  if (!__builtin_setjmp(w->idle))
    switch_to(0);
}

/* Fibers that have not begun. They belong to this thread alone, where thread-local variables are. */
static void make_fibers(worker *w) {
  for (unsigned nth = 0; nth < w->count; nth++) {
    ucontext_t *start = &w->errands[nth].start;
    w->fibers[nth].begun = false;
    getcontext(start);
    start->uc_stack.ss_sp = w->stacks + (size_t)nth * STACK;
    start->uc_stack.ss_size = STACK - nth % 256 * STAGGER;
    makecontext(start, run_fiber, 0);
  }
}

/* Blocks of clusters that nobody has begun, in step with the other workers of its cluster. */
static void *work(void *argument) {
  worker *w = argument;
  cluster *c = w->in;

  self = w;
  make_fibers(w);
  for (;;) {
    c->anchor[w->rank] = c->of->anchor();
    if (w->rank == 0)
      c->number = __atomic_fetch_add(c->next, 1, __ATOMIC_RELAXED);
    pthread_barrier_wait(&c->all);
    if (c->number >= c->of->clusters)
      return NULL;
    run_block(w, c->number * c->of->cluster + w->rank);
    pthread_barrier_wait(&c->all);
  }
}

/* Gives it fibers and their stacks, which stay for later launches; false where there is no memory. */
static bool equip(worker *w) {
  if (w->fibers)
    return true;
  w->stacks = mmap(NULL, (size_t)MOST_THREADS * STACK, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (w->stacks != MAP_FAILED)
    w->errands = calloc(MOST_THREADS, sizeof *w->errands);
  if (w->errands)
    w->fibers = calloc(MOST_THREADS, sizeof *w->fibers);
  return w->fibers;
}

void run_launch(const launch *l) {
  static worker workers[CLUSTERS][MOST_CLUSTER];
  cluster clusters[CLUSTERS];
  pthread_t thread[CLUSTERS][MOST_CLUSTER];
  unsigned next = 0;
  const unsigned groups = l->clusters < CLUSTERS ? l->clusters : CLUSTERS;

  for (unsigned g = 0; g < groups; g++) {
    clusters[g] = (cluster){.of = l, .next = &next};
    pthread_barrier_init(&clusters[g].all, NULL, l->cluster);
    for (unsigned rank = 0; rank < l->cluster; rank++) {
      worker *w = &workers[g][rank];
      w->in = &clusters[g];
      w->rank = rank;
      w->count = l->threads.x * l->threads.y * l->threads.z;
      if (!equip(w) || pthread_create(&thread[g][rank], NULL, work, w) != 0) {
        fprintf(stderr, "emulator: no memory or threads for a launch\n");
        abort();
      }
    }
  }
  for (unsigned g = 0; g < groups; g++) {
    for (unsigned rank = 0; rank < l->cluster; rank++)
      pthread_join(thread[g][rank], NULL);
    pthread_barrier_destroy(&clusters[g].all);
  }
}
