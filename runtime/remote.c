/* remote.c - what a call left in a device's own memory. */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

const unsigned char remote_guard_byte = 0x7e, remote_poison_byte = 0xfb;

/* A copy of an operand here; where it cannot be had, one that was never written. */
static void *fetch(const remote_call *r, int operand) {
  const size_t bytes = r->call->problem->bytes[operand];

  if (!r->host[operand])
    r->host[operand] = malloc(bytes ? bytes : 1);
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

static bool guards_hold(const remote_call *r, int operand, size_t bytes, const char *name) {
  unsigned char guard[2 * REMOTE_GUARD];
  const size_t whole = r->lead(r->call, operand);
  const size_t lead = whole < sizeof guard ? whole : sizeof guard;

  if (whole == 0)
    return true;
  if (!r->read(r->call, operand, -(ptrdiff_t)lead, guard, lead))
    return false;
  for (size_t i = lead; i-- > 0;)
    if (guard[i] != remote_guard_byte)
      return device_fail(r->call, "wrote before the start of %s, %zu bytes", name, lead - i);
  if (!r->read(r->call, operand, (ptrdiff_t)bytes, guard, REMOTE_GUARD))
    return false;
  for (size_t i = 0; i < REMOTE_GUARD; i++)
    if (guard[i] != remote_guard_byte)
      return device_fail(r->call, "wrote after the end of %s, at %zu bytes past it", name, i);
  return true;
}

static bool input_holds(const remote_call *r, int operand) {
  const problem *p = r->call->problem;
  const lathe_operand *operands = r->call->variant->op->operands;
  const unsigned char *expected = p->input[operand], *now;
  size_t at = 0;

  for (int o = 0; o < r->call->variant->op->noperands; o++)
    if (operands[o].output && device_home(r->call, o) == operand)
      return true;
  now = fetch(r, operand);
  if (!now)
    return false;
  if (memcmp(now, expected, p->bytes[operand]) != 0) {
    while (now[at] == expected[at])
      at++;
    return device_fail(r->call, "wrote into its input %s, %zu bytes from its start",
                       operands[operand].name, at);
  }
  free(r->host[operand]); /* inputs can be large, and are looked at once */
  r->host[operand] = NULL;
  return true;
}

bool remote_intact(const remote_call *r) {
  const lathe_variant *v = r->call->variant;
  const problem *p = r->call->problem;

  for (int o = 0; o < v->op->noperands; o++)
    if (!guards_hold(r, o, p->bytes[o], v->op->operands[o].name))
      return false;
  for (int o = 0; o < v->op->noperands; o++)
    if (p->input[o] && !input_holds(r, o))
      return false;
  return guards_hold(r, LATHE_MAX_OPERANDS, v->workspace ? (size_t)v->workspace(p->dim) : 0,
                     "the workspace");
}
