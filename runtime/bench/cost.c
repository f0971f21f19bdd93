/* cost.c - what variants cost: out of ninja's log beside the program, and the program's own symbols. */
#include "cost.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "library/bench.h"
#include "library/launch.h"

static const char own_path[] = "/proc/self/exe";

/* ---- seconds -------------------------------------------------------------------------------- */

/* Built files and their milliseconds; a file's last build is its last. */
typedef struct built {
  char *path;
  double ms;
} built;

/* The last build of each file of the log beside the program, as many as are returned. */
static size_t read_log(built **all) {
  char path[4096], line[4096];
  const ssize_t length = readlink(own_path, path, sizeof path - 1);
  size_t count = 0, room = 0;
  FILE *log;

  *all = NULL;
  if (length < 0)
    return 0;
  path[length] = 0;
  snprintf(strrchr(path, '/') + 1, 16, ".ninja_log");
  log = length + 16 < (ssize_t)sizeof path ? fopen(path, "r") : NULL;
  while (log && fgets(line, sizeof line, log)) {
    long from, to;
    int at = 0;
    if (sscanf(line, "%ld %ld %*d %n", &from, &to, &at) < 2 || !at)
      continue;
    if (count == room) {
      room = 2 * room + 1024;
      *all = message_need(realloc(*all, room * sizeof **all));
    }
    line[at + (int)strcspn(line + at, "\t\n")] = 0;
    (*all)[count++] = (built){strdup(line + at), (double)(to - from)};
  }
  if (log)
    fclose(log);
  return count;
}

/* A file below the folder of what is generated: its variants' share each, in seconds. */
static double share_of(const built *all, size_t count, const char *path, size_t variants) {
  static const char folder[] = "out/gen/";

  while (count-- > 0)
    if (strncmp(all[count].path, folder, strlen(folder)) == 0 &&
        strcmp(all[count].path + strlen(folder), path) == 0)
      return all[count].ms / 1000 / (double)variants;
  return NAN;
}

static void find_seconds(cost *costs) {
  built *all;
  size_t count = read_log(&all);

  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_made *made = lathe_variants_made[i];
    costs[i].seconds = made[0].path ? 0 : NAN;
    for (int n = 0; n < LATHE_MADE_OF && made[n].path; n++)
      costs[i].seconds += share_of(all, count, made[n].path, made[n].variants);
  }
  while (count-- > 0)
    free(all[count].path);
  free(all);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Whether a symbol is a function's, or names a piece of it which the compiler set apart. */
static bool is_of(const char *symbol, const char *function) {
  const size_t length = strlen(function);

  return strncmp(symbol, function, length) == 0 && (!symbol[length] || symbol[length] == '.');
}

static void add_symbols(cost *costs, const unsigned char *file, const ElfW(Shdr) * table,
                        const ElfW(Shdr) * names) {
  const ElfW(Sym) *symbols = (const void *)(file + table->sh_offset);

  for (size_t s = 0; s < table->sh_size / sizeof *symbols; s++) {
    const char *name = (const char *)file + names->sh_offset + symbols[s].st_name;
    if ((symbols[s].st_info & 0xf) != STT_FUNC || symbols[s].st_size == 0)
      continue;
    for (size_t i = 0; i < lathe_variant_count; i++)
      if (lathe_variants[i].run && is_of(name, lathe_variants[i].name))
        costs[i].bytes = (isnan(costs[i].bytes) ? 0 : costs[i].bytes) + (double)symbols[s].st_size;
  }
}

/* From the table of symbols of the program's own file, if that was not stripped of it. */
static void find_functions(cost *costs) {
  const int fd = open(own_path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  const unsigned char *file;
  const ElfW(Ehdr) * head;
  const ElfW(Shdr) * section;

  if (fd < 0 || fstat(fd, &info) != 0)
    return;
  file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (file == MAP_FAILED)
    return;
  head = (const void *)file;
  section = (const void *)(file + head->e_shoff);
  for (int i = 0; i < head->e_shnum; i++)
    if (section[i].sh_type == SHT_SYMTAB)
      add_symbols(costs, file, &section[i], &section[section[i].sh_link]);
  munmap((void *)file, (size_t)info.st_size);
}

static void find_bytes(cost *costs) {
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_image *image = lathe_variants[i].image;
    costs[i].bytes = NAN;
    if (image)
      costs[i].bytes =
          (double)(image->end - image->start) / (double)lathe_variants_made[i][0].variants;
  }
  find_functions(costs);
}

cost *cost_all(void) {
  cost *costs = message_need(calloc(lathe_variant_count + 1, sizeof *costs));

  find_seconds(costs);
  find_bytes(costs);
  return costs;
}
