/* size.c - sizes as the command line gives them. */
#include "size.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Operands are counted in the widest type that the check holds them in. */
static const size_t most_elements = PTRDIFF_MAX / sizeof(long double);

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

static bool addressable(const lathe_op *op, const size_t *dim) {
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

size_fit size_apply(const size_pattern *pattern, size_t index, const lathe_op *op, size_t *dim) {
  for (int d = 0; d < op->ndim; d++)
    dim[d] = 1;
  /* The last factor changes fastest. */
  for (int i = pattern->count - 1; i >= 0; i--) {
    const size_factor *f = &pattern->factor[i];
    const size_t count = factor_count(f);
    size_t value = f->from;
    int d = op->ndim - (pattern->count - i);
    for (size_t k = index % count; k > 0; k--)
      value *= f->step;
    index /= count;
    if (f->name[0])
      d = dimension(op, f->name);
    else if (d < 0)
      d = 0;
    if (d < 0)
      return SIZE_NO_DIM;
    if (!multiply(&dim[d], value))
      return SIZE_TOO_LARGE;
  }
  return addressable(op, dim) ? SIZE_FITS : SIZE_TOO_LARGE;
}

void size_text(const lathe_op *op, const size_t *dim, char text[SIZE_TEXT]) {
  int length = 0;

  text[0] = 0;
  for (int d = 0; d < op->ndim; d++)
    length += snprintf(text + length, (size_t)(SIZE_TEXT - length), "%s%zu", d ? "x" : "", dim[d]);
}
