/* whole.h - i8 and u8 in memory: floats where they are read. Writing rounds to nearest, ties to even, beyond the range
 * to its end, and NaN to 0. */
#ifndef LATHE_WHOLE_H
#define LATHE_WHOLE_H

/* Of an infinity it gives the largest int or the smallest, of NaN 0 (PTX ISA, "cvt"). */
template <typename T, int LOW, int HIGH> struct lathe_whole {
  T value;

  lathe_whole() = default;
  __device__ __forceinline__ lathe_whole(float x) {
    const int nearest = __float2int_rn(x);
    value = (T)(nearest < LOW ? LOW : nearest > HIGH ? HIGH : nearest);
  }
  __device__ __forceinline__ operator float() const {
    return value;
  }
};

typedef lathe_whole<signed char, -128, 127> lathe_i8;
typedef lathe_whole<unsigned char, 0, 255> lathe_u8;

#endif
