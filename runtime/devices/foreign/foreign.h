/* foreign.h - kernels that somebody else wrote, to be judged: a variant for each that a file has, which no dispatch
 * knows of. */
#ifndef FOREIGN_H
#define FOREIGN_H

#include "library/dispatch.h"

enum { FOREIGN_PATH = 1024, FOREIGN_MOST = 256 /* variants */ };

typedef struct foreign {
  lathe_backend backend; /* whose devices run it */
  lathe_variant variant;
  char name[192];
  bool python; /* a function of a Python module */
  bool on_gpu; /* which has tensors on a GPU */
  /* Absolute; of Python with a colon and the function, as with_foreign.py takes them. */
  char path[FOREIGN_PATH];
  struct description *description; /* of device code: what is launched; else null */
  unsigned char *code;             /* and its file, where the description names none */
  size_t code_size;
  const char *given; /* as the command line has it */
  char state[160];   /* what it may keep from call to call; empty for nothing that is known */
} foreign;

/* Makes the variants of a comma list of files, for ops as an option names them, or null. trust: what is thought of
 * their code: "some", or "none" where it is to be shut in. on_gpu: functions of Python have tensors there. Ends the
 * program with a message where a file is none that can be judged. To be called before the process is forked in which
 * they are run. */
void foreign_make(const char *list, const char *ops, const char *trust, bool on_gpu);

size_t foreign_count(void);
const foreign *foreign_at(size_t index);

/* Null for a variant, or a backend, that is none of these. */
const foreign *foreign_of(const lathe_variant *variant);
const foreign *foreign_of_backend(const lathe_backend *backend);

/* Ends the program with a message where no variant of a file is of an op and type that is_wanted says; op, dtype: one
 * that is. */
void foreign_check(bool (*is_wanted)(const void *context, const lathe_op *op, lathe_dtype dtype),
                   const void *context, const lathe_op *op, lathe_dtype dtype);

/* The path of a file that a description names. */
void foreign_beside(const foreign *f, const char *name, char path[FOREIGN_PATH]);

const char *foreign_trust_word(void);

#endif
