#!/bin/sh
# test_cuda.sh - what of the CUDA backend can be tested without a GPU. Needs LATHE_SRC, LATHE_GEN and
# LATHE_BENCH. With LATHE_UPDATE_GOLDEN=1 in the environment the golden files are written anew.

. "$LATHE_SRC/tests/check.sh"

# No Vulkan here: a processor that emulates a GPU takes long to show how fast its memory is.
export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent

# ---- what the templates make of one small op for each template -------------------------------------

mkdir "$tmp/tree"
cp -r "$LATHE_SRC/tests/cuda/specs" "$LATHE_SRC/templates" "$tmp/tree/"
is generates "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/out" --no-line --backend cuda all
for op in map reduce rows; do
  file=small_${op}_f32__cuda.cu
  golden=$LATHE_SRC/tests/cuda/expected/$file
  made=$tmp/out/small_$op/$file
  # Of rows what the op and its schedule say: the bodies are the templates' own, and the emulator runs them.
  if [ $op = rows ]; then
    sed -n -e '/^\/\* sum1 = /,$p' "$made" | sed '/^template/,/^#ifndef/{/^#ifndef/!d;}' >"$tmp/$file"
    made=$tmp/$file
  fi
  [ -z "${LATHE_UPDATE_GOLDEN-}" ] || cp "$made" "$golden"
  is "golden $file" diff -u "$golden" "$made"
  # The host's side is C that the table calls: it must compile whether there is an nvcc or not.
  : >"$tmp/out/small_$op/small_${op}__cuda_host.images.xz"
  is "host's side of small_$op" cc -std=gnu11 -Wall -Wextra -Werror -I"$LATHE_SRC/runtime/library" \
    -I"$LATHE_SRC/templates/gpu" -Wa,-I"$tmp/out" -c "$tmp/out/small_$op/small_${op}__cuda_host.c" -o "$tmp/host.o"
done

# A mean and the squares about it are gathered in one pass, with f32's own arithmetic too; other products of
# differences are not. So are the largest and the powers below it, unless they are in registers for later.
cat >"$tmp/tree/specs/small.lua" <<'EOF'
local function small(name, f)
  op(name) {
    doc = name, inputs = { x = { "rows", "cols" } }, outputs = { y = { "rows", "cols" } },
    compute = f,
    sizes = { { "S", rows = 3, cols = 5 } }, dtypes = { "f32", "f16" }, ulp = { f32 = 4, f16 = 1 },
    variants = { { backend = "cuda" } },
  }
end
small("variance", function(x) return x * mean((x - mean(x, "cols")) ^ 2, "cols") end)
small("skewed", function(x) return x * mean((x - mean(x, "cols")) * x, "cols") end)
small("another", function(x) return x * mean((x - mean(2 * x, "cols")) ^ 2, "cols") end)
small("powers", function(x) return x - max(x, "cols") - log(sum(exp(x - max(x, "cols")), "cols")) end)
small("powers_again", function(x)
  local e = exp(x - max(x, "cols"))
  return e / sum(e, "cols")
end)
small("normal", function(x) return sum(0.5 * erfc(x * -math.sqrt(0.5)), "cols") * exp(-(x * math.sqrt(0.5)) ^ 2) end)
small("tail", function(x) return sum(0.5 * erfc(x * 0.7), "cols") end)
small("below_another", function(x) return x * sum(exp(x - max(2 * x, "cols")), "cols") end)
EOF
is 'generates gatherers' "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/two" --no-line --backend cuda all
gatherers() { # gatherers KIND OP NUMBER: how many gatherers of a kind its kernels have
  for dtype in f32 f16; do
    is "$1 of $2 in $dtype" test "$(grep -c "^ *lathe_$1<float[^>]*> [a-z]" "$tmp/two/$2/$2_${dtype}__cuda.cu")" = "$3"
  done
}
gatherers moments variance 1
gatherers moments skewed 0
gatherers moments another 0
gatherers powers powers 1
gatherers extreme powers 1 # of rows that a part of a warp has
gatherers powers powers_again 1 # of rows that are read again: e is in registers elsewhere
gatherers powers below_another 0

# In 16 bits the halves of erfc that are the normal distribution's are computed as such, and so is its bell:
# gen/pour/narrow.lua begins the one with |x| + 2.828427, and makes the other of one power.
lines() { # lines TEXT OP DTYPE NUMBER: how many lines of the op's point functions have a text
  is "$1 in $2, $3" test "$(grep -c "^  float t[0-9]* = .*$1" "$tmp/two/$2/$2_$3__cuda.cu")" = "$4"
}
lines 2.828427f normal f16 2 # of rows in registers, and of such as are read again
lines lathe_power normal f16 4
lines 2.828427f normal f32 0
lines 2.828427f tail f16 2
lines 2.828427f tail f32 0

# refused WORDS PARAMETERS: a variant's row that the backend does not take
refused() {
  sed "s/block = 64, unroll = 1, waves = 2/$2/" "$LATHE_SRC/tests/cuda/specs/small.lua" \
    >"$tmp/tree/specs/small.lua"
  "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/bad" index >"$tmp/stdout" 2>"$tmp/stderr"
  is "refuses $2" test $? = 1
  is "refuses $2" grep -F -e "$1" "$tmp/stderr"
}
refused 'block = 96: expected a power of two' 'block = 96'
refused 'unroll = 3: expected a power of two' 'unroll = 3'
refused 'at most the 2048 threads' 'block = 1024, waves = 4'

# Tiles of matrix products that no block has room for, and instructions that no architecture has that is compiled for.
cat >"$tmp/product.lua" <<'EOF'
op "product" {
  doc = "a @ b", inputs = { a = { "m", "k" }, b = { "k", "n" } }, outputs = { c = { "m", "n" } },
  compute = function(a, b) return sum(a * b, "k") end,
  sizes = { { "S", m = 3, n = 4, k = 5 } }, dtypes = { "bf16", "f32" }, ulp = 3,
  variants = { { backend = "cuda" }, { backend = "cuda", dtypes = "bf16", TILE } },
}
EOF
refused_tile() { # refused_tile WORDS PARAMETERS
  sed "s/TILE/$2/" "$tmp/product.lua" >"$tmp/tree/specs/small.lua"
  "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/bad" index >"$tmp/stdout" 2>"$tmp/stderr"
  is "refuses $2" test $? = 1
  is "refuses $2" test "$(wc -l <"$tmp/stderr")" = 1
  is "refuses $2" grep -F -e "$1" "$tmp/stderr"
}
refused_tile 'bm = 128, bn = 256, stages = 6: expected at most the 230400 bytes of shared memory that a block has, found 294912' \
  'unit = "wgmma", bm = 128, bn = 256, stages = 6'
refused_tile 'bm = 256, bn = 256: expected at most 128 registers in each of 512 threads, found 128 sums, 64 others' \
  'unit = "mma", bm = 256, bn = 256, stages = 2'
refused_tile 'unit = wgmma: expected bn = 128, 256 or auto, found 64' 'unit = "wgmma", bn = 64'
refused_tile 'unit = wgmma: expected stages of at least 3' 'unit = "wgmma", bn = 128, stages = 2'
refused_tile 'unit = mma: expected the dtypes f16 and bf16 alone, or products = tf32, found f32' \
  'unit = "mma", dtypes = { "bf16", "f32" }'
refused_tile 'products = tf32: expected the dtype f32 alone, found bf16' 'unit = "mma", products = "tf32"'
refused_tile 'products = tf32: expected unit = mma or wgmma, found vector' 'products = "tf32"'
sed 's/TILE/unit = { "mma", "wgmma" }/' "$tmp/product.lua" >"$tmp/tree/specs/small.lua"
is 'without sm_90a' "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/lacks" --disabled 'cuda:wgmma=no sm_90a' all
is 'a row says why' grep '"product_bf16__cuda_wgmma_m128_n128_s3".*"no sm_90a", *NULL' "$tmp/lacks/table.c"
is 'only those rows' test "$(grep -c '"no sm_90a"' "$tmp/lacks/table.c")" = 1
is 'its kernels are left out' test "$(grep -c '_step1_wgmma' "$tmp/lacks/product/product_bf16__cuda.cu")" = 0
is 'others are not' grep '_step1_mma128' "$tmp/lacks/product/product_bf16__cuda.cu"
# The table has the digits that a variant leaves, and that dispatch may choose it.
sed 's/"bf16", TILE/"f32", unit = "mma", products = "tf32"/; s/ulp = 3,/ulp = 3, products = "tf32",/' "$tmp/product.lua" \
  >"$tmp/tree/specs/small.lua"
is 'rounds factors' "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/rounds" all
is 'its op allows it' test "$(grep -c ' 11, 0, false },$' "$tmp/rounds/table.c")" = 1
sed -i 's/ulp = 3, products = "tf32",/ulp = 3,/' "$tmp/tree/specs/small.lua"
is 'rounds factors by its name' "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/by_name" all
is 'no op allows it' test "$(grep -c ' 11, 0, true },$' "$tmp/by_name/table.c")" = 1

# ---- the bench program --------------------------------------------------------------------------

"$LATHE_BENCH" --list-backends >"$tmp/backends"
"$LATHE_BENCH" --list-devices >"$tmp/devices"
is 'lists the backend' grep '^cuda ' "$tmp/backends"
if grep -q '^cuda[0-9]: ' "$tmp/devices"; then
  is 'is right on the GPU' "$LATHE_BENCH" --backend cuda --op add,sum,softmax --check-only
else
  is 'says why there is no device' grep '^cuda: none: NVIDIA' "$tmp/devices"
  "$LATHE_BENCH" --backend cuda --op add --size 100 --check-only --csv "$tmp/rows.csv" >/dev/null
  is 'nothing can run' test $? = 3
  is 'a row with its reason' grep -E 'skipped.*(NVIDIA|nvcc|disable-cuda)' "$tmp/rows.csv"
fi

# ---- a driver that computes nothing but exp, and goes wrong when asked to -------------------------------------------------------------------

is 'builds the false driver' cc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC \
  -I"$LATHE_SRC/runtime" "$LATHE_SRC/tests/cuda/driver/driver.c" "$LATHE_SRC/tests/cuda/driver/device.c" \
  "$LATHE_SRC/tests/cuda/driver/defaults.c" -o "$tmp/libcuda.so.1" -lm

fake() { # fake WISH OPTION...: the bench program with the false driver; patience: seconds for a call of many elements
  wish=$1
  shift
  status=0
  LD_LIBRARY_PATH=$tmp FAKE_CUDA=$wish "$LATHE_BENCH" --timeout "${patience:-0.5}" "$@" >"$tmp/list" || status=$?
}

# A library that is no driver, and one that needs another which is not there, are not said to be missing.
driver_is() { # driver_is WORDS: --list-devices says so of the driver in $tmp/none
  LD_LIBRARY_PATH=$tmp/none "$LATHE_BENCH" --list-devices >"$tmp/list"
  is "says: $1" sh -c 'tr -s "\n " " " <"$1" | grep -F -e "$2"' - "$tmp/list" "$1"
}
mkdir "$tmp/none"
echo 'int nothing;' | cc -shared -fPIC -x c - -o "$tmp/none/libcuda.so.1"
driver_is "cuda: none: $tmp/none/libcuda.so.1 is not NVIDIA's driver: it has no cuInit"
echo 'int nothing;' | cc -shared -fPIC -x c - -Wl,-soname,libneeded.so.1 -o "$tmp/libneeded.so"
echo 'extern int nothing, *at; int *at = &nothing;' |
  cc -shared -fPIC -x c - -x none "$tmp/libneeded.so" -o "$tmp/none/libcuda.so.1"
driver_is 'cuda: none: libcuda.so.1 is there and cannot be loaded: libneeded.so.1: cannot open'

fake 'crash at the start' --list-devices
is 'a driver that crashes is a kind without devices' test $status = 0
is 'and says so' grep '^cuda: none: .*crashed with SIGSEGV' "$tmp/list"
fake 'spin at the start' --op exp --size 100 --check-only --rows
is 'one that hangs costs the other kinds nothing' test $status = 0
is 'and they are right' grep ' 0 wrong, ' "$tmp/list"
fake '' --list-devices
is 'lists a device' grep '^cuda0: a fake, .* 4.00 GiB of memory free' "$tmp/list"
is 'and how fast its vectors are' grep '^    multiply-adds  *f64 210 T, f32 210 T, i8 210 T FLOP/s' "$tmp/list"
is 'and its tensor cores' grep '^    matrix units  *f64 105 T, tf32 6.71 P, f16 13.4 P, bf16 13.4 P FLOP/s' "$tmp/list"

# goes_wrong WISH REASON: all rows of CUDA fail for that reason, and the others are right
goes_wrong() {
  fake "$1" --op exp --size 100 --check-only --csv "$tmp/rows.csv"
  is "$1: wrong rows" test $status = 1
  rows=$(grep -c '"cuda"' "$tmp/rows.csv")
  is "$1: every row says why" test "$rows" -gt 0 -a \
    "$(grep -c "\"cuda\".*\"wrong\",[^,]*,\"[^\"]*$2" "$tmp/rows.csv")" = "$rows"
  is "$1: others are right" test "$(grep -v '"cuda"' "$tmp/rows.csv" | grep -c '"right"')" -gt 1
}
if grep -q '^cuda .* cannot run: .*\(nvcc\|disable-cuda\)' "$tmp/backends"; then
  echo 'skipped: kernels that go wrong: CUDA was left out'
else
  goes_wrong fault CUDA_ERROR_ILLEGAL_ADDRESS
  goes_wrong spin 'did not end within 0.5 s'
  goes_wrong crash 'crashed with SIGSEGV'
  goes_wrong waver 'y\[5\] differs from one run to the next'
  goes_wrong 'race with copies' 'with copies of memory beside it: y\[5\] differs'
  goes_wrong 'race with caches' 'with caches that hold something else: y\[5\] differs'
  goes_wrong 'race with itself' 'called right after itself: y\[5\] differs'

  is 'a damaged image' damaged_bench exp/exp__cuda_host.images.xz
  LD_LIBRARY_PATH=$tmp "$tmp/damaged" --op exp --size 100 --check-only --csv "$tmp/rows.csv" >"$tmp/list"
  is 'a damaged image is a row with its reason' grep '"cuda".*"skipped",[^,]*,"its code in this program.s file is damaged (' \
    "$tmp/rows.csv"
  is 'a damaged image costs others nothing' test "$(grep -v '"cuda"' "$tmp/rows.csv" | grep -c '"right"')" -gt 1

  fake '' --in-process --op exp --dtype f32 --size 100 --check-only --rows
  is 'one process will do' test $status = 0
  is 'and has the device' grep '^ >exp_f32__cuda' "$tmp/list"
  patience=9
  fake '' --op exp --dtype f32 --backend cuda --variant '*_u1' --size 10M --check-only --rows
  unset patience
  is 'inputs that are sent in pieces are there' grep '^ >*exp_f32__cuda' "$tmp/list"
  is 'as they are' test $status = 0
  fake fault --in-process --op exp --size 100 --check-only --csv "$tmp/rows.csv"
  is 'a fault costs that process the device' test $status = 1
  is 'as later rows say' grep 'lost with an earlier row' "$tmp/rows.csv"

  # field NAME: of the first row of CUDA, in the last run's CSV
  field() {
    awk -v name="$1" -F, '
      NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
      { print $column; exit }' "$tmp/rows.csv"
  }
  near() { # near NAME VALUE: to as many digits as the clock of events has
    awk -v is="$(field "$1")" -v wanted="$2" \
      'BEGIN { print is; exit !(is > wanted * (1 - 1e-6) && is < wanted * (1 + 1e-6)) }'
  }
  timed() { # timed WISH SIZE [STATUS]: one row of CUDA
    fake "$1" --op exp --backend cuda --variant '*_u1' --size "$2" --iterations 9 --csv "$tmp/rows.csv"
    is "times with $1 at $2" test $status = "${3:-0}"
  }
  timed '' 10000
  is 'warm is as fast as the cache' near real_time 1000
  is 'cold is as slow as memory' near cold_time 2000
  is 'a cold time is shown' grep -E ' cold .* GB/s' "$tmp/list"
  is 'half of the ceiling' near ceiling_share 0.5
  is 'which is that of a copy' test "$(field ceiling)" = '"copy"'
  is 'memory is that of the operands' near memory_mb 0.0762939453125
  is 'the time in ms' near time_ms 0.001
  is 'calls in a second' near inference_speed 1000000
  is 'the share of the ceiling in percent' near gpu_efficiency 50
  is 'the rate in GB/s' near throughput_gbps 80
  patience=9
  timed '' 1000000
  unset patience
  is 'more than the cache is always cold' near real_time 2000
  is 'also when asked for' near cold_time 2000
  timed '' 10
  is 'too small to fill a cache' near real_time 1000
  is 'no cold time' test "$(field cold_time)" = ''
  timed 'slow memory' 10000 1
  is 'above the ceiling' test "$(field above_ceiling)" = true
  is 'is marked' grep -F '!5000%' "$tmp/list"
fi

summary
