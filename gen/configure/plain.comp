layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint SUBGROUP = 32;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer pack { uvec4 at; };
layout(push_constant, std430) uniform arguments { uint64_t to; } args;
shared uint words[gl_WorkGroupSize.x / SUBGROUP + 1u];
void main() {
  uvec4 x = pack(args.to + uint64_t(gl_SubgroupInvocationID) * 16ul).at;
  [[unroll]] for (uint mask = SUBGROUP / 2; mask > 0; mask /= 2) x += subgroupShuffleXor(x, mask);
  words[gl_SubgroupID] = subgroupMax(x.x);
  barrier();
  const precise float y = uintBitsToFloat(words[0]) * 2.0 + 1.0;
  pack(args.to).at = uvec4(floatBitsToUint(y));
}
