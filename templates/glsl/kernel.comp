//@ -- What all GLSL kernels share, of which a file has the pieces that it names: memory and random numbers;
//@ -- functions.comp has functions of numbers, gather.comp how the terms of a reduction are gathered.
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint SUBGROUP = 32; /* invocations of a subgroup, a power of two */
layout(constant_id = 3) const uint THREADS = 32;  /* neighbouring invocations that gather together */
layout(constant_id = 4) const uint MODE = 0;      /* of those that follow */
//@ use "../gpu/modes.h"

//@ if k:is_pushed(op) then
layout(push_constant, std430) uniform lathe_args {
  $(k:arguments(op))
} args;
//@ else
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer lathe_args {
  $(k:arguments(op))
};
layout(push_constant, std430) uniform lathe_pushed {
  lathe_args args;
};
//@ end

//@ function piece.lathe_pack()
layout(buffer_reference, std430, buffer_reference_align = 16) buffer lathe_pack {
  uvec4 at;
};
//@ end

//@ function piece.lathe_element()
layout(buffer_reference, std430, buffer_reference_align = $k.bytes$) buffer lathe_element {
  $k.element$ at;
};
//@ end

//@ function piece.lathe_number()
layout(buffer_reference, std430, buffer_reference_align = $(k.spelling.bits // 8)) buffer lathe_number {
  $k.number$ at;
};
//@ end

//@ function piece.lathe_integer()
layout(buffer_reference, std430, buffer_reference_align = 8) buffer lathe_integer {
  int64_t at;
};
//@ end

//@ function piece.lathe_word()
layout(buffer_reference, std430, buffer_reference_align = 4) coherent buffer lathe_word {
  uint at;
};
//@ end

//@ if k:has "bf16" then
//@ function piece.lathe_bf16_number()
/* The nearest bf16 of a number in the upper half, of two the even one, or near: the larger one.
 * VK_KHR_shader_bfloat16's own conversion is one instruction, but cuts off in some kernels (NVIDIA 580), as
 * Vulkan lets it. */
uint lathe_bf16_number(float x) {
  const uint bits = floatBitsToUint(x);
  return bits + 0x7fffu + (bits >> 16 & 1u);
}
//@ end

//@ function piece.lathe_bf16_number_near()
uint lathe_bf16_number_near(float x) {
  return floatBitsToUint(x) + 0x8000u;
}
//@ end

//@ function piece.lathe_bf16()
/* The same where NaN stays one, of the same sign. */
uint lathe_bf16(float x) {
  return x != x ? floatBitsToUint(x) | 0x400000u : lathe_bf16_number(x);
}
//@ end

//@ local function pack(list, convert)
//@   local words = {}
//@   for i = 1, #list, 2 do
//@     words[#words + 1] = ("%s(%s) >> 16 | %s(%s) & 0xffff0000u"):format(convert, list[i], convert, list[i + 1])
//@   end
//@   return "uvec4(" .. table.concat(words, ", ") .. ")"
//@ end
//@ local names = { "a", "b", "c", "d", "e", "f", "g", "h" }
//@ for _, near in ipairs { "", "_near" } do
//@ piece["lathe_bf16s" .. near] = function()
/* Eight, as a pack. NaN is looked for in their sum, which takes little of a kernel's time. `precise` keeps that from
 * being made of the numbers' factors: a multiply-add takes numbers below the normal range as they are where a
 * multiplication takes them for zeros, and misses the NaN of zero times infinity (NVIDIA 580). */
uvec4 lathe_bf16s$near$(float $(table.concat(names, ", float "))) {
  uvec4 words = $(pack(names, "lathe_bf16_number" .. near));
  precise const float sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
  [[dont_flatten]] if (sum != sum)
    words = $(pack(names, "lathe_bf16"));
  return words;
}
//@ end
//@ end

//@ end
//@ function piece.lathe_get()
$k.number$ lathe_get(uint64_t at) {
  //@ if k.dtype == "bf16" then
  return uintBitsToFloat(uint(lathe_element(at).at) << 16);
  //@ else
  return $k.number$(lathe_element(at).at);
  //@ end
}
//@ end

//@ function piece.lathe_put()
void lathe_put(uint64_t at, $k.number$ x) {
  //@ if k.dtype == "bf16" then
  lathe_element(at).at = uint16_t(lathe_bf16(x) >> 16);
  //@ else
  lathe_element(at).at = $k.element$(x);
  //@ end
}
//@ end

//@ function piece.lathe_pack8()
layout(buffer_reference, std430, buffer_reference_align = 8) buffer lathe_pack8 {
  uvec2 at;
};
//@ end

//@ function piece.lathe_pack4()
layout(buffer_reference, std430, buffer_reference_align = 4) buffer lathe_pack4 {
  uint at;
};
//@ end

//@ function piece.lathe_whole()
/* The nearest whole number, of two the even one; beyond the range its end, and 0 for NaN. */
int lathe_whole(float x, float low, float high) {
  const float least = x > low ? x : low;
  return x != x ? 0 : int(roundEven(least < high ? least : high));
}
//@ end

//@ for _, own in ipairs(k:own_types()) do
//@ piece["lathe_element_" .. own.name] = function()
layout(buffer_reference, std430, buffer_reference_align = $own.bytes$) buffer lathe_element_$own.name$ {
  $own.element$ at;
};
//@ end

//@ piece["lathe_get_" .. own.name] = function()
float lathe_get_$own.name$(uint64_t at) {
  return $(own.read:format("lathe_element_" .. own.name .. "(at).at"));
}
//@ end

//@ piece["lathe_put_" .. own.name] = function()
void lathe_put_$own.name$(uint64_t at, float x) {
  lathe_element_$own.name$(at).at = $(own.write:format("x"));
}
//@ end

//@ end
//@ function piece.lathe_philox()
/* Philox4x32-10 (templates/c/philox.h): the words of a counter. */
uvec4 lathe_philox(int64_t seed, int64_t offset, uint64_t counter) {
  uvec2 key = uvec2(uint(seed), uint(uint64_t(seed) >> 32));
  uvec4 word = uvec4(uint(counter), uint(counter >> 32), uint(offset), uint(uint64_t(offset) >> 32));

  [[unroll]] for (int round = 0; round < 10; round++) {
    uint even_high, even_low, odd_high, odd_low;
    umulExtended(word.x, 0xd2511f53u, even_high, even_low);
    umulExtended(word.z, 0xcd9e8d57u, odd_high, odd_low);
    word = uvec4(odd_high ^ word.y ^ key.x, odd_low, even_high ^ word.w ^ key.y, even_low);
    key += uvec2(0x9e3779b9u, 0xbb67ae85u);
  }
  return word;
}
//@ end

//@ function piece.lathe_random()
/* The number of the nth of the counter's points: of eight in the types of 16 bits, else of four. */
$k.number$ lathe_random(uvec4 words, uint nth) {
  //@ if k.bytes == 2 then
  const $k.precise$$k.number$ number = $k.number$(words[nth / 2u] >> nth % 2u * 16u & 0xffffu) * $(k:literal(2.0 ^ -16));
  //@ else
  const $k.precise$$k.number$ number = $k.number$(words[nth] >> 8) * $(k:literal(2.0 ^ -24));
  //@ end
  return number;
}
//@ end

//@ function piece.lathe_group()
/* The workgroup's number: grids are of two dimensions where one has no room, the last of them too large. */
uint64_t lathe_group() {
  return uint64_t(gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
//@ end

//@ use "functions.comp"
//@ use "gather.comp"
//@ pieces()
