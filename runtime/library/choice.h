/* choice.h - a line of a tuning file: the variant that was measured to be the fastest of a call. tuning.h has the whole
 * file's form. */
#ifndef CHOICE_H
#define CHOICE_H

#include "dispatch.h"

enum { LATHE_TUNING_NAME = 192 };

typedef struct lathe_tuning_line {
  char op[LATHE_TUNING_NAME], dtype[16], kind[16], size[LATHE_TUNING_NAME],
      variant[LATHE_TUNING_NAME];
  double gain;
  uint32_t mark;
} lathe_tuning_line;

extern const char lathe_tuning_head[15]; /* the first line */

/* The dimensions of an op as a line has them. */
void lathe_tuning_size(const lathe_op *op, const size_t *dim, char text[LATHE_TUNING_NAME]);

/* False where a text is no line of a call. */
bool lathe_tuning_parse(const char *text, lathe_tuning_line *line);

/* A line's size as logarithms to the base 2; false where it is not an op's. */
bool lathe_tuning_logs(const lathe_op *op, const char *size, double *log);

/* How far a size is from that, infinite where a dimension is more than a factor of 4 away. */
double lathe_tuning_away(const lathe_op *op, const size_t *dim, const double *log);

#endif
