/* lists.h - values of several types in a row, such as the steps of a pass, and code for each of some numbers. */
#ifndef LATHE_LISTS_H
#define LATHE_LISTS_H

template <typename... T> struct lathe_list {
  template <int N> __device__ __forceinline__ lathe_list &at() {
    return *this;
  }
  template <int N> __device__ __forceinline__ const lathe_list &at() const {
    return *this;
  }
};

template <typename T, typename... More> struct lathe_list<T, More...> {
  T first;
  lathe_list<More...> more;

  template <int N> __device__ __forceinline__ auto &at() {
    if constexpr (N == 0)
      return first;
    else
      return more.template at<N - 1>();
  }
  template <int N> __device__ __forceinline__ const auto &at() const {
    if constexpr (N == 0)
      return first;
    else
      return more.template at<N - 1>();
  }
};

/* The type at a place of a list. */
template <int N, typename List> struct lathe_type_at;

template <int N, typename T, typename... More> struct lathe_type_at<N, lathe_list<T, More...>> {
  using type = typename lathe_type_at<N - 1, lathe_list<More...>>::type;
};

template <typename T, typename... More> struct lathe_type_at<0, lathe_list<T, More...>> {
  using type = T;
};

template <int N> struct lathe_nth { static constexpr int value = N; };

/* Calls f(lathe_nth<N>()) for each N from 0 on, below a count. */
template <int COUNT, int N = 0, typename F> static __device__ __forceinline__ void lathe_each(F f) {
  if constexpr (N < COUNT) {
    f(lathe_nth<N>());
    lathe_each<COUNT, N + 1>(f);
  }
}

/* The largest of some numbers. */
static constexpr int lathe_most_of(int all) {
  return all;
}

template <typename... More> static constexpr int lathe_most_of(int a, int b, More... more) {
  return lathe_most_of(a > b ? a : b, more...);
}

#endif
