#include <arm_neon.h>
int main(int argc, char **argv) {
  float32x4_t x = vfmaq_f32(vdupq_n_f32(1), vdupq_n_f32(argc),
                            vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(15360))));
  uint32x4_t i = vceqzq_u32(vcltq_f32(vrndnq_f32(x), vdivq_f32(x, vsqrtq_f32(x))));
  return (void)argv, vmaxvq_u32(i) == vgetq_lane_u32(vreinterpretq_u32_f32(vbslq_f32(i, x, x)), 0);
}
