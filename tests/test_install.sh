#!/bin/sh
# test_install.sh - what `ninja install` puts where is all that specs of one's own need, and `ninja uninstall` takes
# it away. Runs in the build folder, ninja's own commands but without ninja; needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

# run RULE: what ninja would run for it.
run() {
  DESTDIR=$tmp/root sh -c "$(ninja -t commands "$1" | tail -n 1)"
}

is 'installs the files' run install
bin=$(dirname "$(find "$tmp/root" -name lathe-gen)")
prefix=${bin%/bin}

mkdir -p "$tmp/project/specs"
cat >"$tmp/project/specs/own.lua" <<'SPEC'
op "own" {
  doc = "a spec of one's own",
  inputs = { x = { "rows", "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x) return exp(x - max(x, "cols")) end,
  sizes = { { "1K", rows = 10, cols = 100 } },
  dtypes = { "f32", "f16" },
  ulp = 4,
  variants = { { backend = { "scalar", "sse2" } } },
}
SPEC
cd "$tmp/project" || exit 1
is 'generates' "$bin/lathe-gen" --out made all
PKG_CONFIG_PATH=$prefix/share/pkgconfig
export PKG_CONFIG_PATH
for source in table.c own/own_reference.c own/own__scalar.c own/own__sse2.c; do
  # shellcheck disable=SC2046 # words
  is 'finds the headers' cc $(pkg-config --cflags lathe) -Wall -Werror -fsyntax-only "made/$source"
done
is 'exports' "$bin/lathe-gen" export own --out made
is 'what needs no header' sh -c 'cc made/own.c made/own_test.c -lm -o made/tested && made/tested'
cd - >/dev/null || exit 1

is 'uninstalls' run uninstall
is 'leaves nothing' test -z "$(find "$tmp/root" -type f)"

summary
