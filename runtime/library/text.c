/* text.c - what is said of a call: statuses, and lines of a plan's. */
#include "plan.h"

const char *lathe_text(int status) {
  switch (status) {
  case LATHE_OK: return "done";
  case LATHE_NO_OP: return "the library has no op of this name; plan.why has it";
  case LATHE_NO_TYPE:
    return "the op is not built in this type for this device; plan.why says in which it is";
  case LATHE_NO_VARIANT:
    return "no variant that was asked for runs on this device; plan.why says what it lacks";
  case LATHE_SHAPE:
    return "no memory has this size, or no kernel is for it; plan.why names the op's dimensions";
  case LATHE_OPTIONS:
    return "lathe_options is not of this library's version; set its size to sizeof(lathe_options)";
  case LATHE_NULL: return "a pointer that may not be null is; lathe_check names the operand";
  case LATHE_ALIGNMENT: return "an operand lies between elements of its type; lathe_check names it";
  case LATHE_OVERLAP: return "an output shares memory with another operand; lathe_check names both";
  case LATHE_WORKSPACE:
    return "the workspace is null, or at no multiple of 64; lend a call plan.workspace bytes";
  case LATHE_DRIVER: return "the device's driver is not there, or lacks what kernels need";
  case LATHE_MEMORY: return "the host's memory does not suffice";
  case LATHE_STRIDE: return "no kernel takes rows that lie so; plan.why names the operand";
  default: return status < 0 ? "the device's driver returned this error" : "no status of lathe.h's";
  }
}

lathe_line lathe_begin_line(char why[160]) {
  lathe_line line = {why, why ? why + 159 : NULL};

  if (why)
    why[0] = '\0';
  return line;
}

void lathe_say(lathe_line *line, const char *text) {
  if (!line->at)
    return;
  while (*text && line->at < line->end)
    *line->at++ = *text++;
  *line->at = '\0';
}

void lathe_say_number(lathe_line *line, uint64_t number) {
  char digits[24], *at = digits + sizeof digits - 1;

  *at = '\0';
  do
    *--at = (char)('0' + number % 10);
  while (number /= 10);
  lathe_say(line, at);
}
