/* sum1 = sum of x */
static __device__ __forceinline__ float small_rows_f32__cuda_pass1(float in_x_) {
  return in_x_;
}

/* y = x / sum1 */
static __device__ __forceinline__ float small_rows_f32__cuda_point(float in_x_, float u1) {
  float t1 = in_x_ * u1;
  return t1;
}

struct small_rows_f32__cuda_gathered1 {
  lathe_sum<float> sum1;

  __device__ __forceinline__ void clear() {
    sum1.clear();
  }
  __device__ __forceinline__ void merge(const small_rows_f32__cuda_gathered1 &other) {
    sum1.merge(other.sum1);
  }
  template <int T> __device__ __forceinline__ void merge_lanes() {
    sum1.template merge_lanes<T>();
  }
  template <int T> __device__ __forceinline__ void merge_copies() {
    sum1.template merge_copies<T>();
  }
};

/* One row in the registers of T threads; of a block's where T is 0, of those of `blocks` blocks where that
 * is more than 1. A block has blockDim.y rows. STAGED: these, which lie together, are in its shared memory meanwhile,
 * so that wherever they start memory is read and written by 16 bytes. */
#ifndef LATHE_CLUSTERS_ALONE
/* threads=512 hold=auto ahead=auto */
extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_1x1_full(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_FULL, 1, 1>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_1x1_staged(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_APART, 1, 1, true>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_2x1_full(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_FULL, 2, 1>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_2x1_staged(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_APART, 2, 1, true>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_4x1_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_PACKS, 4, 1>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_4x1_staged(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_APART, 4, 1, true>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_8x1_full(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_FULL, 8, 1>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_8x1_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_PACKS, 8, 1>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_8x1_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_ENDS, 8, 1>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_8x2_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_PACKS, 8, 2>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_8x2_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_ENDS, 8, 2>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_8x4_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_PACKS, 8, 4>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_8x4_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_ENDS, 8, 4>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_16x4_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_PACKS, 16, 4>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_16x4_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_ENDS, 16, 4>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_32x4_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_PACKS, 32, 4>(args, 1);
}

extern "C" __global__ void __launch_bounds__(128, 12)
    small_rows_f32__cuda_32x4_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_ENDS, 32, 4>(args, 1);
}

extern "C" __global__ void __launch_bounds__(512, 3)
    small_rows_f32__cuda_block_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_PACKS, 0, 4>(args, 1);
}

extern "C" __global__ void __launch_bounds__(512, 3)
    small_rows_f32__cuda_block_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_ENDS, 0, 4>(args, 1);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    small_rows_f32__cuda_long_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_long<LATHE_PACKS, 4>(args, blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    small_rows_f32__cuda_split1_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_split1<LATHE_PACKS, 2>(args);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    small_rows_f32__cuda_split2_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_split2<LATHE_PACKS, 2>(args);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    small_rows_f32__cuda_long_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_long<LATHE_ENDS, 4>(args, blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    small_rows_f32__cuda_split1_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_split1<LATHE_ENDS, 2>(args);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    small_rows_f32__cuda_split2_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_split2<LATHE_ENDS, 2>(args);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    small_rows_f32__cuda_long_apart(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_long<LATHE_APART, 4>(args, blockIdx.x);
}

#endif

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __launch_bounds__(512, 3)
    small_rows_f32__cuda_cluster_packs(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_PACKS, 0, 4>(args, lathe_cluster_size());
}

extern "C" __global__ void __launch_bounds__(512, 3)
    small_rows_f32__cuda_cluster_ends(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_held<LATHE_ENDS, 0, 4>(args, lathe_cluster_size());
}

extern "C" __global__ void __launch_bounds__(512, 2)
    small_rows_f32__cuda_ahead_cluster(const __grid_constant__ lathe_args args) {
  lathe_begin();
  small_rows_f32__cuda_ahead<LATHE_PACKS, 0, 4, 1, 3, true>(args);
}

#endif
