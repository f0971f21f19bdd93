/* guest.h - the process that calls a library somebody else wrote, and what is asked of it. It has the inputs and what
 * the library makes of them, and no right result, no clock that counts and no verdict: these are the judge's
 * (device.h).
 *
 * Both processes have one file of memory. Its first part is the judge's, with inputs of two problems; in its second one
 * the guest has its buffers. Requests and answers go through a socket as they lie in memory, for both are one
 * program. */
#ifndef GUEST_H
#define GUEST_H

#include "devices/common/device.h"

/* Bytes of the file, most of which are never touched: of the inputs of a problem, and where buffers begin and end. */
#define GUEST_INPUTS ((size_t)1 << 38)
#define GUEST_BUFFERS (2 * GUEST_INPUTS)
#define GUEST_END ((size_t)1 << 41)

enum { GUEST_CALLS = 4 /* that may be prepared at a time */, GUEST_STATE = 64 };

typedef enum guest_wish {
  GUEST_NOTHING, /* what asking takes */
  GUEST_PREPARE,
  GUEST_RELEASE,
  GUEST_RESET,
  GUEST_LOAD,
  GUEST_TURNS,
  GUEST_RUN,
  GUEST_TIME,
  GUEST_INTACT
} guest_wish;

typedef struct guest_request {
  uint64_t ticket; /* which its answer has as well */
  guest_wish what;
  unsigned call; /* which of GUEST_CALLS */
  size_t op;     /* PREPARE, LOAD, TURNS: a problem, of lathe_ops */
  lathe_dtype dtype;
  size_t dim[LATHE_MAX_DIMS];
  double scalar[LATHE_MAX_SCALARS];
  uint64_t seed;
  unsigned special;
  size_t input[LATHE_MAX_OPERANDS]; /* where inputs lie in the file */
  device_layout layout;             /* PREPARE */
  device_load load;                 /* RUN */
  uint64_t calls, chance;           /* TIME */
} guest_request;

typedef struct guest_answer {
  uint64_t ticket;
  bool ok;
  device_fate fate;
  char why[256];                 /* not ok */
  size_t at[LATHE_MAX_OPERANDS]; /* PREPARE: where operands lie */
  bool others, fresh;            /* TIME: device_call's */
  size_t poked[LATHE_MAX_OPERANDS];
  uint64_t chance;
} guest_answer;

/* The bench program's arguments for being a guest: guest LIBRARY TRUST FILE LINE, the last two as numbers. */
extern const char guest_command[];
int guest_main(int argc, char **argv);

#endif
