/* telling.c - what the expected results of a problem can show of a kernel that has them. */
#include "telling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/pool.h"
#include "judge.h"
#include "library/dtype.h"
#include "problem/sampling.h"

enum {
  FEW = 32,       /* so few results may all be zero by chance */
  PART = 1 << 15, /* elements that one thread looks at */
};

/* How many of some results are numbers that show little. */
typedef struct shares {
  size_t all, zero, nan, infinite;
  size_t beyond; /* finite, but not in the output's type */
  size_t coarse; /* of an integer type, where 1.01 times as much may be the same number */
} shares;

static shares add(shares a, shares b) {
  return (shares){a.all + b.all,           a.zero + b.zero,     a.nan + b.nan,
                  a.infinite + b.infinite, a.beyond + b.beyond, a.coarse + b.coarse};
}

/* An output that is looked at in parts. */
typedef struct look {
  const problem *p;
  int output;
  lathe_dtype type;
  long double least, most; /* what is below rounds to zero; the type's largest number */
  shares *part;
} look;

static void count_wide(const look *l, size_t start, size_t end, shares *s) {
  const problem *p = l->p;
  const int o = l->output;

  for (size_t i = start; i < end; i++) {
    const long double term = p->term[o] ? problem_number(p, p->term[o], i) : 0;
    const long double expected = fabsl(isfinite(term) ? problem_expected(p, o, i) : term);
    s->zero += expected <= l->least;
    s->nan += isnan(expected) != 0;
    s->infinite += isinf(expected) != 0;
    s->beyond += expected > l->most && isfinite(expected);
  }
}

/* The same of numbers in double. Those of integer types are what NaN and infinities are written as, too. */
static void count_double(const look *l, size_t start, size_t end, shares *s) {
  const double *expected = l->p->expected[l->output];
  const double least = (double)l->least, most = (double)l->most;
  const dtype_format *f = lathe_dtype_format_of(l->type);
  const double apart = 50; /* of which 0.01 is half a unit */

  for (size_t i = start; i < end; i++) {
    const double value = f->integer ? lathe_dtype_within(l->type, expected[i]) : expected[i];
    const double size = fabs(value);
    s->zero += size <= least;
    s->nan += !(size <= INFINITY);
    s->infinite += size == INFINITY;
    s->beyond += size > most && size < INFINITY;
    s->coarse += f->integer && (size <= apart || value <= f->low || value >= f->high);
  }
}

static void count_part(void *context, size_t nth, int thread) {
  const look *l = context;
  const problem *p = l->p;
  const size_t start = nth * PART, count = pool_part_size(p->elements[l->output], PART, nth);
  const bool floating = lathe_dtype_numeric(l->type);
  shares s = {.all = count};

  (void)thread;
  if (floating && !p->wide)
    count_double(l, start, start + count, &s);
  else
    count_wide(l, start, start + count, &s);
  l->part[nth] = s;
}

/* An index shows as little as its term where that is not finite. */
static shares shares_of(const problem *p, int o) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  const dtype_format *f = lathe_dtype_format_of(type);
  const bool floating = lathe_dtype_numeric(type);
  const size_t parts = pool_parts(p->elements[o], PART);
  shares all = {0};
  look l = {.p = p,
            .output = o,
            .type = type,
            .least = floating ? ldexpl(1, f->emin - f->digits) : 0,
            .most = floating ? lathe_dtype_max(type) : INFINITY,
            .part = message_need(calloc(parts + 1, sizeof *l.part))};

  pool_run(count_part, &l, parts);
  for (size_t i = 0; i < parts; i++)
    all = add(all, l.part[i]);
  free(l.part);
  return all;
}

static bool all_finite(const problem *p, int o) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);

  for (size_t i = 0; i < p->elements[o]; i++) {
    double value;
    lathe_dtype_widen(type, (const char *)p->input[o] + i * lathe_dtype_size(type), 1, &value);
    if (!isfinite(value))
      return false;
  }
  return true;
}

/* Whether the inputs are numbers such as the spec has them drawn. */
static bool ordinary(const problem *p) {
  bool numbers = false;

  if (p->special)
    return false;
  for (int o = 0; o < p->op->noperands; o++) {
    if (!p->input[o])
      continue;
    if (p->elements[o] == 0 || !all_finite(p, o))
      return false;
    numbers = true;
  }
  return numbers;
}

/* "zero or NaN": those of the kinds that there are. */
static const char *kinds_of(const shares *s) {
  const struct {
    const char *name;
    size_t count;
  } kinds[] = {{"zero", s->zero},
               {"NaN", s->nan},
               {"infinite", s->infinite},
               {"beyond the type's largest number", s->beyond}};
  static char text[80];
  size_t length = 0;

  text[0] = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].count > 0)
      length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? " or " : "",
                                 kinds[i].name);
  return text;
}

/* Whether zeros, or the right result times 1.01, would pass for an output of which not all is zero; says so. */
static bool lets_wrong_pass(const problem *p, int o, const shares *s, char *text, size_t size) {
  static const double factors[] = {0, 1.01};
  const lathe_operand *output = &p->op->operands[o];

  if (!lathe_dtype_numeric(lathe_dtype_of_operand(output, p->dtype)) || s->all < FEW ||
      s->zero + s->nan + s->infinite + s->beyond == s->all || s->all - s->coarse < FEW)
    return false;
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    if (!judge_lets_pass(p, o, factors[i]))
      continue;
    snprintf(text, size,
             "%g times the right %s would pass for right, which proves nothing: rounding may put "
             "it off by that much, or the spec's ulp is too large (%s)",
             factors[i], output->name, p->op->source);
    return true;
  }
  return false;
}

static bool proves(const problem *p, char *text, size_t size) {
  const lathe_op *op = p->op;
  shares each[LATHE_MAX_OPERANDS] = {{0}}, sum = {0};
  bool usual;

  text[0] = 0;
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output) {
      each[o] = shares_of(p, o);
      sum = add(sum, each[o]);
    }
  usual = sum.nan + sum.infinite > 0 && ordinary(p);
  for (int o = 0; o < op->noperands && usual; o++) {
    const shares *s = &each[o];
    if (s->all > 0 && s->nan + s->infinite == s->all) {
      snprintf(text, size,
               "every %s of %s is %s, and should be, which proves nothing: give the inputs a "
               "range where the op is defined (%s)",
               p->term[o] ? "term" : "result", op->operands[o].name, kinds_of(s), op->source);
      return false;
    }
  }
  for (int o = 0; o < op->noperands && p->special == 0; o++)
    if (op->operands[o].output && lets_wrong_pass(p, o, &each[o], text, size))
      return false;
  if (sum.all > 0 && sum.zero + sum.nan + sum.infinite + sum.beyond == sum.all) {
    if (sum.all >= FEW || sum.beyond > 0)
      snprintf(text, size, "every result is %s, and should be, which shows little", kinds_of(&sum));
  } else if (usual) {
    const shares lost = {.nan = sum.nan, .infinite = sum.infinite};
    snprintf(text, size,
             "%.2g %% of the results are %s, and should be, which shows nothing of them",
             100 * (double)(sum.nan + sum.infinite) / (double)sum.all, kinds_of(&lost));
  }
  return true;
}

bool telling_proves(const problem *p, char *text, size_t size) {
  problem_told *told = p->told;

  for (int o = 0; p->sample && o < p->op->noperands; o++)
    if (p->sample->of[o] && !telling_proves(p->sample->of[o], text, size))
      return false;
  if (p->sample)
    return true;
  if (!told->known)
    told->proves = proves(p, told->text, sizeof told->text);
  told->known = true;
  snprintf(text, size, "%s", told->text);
  return told->proves;
}
