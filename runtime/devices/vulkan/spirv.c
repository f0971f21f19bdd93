/* spirv.c - takes one kernel out of a module of several. */
#include "spirv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  OP_UNDEF = 1,
  OP_NAME = 5,
  OP_MEMBER_NAME = 6,
  OP_EXTENSION = 10,
  OP_EXT_INST_IMPORT = 11,
  OP_EXT_INST = 12,
  OP_MEMORY_MODEL = 14,
  OP_TYPE_VOID = 19, /* the first type, */
  OP_TYPE_INT = 21,
  OP_TYPE_VECTOR = 23,
  OP_TYPE_POINTER = 32,
  OP_TYPE_PIPE = 38, /* and the last */
  OP_TYPE_FORWARD_POINTER = 39,
  OP_CONSTANT_TRUE = 41, /* the first constant, */
  OP_CONSTANT = 43,
  OP_SPEC_CONSTANT = 50,
  OP_SPEC_CONSTANT_OP = 52, /* and the last */
  OP_FUNCTION = 54,
  OP_FUNCTION_END = 56,
  OP_FUNCTION_CALL = 57,
  OP_VARIABLE = 59,
  OP_LOAD = 61,
  OP_STORE = 62,
  OP_DECORATE = 71,
  OP_MEMBER_DECORATE = 72,
  OP_VECTOR_SHUFFLE = 79,
  OP_COMPOSITE_EXTRACT = 81,
  OP_COMPOSITE_INSERT = 82,
  OP_LOOP_MERGE = 246,
  OP_SELECTION_MERGE = 247,
  OP_BRANCH_CONDITIONAL = 250,
  OP_SWITCH = 251,
  OP_DECORATE_ID = 332,
  OP_PER_ELEMENT = 5369, /* of a matrix: calls a function */
  DECORATION_BUILT_IN = 11,
  BUILT_IN_WORKGROUP_SIZE = 25,
};

typedef struct module {
  const uint32_t *words;
  size_t count, body; /* where the first function begins */
  uint32_t bound;     /* above all ids */
  uint32_t entry;
  size_t call;    /* that of the entry point that is kept */
  bool *used;     /* of each id */
  size_t *begins; /* of each id that is a function: where it begins, */
  bool *reached;  /* and whether the kept call leads there */
} module;

/* Operands that are literals are not taken for ids: of these operations only the first words are ids, or one word is
 * none. What is not named here has ids alone, or loses little by it: a literal that is taken for an id keeps more than
 * is needed. */
static const struct literals {
  uint32_t op, ids, none;
} literals[] = {
    {OP_EXTENSION, 0, 0},
    {OP_EXT_INST_IMPORT, 1, 0},
    {OP_EXT_INST, 0xffff, 4},
    {OP_MEMORY_MODEL, 0, 0},
    {SPIRV_ENTRY_POINT, 0, 0},
    {SPIRV_EXECUTION_MODE, 1, 0},
    {SPIRV_CAPABILITY, 0, 0},
    {OP_TYPE_INT, 1, 0},
    {SPIRV_TYPE_FLOAT, 1, 0},
    {OP_TYPE_VECTOR, 2, 0},
    {OP_TYPE_POINTER, 0xffff, 2},
    {OP_TYPE_FORWARD_POINTER, 1, 0},
    {OP_CONSTANT, 2, 0},
    {OP_SPEC_CONSTANT, 2, 0},
    {OP_SPEC_CONSTANT_OP, 0xffff, 3},
    {OP_FUNCTION, 0xffff, 3},
    {OP_VARIABLE, 0xffff, 3},
    {OP_LOAD, 3, 0},
    {OP_STORE, 2, 0},
    {OP_NAME, 1, 0},
    {OP_MEMBER_NAME, 1, 0},
    {OP_DECORATE, 1, 0},
    {OP_MEMBER_DECORATE, 1, 0},
    {OP_VECTOR_SHUFFLE, 4, 0},
    {OP_COMPOSITE_EXTRACT, 3, 0},
    {OP_COMPOSITE_INSERT, 4, 0},
    {OP_LOOP_MERGE, 2, 0},
    {OP_SELECTION_MERGE, 1, 0},
    {OP_BRANCH_CONDITIONAL, 3, 0},
    {OP_SWITCH, 2, 0},
};

static void use(module *m, size_t at) {
  const uint32_t op = spirv_op(m->words[at]), length = spirv_length(m->words[at]);
  uint32_t ids = length - 1, none = 0;

  for (size_t l = 0; l < sizeof literals / sizeof *literals; l++)
    if (literals[l].op == op) {
      ids = literals[l].ids < ids ? literals[l].ids : ids;
      none = literals[l].none;
    }
  for (uint32_t i = 1; i <= ids; i++)
    if (i != none && m->words[at + i] < m->bound)
      m->used[m->words[at + i]] = true;
}

/* Whether all instructions are whole, and have the words that are looked at below; finds the entry point and the
 * functions. */
static bool index_module(module *m) {
  size_t at = SPIRV_HEADER;

  m->body = m->count;
  for (; at < m->count; at += spirv_length(m->words[at])) {
    const uint32_t op = spirv_op(m->words[at]), length = spirv_length(m->words[at]);
    if (length == 0 || length > m->count - at || (length < 2 && at < m->body))
      return false;
    if (op == SPIRV_ENTRY_POINT) {
      if (length < 4)
        return false;
      m->entry = m->words[at + 2];
    }
    if (op == OP_FUNCTION) {
      if (length != 5 || m->words[at + 2] >= m->bound)
        return false;
      m->begins[m->words[at + 2]] = at;
      m->body = at < m->body ? at : m->body;
    }
    if (op == OP_FUNCTION_CALL && (length < 4 || m->words[at + 3] >= m->bound))
      return false;
    if (op == OP_PER_ELEMENT && (length < 5 || m->words[at + 4] >= m->bound))
      return false;
  }
  return at == m->count && m->entry < m->bound && m->begins[m->entry];
}

/* Whether an instruction of a function stays. */
static bool stays(const module *m, uint32_t function, size_t at) {
  return function != m->entry || spirv_op(m->words[at]) != OP_FUNCTION_CALL || at == m->call;
}

static size_t end_of(const module *m, size_t at) {
  while (at < m->count && spirv_op(m->words[at]) != OP_FUNCTION_END)
    at += spirv_length(m->words[at]);
  return at < m->count ? at + 1 : at;
}

/* Follows calls from the entry point; what the functions use. queue: room for all ids. */
static void reach(module *m, uint32_t *queue) {
  size_t first = 0, last = 0;

  queue[last++] = m->entry;
  m->reached[m->entry] = true;
  while (first < last) {
    const uint32_t function = queue[first++];
    const size_t end = end_of(m, m->begins[function]);
    for (size_t at = m->begins[function]; at < end; at += spirv_length(m->words[at])) {
      const uint32_t op = spirv_op(m->words[at]), callee = op == OP_FUNCTION_CALL ? m->words[at + 3]
                                                           : op == OP_PER_ELEMENT ? m->words[at + 4]
                                                                                  : m->entry;
      if (!stays(m, function, at))
        continue;
      use(m, at);
      if (m->begins[callee] && !m->reached[callee]) {
        m->reached[callee] = true;
        queue[last++] = callee;
      }
    }
  }
}

/* Whether what stands ahead of the functions is wanted, by what is known of the ids so far. */
static bool is_wanted(const module *m, size_t at) {
  const uint32_t *words = m->words + at, op = spirv_op(*words), length = spirv_length(*words);
  const bool target = op == OP_DECORATE || op == OP_MEMBER_DECORATE || op == OP_DECORATE_ID ||
                      op == OP_NAME || op == OP_MEMBER_NAME || op == OP_TYPE_FORWARD_POINTER;
  const bool type = op >= OP_TYPE_VOID && op <= OP_TYPE_PIPE;
  const bool value =
      (op >= OP_CONSTANT_TRUE && op <= OP_SPEC_CONSTANT_OP) || op == OP_VARIABLE || op == OP_UNDEF;
  const uint32_t id = target || type ? words[1] : value && length > 2 ? words[2] : m->bound;

  if (op == OP_DECORATE && length == 4 && words[2] == DECORATION_BUILT_IN &&
      words[3] == BUILT_IN_WORKGROUP_SIZE)
    return true; /* it says how large a workgroup is, whoever else uses it */
  return id >= m->bound || m->used[id];
}

/* What all that has a use uses: types and constants, by way of others. */
static void use_globals(module *m) {
  size_t before = 0, found;

  for (;;) {
    found = 0;
    for (size_t at = SPIRV_HEADER; at < m->body; at += spirv_length(m->words[at]))
      if (is_wanted(m, at)) {
        use(m, at);
        found++;
      }
    if (found == before)
      return;
    before = found;
  }
}

/* The entry point, of whose interface only the variables are left that are used. */
static size_t write_entry_point(const module *m, size_t at, uint32_t *to) {
  const uint32_t length = spirv_length(m->words[at]);
  uint32_t i = 3, written;

  while (i < length && m->words[at + i] >> 24 != 0) /* its name ends with a byte of 0 */
    i++;
  written = i < length ? i + 1 : i;
  memcpy(to, m->words + at, written * sizeof *to);
  for (i = written; i < length; i++)
    if (m->words[at + i] < m->bound && m->used[m->words[at + i]])
      to[written++] = m->words[at + i];
  to[0] = written << 16 | SPIRV_ENTRY_POINT;
  return written;
}

static size_t write_module(const module *m, uint32_t *to) {
  uint32_t function = 0;
  size_t written = SPIRV_HEADER;

  memcpy(to, m->words, SPIRV_HEADER * sizeof *to);
  for (size_t at = SPIRV_HEADER; at < m->count; at += spirv_length(m->words[at])) {
    const uint32_t op = spirv_op(m->words[at]), length = spirv_length(m->words[at]);
    if (op == OP_FUNCTION)
      function = m->words[at + 2];
    if (op == SPIRV_ENTRY_POINT) {
      written += write_entry_point(m, at, to + written);
    } else if (at < m->body ? is_wanted(m, at) : m->reached[function] && stays(m, function, at)) {
      memcpy(to + written, m->words + at, length * sizeof *to);
      written += length;
    }
  }
  return written;
}

/* Where the entry point's nth call stands; 0 where it has none. */
static size_t find_call(const module *m, uint32_t nth) {
  const size_t end = end_of(m, m->begins[m->entry]);

  for (size_t at = m->begins[m->entry]; at < end; at += spirv_length(m->words[at]))
    if (spirv_op(m->words[at]) == OP_FUNCTION_CALL && nth-- == 0)
      return at;
  return 0;
}

uint32_t *spirv_kernel(const uint32_t *words, size_t length, uint32_t nth, size_t *count) {
  module m = {.words = words, .count = length};
  uint32_t *kernel = NULL, *queue;

  if (length < SPIRV_HEADER || words[0] != SPIRV_MAGIC || words[3] == 0 ||
      words[3] > 1u << 22) /* as SPIR-V has it */
    return NULL;
  m.bound = words[3];
  m.used = calloc(m.bound, sizeof *m.used);
  m.reached = calloc(m.bound, sizeof *m.reached);
  m.begins = calloc(m.bound, sizeof *m.begins);
  queue = calloc(m.bound, sizeof *queue);
  if (m.used && m.reached && m.begins && queue && index_module(&m)) {
    m.call = find_call(&m, nth);
    kernel = m.call ? malloc(length * sizeof *kernel) : NULL;
  }
  if (kernel) {
    reach(&m, queue);
    use_globals(&m);
    *count = write_module(&m, kernel);
  }
  free(m.used);
  free(m.reached);
  free(m.begins);
  free(queue);
  return kernel;
}
