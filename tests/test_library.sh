#!/bin/sh
# test_library.sh - what programs that are linked with the library take of it: its names, its size for one op, what it
# calls; and calls by many threads, of every status, and at random. Needs LATHE_SRC and LATHE_BENCH, in the folder of the
# build.

. "$LATHE_SRC/tests/check.sh"

out=$(dirname "$LATHE_BENCH")
library=$LATHE_SRC/runtime/library
programs=$LATHE_SRC/tests/library

# strangers FILE...: the names that these objects define and that do not begin with lathe_.
strangers() { nm -A -g --defined-only "$@" | awk 'NF == 3 && $3 !~ /^lathe_/ { print $1, $3 }'; }

# ends FILE...: what these objects call that prints or ends the program.
ends() {
  nm -A -u "$@" | grep -E ' U (v?f?printf|__v?f?printf_chk|puts|fputs|putchar|fputc|putc|perror|fwrite|write|stdout|stderr|_?exit|_Exit|abort|__assert_fail|syslog)(@.*)?$'
}

# allocates FILE...: what these objects call for the host's memory, but for those that open devices.
allocates() {
  nm -A -u "$@" | grep -vE ':(cuda|image|vulkan|spirv|tune)[.]o:' | grep -E ' U (malloc|calloc|realloc|free|aligned_alloc)(@.*)?$'
}

nothing() { # nothing COMMAND...: it prints nothing
  "$@" >"$tmp/found"
  cat "$tmp/found"
  [ ! -s "$tmp/found" ]
}

is 'is there' test -s "$out/liblathe.a"
is 'names begin with lathe_' nothing strangers "$out/liblathe.a"
is 'prints nothing and does not end the program' nothing ends "$out/liblathe.a"
is 'allocates nothing' nothing allocates "$out/liblathe.a"
is 'lathe.h is short' test "$(wc -l <"$library/lathe.h")" -le 120
is 'lathe.h in C99' gcc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c "$library/lathe.h"

# What is written at the head of lathe.h is a program, and takes no other header.
{
  echo '#include <stdio.h>'
  echo '#include "lathe.h"'
  echo 'int call(float *x, float *y, size_t rows, size_t cols);'
  echo 'int call(float *x, float *y, size_t rows, size_t cols) {'
  sed -n 's/^ \*   //p' "$library/lathe.h"
  echo '}'
} >"$tmp/user.c"
is 'the example in lathe.h compiles' cc -std=c11 -Wall -Wextra -Werror -I"$library" -fsyntax-only "$tmp/user.c"

# The faults that this is to find.
mkdir "$tmp/faulty"
cat >"$tmp/faulty/faulty.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
static void *kept;
void stranger(int status) { fprintf(stderr, "status %d\n", status); free(kept); kept = malloc(1); exit(status); }
C
is 'compiles' cc -O1 -c "$tmp/faulty/faulty.c" -o "$tmp/faulty/faulty.o"
is 'finds a name' test "$(strangers "$tmp/faulty/faulty.o" | wc -l)" -eq 1
is 'finds a print and an exit' test "$(ends "$tmp/faulty/faulty.o" | wc -l)" -eq 3
is 'finds memory' test "$(allocates "$tmp/faulty/faulty.o" | wc -l)" -eq 2

# ---- programs ------------------------------------------------------------------------------------

if [ -n "$LATHE_SANITIZE" ]; then
  echo 'skipped: programs with the library: its objects have sanitizers of their own'
elif [ ! -e "$out/gen/softmax/lathe_softmax_f32_cpu.o" ] || [ ! -e "$out/gen/matmul/lathe_matmul_f32_cpu.o" ]; then
  echo 'skipped: programs with the library: the build has no softmax or no matmul in f32'
else
  mkdir -p "$tmp/include/lathe"
  cp "$library/lathe.h" "$library/lathe_ops.h" "$library/lathe_tune.h" "$library/lathe_vulkan.h" "$tmp/include/"
  for header in "$out"/gen/*/lathe_*.h; do
    cp "$header" "$tmp/include/lathe/${header##*/lathe_}"
  done
  cd "$tmp" || exit 1
  strict='-std=c99 -pedantic -Wall -Wextra -Werror -Iinclude'
  # shellcheck disable=SC2086
  build() { # build PROGRAM OPTION...
    program=$1
    shift
    gcc $strict -O1 "$programs/$program.c" "$@" "$out/liblathe.a" $LATHE_LIBRARIES -o "$program"
  }
  is 'builds one op' build one
  is 'calls it' ./one
  bytes() { size one | awk 'NR == 2 { print $1 + $2 }'; }
  echo "softmax in f32: $(bytes) bytes"
  is 'one op is small' test "$(bytes)" -le 100000
  nm one >names
  is 'one op alone' test -z "$(grep -E '[a-z]_(f|bf)[0-9]+' names | grep -v softmax_f32)"
  is 'no reference' test -z "$(grep -i reference names)"
  nm -u one | grep -vE ' (memcpy|memset|fnmatch|syscall|puts|__stack_chk_fail)(@|$)|_(_libc|_cxa|_gmon|ITM)_|__libc_start_main' >found
  cat found
  is 'libc alone' test ! -s found
  for header in include/*.h include/lathe/*.h; do
    is "$header in C99" gcc -std=c99 -pedantic -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c "$header"
    ! command -v g++ >/dev/null ||
      is "$header in C++" g++ -std=c++11 -pedantic -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c++ "$header"
  done
  is 'builds statuses' build statuses -std=gnu11
  is 'every status' ./statuses
  is 'builds a list of ops' build listed
  is 'lists ops' ./listed

  # Two libraries that have it in them, one process.
  for part in first second; do
    sed "s/int main(void)/int $part(void); int $part(void)/" "$programs/one.c" >"$part.c"
    is 'builds a library with it inside' gcc -std=c99 -Wall -Wextra -Werror -Iinclude -shared -fPIC "$part.c" \
      "$out/liblathe.a" -lm -o "lib$part.so"
  done
  echo 'int first(void), second(void); int main(void) { return first() || second(); }' >both.c
  is 'builds a program with both' gcc both.c -L. -lfirst -lsecond -Wl,-rpath,. -o both
  is 'calls both' ./both

  # What is not kernels, with sanitizers.
  wrapped=
  core=
  for name in apart choice cuda launch make parallel processor run select tables text tune types vulkan; do
    core="$core $library/$name.c"
  done
  # Files of the library are compiled once for each sanitizer, but for those that faults are planted in.
  compiled() { gcc -std=gnu11 -O1 -g -fsanitize="$1" -fno-sanitize-recover=all -Wall -Wextra -Werror -Iinclude \
    -I"$LATHE_SRC/runtime" -I"$library" -I"$out/gen" "$2" -c -o "$3"; }
  # shellcheck disable=SC2086
  sanitized() { # sanitized SANITIZER PROGRAM
    objects=
    for source in $core; do
      object=objects/$1-$(echo "$source" | tr / _).o
      [ -e "$object" ] || compiled "$1" "$source" "$object" || return 1
      objects="$objects $object"
    done
    compiled "$1" "$programs/$2.c" "$2.o" &&
      gcc -fsanitize="$1" "$2.o" $objects $wrapped "$out/liblathe.a" $LATHE_LIBRARIES -o "$2"
  }
  mkdir objects
  is 'builds threads' sanitized thread threads
  is '16 threads run one plan' setarch -R ./threads 20000
  is 'builds rows that lie apart' sanitized address,undefined rows
  is 'rows that lie apart' ./rows
  is 'builds what is tuned' sanitized address,undefined tuned
  is 'takes what was measured' ./tuned
  if [ -x "$LATHE_BENCH" ]; then
    is 'the bench program tunes' "$LATHE_BENCH" tune here.tuning --op softmax --size 64x1000 --backend cpu --fast
    sed 's/softmax_f32__[^ ]*/softmax_f32__scalar_a4_u1/' here.tuning >slow.tuning
    is 'takes its file' ./tuned slow.tuning saved.tuning
    is 'takes its choice' test "$(./tuned slow.tuning saved.tuning)" = softmax_f32__scalar_a4_u1
    "$LATHE_BENCH" --op softmax --size 64x1000 --backend cpu --fast --tuning saved.tuning >ran
    is 'the bench program takes what the library saves' grep '^[* ]>softmax_f32__scalar_a4_u1' ran
  fi
  is 'builds random calls' sanitized address,undefined random_calls
  is 'random calls' ./random_calls 1000000 "$$"
  # shellcheck disable=SC2086
  planted() { # planted FILE SED SANITIZER PROGRAM ARGUMENT...: that fault in a file of the library is found
    sed "$2" "$library/$1" >"$tmp/$1"
    ! cmp -s "$library/$1" "$tmp/$1" || return 1
    rm -f "objects/$3-$(echo "$tmp/$1" | tr / _).o"
    all=$core
    core=$(echo "$core" | sed "s,$library/$1,$tmp/$1,")
    sanitized "$3" "$4"
    built=$?
    core=$all program=$4
    shift 4
    [ $built = 0 ] && ! setarch -R "./$program" "$@"
  }
  is 'finds arguments that threads share' planted run.c 's/^  lathe_args args;/  static lathe_args args;/' thread threads 2000
  is 'finds a type that is not listed' planted tables.c 's/= &info->cpu/= \&info->vulkan/' address,undefined listed
  is 'finds an operand that is lost' planted make.c 's/made->noperands = .*/made->noperands = 1;/' address,undefined random_calls 2000
  is 'finds rows that lie elsewhere' planted apart.c 's/from_row \* element;/(from_row + 1) \* element;/' address,undefined rows
  is 'finds rows of other threads' planted apart.c 's/first \* step/(first + 1) \* step/' address,undefined rows
  is 'finds columns that lie over others' planted make.c 's/past + bytes_of(.*) <= apart/1/' address,undefined rows
  is 'finds choices for any size' planted choice.c 's/far = 2;/far = 200;/' address,undefined tuned
  is 'finds choices of other variants' planted tune.c 's/line->mark != table->mark/0/' address,undefined tuned
  is 'finds what is not given back' planted make.c 's/device->forget(device)/(void)0/' address,undefined tuned
  is 'finds a line that is too long' planted text.c 's/why + 159/why + 200/' address,undefined random_calls 20000

  # ---- CUDA, by a driver that counts what is asked of it -----------------------------------------

  if [ ! -e "$out/gen/softmax/lathe_softmax_cuda.o" ]; then
    echo 'skipped: plans for CUDA: the build has no softmax for CUDA'
  else
    driver=$LATHE_SRC/tests/cuda/driver
    mkdir counted none
    is 'builds what counts' cc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC \
      -I"$LATHE_SRC/runtime" -I"$LATHE_SRC/tests" -I"$driver" "$LATHE_SRC/tests/export/counting.c" "$driver/device.c" \
      "$driver/defaults.c" -o counted/libcuda.so.1
    echo 'int nothing;' | cc -shared -fPIC -x c - -o none/libcuda.so.1
    wrapped=-Wl,--wrap=calloc
    is 'builds plans for CUDA' sanitized thread cuda_calls
    is 'only launches' env LD_LIBRARY_PATH=counted setarch -R ./cuda_calls
    is 'launches clusters' env LD_LIBRARY_PATH=counted COUNTED_90=1 setarch -R ./cuda_calls
    is 'no driver' env LD_LIBRARY_PATH=none setarch -R ./cuda_calls
    is 'builds them with another sanitizer' sanitized address,undefined cuda_calls
    is 'leaves nothing' env LD_LIBRARY_PATH=counted setarch -R ./cuda_calls
    on_counted() { LD_LIBRARY_PATH=counted planted "$@"; }
    is 'finds loads in a call' on_counted cuda.c 's/int error = lathe_driver_prepare_all.*/int error = 0;/;s/off <= 8/off > 8/' thread cuda_calls
    on_counted_90() { LD_LIBRARY_PATH=counted COUNTED_90=1 planted "$@"; }
    is 'finds launches that are late' on_counted_90 cuda.c 's/"cuFuncGetAttribute"/"none"/' thread cuda_calls
    is 'finds a context that is left' on_counted cuda.c 's/^  leave(d, former);/  (void)0;/' thread cuda_calls
    is 'finds kernels that are found without a lock' on_counted cuda.c 's/pthread_mutex_lock(&d->lock);//;s/pthread_mutex_unlock(&d->lock);//' thread cuda_calls
    is 'finds code that is not given back' on_counted cuda.c 's/^  lathe_images_forget(&d->images);//' address,undefined cuda_calls
  fi

  wrapped=
  # ---- Vulkan, by whatever driver there is -------------------------------------------------------

  if [ ! -e "$out/gen/softmax/lathe_softmax_vulkan.o" ]; then
    echo 'skipped: plans for Vulkan: the build has no softmax for Vulkan'
  else
    is 'builds plans for Vulkan' sanitized undefined vulkan_calls
    ./vulkan_calls >said 2>&1
    status=$?
    if [ $status = 2 ]; then
      sed 's/^/skipped: plans for Vulkan: /' said
    else
      is 'results are right' cat said && is 'results are right' test $status = 0
      is 'finds arguments that are lost' planted vulkan.c 's/args->dim\[d\];/args->dim[0];/' undefined vulkan_calls
      if [ -e "$LATHE_SRC/specs/softmax.lua" ] && command -v ninja >/dev/null; then
        tree
        cp -R "$LATHE_SRC/specs/include" "$LATHE_SRC/specs/softmax.lua" tree/specs/
        cat >tree/specs/many.lua <<'SPEC'
local inputs = {}
for i = 1, 14 do
  inputs[("x%02d"):format(i)] = { "n" }
end
op "many" {
  doc = "more arguments than push constants have room for", inputs = inputs, outputs = { y = { "n" } },
  scalars = { a = 2, b = 3, c = 4 },
  compute = function(x01, x02, x03, x04, x05, x06, x07, x08, x09, x10, x11, x12, x13, x14, a, b, c)
    return x01 + x02 * a + x03 + x04 * b + x05 + x06 + x07 * c + x08 - x09 - x10 - x11 - x12 - x13 * a - x14
  end,
  sizes = { { "1K", n = 1000 } }, dtypes = { "f32" }, ulp = 8,
}
SPEC
        mkdir many && cd many || exit 1
        is 'configures' configure --disable-cuda --disable-sse2 --disable-avx2 --disable-avx512 --disable-amx --dtypes=f32
        is 'takes the runtime' reuse
        is 'builds an op of many arguments' ninja out/liblathe.a
        for header in out/gen/*/lathe_*.h; do
          cp "$header" "../include/lathe/${header##*/lathe_}"
        done
        cd .. || exit 1
        # shellcheck disable=SC2086 # words
        many() { # many PROGRAM FILE...
          program=$1
          shift
          gcc -std=gnu11 -Wall -Wextra -Werror -Iinclude -I"$LATHE_SRC/runtime" -I"$library" "$programs/vulkan_calls.c" "$@" \
            many/out/liblathe.a $LATHE_LIBRARIES -o "$program"
        }
        is 'builds plans of many arguments' many vulkan_many
        is 'runs plans of many arguments' ./vulkan_many many
        sed 's/to->offset, given/0, given/' "$library/vulkan.c" >vulkan.c
        is 'plants calls that share arguments' many vulkan_shared vulkan.c
        is 'finds calls that share arguments' test "$(./vulkan_shared many | grep -c worst)" -ge 1
      fi
      is 'finds a lost workspace' planted vulkan.c 's/(uintptr_t)args->workspace/0/' undefined vulkan_calls
    fi
  fi
fi

summary
