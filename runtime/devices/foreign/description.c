/* description.c - what a call of device code launches, as a file in JSON says. */
#include "description.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/common/kind.h"
#include "library/dtype.h"

enum { LETS = 64, DEPTH = 64, TEXT = 320 };

struct description {
  json_t *root;
};

/* The names that expressions know. */
typedef struct scope {
  const lathe_op *op;
  const lathe_args *args;
  const lathe_limits *limits;
  struct {
    const char *name;
    int64_t value;
  } let[LETS];
  int lets;
  char wrong[TEXT]; /* empty for nothing */
} scope;

static const char *refusal(const char *text) {
  static char kept[TEXT];

  snprintf(kept, sizeof kept, "%s", text);
  return kept;
}

/* ---- expressions -------------------------------------------------------------------------------- */

typedef struct parser {
  scope *s;
  const char *all, *at;
  int depth;
} parser;

/* An expression of operators that bind at least so tightly, from 0 on; of one level, as in C, the left one is first. */
static int64_t parse_level(parser *p, int level);

static int64_t fail(parser *p, const char *expected) {
  if (!p->s->wrong[0])
    snprintf(p->s->wrong, sizeof p->s->wrong, "expected %s at '%.40s' of '%.120s'", expected, p->at,
             p->all);
  p->at = "";
  return 0;
}

static bool take(parser *p, const char *word) {
  const size_t length = strlen(word);

  while (isspace((unsigned char)*p->at))
    p->at++;
  if (strncmp(p->at, word, length) != 0)
    return false;
  p->at += length;
  return true;
}

static int64_t at_index(parser *p, bool address) {
  const int64_t index = parse_level(p, 0);
  const int count = address ? p->s->op->noperands : p->s->op->ndim;

  if (!take(p, "]"))
    return fail(p, "']'");
  if (index < 0 || index >= count)
    return fail(p, "an index that there is");
  return address ? (int64_t)(uintptr_t)p->s->args->buf[index] : (int64_t)p->s->args->dim[index];
}

static int64_t call(parser *p, const char *name) {
  int64_t given[3] = {0};
  int count = 0;

  do
    given[count++] = parse_level(p, 0);
  while (count < 3 && take(p, ","));
  if (!take(p, ")"))
    return fail(p, "')'");
  if (strcmp(name, "if") == 0 && count == 3)
    return given[0] ? given[1] : given[2];
  if (count == 2 && strcmp(name, "min") == 0)
    return given[0] < given[1] ? given[0] : given[1];
  if (count == 2 && strcmp(name, "max") == 0)
    return given[0] > given[1] ? given[0] : given[1];
  if (count == 2 && strcmp(name, "up") == 0)
    return given[1] ? given[0] / given[1] + (given[0] % given[1] > 0) : 0;
  return fail(p, "min, max, up or if");
}

static int64_t named(parser *p, const char *name) {
  const lathe_limits *l = p->s->limits;
  const struct {
    const char *name;
    int64_t value;
  } known[] = {{"machine", l->multiprocessors},
               {"subgroup", l->subgroup},
               {"group", l->group},
               {"grid", l->grid},
               {"shared", (int64_t)l->shared},
               {"cluster", 1},
               {"architecture", l->architecture},
               {"maps", 0},
               {"least", l->architecture == 90 ? 232448 : 101376}};

  for (int i = p->s->lets; i-- > 0;)
    if (strcmp(p->s->let[i].name, name) == 0)
      return p->s->let[i].value;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0)
      return known[i].value;
  return fail(p, "a name that is known");
}

static int64_t parse_one(parser *p) {
  char name[64];
  size_t length = 0;
  int64_t value;

  if (++p->depth > DEPTH)
    return fail(p, "an expression of fewer brackets");
  if (take(p, "(")) {
    value = parse_level(p, 0);
    value = take(p, ")") ? value : fail(p, "')'");
  } else if (isdigit((unsigned char)*p->at)) {
    char *end;
    value = strtoll(p->at, &end, 10);
    p->at = end;
  } else {
    while (length + 1 < sizeof name &&
           (isalnum((unsigned char)p->at[length]) || p->at[length] == '_'))
      length++;
    if (length == 0)
      return fail(p, "a number or a name");
    memcpy(name, p->at, length);
    name[length] = 0;
    p->at += length;
    if (take(p, "["))
      value = strcmp(name, "dim") == 0 || strcmp(name, "address") == 0 ? at_index(p, *name == 'a')
                                                                       : fail(p, "dim or address");
    else
      value = take(p, "(") ? call(p, name) : named(p, name);
  }
  p->depth--;
  return value;
}

/* What stands between two values, by how tightly it binds. Of two words that begin alike the longer is first. */
static const struct {
  int level;
  const char *word;
} operators[] = {{0, "||"}, {1, "&&"}, {2, "=="}, {3, "<="}, {3, ">="}, {3, "<"},
                 {3, ">"},  {4, "+"},  {4, "-"},  {5, "*"},  {5, "/"},  {5, "%"}};
enum { OPERATORS = sizeof operators / sizeof *operators, LEVELS = 6 };

static int64_t compute(parser *p, const char *word, int64_t a, int64_t b) {
  switch (word[0]) {
  case '|': return a || b;
  case '&': return a && b;
  case '=': return a == b;
  case '<': return word[1] ? a <= b : a < b;
  case '>': return word[1] ? a >= b : a > b;
  case '+': return (int64_t)((uint64_t)a + (uint64_t)b);
  case '-': return (int64_t)((uint64_t)a - (uint64_t)b);
  case '*': return (int64_t)((uint64_t)a * (uint64_t)b);
  }
  if (b <= 0)
    return p->s->wrong[0] ? 0 : fail(p, "no division by 0 before what is");
  return word[0] == '/' ? a / b : a % b;
}

static int64_t parse_level(parser *p, int level) {
  int64_t value;
  int i = 0;

  if (level == LEVELS)
    return parse_one(p);
  value = parse_level(p, level + 1);
  while (i < OPERATORS)
    if (operators[i].level == level && take(p, operators[i].word)) {
      value = compute(p, operators[i].word, value, parse_level(p, level + 1));
      i = 0;
    } else {
      i++;
    }
  return value;
}

/* The value of a member; of none another one. */
static int64_t value_of(scope *s, const json_t *in, int64_t otherwise) {
  const char *text = json_string_value(in);
  parser p = {.s = s, .all = text, .at = text};
  int64_t value;

  if (json_is_integer(in))
    return json_integer_value(in);
  if (!text)
    return otherwise;
  value = parse_level(&p, 0);
  while (isspace((unsigned char)*p.at))
    p.at++;
  return *p.at ? fail(&p, "its end") : value;
}

/* ---- variants ----------------------------------------------------------------------------------- */

static void add_lets(scope *s, const json_t *lets) {
  size_t i;
  json_t *one;

  json_array_foreach(lets, i, one) {
    const char *name = json_string_value(json_array_get(one, 0));
    if (!name || s->lets == LETS)
      continue;
    const int64_t value = value_of(s, json_array_get(one, 1), 0);
    s->let[s->lets].name = name;
    s->let[s->lets++].value = value;
  }
}

static const json_t *type_of(const description *d, lathe_kind kind, lathe_dtype dtype) {
  return json_object_get(json_object_get(json_object_get(d->root, "kinds"), lathe_kind_name(kind)),
                         lathe_dtype_name(dtype));
}

static bool can_run(const json_t *variant, const lathe_limits *limits) {
  const json_t *needs = json_object_get(variant, "needs");
  size_t i;
  json_t *one;
  bool can = true;

  json_array_foreach(
      needs, i, one) if (strcmp(json_string_value(one) ? json_string_value(one) : "", "SM90A") == 0)
      can = can && limits->architecture == 90;
  return can;
}

/* The variant for a call, and what its expressions know; null where there is none. */
static const json_t *variant_for(const description *d, const lathe_variant *v,
                                 const lathe_args *args, const lathe_limits *limits, scope *s) {
  const json_t *variants = json_object_get(type_of(d, v->backend->kind, v->dtype), "variants");
  const double bytes = lathe_bytes(v->op, v->dtype, args->dim);
  const json_t *first = NULL, *found = NULL;
  size_t i;
  json_t *one;

  *s = (scope){.op = v->op, .args = args, .limits = limits};
  json_array_foreach(variants, i, one) {
    const json_t *to = json_object_get(one, "to");
    if (!can_run(one, limits))
      continue;
    first = first ? first : one;
    if (!found && bytes >= json_number_value(json_object_get(one, "from")) &&
        (!to || bytes < json_number_value(to)))
      found = one;
  }
  found = found ? found : first;
  add_lets(s, json_object_get(found, "let"));
  return found;
}

/* The way that is taken; null where there is none. */
static const json_t *way_of(const json_t *variant, scope *s) {
  const int lets = s->lets;
  const json_t *ways = json_object_get(variant, "ways");
  size_t i;
  json_t *way;

  json_array_foreach(ways, i, way) {
    s->lets = lets;
    if (!value_of(s, json_object_get(way, "when"), 1))
      continue;
    if (json_is_true(json_object_get(way, "none")))
      return NULL;
    add_lets(s, json_object_get(way, "let"));
    if (value_of(s, json_object_get(way, "fits"), 1))
      return way;
  }
  return NULL;
}

static void take_three(scope *s, const json_t *in, uint32_t to[3]) {
  for (size_t i = 0; i < 3; i++)
    to[i] = (uint32_t)value_of(s, json_array_get(in, i), 1);
}

static const char *kernel_of(scope *s, const json_t *launch) {
  const json_t *kernels = json_object_get(launch, "kernels"),
               *kernel = json_object_get(launch, "kernel");
  char number[24];

  if (json_string_value(json_object_get(launch, "file")))
    return json_string_value(json_object_get(launch, "file"));
  if (!kernels)
    return json_string_value(kernel);
  snprintf(number, sizeof number, "%lld", (long long)value_of(s, kernel, 0));
  return json_string_value(json_object_get(kernels, number));
}

int description_launches(const description *d, const lathe_variant *v, const lathe_args *args,
                         const lathe_limits *limits, description_launch *to, const char **why) {
  scope s;
  const json_t *variant = variant_for(d, v, args, limits, &s);
  const json_t *way = variant ? way_of(variant, &s) : NULL;
  size_t i;
  json_t *one;
  int count = 0;

  *why = "its description has no launch for this size";
  if (json_object_get(variant, "steps"))
    *why = "its description has steps; expected ways";
  if (s.wrong[0])
    *why = refusal(s.wrong);
  if (!way)
    return -1;
  json_array_foreach(json_object_get(way, "launches"), i, one) {
    const json_t *constants = json_object_get(one, "constants");
    description_launch l = {.constants = (int)json_array_size(constants)};
    take_three(&s, json_object_get(one, "grid"), l.grid);
    take_three(&s, json_object_get(one, "block"), l.block);
    l.shared = (uint32_t)value_of(&s, json_object_get(one, "shared"), 0);
    l.kernel = kernel_of(&s, one);
    l.constants = l.constants < DESCRIPTION_CONSTANTS ? l.constants : DESCRIPTION_CONSTANTS;
    for (int c = 0; c < l.constants; c++)
      l.constant[c] = (uint32_t)value_of(&s, json_array_get(constants, (size_t)c), 0);
    if (json_object_get(one, "maps") || value_of(&s, json_object_get(one, "cluster"), 1) > 1)
      snprintf(s.wrong, sizeof s.wrong,
               "its description has clusters or maps, which are not taken");
    else if (!l.kernel && device_kind_of(v->backend->kind)->named)
      snprintf(s.wrong, sizeof s.wrong, "its description names no kernel for this size");
    if (s.wrong[0]) {
      *why = refusal(s.wrong);
      return -1;
    }
    if (l.grid[0] && l.grid[1] && l.grid[2] && count < LATHE_MAX_LAUNCHES)
      to[count++] = l;
  }
  return count;
}

double description_workspace(const description *d, const lathe_variant *v, const lathe_args *args,
                             const lathe_limits *limits, const char **why) {
  scope s;
  const json_t *variant = variant_for(d, v, args, limits, &s);
  const int64_t bytes = value_of(&s, json_object_get(variant, "workspace"), 0);

  *why = refusal(s.wrong);
  return s.wrong[0] || bytes < 0 ? -1 : (double)bytes;
}

const char *description_code(const description *d, const lathe_variant *v, const lathe_args *args,
                             const lathe_limits *limits, int nth) {
  scope s;
  const json_t *variant = variant_for(d, v, args, limits, &s);

  return json_string_value(
      json_object_get(json_array_get(json_object_get(variant, "code"), (size_t)nth), "file"));
}

/* ---- arguments ---------------------------------------------------------------------------------- */

static int index_of(const lathe_op *op, const char *name, bool dim) {
  for (int i = 0; i < (dim ? op->ndim : op->noperands); i++)
    if (strcmp(dim ? op->dim[i] : op->operands[i].name, name) == 0)
      return i;
  return -1;
}

static int scalar_of(const lathe_op *op, const char *name) {
  for (int i = 0; i < op->nscalars; i++)
    if (strcmp(op->scalars[i].name, name) == 0)
      return i;
  return -1;
}

bool description_fill(const description *d, const lathe_variant *v, const lathe_args *args,
                      description_arguments *to, const char **why) {
  static char text[TEXT];
  const json_t *arguments = json_object_get(type_of(d, v->backend->kind, v->dtype), "arguments");
  size_t i;
  json_t *field;

  memset(to, 0, sizeof *to);
  to->apart = json_is_true(json_object_get(arguments, "apart"));
  json_array_foreach(json_object_get(arguments, "fields"), i, field) {
    const char *name = json_string_value(json_object_get(field, "name"));
    const char *type = json_string_value(json_object_get(field, "type"));
    const json_int_t offset = json_integer_value(json_object_get(field, "offset"));
    const int dim = name ? index_of(v->op, name, true) : -1;
    const int operand = name ? index_of(v->op, name, false) : -1;
    const int scalar = name ? scalar_of(v->op, name) : -1;
    uint64_t word = 0;
    size_t size = sizeof word;
    if (!name || !type || offset < 0 || offset > DESCRIPTION_BYTES - (json_int_t)sizeof word ||
        to->fields == DESCRIPTION_FIELDS) {
      *why = "its description has an argument without a name, a type or an offset below 512";
      return false;
    }
    if (strcmp(name, "workspace") == 0)
      word = (uint64_t)(uintptr_t)args->workspace;
    else if (operand >= 0 && strcmp(type, "address") == 0)
      word = (uint64_t)(uintptr_t)args->buf[operand];
    else if (dim >= 0)
      word = args->dim[dim];
    else if (scalar >= 0 && strcmp(type, "f64") == 0)
      memcpy(&word, &args->scalar[scalar], sizeof word);
    else if (scalar >= 0) {
      const float number = (float)args->scalar[scalar];
      memcpy(&word, &number, size = sizeof number);
    } else {
      snprintf(text, sizeof text, "its description has an argument '%.40s', which %s has not", name,
               v->op->name);
      *why = text;
      return false;
    }
    if (strcmp(type, "u32") == 0)
      size = sizeof(uint32_t);
    memcpy(to->bytes + offset, &word, size);
    to->at[to->fields++] = (size_t)offset;
    to->size = (size_t)offset + size > to->size ? (size_t)offset + size : to->size;
  }
  if (to->fields == 0)
    *why = "its description has no arguments";
  return to->fields > 0;
}

/* ---- the file ----------------------------------------------------------------------------------- */

description *description_read(const char *path, const char **why) {
  static char text[TEXT];
  json_error_t error;
  description *d = calloc(1, sizeof *d);

  *why = "out of memory";
  if (!d)
    return NULL;
  d->root = json_load_file(path, 0, &error);
  if (d->root && json_is_object(json_object_get(d->root, "kinds")))
    return d;
  if (d->root)
    snprintf(text, sizeof text,
             "%.200s has no kinds; expected what `lathe-gen export --raw` writes", path);
  else
    snprintf(text, sizeof text, "%.200s: %.100s (line %d)", path, error.text, error.line);
  *why = text;
  json_decref(d->root);
  free(d);
  return NULL;
}

const char *description_op(const description *d) {
  return json_string_value(json_object_get(d->root, "op"));
}

bool description_has(const description *d, lathe_kind kind, lathe_dtype dtype) {
  return json_array_size(json_object_get(type_of(d, kind, dtype), "variants")) > 0;
}

const char *description_file(const description *d, lathe_kind kind, size_t nth) {
  json_t *types = json_object_get(json_object_get(d->root, "kinds"), lathe_kind_name(kind));
  const char *name;
  json_t *type, *variant, *code;
  size_t i, j, count = 0;

  json_object_foreach(types, name, type) {
    json_array_foreach(json_object_get(type, "variants"), i, variant) {
      json_array_foreach(json_object_get(variant, "code"), j, code) {
        if (count++ == nth)
          return json_string_value(json_object_get(code, "file"));
      }
    }
  }
  return NULL;
}
