#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(buffer_reference, std430, buffer_reference_align = 2) buffer element { uint16_t at; };
layout(push_constant, std430) uniform arguments { uint64_t to; } args;
void main() { element(args.to).at = uint16_t(uint(element(args.to).at) << 1); }
