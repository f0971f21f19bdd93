#!/bin/sh
# test_implementations.sh - the table of implementations that a spec compares, and the option that picks them. Needs
# LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

cd "$tmp" || exit 1
bench() { "$LATHE_BENCH" --backend scalar "$@" >list 2>messages; }
lines() { # lines NUMBER: of tables' lines that say how far results are apart
  is "$1 lines" test "$(grep -c '^    .*e-[0-9][0-9]\( !\)*$' list)" = "$1"
}

is 'implementations are right' bench --check-only --op weighted_sum --size 64x128,7x3
is 'a table for each size' test "$(grep -c '^  weighted_sum f32 .* on scalar$' list)" = 2
lines 10
is 'that agree' sh -c '! grep " !$" list'
is 'of 16 bits' bench --check-only --op weighted_sum --dtype bf16 --size 64x128
is 'results that are rounded are further apart' test "$(grep -c ' !$' list)" = 5

is 'with the gradient' bench --op 'weighted_sum*' --size 64x128 --iterations 20
lines 5
# Times as "480 ns", their speedups as "7.01x"; the first is 1.00x, "both" the sum of the others.
is 'speedups are of the times' awk '
  function ns(value, unit) { return value * (unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 1e9) }
  function near(a, b) { return a < b * 1.02 + 0.01 && b < a * 1.02 + 0.01 }
  /^    .*x .*e-[0-9][0-9]$/ {
    n = 0
    for (i = 2; i <= NF; i++) if ($i ~ /^[num]*s$/) { time[++n] = ns($(i - 1), $i); speedup[n] = $(i + 1) + 0 }
    if (++seen == 1) for (i = 1; i <= n; i++) first[i] = time[i]
    for (i = 1; i <= n; i++) if (!near(speedup[i], first[i] / time[i])) bad = 1
    if (n == 3 && !near(time[3], time[1] + time[2])) bad = 1
    if (seen != 3 && n != 3 || seen == 3 && n != 1) bad = 1
  }
  END { exit bad || seen != 5 }' list

is 'one of them' bench --check-only --op weighted_sum --implementation unfused --size 7x3 --csv rows.csv
is 'one of them' test "$(grep -c '"right"' rows.csv)" = "$(grep -c 'scalar_unfused.*"right"' rows.csv)"
is 'one of them has no table' sh -c '! grep "on scalar" list'
bench --check-only --op add --implementation unfusd
is 'an unknown one' test $? = 2
is 'an unknown one' grep "unknown implementation 'unfusd'; did you mean 'unfused'?" messages

summary
