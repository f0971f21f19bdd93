/* $name$_test.c - checks what is in $name$.c: a main program, to be compiled and linked with it and -lm$(device and " -ldl" or "").
 *
 * Results for inputs drawn from a seed (the first argument) are held against a reference in higher precision, at many
 * sizes: empty ones, single elements, ends of vectors and of blocks. A result is right where it is off by no more than
 * $name$.h allows. Exit status: 0 if all are right, 1 if one is wrong, 2 if nothing could be checked.
 *
 * $made$ Make it again with:
 *   $command$
 * SPDX-License-Identifier: 0BSD */
//@ for _, include in ipairs(system) do
#include <$include$>
//@ end

#include "$name$.h"

#ifdef __FAST_MATH__
#error "$name$_test.c: compile it without -ffast-math"
#endif
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif

$common$
/* ---- the op, by steps over its axes, with the C library's functions ---- */

//@ for _, type in ipairs(references) do
static lathe_fn $op.name$_reference_$type$;
//@ end

$reference$
/* ---- what is checked ---- */

enum { DIMS = $(#op.dims), OPERANDS = $(#op.operands), SCALARS = $(#op.scalars) };

static const char *const dim_name[DIMS + 1] = {$axes$};
static const double scalar[SCALARS + 1] = {$scalars$};

/* An operand: its type, or that of the function, or the one that it computes in; its axes; what its elements are:
 * numbers between low and high, or places along an axis (1 + index); and whether they are places of results of
 * rounding. */
typedef struct operand {
  const char *name;
  lathe_dtype type;
  bool output;
  int ndim, dim[LATHE_MAX_DIMS];
  double low, high;
  int index;
  bool rounded;
} operand;

static const operand operands[OPERANDS] = {
  //@ for _, o in ipairs(rows) do
  {"$o.name$", $o.type$, $(tostring(o.output)), $o.ndim$, {$o.dims$}, $o.low$, $o.high$, $o.index$, $(tostring(o.rounded))},
  //@ end
};

/* Numbers are m * 2^(e - digits + 1) with |m| < 2^digits and e >= emin; none is larger than high. */
typedef struct format {
  size_t size;
  int digits, emin;
  double low, high;
  lathe_dtype computed; /* the type computed in */
} format;

static format format_of(lathe_dtype type) {
  switch (type) {
  //@ for _, type in ipairs(used) do
  case LATHE_$type.NAME$: {
    const format f = {$type.bytes$, $type.digits$, $type.emin$, $type.low$, $type.high$, LATHE_$type.COMPUTED$};
    return f;
  }
  //@ end
  default: abort();
  }
}

static double number_of(lathe_dtype type, const void *data, size_t i) {
  switch (type) {
  //@ for _, type in ipairs(used) do
  case LATHE_$type.NAME$: return $(type.read:format("((const " .. type.c .. " *)data)[i]"));
  //@ end
  default: abort();
  }
}

static void set_number(lathe_dtype type, void *data, size_t i, double value) {
  switch (type) {
  //@ for _, type in ipairs(used) do
  case LATHE_$type.NAME$: ((($type.c$ *)data)[i]) = $(type.write:format("value")); break;
  //@ end
  default: abort();
  }
}

//@ if device then
$device$
//@ end
/* A function of $name$.h, and what it is held against. */
typedef struct subject {
  const char *name;
  lathe_dtype type;
  double bound; /* units in the last place */
  lathe_fn *reference;
  bool wide; /* the reference's numbers are long double, else double */
  int narrowed; /* digits to which what is between two products is rounded; 0: it is not */
  int (*call)(void *const *buf, const size_t *dim, void *workspace);
  size_t (*workspace)(const size_t *dim);
  const char *(*variant)(const size_t *dim);
} subject;

//@ for _, t in ipairs(types) do
static int call_$t.dtype$(void *const *buf, const size_t *dim, void *workspace) {
  //@ if not t.workspace then
  (void)workspace;
  //@ end
  (void)dim;
  return $t.called$($t.call$);
}

//@ if t.workspace then
static size_t workspace_$t.dtype$(const size_t *dim) {
  (void)dim;
  return $t.name$_workspace($t.device_handle$$t.call_extents$);
}

//@ end
static const char *variant_$t.dtype$(const size_t *dim) {
  (void)dim;
  return $t.name$_variant($t.device_handle$$t.call_extents$);
}

//@ end
static const subject subjects[] = {
  //@ for _, t in ipairs(types) do
  {"$t.name$", LATHE_$(t.dtype:upper()), $t.bound$, $op.name$_reference_$t.reference$, $(tostring(t.reference == "wide")), $t.narrowed$, call_$t.dtype$, $(t.workspace and "workspace_" .. t.dtype or "NULL"), variant_$t.dtype$},
  //@ end
};

/* ---- a call and its reference ---- */

enum { GUARD = 64 }; /* bytes before and after a buffer that nothing may write */
//@ if device then
enum { SHIFTS = 4 }; /* elements by fewer than which a buffer begins later, all alike or each by some */
//@ end

typedef struct problem {
  const subject *s;
  size_t dim[DIMS + 1], elements[OPERANDS];
  unsigned char *memory[OPERANDS];
  size_t before[OPERANDS]; /* bytes of it before a buffer */
  void *buf[OPERANDS];
  void *number[OPERANDS];                     /* as the reference has them: inputs, and what is expected of outputs */
  void *magnitude[OPERANDS];                  /* that outputs are off in units of; of the terms at indexes */
  void *asked[OPERANDS], *term[OPERANDS];     /* indexes, and the terms there */
} problem;

static uint64_t state;

static double drawn(void) { /* from 0 to below 1: splitmix64 */
  uint64_t x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static void *room(size_t size) {
  void *memory = calloc(size + 1, 1);
  if (!memory) {
    fprintf(stderr, "$name$_test: out of memory\n");
    exit(2);
  }
  return memory;
}

static lathe_dtype type_of(const problem *p, int o) {
  return operands[o].type == LATHE_VARIANT_DTYPE    ? p->s->type
         : operands[o].type == LATHE_COMPUTED_DTYPE ? format_of(p->s->type).computed
                                                    : operands[o].type;
}

static size_t bytes_of(const problem *p, int o) {
  return p->elements[o] * format_of(type_of(p, o)).size;
}

static long double at(const problem *p, const void *numbers, size_t i) {
  return p->s->wide ? ((const long double *)numbers)[i] : (long double)((const double *)numbers)[i];
}

/* What the reference reads inputs by. */
static void read_numbers(const reference_part *part, int buffer, size_t first, size_t stride, size_t count, void *to) {
  const size_t size = part->type[buffer] == LATHE_F64 ? sizeof(double) : sizeof(long double);
  for (size_t i = 0; i < count; i++)
    memcpy((char *)to + i * size, (const char *)part->args.buf[buffer] + (first + i * stride) * size, size);
}

static void make(problem *p) {
  //@ if device then
  const int alike = (int)(drawn() * 3);
  //@ end
  const size_t number = p->s->wide ? sizeof(long double) : sizeof(double);
  for (int o = 0; o < OPERANDS; o++) {
    const operand *operand = &operands[o];
    const format f = format_of(type_of(p, o));
    size_t count = 1;
    for (int d = 0; d < operand->ndim; d++)
      count *= p->dim[operand->dim[d]];
    p->elements[o] = count;
    p->before[o] = GUARD;
    //@ if device then
    p->before[o] += f.size * (alike < 2 ? (size_t)alike : (size_t)(drawn() * SHIFTS));
    //@ if op.in_place then
    if (operand->output) /* as it lies when it is the first input */
      p->before[o] = p->before[0];
    //@ end
    //@ end
    p->memory[o] = (unsigned char *)room(p->before[o] + count * f.size + GUARD);
    memset(p->memory[o], 0xa5, p->before[o] + count * f.size + GUARD);
    p->buf[o] = p->memory[o] + p->before[o];
    p->number[o] = room(count * number);
    p->magnitude[o] = room(count * number);
    p->asked[o] = room(count * f.size);
    p->term[o] = room(count * number);
    for (size_t i = 0; i < count && !operand->output; i++) {
      const double places = operand->index ? (double)p->dim[operand->index - 1] : 0;
      const double value = operand->index ? floor(drawn() * places) : operand->low + drawn() * (operand->high - operand->low);
      set_number(type_of(p, o), p->buf[o], i, value);
      if (f.digits == 0)
        continue;
      if (p->s->wide)
        ((long double *)p->number[o])[i] = number_of(type_of(p, o), p->buf[o], i);
      else
        ((double *)p->number[o])[i] = number_of(type_of(p, o), p->buf[o], i);
    }
  }
}

static void release(problem *p) {
  for (int o = 0; o < OPERANDS; o++) {
    free(p->memory[o]);
    free(p->number[o]);
    free(p->magnitude[o]);
    free(p->asked[o]);
    free(p->term[o]);
  }
}

/* All phases of the reference, one after the other. */
static void solve(problem *p) {
  const int digits = format_of(format_of(p->s->type).computed).digits;
  const lathe_dtype of_numbers = p->s->wide ? LATHE_DTYPES : LATHE_F64;
  reference_shape shape;
  reference_part part;
  int count = 0, phases;

  memset(&part, 0, sizeof part);
  memcpy(part.args.dim, p->dim, DIMS * sizeof *p->dim);
  for (int i = 0; i < SCALARS; i++)
    part.args.scalar[i] = (float)scalar[i];
  for (int o = 0; o < OPERANDS; o++) {
    const bool is_plain = format_of(type_of(p, o)).digits == 0 && !operands[o].output;
    part.type[count] = of_numbers;
    part.args.buf[count++] = is_plain ? p->buf[o] : p->number[o];
  }
  for (int o = 0; o < OPERANDS; o++) {
    if (operands[o].rounded) {
      part.args.buf[count++] = p->asked[o];
      part.args.buf[count++] = p->term[o];
    }
    if (operands[o].output && (operands[o].rounded || format_of(type_of(p, o)).digits > 0))
      part.args.buf[count++] = p->magnitude[o];
  }
  part.read = read_numbers;
  part.narrow = format_of(p->s->type).computed != p->s->type;
  part.unit = ldexp(1, 1 - digits);
  if (p->s->narrowed > 0) {
    const format stored = format_of(p->s->type), computed = format_of(stored.computed);
    part.narrowed = ldexp(0.5, digits - p->s->narrowed);
    part.vanishing = fmax(ldexp(0.5, stored.emin - stored.digits + 1), ldexp(1, computed.emin));
    part.bursting = stored.high + ldexp(stored.high, -stored.digits - 1);
  }
  memset(&shape, 0, sizeof shape);
  part.shape = &shape;
  p->s->reference(&part.args);
  phases = shape.phases;
  part.state = room(shape.states * (p->s->wide ? sizeof(long double) : sizeof(double)));
  for (part.phase = 0; part.phase < phases; part.phase++) {
    part.shape = &shape;
    p->s->reference(&part.args);
    part.shape = NULL;
    part.first = 0;
    part.count = shape.points;
    p->s->reference(&part.args);
  }
  free(part.state);
}

/* ---- is it right ---- */

/* From one number of a format to the next at a value. */
static double spacing(const format *f, long double value) {
  const double least = ldexp(1, f->emin), size = value > DBL_MAX ? DBL_MAX : fabs((double)value);
  int exponent;
  frexp(size > least ? size : least, &exponent);
  return ldexp(1, exponent - f->digits);
}

/* How far a result is off, as a share of what is allowed: at most 1 where it is right. */
static double error_of(const problem *p, int o, double got, long double expected, long double magnitude) {
  const format stored = format_of(type_of(p, o)), computed = format_of(stored.computed);
  const bool is_narrow = stored.digits != computed.digits, is_whole = stored.emin == stored.digits - 1;
  long double allowed;
  if (!(magnitude <= DBL_MAX)) /* rounding may do anything here */
    return 0;
  if (isnan(expected) && is_whole)
    return got == 0 ? 0 : INFINITY;
  if (isnan(expected) || isnan(got))
    return isnan(expected) && isnan(got) ? 0 : INFINITY;
  magnitude = fabsl(expected) > magnitude ? fabsl(expected) : magnitude;
  allowed = p->s->bound * (long double)spacing(&computed, magnitude);
  if (is_narrow)
    allowed += 0.5L * spacing(&stored, fabsl(expected) < stored.high ? expected : stored.high);
  if (is_whole) {
    expected = expected < stored.low ? stored.low : expected > stored.high ? stored.high : expected;
  } else if (isinf(got) && expected * got > 0) {
    return fabsl(expected) + allowed >= stored.high ? 0 : INFINITY;
  } else if (isinf(expected)) {
    return INFINITY;
  }
  return got == expected ? 0 : allowed > 0 ? (double)(fabsl(got - expected) / allowed) : INFINITY;
}

static const char *where(const problem *p, int o, size_t i) {
  static char text[400];
  size_t length = (size_t)snprintf(text, sizeof text, "%s[%zu] at", operands[o].name, i);
  for (int d = 0; d < DIMS; d++)
    length += (size_t)snprintf(text + length, sizeof text - length, " %s = %zu", dim_name[d], p->dim[d]);
  return text;
}

/* Prints the first result of a call that is wrong, and returns how many are. */
static size_t judge(problem *p, double *worst) {
  size_t wrong = 0;
  for (int o = 0; o < OPERANDS; o++) {
    const lathe_dtype type = type_of(p, o);
    const size_t bytes = bytes_of(p, o);
    for (size_t i = 0; i < GUARD; i++)
      if ((p->memory[o][i] != 0xa5 || p->memory[o][p->before[o] + bytes + i] != 0xa5) && wrong++ == 0)
        printf("%-24s WRONG  %s: memory beside it was written\n", p->s->name, where(p, o, 0));
    for (size_t i = 0; i < p->elements[o] && operands[o].output; i++) {
      const double got = number_of(type, p->buf[o], i);
      double error;
      if (format_of(type).digits > 0) {
        const long double expected = at(p, p->number[o], i);
        error = error_of(p, o, got, expected, at(p, p->magnitude[o], i));
        if (error > 1 && wrong++ == 0)
          printf("%-24s WRONG  %s: got %.17g, expected %.17Lg, off by %.3g times what is allowed\n", p->s->name,
                 where(p, o, i), got, expected, error);
      } else {
        const int64_t index = ((const int64_t *)p->buf[o])[i], best = ((const int64_t *)p->number[o])[i];
        error = index == best ? 0 : INFINITY;
        if (error > 0 && operands[o].rounded) { /* another is right where its term is as good */
          const long double term = at(p, p->term[o], i);
          long double size = at(p, p->magnitude[o], i);
          const format f = format_of(format_of(p->s->type).computed);
          memcpy(p->asked[o], p->buf[o], bytes);
          solve(p);
          size = at(p, p->magnitude[o], i) > size ? at(p, p->magnitude[o], i) : size;
          size = fabsl(term) > size ? fabsl(term) : size;
          error = (double)(fabsl(term - at(p, p->term[o], i)) /
                           (2 * (p->s->bound > 0.5 ? p->s->bound : 0.5L) * spacing(&f, size)));
          error = isnan(error) ? INFINITY : error;
          memcpy(p->asked[o], p->number[o], bytes);
          solve(p);
        }
        if (error > 1 && wrong++ == 0)
          printf("%-24s WRONG  %s: got %lld, expected %lld\n", p->s->name, where(p, o, i), (long long)index,
                 (long long)best);
      }
      *worst = error > *worst ? error : *worst;
    }
  }
  return wrong;
}

/* A call of these buffers, with memory and a workspace $(device and "on the device" or "of its own"). */
static int run(const problem *p, void *const *buf) {
  const size_t size = p->s->workspace ? p->s->workspace(p->dim) : 0;
  //@ if device then
  void *memory[OPERANDS], *on_device[OPERANDS], *workspace = device_room(size);
  int status;
  for (int o = 0; o < OPERANDS; o++) {
    memory[o] = device_room(p->before[o] + bytes_of(p, o) + GUARD);
    device_send(memory[o], p->memory[o], p->before[o] + bytes_of(p, o) + GUARD);
  }
  for (int o = 0; o < OPERANDS; o++)
    for (int other = 0; other < OPERANDS; other++)
      if (buf[o] == p->buf[other])
        on_device[o] = (char *)memory[other] + p->before[other];
  device_begin();
  status = p->s->call(on_device, p->dim, workspace);
  device_finish();
  for (int o = 0; o < OPERANDS; o++) {
    device_fetch(p->memory[o], memory[o], p->before[o] + bytes_of(p, o) + GUARD);
    device_release(memory[o]);
  }
  device_release(workspace);
  //@ else
  char *memory = (char *)room(size + 64);
  const int status = p->s->call(buf, p->dim, memory + (64 - (uintptr_t)memory % 64) % 64);
  free(memory);
  //@ end
  return status;
}

/* Another call with the first output in the first input's place gives the same bits. */
static size_t judge_in_place(problem *p) {
  void *buf[OPERANDS];
  int first = 0;
  size_t bytes, wrong;
  while (!operands[first].output)
    first++;
  bytes = bytes_of(p, first);
  memcpy(buf, p->buf, sizeof buf);
  buf[first] = p->buf[0];
  wrong = run(p, buf) != $UPPER$_OK || memcmp(p->buf[0], p->buf[first], bytes) != 0;
  if (wrong)
    printf("%-24s WRONG  %s: in place it is another\n", p->s->name, where(p, first, 0));
  return wrong;
}

static size_t check(const subject *s, const size_t *dim, double *worst, size_t *results) {
  problem p;
  size_t wrong = 0;
  int status;

  memset(&p, 0, sizeof p);
  p.s = s;
  memcpy(p.dim, dim, DIMS * sizeof *dim);
  make(&p);
  status = run(&p, p.buf);
  if (status != $UPPER$_OK) {
    printf("%-24s WRONG  %s: %s\n", s->name, where(&p, 0, 0), $name$_status(status));
    wrong = 1;
  } else {
    solve(&p);
    for (int o = 0; o < OPERANDS; o++)
      if (operands[o].rounded) {
        memcpy(p.asked[o], p.number[o], p.elements[o] * sizeof(int64_t));
        solve(&p);
      }
    wrong = judge(&p, worst);
    if ($(tostring(op.in_place)) && wrong == 0)
      wrong = judge_in_place(&p);
  }
  for (int o = 0; o < OPERANDS; o++)
    *results += operands[o].output ? p.elements[o] : 0;
  release(&p);
  return wrong;
}

/* ---- sizes ---- */

enum { SINGLE = 1 + 2 * DIMS, SIZES = SINGLE + 40, POINTS = 1 << 15 };

/* The nth size: of single elements; with an axis that is empty, or long; and others, of as many points as POINTS. */
static void size_of(int nth, size_t *dim) {
  static const size_t choices[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 130, 257};
  double points = 1;
  for (int d = 0; d < DIMS; d++) {
    const size_t drawn_of = choices[(size_t)(drawn() * (double)(sizeof choices / sizeof *choices))];
    dim[d] = nth == 0 ? 1 : nth < SINGLE ? 2 + (size_t)d % 2 : drawn_of;
    if (nth > 0 && nth < SINGLE && (nth - 1) / 2 == d)
      dim[d] = nth % 2 ? 0 : 5003;
    points *= (double)dim[d];
  }
  while (nth >= SINGLE && points > POINTS)
    for (int d = 0; d < DIMS; d++)
      if (dim[d] > 3 && points > POINTS) {
        points = points / (double)dim[d] * (double)((dim[d] + 1) / 2);
        dim[d] = (dim[d] + 1) / 2;
      }
}

int main(int argc, char **argv) {
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  size_t all_wrong = 0;
  //@ if device then
  const char *none = device_open();
  if (none) {
    fprintf(stderr, "$name$_test: nothing could be checked: %s\n", none);
    return 2;
  }
  //@ end
  for (size_t s = 0; s < sizeof subjects / sizeof *subjects; s++) {
    size_t dim[DIMS + 1] = {0}, wrong = 0, results = 0;
    double worst = 0;
    state = seed;
    for (int nth = 0; nth < SIZES; nth++) {
      size_of(nth, dim);
      wrong += check(&subjects[s], dim, &worst, &results);
    }
    printf("%-24s %s  %zu results at %d sizes, %zu wrong; at worst %.2f of what is allowed; %s\n", subjects[s].name,
           wrong ? "WRONG" : "right", results, (int)SIZES, wrong, worst, subjects[s].variant(dim));
    all_wrong += wrong;
  }
  if (all_wrong)
    printf("again with: %s %llu\n", argv[0], (unsigned long long)seed);
  return all_wrong > 0;
}
