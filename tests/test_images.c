/* test_images.c - device code that lies packed in the program, and kernels taken out of modules. */
#include "tests.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "library/image.h"
#include "library/spirv.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OP(op, length) ((length) << 16 | (op))

/* Two kernels, 3 and 5, of which each reads a variable of its own, 7 and 8; the second calls a helper, 6. Its load says
 * "aligned to 7 bytes", which is no use of 7. */
static const uint32_t two_kernels[] = {
    0x07230203, 0x10500,    0,         40,         0,          OP(17, 2),
    1, /* OpCapability Shader */
    OP(15, 7),  5,          1,         0x6e69616d, 0,          7,
    8,                                     /* OpEntryPoint GLCompute %1 "main" %7 %8 */
    OP(71, 4),  7,          33,        0,  /* OpDecorate %7 Binding 0 */
    OP(71, 4),  13,         11,        25, /* OpDecorate %13 BuiltIn WorkgroupSize */
    OP(19, 2),  10,                        /* %10 = OpTypeVoid */
    OP(33, 3),  11,         10,            /* %11 = OpTypeFunction %10 */
    OP(21, 4),  12,         32,        0,  /* %12 = OpTypeInt 32 0 */
    OP(50, 4),  12,         13,        1,  /* %13 = OpSpecConstant %12 1 */
    OP(32, 4),  14,         4,         12, /* %14 = OpTypePointer Workgroup %12 */
    OP(59, 4),  14,         7,         4,  /* %7 = OpVariable %14 Workgroup */
    OP(59, 4),  14,         8,         4,  /* %8 = OpVariable %14 Workgroup */
    OP(54, 5),  10,         1,         0,          11,         OP(248, 2),
    20, /* %1 = OpFunction: main */
    OP(57, 4),  10,         21,        3,          OP(57, 4),  10,
    22,         5,         /* calls %3, %5 */
    OP(253, 1), OP(56, 1), /* OpReturn OpFunctionEnd */
    OP(54, 5),  10,         3,         0,          11,         OP(248, 2),
    23,                                                                   /* %3: */
    OP(61, 4),  12,         24,        7,          OP(253, 1), OP(56, 1), /* loads %7 */
    OP(54, 5),  10,         5,         0,          11,         OP(248, 2),
    25, /* %5: */
    OP(61, 6),  12,         26,        8,          2,          7,
    OP(57, 4),  10,         27,        6, /* loads %8, calls %6 */
    OP(253, 1), OP(56, 1),  OP(54, 5), 10,         6,          0,
    11,         OP(248, 2), 28, /* %6 */
    OP(253, 1), OP(56, 1),
};

/* Where the first instruction is whose words begin so; 0 where there is none. */
static size_t find(const uint32_t *words, size_t count, const uint32_t *wanted, size_t length) {
  for (size_t at = LATHE_SPIRV_HEADER; at < count; at += lathe_spirv_length(words[at]))
    if (count - at >= length && memcmp(words + at, wanted, length * sizeof *words) == 0)
      return at;
  return 0;
}

#define HAS(...)                                                                                   \
  (find(kernel, count, (const uint32_t[]){__VA_ARGS__},                                            \
        COUNT(((const uint32_t[]){__VA_ARGS__}))) != 0)

static void test_one_kernel(void **state) {
  (void)state;
  size_t count = 0;
  uint32_t *kernel = lathe_spirv_kernel(two_kernels, COUNT(two_kernels), 0, &count);
  assert_non_null(kernel);
  assert_true(HAS(OP(57, 4), 10, 21, 3) && !HAS(OP(57, 4), 10, 22, 5));
  assert_true(HAS(OP(54, 5), 10, 3) && !HAS(OP(54, 5), 10, 5) && !HAS(OP(54, 5), 10, 6));
  assert_true(HAS(OP(15, 6), 5, 1, 0x6e69616d, 0, 7, OP(71, 4), 7));
  assert_true(HAS(OP(59, 4), 14, 7) && !HAS(OP(59, 4), 14, 8));
  free(kernel);
  kernel = lathe_spirv_kernel(two_kernels, COUNT(two_kernels), 1, &count);
  assert_non_null(kernel);
  assert_true(HAS(OP(57, 4), 10, 22, 5) && !HAS(OP(57, 4), 10, 21, 3));
  assert_true(HAS(OP(54, 5), 10, 5) && HAS(OP(54, 5), 10, 6) && !HAS(OP(54, 5), 10, 3));
  assert_true(HAS(OP(15, 6), 5, 1, 0x6e69616d, 0, 8));
  assert_true(HAS(OP(59, 4), 14, 8) && !HAS(OP(59, 4), 14, 7) && !HAS(OP(71, 4), 7));
  assert_true(HAS(OP(71, 4), 13) && HAS(OP(50, 4), 12, 13) && HAS(OP(21, 4), 12) &&
              HAS(OP(32, 4), 14));
  free(kernel);
}

/* Nothing is read past its end, and no length of 0 is waited for. */
static void test_broken_modules(void **state) {
  (void)state;
  uint32_t module[COUNT(two_kernels)];
  size_t count = 0;
  assert_null(lathe_spirv_kernel(two_kernels, COUNT(two_kernels), 2, &count));
  assert_null(lathe_spirv_kernel(two_kernels, 0, 0, &count));
  for (size_t length = 1; length < COUNT(two_kernels); length++) {
    uint32_t *part = malloc(length * sizeof *part);
    assert_non_null(part);
    memcpy(part, two_kernels, length * sizeof *part);
    free(lathe_spirv_kernel(part, length, 0, &count));
    free(part);
  }
  for (size_t at = 0; at < COUNT(two_kernels); at++) {
    const uint32_t other[] = {0, 1, 0x00010036, 0x00010039, 0x0001000f, 0x00010047, 0xffffffff};
    for (size_t o = 0; o < COUNT(other); o++) {
      memcpy(module, two_kernels, sizeof module);
      module[at] = other[o];
      free(lathe_spirv_kernel(module, COUNT(module), 1, &count));
    }
  }
}

/* Packs bytes as the build does. */
static lathe_image packed(unsigned char *to, size_t room, const void *bytes, size_t count) {
  size_t size = 0;
  assert_int_equal(
      lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, bytes, count, to, &size, room), LZMA_OK);
  return (lathe_image){.start = to, .end = to + size};
}

/* Three images as gen/tools/bundle.c puts them together. */
static const unsigned char bundle[] =
    "\3\0\0\0\0\0\0\0\xd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x8\0\0\0\0\0\0\0"
    "lathe, packedlea,t ha";
enum { BUNDLE = sizeof bundle - 1 };

static void test_images(void **state) {
  (void)state;
  unsigned char good[256], copy[256];
  lathe_image image = packed(good, sizeof good, bundle, BUNDLE);
  const size_t length = (size_t)(image.end - image.start);
  static const char *const codes[] = {"lathe, packed", "", "lea,t ha"};
  lathe_image_bundle kept = {0};
  const char *why = NULL;
  size_t size = 0;

  for (image.nth = 0; image.nth < COUNT(codes); image.nth++) {
    char *code = lathe_image_unpack(&kept, &image, &size, &why);
    assert_non_null(code);
    assert_int_equal(size, strlen(codes[image.nth]));
    assert_memory_equal(code, codes[image.nth], size);
    free(code);
  }
  assert_null(lathe_image_unpack(&kept, &image, &size, &why));
  assert_non_null(strstr(why, "(it has no such image)"));
  lathe_image_forget(&kept);
  for (size_t at = 0; at < length; at++) {
    memcpy(copy, good, length);
    copy[at] ^= 0x08;
    image = (lathe_image){.start = copy, .end = copy + length};
    why = NULL;
    assert_null(lathe_image_unpack(&kept, &image, &size, &why));
    assert_non_null(strstr(why, "its code in this program's file is damaged ("));
    image = (lathe_image){.start = good, .end = good + at};
    assert_null(lathe_image_unpack(&kept, &image, &size, &why));
  }
}

/* What is packed well, and no bundle. */
static void test_broken_bundles(void **state) {
  (void)state;
  unsigned char bytes[BUNDLE], to[256];
  const char *why = NULL;
  size_t size = 0;

  for (size_t count = 0; count < BUNDLE; count++) {
    const lathe_image image = packed(to, sizeof to, bundle, count);
    lathe_image_bundle kept = {0};
    const lathe_image last = {.start = image.start, .end = image.end, .nth = 2};
    assert_null(lathe_image_unpack(&kept, &last, &size, &why));
    lathe_image_forget(&kept);
  }
  for (size_t at = 0; at < 32; at++) {
    lathe_image_bundle kept = {0};
    memcpy(bytes, bundle, BUNDLE);
    bytes[at] = 0xff;
    lathe_image image = packed(to, sizeof to, bytes, BUNDLE);
    image.nth = 2;
    assert_null(lathe_image_unpack(&kept, &image, &size, &why));
    lathe_image_forget(&kept);
  }
}

/* The last image's bytes, "lathe, a", are sorted by their places. */
static void test_images_of_words(void **state) {
  (void)state;
  unsigned char to[256];
  lathe_image image = packed(to, sizeof to, bundle, BUNDLE);
  lathe_image_bundle kept = {0};
  const char *why = NULL;
  size_t size = 0;
  char *code;

  image.nth = 2;
  code = lathe_image_unpack_words(&kept, &image, &size, &why);
  assert_non_null(code);
  assert_int_equal(size, 8);
  assert_memory_equal(code, "lathe, a", 8);
  free(code);
  image.nth = 0;
  assert_null(lathe_image_unpack_words(&kept, &image, &size, &why));
  assert_non_null(strstr(why, "(it is no words of 4 bytes)"));
  lathe_image_forget(&kept);
}

typedef struct code_record {
  char *start;
  size_t size;
} code_record;

static bool fill_record(lathe_image_bundle *kept, const lathe_image *image, void *to,
                        const char **why) {
  code_record *record = to;

  record->start = lathe_image_unpack(kept, image, &record->size, why);
  return record->start;
}

/* A chain is unpacked once. One that ends in a damaged image is refused, and leaves nothing. */
static void test_chains(void **state) {
  (void)state;
  unsigned char to[256];
  lathe_image first = packed(to, sizeof to, bundle, BUNDLE), second = first;
  lathe_images all = {.bytes = sizeof(code_record), .fill = fill_record};
  const char *why = NULL;
  lathe_unpacked *u;

  second.nth = 3;
  first.next = &second;
  assert_null(lathe_images_of(&all, &first, &why));
  assert_non_null(strstr(why, "(it has no such image)"));
  assert_null(all.first);
  second.nth = 2;
  u = lathe_images_of(&all, &first, &why);
  assert_non_null(u);
  assert_int_equal(u->codes, 2);
  const code_record *const record = (const void *)u->code;
  assert_int_equal(record[0].size, 13);
  assert_memory_equal(record[1].start, "lea,t ha", 8);
  assert_ptr_equal(lathe_images_of(&all, &first, &why), u);
  assert_ptr_not_equal(lathe_images_of(&all, &second, &why), u);
  lathe_images_forget(&all);
  assert_null(all.first);
}

const struct CMUnitTest images_tests[] = {
    cmocka_unit_test(test_chains),         cmocka_unit_test(test_one_kernel),
    cmocka_unit_test(test_broken_modules), cmocka_unit_test(test_images),
    cmocka_unit_test(test_broken_bundles), cmocka_unit_test(test_images_of_words),
};
const size_t images_test_count = COUNT(images_tests);
