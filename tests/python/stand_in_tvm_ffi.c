/* stand_in_tvm_ffi.c - takes the errors that functions for TVM-FFI raise, in the place of libtvm_ffi.so. */
#include <stdio.h>

static char last_kind[64], last_message[512];

void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);
const char *kind(void);
const char *message(void);

void TVMFFIErrorSetRaisedFromCStr(const char *kind_of, const char *text) {
  snprintf(last_kind, sizeof last_kind, "%s", kind_of);
  snprintf(last_message, sizeof last_message, "%s", text);
}

/* The stream that all work is on. */
void *TVMFFIEnvGetStream(int device, int number);
void *TVMFFIEnvGetStream(int device, int number) {
  (void)device, (void)number;
  return NULL;
}

const char *kind(void) {
  return last_kind;
}

const char *message(void) {
  return last_message;
}
