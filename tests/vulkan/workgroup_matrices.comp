//@ -- Matrices of 64 x 64 results and 16 terms as workgroups of 256 have them, in place of NV_cooperative_matrix2: for
//@ -- test_vulkan_contract.sh, on devices that lack that.
shared float emulated_a[64 * 16], emulated_b[16 * 64];

struct emulated_of_all {
  float of[16]; /* of an invocation, whose number is that of a row's quarter */
};

struct emulated_layout {
  uvec2 extent, apart, first;
};

#define createTensorLayoutNV(dims, mode) emulated_layout(uvec2(0u), uvec2(0u), uvec2(0u))
#define createTensorViewNV(dims, has_dims, first, second) true

emulated_layout setTensorLayoutDimensionNV(emulated_layout all, uint lines, uint width) {
  return emulated_layout(uvec2(lines, width), all.apart, all.first);
}

emulated_layout setTensorLayoutStrideNV(emulated_layout all, uint line, uint element) {
  return emulated_layout(all.extent, uvec2(line, element), all.first);
}

emulated_layout sliceTensorLayoutNV(emulated_layout all, uint line, uint lines, uint element, uint width) {
  return emulated_layout(all.extent, all.apart, uvec2(line, element));
}

/* lines: of the matrix that is loaded, the rows of a or the terms of b; what is turned lies along these. */
#define coopMatLoadTensorNV(to, from, zero, slice, is_turned) \
  { \
    const emulated_layout slice_ = slice; \
    barrier(); \
    for (uint nth_ = gl_LocalInvocationID.x; nth_ < 1024u; nth_ += 256u) { \
      const uint width_ = to##_width; \
      const uvec2 own_ = uvec2(nth_ / width_, nth_ % width_); \
      const uvec2 at_ = slice_.first + (is_turned ? own_.yx : own_); \
      emulated_##to[nth_] = at_.x < slice_.extent.x && at_.y < slice_.extent.y \
        ? float(from[at_.x * slice_.apart.x + at_.y * slice_.apart.y]) : 0.0; \
    } \
    barrier(); \
  }
const uint a_width = 16u, b_width = 64u;

emulated_of_all coopMatMulAdd(emulated_of_all a, emulated_of_all b, emulated_of_all sums) {
  const uint row = gl_LocalInvocationID.x / 4u, column = gl_LocalInvocationID.x % 4u * 16u;
  for (uint nth = 0u; nth < 16u; nth++)
    for (uint term = 0u; term < 16u; term++)
      sums.of[nth] += emulated_a[row * 16u + term] * emulated_b[term * 64u + column + nth];
  return sums;
}
