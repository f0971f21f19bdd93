/* watch.c - are the results of timed calls right? */
#include "watch.h"

#include <string.h>

enum {
  WHOLE = 16 << 10, /* bytes of an output up to which all of it is poisoned, and looked at */
  PART = 64,        /* bytes of each place in a larger one */
};

/* The factor and term are Knuth's, of MMIX. */
static uint64_t draw_bits(result_watch *w) {
  w->drawn = w->drawn * 6364136223846793005u + 1442695040888963407u;
  return w->drawn;
}

/* A number below a limit. */
static size_t draw(result_watch *w, size_t limit) {
  return (size_t)((double)(draw_bits(w) >> 11) * 0x1p-53 * (double)limit);
}

bool watch_chance(result_watch *w) {
  return draw(w, 2);
}

static bool is_output(const result_watch *w, int o) {
  return w->call->variant->op->operands[o].output && w->call->problem->bytes[o] > 0;
}

/* Bytes that no kernel can tell from a result: enough for one, a multiple of 8. */
static void draw_bytes(result_watch *w, unsigned char *to, size_t bytes) {
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    const uint64_t bits = draw_bits(w);
    const uint64_t mixed = bits ^ bits >> 31;
    memcpy(to + i, &mixed, sizeof mixed);
  }
}

bool watch_spoil(result_watch *w) {
  unsigned char poison[PART];
  bool ok = true;

  draw_bytes(w, poison, sizeof poison);
  for (int o = 0; o < w->call->variant->op->noperands && ok; o++) {
    const size_t bytes = w->call->problem->bytes[o], part = bytes < PART ? bytes : PART;
    if (is_output(w, o))
      ok = w->call->on->poke(w->call, o, draw(w, bytes - part + 1), poison, part);
  }
  return ok;
}

bool watch_poison(result_watch *w) {
  unsigned char poison[WHOLE];
  bool ok = true;

  for (int o = 0; o < w->call->variant->op->noperands && ok; o++) {
    const size_t bytes = w->call->problem->bytes[o];
    if (!is_output(w, o))
      continue;
    draw_bytes(w, poison, bytes <= WHOLE ? bytes : PART);
    if (bytes <= WHOLE)
      ok = w->call->on->poke(w->call, o, 0, poison, bytes);
    for (int i = 0; i < WATCH_PLACES && bytes > WHOLE && ok; i++) {
      w->place[o][i] = draw(w, bytes / PART) * PART;
      ok = w->call->on->poke(w->call, o, w->place[o][i], poison, PART);
    }
  }
  return ok;
}

static const check_kept *expected(const result_watch *w) {
  return w->call->others ? w->others : w->right;
}

/* Whether a part of an output is as expected; false also where it could not be had. */
static bool part_holds(result_watch *w, int o, size_t at, size_t bytes) {
  unsigned char now[WHOLE];

  return w->call->on->peek(w->call, o, at, now, bytes) &&
         memcmp(now, (const char *)check_kept_output(expected(w), o) + at, bytes) == 0;
}

static bool holds(result_watch *w, int o) {
  const size_t bytes = w->call->problem->bytes[o], poked = w->call->poked[o] / PART * PART;
  bool ok;

  if (bytes <= WHOLE)
    return part_holds(w, o, 0, bytes);
  ok = part_holds(w, o, poked + PART <= bytes ? poked : bytes - PART, PART);
  for (int i = 0; i < WATCH_PLACES && ok; i++)
    ok =
        part_holds(w, o, w->place[o][i], PART) && part_holds(w, o, draw(w, bytes - PART + 1), PART);
  return ok;
}

bool watch_look(result_watch *w) {
  w->call->error[0] = 0;
  if (w->call->fresh)
    return true;
  for (int o = 0; o < w->call->variant->op->noperands; o++)
    if (is_output(w, o) && !holds(w, o))
      return !w->call->error[0] && watch_look_at_all(w);
  return true;
}

bool watch_look_at_all(result_watch *w) {
  const problem *own = w->call->problem;

  if (w->call->fresh)
    return true;
  if (w->call->others)
    w->call->problem = w->call->other;
  w->found = check_same(w->call, expected(w));
  w->call->problem = own;
  return w->found.verdict == CHECK_RIGHT;
}
