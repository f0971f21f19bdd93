//@ -- Matrices of 8 x 8 as subgroups of 8 have them, in place of KHR_cooperative_matrix: for test_vulkan_chain.sh and
//@ -- test_vulkan_contract.sh, on devices that lack that.
const uint MATRIX_M = 8u, MATRIX_N = 8u, MATRIX_K = 8u;
#define gl_CooperativeMatrixLayoutRowMajor true
#define gl_CooperativeMatrixLayoutColumnMajor false

struct emulated {
  float of_row[8]; /* an invocation has a column */
};

emulated emulated_of(float x) {
  return emulated(float[](x, x, x, x, x, x, x, x));
}

#define coopMatLoad(to, from, place, line, is_row_major) \
  for (uint row_ = 0u; row_ < 8u; row_++) { \
    const uint column_ = gl_SubgroupInvocationID; \
    const uint at_ = is_row_major ? row_ * (line) * 8u + column_ : column_ * (line) * 8u + row_; \
    to.of_row[row_] = unpackFloat2x16(from[(place) + at_ / 8u][at_ % 8u / 2u])[at_ % 2u]; \
  }

#define coopMatStore(matrix, to, place, line, is_row_major) \
  for (uint row_ = 0u; row_ < 8u; row_++) { \
    const uint at_ = ((place) + row_ * (line)) * 4u + gl_SubgroupInvocationID; \
    to[at_ / 4u][at_ % 4u] = floatBitsToUint(matrix.of_row[row_]); \
  }

emulated coopMatMulAdd(emulated a, emulated b, emulated sum) {
  for (uint row = 0u; row < 8u; row++)
    for (uint term = 0u; term < 8u; term++)
      sum.of_row[row] += subgroupShuffle(a.of_row[row], term) * b.of_row[term];
  return sum;
}

