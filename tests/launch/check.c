/* Draws calls of each variant, on devices of some kinds, and checks what is launched: that blocks have all of the work
 * once, with no more to spare than a grid of two dimensions must have; that the device and the workspace have room for
 * it; and that each kernel is launched by some call. The variants' own functions call checked_* in the place of lathe_*
 * (launches.h). SCHEDULES: an X for each variant. */
#include "launches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of select.c, which wants a whole table: any size is asked about here. */
bool lathe_is_beyond(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  (void)op;
  (void)dtype;
  (void)dim;
  return false;
}

#define X(name) extern const lathe_schedule name##_schedule;
SCHEDULES
#undef X
static const struct {
  const char *name;
  const lathe_schedule *schedule;
} variants[] = {
#define X(name) {#name, &name##_schedule},
    SCHEDULES};
#undef X

static const lathe_limits cuda[] = {{132, 32, 1024, 0x7fffffff, 227 << 10, 8, 90, 1, {0}, 0},
                                    {108, 32, 1024, 0x7fffffff, 163 << 10, 1, 80, 0, {0}, 0},
                                    {4, 32, 1024, 0x7fffffff, 48 << 10, 1, 75, 0, {0}, 0}};
static const lathe_limits vulkan[] = {
    {132, 32, 1024, 0x7fffffff, 48 << 10, 1, 0, 0, {16, 16, 16}, 0},
    {2, 8, 1024, 65535, 32 << 10, 1, 0, 0, {0}, 0},
    {4, 128, 512, 65535, 32 << 10, 1, 0, 0, {16, 16, 16}, 0}};

static const char *of; /* the variant whose call is made, for messages */
static lathe_args args;
static _Alignas(16) char operand[LATHE_MAX_OPERANDS][32];
static bool wrong;

static void expect(bool holds, const char *what, const lathe_launch *l) {
  if (holds)
    return;
  wrong = true;
  printf("%s %zux%zux%zux%zu: %s: %s %u,%u blocks of %u,%u threads\n", of, args.dim[0], args.dim[1],
         args.dim[2], args.dim[3], what, l->kernel, l->grid[0], l->grid[1], l->block[0],
         l->block[1]);
}
#define EXPECT(condition) expect(condition, #condition, l)

static double workspace_of(const lathe_schedule *s) {
  return s->workspace ? s->workspace(args.dim) : 0;
}

/* That blocks have so many points each, and all of them. */
static void expect_all(const lathe_launch *l, size_t points, size_t each) {
  const size_t clusters = l->cluster > 1 ? l->cluster : 1, blocks = (size_t)l->grid[0] * l->grid[1];
  const size_t all = lathe_times(points, each) * clusters, needed = all ? all : 1;
  const size_t spare = l->grid[1] > 1 ? l->grid[0] : 1;

  EXPECT(needed <= blocks && blocks < needed + spare);
}

enum { TILES, WAVES, ROWS, BLOCKS, STAY, PARTS, JOIN, COLUMNS, MERGE };

static void check(const lathe_call *c, const lathe_kernel *k, const lathe_launch *l, int deal) {
  const size_t threads = (size_t)l->block[0] * l->block[1],
               sharing = c->vulkan ? l->constant[1] : l->block[0];
  const size_t shared = sharing * k->held * c->width * (k->cluster > 1 ? k->cluster : 1);
  const uint32_t mode = l->constant[2], name = (uint32_t)k->name + (c->vulkan ? LATHE_PACKS : mode);

  const size_t period = c->mode == LATHE_ENDS ? c->width : 1;
  const double left =
      (deal == COLUMNS ? l->grid[1] : l->grid[0]) * (double)c->count * sizeof(float);

  EXPECT(l->kernel && l->kernel == c->self->kernels[name]);
  EXPECT(mode != LATHE_FULL || shared == c->count);
  EXPECT(c->mode != LATHE_PACKS || !c->by_rows || c->count % c->width == 0);
  EXPECT(c->mode != LATHE_PACKS || (uintptr_t)args.buf[0] % 16 == 0);
  if (deal == TILES || deal == MERGE)
    expect_all(l, c->count, k->each);
  if (deal == ROWS || deal == BLOCKS)
    expect_all(l, c->rows, deal == ROWS ? k->rows : 1);
  if (deal == ROWS)
    EXPECT(threads == sharing * k->rows && shared >= c->accesses * c->width);
  if (deal == WAVES)
    EXPECT(l->grid[0] <= k->most && l->grid[0] <= c->machine * k->waves &&
           (l->grid[0] - 1) * (size_t)k->each <= c->count);
  if (deal == PARTS)
    EXPECT(l->grid[1] == c->rows && l->grid[0] <= c->parts &&
           (l->grid[0] - 1) * (size_t)k->each <= c->accesses);
  if (deal == JOIN)
    EXPECT(l->grid[1] == c->rows && l->grid[0] == 1);
  if (deal == COLUMNS)
    EXPECT(l->grid[0] * sharing * c->width >= c->count && l->grid[1] % period == 0 &&
           l->grid[1] <= c->partials);
  if (deal == STAY)
    EXPECT(l->grid[0] % period == 0 && (!c->partials || l->grid[0] <= c->partials));
  if (c->partials && (deal == STAY || deal == COLUMNS))
    EXPECT(left <= workspace_of(c->self));
}

#define X(deal, number)                                                                            \
  lathe_deal checked_##deal;                                                                       \
  bool checked_##deal(lathe_call *c, const lathe_kernel *k) {                                      \
    const int before = c->launches;                                                                \
    const bool done = lathe_##deal(c, k);                                                          \
    if (done && c->launches > before)                                                              \
      check(c, k, &c->to[before], number);                                                         \
    return done;                                                                                   \
  }
X(tiles, TILES)
X(waves, WAVES)
X(rows, ROWS)
X(blocks, BLOCKS)
X(stay, STAY)
X(parts_of_rows, PARTS)
X(join, JOIN)
X(columns, COLUMNS)
X(merge, MERGE)

bool checked_take(lathe_query *q, const lathe_step *s);
bool checked_take(lathe_query *q, const lathe_step *s) {
  const lathe_cut *c = q->cut;
  const bool done = lathe_take(q, s);
  size_t tiles = 0;

  if (!done || q->asks != LATHE_LAUNCHES)
    return done;
  const lathe_launch *l = &q->to[q->launches - 1];
  for (const lathe_matrices *m = s->of; m < s->of + s->nof; m++)
    tiles += lathe_times(m->m, c->bm) * (c->bn ? lathe_times(m->n, c->bn) : 1) * m->count;
  const size_t blocks = tiles * q->shares * l->cluster;
  EXPECT(
      l->grid[0] == blocks ||
      (c->stays && l->grid[0] == q->limits->multiprocessors * c->at_once && l->grid[0] < blocks));
  EXPECT(q->shares == 1 || tiles * q->shares <= c->most ||
         lathe_times(s->k, q->shares) * 2 > c->depth);
  EXPECT(c->depth == 0 || tiles > c->most || lathe_times(s->k, q->shares) <= c->depth);
  EXPECT(q->shares == 1 || c->left * (double)(tiles * q->shares) <= workspace_of(q->self));
  EXPECT(c->nmaps <= LATHE_MAX_MAPS && (c->nmaps == 0 || q->limits->maps));
  return done;
}

static size_t drawn(size_t below) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 11) % below;
}

/* An extent: few, around a power of two, around a size at which launches change, or many. */
static size_t extent(const lathe_schedule *s) {
  size_t ways = 0;

  while (s->ways[ways].tile[0] > 0)
    ways++;
  const lathe_way *w = &s->ways[drawn(ways)];
  switch (drawn(6)) {
  case 0: return drawn(70);
  case 1: return ((size_t)1 << drawn(20)) + drawn(3) - 1;
  case 2: return w->above[drawn(2)] / 8 * 8 + (drawn(2) ? 8 * drawn(3) : drawn(17));
  case 3: return 8 * drawn(20000);
  case 4: return drawn(100000);
  default: return drawn((size_t)1 << (drawn(3) ? 24 : 33)) / 8 * 8;
  }
}

static void draw(const lathe_schedule *s) {
  enum { DIMS = 4 };
  double points;

  do {
    points = 1;
    for (int d = 0; d < DIMS; d++) {
      args.dim[d] = extent(s);
      points *= (double)args.dim[d] + 1;
    }
  } while (points > 0x1p55);
  const size_t way = drawn(4), off = 2 * (1 + drawn(7));
  for (int o = 0; o < LATHE_MAX_OPERANDS;
       o++) { /* aligned, alike, but for one, or each otherwise */
    const size_t by = way == 1 || (way == 2 && o == 1) ? off : way == 3 ? 2 * drawn(8) : 0;
    args.buf[o] = operand[o] + by;
  }
}

int main(void) {
  enum { CALLS = 20000, KERNELS = 256 };
  static const lathe_launch none = {.kernel = "no launch"};

  for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
    const lathe_schedule *s = variants[v].schedule;
    const bool on_vulkan = strstr(variants[v].name, "__vulkan") != NULL;
    bool launched[KERNELS] = {false};
    of = variants[v].name;
    for (const lathe_way *w = s->ways; w->tile[0] > 0; w++)
      expect(w->block[2] <= 1 << 16, "blocks of more terms than are ever tried", &none);
    for (int i = 0; i < CALLS; i++) {
      const lathe_limits *limits = &(on_vulkan ? vulkan : cuda)[drawn(3)];
      lathe_launch launches[LATHE_MAX_LAUNCHES];
      draw(s);
      const int count = s->launches(s, &args, limits, launches);
      for (const lathe_launch *l = launches; l < launches + count; l++) {
        EXPECT(l->grid[0] <= limits->grid && l->grid[1] <= 65535 && l->grid[2] == 1);
        EXPECT((on_vulkan || l->grid[0] > 0) && (size_t)l->block[0] * l->block[1] <= limits->group);
        EXPECT(l->shared <= limits->shared && l->cluster <= limits->cluster);
        for (int k = 0; k < s->nkernels; k++)
          launched[k] |= l->kernel == s->kernels[k];
      }
      const lathe_launch *l = count > 0 ? launches : &none;
      const bool few = args.dim[0] > 0 && args.dim[0] < 1 << 24 && args.dim[1] < 1 << 24;
      EXPECT(count > 0 || s->ways->tile[1] > 0 || !few);
      EXPECT(count > 0 || !s->fits || !s->fits(args.dim, limits->shared));
    }
    for (int k = 0; k < s->nkernels; k++)
      if (s->kernels[k] && !launched[k])
        printf("%s: no call launches %s\n", of, s->kernels[k]);
  }
  return wrong;
}
