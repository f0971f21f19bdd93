//@ -- Functions of numbers: what GLSL lacks, or computes to fewer digits. Cheaper forms are gen/pour/narrow.lua's.
//@ local wide = k.number == "double"
//@ function piece.lathe_copysign()
$k.number$ lathe_copysign($k.number$ magnitude, $k.number$ sign) {
  //@ if wide then
  return uint64BitsToDouble((doubleBitsToUint64(magnitude) & 0x7ffffffffffffffful) |
                            (doubleBitsToUint64(sign) & 0x8000000000000000ul));
  //@ else
  return uintBitsToFloat((floatBitsToUint(magnitude) & 0x7fffffffu) |
                         (floatBitsToUint(sign) & 0x80000000u));
  //@ end
}
//@ end

//@ function piece.lathe_zero()
/* A zero that no compiler sees through, the number of workgroups in the last dimension being 1. */
$k.number$ lathe_zero() {
  return $k.number$(uintBitsToFloat(gl_NumWorkGroups.z - 1u));
}
//@ end

//@ function piece.lathe_quotient()
$k.number$ lathe_quotient($k.number$ a, $k.number$ b) {
  const $k.precise$$k.number$ q = a / b;
  return q;
}
//@ end

//@ if not wide then
//@ function piece.lathe_reciprocal()
/* 1 / x for a normal number above 0, off by 5 ulp. As a quotient it would be a long and branching one
 * where the device is asked to round these right (NVIDIA). */
float lathe_reciprocal(float x) {
  const precise float root = inversesqrt(x), y = root * root;
  return y;
}
//@ end

//@ local log2_e = 0x1.715476p0
//@ function piece.lathe_exp_near_f32()
/* Off by 5 ulp: x and log2(e) in two parts, so that the product of the first two is exact. */
float lathe_exp_near_f32(float x) {
  const float below = x > 89.0 ? 89.0 : x, y = below < -104.0 ? -104.0 : below;
  const precise float high = uintBitsToFloat(floatBitsToUint(y) & 0xfffff000u), low = y - high;
  const precise float power = exp2(high * $(k:literal(0x1.714p0))), rest = fma(low, $(k:literal(log2_e)), high * $(k:literal(0x1.47652cp-12)));
  const precise float result = power * exp2(rest);
  return result;
}
//@ end

//@ function piece.lathe_exp_near_f16()
/* For results of half the bits. */
float lathe_exp_near_f16(float x) {
  const $k.precise$float scaled = x * $(k:literal(log2_e));
  return exp2(scaled);
}
//@ end

//@ end
//@ if k.dtype == "f32" or wide then
//@ function piece.lathe_two_sum()
void lathe_two_sum(out precise $k.number$ high, out precise $k.number$ low, $k.number$ x, $k.number$ y) {
  high = x + y;
  const precise $k.number$ y_part = high - x;
  low = (x - (high - y_part)) + (y - y_part);
}
//@ end

//@ function piece.lathe_split()
void lathe_split(out precise $k.number$ high, out precise $k.number$ low, $k.number$ x) {
  const precise $k.number$ c = x * $(k:literal(wide and 2 ^ 27 + 1 or 2 ^ 12 + 1));
  high = c - (c - x);
  low = x - high;
}
//@ end

//@ function piece.lathe_fma()
/* x y + z, rounded once, also where the device's own fma, as Vulkan allows, rounds the product too.
 * S. Boldo and G. Melquiond, Emulation of a FMA and correctly rounded sums: proved algorithms using
 * rounding to odd, 2008. Outside of the range in which nothing is lost on the way, or where the product
 * is far below the sum, the device's own is as good. */
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
//@ end
//@ else
//@ function piece.lathe_fma()
/* x y + z, where the product is exact. */
$k.number$ lathe_fma($k.number$ x, $k.number$ y, $k.number$ z) {
  const $k.precise$$k.number$ result = fma(x, y, z);
  return result;
}
//@ end
//@ end
