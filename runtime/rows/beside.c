/* beside.c - rows of other libraries beside ours. */
#include "beside.h"

#include <stdio.h>

#include "base/message.h"
#include "choice.h"
#include "devices/peer/peers.h"

void beside_choose(const char *list) {
  static char names[128];
  choice c = choice_of("peer", names, PEERS);

  for (int i = 0, length = 0; i < PEERS; i++) {
    c.name[i] = peers_name(i);
    length +=
        snprintf(names + length, sizeof names - (size_t)length, "%s%s", i ? ", " : "", c.name[i]);
  }
  if (list)
    choice_mark(&c, list);
  if (list && !peers_make(c.marked))
    message_refuse("out of memory");
  choice_free(&c);
}

static const row *ours_of(row *const *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (rows[i]->dispatched && rows[i]->sample_count > 0 &&
        device_kind_of(rows[i]->of->backend->kind)->on_host)
      return rows[i];
  return row_fastest(rows, count);
}

static void compare(row *peer, const row *ours) {
  const timing_ratio ratio = timing_compare(&peer->warm, &ours->warm);

  peer->against = ours->variant;
  peer->ratio = ratio.median;
  peer->ratio_low = ratio.low;
  peer->ratio_high = ratio.high;
}

void beside_compare(row *const *rows, size_t count) {
  const row *ours = ours_of(rows, count);

  for (size_t i = 0; i < count && ours; i++)
    if (rows[i]->peer && rows[i]->sample_count > 0)
      compare(rows[i], ours);
}

void beside_repro(const row *peer, const char *program, char *to, size_t size) {
  const task *t = peer->task;
  int length = snprintf(to, size, "%s --op %s --dtype %s --peers %s --size ", program, peer->op,
                        peer->dtype, peer->backend);

  for (int d = 0; d < t->op->ndim && length >= 0 && (size_t)length < size; d++)
    length += snprintf(to + length, size - (size_t)length, "%s%zu", d ? "x" : "", t->dim[d]);
  if (length >= 0 && (size_t)length < size)
    snprintf(to + length, size - (size_t)length, " --seed %llu", (unsigned long long)peer->seed);
}
