//@ -- What the headers of exported files share: how they begin, and the functions of each type.

//@ function begin(include)
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
$(include or "")

#ifdef __cplusplus
extern "C" {
#endif
//@ end

//@ -- handle: the parameter before the others, of calls on a device that was opened.
//@ function finish()
//@ for _, t in ipairs(types) do

//@ if t.note then
/* $t.note$ */
//@ end
$t.prototype$;
//@ if t.workspace then
size_t $t.name$_workspace($(t.handle or "")$t.extents$);
//@ end
const char *$t.name$_variant($(t.handle or "")$t.extents$);
//@ end

#ifdef __cplusplus
}
#endif

#endif
//@ end
