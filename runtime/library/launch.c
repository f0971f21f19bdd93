#include "launch.h"

#include <math.h>

#include "steps.h"

/* A call, as rows and kernels ask about it. */
typedef struct call_facts {
  const lathe_work *work;
  const lathe_limits *limits;
  size_t rows, count; /* count: points of a row */
  size_t accesses;    /* that a row may have */
  int mode;
  size_t period;   /* rows so far apart start alike */
  size_t partials; /* results of a column; 0: none are asked for */
  size_t parts;    /* of a row, as the row of launches says; 0: whole */
} call_facts;

/* How many times `each` it takes to have as many points, at most `most` and at least once. */
static uint32_t blocks(size_t points, size_t each, size_t most) {
  const size_t wanted = points / each + (points % each != 0);
  const size_t some = wanted < most ? wanted : most;

  return (uint32_t)(some ? some : 1);
}

/* The blocks that a kernel has to have, each for work of its own; 0: those that go on to further work. */
static size_t wanted(const lathe_kernel *k, const call_facts *f) {
  const size_t each = k->deal == LATHE_ROWS                              ? k->rows
                      : k->deal == LATHE_TILES || k->deal == LATHE_MERGE ? k->each
                                                                         : 1;
  const size_t points = k->deal == LATHE_ROWS || k->deal == LATHE_BLOCKS   ? f->rows
                        : k->deal == LATHE_TILES || k->deal == LATHE_MERGE ? f->count
                                                                           : 0;
  return (points / each + (points % each != 0)) * (k->cluster > 1 ? k->cluster : 1);
}

/* Whether all kernels of a row have no more blocks than a launch may have. */
static bool have_room(const lathe_row *row, const call_facts *f, size_t most) {
  for (int i = 0; i < row->nkernels; i++)
    if (wanted(&row->kernels[i], f) > most)
      return false;
  return true;
}

static size_t partials_of(const lathe_work *w, size_t count) {
  const size_t some = w->numbers / (count ? count : 1);

  return w->numbers == 0 ? 0 : some < w->fewest ? w->fewest : lathe_smaller(some, w->most);
}

/* ---- workspaces ------------------------------------------------------------------------------ */

double lathe_workspace(const lathe_variant *v, const size_t *dim) {
  if (!v || !dim)
    return 0;
  if (lathe_is_beyond(v->op, v->dtype, dim))
    return INFINITY;
  if (v->workspace)
    return v->workspace(dim);
  if (!v->schedule)
    return 0;
  const lathe_work *w = v->schedule->work;
  const size_t count = lathe_product(dim, w->inner);
  return w->bytes + w->bytes_of_partial * (double)partials_of(w, count) * (double)count +
         w->bytes_of_row * (double)lathe_product(dim, w->outer) +
         lathe_left_by_steps(v->schedule, dim);
}

/* Whether all that is read or written along the last dimension starts at a multiple of 16 bytes; or, `alike`, the rows
 * of all operands as far from one, and what there is for each column at one. */
static bool lie(const lathe_work *w, const lathe_args *args, bool alike) {
  uintptr_t first = 0;
  bool any = false;
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
    const uintptr_t at = (uintptr_t)args->buf[o];
    if (w->column >> o & 1 && at % 16 != 0)
      return false;
    if (w->whole >> o & 1) {
      if (alike && !any)
        first = at;
      any = true;
      if ((at - first) % 16 != 0)
        return false;
    }
  }
  return true;
}

static call_facts facts_of(const lathe_schedule *schedule, const lathe_args *args,
                           const lathe_limits *limits) {
  const lathe_work *w = schedule->work;
  call_facts f = {
      .work = w,
      .limits = limits,
      .rows = lathe_product(args->dim, w->outer),
      .count = lathe_product(args->dim, w->inner),
  };
  const bool aligned = lie(w, args, false) && (!w->by_rows || f.count % w->width == 0);

  f.mode = aligned ? LATHE_PACKS : w->by_rows && lie(w, args, true) ? LATHE_ENDS : LATHE_APART;
  f.period = f.mode == LATHE_ENDS ? w->width : 1;
  f.accesses = f.count / w->width;
  f.partials = partials_of(w, f.count);
  return f;
}

/* Whether a row of launches is for a call; counts the parts of its rows. */
static bool holds(const lathe_when *when, call_facts *f) {
  const lathe_limits *limits = f->limits;
  const size_t machine = limits->multiprocessors;

  f->parts = when->parts_waves  ? when->parts_waves * machine / (f->rows ? f->rows : 1)
             : when->parts_most ? when->parts_most / (f->rows ? f->rows : 1)
                                : 0;
  return when->modes >> f->mode & 1 && (!when->above || f->accesses > when->above) &&
         (!when->to || f->accesses <= when->to) &&
         (!when->rows_above || f->rows * 8 > when->rows_above * machine) &&
         (!when->rows_below || f->rows * 8 < when->rows_below * machine) &&
         limits->shared >= when->shared && limits->cluster >= when->cluster &&
         (!when->cluster_below || limits->cluster < when->cluster_below) &&
         limits->architecture >= when->architecture &&
         (!when->architecture_below || limits->architecture < when->architecture_below) &&
         ((!when->parts_waves && !when->parts_most) || f->parts > 1);
}

/* The threads that share what a kernel deals out, by whole groups of `step` where they may be fewer. */
static uint32_t threads_of(const lathe_kernel *k, const call_facts *f, uint32_t step) {
  const size_t clusters = k->cluster > 1 ? k->cluster : 1;

  if (!step)
    return k->threads;
  return blocks(k->held ? f->accesses : f->count, step * (k->held ? k->held * clusters : 1),
                k->threads ? k->threads / step : SIZE_MAX) *
         step;
}

/* The mode of a kernel of which `threads` share a row. */
static int mode_of(const lathe_kernel *k, const call_facts *f, uint32_t threads) {
  const bool full = k->name[LATHE_FULL] && f->mode == LATHE_PACKS &&
                    f->count == (size_t)threads * k->held * f->work->width;

  return full ? LATHE_FULL : f->mode;
}

static lathe_launch launch_of(const lathe_kernel *k, int mode) {
  return (lathe_launch){
      .kernel = k->name[mode],
      .cluster = k->cluster,
      .resident = k->resident,
      .shared = k->shared,
      .maps = k->maps,
      .nmaps = k->nmaps,
  };
}

static void set3(uint32_t *three, uint32_t x, uint32_t y) {
  three[0] = x;
  three[1] = y;
  three[2] = 1;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* A block's threads that share a row of a tile of columns: few beyond the row's end, and enough for its ends. */
static uint32_t lanes_of(const lathe_kernel *k, const call_facts *f) {
  const size_t width = f->work->width, count = f->count;
  uint32_t lanes = k->threads;

  while (lanes > 32 &&
         blocks(count, lanes * width, SIZE_MAX) * (lanes * width) - count > count / 16)
    lanes /= 2;
  while (k->spread && lanes > 2 * f->period && lanes / 2 * width >= count)
    lanes /= 2;
  return lanes;
}

static lathe_launch deal_cuda(const lathe_kernel *k, const call_facts *f) {
  const size_t machine = f->limits->multiprocessors, grid = f->limits->grid;
  const uint32_t threads = threads_of(k, f, k->spread);
  lathe_launch l = launch_of(k, mode_of(k, f, threads));

  set3(l.block, threads, 1);
  switch (k->deal) {
  case LATHE_TILES: set3(l.grid, blocks(f->count, k->each, grid), 1); break;
  case LATHE_WAVES:
    set3(l.grid, blocks(f->count, k->each, lathe_smaller(machine * k->waves, k->most)), 1);
    break;
  case LATHE_ROWS:
    set3(l.grid, blocks(f->rows, k->rows, grid), 1);
    set3(l.block, threads, k->rows);
    break;
  case LATHE_BLOCKS: set3(l.grid, (uint32_t)wanted(k, f), 1); break;
  case LATHE_STAY: {
    const uint32_t at_once = k->rows / threads;
    const size_t most = lathe_smaller(machine * k->waves, f->partials ? f->partials : SIZE_MAX);
    set3(l.grid, blocks(f->rows, at_once * f->period, most / f->period) * (uint32_t)f->period, 1);
    set3(l.block, threads, at_once);
    break;
  }
  case LATHE_PARTS: set3(l.grid, blocks(f->accesses, k->each, f->parts), (uint32_t)f->rows); break;
  case LATHE_JOIN: set3(l.grid, 1, (uint32_t)f->rows); break;
  case LATHE_COLUMNS: {
    const uint32_t lanes = lanes_of(k, f), at_once = k->rows / lanes;
    const uint32_t across = blocks(f->count, lanes * f->work->width, SIZE_MAX);
    const size_t down = blocks(machine * k->waves, across * f->period, f->partials / f->period);
    set3(l.grid, across, blocks(f->rows, at_once * f->period, down) * (uint32_t)f->period);
    set3(l.block, lanes, at_once);
    break;
  }
  case LATHE_MERGE:
    set3(l.grid, blocks(f->count, k->each, SIZE_MAX), 1);
    set3(l.block, k->each, k->rows);
    break;
  }
  return l;
}

int lathe_launch_cuda(const lathe_schedule *schedule, const lathe_args *args,
                      const lathe_limits *limits, lathe_launch *launches) {
  if (schedule->nsteps > 0) {
    const int count = lathe_launch_steps(schedule, args, limits, limits->grid, launches);
    for (int i = 0; i < count;
         i++) /* CUDA takes no grid of nothing; the kernel sees that it has none */
      if (launches[i].grid[0] == 0)
        launches[i].grid[0] = launches[i].cluster;
    return count;
  }

  call_facts f = facts_of(schedule, args, limits);

  for (const lathe_row *row = schedule->rows; row < schedule->rows + schedule->nrows; row++) {
    int count = 0;
    if (!holds(&row->when, &f) || !have_room(row, &f, limits->grid))
      continue;
    for (int i = 0; i < row->nkernels; i++) {
      launches[count] = deal_cuda(&row->kernels[i], &f);
      count += launches[count].grid[0] > 0; /* there may be no rows */
    }
    return count;
  }
  return 0;
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

/* A grid of so many workgroups, and some more where one dimension has no room for them: see lathe_group. */
static void set_groups(uint32_t *grid, uint32_t groups, const lathe_limits *limits) {
  set3(grid, groups < limits->grid ? groups : limits->grid, blocks(groups, limits->grid, SIZE_MAX));
}

/* A launch of one kernel, with its constants THREADS and MODE; without blocks where the device has no room for it. */
static lathe_launch deal_vulkan(const lathe_kernel *k, const call_facts *f) {
  const lathe_limits *limits = f->limits;
  const size_t width = f->work->width, machine = limits->multiprocessors;
  const uint32_t step = k->spread && limits->subgroup > k->spread ? limits->subgroup : k->spread;
  uint32_t threads = threads_of(k, f, step), block = threads * (k->rows ? k->rows : 1);
  lathe_launch l;

  while (k->deal == LATHE_BLOCKS && threads > limits->group)
    block = threads /= 2;
  const int mode = mode_of(k, f, threads);
  l = launch_of(k, LATHE_PACKS);
  l.constant[0] = k->number;
  l.constant[1] = threads;
  l.constant[2] = (uint32_t)mode;
  switch (k->deal) {
  case LATHE_TILES:
    l.constant[1] = 1; /* a kernel is for blocks of any size */
    set_groups(l.grid, blocks(f->count, k->each, SIZE_MAX), limits);
    break;
  case LATHE_WAVES:
    set3(l.grid, blocks(f->count, k->each, lathe_smaller(machine * k->waves, k->most)), 1);
    break;
  case LATHE_ROWS: set_groups(l.grid, blocks(f->rows, k->rows, SIZE_MAX), limits); break;
  case LATHE_BLOCKS: set_groups(l.grid, blocks(f->rows, 1, SIZE_MAX), limits); break;
  case LATHE_STAY: {
    const size_t most = lathe_smaller(machine * k->waves, f->partials);
    set3(l.grid, blocks(f->rows, k->rows * f->period, most / f->period) * (uint32_t)f->period, 1);
    break;
  }
  case LATHE_PARTS:
    set3(l.grid, blocks(f->count, k->each * width, f->parts), (uint32_t)f->rows);
    break;
  case LATHE_JOIN: set3(l.grid, 1, (uint32_t)f->rows); break;
  case LATHE_COLUMNS: {
    size_t across = 8;
    while (across < threads && across * width < f->count)
      across *= 2;
    const size_t tiles = blocks(f->count, across * width, SIZE_MAX);
    const size_t share = lathe_smaller(machine * k->waves / tiles, f->partials) / f->period;
    set3(l.grid, tiles <= limits->grid ? (uint32_t)tiles : 0,
         blocks(f->rows, threads * k->each / across * f->period, share) * (uint32_t)f->period);
    l.constant[1] = (uint32_t)across;
    block = threads;
    break;
  }
  case LATHE_MERGE:
    set_groups(l.grid, blocks(f->count, k->each, SIZE_MAX), limits);
    l.constant[1] = 1;
    l.constant[2] = 0;
    break;
  }
  set3(l.block, block, 1);
  if (block > limits->group)
    l.grid[0] = 0;
  return l;
}

int lathe_launch_vulkan(const lathe_schedule *schedule, const lathe_args *args,
                        const lathe_limits *limits, lathe_launch *launches) {
  const lathe_work *w = schedule->work;

  if (schedule->nsteps > 0) {
    const int count = lathe_launch_steps(schedule, args, limits, INT32_MAX, launches);
    for (int i = 0; i < count; i++)
      if (launches[i].grid[0] > 0)
        set_groups(launches[i].grid, launches[i].grid[0], limits);
    return count;
  }

  call_facts f = facts_of(schedule, args, limits);

  if (f.mode == LATHE_APART) /* of elements, the last need not be as many */
    f.accesses += f.count % w->width != 0;
  for (const lathe_row *row = schedule->rows; row < schedule->rows + schedule->nrows; row++) {
    const size_t grid = limits->grid, most = grid < 1 << 16 ? grid * grid : UINT32_MAX;
    bool fits = holds(&row->when, &f) && have_room(row, &f, most);
    for (int i = 0; fits && i < row->nkernels; i++) {
      launches[i] = deal_vulkan(&row->kernels[i], &f);
      fits = launches[i].grid[0] > 0;
    }
    if (fits)
      return row->nkernels;
  }
  return 0;
}
