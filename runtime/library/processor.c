/* processor.c - which instructions this processor has. */
#include "dispatch.h"

#if defined __x86_64__ || defined __i386__
#include "detect.h"
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* Whether this process may use the tiles of AMX: Linux wants to be asked, since their state is large. */
static bool may_use_tiles(void) {
#if defined __linux__ && defined SYS_arch_prctl
  enum { REQUEST_STATE = 0x1023, TILES = 18 }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
  return syscall(SYS_arch_prctl, REQUEST_STATE, TILES) == 0;
#else
  return false;
#endif
}

static uint64_t detect(void) {
  const uint64_t found = lathe_detect(), tiles = 0x60000;
  /* Older compilers' cpuid.h lacks them. */
  const uint32_t amx_bf16 = 1u << 22, amx_tile = 1u << 24, amx_int8 = 1u << 25;
  uint32_t a, b, c, d;

  if (!(found & LATHE_AVX512F) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & amx_tile) ||
      (lathe_saved_states() & tiles) != tiles || !may_use_tiles())
    return found;
  return found | (d & amx_bf16 ? LATHE_AMX_BF16 : 0) | (d & amx_int8 ? LATHE_AMX_INT8 : 0);
}

#else

static uint64_t detect(void) {
  return 0;
}

#endif

/* Looked at once: the instruction that tells takes tens of microseconds in a virtual machine. Several threads may look,
 * and find the same. */
uint64_t lathe_present_features(void) {
  static uint64_t known;
  uint64_t features = __atomic_load_n(&known, __ATOMIC_RELAXED);

  if (!features) {
    features = detect() | LATHE_ON_CPU;
    __atomic_store_n(&known, features, __ATOMIC_RELAXED);
  }
  return features;
}
