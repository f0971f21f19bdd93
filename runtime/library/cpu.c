/* cpu.c - what this processor is: its name, caches and features. */
#include "cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct {
  const char *name;
  uint64_t bit;
} features_by_name[] = {
    {"sse2", LATHE_SSE2},
    {"avx2", LATHE_AVX2},
    {"fma", LATHE_FMA},
    {"f16c", LATHE_F16C},
    {"avx512f", LATHE_AVX512F},
    {"avx512bw", LATHE_AVX512BW},
    {"avx512dq", LATHE_AVX512DQ},
    {"avx512vl", LATHE_AVX512VL},
    {"amx_bf16", LATHE_AMX_BF16},
    {"amx_int8", LATHE_AMX_INT8},
    {"avx512vnni", LATHE_AVX512VNNI},
};
enum { FEATURES = sizeof features_by_name / sizeof *features_by_name };
_Static_assert((int)FEATURES == (int)CPU_FEATURES, "CPU_FEATURES is how many features_by_name has");

/* The first value of a "key : value" line of /proc/cpuinfo; false where there is none. */
static bool cpuinfo(const char *key, char *value, size_t size) {
  FILE *f = fopen("/proc/cpuinfo", "r");
  char line[512];
  bool found = false;

  if (!f)
    return false;
  while (!found && fgets(line, sizeof line, f)) {
    const char *colon = strchr(line, ':');
    if (colon && strncmp(line, key, strlen(key)) == 0) {
      colon += 1 + strspn(colon + 1, " \t");
      snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
      found = true;
    }
  }
  fclose(f);
  return found;
}

const char lathe_cpu_features_variable[] = "LATHE_CPU_FEATURES";

/* The next word of a list, of *length letters; null after the last. Moves *list on. */
static const char *next_word(const char **list, size_t *length) {
  const char *word = *list + strspn(*list, ", ");

  *length = strcspn(word, ", ");
  *list = word + *length;
  return *length ? word : NULL;
}

/* 0 for a word that is no feature's name. */
static uint64_t bit_of(const char *word, size_t length) {
  for (int i = 0; i < FEATURES; i++)
    if (strlen(features_by_name[i].name) == length &&
        strncmp(word, features_by_name[i].name, length) == 0)
      return features_by_name[i].bit;
  return 0;
}

uint64_t lathe_cpu_features_named(const char *list) {
  uint64_t mask = 0;
  const char *word;
  size_t length;

  if (!list)
    return ~(uint64_t)0;
  while ((word = next_word(&list, &length)))
    mask |= bit_of(word, length);
  return mask;
}

/* The features that the environment leaves visible, found once. */
static uint64_t present, allowed;

static void look(void) {
  present = lathe_present_features() & ~(uint64_t)LATHE_ON_CPU;
  allowed = lathe_cpu_features_named(getenv(lathe_cpu_features_variable));
}

static void look_once(void) {
  static pthread_once_t looked = PTHREAD_ONCE_INIT;

  pthread_once(&looked, look);
}

uint64_t lathe_cpu_features(void) {
  look_once();
  return (present & allowed) | LATHE_ON_CPU;
}

uint64_t lathe_cpu_hidden_features(void) {
  look_once();
  return present & ~allowed;
}

bool lathe_cpu_unknown_feature(const char *list, char *word, size_t size) {
  const char *next;
  size_t length;

  while (list && (next = next_word(&list, &length)))
    if (!bit_of(next, length)) {
      snprintf(word, size, "%.*s", (int)length, next);
      return true;
    }
  return false;
}

size_t lathe_cpu_features_known(const char *names[CPU_FEATURES]) {
  for (int i = 0; i < FEATURES; i++)
    names[i] = features_by_name[i].name;
  return FEATURES;
}

const char *lathe_cpu_name(void) {
  static char name[128];

  if (!name[0] && !cpuinfo("model name", name, sizeof name))
    snprintf(name, sizeof name, "unknown processor");
  return name;
}

const char *lathe_cpu_feature_names(uint64_t features) {
  static char names[128];
  size_t length = 0;

  names[0] = 0;
  for (int i = 0; i < FEATURES; i++)
    if (features & features_by_name[i].bit)
      length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? " " : "",
                                 features_by_name[i].name);
  return names;
}

/* A line of a file below /sys/devices/system/cpu/cpu0; false where it cannot be read. */
static bool sysfs(const char *file, char *line, int size) {
  char path[128];
  FILE *f;
  bool ok;

  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/%s", file);
  f = fopen(path, "r");
  if (!f)
    return false;
  ok = fgets(line, size, f) != NULL;
  fclose(f);
  line[ok ? strcspn(line, "\n") : 0] = 0;
  return ok;
}

/* How many processors a list such as "0-3,8" names. */
static int count_list(const char *list) {
  int count = 0;

  while (*list) {
    char *end;
    const long first = strtol(list, &end, 10);
    long last = first;
    if (end == list)
      break;
    if (*end == '-')
      last = strtol(end + 1, &end, 10);
    count += (int)(last - first + 1);
    list = *end == ',' ? end + 1 : end;
  }
  return count;
}

int lathe_cpu_caches(cpu_cache *caches, int limit) {
  int count = 0;

  for (; count < limit; count++) {
    cpu_cache *c = &caches[count];
    char file[64], text[128];
    char *unit;

    snprintf(file, sizeof file, "cache/index%d/type", count);
    if (!sysfs(file, c->type, sizeof c->type))
      break;
    snprintf(file, sizeof file, "cache/index%d/level", count);
    c->level = sysfs(file, text, sizeof text) ? atoi(text) : 0;
    snprintf(file, sizeof file, "cache/index%d/size", count);
    c->size = sysfs(file, text, sizeof text) ? strtoul(text, &unit, 10) : 0;
    if (c->size)
      c->size *= *unit == 'K' ? 1024 : *unit == 'M' ? 1024 * 1024 : 1;
    snprintf(file, sizeof file, "cache/index%d/shared_cpu_list", count);
    c->sharing = sysfs(file, text, sizeof text) ? count_list(text) : 1;
  }
  return count;
}

double lathe_cpu_mhz(void) {
  char text[64];

  if (sysfs("cpufreq/cpuinfo_max_freq", text, sizeof text))
    return atof(text) / 1000;
  return cpuinfo("cpu MHz", text, sizeof text) ? atof(text) : 0;
}

int lathe_cpu_scaling(void) {
  char text[64];

  return sysfs("cpufreq/scaling_governor", text, sizeof text) && strcmp(text, "performance") != 0;
}
