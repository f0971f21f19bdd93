#!/bin/sh
# test_vulkan_contract.sh - contractions by the GLSL kernels, on whatever device there is; Mesa's lavapipe will do:
# orders of axes, batches, prologues, epilogues, steps, terms that workgroups share; and faults planted in their
# templates, which the check must find. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

"$LATHE_BENCH" --list-backends >"$tmp/backends"
if ! grep -q '^vulkan .* ready' "$tmp/backends"; then
  echo 'skipped: Vulkan contractions: there is no device'
  summary
  exit
fi

tree
templates_of_its_own
{
  sed 's/variants = {/& { backend = "vulkan", bm = 32, bn = 64, bk = 8 },/' "$LATHE_SRC/tests/specs-contract/contract.lua"
  cat <<'EOF2'
declare("shifted", { x = { "m", "k" }, w = { "n", "k" }, bias = { "n" } }, { y = { "m", "n" } },
  function(x, w, bias) return sum((x + 2) * (w + 3), "k") + bias end)
EOF2
} >"$tmp/tree/specs/contract.lua"
tools=$(cd "$(dirname "$LATHE_BENCH")" && pwd)/tools
for build in right matrix faulty; do
  mkdir -p "$tmp/$build/out"
  [ ! -d "$tools" ] || ln -s "$tools" "$tmp/$build/out/"
done
configured() { # configured OPTION...: with Vulkan alone
  configure CFLAGS=-O1 KERNEL_CFLAGS=-O0 --enable-vulkan --disable-cuda --disable-avx512 --disable-avx2 \
    --disable-sse2 --disable-scalar "$@" && reuse
}
checked() { "$bench" --backend vulkan --check-only --timeout 300 "$@"; }

cd "$tmp/right" || exit 1
matrices=product_111,product_122,product_212,product_221,dequantised,scaled_inside,two_outputs,shifted
batches=batch_between,batch_inside,out_of_heads,terms_of_one,mlp_backward
is 'configures' configured "--ops=$matrices,$batches,matrix_vector,total,two_products*,typed_bytes,typed_across"
is 'builds the kernels' ninja out/bench
is 'is right' checked --dtype f32 --op "$matrices" --size 67x70x19
is 'is right in batches' checked --dtype f32 --op "$batches" --size 9x10x11x12
is 'is right without columns' checked --dtype f32 --op matrix_vector,total
is 'is right in other types' checked --dtype f64,f16,bf16 --op 'two_products,product_122,shifted,typed_*' --size 67x70x19
is 'is right of few rows and columns' checked --no-probe --dtype f32 --op shifted,product_212 \
  --size 1x67x9,7x67x35,67x1x9,67x8x35
is 'is right where workgroups share terms' checked --no-probe --dtype f32 --op shifted \
  --size 9x10x1500,3x9x2500,9x3x1501
is 'is right with special values' checked --no-probe --dtype all --op shifted --special nan,inf,zero,denormal --size 33x65x9

# ---- products of matrices ---------------------------------------------------------------------------------------

# A device that has none gets kernels that make them of numbers, for subgroups of 8 and for workgroups of 256.
cat >"$tmp/matrices.lua" <<'EOF2'
for order, axes in ipairs { { { "b", "m", "k" }, { "k", "n" } }, { { "b", "k", "m" }, { "n", "k" } } } do
  op("matrices_" .. order) {
    doc = "by matrices", inputs = { a = axes[1], w = axes[2], bias = { "n" } }, outputs = { c = { "b", "m", "n" } },
    compute = function(a, w, bias) return sum(a * w, "k") + bias end,
    sizes = { { "S", b = 2, m = 72, n = 136, k = 40 } }, -- of which some tiles are whole
    dtypes = { "f16" }, ulp = 3,
    variants = {
      { backend = "vulkan", unit = "matrix", products = { "exact", "f16" }, bm = 64, bn = 128, bk = 16 },
      { backend = "vulkan", unit = "workgroup", products = { "exact", "f16" }, bm = 64, bn = 64, bk = 16 },
    },
  }
end
EOF2
emulate() {
  templates=$tmp/tree/templates/glsl
  cp "$tmp/matrices.lua" "$tmp/tree/specs/" &&
    sed -i 's/^ *needs = { matrix = MATRIX_NEEDS.*},$//; s/^ *features = { matrix = { "VULKAN_MATRIX" }.*},$//' \
      $templates/backend.lua &&
    sed -i 's/subgroups = subgroups, side = { wm, wn, p.bk }/threads = 64/' $templates/schedule_contract.lua &&
    sed -i 's/float \.\. "(sums\[nth\])"/"sums[nth]"/; s/\$sum\$(0\.0)/emulated_of(0.0)/; s/coopmat<[^>]*>/emulated/
      s/\[\[unroll\]\]/[[dont_unroll]]/; /^layout(constant_id = [567])/d' $templates/contract_matrix.comp &&
    sed -i 's/= \$sum\$(0\.0)/= emulated_of_all(float[16](0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))/
      s/ = \$float\$(sums)/ = sums/; s/("coopmat<[^>]*>")/("emulated_of_all%.s%.s%.s%.s")/; s/tensorLayoutNV<[^>]*>/emulated_layout/
      s/tensorViewNV<[^>]*>/bool/; s/", turned" or ""/", true" or ", false"/
      s/coopMatPerElementNV(results, results, \([^,]*\),/for (uint of = 0u; of < 16u; of++)\n\1(thread \/ 4u, thread % 4u * 16u + of, results.of[of],/' \
      $templates/contract_workgroup.comp &&
    sed -i "/use \"kernel.comp\"/{
      r $LATHE_SRC/tests/vulkan/matrices.comp
      r $LATHE_SRC/tests/vulkan/workgroup_matrices.comp
    }" $templates/contract.comp
}
wrong_by() { # wrong_by UNIT FROM TO: a fault of matrices
  fault matrices_2 "glsl/contract_$1.comp" "$2" "$3" --dtype f16 --variant "*_$1_*"
}
"$LATHE_BENCH" --list-devices >"$tmp/devices" 2>&1
if grep -A3 'llvmpipe' "$tmp/devices" | grep 'subgroups of 8,' >/dev/null; then
  cd "$tmp/matrix" || exit 1
  cp -R "$tmp/tree/templates" "$tmp/templates"
  is 'takes matrices of its own' emulate
  is 'configures for matrices' configured "--ops=matrices_*"
  is 'builds kernels of matrices' ninja out/bench
  is 'is right by matrices' checked --dtype f16
  is 'finds a slice of the next place' wrong_by matrix '$f.letter$_from += $f.letter$_next;' ''
  is 'finds a matrix that is not turned' wrong_by workgroup '(letter == "b")' '(letter == "a")'
  rm -r "$tmp/tree/templates" "$tmp/tree/specs/matrices.lua"
  mv "$tmp/templates" "$tmp/tree/"
fi

# ---- planted faults ---------------------------------------------------------------------------------------------

cd "$tmp/faulty" || exit 1
is 'configures for faults' configured --ops=shifted,batch_between,chain --dtypes=f32
is 'builds what is to be faulty' ninja out/bench
is 'is right without a fault' checked

is 'finds an edge tile left out' fault shifted glsl/contract_step.comp \
  'lathe_times(n_count, bn)' 'n_count / bn' --size 33x67x9
is 'finds terms that are none' fault shifted glsl/contract_tile.comp \
  ' < left ? packed : $(k:literal(0))' ' < 99u ? packed : $(k:literal(0))' --size 9x10x9
is 'finds a slice left out' fault shifted glsl/contract_tile.comp \
  'if (first > from)' 'if (first > from && first != 16ul)' --size 9x10x33
is 'finds a slice written too early' fault shifted glsl/contract_tile.comp '  barrier();
  //@ for _, f in ipairs(factors) do
  //@ keep' '  //@ for _, f in ipairs(factors) do
  //@ keep' --size 65x67x70
is 'finds an offset of another batch' fault batch_between glsl/contract_step.comp \
  '(#places > 0 and " * " .. size(places) or "")' '""' --size 9x3x10x5
is 'finds an epilogue of other columns' fault shifted glsl/contract_step.comp \
  'how == "none" and 0 or point' 'sum and 0 or point' --size 9x67x9
is 'finds results of other rows' fault shifted glsl/contract_tile.comp \
  'row, W, own.lanes_m, W, row, W)' 'row, W, own.lanes_m, W, "0", W)' --size 33x67x9
is 'finds parts that are not added up' fault shifted glsl/contract_step.comp \
  'part == 0u ? partial : sums[nth] + partial' 'partial' --size 9x10x1500
is 'finds counts that stay' fault shifted glsl/contract_step.comp \
  'lathe_word(arrived).at = 0u' 'lathe_word(arrived).at = 1u' --size 9x10x1500
is 'finds a temporary in another place' fault chain glsl/contract_step.comp \
  'args.workspace + %dul + %s", schedule.counts, bytes' 'args.workspace + %dul + %s + 4ul", schedule.counts, bytes' \
  --size 9x10x5x11
is 'finds a slice left out, of few rows' fault shifted glsl/contract_thin.comp \
  'first += $shape.bk$ul' 'first += $(2 * shape.bk)ul' --size 3x67x1100
is 'finds an invocation left out' fault shifted glsl/contract_thin.comp \
  'of < $LANES$u' 'of < $(LANES - 1)u' --size 3x67x90
is 'finds a group left out' fault batch_between glsl/contract_thin.comp \
  'of < $shape.groups$u' 'of < $(shape.groups - 1)u' --size 3x3x67x90
is 'finds a column left out' fault shifted glsl/contract_thin.comp \
  'row < $shape.few$u; row++' 'row < $(shape.few - 1)u; row++' --size 67x3x90

summary
