/* size.c - sizes as the command line gives them. */
#include "size.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Operands are counted in the widest type that the check holds them in. */
static const size_t most_elements = PTRDIFF_MAX / sizeof(long double);

const char *const size_places[SIZE_PLACES] = {"width", "sequence", "batch"};

static bool multiply(size_t *value, size_t by) {
  return !__builtin_mul_overflow(*value, by, value);
}

static const char *parse_digits(const char **at, size_t *value) {
  *value = 0;
  if (**at == '-')
    return "a size must be positive";
  if (!isdigit((unsigned char)**at))
    return "a number was expected";
  for (; isdigit((unsigned char)**at); ++*at)
    if (!multiply(value, 10) || __builtin_add_overflow(*value, (size_t)(**at - '0'), value))
      return "the number is too large";
  if (**at == '.' || **at == 'e' || **at == 'E')
    return "a size must be a whole number";
  return NULL;
}

/* 100, 2^10, 10K, 4Mi; never zero. */
static const char *parse_number(const char **at, size_t *value) {
  static const char prefixes[] = "KMG";
  const char *prefix, *wrong = parse_digits(at, value);

  if (wrong)
    return wrong;
  if (**at == '^') {
    const size_t base = *value;
    size_t power;
    ++*at;
    wrong = parse_digits(at, &power);
    if (wrong)
      return wrong;
    *value = 1;
    for (size_t i = 0; i<power && * value> 0 && base > 1; i++)
      if (!multiply(value, base))
        return "the number is too large";
    if (base == 0)
      *value = 0;
  }
  prefix = **at ? strchr(prefixes, **at) : NULL;
  if (prefix) {
    const bool binary = *++*at == 'i';
    *at += binary;
    for (const char *p = prefixes; p <= prefix; p++)
      if (!multiply(value, binary ? 1024 : 1000))
        return "the number is too large";
  }
  return *value == 0 ? "a size must not be zero" : NULL;
}

static const char *parse_factor(const char **at, size_factor *f) {
  const size_t name = strcspn(*at, "=x:");
  const char *wrong;

  memset(f, 0, sizeof *f);
  if ((*at)[name] == '=') {
    if (name == 0 || name >= sizeof f->name)
      return "the name of a dimension was expected before '='";
    memcpy(f->name, *at, name);
    *at += name + 1;
  } else if (isalpha((unsigned char)**at)) {
    /* a name that holds an x */
    const size_t word = strcspn(*at, "=");
    if ((*at)[word] != '=' || word >= sizeof f->name)
      return "a number was expected";
    memcpy(f->name, *at, word);
    *at += word + 1;
  }
  wrong = parse_number(at, &f->from);
  f->to = f->from;
  f->step = 2;
  if (!wrong && **at == ':') {
    ++*at;
    wrong = parse_number(at, &f->to);
    if (!wrong && f->to < f->from)
      return "the range ends before it begins";
  }
  if (!wrong && f->to != f->from && **at == ':') {
    ++*at;
    wrong = parse_number(at, &f->step);
    if (!wrong && f->step < 2)
      return "the step of a range must be at least 2";
  }
  return wrong;
}

const char *size_parse(const char *text, size_pattern *pattern) {
  const char *at = text, *wrong;
  int named = 0;

  pattern->count = 0;
  for (;;) {
    if (pattern->count == SIZE_FACTORS)
      return "there are too many dimensions";
    wrong = parse_factor(&at, &pattern->factor[pattern->count]);
    if (wrong)
      return wrong;
    named += pattern->factor[pattern->count++].name[0] != 0;
    if (*at == 0)
      break;
    if (*at++ != 'x')
      return "'x', ':' or the end was expected after a number";
  }
  return named && named != pattern->count ? "name all of the dimensions or none" : NULL;
}

static size_t factor_count(const size_factor *f) {
  size_t count = 1;

  for (size_t value = f->from; multiply(&value, f->step) && value <= f->to;)
    count++;
  return count;
}

size_t size_count(const size_pattern *pattern) {
  size_t count = 1;

  for (int i = 0; i < pattern->count; i++)
    count *= factor_count(&pattern->factor[i]);
  return count;
}

static int dimension(const lathe_op *op, const char *name) {
  for (int d = 0; d < op->ndim; d++)
    if (strcmp(op->dim[d], name) == 0)
      return d;
  return -1;
}

/* The place that the index-th factor speaks of, counted from the last dimension; -1 where the op
 * has none of its name. */
static int place(const size_pattern *pattern, int index, const lathe_op *op) {
  const char *name = pattern->factor[index].name;
  const int d = dimension(op, name);

  if (!name[0])
    return pattern->count - 1 - index;
  if (d >= 0)
    return op->ndim - 1 - d;
  for (int i = 0; i < SIZE_PLACES; i++)
    if (strcmp(size_places[i], name) == 0)
      return i;
  return -1;
}

bool size_repeats(const size_pattern *pattern, const lathe_op *op) {
  for (int i = 0; i < pattern->count; i++)
    for (int j = 0; j < i; j++)
      if (place(pattern, i, op) >= 0 && place(pattern, i, op) == place(pattern, j, op))
        return true;
  return false;
}

const char *size_missing(const size_pattern *pattern, const lathe_op *op) {
  bool given[SIZE_FACTORS] = {false};
  int slowest = 0;

  for (int i = 0; i < pattern->count; i++) {
    const int at = place(pattern, i, op);
    if (at < 0)
      return NULL;
    given[at] = true;
    slowest = at > slowest ? at : slowest;
  }
  /* Dimensions slower than the op's first are multiplied into it. */
  for (int at = 0; at < op->ndim && at <= slowest; at++)
    if (!given[at] && (at == 0 || at < op->ndim - 1))
      return op->dim[op->ndim - 1 - at];
  return NULL;
}

bool size_apply(const size_pattern *pattern, size_t index, const lathe_op *op, size_shape *shape) {
  size_t by_place[SIZE_FACTORS] = {0};

  if (size_missing(pattern, op))
    return false;
  shape->ndim = op->ndim;
  /* The last factor changes fastest. */
  for (int i = pattern->count - 1; i >= 0; i--) {
    const size_factor *f = &pattern->factor[i];
    const size_t count = factor_count(f);
    const int at = place(pattern, i, op);
    if (at < 0 || by_place[at])
      return false;
    by_place[at] = f->from;
    for (size_t k = index % count; k > 0; k--)
      by_place[at] *= f->step;
    index /= count;
    if (at >= shape->ndim)
      shape->ndim = at + 1;
  }
  for (int i = 0; i < shape->ndim; i++) {
    const size_t extent = by_place[shape->ndim - 1 - i];
    shape->extent[i] = extent ? extent : 1;
  }
  return true;
}

/* Whether a value is one of those that a factor stands for. */
static bool stands_for(const size_factor *f, size_t wanted) {
  size_t value = f->from;

  while (value < wanted && multiply(&value, f->step))
    continue;
  return value == wanted && value <= f->to;
}

bool size_matches(const size_pattern *pattern, const lathe_op *op, const size_shape *shape) {
  size_t dim[LATHE_MAX_DIMS];

  if (!size_fold(shape, op, dim))
    return false;
  for (int i = 0; i < pattern->count; i++) {
    const int d = dimension(op, pattern->factor[i].name), at = place(pattern, i, op);
    const size_t extent = at < 0 || at >= shape->ndim ? 1 : shape->extent[shape->ndim - 1 - at];
    if (at < 0 || !stands_for(&pattern->factor[i], d >= 0 ? dim[d] : extent))
      return false;
  }
  return true;
}

size_shape size_of_dims(const lathe_op *op, const size_t *dim) {
  size_shape shape = {.ndim = op->ndim};

  memcpy(shape.extent, dim, (size_t)op->ndim * sizeof *dim);
  return shape;
}

size_t size_shape_count(const lathe_shape *shape) {
  size_t count = 1;

  for (int d = 0; d < shape->ndim; d++)
    count *= (size_t)shape->count[d];
  return count;
}

size_shape size_shape_at(const lathe_shape *shape, size_t index) {
  size_shape one = {.ndim = shape->ndim};

  for (int d = shape->ndim - 1; d >= 0; d--) {
    const size_t count = (size_t)shape->count[d];
    one.extent[d] = shape->choice[d][index % count];
    index /= count;
  }
  return one;
}

bool size_fold(const size_shape *shape, const lathe_op *op, size_t *dim) {
  for (int d = 0; d < op->ndim; d++)
    dim[d] = 1;
  for (int i = 0; i < shape->ndim; i++) {
    const int d = op->ndim - (shape->ndim - i);
    size_t *into = &dim[d < 0 ? 0 : d];
    if (!multiply(into, shape->extent[i]) || *into > PTRDIFF_MAX)
      return false;
  }
  return true;
}

bool size_addressable(const lathe_op *op, const size_t *dim) {
  for (int o = 0; o < op->noperands; o++) {
    size_t elements = 1;
    for (int d = 0; d < op->operands[o].ndim; d++)
      if (!multiply(&elements, dim[op->operands[o].dim[d]]))
        return false;
    if (elements > most_elements)
      return false;
  }
  return true;
}

void size_text(const size_shape *shape, char text[SIZE_TEXT]) {
  int length = 0;

  text[0] = 0;
  for (int i = 0; i < shape->ndim; i++)
    length += snprintf(text + length, (size_t)(SIZE_TEXT - length), "%s%zu", i ? "x" : "",
                       shape->extent[i]);
}
