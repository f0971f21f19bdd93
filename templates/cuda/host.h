/* host.h - what CUDA's headers are to have of the host's C and C++ libraries, and then these headers: nvcc is told to
 * read this file first. Whole, those libraries take longer to read than most kernels to compile. Their guards leave
 * them out, and so do those of headers of CUDA's that kernels have no use for. CUDA takes functions of std that are
 * there, and gives them code for devices. configure tries whether the CUDA that there is takes this. */
#define _MATH_H 1
#define _STDIO_H 1
#define _STDLIB_H 1
#define _STRING_H 1
#define _TIME_H 1
#define _GLIBCXX_BITS_STD_ABS_H 1
#define _GLIBCXX_CMATH 1
#define _GLIBCXX_CSTDLIB 1
#define _GLIBCXX_CSTRING 1
#define _GLIBCXX_MATH_H 0 /* CUDA asks for its value: not to overload isnan and its like */
#define _GLIBCXX_STDLIB_H 1
#define _GLIBCXX_UTILITY 1
#define __CUDA_DEVICE_RUNTIME_API_H__
#define __SURFACE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

typedef long clock_t;

namespace std {

template <typename T> struct remove_reference { typedef T type; };
template <typename T> struct remove_reference<T &> { typedef T type; };
template <typename T> struct remove_reference<T &&> { typedef T type; };
template <typename T> constexpr typename remove_reference<T>::type &&move(T &&value) noexcept {
  return static_cast<typename remove_reference<T>::type &&>(value);
}

#define LATHE_HOST_FUNCTION(name)                                                                  \
  constexpr float name(float x) {                                                                  \
    return __builtin_##name##f(x);                                                                 \
  }
LATHE_HOST_FUNCTION(acos);
LATHE_HOST_FUNCTION(asin);
LATHE_HOST_FUNCTION(atan);
LATHE_HOST_FUNCTION(ceil);
LATHE_HOST_FUNCTION(cos);
LATHE_HOST_FUNCTION(cosh);
LATHE_HOST_FUNCTION(exp);
LATHE_HOST_FUNCTION(fabs);
LATHE_HOST_FUNCTION(floor);
LATHE_HOST_FUNCTION(log);
LATHE_HOST_FUNCTION(log10);
LATHE_HOST_FUNCTION(sin);
LATHE_HOST_FUNCTION(sinh);
LATHE_HOST_FUNCTION(sqrt);
LATHE_HOST_FUNCTION(tan);
LATHE_HOST_FUNCTION(tanh);
#undef LATHE_HOST_FUNCTION
constexpr float abs(float x) {
  return __builtin_fabsf(x);
}
constexpr float atan2(float y, float x) {
  return __builtin_atan2f(y, x);
}
constexpr float fmod(float x, float y) {
  return __builtin_fmodf(x, y);
}
constexpr float pow(float x, float y) {
  return __builtin_powf(x, y);
}
inline float modf(float x, float *whole) {
  return __builtin_modff(x, whole);
}
inline float frexp(float x, int *power) {
  return __builtin_frexpf(x, power);
}
inline float ldexp(float x, int power) {
  return __builtin_ldexpf(x, power);
}

} // namespace std

#undef __CUDA_RUNTIME_H__
#include <cuda_runtime.h>
