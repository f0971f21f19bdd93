/* room.c - whether there is memory for a variant at a size. */
#include "room.h"

#include <stdio.h>

#include "base/units.h"
#include "devices/common/kind.h"
#include "problem/problem.h"
#include "size.h"

static const double usable = 0.9; /* of what is free: others want some as well */

const char *room_refusal(const lathe_variant *variant, const size_t *dim, bool solve,
                         room_left left) {
  static char why[128];
  const double operands = lathe_bytes(variant->op, variant->dtype, dim);
  const bool on_host = device_kind_of(variant->backend->kind)->on_host;
  double needed = operands, beside = operands;

  if (!size_addressable(variant->op, dim)) {
    snprintf(why, sizeof why, "needs %s, more than can be addressed", units_bytes(needed).text);
    return why;
  }
  needed += lathe_workspace(variant, dim);
  if (solve)
    *(on_host ? &needed : &beside) += problem_cost(variant->op, variant->dtype, dim);
  if (!on_host && left.host >= 0 && beside > usable * left.host) {
    snprintf(why, sizeof why, "its reference needs %s of the host's memory, and %s are free",
             units_bytes(beside).text, units_bytes(usable * left.host).text);
    return why;
  }
  if (left.device >= 0 && needed > usable * left.device) {
    snprintf(why, sizeof why, "needs %s%s, and %s of memory are free", units_bytes(needed).text,
             on_host ? " with its reference" : " on the device",
             units_bytes(usable * left.device).text);
    return why;
  }
  return NULL;
}
