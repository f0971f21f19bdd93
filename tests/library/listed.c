/* listed.c - which ops there are, as bindings are made of: each is found by its name, and made of its axes. */
#include <stdio.h>
#include <string.h>

#include <lathe_ops.h>

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

static void look_at(const lathe_op_info *op) {
  size_t dim[8];
  lathe_plan plan;
  int outputs = 0;

  for (int d = 0; d < 8; d++)
    dim[d] = 16;
  for (int type = 0; type < LATHE_DTYPES; type++) {
    const lathe_status status = lathe_make(&plan, NULL, op->name, (lathe_dtype)type, dim, NULL);
    EXPECT(status == (op->cpu >> type & 1 ? LATHE_OK : LATHE_NO_TYPE));
  }
  EXPECT(op->name[0] && op->doc[0] && op->source[0] && op->operands > 0 && op->mark != 0);
  for (int o = 0; o < op->operands; o++) {
    EXPECT(op->operand[o].name[0] && op->operand[o].axes <= op->axes);
    outputs += op->operand[o].output;
    for (int a = 0; a < op->operand[o].axes; a++)
      EXPECT(op->operand[o].axis[a] < op->axes && op->axis[op->operand[o].axis[a]][0]);
  }
  EXPECT(outputs > 0 && op->operand[op->operands - 1].output);
}

int main(void) {
  lathe_op_info op = {.size = sizeof op}, found = op, gradient = op;
  size_t count = 0;

  for (; lathe_describe(&op, count) == LATHE_OK; count++) {
    look_at(&op);
    if (!strcmp(op.name, "matmul"))
      found = op;
    if (!strcmp(op.name, "softmax_backward"))
      gradient = op;
  }
  EXPECT(count > 3 && lathe_describe(&op, (size_t)-1) == LATHE_NO_OP);
  EXPECT(found.axes == 3 && !strcmp(found.axis[2], "k") && found.operands == 3);
  EXPECT(!strcmp(found.operand[1].name, "b") && found.operand[1].axis[0] == 2);
  EXPECT(found.operand[2].output && !found.gradient_of && found.cpu >> LATHE_F32 & 1);
  EXPECT(gradient.gradient_of && !strcmp(gradient.gradient_of, "softmax"));
  EXPECT(gradient.mark != found.mark);
  op.size = 8;
  EXPECT(lathe_describe(&op, 0) == LATHE_OPTIONS);
  return failed;
}
