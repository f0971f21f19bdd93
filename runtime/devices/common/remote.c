/* remote.c - calls whose operands lie in a device's own memory. */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "buffer.h"

const unsigned char remote_guard_byte = 0x7e;

enum { LARGE = 4 << 20 /* bytes of a copy that is read again and again at some cost */ };

static const remote_kind *kind_of(const device_call *call) {
  return call->on->remote;
}

/* Pinned copies that calls have done with, for the next: pinning takes longer than the copy, and results are much alike
 * in size. The last ones, in their order. */
enum { SPARES = 4 };
static const size_t spare_most = (size_t)2 << 30; /* bytes of all */
static struct spare {
  const remote_kind *kind;
  void *at;
  size_t bytes;
} spare[SPARES];
static int spares;

static struct spare remove_spare(int i) {
  const struct spare s = spare[i];

  memmove(&spare[i], &spare[i + 1], (size_t)(--spares - i) * sizeof s);
  return s;
}

static void drop_spare(int i) {
  const struct spare s = remove_spare(i);

  s.kind->unpin(s.at);
  free(s.at);
}

static void keep_spare(const struct spare *s) {
  size_t bytes = s->bytes;

  for (int i = 0; i < spares; i++)
    bytes += spare[i].bytes;
  while (spares > 0 && (bytes > spare_most || spares == SPARES)) {
    bytes -= spare[0].bytes;
    drop_spare(0);
  }
  spare[spares++] = *s;
}

void remote_forget(void) {
  while (spares > 0)
    drop_spare(0);
}

/* The smallest that is large enough; null where there is none. */
static void *take_spare(const remote_kind *kind, size_t *bytes) {
  int best = -1;

  for (int i = 0; i < spares; i++)
    if (spare[i].kind == kind && spare[i].bytes >= *bytes &&
        (best < 0 || spare[i].bytes < spare[best].bytes))
      best = i;
  if (best < 0)
    return NULL;
  *bytes = spare[best].bytes;
  return remove_spare(best).at;
}

/* Memory for a copy of so many bytes; *pinned: so many of it are, 0 for none. */
static void *copy_make(const remote_kind *kind, size_t bytes, size_t *pinned) {
  void *copy;

  *pinned = 0;
  if (!kind->pin || bytes < LARGE)
    return memory_make(bytes);
  *pinned = bytes;
  copy = take_spare(kind, pinned);
  if (copy)
    return copy;
  copy = memory_make(bytes);
  if (copy)
    memory_fill(copy, buffer_poison_huge, bytes); /* touched by all */
  if (!copy || !kind->pin(copy, bytes))
    *pinned = 0;
  return copy;
}

static void copy_free(const remote_kind *kind, void *copy, size_t pinned) {
  if (pinned)
    keep_spare(&(struct spare){kind, copy, pinned});
  else
    free(copy);
}

static bool send_inputs(remote_call *r, const problem *p) {
  device_call *call = &r->head;
  bool ok = true;

  for (int o = 0; o < p->op->noperands && ok; o++)
    if (p->input[o] && device_home(call, o) == o)
      ok = kind_of(call)->write(call, o, 0, p->input[o], p->bytes[o]);
  return ok;
}

bool remote_allocate(remote_call *r) {
  device_call *call = &r->head;
  const problem *p = call->problem;
  const int count = p->op->noperands;

  r->args = problem_args(p);
  for (int o = 0; o < count; o++)
    if (device_home(call, o) == o) {
      r->args.buf[o] = kind_of(call)->make(call, o, p->bytes[o], device_offset(call, o));
      if (!r->args.buf[o])
        return false;
    }
  for (int o = 0; o < count; o++)
    r->args.buf[o] = r->args.buf[device_home(call, o)];
  if (r->workspace) {
    r->args.workspace = kind_of(call)->make(call, REMOTE_WORKSPACE, r->workspace, 0);
    if (!r->args.workspace || !kind_of(call)->fill(call, REMOTE_WORKSPACE, 0))
      return false;
  }
  return send_inputs(r, p);
}

bool remote_load(device_call *call, const problem *p) {
  remote_call *r = (remote_call *)call;
  const lathe_args with = problem_args(p);

  call->problem = p;
  memcpy(r->args.scalar, with.scalar, sizeof with.scalar);
  return send_inputs(r, p);
}

bool remote_take_turns(device_call *call, const problem *other, double fits, double beyond) {
  remote_call *r = (remote_call *)call;
  double bytes = 0, more = 0;
  bool ok = true;

  r->other_args = problem_args(other);
  memcpy(r->other_args.buf, r->args.buf, sizeof r->args.buf);
  r->other_args.workspace = r->args.workspace;
  for (int o = 0; o < other->op->noperands && ok; o++) {
    const size_t size = other->bytes[o];
    bytes += (double)size;
    if (!other->input[o])
      continue;
    more += (double)size;
    r->other_args.buf[o] =
        kind_of(call)->make(call, REMOTE_OTHER + o, size, device_offset(call, o));
    ok = r->other_args.buf[o] &&
         kind_of(call)->write(call, REMOTE_OTHER + o, 0, other->input[o], size);
  }
  for (int o = 0; o < other->op->noperands && !ok; o++)
    kind_of(call)->free(call, REMOTE_OTHER + o);
  if (!ok)
    return false;
  call->other = other;
  r->by_call = bytes + more <= fits || bytes > beyond;
  return true;
}

void remote_free(remote_call *r) {
  for (int b = 0; b < REMOTE_BUFFERS; b++)
    kind_of(&r->head)->free(&r->head, b);
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    copy_free(kind_of(&r->head), r->host[o], r->pinned[o]);
}

/* The workspace stays as the last call left it: counts in it begin at 0 by the kernel's own doing. */
void remote_reset(device_call *call) {
  const lathe_op *op = call->variant->op;

  if (!kind_of(call)->usable(call))
    return;
  for (int o = 0; o < op->noperands; o++) {
    const int home = device_home(call, o);
    if (!op->operands[o].output)
      continue;
    if (home == o)
      kind_of(call)->fill(call, o, device_poison(call));
    else /* an input that the last call wrote over */
      kind_of(call)->write(call, home, 0, call->problem->input[home], call->problem->bytes[home]);
  }
}

/* A copy of an operand here; where it cannot be had, one that was never written. */
static void *fetch(device_call *call, int operand) {
  remote_call *r = (remote_call *)call;
  const remote_kind *kind = kind_of(call);
  const size_t bytes = call->problem->bytes[operand];

  if (!r->host[operand])
    r->host[operand] = copy_make(kind, bytes, &r->pinned[operand]);
  if (!r->host[operand]) {
    device_fail(call, "not enough memory for a copy of the results");
    return NULL;
  }
  if (!kind->read(call, device_home(call, operand), 0, r->host[operand], bytes))
    memset(r->host[operand], buffer_poison_huge, bytes);
  return r->host[operand];
}

/* Does without one. */
static void let_go(remote_call *r, int operand) {
  copy_free(kind_of(&r->head), r->host[operand], r->pinned[operand]);
  r->host[operand] = NULL;
  r->pinned[operand] = 0;
}

const void *remote_output(device_call *call, int operand) {
  const void *copy = fetch(call, operand);

  /* The reference's own type is at least as large: no right result, but memory to look at. */
  return copy ? copy : call->problem->expected[operand];
}

bool remote_peek(device_call *call, int operand, size_t at, void *to, size_t bytes) {
  return kind_of(call)->read(call, device_home(call, operand), (ptrdiff_t)at, to, bytes);
}

bool remote_poke(device_call *call, int operand, size_t at, const void *from, size_t bytes) {
  return kind_of(call)->write(call, device_home(call, operand), at, from, bytes);
}

enum {
  TOGETHER = 16 << 10 /* bytes of data up to which they come with their guards, in one piece */
};

/* Whether guards hold, of which `lead` bytes are those before the data. */
static bool guards_hold(device_call *call, const unsigned char *before, size_t lead,
                        const unsigned char *after, const char *name) {
  for (size_t i = lead; i-- > 0;)
    if (before[i] != remote_guard_byte)
      return device_fail(call, "wrote before the start of %s, %zu bytes", name, lead - i);
  for (size_t i = 0; i < REMOTE_GUARD; i++)
    if (after[i] != remote_guard_byte)
      return device_fail(call, "wrote after the end of %s, at %zu bytes past it", name, i);
  return true;
}

/* Whether an input's data is what it was; expected: null for another operand. */
static bool data_holds(device_call *call, const unsigned char *now, const unsigned char *expected,
                       size_t bytes, const char *name) {
  const size_t at = expected ? memory_differs(now, expected, bytes) : bytes;

  if (at == bytes)
    return true;
  return device_fail(call, "wrote into its input %s, %zu bytes from its start", name, at);
}

/* Whether nothing was written around an operand, or REMOTE_WORKSPACE, and into it where it
 * is expected to be something. */
static bool holds(device_call *call, int operand, size_t bytes, const void *expected,
                  const char *name) {
  unsigned char piece[2 * REMOTE_GUARD + TOGETHER + REMOTE_GUARD],
      *after = piece + 2 * REMOTE_GUARD;
  const size_t whole = kind_of(call)->lead(call, operand);
  const size_t lead = whole < 2 * REMOTE_GUARD ? whole : 2 * REMOTE_GUARD;
  const void *now;
  bool held;

  if (whole == 0)
    return true;
  if (bytes <= TOGETHER)
    return kind_of(call)->read(call, operand, -(ptrdiff_t)lead, piece,
                               lead + bytes + REMOTE_GUARD) &&
           guards_hold(call, piece, lead, piece + lead + bytes, name) &&
           data_holds(call, piece + lead, expected, bytes, name);
  if (!kind_of(call)->read(call, operand, -(ptrdiff_t)lead, piece, lead) ||
      !kind_of(call)->read(call, operand, (ptrdiff_t)bytes, after, REMOTE_GUARD) ||
      !guards_hold(call, piece, lead, after, name))
    return false;
  if (!expected)
    return true;
  now = fetch(call, operand);
  held = now && data_holds(call, now, expected, bytes, name);
  let_go((remote_call *)call, operand);
  return held;
}

/* The bytes that an operand must still hold; null for an output, and an input that is one as well. */
static const void *expected_of(device_call *call, int operand) {
  const problem *p = call->problem;

  for (int o = 0; o < p->op->noperands; o++)
    if (p->op->operands[o].output && device_home(call, o) == operand)
      return NULL;
  return p->input[operand];
}

bool remote_intact(device_call *call) {
  const lathe_variant *v = call->variant;
  const problem *p = call->problem;

  if (!kind_of(call)->usable(call))
    return false;
  for (int o = 0; o < v->op->noperands; o++)
    if (!holds(call, o, p->bytes[o], expected_of(call, o), v->op->operands[o].name))
      return false;
  return holds(call, REMOTE_WORKSPACE, ((const remote_call *)call)->workspace, NULL,
               "the workspace");
}
