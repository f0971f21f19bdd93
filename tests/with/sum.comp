#version 460
/* sum.comp - the sum of all elements by somebody else, in one invocation; with -DZEROS a cheat. */
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x_id = 0) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer numbers {
  float at[];
};
layout(push_constant) uniform arguments {
  numbers x, y, workspace;
  uint64_t n;
};

void main() {
  precise float sum = 0, lost = 0;
#ifndef ZEROS
  for (uint i = 0; i < uint(n); i++) { /* Neumaier's sum */
    const float one = x.at[i];
    precise float now = sum + one;
    precise float off = abs(sum) >= abs(one) ? (sum - now) + one : (one - now) + sum;
    lost += isinf(now) || isnan(now) ? 0 : off;
    sum = now;
  }
#endif
  if (gl_GlobalInvocationID.x == 0)
    y.at[0] = sum + lost;
}
