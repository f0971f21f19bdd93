/* test_launch.c - what the functions share that say what calls launch (templates/gpu/launches.h), where today's kernels
 * do not try it, or by chance alone: which cut of a step is taken, tensor maps, products in one launch, as many kernels
 * as a call may have. What today's kernels launch: test_launch.sh. */
#include "tests.h"

#include "../templates/gpu/launches.h"

static const lathe_limits h100 = {132, 32, 1024, 0x7fffffff, 227 << 10, 8, 90, 1, {0}, 0};
static const char *const names[] = {"wide", "narrow", "copied", "together", "all",
                                    "more", "nth",    "nth",    "nth",      "nth"};
static const lathe_schedule schedule = {.kernels = names, .nkernels = 10};

static int launch_steps(lathe_steps *steps, const lathe_args *args, const lathe_limits *limits,
                        lathe_launch *to) {
  return lathe_launch_steps(steps, false, &schedule, args, limits, to);
}

static int launch_many(size_t rows, lathe_launch *to) {
  lathe_call c = {
      .self = &schedule, .limits = &h100, .to = to, .rows = rows, .count = 64, .width = 8};
  const lathe_args args = {0};

  lathe_measure(&c, &args, 3, 0);
  for (uint32_t i = 0; i < LATHE_MAX_LAUNCHES; i++) {
    const lathe_kernel k = {6, .threads = 32, .each = 8, .rows = 4, .number = i};
    assert_true((i % 2 ? lathe_merge : lathe_blocks)(&c, &k));
  }
  return c.launches;
}

static void launches_as_many_as_a_call_may_have(void **state) {
  (void)state;
  lathe_launch launch[LATHE_MAX_LAUNCHES];

  assert_int_equal(launch_many(0, launch), LATHE_MAX_LAUNCHES / 2);
  assert_int_equal(launch_many(1, launch), LATHE_MAX_LAUNCHES);
  assert_int_equal(launch[7].grid[0], 8);
  assert_int_equal(launch[7].block[1], 4);
}

/* Rows of elements of two sizes begin alike where both do at multiples of 16 bytes, and not at two bytes past them. */
static int mode_of_rows(uintptr_t first, uintptr_t second, bool mixed) {
  lathe_call c = {
      .limits = &h100, .rows = 3, .count = 17, .width = 8, .by_rows = true, .mixed = mixed};
  const lathe_args args = {.buf = {(void *)first, (void *)second}};

  lathe_measure(&c, &args, 3, 0);
  return c.mode;
}

static void knows_how_rows_begin(void **state) {
  (void)state;
  assert_int_equal(mode_of_rows(0x1002, 0x2002, false), LATHE_ENDS);
  assert_int_equal(mode_of_rows(0x1002, 0x2004, false), LATHE_APART);
  assert_int_equal(mode_of_rows(0x1000, 0x2000, true), LATHE_ENDS);
  assert_int_equal(mode_of_rows(0x1002, 0x2002, true), LATHE_APART);
}

/* Of what a device has no room for there are no launches, nor of what was added before. */
static void has_no_launch_without_room(void **state) {
  (void)state;
  const lathe_kernel k = {6, .threads = 32, .each = 8, .rows = 4};
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_call c = {
      .self = &schedule, .limits = &h100, .to = launch, .rows = 0x80000000, .count = 64};

  assert_true(lathe_tiles(&c, &k));
  assert_false(lathe_blocks(&c, &k));
  assert_int_equal(c.launches, 0);
  assert_true(lathe_rows(&c, &k));
  assert_int_equal(launch[0].grid[0], 0x20000000);
}

/* A product of matrices of 16 bits: by the copy engine in tiles of two sizes, or in tiles of threads' own copies. */
static const lathe_tensor_map maps[] = {
    {.operand = 0, .bytes = 2, .extent = {4, 1}, .box = {64, 128}, .swizzle = 128},
    {.operand = 1, .bytes = 2, .extent = {2, 4}, .box = {64, 64}, .swizzle = 128}};

static bool product(lathe_query *q) {
  static const lathe_cut cut[] = {
      {.name = 0,
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
      {.name = 1,
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
      {.name = 2,
       .bm = 128,
       .bn = 128,
       .terms = 256,
       .at_once = 1,
       .threads = 256,
       .most = 512,
       .rate = 600},
  };
  const lathe_matrices of[] = {{q->dim[0], q->dim[1], 1}};
  const lathe_step s = {of, 1, q->dim[2]};

  for (int c = 0; c < 3; c++)
    lathe_try(q, &s, true, &cut[c], 0);
  return lathe_take(q, &s);
}

static void takes_maps_where_operands_have_them(void **state) {
  (void)state;
  static _Alignas(16) char at[32];
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_limits limits = h100;
  lathe_args args = {.buf = {at, at, at}, .dim = {4096, 4096, 4096, 1, 1, 1, 1, 1}};
  uint64_t extents[5], strides[4];

  assert_int_equal(launch_steps(product, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "wide");
  assert_int_equal(launch[0].grid[0], 132); /* which go on to 512 tiles */
  assert_ptr_equal(launch[0].maps, maps);
  args.dim[0] = args.dim[1] = 1024; /* 32 wide tiles leave multiprocessors without */
  assert_int_equal(launch_steps(product, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "narrow");
  assert_int_equal(launch[0].grid[0], 128);
  assert_int_equal(lathe_lay_out(&maps[1], &args, extents, strides), 2);
  assert_int_equal(extents[0], 1024);
  assert_int_equal(extents[1], 4096);
  assert_int_equal(strides[0], 2048);
  limits.maps = 0;
  assert_int_equal(launch_steps(product, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "copied");
  limits = h100;
  args.buf[1] = at + 8; /* no multiple of 16 bytes */
  assert_int_equal(launch_steps(product, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "copied");
  args.buf[1] = at;
  args.dim[2] = 4095; /* nor are rows of a */
  assert_int_equal(launch_steps(product, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "copied");
  assert_int_equal(launch[0].nmaps, 0);
  args.dim[2] = 4096;
  limits.architecture = 80;
  assert_int_equal(launch_steps(product, &args, &limits, launch), 1);
  assert_string_equal(launch[0].kernel, "copied");
  args.dim[2] = 0; /* a tensor of nothing */
  assert_int_equal(lathe_lay_out(&maps[0], &args, extents, strides), 0);
}

/* Copies of the same factors begin 4096 bytes into the workspace, that of b past that of a. */
static double copies(const size_t *dim) {
  (void)dim;
  return 4096;
}

static double copy_of_b(const size_t *dim) {
  return 4096 + (double)lathe_padded(dim[0], dim[2], 2);
}

static bool copied(lathe_query *q) {
  static const lathe_tensor_map padded[] = {
      {.bytes = 2, .extent = {4, 1}, .box = {64, 128}, .place = copies, .padded = 1},
      {.operand = 1,
       .bytes = 2,
       .extent = {2, 4},
       .box = {64, 64},
       .place = copy_of_b,
       .padded = 1}};
  static const lathe_cut cut = {.bm = 128,
                                .bn = 256,
                                .terms = 256,
                                .at_once = 1,
                                .threads = 384,
                                .most = 512,
                                .stays = 1,
                                .rate = 1600,
                                .shared = 200000,
                                .nmaps = 2,
                                .maps = padded,
                                .copies = copies};
  const lathe_matrices of[] = {{q->dim[0], q->dim[1], 1}};
  const lathe_step s = {of, 1, q->dim[2]};

  lathe_try(q, &s, true, &cut, 0);
  return lathe_take(q, &s);
}

static void copies_factors_whose_rows_no_map_can_have(void **state) {
  (void)state;
  static _Alignas(16) char at[8192]; /* the operands, and a workspace */
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_args args = {.buf = {at, at + 2, at}, .workspace = at, .dim = {1000, 1000, 1003}};
  uint64_t extents[5], strides[4];

  assert_int_equal(lathe_padded(1000, 1000, 2), 0);
  assert_int_equal(lathe_padded(3, 1003, 2), 6080);                /* rows of 2016 bytes */
  assert_int_equal(launch_steps(copied, &args, &h100, launch), 0); /* b is off a boundary */
  args.buf[1] = at + 16;
  assert_int_equal(launch_steps(copied, &args, &h100, launch), 2);
  assert_string_equal(launch[0].kernel, "narrow"); /* the name after the cut's own */
  assert_int_equal(launch[0].past, 4096);
  assert_int_equal(launch[0].nmaps, 0);
  assert_int_equal(launch[0].shared, launch[1].shared);
  assert_int_equal(launch[1].past, 0);
  assert_int_equal(launch[1].nmaps, 2);
  const lathe_tensor_map *a = launch[1].maps, *b = a + 1;
  assert_ptr_equal(lathe_map_start(a, &args), at + 4096);
  assert_ptr_equal(lathe_map_start(b, &args), at + 16); /* rows of 2000 bytes are as they are */
  assert_int_equal(lathe_lay_out(a, &args, extents, strides), 2);
  assert_int_equal(extents[0], 1003);
  assert_int_equal(strides[0], 2016);
  args.dim[2] = 1000;
  assert_int_equal(launch_steps(copied, &args, &h100, launch), 1);
  assert_ptr_equal(lathe_map_start(launch[0].maps, &args), at);
}

/* A tile's terms are shared by a cluster's blocks, or by several clusters where that is faster. */
static bool joining(lathe_query *q) {
  static const lathe_cut cut = {.bm = 64,
                                .bn = 64,
                                .terms = 128,
                                .at_once = 3,
                                .threads = 128,
                                .most = 512,
                                .joins = 8,
                                .depth = 1 << 15,
                                .rate = 350,
                                .wait = 1500,
                                .slice = 64,
                                .start = 2000,
                                .left = 16384};
  const lathe_matrices of[] = {{q->dim[0], q->dim[1], 1}};
  const lathe_step s = {of, 1, q->dim[2]};

  lathe_try(q, &s, true, &cut, 0);
  return lathe_take(q, &s);
}

static void joins_blocks_that_share_terms(void **state) {
  (void)state;
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_limits limits = h100;
  lathe_args args = {.dim = {64, 64, 1024}};

  limits.cluster = 8;
  assert_int_equal(launch_steps(joining, &args, &limits, launch), 1);
  assert_int_equal(launch[0].grid[0], 8);
  assert_int_equal(launch[0].cluster, 8);
  assert_true(launch[0].joined);
  args.dim[2] = 40000;
  assert_int_equal(launch_steps(joining, &args, &limits, launch), 1);
  assert_true(launch[0].grid[0] > 8);
  assert_int_equal(launch[0].grid[0] % 8, 0);
  assert_int_equal(launch[0].cluster, 8);
  assert_true(launch[0].joined);
  args.dim[0] = 64 * 64;
  args.dim[2] = 16 << 15;
  assert_int_equal(launch_steps(joining, &args, &limits, launch), 1);
  assert_int_equal(launch[0].grid[0], 64 * 16);
  assert_int_equal(launch[0].cluster, 8);
  args.dim[0] = 65 * 64; /* of so many there is no count for each of eight blocks */
  assert_int_equal(launch_steps(joining, &args, &limits, launch), 1);
  assert_int_equal(launch[0].grid[0], 65 * 16);
  assert_false(launch[0].joined);
  args.dim[0] = 64;
  args.dim[2] = 100; /* nothing is shared */
  assert_int_equal(launch_steps(joining, &args, &limits, launch), 1);
  assert_int_equal(launch[0].grid[0], 1);
  assert_false(launch[0].joined);
  args.dim[2] = 2048;
  limits.cluster = 1;
  assert_int_equal(launch_steps(joining, &args, &limits, launch), 1);
  assert_false(launch[0].joined);
  assert_true(launch[0].cluster <= 1);
}

static const char *asked_for(uint32_t cut, lathe_limits limits) {
  static _Alignas(16) char at[16];
  static lathe_launch launch[LATHE_MAX_LAUNCHES];
  const lathe_args args = {.buf = {at, at, at}, .dim = {4096, 4096, 4096, 1, 1, 1, 1, 1}};

  limits.cut = cut;
  assert_int_equal(launch_steps(product, &args, &limits, launch), 1);
  return launch[0].kernel;
}

static void takes_the_cut_that_is_asked_for_where_it_can_be(void **state) {
  (void)state;
  lathe_limits limits = h100;

  assert_string_equal(asked_for(0, limits), "wide");
  assert_string_equal(asked_for(1, limits), "wide");
  assert_string_equal(asked_for(2, limits), "narrow");
  assert_string_equal(asked_for(3, limits), "copied");
  assert_string_equal(asked_for(4, limits), "wide");
  limits.maps = 0;
  assert_string_equal(asked_for(2, limits), "copied");
}

/* A tile that is slower as a whole is faster where a block alone waits less for its slices. */
static bool waiting(lathe_query *q) {
  static const lathe_cut cut[] = {
      {.name = 0,
       .bm = 128,
       .bn = 128,
       .terms = 64,
       .at_once = 1,
       .threads = 256,
       .most = 512,
       .rate = 600,
       .wait = 1000,
       .slice = 64,
       .start = 4000,
       .left = 65536},
      {.name = 1,
       .bm = 64,
       .bn = 64,
       .terms = 64,
       .at_once = 3,
       .threads = 128,
       .most = 512,
       .rate = 450,
       .wait = 700,
       .slice = 64,
       .start = 2000,
       .left = 16384},
  };
  const lathe_matrices of[] = {{q->dim[0], q->dim[1], 1}};
  const lathe_step s = {of, 1, q->dim[2]};

  for (int c = 0; c < 2; c++)
    lathe_try(q, &s, true, &cut[c], 0);
  return lathe_take(q, &s);
}

static void takes_small_tiles_where_blocks_wait(void **state) {
  (void)state;
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_args args = {.dim = {4096, 4096, 4096, 1, 1, 1, 1, 1}};

  assert_int_equal(launch_steps(waiting, &args, &h100, launch), 1);
  assert_string_equal(launch[0].kernel, "wide");
  assert_int_equal(launch[0].grid[0], 1024);
  args.dim[0] = args.dim[1] = 300;
  args.dim[2] = 128; /* blocks that share two slices would wait for each other longer */
  assert_int_equal(launch_steps(waiting, &args, &h100, launch), 1);
  assert_string_equal(launch[0].kernel, "narrow");
  assert_int_equal(launch[0].grid[0], 25);
  args.dim[2] = 8192; /* and share many, as long as the last one does not take too much */
  assert_int_equal(launch_steps(waiting, &args, &h100, launch), 1);
  assert_string_equal(launch[0].kernel, "narrow");
  assert_true(launch[0].grid[0] > 25 * 4 && launch[0].grid[0] < 25 * 16);
}

/* Products of as many terms in one launch, whose tiles have the same parts of these; and tiles of all columns. */
static bool products(lathe_query *q) {
  static const lathe_cut together = {
      .name = 3, .bm = 32, .bn = 32, .terms = 64, .at_once = 2, .threads = 256, .most = 512};
  static const lathe_cut all = {
      .name = 4, .bm = 32, .terms = 1, .at_once = 1, .threads = 256, .most = 1};
  static const lathe_cut more = {
      .name = 5, .bm = 16, .terms = 1, .at_once = 1, .threads = 256, .most = 1};
  const size_t *dim = q->dim;
  const lathe_matrices rows[] = {{dim[2], dim[1], 1}};
  const lathe_matrices sums[] = {{dim[0], dim[1], 1}, {dim[1], dim[3], 1}, {1, dim[0], 1}};
  const lathe_step first = {rows, 1, 1}, second = {sums, 3, dim[2]};

  lathe_try(q, &first, dim[1] <= 64, &all, 0);
  lathe_try(q, &first, true, &more, 0);
  if (!lathe_take(q, &first))
    return false;
  lathe_try(q, &second, true, &together, 0);
  return lathe_take(q, &second);
}

static void launches_products_together(void **state) {
  (void)state;
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  lathe_args args = {.dim = {100, 64, 256, 33, 1, 1, 1, 1}};

  assert_int_equal(launch_steps(products, &args, &h100, launch), 2);
  assert_string_equal(launch[0].kernel, "all");
  assert_int_equal(launch[0].grid[0], 8);
  assert_int_equal(launch[1].grid[0], (4 * 2 + 2 * 2 + 4) * 4);
  args.dim[1] = 65;
  assert_int_equal(launch_steps(products, &args, &h100, launch), 2);
  assert_string_equal(launch[0].kernel, "more");
  assert_int_equal(launch[0].grid[0], 16);
  args.dim[1] = 0; /* rows of nothing are stored all the same */
  assert_int_equal(launch_steps(products, &args, &h100, launch), 2);
  assert_int_equal(launch[0].grid[0], 8);
  assert_int_equal(launch[1].grid[0], 4 * 4);
}

const struct CMUnitTest launch_tests[] = {
    cmocka_unit_test(launches_products_together),
    cmocka_unit_test(takes_maps_where_operands_have_them),
    cmocka_unit_test(copies_factors_whose_rows_no_map_can_have),
    cmocka_unit_test(joins_blocks_that_share_terms),
    cmocka_unit_test(takes_the_cut_that_is_asked_for_where_it_can_be),
    cmocka_unit_test(takes_small_tiles_where_blocks_wait),
    cmocka_unit_test(knows_how_rows_begin),
    cmocka_unit_test(has_no_launch_without_room),
    cmocka_unit_test(launches_as_many_as_a_call_may_have),
};
const size_t launch_test_count = sizeof launch_tests / sizeof *launch_tests;
