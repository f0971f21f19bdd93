/* $name$.h - $doc$
 *
 //@ for _, line in ipairs(operands) do
 * $line$
 //@ end
 *
 //@ for _, line in ipairs(rules) do
 * $line$
 //@ end
 *
 //@ for _, line in ipairs(calls) do
 * $line$
 //@ end
 *
 * $made$ Make it again with:
 *   $command$
 * SPDX-License-Identifier: 0BSD (use it, change it and pass it on without conditions or notice; there is no warranty) */
#ifndef $UPPER$_H
#define $UPPER$_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. What is below 0 is an error of the driver's, less its sign (CUresult). */
enum {
  $UPPER$_OK,
  $UPPER$_NULL,      /* an operand that has elements is null */
  $UPPER$_SIZE,      /* no memory has such a size, or no kernel is for it */
  $UPPER$_WORKSPACE, /* the workspace is null, or its address no multiple of 64 */
  $UPPER$_DRIVER,    /* there is no libcuda.so.1, or an older one than CUDA 11.8's */
  $UPPER$_CONTEXT,   /* the thread has no context, or more were used than there is room for */
  $UPPER$_DEVICE,    /* no kernel of the file runs on this device */
};

/* The same in words. */
const char *$name$_status(int status);

/* Loads all code for the context that is current, as the first call would: ahead of a capture, or of what is timed. */
int $name$_load(void);
//@ for _, t in ipairs(types) do

//@ if t.note then
/* $t.note$ */
//@ end
$t.prototype$;
//@ if t.workspace then
size_t $t.name$_workspace($t.extents$);
//@ end
const char *$t.name$_variant($t.extents$);
//@ end

#ifdef __cplusplus
}
#endif

#endif
