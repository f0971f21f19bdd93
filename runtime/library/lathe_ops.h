/* lathe_ops.h - which ops the library has, for bindings to other languages. */
#ifndef LATHE_OPS_H
#define LATHE_OPS_H

#include "lathe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operand, inputs before outputs. axis: which of the op's axes it has, the outermost first. */
typedef struct lathe_operand_info {
  const char *name;
  lathe_dtype dtype; /* LATHE_VARIANT_DTYPE: the plan's; COMPUTED: the one it computes in */
  int output, index; /* index: 1 + the axis that its elements are places along; 0: none */
  int axes, axis[16];
} lathe_operand_info;

typedef struct lathe_op_info {
  size_t size; /* sizeof(lathe_op_info), set by the caller: later fields may follow */
  const char *name, *doc, *source;
  const char *gradient_of; /* the op whose gradient it is, or null */
  int axes, operands, scalars;
  int in_place; /* 1: the first output may be the first input itself */
  const char *axis[16];
  lathe_operand_info operand[24];
  const char *scalar[8];
  double scalar_value[8];     /* an example */
  unsigned cpu, cuda, vulkan; /* the types that it is built in, a bit 1 << LATHE_F32 each */
  uint32_t mark; /* of axes, operands and scalars: another where calls are to be written anew */
} lathe_op_info;

/* Fills in what the nth op by name is, from 0: LATHE_NO_OP past the last. */
lathe_status lathe_describe(lathe_op_info *info, size_t nth);

#ifdef __cplusplus
}
#endif

#endif
