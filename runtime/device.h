/* device.h - where kernels run. A kind of device is one file that fills in this interface. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdarg.h>
#include <stdatomic.h>

#include "lathe.h"
#include "problem.h"

typedef struct device device;

/* How a call's buffers are laid out. */
typedef struct device_layout {
  size_t offset; /* bytes that buffers start after a 64-byte boundary; see device_offset */
  bool page_end; /* each buffer ends at a page that cannot be touched */
  bool in_place; /* the first output is the first input */
} device_layout;

/* A variant with its buffers on a device. A device kind makes it the head of its own type. */
typedef struct device_call {
  device *on;
  const lathe_variant *variant;
  const problem *problem;
  const problem *other; /* that timed calls take turns with; null: none */
  device_layout layout;
  uint64_t group; /* many calls are best timed as a multiple of this many; 0: no matter */
  /* Of the last call that was timed: whether it was of the other problem, and a byte of each output that was
   * poisoned before it. */
  bool others;
  size_t poked[LATHE_MAX_OPERANDS];
  const void *seen[LATHE_MAX_OPERANDS]; /* outputs as they were when check.c last judged them */
  char error[256];                      /* what went wrong last */
} device_call;

/* Nanoseconds that a batch of calls took: on the host's clock, and on the device's (where that
 * is a processor, the time that the thread had it). Reports give the host's time for a processor and
 * the device's own for others, where the host's is mostly that of asking and waiting. */
typedef struct device_time {
  double host, own;
} device_time;

struct device {
  const char *id;    /* cpu, cuda0: what --device takes */
  const char *name;  /* as the maker calls it */
  const char *notes; /* what else there is to say of it, a line; null for nothing */
  lathe_kind kind;
  uint64_t features;
  double cache; /* bytes of its last cache before memory; 0: not known, or told elsewhere (cpu.h) */
  bool is_processor; /* one that emulates a GPU, as Mesa's lavapipe does */
  bool cools;        /* it has a way to time calls whose operands are in no cache: see cool */
  bool lost; /* an error has cost this process the device; another process may still have it */
  /* A bit for each dtype: numbers below its normal range may count as zero, as Vulkan lets a
   * device choose; see judge.h. */
  unsigned may_flush;

  /* Bytes of memory that can be had now. */
  double (*memory)(device *on);

  /* Buffers for a variant, with the problem's inputs in them; null with the reason in why
   * (static). Released by release. */
  device_call *(*prepare)(device *on, const lathe_variant *variant, const problem *p,
                          device_layout layout, const char **why);
  void (*release)(device_call *call);

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

  /* The highest rate at which this device was seen to move that many bytes in and out
   * together, in bytes per second, when they are moved again and again (so that they come from
   * the cache that holds them); *name says what it was. 0 where it is not known. */
  double (*ceiling)(device *on, double bytes_in, double bytes_out, const char **name);
};

const char *device_kind_name(lathe_kind kind);
enum { DEVICE_KINDS = LATHE_VULKAN + 1 };

/* The devices of a kind, or else why there are none. */
typedef struct device_list {
  size_t count;
  device *const *at;
  const char *missing;
} device_list;

/* Those that this process finds itself, by loading the kind's driver, which is a step. */
device_list device_own(lathe_kind kind);

/* Puts a list in the place of a kind's own devices, for a process that is to keep away from the
 * driver; it and what it points to must stay. */
void device_put(lathe_kind kind, const device_list *list);

/* Says in call->error what went wrong, and why where that is not null. False, for the caller to return. */
bool device_fail(device_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool device_fail_list(device_call *call, const char *why, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

/* The operand whose buffer an operand of a call uses: its own, but for the output of an in-place call. */
int device_home(const device_call *call, int operand);

/* How many bytes after a boundary, of 64 bytes or more, an operand's buffer starts: the layout's offset, for all but
 * the first two operands twice that, so that not all lie alike, rounded up to an element's size, which C and
 * the devices want it on; or as many as make it end at such a boundary. */
size_t device_offset(const device_call *call, int operand);

/* All devices, in the order of their kinds: those put here, or else this process's own. */
size_t device_count(void);
device *device_at(size_t index);

/* Why there is no device of a kind; null where there is one. */
const char *device_missing(lathe_kind kind);

/* What may wait for a device counts its steps where device_watch says, for another process that looks
 * there: a launch that does not end cannot be called back. Null, as at first, is for nobody to see. */
typedef struct device_steps {
  atomic_uint begun, ended; /* unequal within a step */
} device_steps;
void device_watch(device_steps *steps);
double device_memory(device *on);
device_call *device_prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why);
bool device_run(device_call *call);
bool device_time_calls(device_call *call, uint64_t calls, device_time *taken);

/* device_cpu.c */
device *device_cpu(void);

/* device_cuda.c: those that the driver finds. */
device_list device_cuda(void);

/* device_vulkan.c: those that the loader finds, GPUs first. */
device_list device_vulkan(void);

#endif
