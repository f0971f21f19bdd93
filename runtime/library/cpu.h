/* cpu.h - what this processor is: caches and features. */
#ifndef CPU_H
#define CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cpu_cache {
  char type[16]; /* Data, Instruction, Unified */
  int level;
  size_t size; /* bytes */
  int sharing; /* processors that share it */
} cpu_cache;

/* Writes at most limit caches of processor 0; returns how many there are, 0 if unknown. */
int lathe_cpu_caches(cpu_cache *caches, int limit);

const char *lathe_cpu_name(void);

/* The features of this processor, less those not named in the environment variable LATHE_CPU_FEATURES where that is set
 * (for trying another machine's choice). */
uint64_t lathe_cpu_features(void);

/* The features' names in one static string, "sse2 avx2 fma". */
const char *lathe_cpu_feature_names(uint64_t features);

extern const char lathe_cpu_features_variable[]; /* LATHE_CPU_FEATURES */

/* The features that a list as in LATHE_CPU_FEATURES names; all where there is none. */
uint64_t lathe_cpu_features_named(const char *list);

/* Those that this processor has, and LATHE_CPU_FEATURES leaves out. */
uint64_t lathe_cpu_hidden_features(void);

/* Whether such a list has a word that is no feature's name; the first one is put in word. */
bool lathe_cpu_unknown_feature(const char *list, char *word, size_t size);

/* The names that it may have; how many there are. */
enum { CPU_FEATURES = 11 };
size_t lathe_cpu_features_known(const char *names[CPU_FEATURES]);

/* Clock rate in MHz as the system states it, 0 if unknown; whether it is left to scale. */
double lathe_cpu_mhz(void);
int lathe_cpu_scaling(void);

#endif
