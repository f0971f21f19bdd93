/* spirv.c - takes one kernel out of a module of several, and asks for what a device keeps in arithmetic. */
#include "spirv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  LATHE_OP_UNDEF = 1,
  LATHE_OP_NAME = 5,
  LATHE_OP_MEMBER_NAME = 6,
  LATHE_OP_EXTENSION = 10,
  LATHE_OP_EXT_INST_IMPORT = 11,
  LATHE_OP_EXT_INST = 12,
  LATHE_OP_MEMORY_MODEL = 14,
  LATHE_OP_TYPE_VOID = 19, /* the first type, */
  LATHE_OP_TYPE_INT = 21,
  LATHE_OP_TYPE_VECTOR = 23,
  LATHE_OP_TYPE_POINTER = 32,
  LATHE_OP_TYPE_PIPE = 38, /* and the last */
  LATHE_OP_TYPE_FORWARD_POINTER = 39,
  LATHE_OP_CONSTANT_TRUE = 41, /* the first constant, */
  LATHE_OP_CONSTANT = 43,
  LATHE_OP_SPEC_CONSTANT = 50,
  LATHE_OP_SPEC_CONSTANT_OP = 52, /* and the last */
  LATHE_OP_FUNCTION = 54,
  LATHE_OP_FUNCTION_END = 56,
  LATHE_OP_FUNCTION_CALL = 57,
  LATHE_OP_VARIABLE = 59,
  LATHE_OP_LOAD = 61,
  LATHE_OP_STORE = 62,
  LATHE_OP_DECORATE = 71,
  LATHE_OP_MEMBER_DECORATE = 72,
  LATHE_OP_VECTOR_SHUFFLE = 79,
  LATHE_OP_COMPOSITE_EXTRACT = 81,
  LATHE_OP_COMPOSITE_INSERT = 82,
  LATHE_OP_LOOP_MERGE = 246,
  LATHE_OP_SELECTION_MERGE = 247,
  LATHE_OP_BRANCH_CONDITIONAL = 250,
  LATHE_OP_SWITCH = 251,
  LATHE_OP_DECORATE_ID = 332,
  LATHE_OP_PER_ELEMENT = 5369, /* of a matrix: calls a function */
  LATHE_DECORATION_BUILT_IN = 11,
  LATHE_BUILT_IN_WORKGROUP_SIZE = 25,
};

typedef struct lathe_spirv_module {
  const uint32_t *words;
  size_t count, body; /* where the first function begins */
  uint32_t bound;     /* above all ids */
  uint32_t entry;
  size_t call;    /* of the kept entry point */
  bool *used;     /* of each id */
  size_t *begins; /* of each id that is a function: where it begins, */
  bool *reached;  /* and whether the kept call leads there */
} lathe_spirv_module;

/* Operands that are lathe_spirv_literals are not taken for ids: of these operations only the first words are ids, or
 * one word is none. What is not named here has ids alone, or loses little by it: a literal that is taken for an id
 * keeps more than is needed. */
static const struct lathe_spirv_literals {
  uint32_t op, ids, none;
} lathe_spirv_literals[] = {
    {LATHE_OP_EXTENSION, 0, 0},
    {LATHE_OP_EXT_INST_IMPORT, 1, 0},
    {LATHE_OP_EXT_INST, 0xffff, 4},
    {LATHE_OP_MEMORY_MODEL, 0, 0},
    {LATHE_SPIRV_ENTRY_POINT, 0, 0},
    {LATHE_SPIRV_EXECUTION_MODE, 1, 0},
    {LATHE_SPIRV_CAPABILITY, 0, 0},
    {LATHE_OP_TYPE_INT, 1, 0},
    {LATHE_SPIRV_TYPE_FLOAT, 1, 0},
    {LATHE_OP_TYPE_VECTOR, 2, 0},
    {LATHE_OP_TYPE_POINTER, 0xffff, 2},
    {LATHE_OP_TYPE_FORWARD_POINTER, 1, 0},
    {LATHE_OP_CONSTANT, 2, 0},
    {LATHE_OP_SPEC_CONSTANT, 2, 0},
    {LATHE_OP_SPEC_CONSTANT_OP, 0xffff, 3},
    {LATHE_OP_FUNCTION, 0xffff, 3},
    {LATHE_OP_VARIABLE, 0xffff, 3},
    {LATHE_OP_LOAD, 3, 0},
    {LATHE_OP_STORE, 2, 0},
    {LATHE_OP_NAME, 1, 0},
    {LATHE_OP_MEMBER_NAME, 1, 0},
    {LATHE_OP_DECORATE, 1, 0},
    {LATHE_OP_MEMBER_DECORATE, 1, 0},
    {LATHE_OP_VECTOR_SHUFFLE, 4, 0},
    {LATHE_OP_COMPOSITE_EXTRACT, 3, 0},
    {LATHE_OP_COMPOSITE_INSERT, 4, 0},
    {LATHE_OP_LOOP_MERGE, 2, 0},
    {LATHE_OP_SELECTION_MERGE, 1, 0},
    {LATHE_OP_BRANCH_CONDITIONAL, 3, 0},
    {LATHE_OP_SWITCH, 2, 0},
};

static void use(lathe_spirv_module *m, size_t at) {
  const uint32_t op = lathe_spirv_op(m->words[at]), length = lathe_spirv_length(m->words[at]);
  uint32_t ids = length - 1, none = 0;

  for (size_t l = 0; l < sizeof lathe_spirv_literals / sizeof *lathe_spirv_literals; l++)
    if (lathe_spirv_literals[l].op == op) {
      ids = lathe_spirv_literals[l].ids < ids ? lathe_spirv_literals[l].ids : ids;
      none = lathe_spirv_literals[l].none;
    }
  for (uint32_t i = 1; i <= ids; i++)
    if (i != none && m->words[at + i] < m->bound)
      m->used[m->words[at + i]] = true;
}

/* Whether all instructions are whole, and have the words that are looked at below; finds the entry point and the
 * functions. */
static bool index_module(lathe_spirv_module *m) {
  size_t at = LATHE_SPIRV_HEADER;

  m->body = m->count;
  for (; at < m->count; at += lathe_spirv_length(m->words[at])) {
    const uint32_t op = lathe_spirv_op(m->words[at]), length = lathe_spirv_length(m->words[at]);
    if (length == 0 || length > m->count - at || (length < 2 && at < m->body))
      return false;
    if (op == LATHE_SPIRV_ENTRY_POINT) {
      if (length < 4)
        return false;
      m->entry = m->words[at + 2];
    }
    if (op == LATHE_OP_FUNCTION) {
      if (length != 5 || m->words[at + 2] >= m->bound)
        return false;
      m->begins[m->words[at + 2]] = at;
      m->body = at < m->body ? at : m->body;
    }
    if (op == LATHE_OP_FUNCTION_CALL && (length < 4 || m->words[at + 3] >= m->bound))
      return false;
    if (op == LATHE_OP_PER_ELEMENT && (length < 5 || m->words[at + 4] >= m->bound))
      return false;
  }
  return at == m->count && m->entry < m->bound && m->begins[m->entry];
}

/* Whether an instruction of a function stays. */
static bool stays(const lathe_spirv_module *m, uint32_t function, size_t at) {
  return function != m->entry || lathe_spirv_op(m->words[at]) != LATHE_OP_FUNCTION_CALL ||
         at == m->call;
}

static size_t end_of(const lathe_spirv_module *m, size_t at) {
  while (at < m->count && lathe_spirv_op(m->words[at]) != LATHE_OP_FUNCTION_END)
    at += lathe_spirv_length(m->words[at]);
  return at < m->count ? at + 1 : at;
}

/* Follows calls from the entry point; what the functions use. queue: room for all ids. */
static void reach(lathe_spirv_module *m, uint32_t *queue) {
  size_t first = 0, last = 0;

  queue[last++] = m->entry;
  m->reached[m->entry] = true;
  while (first < last) {
    const uint32_t function = queue[first++];
    const size_t end = end_of(m, m->begins[function]);
    for (size_t at = m->begins[function]; at < end; at += lathe_spirv_length(m->words[at])) {
      const uint32_t op = lathe_spirv_op(m->words[at]),
                     callee = op == LATHE_OP_FUNCTION_CALL ? m->words[at + 3]
                              : op == LATHE_OP_PER_ELEMENT ? m->words[at + 4]
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
static bool is_wanted(const lathe_spirv_module *m, size_t at) {
  const uint32_t *words = m->words + at, op = lathe_spirv_op(*words),
                 length = lathe_spirv_length(*words);
  const bool target = op == LATHE_OP_DECORATE || op == LATHE_OP_MEMBER_DECORATE ||
                      op == LATHE_OP_DECORATE_ID || op == LATHE_OP_NAME ||
                      op == LATHE_OP_MEMBER_NAME || op == LATHE_OP_TYPE_FORWARD_POINTER;
  const bool type = op >= LATHE_OP_TYPE_VOID && op <= LATHE_OP_TYPE_PIPE;
  const bool value = (op >= LATHE_OP_CONSTANT_TRUE && op <= LATHE_OP_SPEC_CONSTANT_OP) ||
                     op == LATHE_OP_VARIABLE || op == LATHE_OP_UNDEF;
  const uint32_t id = target || type ? words[1] : value && length > 2 ? words[2] : m->bound;

  if (op == LATHE_OP_DECORATE && length == 4 && words[2] == LATHE_DECORATION_BUILT_IN &&
      words[3] == LATHE_BUILT_IN_WORKGROUP_SIZE)
    return true; /* it says how large a workgroup is, whoever else uses it */
  return id >= m->bound || m->used[id];
}

/* Marks as used the types and constants that used ones are made of, by way of others. */
static void use_globals(lathe_spirv_module *m) {
  size_t before = 0, found;

  for (;;) {
    found = 0;
    for (size_t at = LATHE_SPIRV_HEADER; at < m->body; at += lathe_spirv_length(m->words[at]))
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
static size_t write_entry_point(const lathe_spirv_module *m, size_t at, uint32_t *to) {
  const uint32_t length = lathe_spirv_length(m->words[at]);
  uint32_t i = 3, written;

  while (i < length && m->words[at + i] >> 24 != 0) /* its name ends with a byte of 0 */
    i++;
  written = i < length ? i + 1 : i;
  memcpy(to, m->words + at, written * sizeof *to);
  for (i = written; i < length; i++)
    if (m->words[at + i] < m->bound && m->used[m->words[at + i]])
      to[written++] = m->words[at + i];
  to[0] = written << 16 | LATHE_SPIRV_ENTRY_POINT;
  return written;
}

static size_t write_module(const lathe_spirv_module *m, uint32_t *to) {
  uint32_t function = 0;
  size_t written = LATHE_SPIRV_HEADER;

  memcpy(to, m->words, LATHE_SPIRV_HEADER * sizeof *to);
  for (size_t at = LATHE_SPIRV_HEADER; at < m->count; at += lathe_spirv_length(m->words[at])) {
    const uint32_t op = lathe_spirv_op(m->words[at]), length = lathe_spirv_length(m->words[at]);
    if (op == LATHE_OP_FUNCTION)
      function = m->words[at + 2];
    if (op == LATHE_SPIRV_ENTRY_POINT) {
      written += write_entry_point(m, at, to + written);
    } else if (at < m->body ? is_wanted(m, at) : m->reached[function] && stays(m, function, at)) {
      memcpy(to + written, m->words + at, length * sizeof *to);
      written += length;
    }
  }
  return written;
}

/* Where the entry point's nth call stands; 0 where it has none. */
static size_t find_call(const lathe_spirv_module *m, uint32_t nth) {
  const size_t end = end_of(m, m->begins[m->entry]);

  for (size_t at = m->begins[m->entry]; at < end; at += lathe_spirv_length(m->words[at]))
    if (lathe_spirv_op(m->words[at]) == LATHE_OP_FUNCTION_CALL && nth-- == 0)
      return at;
  return 0;
}

uint32_t *lathe_spirv_kernel(const uint32_t *words, size_t length, uint32_t nth, size_t *count) {
  lathe_spirv_module m = {.words = words, .count = length};
  uint32_t *kernel = NULL, *queue;

  if (length < LATHE_SPIRV_HEADER || words[0] != LATHE_SPIRV_MAGIC || words[3] == 0 ||
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

/* ---- what is asked of floating-point arithmetic ------------------------------------------------- */

/* From the SPIR-V specification. */
enum {
  LATHE_MODE_DENORM_PRESERVE = 4459,
  LATHE_MODE_SIGNED_ZERO_INF_NAN_PRESERVE = 4461,
  LATHE_MODE_ROUNDING_MODE_RTE = 4462,
  LATHE_CAPABILITY_ABOVE_MODE = 5, /* a mode's capability has its number and this */
  LATHE_MOST_MODES = 3 * LATHE_WIDTHS,
};

typedef struct lathe_mode {
  uint32_t number, width;
} lathe_mode;

/* Where a device's behaviour for one width binds others, those of them that the module has must all
 * have it. */
static bool can_ask(const uint32_t *offered, int width, const bool *used, int apart) {
  if (!used[width] || !offered[width])
    return false;
  for (int other = 0; other < LATHE_WIDTHS; other++) {
    const bool bound =
        apart == LATHE_APART_NONE || (apart == LATHE_APART_F32 && width != 1 && other != 1);
    if (bound && used[other] && !offered[other])
      return false;
  }
  return true;
}

/* The execution modes to add, of what the device offers, for the widths that the module uses. What costs
 * time and shows in no result is not asked for: f32 rounded right where it is rounded again (an H200's
 * divisions take five times as long then), and its numbers below the normal range in f16, where they are
 * nothing. An NVIDIA GPU keeps f16 below the normal range unasked; asked, it keeps f32 there too, at every step. */
static size_t choose_modes(const lathe_floats *floats, const bool *used, bool loose,
                           lathe_mode *modes) {
  const int none = LATHE_APART_NONE;
  size_t count = 0;

  for (int w = 0; w < LATHE_WIDTHS; w++) {
    const uint32_t width = 16u << w;
    const bool in_f16 = w == 1 && used[0];
    const bool flush = (in_f16 && floats->denormals_apart != none) || (w == 0 && floats->keeps_f16);
    const bool any = w == 1 && loose && !(in_f16 && floats->rounding_apart == none);
    if (used[w] && floats->specials[w])
      modes[count++] = (lathe_mode){LATHE_MODE_SIGNED_ZERO_INF_NAN_PRESERVE, width};
    if (!flush && can_ask(floats->denormals, w, used, floats->denormals_apart))
      modes[count++] = (lathe_mode){LATHE_MODE_DENORM_PRESERVE, width};
    if (!any && can_ask(floats->nearest, w, used, floats->rounding_apart))
      modes[count++] = (lathe_mode){LATHE_MODE_ROUNDING_MODE_RTE, width};
  }
  return count;
}

uint32_t *lathe_spirv_ask(const uint32_t *from, size_t count, bool loose,
                          const lathe_floats *floats, size_t *words) {
  uint32_t *copy = malloc((count + LATHE_MOST_MODES * 6) * sizeof *copy);
  bool used[LATHE_WIDTHS] = {false};
  lathe_mode modes[LATHE_MOST_MODES];
  size_t wanted, to = LATHE_SPIRV_HEADER;

  if (!copy)
    return NULL;
  for (size_t at = LATHE_SPIRV_HEADER; at < count; at += lathe_spirv_length(from[at]))
    if (lathe_spirv_op(from[at]) == LATHE_SPIRV_TYPE_FLOAT)
      for (int w = 0; w < LATHE_WIDTHS; w++)
        used[w] = used[w] || from[at + 2] == 16u << w;
  wanted = choose_modes(floats, used, loose, modes);
  memcpy(copy, from, LATHE_SPIRV_HEADER * sizeof *copy);
  for (size_t m = 0; m < wanted; m++) {
    bool known = false;
    for (size_t before = 0; before < m; before++)
      known = known || modes[before].number == modes[m].number;
    if (!known) {
      copy[to++] = 2u << 16 | LATHE_SPIRV_CAPABILITY;
      copy[to++] = modes[m].number + LATHE_CAPABILITY_ABOVE_MODE;
    }
  }
  for (size_t at = LATHE_SPIRV_HEADER; at < count; at += lathe_spirv_length(from[at])) {
    const size_t length = lathe_spirv_length(from[at]);
    memcpy(copy + to, from + at, length * sizeof *copy);
    to += length;
    if (lathe_spirv_op(from[at]) == LATHE_SPIRV_ENTRY_POINT)
      for (size_t m = 0; m < wanted; m++) {
        const uint32_t added[] = {4u << 16 | LATHE_SPIRV_EXECUTION_MODE, from[at + 2],
                                  modes[m].number, modes[m].width};
        memcpy(copy + to, added, sizeof added);
        to += sizeof added / sizeof *added;
      }
  }
  *words = to;
  return copy;
}
