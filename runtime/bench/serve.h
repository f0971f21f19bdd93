/* serve.h - the process that uses devices, and what goes through the line to it.
 *
 * A request and its answer go through a socket as they lie in memory: both processes are one
 * program, forked, in which constant data has the same address. */
#ifndef SERVE_H
#define SERVE_H

#include "library/launch.h"
#include "rows/job.h"

enum { MOST_DEVICES = 16 };

typedef enum wish { FIND, MEMORY, STREAMS, ARITHMETIC, LAUNCH, KERNELS, RUN } wish;

typedef struct request {
  wish what;
  lathe_kind kind; /* FIND: of what kind; other wishes: which device */
  size_t device;
  int threads, way; /* STREAMS, ARITHMETIC */
  int streams;      /* STREAMS */
  size_t bytes;
  lathe_dtype dtype; /* ARITHMETIC */
  device_unit unit;
  job job; /* RUN, KERNELS */
} request;

/* The description of a device. */
typedef struct description {
  char id[16], name[256], notes[256];
  uint64_t features;
  double cache;
  unsigned char uuid[16];
  bool is_processor, cools;
} description;

typedef struct answer {
  double value;      /* MEMORY, STREAMS, ARITHMETIC */
  int way;           /* STREAMS, ARITHMETIC */
  device_time taken; /* LAUNCH; NaN where it is not known */
  char text[256];    /* FIND: why there are none */
  size_t count;      /* FIND */
  description device[MOST_DEVICES];
  int kernels; /* KERNELS: how many, or -1 with the reason in text */
  device_kernel kernel[LATHE_MAX_LAUNCHES];
  outcome outcome; /* RUN; after the answer come the samples, warm and cold, host and own */
} answer;

/* False where nobody listens any more. */
bool serve_put(int line, const void *from, size_t bytes);

/* Answers requests until the line is closed, each of whose steps the other process sees in `steps`. Ends by _exit: what
 * the program does when it ends is not this process's business. */
_Noreturn void serve(int line, device_steps *steps);

#endif
