/* terms.c - is the term at the index that a kernel found as good as that at the reference's? */
#include "terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ulp.h"

struct terms {
  const problem *at_reference;
  problem at_got; /* with buffers of its own for what is asked */
  int output;
};

terms *terms_make(const problem *p, int output, const void *got) {
  const size_t numbers = p->elements[output] * sizeof(long double);
  terms *t = p->asked[output] ? calloc(1, sizeof *t) : NULL;

  if (!t)
    return NULL;
  t->at_reference = p;
  t->at_got = *p;
  t->output = output;
  t->at_got.asked[output] = malloc(p->bytes[output]);
  t->at_got.term[output] = malloc(numbers);
  t->at_got.magnitude[output] = malloc(numbers);
  if (t->at_got.asked[output] && t->at_got.term[output] && t->at_got.magnitude[output]) {
    memcpy(t->at_got.asked[output], got, p->bytes[output]);
    if (problem_ask(&t->at_got))
      return t;
  }
  terms_free(t);
  return NULL;
}

void terms_free(terms *t) {
  if (!t)
    return;
  free(t->at_got.asked[t->output]);
  free(t->at_got.term[t->output]);
  free(t->at_got.magnitude[t->output]);
  free(t);
}

/* A term as a kernel has it, infinite where it is beyond the type, and what its error is measured against. */
typedef struct rounded {
  long double value;
  double magnitude;
} rounded;

static rounded term_at(const problem *p, const dtype_format *f, int output, size_t i) {
  const long double beyond = ldexpl(1, f->emax + 1);
  const long double magnitude = problem_number(p, p->magnitude[output], i);
  rounded r = {.value = problem_number(p, p->term[output], i)};

  if (fabsl(r.value) > beyond)
    r.value = copysignl(beyond, r.value);
  r.magnitude = (double)fabsl(r.value);
  if (magnitude > r.magnitude && magnitude < beyond)
    r.magnitude = (double)magnitude;
  return r;
}

double terms_error(const terms *t, size_t i) {
  const problem *p = t->at_reference;
  const dtype_format *computed = lathe_dtype_computed(p->dtype);
  const rounded best = term_at(p, computed, t->output, i);
  const rounded found = term_at(&t->at_got, computed, t->output, i);
  const double apart = (double)fabsl(best.value - found.value);
  const double in_best = ulp_of(computed, apart, best.magnitude);
  const double in_found = ulp_of(computed, apart, found.magnitude);

  if (isnan(apart))
    return INFINITY;
  return apart == 0 ? 0 : 1 / (1 / in_best + 1 / in_found);
}
