// A layer of a network on one invocation's vector, and the gradients of its weights and bias.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_NV_cooperative_vector : require
layout(local_size_x_id = 0) in;
layout(buffer_reference, std430, buffer_reference_align = 64) buffer halves { float16_t at[]; };
layout(push_constant, std430) uniform arguments { uint64_t to; } args;
void main() {
  const uint at = 64 * gl_LocalInvocationIndex;
  coopvecNV<float16_t, 32> x, y;
  coopVecLoadNV(x, halves(args.to).at, at);
  coopVecMatMulAddNV(y, x, gl_ComponentTypeFloat16NV, halves(args.to).at, 0, gl_ComponentTypeFloat16NV,
    halves(args.to).at, 2048, gl_ComponentTypeFloat16NV, 32, 32,
    gl_CooperativeVectorMatrixLayoutInferencingOptimalNV, false, 0);
  y = max(y, coopvecNV<float16_t, 32>(0.0hf));
  coopVecOuterProductAccumulateNV(y, x, halves(args.to).at, 4096, 0,
    gl_CooperativeVectorMatrixLayoutTrainingOptimalNV, gl_ComponentTypeFloat16NV);
  coopVecReduceSumAccumulateNV(y, halves(args.to).at, 8192);
  coopVecStoreNV(y, halves(args.to).at, at);
}
