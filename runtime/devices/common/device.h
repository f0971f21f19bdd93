/* device.h - where kernels run. A kind of device is one file that fills in this interface. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdarg.h>
#include <stdatomic.h>

#include "kind.h"
#include "library/dispatch.h"
#include "problem/problem.h"

typedef struct device device;

enum {
  STREAMS_MOST = 3,     /* streams that are read, at most */
  STREAMS_READING = -1, /* in place of their number: one is read, and nothing is written */
  DEVICE_ANY_WAY = -1,  /* see streams_rate */
};

/* Which part of a device computes: that for any arithmetic, or that for products of matrices, as tensor cores are. */
typedef enum device_unit { DEVICE_VECTOR, DEVICE_MATRIX, DEVICE_UNITS } device_unit;

/* How a call's buffers are laid out. */
typedef struct device_layout {
  size_t offset; /* bytes that buffers start after a 64-byte boundary; see device_offset */
  bool page_end; /* each buffer ends at a page that cannot be touched */
  bool in_place; /* the first output is the first input */
  int threads;   /* on a processor, that may share a call; 0: one */
  /* Not 0: for each number buffers lie elsewhere, as far as that can be had. */
  unsigned drawn;
  unsigned
      cut; /* of those that a GPU's product may be cut by, this one, from 1 on, where it can be; 0: the fastest */
} device_layout;

/* The fate of a call that failed. */
typedef enum device_fate {
  DEVICE_WELL,    /* it ended; or it has not failed */
  DEVICE_MISDID,  /* what it must not, and its process is not to go on */
  DEVICE_CRASHED, /* or its process */
  DEVICE_LATE,    /* it did not end in time */
  DEVICE_KEEPS,   /* it keeps something for the next, which a kernel is not to */
} device_fate;

/* A variant with its buffers on a device. A device kind makes it the head of its own type. */
typedef struct device_call {
  device *on;
  const lathe_variant *variant;
  const problem *problem;
  const problem *other; /* that timed calls take turns with; null: none */
  device_layout layout;
  uint64_t group; /* many calls are best timed as a multiple of this many; 0: no matter */
  bool draws;     /* random numbers of its own, in place of the op's: check_drawn judges it */

  /* The last call that was timed. others: it was of the other problem. poked: by output, the place of a byte that was
   * spoilt before it. */
  bool others;
  size_t poked[LATHE_MAX_OPERANDS];

  /* chance: the state of a generator; not 0: timed calls on a processor now and then find other elements in their
   * inputs, and their outputs spoilt. fresh: the last call had such inputs, so that nothing is known of its results. */
  uint64_t chance;
  bool fresh;
  char error[256]; /* what went wrong last */
  device_fate fate;
} device_call;

/* The load on the device while a call runs once more. */
typedef enum device_load {
  DEVICE_QUIET,    /* nothing else */
  DEVICE_BUSY,     /* copies of memory beside it, for another stream */
  DEVICE_THRASHED, /* caches that hold something else */
  DEVICE_CROWDED,  /* calls right before it, which are not waited for */
  DEVICE_LOADS,
} device_load;

/* Nanoseconds that a batch of calls took: on the host's clock, and on the device's (where that
 * is a processor, the time that the thread had it). Reports give the host's time for a processor and
 * the device's own for others, where the host mostly asks and waits. */
typedef struct device_time {
  double host, own;
} device_time;

/* A kernel that calls launch; counts are -1 where they are not known. */
typedef struct device_kernel {
  char name[112];
  int architecture; /* CUDA: of its code, 90 for compute capability 9.0; 0: the device's */
  uint32_t grid[3], block[3]; /* blocks, and threads of one; 0 where no size says them */
  uint32_t cluster;           /* blocks that share memory; 0 or 1 for none */
  uint32_t shared;            /* bytes of a block that the launch asks for */
  int fixed;                  /* and those that the code has besides */
  int registers, local; /* of a thread; bytes of it that are in memory, as spilled registers are */
  int at_once;          /* blocks on a multiprocessor */
  /* The share of a multiprocessor's threads that these are; NaN where not known. */
  double occupancy;
} device_kernel;

struct device {
  const char *id;    /* cpu, cuda0: what --device takes */
  const char *name;  /* as the maker calls it */
  const char *notes; /* what else there is to say of it, a line; null for nothing */
  lathe_kind kind;
  uint64_t features;
  uint64_t hidden; /* features that it has and LATHE_CPU_FEATURES leaves out */
  double cache; /* bytes of its last cache before memory; 0: not known, or told elsewhere (cpu.h) */
  /* Of a GPU, in which the same one is known to several drivers; zeros: not known. */
  unsigned char uuid[16];
  bool is_processor; /* one that emulates a GPU, as Mesa's lavapipe does */
  bool cools;        /* it has a way to time calls whose operands are in no cache: see cool */
  bool lost; /* an error has cost this process the device; another process may still have it */
  /* Numbers below the normal range that may count as zero in a call in a type: see problem_leeway. */
  struct {
    unsigned types; /* operands and results of these, a bit for each dtype */
    bool between;   /* what is computed */
  } may_flush[LATHE_DTYPES];

  /* How operands are read that lie in the device's own memory (remote.h); null for a processor. */
  const struct remote_kind *remote;

  /* Bytes of memory that can be had now. */
  double (*memory)(device *on);

  /* Buffers for a variant, with the problem's inputs in them; null with the reason in why
   * (static). Released by release. */
  device_call *(*prepare)(device *on, const lathe_variant *variant, const problem *p,
                          device_layout layout, const char **why);
  void (*release)(device_call *call);

  /* Has the code of calls to come made by all processors: of a variant with these problems and layouts, of which the
   * calls are heads alone. What cannot be made is told of by prepare. Null where code is there already. */
  void (*expect)(device *on, const device_call *calls, size_t count);

  /* Before a call whose results are to be looked at: outputs poisoned, and an input that the
   * last call wrote over put back. */
  void (*reset)(device_call *call);

  /* Another problem of the same op, type and size: its inputs in the place of those that are there.
   * False with the reason in call->error. */
  bool (*load)(device_call *call, const problem *p);

  /* From here on timed calls take turns with another problem, of the same op, type and size, whose inputs
   * lie elsewhere, and whose outputs take the place of the call's own: one after the other, or batches of them,
   * so that no operands are in a slower cache for it. False, with all as it was, where memory is short. */
  bool (*take_turns)(device_call *call, const problem *other);

  /* Calls the kernel, and waits for it. False with the reason in call->error. */
  bool (*run)(device_call *call);
  bool (*time)(device_call *call, uint64_t calls, device_time *taken);

  /* As run, of a device that is made busy or thrashed; as run alone where there is no memory for it. Null on a device
   * that never does it. */
  bool (*run_under)(device_call *call, device_load load);

  /* As run; *ns: what asking for the call took the host, before it waited. Null on a processor, which is not asked. */
  bool (*ask)(device_call *call, double *ns);

  /* The kernels of a call, at most LATHE_MAX_LAUNCHES, and how many there are. Null on a processor. */
  int (*kernels)(device_call *call, device_kernel *to);

  /* MHz of its clock now; 0 where that is not known. Null for a device that never tells. */
  double (*clock_mhz)(device *on);

  /* Launches a kernel that does nothing: on the host's clock from asking for one until it is known to have ended, and
   * on the device's own what each of many in a row takes. False where that is not known. */
  bool (*empty_launch)(device *on, device_time *taken);

  /* From here on timed calls take turns with copies of the operands, so many that each call finds
   * its own in memory and in no cache; results are looked at in the first, the call's own. False, with
   * all as it was, where so many cannot be had. Null where a device never does it. */
  bool (*cool)(device_call *call);

  /* The results of the last call, by operand; false with the reason in call->error where a
   * kernel wrote what it must not: outside of its buffers, or over its inputs. */
  const void *(*output)(device_call *call, int operand);
  bool (*intact)(device_call *call);

  /* A part of an output, from a byte of it on, as it is now, and made something else; false with the
   * reason in call->error. */
  bool (*peek)(device_call *call, int operand, size_t at, void *to, size_t bytes);
  bool (*poke)(device_call *call, int operand, size_t at, const void *from, size_t bytes);

  /* The best rate, in bytes per second of both directions together, at which kernels that only move memory read so many
   * streams (at most STREAMS_MOST, or STREAMS_READING) of some bytes each, and write one, again and again. 0 where it
   * is not known. A processor's threads share the bytes; other devices have no say in threads. *way: DEVICE_ANY_WAY
   * tries all of the device's kernels and grids, and becomes the best of them, which alone is measured where a later
   * call names it; a process remembers it (ceiling.c), and a processor's rounds have one each. */
  double (*streams_rate)(device *on, int streams, size_t bytes, int threads, int *way);

  /* The best rate, in operations per second, at which kernels that only multiply numbers of a type and add the
   * products, in the type that it is computed in, did so in a unit: two for each product. 0 where there is no such
   * unit, or it is not known. *way: as of streams_rate. Null for a device that never tells. */
  double (*arithmetic_rate)(device *on, lathe_dtype dtype, device_unit unit, int threads, int *way);
};

/* The devices of a kind, or else why there are none. */
typedef struct device_list {
  size_t count;
  device *const *at;
  const char *missing;
} device_list;

/* Says in call->error what went wrong, and why where that is not null. False, for the caller to return. */
bool device_fail(device_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool device_fail_list(device_call *call, const char *why, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

/* The operand whose buffer an operand of a call uses: its own, but for the output of an in-place call, and inputs that
 * share memory (problem_home). */
int device_home(const device_call *call, int operand);

/* The filling of outputs before a call, and of a processor's workspace: buffer_poison_nan of one of two problems
 * with seeds or lengths next to each other, else buffer_poison_huge. */
unsigned char device_poison(const device_call *call);

/* How many bytes after a boundary, of 64 bytes or more, an operand's buffer starts: the layout's offset, for all but
 * the first two operands twice that, so that not all lie alike, rounded up to an element's size, which C and
 * the devices want it on; or as many as make it end at such a boundary. */
size_t device_offset(const device_call *call, int operand);

/* For streams_rate and arithmetic_rate: the rate of a way, or the best of the ways from 0 to count - 1, whose number
 * *way becomes. rate gives 0 for one that there is not, or that fails. */
double device_best_way(double (*rate)(void *argument, int way), void *argument, int count,
                       int *way);

/* What may wait for a device counts its steps where device_watch says, for another process that looks
 * there: a launch that does not end cannot be called back. Null, as at first, is for nobody to see. */
typedef struct device_steps {
  atomic_uint begun, ended; /* unequal within a step */
} device_steps;
void device_watch(device_steps *steps);
void device_step_begins(void);
void device_step_ends(void);
double device_memory(device *on);

/* peek and poke of a device whose outputs lie in this process's memory. */
bool device_peek_output(device_call *call, int operand, size_t at, void *to, size_t bytes);
bool device_poke_output(device_call *call, int operand, size_t at, const void *from, size_t bytes);
device_call *device_prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why);
bool device_run(device_call *call);
bool device_run_under(device_call *call, device_load load);
bool device_time_calls(device_call *call, uint64_t calls, device_time *taken);

#endif
