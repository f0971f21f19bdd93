/* object.h - a library whose functions are those that `lathe-gen export` declares, called as kernels are. */
#ifndef FOREIGN_OBJECT_H
#define FOREIGN_OBJECT_H

#include "library/dispatch.h"

enum { OBJECT_NAME = 128, OBJECT_PROTOTYPE = 1024 };

/* The name that the function of an op and type has, and its declaration. */
void object_symbol(const lathe_op *op, lathe_dtype dtype, char name[OBJECT_NAME]);
void object_prototype(const lathe_op *op, lathe_dtype dtype, char text[OBJECT_PROTOTYPE]);

/* Opens the library in this process; false with the reason in why (static). */
bool object_open(const char *path, const char **why);

/* From here on object_run calls the function of an op and type; false with the reason in why (static). */
bool object_choose(const lathe_op *op, lathe_dtype dtype, const char **why);
lathe_fn object_run;

/* Bytes of workspace where its library has a function that says so, by the symbol's name and _workspace; else null. */
lathe_cost *object_workspace(void);

/* The status of the first call that has failed since the last asking; 0: none has. */
int object_status(void);

/* Whether what the library has of memory to write is as it was after its first call; else where it is not (static). */
bool object_is_same(const char **where);

#endif
