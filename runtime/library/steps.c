/* steps.c - how the steps of a contraction are cut for a call: tiles, blocks that share one, tensor maps. */
#include "steps.h"

static size_t times(size_t count, size_t each) {
  return count / each + (count % each != 0);
}

static size_t upwards(size_t count, size_t each) {
  return times(count, each) * each;
}

/* The dynamic shared memory of a cut's blocks, of which so many are a cluster. Lines of a room end eight elements past a
 * multiple of 64, or 16 bytes past one of 16. */
static size_t shared_of(const lathe_step *step, const lathe_cut *c, const size_t *dim,
                        uint32_t blocks) {
  size_t bytes = c->shared;

  for (const lathe_room *r = step->rooms; r < step->rooms + step->nrooms; r++) {
    const size_t of = lathe_product(dim, r->of), line = (upwards(of, 64) + 8) * r->bytes;
    const size_t columns = upwards(times(lathe_product(dim, r->columns), blocks), 16);
    if (!(c->rooms >> (r - step->rooms) & 1))
      continue;
    bytes += !r->columns ? c->bm * line
             : r->across ? upwards(of, 16) * (columns * r->bytes + 16)
                         : columns * line;
  }
  return bytes;
}

static bool is_for(const lathe_cut *c, const lathe_step *step, const size_t *dim) {
  for (const lathe_extent *b = c->extents; b < c->extents + c->nextents; b++) {
    const size_t extent = lathe_product(dim, b->of);
    if (extent <= b->above || (b->most && extent > b->most))
      return false;
  }
  return (c->rows == 0 || lathe_product(dim, step->m) <= c->rows) &&
         (c->columns == 0 || lathe_product(dim, step->n) <= c->columns);
}

/* A launch's tiles, and by how many of `blocks` blocks the terms of each may be shared. */
static size_t tiles_of(const lathe_step *step, const lathe_cut *c, const size_t *dim) {
  const lathe_tiles first = {step->m, step->n, step->matrices};
  size_t tiles = 0;

  for (int i = -1; i < step->nbeside; i++) {
    const lathe_tiles *t = i < 0 ? &first : &step->beside[i];
    tiles += times(lathe_product(dim, t->m), c->bm) *
             (c->bn ? times(lathe_product(dim, t->n), c->bn) : 1) * lathe_product(dim, t->matrices);
  }
  return tiles;
}

/* By how many blocks the terms of each tile have to be shared, so that none adds up too many. */
static size_t fewest_shares(const lathe_step *step, const lathe_cut *c, const size_t *dim) {
  const size_t terms = lathe_product(dim, step->k);

  return c->depth > 0 && terms > c->depth && tiles_of(step, c, dim) <= c->most
             ? times(terms, c->depth)
             : 1;
}

static size_t shares_of(const lathe_step *step, const lathe_cut *c, const size_t *dim,
                        size_t blocks) {
  const size_t tiles = tiles_of(step, c, dim), fewest = fewest_shares(step, c, dim),
               slices = times(lathe_product(dim, step->k), c->terms);
  const size_t some = tiles > 0 && tiles < blocks ? blocks / tiles : 1;
  const size_t most = some > fewest ? some : fewest;

  return slices < most ? (slices ? slices : 1) : most;
}

/* The blocks of a cluster, of which each has some of a tile's columns: as many as those are worth, where so many run at
 * once. */
static uint32_t cluster_of(const lathe_step *step, const lathe_cut *c, const size_t *dim,
                           const lathe_limits *limits) {
  const size_t worth = times(lathe_product(dim, step->k), c->terms);
  const size_t tiles = tiles_of(step, c, dim), room = (size_t)limits->multiprocessors * c->at_once;
  uint32_t blocks = 1;

  while (blocks * 2 <= c->cluster && blocks * 2 <= worth && blocks * 2 <= limits->cluster &&
         blocks * 2 * tiles <= room)
    blocks *= 2;
  return blocks;
}

double lathe_left_by_steps(const lathe_schedule *schedule, const size_t *dim) {
  double most = 0;

  for (const lathe_step *s = schedule->steps; s < schedule->steps + schedule->nsteps; s++)
    for (const lathe_cut *c = s->cuts; c < s->cuts + s->ncuts; c++) {
      const size_t shares = is_for(c, s, dim) ? shares_of(s, c, dim, c->most) : 1;
      const double left = shares > 1 ? c->left * (double)shares * (double)tiles_of(s, c, dim) : 0;
      most = left > most ? left : most;
    }
  for (int i = 0; i < schedule->ntemporaries; i++)
    most +=
        (double)((lathe_product(dim, schedule->temporaries[i]) * schedule->number + 63) / 64 * 64);
  return most;
}

/* Whether a size alone says that a cut can be: tensor maps depend on where operands lie. */
static bool fits(const lathe_cut *c, const lathe_step *step, const size_t *dim, size_t shared) {
  const size_t room = c->room < shared ? c->room : shared;

  return c->nmaps == 0 && is_for(c, step, dim) &&
         (c->room == 0 || shared_of(step, c, dim, 1) <= room);
}

bool lathe_steps_fit(const lathe_schedule *schedule, const size_t *dim, size_t shared) {
  for (const lathe_step *s = schedule->steps; s < schedule->steps + schedule->nsteps; s++) {
    bool any = false;
    for (const lathe_cut *c = s->cuts; c < s->cuts + s->ncuts && !any; c++)
      any = fits(c, s, dim, shared);
    if (!any)
      return false;
  }
  return true;
}

/* The threads of a block, 0 where a device's are too few or its matrices do not fit. */
static uint32_t threads_of_cut(const lathe_cut *c, const lathe_limits *limits) {
  const uint32_t threads = c->subgroups ? c->subgroups * limits->subgroup : c->threads;

  for (int i = 0; i < 3; i++)
    if (c->subgroups && (limits->matrix[i] == 0 || c->side[i] % limits->matrix[i] != 0))
      return 0;
  return threads <= limits->group ? threads : 0;
}

static bool can_be(const lathe_step *step, const lathe_cut *c, const lathe_args *args,
                   const lathe_limits *limits) {
  uint64_t extents[5], strides[4];

  for (int i = 0; i < c->nmaps; i++)
    if (!limits->maps || !lathe_lay_out(&c->maps[i], args, extents, strides))
      return false;
  const size_t shared = shared_of(step, c, args->dim, cluster_of(step, c, args->dim, limits));
  return threads_of_cut(c, limits) > 0 && limits->shared >= shared &&
         (c->room == 0 || shared <= c->room) && limits->architecture >= c->architecture;
}

/* How a step is cut, and by how many blocks a tile's terms are shared. */
typedef struct way {
  const lathe_cut *cut; /* null: there is none */
  size_t shares;
  double clocks; /* that it takes, as far as the cut says */
} way;

/* The best number of shares, of those that leave their sums in a cache that moves some bytes a clock. */
static way fastest(const lathe_step *step, const lathe_cut *c, const size_t *dim,
                   const lathe_limits *limits, size_t most) {
  const double moved = 16;
  const size_t tiles = tiles_of(step, c, dim);
  const size_t slices = times(lathe_product(dim, step->k), c->terms);
  const size_t first = fewest_shares(step, c, dim);
  way best = {0};

  for (size_t shares = first; shares <= most; shares++) {
    const size_t waves = times(tiles * shares, (size_t)limits->multiprocessors * c->at_once);
    const double terms = (double)times(slices, shares) * c->terms;
    const double gathered = shares > 1 ? c->left * (double)(shares + 1) / moved : 0;
    const double clocks =
        (double)waves * ((double)c->bm * c->bn * terms / c->rate + c->start) + gathered;
    if (shares == first || clocks < best.clocks)
      best = (way){c, shares, clocks};
  }
  return best;
}

static way way_of(const lathe_step *step, const lathe_args *args, const lathe_limits *limits) {
  way best = {0};

  for (const lathe_cut *c = step->cuts; c < step->cuts + step->ncuts; c++) {
    if (best.cut && !c->rate)
      break;
    if (!is_for(c, step, args->dim) || !can_be(step, c, args, limits))
      continue;
    const size_t room = lathe_smaller((size_t)limits->multiprocessors * c->at_once, c->most);
    const size_t most = shares_of(step, c, args->dim, room);
    if (!c->rate)
      return (way){.cut = c, .shares = most};
    const way this = fastest(step, c, args->dim, limits, most);
    if (!best.cut || this.clocks < best.clocks)
      best = this;
  }
  return best;
}

int lathe_launch_steps(const lathe_schedule *schedule, const lathe_args *args,
                       const lathe_limits *limits, size_t most, lathe_launch *launches) {
  for (int i = 0; i < schedule->nsteps; i++) {
    const lathe_step *s = &schedule->steps[i];
    const way w = way_of(s, args, limits);
    const lathe_cut *c = w.cut;
    if (!c)
      return 0;
    const uint32_t cluster = cluster_of(s, c, args->dim, limits);
    const size_t all = tiles_of(s, c, args->dim) * w.shares * cluster;
    const size_t at_once = (size_t)limits->multiprocessors * c->at_once;
    const uint32_t threads = threads_of_cut(c, limits);
    if (all > most)
      return 0;
    launches[i] = (lathe_launch){
        .kernel = cluster > 1 ? c->of_cluster : c->name,
        .grid = {(uint32_t)(c->stays ? lathe_smaller(all, at_once) : all), 1, 1},
        .block = {threads, 1, 1},
        .cluster = cluster,
        .shared = (uint32_t)shared_of(s, c, args->dim, cluster),
        .maps = c->maps,
        .nmaps = c->nmaps,
        .constant = {c->number, threads, 0, limits->matrix[0], limits->matrix[1],
                     limits->matrix[2]},
    };
  }
  return schedule->nsteps;
}

int lathe_lay_out(const lathe_tensor_map *map, const lathe_args *args, uint64_t extents[5],
                  uint64_t strides[4]) {
  const uint64_t most_extent = INT32_MAX, most_stride = (uint64_t)1 << 40;
  uint64_t stride = map->bytes;
  int count = 0;

  if ((uintptr_t)args->buf[map->operand] % 16 != 0)
    return 0;
  for (; count < 5 && map->extent[count]; count++) {
    if (count > 0 && (stride % 16 != 0 || stride >= most_stride))
      return 0;
    if (count > 0)
      strides[count - 1] = stride;
    extents[count] = lathe_product(args->dim, map->extent[count]);
    if (extents[count] == 0 || extents[count] > most_extent)
      return 0;
    stride *= extents[count];
  }
  return count;
}
