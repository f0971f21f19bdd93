#!/bin/sh
# test_parts.sh - a build of some ops and precisions, and the bench program of one op: what is built, and what is
# said of the rest. Needs LATHE_SRC and LATHE_GEN.

. "$LATHE_SRC/tests/check.sh"

tree
mkdir "$tmp/build"
cat >"$tmp/tree/specs/three.lua" <<'SPEC'
local function map(name, row)
  row.doc, row.inputs, row.outputs = name, { x = { "n" } }, { y = { "n" } }
  row.sizes, row.dtypes, row.ulp = { { "S", n = 100 } }, { "f64", "f32", "f16" }, 2
  row.peers = { numpy = "x * 2" }
  row.variants = { { backend = "scalar" } }
  op(name)(row)
end
map("twice", { compute = function(x) return x + x end, backward = true })
map("square", { compute = function(x) return x * x end, backward = true })
map("test", { compute = function(x) return x + 1 end })
op "single" {
  doc = "of one type", inputs = { x = { "n" } }, outputs = { y = { "n" } }, compute = function(x) return x * 3 end,
  sizes = { { "S", n = 100 } }, dtypes = { "f16" }, ulp = 2, variants = { { backend = "scalar" } },
}
SPEC
cd "$tmp/build" || exit 1

part() { # part OPTION...: configures the tree; what it says goes to the files stdout and stderr
  rm -f build.ninja
  configure CFLAGS=-O0 KERNEL_CFLAGS=-O0 --disable-cuda --disable-vulkan --disable-sse2 --disable-avx2 \
    --disable-avx512 --disable-amx "$@" >stdout 2>stderr
}
refused() { # refused LINE OPTION...: with that line and nothing else on standard error, status 2 and no build.ninja
  line=$1
  shift
  part "$@"
  [ $? = 2 ] && [ "$(cat stderr)" = "configure: $line" ] && [ ! -e build.ninja ]
}
is 'an op that there is not' refused "--ops: no op is called 'twise' (did you mean 'twice'?)" --ops=square,twise
is 'a glob of nothing' refused "--ops: no op is called 'sqare*' (did you mean 'square'?)" --ops='sqare*'
is 'a glob of nothing, left out' refused "--ops: no op is called 'sqare*' (did you mean 'square'?)" --ops='-sqare*'
is 'a type that there is not' refused \
  "--dtypes: expected 'f64', 'f32', 'f16' or 'bf16', found 'f33' (did you mean 'f32'?)" --dtypes=f64,f33
is 'nothing is left' refused '--dtypes: no op in --ops=twice has bf16' --ops=twice --dtypes=bf16
is 'nothing is left by name' refused '--ops: twice,-twice* leaves no op' --ops='twice,-twice*'
is 'no names' refused "--ops takes a list of names and globs, as in --ops='softmax*,layernorm'" --ops=
is 'no name of an op' refused "--ops takes a list of names and globs, as in --ops='softmax*,layernorm'" --ops=A
is 'no types' refused '--dtypes takes a list, as in --dtypes=f32,f16' --dtypes

ops() { # ops WORD LIST: the ops that --ops=LIST leaves, with a space after each
  [ "$("$LATHE_GEN" --src ../tree --ops "$2" ops | tr '\n' ' ')" = "$1" ]
}
is 'a gradient goes with its op' ops 'twice twice_backward ' twice
is 'globs' ops 'square square_backward twice twice_backward ' 't*ce,s?uare'
is 'all but' ops 'single square test twice twice_backward ' -square_backward
is 'all but an op and its gradient' ops 'single test twice twice_backward ' -square
is 'a gradient alone' ops 'twice_backward ' twice_backward
is 'a gradient by name' ops 'twice_backward ' '-twice,twice_backward'

is 'configures' part --ops=twice,single --dtypes=f32,f64
is 'says so' grep -x '  ops           2 of twice,single in f32,f64' stdout
is 'builds' ninja out/bench
is 'builds nothing else' test "$(find out/gen -name '*square*' -o -name '*f16*')" = ''
bench() { # bench STATUS OPTION...: ends so; what it says is in the file said
  wanted=$1
  shift
  out/bench --check-only "$@" >said 2>&1
  [ $? = "$wanted" ]
}
is 'right' bench 0 --dtype all
is 'rows of what is there' grep -E '^[0-9]+ rows: 4 right, 0 wrong, 0 skipped' said
is 'an op left out, by name' bench 3 --op square
is 'rows with the reason' grep -E '^ *square_f32__scalar[^ ]* .*left out by configure --ops=twice,single$' said
is 'of other libraries as well' bench 3 --op square --peers numpy
is 'with the same reason' grep -E '^ *square_f32__numpy .*left out by configure --ops=twice,single$' said
is 'an op of which nothing was ever' bench 2 --op squar
is 'a glob of what is there' bench 0 --op 't*'
is 'no rows of test' test "$(grep -c test_f32 said)" = 0
is 'a glob of what was left out' bench 3 --op 'sq*'
is 'both kinds by name' bench 0 --op test,twice
is 'rows of both' grep -E '^[0-9]+ rows: [0-9]+ right, 0 wrong, [1-9][0-9]* skipped' said
is 'a type left out, by name' bench 3 --dtype f16 --op twice
is 'rows with that reason' grep -E '^ *twice_f16__scalar[^ ]* .*left out by configure --dtypes=f32,f64$' said
is 'a variant left out, by name' bench 3 --variant test_f32__scalar_u1
is 'a variant as a glob' bench 0 --variant '*scalar*'
is 'variants are listed' sh -c 'out/bench --list-variants >said'
is 'with the ops left out' grep -x \
  'left out by configure --ops=twice,single: square, square_backward, test (--op names them)' said
is 'an op of no other types' grep -x 'left out by configure --dtypes=f32,f64: single (--op names them)' said
is 'and the types' grep -x 'left out by configure --dtypes=f32,f64: f16 (--dtype names them)' said
is 'ninja OP of it fails' test "$(ninja square | grep -x 'square is left out by configure --ops=twice,single')"

# What it took.
cost() { # cost KEY NAME: a member of a variant in the file costs
  awk -v key="\"$1\":" -v name="\"$2\"," '$1 == "\"name\":" { here = $2 == name }
    here && $1 == key { sub(",$", "", $2); print $2 }' costs
}
is 'costs' out/bench --list-variants --json costs --dtype all
is 'seconds' expr "$(cost compile_seconds twice_f32__scalar_u1)" : '[0-9]*\.[0-9]'
is 'shared equally' test "$(cost compile_seconds twice_f32__scalar_u1)" = "$(cost compile_seconds twice_f64__scalar_u1)"
is 'bytes' test "$(cost code_bytes twice_f32__scalar_u1 | cut -d . -f 1)" = \
  $((0x$(nm -S out/bench | awk '$4 == "twice_f32__scalar_u1" { print $2 }')))
is 'costs of what was left out' out/bench --list-variants --json costs --op square
is 'are none' test "$(cost code_bytes square_f32__scalar_u1
  cost compile_seconds square_f32__scalar_u1)" = "$(printf '%s\n' null null)"
mkdir moved
strip -o moved/bench out/bench
is 'elsewhere, and stripped' moved/bench --list-variants --json costs --op twice
is 'nothing is known' test "$(cost code_bytes twice_f32__scalar_u1; cost compile_seconds twice_f32__scalar_u1)" = \
  "$(printf '%s\n' null null)"
is 'a list to standard output' sh -c 'out/bench --list-variants --json - 2>listed >costs'
is 'is JSON alone' test "$(head -n 1 costs)" = '{'
is 'the table is elsewhere' grep twice_f32__scalar_u1 listed
is 'a file that cannot be written' test "$(out/bench --list-variants --json /no/such 2>&1 >listed; echo $?)" != 0
ninja cost >costs
is 'ops' grep -E '^twice_backward +[0-9.]+ +- +- +- +- +[0-9.]+ +- +- +[0-9.]+ +[0-9]+$' costs
is 'files' grep -E '^ +[0-9.]+ +[0-9]+ +[0-9.]+  out/gen/twice/twice__scalar.o$' costs
is 'all' grep -E '^[0-9.]+ s of compiling in 4 files, and [0-9.]+ s of all else' costs
is 'in 100 columns' test "$(wc -L <costs)" -le 100
is 'a build of nothing' test "$("$LATHE_GEN" --src ../tree --out nowhere/gen cost 2>&1)" = \
  'nowhere/.ninja_log: expected how long kernels took to compile, found none; build them first, by ninja'

# One op by itself, of a build of all.
rm out/bench
is 'configures all' part
is 'builds one op' ninja twice_backward
is 'its program' out/bench-twice --check-only --dtype all
is 'nothing of the others' test "$(find out -name '*square*.o' -o -path out/bench)" = ''
cp out/bench-twice elsewhere
is 'which can be moved' env -C / "$PWD/elsewhere" --check-only
is 'an op called as a target is' ninja out/bench-test
is 'has that op alone' test "$(out/bench-test --list-ops | cut -d ' ' -f 1 | tr '\n' ' ')" = 'op test '
sed -i '/"test"/d' ../tree/specs/three.lua
is 'a spec less' ninja twice
is 'a program less' test ! -e out/bench-test

# Each target of build.ninja.in that an op could be called is known as one.
for target in $(sed -n 's/^build \([a-z][a-z0-9_]*\): .*/\1/p' "$LATHE_SRC/build.ninja.in"); do
  echo "map('$target', { compute = function(x) return x end })" >>../tree/specs/three.lua
done
is 'no target is made twice' ninja -n

summary
