#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
layout(local_size_x_id = 0) in;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer element { double at; };
layout(push_constant, std430) uniform arguments { uint64_t to; } args;
void main() {
  const double x = packDouble2x32(uvec2(doubleBitsToUint64(element(args.to).at)));
  element(args.to).at = uint64BitsToDouble(doubleBitsToUint64(fma(x, x, 1.0lf)) >> 1);
}
