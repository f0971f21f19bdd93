// Tiles of a whole workgroup, out of a tensor whose edges are seen to, and functions of their elements.
// target: vulkan1.3, the only one for which glslang has it
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_NV_cooperative_matrix2 : require
layout(local_size_x_id = 0) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer halves { float16_t at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer floats { float at[]; };
layout(push_constant, std430) uniform arguments { uint64_t to; } args;
float twice(const in uint row, const in uint column, const in float x) { return 2.0 * x; }
float larger(const in float x, const in float y) { return max(x, y); }
void main() {
  coopmat<float16_t, gl_ScopeWorkgroup, 64, 32, gl_MatrixUseA> a;
  coopmat<float16_t, gl_ScopeWorkgroup, 32, 64, gl_MatrixUseB> b;
  coopmat<float, gl_ScopeWorkgroup, 64, 64, gl_MatrixUseAccumulator> c, largest;
  c = coopmat<float, gl_ScopeWorkgroup, 64, 64, gl_MatrixUseAccumulator>(0.0);
  tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> whole =
    createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
  tensorViewNV<2, false, 1, 0> transposed = createTensorViewNV(2, false, 1, 0);
  whole = setTensorLayoutDimensionNV(whole, 100, 100);
  coopMatLoadTensorNV(a, halves(args.to).at, 0, sliceTensorLayoutNV(whole, 0, 64, 0, 32));
  coopMatLoadTensorNV(b, halves(args.to).at, 0, sliceTensorLayoutNV(whole, 0, 64, 0, 32), transposed);
  c = coopMatMulAdd(a, b, c);
  coopMatPerElementNV(c, c, twice);
  coopMatReduceNV(largest, c, gl_CooperativeMatrixReduceRowNV, larger);
  coopMatStoreTensorNV(largest, floats(args.to).at, 0, sliceTensorLayoutNV(whole, 0, 64, 0, 64));
}
