//@ -- Vectors of numbers in place of NV_cooperative_vector: for test_vulkan_chain.sh, on devices that lack that. Each sum
//@ -- is rounded to f16 once.
#define gl_CooperativeVectorMatrixLayoutRowMajorNV true
#define gl_CooperativeVectorMatrixLayoutColumnMajorNV false

//@ for _, components in ipairs { 16, 64 } do
struct emulated$components$ {
  float at[$components$];
};

//@ end
float emulated_rounded(float x) {
  return unpackFloat2x16(packFloat2x16(f16vec2(x, 0.0))).x;
}

#define emulated_clear(vector) \
  for (uint nth_ = 0u; nth_ < vector.at.length(); nth_++) \
    vector.at[nth_] = 0.0;

#define emulated_add(to, vector) \
  for (uint nth_ = 0u; nth_ < to.at.length(); nth_++) \
    to.at[nth_] = emulated_rounded(to.at[nth_] + vector.at[nth_]);

#define coopVecLoadNV(vector, from, place) \
  for (uint nth_ = 0u; nth_ < vector.at.length(); nth_++) \
    vector.at[nth_] = unpackFloat2x16(from[(place) / 16u + nth_ / 8u][nth_ % 8u / 2u])[nth_ % 2u];

#define coopVecStoreNV(vector, to, place) \
  for (uint nth_ = 0u; nth_ < vector.at.length(); nth_ += 2u) \
    to[(place) / 16u + nth_ / 8u][nth_ % 8u / 2u] = packFloat2x16(f16vec2(vector.at[nth_], vector.at[nth_ + 1u]));

#define coopVecMatMulNV(to, vector, type, matrix, place, of_matrix, rows, terms, is_row_major, is_transposed, line) \
  for (uint row_ = 0u; row_ < (rows); row_++) { \
    float sum_ = 0.0; \
    for (uint term_ = 0u; term_ < (terms); term_++) \
      sum_ += vector.at[term_] * float(matrix[is_row_major ? row_ * ((line) / 2u) + term_ : term_ * ((line) / 2u) + row_]); \
    to.at[row_] = emulated_rounded(sum_); \
  }
