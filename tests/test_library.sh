#!/bin/sh
# test_library.sh - what a user's own program links takes no name that is not its own, prints nothing and ends no
# program. Needs LATHE_SRC and LATHE_BENCH, in the folder of the build.

. "$LATHE_SRC/tests/check.sh"

objects=$(dirname "$LATHE_BENCH")/obj/runtime/library

# strangers FOLDER: the names that its objects define and that do not begin with lathe_.
strangers() { nm -A -g --defined-only "$1"/*.o | awk 'NF == 3 && $3 !~ /^lathe_/ { print $1, $3 }'; }

# ends FOLDER: what its objects call that prints or ends the program.
ends() {
  nm -A -u "$1"/*.o | grep -E ' U (v?f?printf|__v?f?printf_chk|puts|fputs|putchar|fputc|putc|perror|fwrite|write|stdout|stderr|_?exit|_Exit|abort|__assert_fail|syslog)(@.*)?$'
}

nothing() { # nothing COMMAND...: it prints nothing
  "$@" >"$tmp/found"
  cat "$tmp/found"
  [ ! -s "$tmp/found" ]
}

is 'is there' test -s "$objects/select.o"
is 'names begin with lathe_' nothing strangers "$objects"
is 'prints nothing and does not end the program' nothing ends "$objects"

# What is written at the head of lathe.h is a program, and takes no other header.
{
  echo '#include "lathe.h"'
  echo 'void call(float *x, float *y, float *out, size_t n);'
  echo 'void call(float *x, float *y, float *out, size_t n) {'
  sed -n 's/^ \*   //p' "$LATHE_SRC/runtime/library/lathe.h"
  echo '}'
} >"$tmp/user.c"
is 'the example in lathe.h compiles' cc -std=c11 -Wall -Wextra -Werror -I"$LATHE_SRC/runtime/library" -fsyntax-only "$tmp/user.c"

# The faults that this is to find.
mkdir "$tmp/faulty"
cat >"$tmp/faulty/faulty.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
void stranger(int status) { fprintf(stderr, "status %d\n", status); exit(status); }
C
is 'compiles' cc -O1 -c "$tmp/faulty/faulty.c" -o "$tmp/faulty/faulty.o"
is 'finds a name' test "$(strangers "$tmp/faulty" | wc -l)" -eq 1
is 'finds a print and an exit' test "$(ends "$tmp/faulty" | wc -l)" -eq 3

summary
