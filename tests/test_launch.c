/* test_launch.c - what rows of launches may say that those of today's kernels do not: code for one architecture, tensor
 * maps, as many kernels as a call may have. Those of today's kernels: test_launch.sh. */
#include "library/launch.h"
#include "tests.h"

static const lathe_work work = {.outer = 1, .inner = 2, .whole = 3, .by_rows = true, .width = 8};
static const lathe_limits h100 = {132, 32, 1024, 0x7fffffff, 227 << 10, 8, 90, 1, {0}};

static lathe_args call(size_t rows, size_t count) {
  return (lathe_args){.dim = {rows, count, 1, 1, 1, 1, 1, 1}};
}

static void takes_the_row_of_its_architecture(void **state) {
  (void)state;
  static const lathe_tensor_map maps[] = {{.operand = 1, .box = {64, 8}, .swizzle = 128},
                                          {.operand = 2, .box = {64, 128}}};
  static const lathe_kernel own[] = {{.name = {[LATHE_PACKS] = "own"},
                                      .deal = LATHE_BLOCKS,
                                      .threads = 128,
                                      .shared = 100 << 10,
                                      .cluster = 2,
                                      .nmaps = 2,
                                      .maps = maps}};
  static const lathe_kernel any[] = {
      {.name = {[LATHE_PACKS] = "any"}, .deal = LATHE_BLOCKS, .threads = 256}};
  static const lathe_row rows[] = {
      {.when = {.modes = 1 << LATHE_PACKS, .architecture = 90, .architecture_below = 100},
       .kernels = own,
       .nkernels = 1},
      {.when = {.modes = 1 << LATHE_PACKS}, .kernels = any, .nkernels = 1},
  };
  static const lathe_schedule schedule = {.work = &work, .rows = rows, .nrows = 2};
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_limits limits = h100;
  lathe_args args = call(5, 64);

  assert_int_equal(lathe_launch_cuda(&schedule, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "own");
  assert_int_equal(launch[0].grid[0], 10);
  assert_int_equal(launch[0].cluster, 2);
  assert_int_equal(launch[0].shared, 100 << 10);
  assert_int_equal(launch[0].nmaps, 2);
  assert_ptr_equal(launch[0].maps, maps);
  for (limits.architecture = 80; limits.architecture <= 100; limits.architecture += 20) {
    assert_int_equal(lathe_launch_cuda(&schedule, &args, &limits, launch), 1);
    assert_string_equal(launch[0].kernel, "any");
  }
  args.dim[1] = 63; /* no mode of these rows */
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &limits, launch), 0);
}

static void launches_as_many_as_a_call_may_have(void **state) {
  (void)state;
  lathe_kernel kernels[LATHE_MAX_LAUNCHES];
  const lathe_row row = {
      .when = {.modes = 1 << LATHE_PACKS}, .kernels = kernels, .nkernels = LATHE_MAX_LAUNCHES};
  const lathe_schedule schedule = {.work = &work, .rows = &row, .nrows = 1};
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_args args = call(0, 64);

  for (int i = 0; i < LATHE_MAX_LAUNCHES; i++)
    kernels[i] = (lathe_kernel){.name = {[LATHE_PACKS] = "nth"},
                                .deal = i % 2 ? LATHE_MERGE : LATHE_BLOCKS,
                                .threads = 32,
                                .each = 8,
                                .rows = 4,
                                .number = (uint32_t)i};
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &h100, launch), LATHE_MAX_LAUNCHES / 2);
  args.dim[0] = 1;
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &h100, launch), LATHE_MAX_LAUNCHES);
  assert_int_equal(launch[7].grid[0], 8);
  assert_int_equal(launch[7].block[1], 4);
}

/* A product of matrices of 16 bits: by the copy engine in tiles of two sizes, or in tiles of threads' own copies. */
static void takes_maps_where_operands_have_them(void **state) {
  (void)state;
  static const lathe_tensor_map maps[] = {
      {.operand = 0, .bytes = 2, .extent = {4, 1}, .box = {64, 128}, .swizzle = 128},
      {.operand = 1, .bytes = 2, .extent = {2, 4}, .box = {64, 64}, .swizzle = 128}};
  static const lathe_cut cuts[] = {
      {.name = "wide",
       .bm = 128,
       .bn = 256,
       .terms = 256,
       .at_once = 1,
       .threads = 384,
       .architecture = 90,
       .most = 512,
       .stays = 1,
       .rate = 1600,
       .left = 131072,
       .nmaps = 2,
       .maps = maps},
      {.name = "narrow",
       .bm = 128,
       .bn = 64,
       .terms = 256,
       .at_once = 1,
       .threads = 384,
       .architecture = 90,
       .most = 512,
       .stays = 1,
       .rate = 1000,
       .left = 32768,
       .nmaps = 2,
       .maps = maps},
      {.name = "copied",
       .bm = 128,
       .bn = 128,
       .terms = 256,
       .at_once = 1,
       .threads = 256,
       .most = 512},
  };
  static const lathe_step steps[] = {{.m = 1, .n = 2, .k = 4, .cuts = cuts, .ncuts = 3}};
  static const lathe_schedule schedule = {.work = &work, .steps = steps, .nsteps = 1};
  static _Alignas(16) char at[32];
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_limits limits = h100;
  lathe_args args = {.buf = {at, at, at}, .dim = {4096, 4096, 4096, 1, 1, 1, 1, 1}};
  uint64_t extents[5], strides[4];

  assert_int_equal(lathe_launch_cuda(&schedule, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "wide");
  assert_int_equal(launch[0].grid[0], 132); /* which go on to 512 tiles */
  assert_ptr_equal(launch[0].maps, maps);
  args.dim[0] = args.dim[1] = 1024; /* 32 wide tiles leave multiprocessors without */
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "narrow");
  assert_int_equal(launch[0].grid[0], 128);
  assert_int_equal(lathe_lay_out(&maps[1], &args, extents, strides), 2);
  assert_int_equal(extents[0], 1024);
  assert_int_equal(extents[1], 4096);
  assert_int_equal(strides[0], 2048);
  limits.maps = 0;
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "copied");
  limits = h100;
  args.buf[1] = at + 8; /* no multiple of 16 bytes */
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "copied");
  args.buf[1] = at;
  args.dim[2] = 4095; /* nor are rows of a */
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "copied");
  assert_int_equal(launch[0].nmaps, 0);
  args.dim[2] = 0; /* a tensor of nothing */
  assert_int_equal(lathe_lay_out(&maps[0], &args, extents, strides), 0);
}

/* Products of as many terms in one launch, whose tiles have the same parts of these; and tiles of all columns. */
static void launches_products_together(void **state) {
  (void)state;
  static const lathe_cut cuts[] = {{.name = "together",
                                    .bm = 32,
                                    .bn = 32,
                                    .terms = 64,
                                    .at_once = 2,
                                    .threads = 256,
                                    .most = 512}};
  static const lathe_cut all[] = {
      {.name = "all", .columns = 64, .bm = 32, .terms = 1, .at_once = 1, .threads = 256, .most = 1},
      {.name = "more", .bm = 16, .terms = 1, .at_once = 1, .threads = 256, .most = 1}};
  static const lathe_tiles beside[] = {{.m = 2, .n = 8}, {.n = 1}};
  static const lathe_step steps[] = {
      {.m = 4, .n = 2, .cuts = all, .ncuts = 2},
      {.m = 1, .n = 2, .k = 4, .cuts = cuts, .ncuts = 1, .beside = beside, .nbeside = 2}};
  static const lathe_schedule schedule = {.work = &work, .steps = steps, .nsteps = 2};
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_args args = {.dim = {100, 64, 256, 33, 1, 1, 1, 1}};

  assert_int_equal(lathe_launch_cuda(&schedule, &args, &h100, launch), 2);
  assert_string_equal(launch[0].kernel, "all");
  assert_int_equal(launch[0].grid[0], 8);
  assert_int_equal(launch[1].grid[0], (4 * 2 + 2 * 2 + 4) * 4);
  args.dim[1] = 65;
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &h100, launch), 2);
  assert_string_equal(launch[0].kernel, "more");
  assert_int_equal(launch[0].grid[0], 16);
  args.dim[1] = 0; /* rows of nothing are stored all the same */
  assert_int_equal(lathe_launch_cuda(&schedule, &args, &h100, launch), 2);
  assert_int_equal(launch[0].grid[0], 8);
  assert_int_equal(launch[1].grid[0], 4 * 4);
}

const struct CMUnitTest launch_tests[] = {
    cmocka_unit_test(launches_products_together),
    cmocka_unit_test(takes_maps_where_operands_have_them),
    cmocka_unit_test(takes_the_row_of_its_architecture),
    cmocka_unit_test(launches_as_many_as_a_call_may_have),
};
const size_t launch_test_count = sizeof launch_tests / sizeof *launch_tests;
