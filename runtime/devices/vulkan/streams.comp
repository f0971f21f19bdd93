#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

/* Moves memory and does nothing else, for a GPU's ceiling: as devices/cuda/streams.c does it. STREAMS are read,
 * or'ed and written; where nothing is to be written, what is read is folded into one word and written
 * only should that be a certain number, which keeps the loads from being dropped. The module's second kernel multiplies
 * and adds and does nothing else, as devices/cuda/arithmetic.c, `packs` times. */
layout(local_size_x_id = 0) in;
layout(constant_id = 3) const uint STREAMS = 1;
const uint READING = 4; /* in their place: one is read, nothing is written */
const uint ACCESSES = 4; /* of an invocation to each stream, in flight at once */

layout(push_constant, std430) uniform lathe_args {
  uint64_t from[3], to, packs;
} args;

layout(buffer_reference, std430, buffer_reference_align = 16) buffer lathe_pack {
  uvec4 at;
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer lathe_word {
  uint at;
};

uvec4 read(uint64_t at) {
  uvec4 all = uvec4(0u);

  if (STREAMS > 0u)
    all = lathe_pack(args.from[0] + at).at;
  if (STREAMS == 2u || STREAMS == 3u)
    all |= lathe_pack(args.from[1] + at).at;
  if (STREAMS == 3u)
    all |= lathe_pack(args.from[2] + at).at;
  return all;
}

void stream() {
  const uint threads = gl_WorkGroupSize.x, thread = gl_LocalInvocationID.x;
  const uint64_t tile = threads * ACCESSES, step = gl_NumWorkGroups.x * tile;
  uvec4 sum = uvec4(0u);

  for (uint64_t first = gl_WorkGroupID.x * tile; first < args.packs; first += step) {
    const uint left = uint(min(args.packs - first, tile));
    const uint64_t at = (first + thread) * 16ul, next = threads * 16u;
    uvec4 pack0 = uvec4(0u), pack1 = uvec4(0u), pack2 = uvec4(0u), pack3 = uvec4(0u);

    if (thread < left)
      pack0 = read(at);
    if (thread + threads < left)
      pack1 = read(at + next);
    if (thread + 2u * threads < left)
      pack2 = read(at + 2ul * next);
    if (thread + 3u * threads < left)
      pack3 = read(at + 3ul * next);
    if (STREAMS == READING) {
      sum |= pack0 | pack1 | pack2 | pack3;
    } else {
      if (thread < left)
        lathe_pack(args.to + at).at = pack0;
      if (thread + threads < left)
        lathe_pack(args.to + at + next).at = pack1;
      if (thread + 2u * threads < left)
        lathe_pack(args.to + at + 2ul * next).at = pack2;
      if (thread + 3u * threads < left)
        lathe_pack(args.to + at + 3ul * next).at = pack3;
    }
  }
  if (STREAMS == READING && (sum.x | sum.y | sum.z | sum.w) == 0x5bd1e995u)
    lathe_word(args.to).at = sum.x;
}

/* 16 sums of each invocation are each multiplied and added to 8 times in a round. */
void multiply() {
  const vec4 by = vec4(0.5), more = vec4(1.0);
  vec4 sum0 = vec4(0.0), sum1 = vec4(1.0), sum2 = vec4(2.0), sum3 = vec4(3.0);

  for (uint64_t round = 0ul; round < args.packs; round++)
    for (uint i = 0u; i < 8u; i++) {
      sum0 = fma(sum0, by, more);
      sum1 = fma(sum1, by, more);
      sum2 = fma(sum2, by, more);
      sum3 = fma(sum3, by, more);
    }
  sum0 += sum1 + sum2 + sum3;
  if (sum0.x + sum0.y + sum0.z + sum0.w == 1e30)
    lathe_word(args.to).at = 1u;
}

/* Of which spirv.c takes one. */
void main() {
  stream();
  multiply();
}
