/* Prints the kernels that calls of some sizes launch, on devices of some kinds: a line for each call, with the grid and
 * the block of each kernel, what it has besides, and the workspace; and which calls around 2^31 and 2^32 rows or points
 * have blocks for less, or for more, than there is. SCHEDULES: an X for each variant. */
#include "launch.h"

#include <stdio.h>
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

static const struct {
  const char *name;
  bool vulkan;
  lathe_limits limits;
} devices[] = {
    {"CUDA 9.0", false, {132, 32, 1024, 0x7fffffff, 227 << 10, 8, 90, 1, {0}}},
    {"CUDA 8.0", false, {108, 32, 1024, 0x7fffffff, 163 << 10, 1, 80, 1, {0}}},
    {"Vulkan", true, {132, 32, 1024, 0x7fffffff, 48 << 10, 1, 0, 0, {0}}},
    {"Vulkan, small", true, {4, 64, 512, 65535, 32 << 10, 1, 0, 0, {0}}},
};

static _Alignas(16) char operand[LATHE_MAX_OPERANDS][16];

/* Operands and rows at multiples of 16 bytes, all off by the same, and each off by something else. */
static const char *const ways[] = {"aligned", "alike", "unlike"};

static void dump(const lathe_schedule *s, bool vulkan, const lathe_limits *limits, size_t rows,
                 size_t count, int way) {
  lathe_args args = {0};
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  for (int d = 0; d < LATHE_MAX_DIMS; d++)
    args.dim[d] = 1;
  args.dim[0] = s->work->by_rows ? rows : rows * count;
  args.dim[1] = s->work->by_rows ? count + (way == 1) : 1;
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
    const bool off = way == 2 ? o == 0 : way == 1 && !(s->work->column >> o & 1);
    args.buf[o] = operand[o] + (off ? 8 : 0);
  }
  const lathe_variant variant = {.schedule = s};
  const int n = (vulkan ? lathe_launch_vulkan : lathe_launch_cuda)(s, &args, limits, launch);
  printf("  %zux%zu %s %.0f:", rows, count, ways[way], lathe_workspace(&variant, args.dim));
  for (int i = 0; i < n; i++) {
    const lathe_launch *l = &launch[i];
    printf(" %s %u,%u %u,%u", strstr(l->kernel, "__") + 2, l->grid[0], l->grid[1], l->block[0],
           l->block[1]);
    if (vulkan)
      printf(" [%u %u %u]", l->constant[0], l->constant[1], l->constant[2]);
    if (l->shared || l->cluster)
      printf(" %u bytes, cluster of %u%s", l->shared, l->cluster, l->resident ? ", resident" : "");
    printf("%s", i + 1 < n ? ";" : "");
  }
  printf("%s\n", n == 0 ? " none" : "");
}

static const lathe_kernel *kernel_of(const lathe_schedule *s, const lathe_launch *l, bool vulkan) {
  for (int r = 0; r < s->nrows; r++)
    for (int i = 0; i < s->rows[r].nkernels; i++)
      for (int mode = 0; mode < LATHE_MODES; mode++) {
        const lathe_kernel *k = &s->rows[r].kernels[i];
        if (k->name[mode] && !strcmp(k->name[mode], l->kernel) &&
            (!vulkan || k->number == l->constant[0]))
          return k;
      }
  return NULL;
}

/* Whether blocks have all of what a kernel deals out; with no more to spare than a grid of two dimensions must have. */
static bool covers(const lathe_launch *l, const lathe_kernel *k, size_t rows, size_t count) {
  const bool by_rows = k->deal == LATHE_ROWS || k->deal == LATHE_BLOCKS;
  const size_t blocks = (size_t)l->grid[0] * l->grid[1], spare = l->grid[1] > 1 ? l->grid[0] : 1;

  if (!by_rows && k->deal != LATHE_TILES && k->deal != LATHE_MERGE)
    return l->grid[1] <= 65535 && (k->deal != LATHE_PARTS || l->grid[1] == rows);
  const size_t each = k->deal == LATHE_ROWS ? k->rows : k->deal == LATHE_BLOCKS ? 1 : k->each;
  const size_t points = by_rows ? rows : count, clusters = k->cluster > 1 ? k->cluster : 1;
  const size_t needed = (points / each + (points % each != 0)) * clusters;
  return needed <= blocks && blocks < needed + spare && l->grid[1] <= 65535;
}

static void check_large(const lathe_schedule *s, const char *name, bool vulkan,
                        const lathe_limits *limits) {
  static const size_t large[] = {1,         65535,           65537,     (1ul << 31) - 1,
                                 1ul << 31, (1ul << 31) + 9, 1ul << 32, (1ul << 32) + 5,
                                 1ul << 34, (1ul << 40) + 1};
  const size_t n = sizeof large / sizeof *large;

  for (size_t i = 0; i < n * n; i++) {
    const size_t rows = large[i / n], count = large[i % n];
    lathe_args args = {.dim = {rows, count, 1, 1, 1, 1, 1, 1}};
    lathe_launch launch[LATHE_MAX_LAUNCHES];
    if (rows > (1ul << 44) / count)
      continue;
    if (!s->work->by_rows)
      args.dim[0] = rows * count, args.dim[1] = 1;
    for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
      args.buf[o] = operand[o];
    const int launches =
        (vulkan ? lathe_launch_vulkan : lathe_launch_cuda)(s, &args, limits, launch);
    for (int l = 0; l < launches; l++) {
      const lathe_kernel *k = kernel_of(s, &launch[l], vulkan);
      if (!k || !covers(&launch[l], k, s->work->by_rows ? rows : 1,
                        s->work->by_rows ? count : rows * count))
        printf("%s %zux%zu: %s has %u,%u blocks\n", name, rows, count, launch[l].kernel,
               launch[l].grid[0], launch[l].grid[1]);
    }
  }
}

int main(void) {
  static const size_t rows[] = {1, 200, 20000}, counts[] = {8, 640, 4096, 30000, 200000};
  for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
      if (devices[d].vulkan != !!strstr(variants[v].name, "__vulkan"))
        continue;
      printf("%s on %s\n", variants[v].name, devices[d].name);
      for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
          for (int way = 0; way < 3; way++)
            dump(variants[v].schedule, devices[d].vulkan, &devices[d].limits, rows[r], counts[c],
                 way);
      check_large(variants[v].schedule, variants[v].name, devices[d].vulkan, &devices[d].limits);
    }
  return 0;
}
