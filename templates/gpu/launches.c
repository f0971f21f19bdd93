#include "launches.h"

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* How many times `each` it takes to have as many points, at most `most` and at least once. */
static uint32_t blocks(size_t points, size_t each, size_t most) {
  const size_t some = smaller(lathe_times(points, each), most);

  return (uint32_t)(some ? some : 1);
}

/* ---- points and rows ------------------------------------------------------------------------- */

/* Whether all that is read or written along the last dimension starts at a multiple of 16 bytes; or, `alike`, the rows
 * of all operands as far from one, and what there is for each column at one. */
static bool lie(const lathe_args *args, uint32_t whole, uint32_t column, bool alike) {
  uintptr_t first = 0;
  bool any = false;
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
    const uintptr_t at = (uintptr_t)args->buf[o];
    if (column >> o & 1 && at % 16 != 0)
      return false;
    if (whole >> o & 1) {
      if (alike && !any)
        first = at;
      any = true;
      if ((at - first) % 16 != 0)
        return false;
    }
  }
  return true;
}

void lathe_measure(lathe_call *c, const lathe_args *args, uint32_t whole, uint32_t column) {
  const bool packs = lie(args, whole, column, false) && (!c->by_rows || c->count % c->width == 0);

  c->mode = packs                                               ? LATHE_PACKS
            : c->by_rows && lie(args, whole, column, !c->mixed) ? LATHE_ENDS
                                                                : LATHE_APART;
  c->aligned = lie(args, whole, 0, false);
  c->machine = c->limits->multiprocessors;
  c->period = c->mode == LATHE_ENDS ? c->width : 1;
  c->accesses = c->count / c->width;
  if (c->vulkan && c->mode == LATHE_APART) /* of elements, the last need not be as many */
    c->accesses += c->count % c->width != 0;
}

bool lathe_split(lathe_call *c, size_t parts) {
  c->parts = parts / (c->rows ? c->rows : 1);
  return c->parts > 1;
}

/* The threads that share what a kernel deals out, by whole groups where they may be fewer. */
static uint32_t threads_of(const lathe_call *c, const lathe_kernel *k) {
  const uint32_t subgroup = c->vulkan && k->spread ? c->limits->subgroup : 0;
  const uint32_t step = k->spread > subgroup ? k->spread : subgroup;
  const size_t clusters = k->cluster > 1 ? k->cluster : 1;

  if (!step)
    return k->threads;
  return blocks(k->held ? c->accesses : c->count, step * (k->held ? k->held * clusters : 1),
                k->threads ? k->threads / step : SIZE_MAX) *
         step;
}

/* A launch without a grid, whose blocks have `down` times so many threads; `threads` share a row. */
static lathe_launch begin(const lathe_call *c, const lathe_kernel *k, uint32_t threads,
                          uint32_t down) {
  const char *const *name = c->self->kernels + k->name;
  const bool full = name[LATHE_FULL] && c->mode == LATHE_PACKS &&
                    c->count == (size_t)threads * k->held * c->width;
  const int mode = full ? LATHE_FULL : c->mode;

  return (lathe_launch){
      .kernel = name[c->vulkan ? LATHE_PACKS : mode],
      .block = {c->vulkan ? threads * down : threads, c->vulkan ? 1 : down, 1},
      .cluster = k->cluster,
      .resident = k->resident,
      .shared = k->shared,
      .constant = {k->number, threads, (uint32_t)mode},
  };
}

/* Adds a launch with a grid; no launch of a call where Vulkan's device has no room for it. */
static bool add(lathe_call *c, lathe_launch l, size_t x, size_t y) {
  const bool has_room = !c->vulkan || (x > 0 && l.block[0] <= c->limits->group);

  l.grid[0] = (uint32_t)x;
  l.grid[1] = (uint32_t)y;
  l.grid[2] = 1;
  c->to[c->launches] = l;
  c->launches = has_room ? c->launches + (x > 0) : 0;
  return has_room;
}

/* The most blocks of a launch: Vulkan has two dimensions for them, see lathe_group. */
static size_t most_blocks(const lathe_call *c) {
  const size_t grid = c->limits->grid;

  return !c->vulkan ? grid : grid < 1 << 16 ? grid * grid : UINT32_MAX;
}

/* Adds a launch with a block for each so many points, and some more where one dimension has no room for them. */
static bool add_all(lathe_call *c, lathe_launch l, size_t points, size_t each, bool some) {
  const size_t grid = c->limits->grid,
               groups = lathe_times(points, each) * (l.cluster > 1 ? l.cluster : 1);

  if (groups > most_blocks(c)) {
    c->launches = 0;
    return false;
  }
  return add(c, l, groups ? smaller(groups, grid) : some, blocks(groups, grid, SIZE_MAX));
}

bool lathe_tiles(lathe_call *c, const lathe_kernel *k) {
  lathe_launch l = begin(c, k, threads_of(c, k), 1);

  l.constant[1] = 1; /* a kernel is for blocks of any size */
  return add_all(c, l, c->count, k->each, true);
}

bool lathe_waves(lathe_call *c, const lathe_kernel *k) {
  const size_t most = smaller(c->machine * k->waves, k->most);

  return add(c, begin(c, k, threads_of(c, k), 1), blocks(c->count, k->each, most), 1);
}

bool lathe_rows(lathe_call *c, const lathe_kernel *k) {
  return add_all(c, begin(c, k, threads_of(c, k), k->rows), c->rows, k->rows, true);
}

bool lathe_blocks(lathe_call *c, const lathe_kernel *k) {
  uint32_t threads = threads_of(c, k);

  while (c->vulkan && threads > c->limits->group)
    threads /= 2;
  return add_all(c, begin(c, k, threads, 1), c->rows, 1, c->vulkan);
}

bool lathe_stay(lathe_call *c, const lathe_kernel *k) {
  const uint32_t threads = threads_of(c, k), at_once = c->vulkan ? k->rows : k->rows / threads;
  const size_t all = c->machine * k->waves;
  const size_t most = c->partials ? smaller(all, c->partials) : all;

  return add(c, begin(c, k, threads, at_once),
             blocks(c->rows, at_once * c->period, most / c->period) * (uint32_t)c->period, 1);
}

bool lathe_parts_of_rows(lathe_call *c, const lathe_kernel *k) {
  return add(c, begin(c, k, threads_of(c, k), 1),
             c->vulkan ? blocks(c->count, (size_t)k->each * c->width, c->parts)
                       : blocks(c->accesses, k->each, c->parts),
             c->rows);
}

bool lathe_join(lathe_call *c, const lathe_kernel *k) {
  return add(c, begin(c, k, threads_of(c, k), 1), 1, c->rows);
}

/* How many threads there have to be for the ends of a row. */
static size_t least_lanes(const lathe_call *c) {
  return c->period > 1 ? 2 * c->period : 1;
}

/* A block's threads that share a row of a tile of columns: few beyond the row's end. */
static uint32_t lanes_of(const lathe_call *c, const lathe_kernel *k) {
  const size_t width = c->width, count = c->count;
  uint32_t lanes = k->threads;

  while (lanes > 32 &&
         blocks(count, lanes * width, SIZE_MAX) * (lanes * width) - count > count / 16)
    lanes /= 2;
  while (k->spread && lanes > least_lanes(c) && lanes / 2 * width >= count)
    lanes /= 2;
  return lanes;
}

/* On CUDA tiles are as wide as rows want. Those below share the partial results; where there are none, no thread is
 * idle, there are as many blocks as run at once, and all have as many rows. */
static bool columns_cuda(lathe_call *c, const lathe_kernel *k) {
  const size_t packs = lathe_times(c->count, c->width),
               tiles = lathe_most(lathe_times(packs, k->threads), 1);
  const size_t wanted = c->partials ? lanes_of(c, k) : lathe_times(packs, tiles);
  const uint32_t lanes = (uint32_t)lathe_most(wanted, least_lanes(c)), at_once = k->rows / lanes;
  const uint32_t across = blocks(c->count, lanes * c->width, SIZE_MAX);
  size_t down = lathe_times(c->machine * k->waves, across * c->period), each = at_once * c->period;

  if (c->partials) {
    down = smaller(down, c->partials / c->period);
  } else {
    down = lathe_most(c->machine * k->waves / (across * c->period), 1);
    each *= k->each;
    each *= lathe_most(lathe_times(c->rows, each * down), 1);
  }
  return add(c, begin(c, k, lanes, at_once), across,
             blocks(c->rows, each, down) * (uint32_t)c->period);
}

bool lathe_columns_of_several(lathe_call *c, const lathe_kernel *k) {
  lathe_call several = *c;

  several.count = c->count * c->width;
  several.rows = lathe_times(c->rows, c->width);
  several.partials = c->partials / c->width;
  several.period = 1;
  columns_cuda(&several, k);
  c->launches = several.launches;
  return true;
}

bool lathe_columns(lathe_call *c, const lathe_kernel *k) {
  lathe_launch l = begin(c, k, k->threads, 1);
  size_t across = c->mode == LATHE_PACKS ? 1 : 8;

  if (!c->vulkan)
    return columns_cuda(c, k);
  while (across < k->threads && across * c->width < c->count)
    across *= 2;
  const size_t tiles = blocks(c->count, across * c->width, SIZE_MAX);
  const size_t waves = c->machine * k->waves / tiles;
  const size_t share = (c->partials ? smaller(waves, c->partials) : waves) / c->period;
  l.constant[1] = (uint32_t)across;
  return add(c, l, tiles <= c->limits->grid ? tiles : 0,
             blocks(c->rows, k->threads * k->each / across * c->period, share) *
                 (uint32_t)c->period);
}

bool lathe_merge(lathe_call *c, const lathe_kernel *k) {
  lathe_launch l = begin(c, k, k->each, k->rows);

  l.constant[1] = 1;
  l.constant[2] = 0;
  return add_all(c, l, c->count, k->each, true);
}

/* ---- products of matrices -------------------------------------------------------------------- */

/* A launch's tiles, and by how many of `blocks` blocks the terms of each may be shared. */
static size_t tiles_of(const lathe_step *s, const lathe_cut *c) {
  size_t tiles = 0;

  for (const lathe_matrices *of = s->of; of < s->of + s->nof; of++)
    tiles += lathe_times(of->m, c->bm) * (c->bn ? lathe_times(of->n, c->bn) : 1) * of->count;
  return tiles;
}

/* By how many blocks the terms of each tile have to be shared, so that none adds up too many. */
static size_t fewest_shares(const lathe_step *s, const lathe_cut *c) {
  return c->depth > 0 && s->k > c->depth && tiles_of(s, c) <= c->most ? lathe_times(s->k, c->depth)
                                                                      : 1;
}

static size_t shares_of(const lathe_step *s, const lathe_cut *c, size_t blocks) {
  const size_t tiles = tiles_of(s, c), fewest = fewest_shares(s, c),
               slices = lathe_times(s->k, c->terms);
  const size_t some = tiles > 0 && tiles < blocks ? blocks / tiles : 1;
  const size_t most = some > fewest ? some : fewest;

  return slices < most ? (slices ? slices : 1) : most;
}

uint32_t lathe_cluster(const lathe_query *q, const lathe_step *s, const lathe_cut *c) {
  const size_t worth = lathe_times(s->k, c->terms), tiles = tiles_of(s, c);
  const size_t room = (size_t)q->limits->multiprocessors * c->at_once;
  uint32_t blocks = 1;

  while (blocks * 2 <= c->cluster && blocks * 2 <= worth && blocks * 2 <= q->limits->cluster &&
         blocks * 2 * tiles <= room)
    blocks *= 2;
  return blocks;
}

/* The threads of a block, 0 where a device's are too few or its matrices do not fit. */
static uint32_t threads_of_cut(const lathe_cut *c, const lathe_limits *limits) {
  const uint32_t threads = c->subgroups ? c->subgroups * limits->subgroup : c->threads;

  for (int i = 0; i < 3; i++)
    if (c->subgroups && (limits->matrix[i] == 0 || c->side[i] % limits->matrix[i] != 0))
      return 0;
  return threads <= limits->group ? threads : 0;
}

/* Whether a map is of a copy, which a kernel before makes. */
static bool is_copy(const lathe_query *q, const lathe_tensor_map *map) {
  return map->padded && lathe_is_placed(map, q->dim);
}

/* Whether a cut's factors lie as tensor maps can have them, or may be copied; what is so is noted for other cuts. */
static bool has_maps(lathe_query *q, const lathe_cut *c) {
  uint64_t extents[5], strides[4];
  bool all = c->nmaps == 0 || q->limits->maps;

  for (int i = 0; i < c->nmaps; i++) {
    const bool can = lathe_lay_out(&c->maps[i], q->args, extents, strides) > 0;
    q->rest |= !can || is_copy(q, &c->maps[i]);
    all &= can;
  }
  return all;
}

static bool can_be(lathe_query *q, const lathe_cut *c, size_t shared) {
  const lathe_limits *limits = q->limits;

  return has_maps(q, c) && threads_of_cut(c, limits) > 0 && limits->shared >= shared &&
         (c->room == 0 || shared <= c->room) && limits->architecture >= c->architecture;
}

/* How many of the blocks that share the terms of each of some tiles are a cluster's: all, or of more than a cluster has
 * as many as it may have, where each has a count of those that have come; 1: none. */
static uint32_t joined_by(const lathe_query *q, const lathe_cut *c, size_t tiles, size_t shares) {
  if (shares < 2 || c->joins < 2 || c->joins > q->limits->cluster)
    return 1;
  if (shares <= c->joins)
    return (uint32_t)shares;
  return shares % c->joins == 0 && tiles * c->joins <= c->most ? c->joins : 1;
}

/* Bytes of the copies that a cut has made of its factors. */
static size_t copied(const lathe_query *q, const lathe_cut *c) {
  uint64_t extents[5] = {0}, strides[4];
  size_t bytes = 0;

  for (int i = 0; i < c->nmaps; i++)
    if (is_copy(q, &c->maps[i])) {
      const int rank = lathe_lay_out(&c->maps[i], q->args, extents, strides);
      bytes += rank > 1 ? strides[rank - 2] * extents[rank - 1] : 0;
    }
  return bytes;
}

/* Takes a cut where it is faster, with the best number of shares. Of clocks: what a multiprocessor multiplies and
 * stores, or what its blocks wait for slices; each tile's start; where blocks share terms, to leave sums, to meet, and
 * for the last of them to take all; and a launch that copies factors. The blocks of a cluster read each other's sums, a
 * share of the rows each. Where several clusters share a tile, what a block leaves after that, and the last takes of
 * each cluster, is no more than such a share.
 * The constants here and those of cuts were fitted together, to times of each cut at 304 drawn shapes on an H100 and an
 * H200; those of tiles that the copy engine brings, and of the smallest of tensor cores, at 90 more of an H200. What is
 * chosen takes 1.7 % longer than the fastest in the mean. None alone says what a device can do. */
static void try_fastest(lathe_query *q, const lathe_step *s, const lathe_cut *c, size_t shared,
                        size_t most) {
  const double stored = (double)c->bm * c->bn / 4.3, met = 1000, joined = 2950 + c->left / 16,
               taken = c->left * 8 / (c->threads < 128 ? c->threads : 128);
  const size_t tiles = tiles_of(s, c), slices = lathe_times(s->k, c->terms), bytes = copied(q, c);
  const double ahead = bytes > 0 ? 6300 + (double)bytes / 1400 : 0;
  const double rate = q->rest && c->rest_rate ? c->rest_rate : c->rate;
  const double wait = q->rest && c->rest_wait ? c->rest_wait : c->wait;

  for (size_t shares = fewest_shares(s, c); shares <= most; shares++) {
    const size_t each = lathe_times(tiles * shares, q->limits->multiprocessors);
    const size_t waves = lathe_times(each, c->at_once);
    const double terms = (double)lathe_times(slices, shares) * c->terms;
    const double full = terms < (double)s->k ? terms : (double)s->k;
    const double busy = (double)each * ((double)c->bm * c->bn * full / rate + stored);
    const double waiting =
        c->slice ? (double)(waves * lathe_times((size_t)full, c->slice)) * wait : 0;
    const uint32_t cluster = joined_by(q, c, tiles, shares);
    const double sets = (double)(shares / cluster);
    const double gathered =
        (cluster > 1 ? joined : 0) + (sets > 1 ? met + taken / cluster * (sets + 1) : 0);
    const double clocks =
        (busy > waiting ? busy : waiting) + (double)waves * c->start + gathered + ahead;
    if (!q->cut || clocks < q->clocks) {
      q->cut = c;
      q->shares = shares;
      q->shared = shared;
      q->clocks = clocks;
    }
  }
}

void lathe_try(lathe_query *q, const lathe_step *s, bool wanted, const lathe_cut *c, size_t rooms) {
  const size_t shared = c->shared + rooms;

  if (q->asks == LATHE_LEFT && wanted) {
    const size_t shares = shares_of(s, c, c->most);
    const double left = shares > 1 ? c->left * (double)shares * (double)tiles_of(s, c) : 0;
    q->left = left > q->left ? left : q->left;
  } else if (q->asks == LATHE_FITS && wanted && c->nmaps == 0) {
    q->decided |= c->room == 0 || (shared <= c->room && shared <= q->limits->shared);
  }
  const bool asked = ++q->nth == q->limits->cut;
  if (q->asks != LATHE_LAUNCHES)
    return;
  q->decided |= q->cut && !c->rate;
  if ((q->decided && !asked) || !wanted || !can_be(q, c, shared))
    return;
  const size_t most =
      shares_of(s, c, smaller((size_t)q->limits->multiprocessors * c->at_once, c->most));
  if (asked) {
    q->cut = NULL;
    q->decided = true;
  }
  if (c->rate) {
    try_fastest(q, s, c, shared, most);
  } else {
    q->cut = c;
    q->shares = most;
    q->shared = shared;
    q->decided = true;
  }
}

bool lathe_take(lathe_query *q, const lathe_step *s) {
  const lathe_cut *c = q->cut;
  const bool fits = q->decided;

  q->cut = NULL;
  q->nth = 0;
  q->rest = false;
  q->decided = false;
  if (q->asks != LATHE_LAUNCHES)
    return q->asks == LATHE_LEFT || fits;
  if (!c)
    return false;
  const uint32_t joined = joined_by(q, c, tiles_of(s, c), q->shares);
  const uint32_t cluster = lathe_cluster(q, s, c), threads = threads_of_cut(c, q->limits);
  const size_t all = tiles_of(s, c) * q->shares * cluster;
  const size_t at_once = (size_t)q->limits->multiprocessors * c->at_once;
  const uint32_t *matrix = q->limits->matrix;
  const size_t packs = copied(q, c) / 16, most = q->limits->multiprocessors;
  if (packs > 0)
    q->to[q->launches++] = (lathe_launch){
        .kernel = q->self->kernels[c->name + 1],
        .image = c->image,
        .grid = {blocks(packs, 1024, most), 1, 1},
        .block = {1024, 1, 1},
        .cluster = 1,
        .shared =
            (uint32_t)q->shared, /* or multiprocessors stop for another split of their memory */
        .past = (size_t)c->copies(q->dim),
    };
  q->to[q->launches++] = (lathe_launch){
      .kernel = q->self->kernels[c->name + (cluster > 1)],
      .image = c->image,
      .grid = {(uint32_t)(c->stays ? smaller(all, at_once) : all), 1, 1},
      .block = {threads, 1, 1},
      .cluster = joined > 1 ? joined : cluster,
      .joined = joined > 1,
      .shared = (uint32_t)q->shared,
      .maps = c->maps,
      .nmaps = c->nmaps,
      .constant = {c->number, threads, 0, matrix[0], matrix[1], matrix[2]},
  };
  return all <= q->most;
}

int lathe_launch_steps(lathe_steps *steps, bool vulkan, const lathe_schedule *self,
                       const lathe_args *args, const lathe_limits *limits, lathe_launch *to) {
  lathe_query q = {
      .asks = LATHE_LAUNCHES,
      .dim = args->dim,
      .limits = limits,
      .args = args,
      .self = self,
      .most = vulkan ? INT32_MAX : limits->grid,
      .to = to,
  };

  if (!steps(&q))
    return 0;
  for (lathe_launch *l = to; l < to + q.launches; l++) {
    const uint32_t groups = l->grid[0];
    if (groups > 0 && vulkan) {
      l->grid[0] = groups < limits->grid ? groups : limits->grid;
      l->grid[1] = blocks(groups, limits->grid, SIZE_MAX);
    } else if (groups == 0 && !vulkan) {
      l->grid[0] = l->cluster;
    }
  }
  return q.launches;
}

double lathe_left_by_steps(lathe_steps *steps, const size_t *dim) {
  const lathe_limits none = {0};
  lathe_query q = {.asks = LATHE_LEFT, .dim = dim, .limits = &none};

  steps(&q);
  return q.left;
}

bool lathe_steps_fit(lathe_steps *steps, const size_t *dim, size_t shared) {
  const lathe_limits limits = {.shared = shared, .cluster = 1};

  return steps(&(lathe_query){.asks = LATHE_FITS, .dim = dim, .limits = &limits});
}
