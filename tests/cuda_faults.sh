#!/bin/sh
# cuda_faults.sh - kernels that fault, never end, or differ from run to run, on a real GPU: each fails
# its row, and the rows after it are right. Not of `ninja test`, for it compiles a bench program of
# its own.
#
#   tests/cuda_faults.sh build FOLDER [CONFIGURE'S OPTION]...    where there is nvcc
#   tests/cuda_faults.sh run FOLDER                              where there is the GPU

set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
what=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2

build() {
  for part in gen runtime tests configure build.ninja.in; do
    ln -sfn "$src/$part" "$folder/$part"
  done
  rm -rf "$folder/templates" "$folder/specs"
  cp -r "$src/templates" "$folder/templates"
  cp -r "$src/tests/cuda/faults" "$folder/specs"
  sed -i '/^  bool aligned = true;$/a\
  //@ if op.name == "a_faults" then\
  *(volatile float *)(args.dim[0] == 0 ? 0 : 16) = 1;\
  //@ elseif op.name == "c_spins" then\
  while (clock64() != 0)\
    ;\
  //@ end
s/ = \$y.operand.name\$_;/ = $y.operand.name$_ $(op.name == "e_wavers" and "+ (clock64() >> 3 \& 1) * 0x1p-21f" or "");/' "$folder/templates/cuda/map.cu"
  cd "$folder"
  ./configure "$@" >configure.log
  ninja out/bench
}

fail() {
  printf 'FAILED: %s\n' "$1"
  exit 1
}

# said NAME WORDS: every row of that op is wrong, for that reason
said() {
  rows=$(grep -c "^\"$1_f32" "$folder/rows.csv") || fail "no rows of $1"
  [ "$(grep "^\"$1_f32" "$folder/rows.csv" | grep -c "\"wrong\",\"[^\"]*$2")" = "$rows" ] ||
    fail "$1: expected '$2': $(grep "^\"$1_f32" "$folder/rows.csv")"
}

run() { # run OPTION...
  status=0
  "$folder/out/bench" --rows --timeout 3 --csv "$folder/rows.csv" "$@" || status=$?
  [ "$status" = 1 ] || fail "status $status with $*"
  said a_faults 'an illegal memory access was encountered'
  said c_spins 'did not end within 3 s'
  [ "$(grep -c '_right_f32.*,"right",' "$folder/rows.csv")" = 6 ] || fail 'a row after a failure is not right'
}

case $what in
build) build "$@" ;;
run)
  run --check-only
  said e_wavers 'differs from one run to the next'
  run --fast
  echo 'all as expected'
  ;;
*) fail "cuda_faults.sh build|run FOLDER" ;;
esac
