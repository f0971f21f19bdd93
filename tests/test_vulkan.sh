#!/bin/sh
# test_vulkan.sh - the Vulkan backend: what its templates make, and that it runs, on whatever device
# there is; Mesa's lavapipe will do. Needs LATHE_SRC, LATHE_GEN and LATHE_BENCH. With
# LATHE_UPDATE_GOLDEN=1 in the environment the golden files are written anew.

. "$LATHE_SRC/tests/check.sh"

# ---- what the templates make of one small op for each template -------------------------------------

mkdir "$tmp/tree"
cp -r "$LATHE_SRC/tests/vulkan/specs" "$LATHE_SRC/templates" "$tmp/tree/"
is generates "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/out" --no-line --backend vulkan all
golden() { # golden FILE
  expected=$LATHE_SRC/tests/vulkan/expected/${1##*/}
  [ -z "${LATHE_UPDATE_GOLDEN-}" ] || cp "$tmp/out/$1" "$expected"
  is "golden $1" diff -u "$expected" "$tmp/out/$1"
}
golden small_map/small_map_f32__vulkan.comp # those of the other templates are long, and run below
for op in map reduce rows; do
  # The host's side is C that the table calls: it must compile whether there is a glslang or not.
  : >"$tmp/out/small_$op/small_${op}__vulkan_host.images.xz"
  is "host's side of small_$op" cc -std=gnu11 -Wall -Wextra -Werror -I"$LATHE_SRC/runtime/library" \
    -I"$LATHE_SRC/templates/gpu" -Wa,-I"$tmp/out" -c "$tmp/out/small_$op/small_${op}__vulkan_host.c" -o "$tmp/host.o"
done

# refused WORDS PARAMETERS: a variant's row that the backend does not take
refused() {
  sed "s/block = 64, unroll = 1, waves = 2/$2/" "$LATHE_SRC/tests/vulkan/specs/small.lua" \
    >"$tmp/tree/specs/small.lua"
  "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/bad" index >"$tmp/stdout" 2>"$tmp/stderr"
  is "refuses $2" test $? = 1
  is "refuses $2" grep -F -e "$1" "$tmp/stderr"
}
refused 'block = 96: expected a power of two' 'block = 96'
refused 'unroll = 3: expected a power of two' 'unroll = 3'

tile() { # tile WORDS PARAMETERS: the same of a contraction's
  cat >"$tmp/tree/specs/small.lua" <<EOF
op "product" {
  doc = "a product", inputs = { a = { "m", "k" }, b = { "k", "n" } }, outputs = { c = { "m", "n" } },
  compute = function(a, b) return sum(a * b, "k") end,
  sizes = { { "S", m = 5, n = 5, k = 5 } }, dtypes = { "f32" }, ulp = 3, variants = { { backend = "vulkan", $2 } },
}
EOF
  "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/bad" index >"$tmp/stdout" 2>"$tmp/stderr"
  is "refuses $2" test $? = 1
  is "refuses $2" grep -F -e "$1" "$tmp/stderr"
}
tile 'bm / 8 * bn / 8 = 2048: expected at most the 1024 invocations that a workgroup has' 'bm = 512, bn = 256'
tile 'bk * (bm + bn + 8) * 4 = 33792: expected at most the 32752 bytes of shared memory that a workgroup has' \
  'bm = 128, bn = 128, bk = 32'
tile 'unit = matrix: expected the dtype f16 alone, found f32' 'unit = "matrix"'
tile "expected '8', '16' or '32' for 'bk', found 12" 'bk = 12'

# Rounding right costs time, and is asked for where a result shows it; so does bf16's of two neighbours to
# the even one, where a value may be half way between them.
cat >"$tmp/tree/specs/small.lua" <<'EOF'
local function small(name, dims, row)
  row.doc, row.dtypes, row.ulp = name, { "f32", "f16", "bf16" }, { f32 = 4, f16 = 1, bf16 = 1 }
  row.sizes, row.variants = { { "S", m = 2, n = 5 } }, { { backend = "vulkan" } }
  row.inputs, row.outputs = { x = dims, y = dims }, { r = dims }
  op(name)(row)
end
local grid = { "m", "n" }
small("ratio", grid, { compute = function(x, y) return x / y end })
small("product", grid, { compute = function(x, y) return exp(x) * y end })
small("centred", grid, { compute = function(x, y) return x - mean(y, "n") end })
small("lowered", grid, { compute = function(x, y) return x - max(y, "n") end })
EOF
is 'generates a division' "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/loose" --no-line --backend vulkan all
for name in ratio_f32:0 product_f32:0 ratio_f16:0 product_f16:1; do
  is "rounds again: $name" grep "${name%:*}__vulkan_image = .*, .loose = ${name#*:}}" \
    "$tmp/loose/${name%_*}/${name%_*}__vulkan_host.c"
done
for name in ratio: product:_near centred:_near lowered:; do
  is "rounds to the even one: $name" grep -q "at = lathe_bf16s${name#*:}(" \
    "$tmp/loose/${name%:*}/${name%:*}_bf16__vulkan.comp"
done

# What the compiler lacks an extension for is a row with the reason: a precision, ...
less() { # less NAME=REASON: of the specs in the tree
  rm -rf "$tmp/less"
  "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/less" --backend vulkan --disabled "$1" all
}
sed 's/f32/f16/g' "$LATHE_SRC/tests/vulkan/specs/small.lua" >"$tmp/tree/specs/small.lua"
is 'a precision left out' less 'vulkan:GL_EXT_shader_explicit_arithmetic_types_float16=no such extension'
is 'a precision left out' grep '"small_map_f16__vulkan.*"no such extension", *NULL' "$tmp/less/table.c"
is 'a precision left out' test ! -e "$tmp/less/small_map/small_map_f16__vulkan.comp"
is 'an extension of other kernels' less 'vulkan:GL_NV_cooperative_vector=no such extension'
is 'an extension of other kernels' grep -x '#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require' \
  "$tmp/less/small_map/small_map_f16__vulkan.comp"
is 'an extension of other kernels' test "$(grep -c 'no such extension' "$tmp/less/table.c")" = 0

# ... or a parameter's value, whose kernel is otherwise a module of its own that asks for it.
sed 's/unroll = 1 }/unroll = { 1, 4 } }/' "$LATHE_SRC/tests/vulkan/specs/small.lua" >"$tmp/tree/specs/small.lua"
sed 's/default = 2, short = "u"/&, needs = { [4] = { "GL_KHR_cooperative_matrix" } }/' \
  "$LATHE_SRC/templates/glsl/backend.lua" >"$tmp/tree/templates/glsl/backend.lua"
plain=small_map/small_map_f32__vulkan.comp matrix=small_map/small_map_f32__vulkan_b128_u4
is 'a variant left out' less 'vulkan:GL_KHR_cooperative_matrix=no such extension'
is 'a variant left out' grep '"small_map_f32__vulkan_b128_u4".*"no such extension", *NULL' "$tmp/less/table.c"
is 'a variant left out' test "$(grep -c 'no such extension' "$tmp/less/table.c")" = 1
is 'a variant left out' test ! -e "$tmp/less/$matrix.comp"
is 'a variant left out' test -e "$tmp/less/$plain"
is 'a variant of its own' less 'vulkan:GL_NV_cooperative_vector=no such extension'
is 'a variant of its own' grep -x '#extension GL_KHR_cooperative_matrix : require' "$tmp/less/$matrix.comp"
is 'a variant of its own' grep -x 'void kernel_0() {' "$tmp/less/$matrix.comp"
is 'a variant of its own' grep '"small_map_f32__vulkan_b128_u4",' "$tmp/less/small_map/small_map__vulkan_host.c"
is 'a variant of its own' test "$(grep -c -e '^#.*cooperative' -e 'kernel_1()' "$tmp/less/$plain")" = 0
less 'vulkan:GL_KHR_coperative_matrix=no such extension' >"$tmp/stdout" 2>"$tmp/stderr"
is 'a misspelt extension' test $? = 2
is 'a misspelt extension' grep "backend 'vulkan' (did you mean 'GL_KHR_cooperative_matrix'?)" "$tmp/stderr"
# configure and the templates know the same ones.
sed -n '/tried_extensions/,/}/s/.*"\(GL_.*\)".*/\1/p' "$LATHE_SRC/templates/glsl/backend.lua" | sort >"$tmp/templates"
(cd "$LATHE_SRC/gen/configure" && ls GL_*.comp) | sed 's/[.]comp$//' | sort >"$tmp/configure"
is 'the same extensions' cmp "$tmp/templates" "$tmp/configure"
is 'the same extensions' test -s "$tmp/configure"

# ---- the modules --------------------------------------------------------------------------------

# Every sum, difference and product keeps its own rounding in f32 and f64: none may be fused with another.
dis=$(dirname "$LATHE_BENCH")/tools/spirv-dis # beside the tools that made them, if those are not the machine's
[ -x "$dis" ] || dis=spirv-dis
loose() { # loose IMAGE: the first operation of its module that may be
  "$dis" --no-header --raw-id "$1" | awk '
    $1 == "OpDecorate" && $3 == "NoContraction" { kept[$2] = 1 }
    $3 ~ /^OpF(Add|Sub|Mul)$/ && !($1 in kept) { print; bad = 1; exit }
    END { exit bad || NR == 0 }'
}
for image in "$(dirname "$LATHE_BENCH")"/gen/*/*_f[36]*__vulkan.image; do
  [ ! -e "$image" ] || is 'no operation may be fused' loose "$image"
done

# ---- the bench program --------------------------------------------------------------------------

"$LATHE_BENCH" --list-backends >"$tmp/backends"
"$LATHE_BENCH" --list-devices >"$tmp/devices"
is 'lists the backend' grep '^vulkan ' "$tmp/backends"
! grep -q '^vulkan .* ready' "$tmp/backends" ||
  is 'and how fast the device computes' sh -c 'sed -n "/^vulkan0/,\$p" "$1" | grep "multiply-adds  *f32 .* FLOP/s"' - \
    "$tmp/devices"

export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent
is 'says why there is no device' sh -c '"$LATHE_BENCH" --list-devices | grep "^vulkan: none: .*Vulkan"'
"$LATHE_BENCH" --backend vulkan --check-only --op add --size 100 --csv "$tmp/rows.csv" >/dev/null 2>&1
is 'nothing can run' test $? = 3
is 'a row with its reason' grep -E 'skipped.*(Vulkan|glslang|disable-vulkan)' "$tmp/rows.csv"
unset VK_DRIVER_FILES VK_ICD_FILENAMES

# A file that is no library, and a library that is no loader, are not said to be missing.
mkdir "$tmp/none"
loader_is() { # loader_is WORDS: --list-devices says so of the loader in $tmp/none
  LD_LIBRARY_PATH=$tmp/none "$LATHE_BENCH" --list-devices >"$tmp/list"
  is "says: $1" sh -c 'tr -s "\n " " " <"$1" | grep -F -e "$2"' - "$tmp/list" "$1"
}
if ! grep -q "^vulkan: none: .* built without Vulkan's headers" "$tmp/devices"; then
  echo 'no library' >"$tmp/none/libvulkan.so.1"
  loader_is "vulkan: none: libvulkan.so.1 is there and cannot be loaded: $tmp/none/libvulkan.so.1: "
  echo 'int nothing;' | cc -shared -fPIC -x c - -o "$tmp/none/libvulkan.so.1"
  loader_is "vulkan: none: $tmp/none/libvulkan.so.1 is not Vulkan's loader: it has no vkGetInstanceProcAddr"
fi

if grep -q '^vulkan .* ready' "$tmp/backends"; then
  is 'says what the device keeps' grep 'numbers below the normal range' "$tmp/devices"
  is 'is timed' "$LATHE_BENCH" --backend vulkan --op add,sum,softmax --size 1K --fast

  # Of normalizations f32 alone: their launches and barriers are those of every type, and their pipelines take long.
  VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT VK_LOADER_DEBUG=layer \
    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation "$LATHE_BENCH" --backend vulkan --fast \
    --dtype all --op add,div,dropout,argmax,softmax,layernorm,layernorm_backward --variant '[!l]*,*_f32_*' \
    --size 1K,37x1000 >"$tmp/validated" 2>&1
  is 'runs under the validation layer' test $? = 0
  is 'runs under the validation layer' grep -q 'VkLayer_khronos_validation' "$tmp/validated"
  is 'has nothing for the layer to say' sh -c '! grep -E "VUID|UNASSIGNED|SYNC-|Validation" "$1"' - "$tmp/validated"

  is 'a damaged image' damaged_bench add/add__vulkan_host.images.xz
  "$tmp/damaged" --backend vulkan --check-only --op add,mul --size 100 --csv "$tmp/rows.csv" >"$tmp/stdout" 2>&1
  is 'a damaged image is a row with its reason' grep \
    '"add".*skipped.*no pipeline .* kernel add_f32__vulkan.*: its code in this program.s file is damaged (' "$tmp/rows.csv"
  is 'a damaged image costs others nothing' sh -c '! grep \"mul\" "$1" | grep -v \"right\"' - "$tmp/rows.csv"

  # What a driver may answer: each is a row with its reason.
  mkdir "$tmp/shim"
  is 'the shim' cc -shared -fPIC "$LATHE_SRC/tests/vulkan/shim.c" -o "$tmp/shim/libvulkan.so.1" -ldl
  LATHE_LOADER=$(ldconfig -p | sed -n 's/.*libvulkan\.so\.1 .*=> //p' | head -n 1)
  export LATHE_LOADER
  fails() { # fails WORDS STATUS FUNCTION RESULT AFTER
    LD_LIBRARY_PATH=$tmp/shim LATHE_FAIL=$3 LATHE_RESULT=$4 LATHE_AFTER=$5 \
      "$LATHE_BENCH" --backend vulkan --check-only --timeout 0.5 --op add --size 100,1K --csv "$tmp/rows.csv" >"$tmp/stdout" 2>&1
    is "$3 that gives $4" test $? = "$2"
    is "$3 that gives $4" grep "$1" "$tmp/rows.csv"
  }
  fails 'skipped.*no device: VK_ERROR_INITIALIZATION_FAILED' 3 vkEnumeratePhysicalDevices -3 0
  fails 'skipped.*could not be started: VK_ERROR_INCOMPATIBLE_DRIVER, .* no driver is installed' 3 vkCreateInstance -9 0
  fails 'skipped.*lacks bufferDeviceAddress' 3 vkGetPhysicalDeviceFeatures2 0 0
  fails 'skipped.*lacks a queue for compute' 3 vkGetPhysicalDeviceQueueFamilyProperties 0 0
  fails 'skipped.*could not be opened: VK_ERROR_INITIALIZATION_FAILED' 3 vkCreateDevice -3 0
  fails 'skipped.*could not be opened: VK_ERROR_OUT_OF_HOST_MEMORY' 3 vkCreateQueryPool -1 0
  fails 'skipped.*not enough memory on the device' 3 vkAllocateMemory -2 1
  fails 'skipped.*no pipeline .* kernel add_f32__vulkan.*: VK_ERROR_INVALID_SHADER_NV' 3 vkCreateComputePipelines \
    -1000012000 0
  fails 'wrong.*did not end within 0.5 s' 1 vkWaitForFences never 9
  fails 'wrong.*the kernel failed: VK_ERROR_DEVICE_LOST' 1 vkQueueSubmit -4 13
  fails 'wrong.*the results could not be read: VK_ERROR_DEVICE_LOST' 1 vkQueueSubmit -4 14
fi

summary
