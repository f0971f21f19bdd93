// A product of tiles, whose size the device chooses, from memory and from shared memory.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint M = 16;
layout(constant_id = 3) const uint N = 16;
layout(constant_id = 4) const uint K = 16;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer halves { float16_t at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer floats { float at[]; };
layout(push_constant, std430) uniform arguments { uint64_t to; } args;
shared float16_t tile[1024];
void main() {
  coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a;
  coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b;
  coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> c =
    coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(0.0);
  tile[gl_LocalInvocationIndex] = halves(args.to).at[gl_LocalInvocationIndex];
  barrier();
  coopMatLoad(a, halves(args.to).at, 0, K, gl_CooperativeMatrixLayoutRowMajor);
  coopMatLoad(b, tile, 0, N, gl_CooperativeMatrixLayoutColumnMajor);
  c = coopMatMulAdd(a, b, c);
  for (uint i = 0; i < c.length(); i++) c[i] *= 2.0;
  coopMatStore(c, floats(args.to).at, 0, N, gl_CooperativeMatrixLayoutRowMajor);
}
