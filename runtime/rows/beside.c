/* beside.c - rows of other libraries beside ours. */
#include "beside.h"

#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "choice.h"
#include "devices/devices.h"
#include "devices/foreign/device.h"
#include "devices/foreign/foreign.h"
#include "devices/peer/device.h"
#include "devices/peer/peers.h"

static bool chosen[PEERS];

void beside_choose(const char *list) {
  static char names[128];
  choice c = choice_of("peer", names, PEERS);

  for (int i = 0, length = 0; i < PEERS; i++) {
    c.name[i] = peers_name(i);
    if (i == 0 || c.name[i] != c.name[i - 1]) /* not the same library at its other place */
      length +=
          snprintf(names + length, sizeof names - (size_t)length, "%s%s", i ? ", " : "", c.name[i]);
  }
  if (list) {
    choice_mark(&c, list);
    peers_make(c.marked);
  }
  memcpy(chosen, c.marked, sizeof chosen);
  choice_free(&c);
}

static bool is_on_host(const lathe_variant *v) {
  return peers_has(v->backend) ? !peers_on_gpu(v->backend)
                               : device_kind_of(v->backend->kind)->on_host;
}

static bool is_selected(const selection *s, const lathe_op *op) {
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (s->variant[i] && lathe_variants[i].op == op)
      return true;
  return false;
}

/* Says which libraries have nothing to compute. */
static void tell_idle(const selection *s) {
  for (int p = 0; p < PEERS; p++) {
    bool has = !chosen[p] || (p > 0 && strcmp(peers_name(p), peers_name(p - 1)) == 0);
    for (size_t i = 0; i < peers_count() && !has; i++)
      has = strcmp(peers_library(peers_at(i)->backend), peers_name(p)) == 0 &&
            is_selected(s, peers_at(i)->op);
    if (!has)
      message_warn("no rows of %s: no spec of these ops has a text for it under `peers`",
                   peers_name(p));
  }
}

static bool is_wanted(const void *context, const lathe_op *op, lathe_dtype dtype) {
  const selection *s = context;

  for (size_t t = 0; t < s->count; t++)
    if (s->tasks[t].op == op && s->tasks[t].dtype == dtype)
      return true;
  return false;
}

void beside_place(const selection *s) {
  bool host = false, gpu = false;

  for (size_t i = 0; i < lathe_variant_count; i++) {
    host = host || (s->variant[i] && is_on_host(&lathe_variants[i]));
    gpu = gpu || (s->variant[i] && !is_on_host(&lathe_variants[i]));
  }
  peers_narrow(host, gpu);
  foreign_check(is_wanted, s, s->tasks[0].op, s->tasks[0].dtype);
  tell_idle(s);
}

/* The GPU that a peer runs on; null where there is none, or none was asked for. */
static device *gpu_of(const selection *s) {
  device *asked = selection_device(s, LATHE_CUDA);
  const device *vulkan = selection_device(s, LATHE_VULKAN);

  for (size_t i = 0; i < device_count() && vulkan && !vulkan->is_processor; i++) {
    device *on = device_at(i);
    if (on->features & LATHE_ON_CUDA && on != asked &&
        (!asked || memcmp(on->uuid, vulkan->uuid, sizeof on->uuid) == 0))
      asked = on;
  }
  return asked;
}

device *beside_device(const selection *s, const lathe_variant *variant) {
  const foreign *f = foreign_of(variant);
  const bool on_gpu = peers_on_gpu(variant->backend);
  device *gpu = on_gpu && (!f || f->python) ? gpu_of(s) : NULL, *found = NULL;

  if (f && f->python && !on_gpu)
    return device_peer_of("cpu", true);
  if (f && f->backend.kind == LATHE_PEER && !f->python)
    return device_foreign();
  if ((f && !f->python) || !on_gpu)
    return selection_device(s, variant->backend->kind);
  if (gpu && variant->backend->features & LATHE_ON_PEER)
    found = device_peer_of(gpu->id, f);
  return found || f ? found : gpu;
}

const char *beside_why_not(const selection *s, const lathe_variant *variant) {
  const foreign *f = foreign_of(variant);

  if (!peers_on_gpu(variant->backend) || (f && !f->on_gpu))
    return selection_why_not(s, variant);
  if (variant->disabled || gpu_of(s))
    return variant->disabled;
  if (device_missing(LATHE_CUDA))
    return device_missing(LATHE_CUDA);
  return device_kind_of(LATHE_CUDA)->not_asked;
}

/* Our row for a peer's ratio; null where nothing of ours was measured. */
static const row *ours_of(row *const *rows, size_t count, const row *peer) {
  const bool host = is_on_host(peer->of);
  const row *best = NULL;
  bool near = false;

  for (size_t i = 0; i < count; i++) {
    const row *r = rows[i];
    if (r->peer || !r->dispatched || r->sample_count == 0 || is_on_host(r->of) != host)
      continue;
    if (!best || (!near && strcmp(r->device, peer->device) == 0)) {
      best = r;
      near = strcmp(r->device, peer->device) == 0;
    }
  }
  return best ? best : row_fastest(rows, count);
}

static void compare(row *peer, const row *ours) {
  const timing_ratio ratio = timing_compare(&peer->warm, &ours->warm);

  peer->against = ours->variant;
  peer->ratio = ratio.median;
  peer->ratio_low = ratio.low;
  peer->ratio_high = ratio.high;
}

void beside_compare(row *const *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const bool timed = rows[i]->peer && rows[i]->sample_count > 0;
    const row *ours = timed ? ours_of(rows, count, rows[i]) : NULL;
    if (ours)
      compare(rows[i], ours);
  }
}

/* The kind of our kernels that one of somebody else is held against. */
static lathe_kind ways_of(const foreign *f) {
  return f->on_gpu ? LATHE_CUDA : device_kind_of(f->backend.kind)->ways;
}

bool beside_on_gpus(const options *o) {
  const char *word = o->backend ? o->backend : o->device;
  bool all = word != NULL;

  for (; all && word; word = strchr(word, ','), word = word ? word + 1 : NULL) {
    all = false;
    for (int k = 0; k < DEVICE_KINDS; k++) {
      const char *name = lathe_kind_name((lathe_kind)k);
      all = all ||
            (!device_kind_of((lathe_kind)k)->on_host && strncmp(word, name, strlen(name)) == 0);
    }
  }
  return all;
}

bool beside_shows(const options *o, const selection *s, const task *t,
                  const lathe_variant *variant) {
  const device *on = selection_device(s, variant->backend->kind);
  const foreign *f = foreign_of(variant);
  bool is_near = false;

  if (f) {
    for (size_t i = 0; i < lathe_variant_count; i++)
      is_near = is_near || (s->variant[i] && lathe_variants[i].backend->kind == ways_of(f));
    return is_near || !(o->backend || o->device);
  }
  if (foreign_count() == 0 || o->variant || o->backend || o->implementation || o->device)
    return true;
  for (size_t i = 0; i < foreign_count(); i++)
    is_near = is_near || ways_of(foreign_at(i)) == variant->backend->kind;
  return is_near && on && lathe_select(t->op, t->dtype, t->dim, on->features, NULL) == variant;
}

void beside_repro(const row *peer, const char *program, char *to, size_t size) {
  const foreign *f = foreign_of(peer->of);
  const bool on_gpu = f ? f->on_gpu : peers_on_gpu(peer->of->backend);
  const task *t = peer->task;
  int length = snprintf(to, size, "%s --op %s --dtype %s --%s %s%s --size ", program, peer->op,
                        peer->dtype, peer->foreign ? "with" : "peers",
                        peer->foreign ? peer->with : peers_library(peer->of->backend),
                        on_gpu ? " --backend cuda" : "");

  for (int d = 0; d < t->op->ndim && length >= 0 && (size_t)length < size; d++)
    length += snprintf(to + length, size - (size_t)length, "%s%zu", d ? "x" : "", t->dim[d]);
  if (length >= 0 && (size_t)length < size)
    snprintf(to + length, size - (size_t)length, " --seed %llu", (unsigned long long)peer->seed);
}
