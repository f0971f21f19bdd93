#!/bin/sh
# test_flushing.sh - a processor that flushes numbers below the normal range, as operands and as results, is right where
# it may do so, and wrong where it may not. Needs LATHE_SRC, LATHE_BENCH and
# LATHE_PYTHON, and a processor of x86.

. "$LATHE_SRC/tests/check.sh"

if [ "$(uname -m)" != x86_64 ] || [ -n "$LATHE_SANITIZE" ]; then
  echo 'skipped: a processor that flushes: it is made of one of x86, without sanitizers'
  summary
  exit
fi
tree
cp "$LATHE_SRC/tests/specs-flushing/flushing.lua" "$tmp/tree/specs/"
mkdir "$tmp/build"
cd "$tmp/build" || exit 1
is 'configures' configure --disable-cuda --disable-vulkan --disable-sse2 --disable-avx512 --disable-amx KERNEL_CFLAGS=-O1
reuse

# The device, with FLUSH_... of the environment: the bits of MXCSR that it sets for a call, and whether it says so.
cp "$LATHE_SRC/runtime/devices/cpu/device.c" device.c
is 'has calls flush' plant device.c '  if (c->parts > 1)
    lathe_run_parts(c->head.variant, args, c->parts, &threads);
  else
    c->head.variant->run(args);' '  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | (unsigned)strtoul(getenv("FLUSH_BITS"), NULL, 16));
  c->head.variant->run(args);
  (void)threads;
  _mm_setcsr((mode & ~0x3fu) | (_mm_getcsr() & 0x3f));'
is 'may flush' plant device.c '  if (!cpu.name) {' '  for (int t = 0; t < LATHE_DTYPES; t++) {
    cpu.may_flush[t].types = getenv("FLUSH_SAID") ? ~0u : 0;
    cpu.may_flush[t].between = getenv("FLUSH_SAID") != NULL;
  }
  if (!cpu.name) {'
is 'builds the device' cc -std=gnu11 -D_GNU_SOURCE -O1 -I"$LATHE_SRC/runtime" -I"$LATHE_SRC/runtime/devices/cpu" \
  -c device.c -o device.o
is 'takes the place of the processor' ld -r -o both.o out/obj/runtime/bench/bench.o device.o
mv both.o out/obj/runtime/bench/bench.o
is 'builds the kernels' ninja out/bench
bench() { out/bench --check-only --dtype all --rows "$@"; }
wrong() { bench "$@" | grep -q wrong; }

export FLUSH_BITS=8040 # FTZ and DAZ
is 'is wrong where numbers are to be kept' wrong --special denormal
export FLUSH_SAID=yes
for special in denormal zero,denormal,inf,nan; do
  for seed in 1 2; do
    is "may flush, seed $seed" bench --special $special --seed $seed --size 3x7,1x5,33x2,3x5x7,1x1x1,17x33x9
  done
done
FLUSH_BITS=8000
is 'may flush results alone' bench --special denormal
FLUSH_BITS=40
is 'may flush operands alone' bench --special denormal
unset FLUSH_SAID
FLUSH_BITS=0
for seed in 2 3 4; do
  is "keeps numbers, and groups factors in its own order, seed $seed" bench --op 'thrice*' --special inf,denormal --seed $seed
done

summary
