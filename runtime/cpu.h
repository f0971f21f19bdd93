/* cpu.h - what this processor is: caches and features (lathe_cpu_features is in lathe.h). */
#ifndef CPU_H
#define CPU_H

#include <stddef.h>
#include <stdint.h>

typedef struct cpu_cache {
  char type[16]; /* Data, Instruction, Unified */
  int level;
  size_t size; /* bytes */
  int sharing; /* processors that share it */
} cpu_cache;

/* Writes at most limit caches of processor 0; returns how many there are, 0 if unknown. */
int cpu_caches(cpu_cache *caches, int limit);

/* The features' names in one static string, "sse2 avx2 fma". */
const char *cpu_feature_names(uint64_t features);

/* The features that a list as in LATHE_CPU_FEATURES names; all where there is none. */
uint64_t cpu_features_named(const char *list);

/* Those that this processor has, and LATHE_CPU_FEATURES leaves out. */
uint64_t cpu_hidden_features(void);

/* Refuses a LATHE_CPU_FEATURES with a word in it that is no feature's name. */
void cpu_check_variable(void);

/* Clock rate in MHz as the system states it, 0 if unknown; whether it is left to scale. */
double cpu_mhz(void);
int cpu_scaling(void);

#endif
