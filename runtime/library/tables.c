/* tables.c - finds an op by its name, among all that the library has, and says which there are. */
#include <string.h>

#include "plan.h"

#pragma GCC visibility push(default)
#include "lathe_ops.h"
#pragma GCC visibility pop

/* The first table of an op, by halves; where it would be if there is none. */
static size_t first_of(const char *op) {
  size_t first = 0, end = lathe_all_kernels_count;

  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (strcmp(lathe_all_kernels[middle]->op->name, op) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

lathe_status lathe_make(lathe_plan *made, const lathe_device *device, const char *op,
                        lathe_dtype type, const size_t *dim, const lathe_options *options) {
  const lathe_kind kind = device ? device->kind : LATHE_CPU;
  const size_t first = op ? first_of(op) : lathe_all_kernels_count;
  lathe_line line = lathe_begin_line(made->why);
  const char *between = " is built in ";
  size_t nth = first;

  while (nth < lathe_all_kernels_count && strcmp(lathe_all_kernels[nth]->op->name, op) == 0) {
    const lathe_kernels *table = lathe_all_kernels[nth++];
    if (table->kind == kind && table->dtype == type)
      return lathe_make_of(made, table, device, dim, options);
  }
  made->variant = made->source = NULL;
  if (nth == first) {
    lathe_say(&line, op ? "there is no op '" : "op is null; expected a name such as '");
    lathe_say(&line, op ? op : lathe_all_kernels_count ? lathe_all_kernels[0]->op->name : "add");
    lathe_say(&line,
              op ? "' in this library; include/lathe has a header for each that there is" : "'");
    return LATHE_NO_OP;
  }
  lathe_say(&line, op);
  lathe_say(&line, ": for ");
  lathe_say(&line, lathe_kind_name(kind));
  lathe_say(&line, " it");
  for (size_t t = first; t < nth; t++)
    if (lathe_all_kernels[t]->kind == kind) {
      lathe_say(&line, between);
      lathe_say(&line, lathe_dtype_name(lathe_all_kernels[t]->dtype));
      between = ", ";
    }
  lathe_say(&line, between[0] == ',' ? ", not in " : " is not built, nor in ");
  lathe_say(&line, lathe_dtype_name(type));
  return LATHE_NO_TYPE;
}

/* ---- for bindings ------------------------------------------------------------------------------ */

_Static_assert(LATHE_MAX_DIMS == 16 && LATHE_MAX_OPERANDS == 24 && LATHE_MAX_SCALARS == 8,
               "lathe_ops.h has these numbers");

/* FNV-1a of what a caller has to know. */
static void mark_number(uint32_t *mark, uint32_t number) {
  *mark = (*mark ^ number) * 16777619u;
}

static void mark_text(uint32_t *mark, const char *text) {
  do
    mark_number(mark, (unsigned char)*text);
  while (*text++);
}

static void describe(lathe_op_info *info, const lathe_op *op) {
  info->mark = 2166136261u;
  info->name = op->name;
  info->doc = op->doc;
  info->source = op->source;
  info->gradient_of = op->gradient_of ? op->gradient_of->name : NULL;
  info->axes = op->ndim;
  info->operands = op->noperands;
  info->scalars = op->nscalars;
  info->in_place = op->in_place;
  for (int d = 0; d < op->ndim; d++) {
    info->axis[d] = op->dim[d];
    mark_text(&info->mark, op->dim[d]);
  }
  for (int o = 0; o < op->noperands; o++) {
    const lathe_operand *from = &op->operands[o];
    lathe_operand_info *to = &info->operand[o];
    *to = (lathe_operand_info){from->name, from->dtype, from->output, from->index, from->ndim, {0}};
    mark_text(&info->mark, from->name);
    mark_number(&info->mark, (uint32_t)from->dtype << 16 | (uint32_t)from->index << 8 |
                                 (uint32_t)from->ndim << 1 | from->output);
    for (int d = 0; d < from->ndim; d++) {
      to->axis[d] = from->dim[d];
      mark_number(&info->mark, (uint32_t)from->dim[d]);
    }
  }
  for (int s = 0; s < op->nscalars; s++) {
    info->scalar[s] = op->scalars[s].name;
    info->scalar_value[s] = op->scalars[s].value;
    mark_text(&info->mark, op->scalars[s].name);
  }
}

lathe_status lathe_describe(lathe_op_info *info, size_t nth) {
  const size_t size = info->size;
  size_t at = 0;

  if (size != sizeof *info)
    return LATHE_OPTIONS;
  *info = (lathe_op_info){.size = size};
  for (; at < lathe_all_kernels_count; at++) {
    const char *name = lathe_all_kernels[at]->op->name;
    const bool last =
        at + 1 == lathe_all_kernels_count || strcmp(name, lathe_all_kernels[at + 1]->op->name) != 0;
    if (last && nth-- == 0)
      break;
  }
  if (at == lathe_all_kernels_count)
    return LATHE_NO_OP;
  describe(info, lathe_all_kernels[at]->op);
  unsigned *const types[] = {
      [LATHE_CPU] = &info->cpu, [LATHE_CUDA] = &info->cuda, [LATHE_VULKAN] = &info->vulkan};
  for (size_t t = first_of(info->name); t <= at; t++)
    *types[lathe_all_kernels[t]->kind] |= 1u << lathe_all_kernels[t]->dtype;
  return LATHE_OK;
}
