//@ -- What all GLSL kernels share: memory, special functions, and how the terms of a reduction are
//@ -- gathered by an invocation, then merged over invocations in an order that never changes.
//@ local wide = k.number == "double"
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint SUBGROUP = 32; /* invocations of a subgroup, a power of two */
layout(constant_id = 3) const uint THREADS = 32;  /* neighbouring invocations that gather together */
layout(constant_id = 4) const uint MODE = 0;      /* how memory is accessed: */
const uint APART = 0, /* by one element each */
    PACKS = 1, /* by 16 bytes, all operands being at multiples of that */
    FULL = 2,  /* by 16 bytes, as many as a kernel has room for: none is left out */
    ENDS = 3;  /* by 16 bytes where these lie in a row whole, the elements at both its ends apart */

layout(push_constant, std430) uniform lathe_args {
  $(k:arguments(op))
} args;

/* Memory at an address. */
layout(buffer_reference, std430, buffer_reference_align = 16) buffer lathe_pack {
  uvec4 at;
};
layout(buffer_reference, std430, buffer_reference_align = $k.bytes$) buffer lathe_element {
  $k.element$ at;
};
layout(buffer_reference, std430, buffer_reference_align = $(k.spelling.bits // 8)) buffer lathe_number {
  $k.number$ at;
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer lathe_integer {
  int64_t at;
};
layout(buffer_reference, std430, buffer_reference_align = 4) coherent buffer lathe_word {
  uint at;
};

//@ if k.dtype == "bf16" then
/* The nearest bf16 of a number in the upper half, of two the even one, or near: the larger one.
 * VK_KHR_shader_bfloat16's own conversion is one instruction, but cuts off in some kernels (NVIDIA 580), as
 * Vulkan lets it. */
uint lathe_bf16_number(float x) {
  const uint bits = floatBitsToUint(x);
  return bits + 0x7fffu + (bits >> 16 & 1u);
}

uint lathe_bf16_number_near(float x) {
  return floatBitsToUint(x) + 0x8000u;
}

/* The same where NaN stays one. */
uint lathe_bf16(float x) {
  return x != x ? 0x7fc00000u : lathe_bf16_number(x);
}

/* Eight, as a pack. NaN is looked for in their sum, which takes little of a kernel's time. */
//@ local function pack(list, convert)
//@   local words = {}
//@   for i = 1, #list, 2 do
//@     words[#words + 1] = ("%s(%s) >> 16 | %s(%s) & 0xffff0000u"):format(convert, list[i], convert, list[i + 1])
//@   end
//@   return "uvec4(" .. table.concat(words, ", ") .. ")"
//@ end
//@ local names = { "a", "b", "c", "d", "e", "f", "g", "h" }
//@ for _, near in ipairs { "", "_near" } do
uvec4 lathe_bf16s$near$(float $(table.concat(names, ", float "))) {
  uvec4 words = $(pack(names, "lathe_bf16_number" .. near));
  const float sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
  [[dont_flatten]] if (sum != sum)
    words = $(pack(names, "lathe_bf16"));
  return words;
}

//@ end
$k.number$ lathe_get(uint64_t at) {
  return uintBitsToFloat(uint(lathe_element(at).at) << 16);
}

void lathe_put(uint64_t at, $k.number$ x) {
  lathe_element(at).at = uint16_t(lathe_bf16(x) >> 16);
}

//@ else
$k.number$ lathe_get(uint64_t at) {
  return $k.number$(lathe_element(at).at);
}

void lathe_put(uint64_t at, $k.number$ x) {
  lathe_element(at).at = $k.element$(x);
}

//@ end
//@ if k.program.random then
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
/* The workgroup's number: grids are of two dimensions where one has no room, the last of them too large. */
uint64_t lathe_group() {
  return uint64_t(gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

$k.number$ lathe_copysign($k.number$ magnitude, $k.number$ sign) {
  //@ if wide then
  return uint64BitsToDouble((doubleBitsToUint64(magnitude) & 0x7ffffffffffffffful) |
                            (doubleBitsToUint64(sign) & 0x8000000000000000ul));
  //@ else
  return uintBitsToFloat((floatBitsToUint(magnitude) & 0x7fffffffu) |
                         (floatBitsToUint(sign) & 0x80000000u));
  //@ end
}

$k.number$ lathe_quotient($k.number$ a, $k.number$ b) {
  const $k.precise$$k.number$ q = a / b;
  return q;
}

//@ if not wide then
/* 1 / x for a normal number above 0, off by 5 ulp. As a quotient it would be a long and branching one
 * where the device is asked to round these right (NVIDIA). */
float lathe_reciprocal(float x) {
  const precise float root = inversesqrt(x), y = root * root;
  return y;
}

//@ -- A polynomial's value at x, highest coefficient first.
//@ local function polynomial(x, list)
//@   local y = k:literal(list[1])
//@   for i = 2, #list do
//@     y = string.format("fma(%s, %s, %s)", y, x, k:literal(list[i]))
//@   end
//@   return y
//@ end
//@ local log2_e = 0x1.715476p0
/* Forms for arguments that have been rounded, and for narrow results: as in templates/cuda/functions.h,
 * which says how much they are off, where exp2 and a quotient are off by 2 ulp. */
float lathe_exp_near(float x) {
  const $k.precise$float root = exp2(x * $(k:literal(log2_e / 2))), power = root * root;
  return power;
}

/* Off by 5 ulp: x and log2(e) in two parts, so that the product of the first two is exact. */
float lathe_exp_near_f32(float x) {
  const float below = x > 89.0 ? 89.0 : x, y = below < -104.0 ? -104.0 : below;
  const precise float high = uintBitsToFloat(floatBitsToUint(y) & 0xfffff000u), low = y - high;
  const precise float power = exp2(high * $(k:literal(0x1.714p0))), rest = fma(low, $(k:literal(log2_e)), high * $(k:literal(0x1.47652cp-12)));
  const precise float result = power * exp2(rest);
  return result;
}

float lathe_exp_near_f16(float x) {
  const $k.precise$float scaled = x * $(k:literal(log2_e));
  return exp2(scaled);
}

float lathe_exp_bf16(float x) {
  const $k.precise$float y = x < -104.0 ? -104.0 : x, root = exp2(y * $(k:literal(0x1.7154p-1))), power = root * root;
  return fma(power, y * $(k:literal(0x1.480fb6p-18)), power);
}

//@ local falls = { bf16 = "lathe_exp_bf16(-abs(x))", near = "lathe_exp_near(-abs(x))" }
float lathe_fall_f16(float x) {
  const $k.precise$float a = abs(x) > 104.0 ? 104.0 : abs(x), power = exp2(a * $(k:literal(-0x1.715p0)));
  return fma(power, a * $(k:literal(-0x1.8be626p-15)), power);
}

//@ for _, form in ipairs { "f16", "bf16", "near" } do
//@ local fall = falls[form] or "lathe_fall_f16(x)"
float lathe_sigmoid_$form$(float x) {
  const $k.precise$float power = $fall$, sum = 1.0 + power;
  return (x < 0.0 ? power : 1.0) * (1.0 / sum);
}

float lathe_complement_$form$(float x) {
  const $k.precise$float power = $fall$, sum = 1.0 + power;
  return (x < 0.0 ? 1.0 : power) * (1.0 / sum);
}

//@ end
float lathe_erfc_near(float x) {
  const $k.precise$float square = x * x, w = abs(x) + 1.75, u = 1.0 / w;
  const $k.precise$float root = exp2(square * $(k:literal(-log2_e / 2)));
  const $k.precise$float far = $(polynomial("u", { 0x1.befc3cp+2, -0x1.519b08p+3, 0x1.8d023cp+1, 0x1.1d671cp+0, 0x1.7c1faap+0, 0x1.f89b26p-1, 0x1.20e136p-1 })) * u * root * root;
  const $k.precise$float near = $(polynomial("square", { -0x1.44aba8p-11, 0x1.499f5cp-8, -0x1.b6ea32p-6, 0x1.ce2036p-4, -0x1.812702p-2, 0x1.06eba6p-3 }));
  const $k.precise$float above = 2.0 - far, rest = 1.0 - x, below = fma(-x, near, rest);
  return abs(x) < 0.875 ? below : x < 0.0 ? above : far;
}

float lathe_bell_f16(float x) {
  const $k.precise$float bell = exp2(x * x * $(k:literal(-log2_e / 2)));
  return bell;
}

float lathe_bell_bf16(float x) {
  const $k.precise$float root = exp2(x * x * $(k:literal(-log2_e / 4))), bell = root * root;
  return bell;
}

float lathe_normal(float x, float bell) {
  const $k.precise$float w = abs(x) + $(k:literal(math.sqrt(8))), u = 1.0 / w;
  const $k.precise$float far = $(polynomial("u", { 0x1.03fc9ep+6, -0x1.70e756p+6, 0x1.1ae8fap+5, 0x1.46c014p+0, 0x1.947b5p+1, 0x1.1d0356p+0, 0x1.98bcb4p-2 })) * u * bell;
  const $k.precise$float above = 1.0 - far;
  return x > 0.0 ? above : far;
}

float lathe_tanh_narrow(float x) {
  const $k.precise$float square = x * x, power = exp2(abs(x) * $(k:literal(2 * log2_e))), sum = 1.0 + power;
  const $k.precise$float far = fma(-2.0, 1.0 / sum, 1.0), cube = $(polynomial("square", { 0x1.e43334p-7, -0x1.a734dcp-5, 0x1.106ea4p-3, -0x1.5551e0p-2 })) * square;
  const $k.precise$float near = fma(cube, x, x);
  return lathe_copysign(abs(x) < 0.65 ? near : far, x); /* near may lose the sign of zero */
}

float lathe_log1p_narrow(float x) {
  const $k.precise$float sum = 2.0 + x, s = x / sum, square = s * s;
  const $k.precise$float rest = $(polynomial("square", { 0x1.5c1d36p-2, 0x1.95db46p-2, 0x1.555e52p-1 })) * square;
  const $k.precise$float near = fma(rest, s, 2.0 * s), whole = 1.0 + x, far = log2(whole) * $(k:literal(math.log(2)));
  return abs(x - 0.25) <= 0.75 ? near : far;
}

//@ end
//@ if k.dtype == "f32" or wide then
/* x y + z, rounded once, also where the device's own fma, as Vulkan allows, rounds the product too.
 * S. Boldo and G. Melquiond, Emulation of a FMA and correctly rounded sums: proved algorithms using
 * rounding to odd, 2008. Outside of the range in which nothing is lost on the way, or where the product
 * is far below the sum, the device's own is as good. */
void lathe_two_sum(out precise $k.number$ high, out precise $k.number$ low, $k.number$ x, $k.number$ y) {
  high = x + y;
  const precise $k.number$ y_part = high - x;
  low = (x - (high - y_part)) + (y - y_part);
}

void lathe_split(out precise $k.number$ high, out precise $k.number$ low, $k.number$ x) {
  const precise $k.number$ c = x * $(k:literal(wide and 2 ^ 27 + 1 or 2 ^ 12 + 1));
  high = c - (c - x);
  low = x - high;
}

$k.number$ lathe_fma($k.number$ x, $k.number$ y, $k.number$ z) {
  const $k.number$ most = $(k:literal(wide and 2.0 ^ 900 or 2.0 ^ 100)), least = $(k:literal(wide and 2.0 ^ -800 or 2.0 ^ -80));
  const precise $k.number$ product = x * y;
  const $k.number$ largest = max(max(abs(x), abs(y)), max(abs(z), abs(product)));
  precise $k.number$ result = fma(x, y, z);

  if (largest <= most && abs(product) >= least) {
    precise $k.number$ x_high, x_low, y_high, y_low, high, low, sum, rest, off, odd;
    lathe_split(x_high, x_low, x);
    lathe_split(y_high, y_low, y);
    const precise $k.number$ error = x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low);
    lathe_two_sum(high, low, z, error);
    lathe_two_sum(sum, rest, product, high);
    lathe_two_sum(odd, off, low, rest);
    //@ local bits = wide and "uint64_t" or "uint"
    const $bits$ even = $(wide and "doubleBitsToUint64" or "floatBitsToUint")(odd);
    if (off != 0 && (even & 1u) == 0u)
      odd = $(wide and "uint64BitsToDouble" or "uintBitsToFloat")((off > 0) == (odd > 0) ? even + 1u : even - 1u);
    result = sum + odd;
  }
  return result;
}
//@ else
/* x y + z, where the product is exact. */
$k.number$ lathe_fma($k.number$ x, $k.number$ y, $k.number$ z) {
  const $k.precise$$k.number$ result = fma(x, y, z);
  return result;
}
//@ end

/* The larger and the smaller of two; NaN where either is. */
//@ for name, sign in pairs { larger = ">", smaller = "<" } do
$k.number$ lathe_$name$($k.number$ a, $k.number$ b) {
  const bool nan = b != b;
  return b $sign$ a || nan ? b : a;
}
//@ end

//@ if not wide then
/* Numbers as integers in the same order, or if not `larger` in the opposite one, NaN above all. */
uint lathe_key(float x, bool larger) {
  const uint bits = floatBitsToUint(x), rising = bits >> 31 != 0u ? ~bits : bits | 1u << 31;
  return x != x ? ~0u : larger ? rising : ~rising;
}

float lathe_unkey(uint key, bool larger) {
  const uint rising = larger ? key : ~key;
  return uintBitsToFloat(key == ~0u ? 0x7fc00000u : rising >> 31 != 0u ? rising & ~(1u << 31) : ~rising);
}

//@ end
//@ if k.bytes == 2 then
/* Of what k:stored() has: $(k.dtype == "f16" and "pairs" or "single numbers"). */
//@ for name, format in pairs { largest = "max(%s, %s)", smallest = "min(%s, %s)", sum = "%s + %s" } do
//@ if k.dtype == "f16" then
float lathe_$name$_of(f16vec2 pair) {
  return $(format:format("float(pair.x)", "float(pair.y)"));
}
//@ else
float lathe_$name$_of(float x) {
  return x;
}
//@ end

//@ end
//@ end
/* The gatherers. Each has clear, which leaves it as nothing gathered, merge, and exchange: what the
 * invocation has whose number differs in the bits of `mask`. */
$k.number$ lathe_exchange($k.number$ x, uint mask) {
  //@ if wide then
  return packDouble2x32(subgroupShuffleXor(unpackDouble2x32(x), mask));
  //@ else
  return subgroupShuffleXor(x, mask);
  //@ end
}

struct lathe_sum {
  $k.number$ value;
};

void lathe_clear(out lathe_sum mine) {
  mine.value = $(k:neutral("sum"));
}

void lathe_merge(inout $k.precise$lathe_sum mine, lathe_sum other) {
  mine.value += other.value;
}

lathe_sum lathe_exchange(lathe_sum mine, uint mask) {
  return lathe_sum(lathe_exchange(mine.value, mask));
}

/* The sum, and that of the squares about the mean, as in templates/cuda/gather.h. */
struct lathe_moments {
  $k.number$ value, squares, count;
};

void lathe_clear(out lathe_moments mine) {
  mine = lathe_moments($(k:neutral("sum")), $(k:literal(0)), $(k:literal(0)));
}

void lathe_merge(inout $k.precise$lathe_moments mine, lathe_moments other) {
  if (other.count == $(k:literal(0)))
    return;
  if (mine.count == other.count) {
    const $k.precise$$k.number$ apart = (mine.value - other.value) * ($(k:literal(1)) / mine.count);
    mine.squares = (mine.squares + other.squares) + apart * apart * (mine.count * $(k:literal(0.5)));
  } else if (mine.count == $(k:literal(0))) {
    mine.squares = other.squares;
  } else {
    const $k.precise$$k.number$ apart = mine.value / mine.count - other.value / other.count;
    const $k.precise$$k.number$ weight = mine.count * other.count / (mine.count + other.count);
    mine.squares = (mine.squares + other.squares) + apart * apart * weight;
  }
  mine.value += other.value;
  mine.count += other.count;
}

lathe_moments lathe_exchange(lathe_moments mine, uint mask) {
  const bool all = (THREADS & (THREADS - 1u)) == 0u; /* else some of a subgroup have nothing to merge */
  return lathe_moments(lathe_exchange(mine.value, mask), lathe_exchange(mine.squares, mask),
                       MODE == FULL && all ? mine.count : lathe_exchange(mine.count, mask));
}

$k.number$ lathe_second(lathe_moments mine) {
  return mine.squares;
}

//@ if not wide then
/* The largest term, and the sum of e^(term - largest), as in templates/cuda/gather.h. */
struct lathe_powers {
  float value, total;
};

void lathe_clear(out lathe_powers mine) {
  mine = lathe_powers($(k:neutral("maximum")), 0.0);
}

float lathe_powers_of(float x, float largest) {
  const $k.precise$float below = x - (largest == $(k:neutral("maximum")) ? 0.0 : largest);
  return lathe_exp_near_$(k.bytes == 2 and "f16" or "f32")(below);
}

void lathe_raise(inout $k.precise$lathe_powers mine, float to) {
  mine.total *= lathe_powers_of(mine.value, to);
  mine.value = to;
}

void lathe_merge(inout $k.precise$lathe_powers mine, lathe_powers other) {
  const float larger = lathe_larger(mine.value, other.value);
  lathe_raise(mine, larger);
  const $k.precise$float raised = other.total * lathe_powers_of(other.value, larger);
  mine.total += raised;
}

lathe_powers lathe_exchange(lathe_powers mine, uint mask) {
  return lathe_powers(lathe_exchange(mine.value, mask), lathe_exchange(mine.total, mask));
}

/* Brings all of a subgroup to the largest of it. */
void lathe_merge_subgroup(inout $k.precise$lathe_powers mine) {
  lathe_raise(mine, lathe_unkey(subgroupMax(lathe_key(mine.value, true)), true));
}

float lathe_second(lathe_powers mine) {
  return mine.value == $(k:neutral("maximum")) ? $(k:literal(0 / 0)) : mine.total;
}

//@ end
//@ for name, kind in pairs { larger = "maximum", smaller = "minimum" } do
//@ local type, larger = k:gatherer(kind), tostring(kind == "maximum")
struct $type$ {
  $k.number$ value;
};

void lathe_clear(out $type$ mine) {
  mine.value = $(k:neutral(kind));
}

void lathe_merge(inout $type$ mine, $type$ other) {
  mine.value = lathe_$name$(mine.value, other.value);
}

$type$ lathe_exchange($type$ mine, uint mask) {
  return $type$(lathe_exchange(mine.value, mask));
}

//@ if not wide then
/* Of a whole subgroup. */
void lathe_merge_subgroup(inout $type$ mine) {
  mine.value = lathe_unkey(subgroupMax(lathe_key(mine.value, $larger$)), $larger$);
}

//@ end
//@ end
/* The place of the first largest or smallest term, or of the first NaN. */
const uint64_t NOWHERE = 0x7ffffffffffffffful;

//@ for sign, kind in pairs { [">"] = "argmax", ["<"] = "argmin" } do
//@ local type, larger = k:gatherer(kind), tostring(kind == "argmax")
struct $type$ {
  $k.number$ value;
  uint64_t index;
};

void lathe_clear(out $type$ mine) {
  mine.value = $(k:neutral(kind));
  mine.index = NOWHERE;
}

void lathe_merge(inout $type$ mine, $type$ other) {
  const bool nan = mine.value != mine.value, other_nan = other.value != other.value;
  const bool equal = nan || other_nan ? nan && other_nan : mine.value == other.value;
  const bool better = !nan && (other_nan || other.value $sign$ mine.value);

  if (equal ? other.index < mine.index : better)
    mine = other;
}

$type$ lathe_exchange($type$ mine, uint mask) {
  const uvec2 index = subgroupShuffleXor(uvec2(uint(mine.index), uint(mine.index >> 32)), mask);
  return $type$(lathe_exchange(mine.value, mask), uint64_t(index.x) | uint64_t(index.y) << 32);
}

//@ if not wide then
/* Of a whole subgroup: the first of those that have the best, the two zeros being equal. */
void lathe_merge_subgroup(inout $type$ mine) {
  const uint key = lathe_key(mine.value == 0.0 ? 0.0 : mine.value, $larger$), best = subgroupMax(key);
  const uvec2 place = uvec2(uint(mine.index), uint(mine.index >> 32));
  const uint high = subgroupMin(key == best ? place.y : ~0u);
  const uint low = subgroupMin(key == best && place.y == high ? place.x : ~0u);

  mine = $type$(lathe_unkey(best, $larger$), uint64_t(low) | uint64_t(high) << 32);
}

//@ end
//@ end
