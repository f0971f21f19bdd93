#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x_id = 0) in;
layout(buffer_reference, std430, buffer_reference_align = 1) buffer element { int8_t at; };
layout(push_constant, std430) uniform arguments { uint64_t to; } args;
void main() { element(args.to).at = int8_t(int(element(args.to).at) << 1); }
