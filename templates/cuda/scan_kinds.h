/* scan_kinds.h - what a scan's terms are gathered in, a part at a time: sums that carry their errors, and linear
 * recurrences and products, of which a part is a value and a factor. */
#ifndef LATHE_SCAN_KINDS_H
#define LATHE_SCAN_KINDS_H

#include "nest.h"

/* What a thread gathers of a part of a scan, of LATHE_PLAIN_TERMS places at the most, whose terms of a sum are added up
 * plainly; finish() makes it what parts are merged as. */
template <typename G> struct lathe_part : G {
  __device__ __forceinline__ void finish(G &to) const {
    to = *this;
  }
};

template <typename T> struct lathe_part<lathe_carried<T>> {
  T value;

  __device__ __forceinline__ void clear() {
    value = T(-0.0);
  }
  __device__ __forceinline__ void take(T term) {
    value += term;
  }
  __device__ __forceinline__ void finish(lathe_carried<T> &to) const {
    to.value = value;
    to.lost = 0;
  }
};

/* What a scan has come to on the way: begin() makes it of what was gathered before, leave() adds to that. A sum adds up
 * as many terms plainly to one that carries its errors. */
template <typename G> struct lathe_going : G {
  __device__ __forceinline__ void begin(const G &from) {
    static_cast<G &>(*this) = from;
  }
  __device__ __forceinline__ void leave(G &to) const {
    to = *this;
  }
};

template <typename T> struct lathe_going<lathe_carried<T>> {
  T value, lost, plain;

  __device__ __forceinline__ void begin(const lathe_carried<T> &from) {
    value = from.value;
    lost = from.lost == from.lost && from.lost != 0 ? from.lost : T(-0.0);
    plain = T(-0.0);
  }
  __device__ __forceinline__ void take(T term) {
    plain += term;
  }
  __device__ __forceinline__ void leave(lathe_carried<T> &to) const {
    to.take(plain);
  }
  __device__ __forceinline__ T result() const {
    return value + (plain + lost);
  }
};

/* Of a type the least normal number and the least of all; what so many times the first is as the latter grows to that;
 * and half a unit of 1. */
template <typename T> struct lathe_least_numbers;
template <> struct lathe_least_numbers<float> {
  static constexpr float LEAST = 0x1p-126f, MARK = 0x1p-149f, REACH = 0x1p-103f, UNIT = 0x1p-24f;
};
template <> struct lathe_least_numbers<double> {
  static constexpr double LEAST = 0x1p-1022, MARK = 0x1p-1074, REACH = 0x1p-970, UNIT = 0x1p-53;
};

/* A part of h = a h + b along an axis, of places that follow each other: what comes of 0 there, and what h before them
 * is multiplied by. Where the product of factors was below the normal range it is a mark, how many times the least
 * normal number it may have grown to. NaN says that the part has to be gone through: so does what is infinite, a mark
 * that has grown too large, and zeros whose sign h before them decides. */
template <typename T> struct lathe_linear {
  T value, factor;

  typedef lathe_least_numbers<T> range;

  __device__ __forceinline__ void clear() {
    value = 0;
    factor = 1;
  }
  static __device__ __forceinline__ T multiplied(T a, T b) {
    const T product = a * b, least = fmin(fabs(a), fabs(b)), most = fmax(fabs(a), fabs(b));
    if (!(fmin(fabs(product), least) < range::LEAST) || least == 0)
      return product;
    const bool is_new = most < range::LEAST || least >= range::LEAST;
    const T mark = is_new ? range::MARK : most > 1 ? least * most + range::MARK : least;
    return mark < range::LEAST ? copysign(mark, product) : T(NAN);
  }
  __device__ __forceinline__ void merge(const lathe_linear &other) {
    const T was = fabs(value), mark = fabs(other.factor);
    value = other.factor * value + other.value;
    if (mark < range::LEAST && mark != 0 && was > range::LEAST / range::REACH * range::UNIT &&
        fabs(value) < was * (range::REACH / range::UNIT))
      value = T(NAN);
    factor = multiplied(factor, other.factor);
  }
  __device__ __forceinline__ bool is_sure() const {
    return fabs(value) < T(INFINITY);
  }
};

/* Keeps the least product, and the least and the largest factor: a product that was below the normal range is a mark
 * if no factor was zero, and may have grown since if one was above 1. */
template <typename T> struct lathe_part<lathe_linear<T>> {
  T value, product, least, small, large;

  __device__ __forceinline__ void clear() {
    value = 0;
    product = least = small = 1;
    large = 0;
  }
  __device__ __forceinline__ void multiply(T a) {
    product *= a;
    least = fmin(least, fabs(product));
    small = fmin(small, fabs(a));
    large = fmax(large, fabs(a));
  }
  __device__ __forceinline__ void take(T a, T b) {
    const bool hides_sign = b == 0 && signbit(b) && value == 0;
    value = hides_sign ? T(NAN) : a * value + b;
    multiply(a);
  }
  __device__ __forceinline__ T factor() const {
    const T MOST = 8, GROWN = 0x1p21; /* of 8 factors all but the first */
    const T mark = lathe_least_numbers<T>::MARK * (large > 1 ? GROWN : T(1));
    const bool is_mark = least < lathe_least_numbers<T>::LEAST && small != 0;
    return !is_mark ? product : large > MOST ? T(NAN) : copysign(mark, product);
  }
  __device__ __forceinline__ void finish(lathe_linear<T> &to) const {
    to.value = value;
    to.factor = factor();
  }
};

template <typename T> struct lathe_going<lathe_linear<T>> {
  T value;

  __device__ __forceinline__ void begin(const lathe_linear<T> &from) {
    value = from.value;
  }
  __device__ __forceinline__ void take(T a, T b) {
    value = a * value + b;
  }
  __device__ __forceinline__ void leave(lathe_linear<T> &to) const {
    to.value = value;
  }
  __device__ __forceinline__ T result() const {
    return value;
  }
};

/* The same of a product: a part is all factor. */
template <typename T> struct lathe_product : lathe_linear<T> {
  __device__ __forceinline__ void clear() {
    this->value = T(-0.0);
    this->factor = 1;
  }
};

template <typename T> struct lathe_part<lathe_product<T>> : lathe_part<lathe_linear<T>> {
  __device__ __forceinline__ void take(T a) {
    this->multiply(a);
  }
  __device__ __forceinline__ void finish(lathe_product<T> &to) const {
    to.value = T(-0.0);
    to.factor = this->factor();
  }
};

template <typename T> struct lathe_going<lathe_product<T>> : lathe_going<lathe_linear<T>> {
  __device__ __forceinline__ void take(T a) {
    this->value *= a;
  }
};

#endif
