#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require

/* Multiplies matrices of f16, adds the products up in f32 and does nothing else, `packs` times, for the ceiling of a GPU's
 * matrix units: as devices/cuda/arithmetic.c. Each subgroup has some sums, as many as hide how long one takes. */
layout(local_size_x_id = 0) in;
layout(constant_id = 5) const uint M = 16; /* rows, columns and terms of a product of matrices */
layout(constant_id = 6) const uint N = 16;
layout(constant_id = 7) const uint K = 16;
const uint SUMS = 8; /* each is added to once in a round */

layout(push_constant, std430) uniform lathe_args {
  uint64_t from[3], to, packs;
} args;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer lathe_word {
  uint at;
};

void multiply() {
  const coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a =
      coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA>(0.0625);
  const coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b =
      coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB>(0.0625);
  coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> sums[SUMS];

  [[unroll]] for (uint i = 0u; i < SUMS; i++)
    sums[i] = coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(float(i));
  for (uint64_t round = 0ul; round < args.packs; round++)
    [[unroll]] for (uint i = 0u; i < SUMS; i++)
      sums[i] = coopMatMulAdd(a, b, sums[i]);
  [[unroll]] for (uint i = 1u; i < SUMS; i++)
    sums[0] += sums[i];
  if (sums[0][0] == 1e30)
    lathe_word(args.to).at = 1u;
}

void main() {
  multiply();
}
