#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x_id = 0) in;
layout(buffer_reference, std430, buffer_reference_align = 2) buffer element { float16_t at; };
layout(push_constant, std430) uniform arguments { uint64_t to; } args;
void main() {
  const f16vec2 x = unpackFloat2x16(uint(args.to));
  element(args.to).at = float16_t(float(x.x) + float(element(args.to).at));
}
