/* tuning.c - choices that were measured on a device, read from a file. */
#include "tuning.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file that the program was built with, put in by the assembler, which finds it through -Wa,-I; empty for none. */
__asm__(".section .rodata\n"
        "lathe_tuning_built_in:\n"
        ".incbin \"tuning\"\n"
        "lathe_tuning_built_in_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char lathe_tuning_built_in[], lathe_tuning_built_in_end[];

enum { BAD = -1, ELSEWHERE = -2 }; /* in the place of a number of choices */

typedef struct choice {
  size_t number; /* of the op and type */
  lathe_kind kind;
  double log[LATHE_MAX_DIMS]; /* of the dimensions, to the base 2 */
  const lathe_variant *variant;
} choice;

/* Sorted by number. */
static struct {
  choice *at;
  size_t count, room;
} choices;

static size_t number_of(const lathe_op *op, lathe_dtype dtype) {
  return (size_t)(op - lathe_ops) * LATHE_DTYPES + dtype;
}

uint32_t lathe_tuning_mark(const lathe_op *op, lathe_dtype dtype) {
  const lathe_span span = lathe_span_of(op, dtype);
  uint32_t mark = 2166136261u;

  for (size_t i = 0; i < span.count; i++)
    for (const char *c = lathe_variants[span.first + i].name;; c++) {
      mark = (mark ^ (unsigned char)*c) * 16777619u;
      if (!*c)
        break;
    }
  return mark;
}

/* The choice that a line of this kind stands for; false where it is of other variants than this table's. */
static bool choice_of(const lathe_tuning_line *line, lathe_kind kind, choice *c) {
  const lathe_op *op = lathe_find(line->op);
  lathe_dtype dtype = 0;
  lathe_span span;

  while (dtype < LATHE_DTYPES && strcmp(lathe_dtype_name(dtype), line->dtype) != 0)
    dtype++;
  if (!op || dtype == LATHE_DTYPES || lathe_tuning_mark(op, dtype) != line->mark ||
      !lathe_tuning_logs(op, line->size, c->log))
    return false;
  c->number = number_of(op, dtype);
  c->kind = kind;
  span = lathe_span_of(op, dtype);
  for (size_t i = 0; i < span.count; i++) {
    c->variant = &lathe_variants[span.first + i];
    if (strcmp(c->variant->name, line->variant) == 0)
      return c->variant->backend->kind == kind && !c->variant->by_name;
  }
  return false;
}

static int by_number(const void *a, const void *b) {
  const choice *one = a, *other = b;

  return (one->number > other->number) - (one->number < other->number);
}

static bool add(const choice *c) {
  if (choices.count == choices.room) {
    const size_t room = choices.room ? 2 * choices.room : 64;
    choice *at = realloc(choices.at, room * sizeof *at);
    if (!at)
      return false;
    choices.at = at;
    choices.room = room;
  }
  choices.at[choices.count++] = *c;
  return true;
}

static void drop(lathe_kind kind) {
  size_t kept = 0;

  for (size_t i = 0; i < choices.count; i++)
    if (choices.at[i].kind != kind)
      choices.at[kept++] = choices.at[i];
  choices.count = kept;
}

void lathe_tuning_clear(void) {
  free(choices.at);
  memset(&choices, 0, sizeof choices);
}

/* Reads what follows the first line: how many choices, or BAD or ELSEWHERE with a message. */
static long read_lines(FILE *from, const char *path, lathe_kind kind, const char *device,
                       long *stale, char error[LATHE_TUNING_ERROR]) {
  char *text = NULL;
  size_t room = 0;
  long found = 0;
  bool ours = false; /* a line said that it is of this device */

  for (int number = 2; found >= 0 && getline(&text, &room, from) > 0; number++) {
    lathe_tuning_line line;
    choice c = {0};
    char of[16];
    int name = 0;
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0') {
      continue;
    } else if (sscanf(text, "device %15s %n", of, &name) == 1 && name > 0) {
      if (strcmp(of, lathe_kind_name(kind)) != 0)
        continue;
      ours = strcmp(text + name, device) == 0;
      if (ours)
        continue;
      snprintf(error, LATHE_TUNING_ERROR, "%s:%d: expected device '%s', found '%s'", path, number,
               device, text + name);
      found = ELSEWHERE;
      continue;
    } else if (!lathe_tuning_parse(text, &line)) {
      snprintf(error, LATHE_TUNING_ERROR,
               "%s:%d: expected an op, type, kind of device, size, variant, ratio and mark, found "
               "'%.60s'",
               path, number, text);
    } else if (strcmp(line.kind, lathe_kind_name(kind)) != 0) {
      continue;
    } else if (!ours) {
      snprintf(error, LATHE_TUNING_ERROR, "%s:%d: expected a line 'device %s NAME' before this",
               path, number, line.kind);
    } else if (!choice_of(&line, kind, &c)) {
      ++*stale;
      continue;
    } else if (add(&c)) {
      found++;
      continue;
    } else {
      snprintf(error, LATHE_TUNING_ERROR, "%s: out of memory", path);
    }
    found = BAD;
  }
  free(text);
  return found;
}

long lathe_tuning_load(const char *path, lathe_kind kind, const char *device, long *stale,
                       char error[LATHE_TUNING_ERROR]) {
  const bool built_in = !path;
  const size_t size = (uintptr_t)lathe_tuning_built_in_end - (uintptr_t)lathe_tuning_built_in;
  FILE *from;
  char head[sizeof lathe_tuning_head + 2];
  long found = BAD;

  *stale = 0;
  if (built_in && size == 0) {
    drop(kind);
    return 0;
  }
  from = built_in ? fmemopen((void *)lathe_tuning_built_in, size, "r") : fopen(path, "r");
  path = built_in ? "the tuning file of this build" : path;
  if (!from) {
    snprintf(error, LATHE_TUNING_ERROR, "%s: %s", path, strerror(errno));
    return -1;
  }
  if (!fgets(head, sizeof head, from))
    head[0] = '\0';
  head[strcspn(head, "\r\n")] = '\0';
  drop(kind);
  if (strcmp(head, lathe_tuning_head) != 0)
    snprintf(error, LATHE_TUNING_ERROR, "%s:1: expected '%s', found '%s'", path, lathe_tuning_head,
             head);
  else
    found = read_lines(from, path, kind, device, stale, error);
  if (found < 0)
    drop(kind);
  else if (choices.count > 0)
    qsort(choices.at, choices.count, sizeof *choices.at, by_number);
  fclose(from);
  if (built_in && found == ELSEWHERE)
    return 0;
  return found < 0 ? -1 : found;
}

const lathe_variant *lathe_tuned(const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                                 uint64_t features) {
  const size_t number = number_of(op, dtype);
  const lathe_variant *found = NULL;
  double nearest = INFINITY;
  size_t first = 0, end = choices.count;

  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (choices.at[middle].number < number)
      first = middle + 1;
    else
      end = middle;
  }
  if (first == choices.count || choices.at[first].number != number)
    return NULL;
  for (size_t i = first; i < choices.count && choices.at[i].number == number; i++) {
    const double away = lathe_tuning_away(op, dim, choices.at[i].log);
    if (away < nearest && !lathe_why_not(choices.at[i].variant, features)) {
      nearest = away;
      found = choices.at[i].variant;
    }
  }
  return found;
}
