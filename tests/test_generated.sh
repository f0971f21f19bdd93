#!/bin/sh
# test_generated.sh - what compilers make of generated code: which place a message names, and whatever operands are
# called. Needs LATHE_SRC and LATHE_GEN.

. "$LATHE_SRC/tests/check.sh"

have() { # have PROGRAM: whether it is there; says what is not tried without it
  command -v "$1" >/dev/null || {
    echo "skipped: what $1 says of generated code: there is no $1"
    false
  }
}

compile_c() {
  cc -std=gnu11 -fsyntax-only -w -I"$LATHE_SRC/runtime/library" -I"$LATHE_SRC/templates/c" "$1"
}

compile_cuda() {
  nvcc -std=c++17 -arch=sm_80 -I"$LATHE_SRC/runtime/library" -I"$LATHE_SRC/templates/cuda" -cubin -o "$tmp/cubin" "$1"
}

compile_glsl() {
  glslangValidator --quiet --target-env vulkan1.2 -S comp -o "$tmp/spv" "$1"
}

mkdir -p "$tmp/one/specs"
cp -r "$LATHE_SRC/templates" "$tmp/one/"
cd "$tmp/one" || exit 1
cat >specs/one.lua <<'SPEC'
op "one" {
  doc = "x * x + 1",
  inputs = { x = { "n" } }, outputs = { y = { "n" } },
  compute = function(x) return x * x + 1 end,
  sizes = { { "1K", n = 1000 } }, dtypes = { "f32" }, ulp = 2,
  variants = { { backend = { "scalar", "cuda", "vulkan" } } },
}
SPEC

names() { # names COMPILE FILE: whether what the compiler says of the fault names this line
  line=$(grep -n "a_fault;" "$2" | cut -d: -f1)
  "$1" "$tmp/one/out/gen/$generated" >messages 2>&1
  cat messages
  grep "^\(ERROR: \)\{0,1\}$2[:(]${line}[:)].*a_fault" messages >/dev/null
}

# A fault in the definition of a point function: in what is pasted there, which the generated file's own line names,
# and on the template's line below.
try() { # try COMPILE GENERATED TEMPLATE
  generated=$2
  cp "$3" whole
  sed 's/^  \$point\.body\$$/  $(point.body .. "\\na_fault;")/' whole >"$3"
  is "writes $2" "$LATHE_GEN" all
  is "names the line of $2 that a paste has made" names "$1" "out/gen/$2"
  sed 's/^  \$point\.body\$$/&\n  a_fault;/' whole >"$3"
  is "writes $2 again" "$LATHE_GEN" all
  is "names the line of $3 below a paste" names "$1" "$3"
  cp whole "$3"
}

if have cc; then
  try compile_c one/one__scalar.c templates/c/parts.c
fi
if have nvcc; then
  try compile_cuda one/one_f32__cuda.cu templates/cuda/parts.cu
fi
if have glslangValidator; then
  try compile_glsl one/one_f32__vulkan.comp templates/glsl/parts.comp
fi

# Words of languages, of templates, and of what generated code has of other operands, in every template.
rm -r specs out
mkdir specs
cat >specs/words.lua <<'SPEC'
local function words(name, inputs, outputs, compute)
  op(name) {
    doc = "what operands are called", inputs = inputs, outputs = outputs, scalars = { size = 2, args = 1 },
    compute = compute, sizes = { { "S", m = 3, n = 5 } }, dtypes = { "f32" }, ulp = 8,
    variants = { { backend = { "scalar", "cuda", "vulkan" } } },
  }
end
local grid = { "m", "n" }
words("points", { count = grid, int = grid, first = grid }, { base = grid }, function(count, first, int, size, args)
  return exp(count) * first + int * size - args
end)
words("over_all", { row = grid, block = grid }, { float4 = {} }, function(block, row, size, args)
  return sum(block * row, "m", "n") * size + args
end)
words("over_rows", { row = grid, row_pack = grid, main = { "m" }, max1 = { "n" } }, { out = grid, rows = { "m" } },
  function(main, max1, row, row_pack, size, args)
    local most = max(row * row_pack, "n")
    return { out = (row - most) * main * max1 * size, rows = most + args }
  end)
SPEC
is 'writes kernels of operands called so' "$LATHE_GEN" all
for compile in cc:compile_c:.c nvcc:compile_cuda:.cu glslangValidator:compile_glsl:.comp; do
  command=${compile#*:}
  ! have "${compile%%:*}" || for file in out/gen/*/*"${command#*:}"; do
    case $file in
    */table.c | *_host.c) ;;
    *) is "compiles $file" "${command%:*}" "$file" ;;
    esac
  done
done

# Aligned results go to memory by whole accesses, also where a kernel stores them one by one on another path.
rm -r specs out
mkdir specs
cat >specs/product.lua <<'SPEC'
op "product" {
  doc = "a b", inputs = { a = { "m", "k" }, b = { "k", "n" } }, outputs = { c = { "m", "n" } },
  compute = function(a, b) return sum(a * b, "k") end,
  sizes = { { "S", m = 3, k = 4, n = 5 } }, dtypes = { "f32", "f16" }, ulp = 8, variants = { { backend = "cuda" } },
}
SPEC
stores_whole() { # stores_whole DTYPE PATTERN: the kernels of that type that have no such store
  nvcc -std=c++17 -arch=sm_80 -diag-suppress 177 -I"$LATHE_SRC/runtime/library" -I"$LATHE_SRC/templates/cuda" -ptx \
    -o "$tmp/ptx" "out/gen/product/product_$1__cuda.cu" || return 1
  awk -v whole="st.global.($2)" '/[.]entry/ { name = $3; there++ } $0 ~ whole { has[name] = 1 } { all[name] }
    END { for (name in all) if (name != "" && !has[name]) { print name; there = 0 } exit there == 0 }' "$tmp/ptx"
}
is 'writes a product' "$LATHE_GEN" all
if have nvcc; then
  is 'stores f32 by 16 bytes' stores_whole f32 'v4.[ubf]32|v2.[ubf]64'
  is 'stores f16 by 8 bytes or more' stores_whole f16 'v4.[ubf]32|v2.[ubf]64|v2.[ubf]32|[ub]64'
fi

# What a function's steps are rounded to counts for some of them; of a sum of products compilers may make one step.
rm -r specs out
mkdir specs
cat >specs/roundings.lua <<'SPEC'
local function declare(name, compute)
  op(name) {
    doc = "a function", inputs = { x = { "n" } }, outputs = { y = { "n" } }, compute = compute,
    sizes = { { "1K", n = 1000 } }, dtypes = { "f16", "bf16" }, ulp = 15, variants = { { backend = "vulkan" } },
  }
end
declare("error_function", function(x) return erf(x) end)
declare("polynomial", function(x) return x * x + x end)
SPEC
is 'writes functions of 16 bits for Vulkan' "$LATHE_GEN" all
for type in f16 bf16; do
  is "has the sums of erf in $type rounded as they stand" \
    grep -q 'precise float t[0-9]* = t[0-9]* - t' "out/gen/error_function/error_function_${type}__vulkan.comp"
  is "leaves the sums of a polynomial in $type to compilers" \
    sh -c "! grep "precise float t[0-9]" out/gen/polynomial/polynomial_${type}__vulkan.comp"
done

summary
