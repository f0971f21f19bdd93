/* remote.c - what a call left in a device's own memory. */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const unsigned char remote_guard_byte = 0x7e, remote_poison_byte = 0xfb;

enum { LARGE = 4 << 20 /* bytes of a copy that is read again and again at some cost */ };

/* A copy of an operand here; where it cannot be had, one that was never written. */
static void *fetch(const remote_call *r, int operand) {
  const size_t bytes = r->call->problem->bytes[operand];

  if (!r->host[operand]) {
    r->host[operand] = memory_make(bytes);
    if (r->host[operand] && r->pin && bytes >= LARGE) {
      memory_fill(r->host[operand], remote_poison_byte, bytes); /* touched by all */
      r->pin(r->host[operand], bytes);
    }
  }
  if (!r->host[operand]) {
    device_fail(r->call, "not enough memory for a copy of the results");
    return NULL;
  }
  if (!r->read(r->call, device_home(r->call, operand), 0, r->host[operand], bytes))
    memset(r->host[operand], remote_poison_byte, bytes);
  return r->host[operand];
}

const void *remote_output(const remote_call *r, int operand) {
  const void *copy = fetch(r, operand);

  /* The reference's own type is at least as large: no right result, but memory to look at. */
  return copy ? copy : r->call->problem->expected[operand];
}

enum {
  TOGETHER = 16 << 10 /* bytes of data up to which they come with their guards, in one piece */
};

/* Whether guards hold, of which `lead` bytes are those before the data. */
static bool guards_hold(const remote_call *r, const unsigned char *before, size_t lead,
                        const unsigned char *after, const char *name) {
  for (size_t i = lead; i-- > 0;)
    if (before[i] != remote_guard_byte)
      return device_fail(r->call, "wrote before the start of %s, %zu bytes", name, lead - i);
  for (size_t i = 0; i < REMOTE_GUARD; i++)
    if (after[i] != remote_guard_byte)
      return device_fail(r->call, "wrote after the end of %s, at %zu bytes past it", name, i);
  return true;
}

/* Whether an input's data is what it was; expected: null for another operand. */
static bool data_holds(const remote_call *r, const unsigned char *now,
                       const unsigned char *expected, size_t bytes, const char *name) {
  const size_t at = expected ? memory_differs(now, expected, bytes) : bytes;

  if (at == bytes)
    return true;
  return device_fail(r->call, "wrote into its input %s, %zu bytes from its start", name, at);
}

/* Whether nothing was written around an operand, or with LATHE_MAX_OPERANDS the workspace, and into it where it
 * is expected to be something. */
static bool holds(const remote_call *r, int operand, size_t bytes, const void *expected,
                  const char *name) {
  unsigned char piece[2 * REMOTE_GUARD + TOGETHER + REMOTE_GUARD],
      *after = piece + 2 * REMOTE_GUARD;
  const size_t whole = r->lead(r->call, operand);
  const size_t lead = whole < 2 * REMOTE_GUARD ? whole : 2 * REMOTE_GUARD;
  const void *now;

  if (whole == 0)
    return true;
  if (bytes <= TOGETHER)
    return r->read(r->call, operand, -(ptrdiff_t)lead, piece, lead + bytes + REMOTE_GUARD) &&
           guards_hold(r, piece, lead, piece + lead + bytes, name) &&
           data_holds(r, piece + lead, expected, bytes, name);
  if (!r->read(r->call, operand, -(ptrdiff_t)lead, piece, lead) ||
      !r->read(r->call, operand, (ptrdiff_t)bytes, after, REMOTE_GUARD) ||
      !guards_hold(r, piece, lead, after, name))
    return false;
  if (!expected)
    return true;
  now = fetch(r, operand);
  return now && data_holds(r, now, expected, bytes, name);
}

/* What an operand is to hold still; null for an output, and an input that is one as well. */
static const void *expected_of(const remote_call *r, int operand) {
  const problem *p = r->call->problem;

  for (int o = 0; o < p->op->noperands; o++)
    if (p->op->operands[o].output && device_home(r->call, o) == operand)
      return NULL;
  return p->input[operand];
}

bool remote_intact(const remote_call *r) {
  const lathe_variant *v = r->call->variant;
  const problem *p = r->call->problem;

  for (int o = 0; o < v->op->noperands; o++)
    if (!holds(r, o, p->bytes[o], expected_of(r, o), v->op->operands[o].name))
      return false;
  return holds(r, LATHE_MAX_OPERANDS, (size_t)lathe_workspace(v, p->dim), NULL, "the workspace");
}
