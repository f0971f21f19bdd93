//@ -- How the terms of a reduction are gathered by an invocation, then merged over invocations in an order that never
//@ -- changes. A gatherer has clear, which leaves it as nothing gathered, merge, and exchange: what the invocation has
//@ -- whose number differs in the bits of `mask`.
//@ local wide = k.number == "double"
//@ for name, sign in pairs { larger = ">", smaller = "<" } do
//@ piece["lathe_" .. name] = function()
/* The $name$ of two; NaN where either is. */
$k.number$ lathe_$name$($k.number$ a, $k.number$ b) {
  const bool nan = b != b;
  return b $sign$ a || nan ? b : a;
}
//@ end
//@ end

//@ if k.bytes == 2 then
//@ for name, format in pairs { largest = "max(%s, %s)", smallest = "min(%s, %s)", sum = "%s + %s" } do
//@ piece["lathe_" .. name .. "_of"] = function()
/* Of what k:stored() has: $(k.dtype == "f16" and "pairs" or "single numbers"). */
//@ if k.dtype == "f16" then
float lathe_$name$_of(f16vec2 pair) {
  return $(format:format("float(pair.x)", "float(pair.y)"));
}
//@ else
float lathe_$name$_of(float x) {
  return x;
}
//@ end
//@ end
//@ end
//@ end

//@ function piece.lathe_exchange()
$k.number$ lathe_exchange($k.number$ x, uint mask) {
  //@ if wide then
  return packDouble2x32(subgroupShuffleXor(unpackDouble2x32(x), mask));
  //@ else
  return subgroupShuffleXor(x, mask);
  //@ end
}
//@ end

//@ function piece.lathe_sum()
struct lathe_sum {
  $k.number$ value;
};

void lathe_clear(out lathe_sum mine) {
  mine.value = $(k:neutral("sum"));
}

void lathe_merge(inout $k.precise$lathe_sum mine, lathe_sum other) {
  mine.value += other.value;
}

lathe_sum lathe_exchange(lathe_sum mine, uint mask) {
  return lathe_sum(lathe_exchange(mine.value, mask));
}
//@ end

//@ function piece.lathe_carried()
/* A sum, and what rounding took from it: of a sum of two that is known exactly (Knuth 1969). */
struct lathe_carried {
  $k.number$ value, lost;
};

void lathe_clear(out lathe_carried mine) {
  mine = lathe_carried($(k:neutral("sum")), $(k:literal(0)));
}

void lathe_take(inout precise lathe_carried mine, $k.number$ term) {
  precise const $k.number$ sum = mine.value + term, taken = sum - mine.value;
  precise const $k.number$ off = (mine.value - (sum - taken)) + (term - taken);
  mine.lost += off;
  mine.value = sum;
}

void lathe_merge(inout precise lathe_carried mine, lathe_carried other) {
  lathe_take(mine, other.value);
  mine.lost += other.lost;
}

/* An infinite sum has no error to add: infinity less infinity is NaN. */
$k.number$ lathe_result(lathe_carried mine) {
  precise const $k.number$ sum = mine.value + mine.lost;
  return mine.lost == mine.lost && mine.lost != $(k:literal(0)) ? sum : mine.value;
}
//@ end

//@ function piece.lathe_picked()
/* The term at an index; NaN where there is none. */
struct lathe_picked {
  $k.number$ value;
};

void lathe_clear(out lathe_picked mine) {
  mine.value = $(k:literal(0 / 0));
}

void lathe_merge(inout lathe_picked mine, lathe_picked other) {}
//@ end

//@ function piece.lathe_moments()
/* The sum, and that of the squares about the mean, as in templates/cuda/gather.h. */
struct lathe_moments {
  $k.number$ value, squares, count;
};

void lathe_clear(out lathe_moments mine) {
  mine = lathe_moments($(k:neutral("sum")), $(k:literal(0)), $(k:literal(0)));
}

void lathe_merge(inout $k.precise$lathe_moments mine, lathe_moments other) {
  if (other.count == $(k:literal(0)))
    return;
  if (mine.count == other.count) {
    const $k.precise$$k.number$ apart = (mine.value - other.value) * ($(k:literal(1)) / mine.count);
    mine.squares = (mine.squares + other.squares) + apart * apart * (mine.count * $(k:literal(0.5)));
  } else if (mine.count == $(k:literal(0))) {
    mine.squares = other.squares;
  } else {
    const $k.precise$$k.number$ apart = mine.value / mine.count - other.value / other.count;
    const $k.precise$$k.number$ weight = mine.count * other.count / (mine.count + other.count);
    mine.squares = (mine.squares + other.squares) + apart * apart * weight;
  }
  mine.value += other.value;
  mine.count += other.count;
}

lathe_moments lathe_exchange(lathe_moments mine, uint mask) {
  const bool all = (THREADS & (THREADS - 1u)) == 0u; /* else some of a subgroup have nothing to merge */
  return lathe_moments(lathe_exchange(mine.value, mask), lathe_exchange(mine.squares, mask),
                       MODE == LATHE_FULL && all ? mine.count : lathe_exchange(mine.count, mask));
}

$k.number$ lathe_second(lathe_moments mine) {
  return mine.squares;
}
//@ end

//@ if not wide then
//@ function piece.lathe_powers()
/* The largest term, and the sum of e^(term - largest), as in templates/cuda/gather.h. */
struct lathe_powers {
  float value, total;
};

void lathe_clear(out lathe_powers mine) {
  mine = lathe_powers($(k:neutral("maximum")), 0.0);
}

float lathe_powers_of(float x, float largest) {
  const $k.precise$float below = x - (largest == $(k:neutral("maximum")) ? 0.0 : largest);
  return lathe_exp_near_$(k.bytes == 2 and "f16" or "f32")(below);
}

void lathe_raise(inout $k.precise$lathe_powers mine, float to) {
  mine.total *= lathe_powers_of(mine.value, to);
  mine.value = to;
}

void lathe_merge(inout $k.precise$lathe_powers mine, lathe_powers other) {
  const float larger = lathe_larger(mine.value, other.value);
  lathe_raise(mine, larger);
  const $k.precise$float raised = other.total * lathe_powers_of(other.value, larger);
  mine.total += raised;
}

lathe_powers lathe_exchange(lathe_powers mine, uint mask) {
  return lathe_powers(lathe_exchange(mine.value, mask), lathe_exchange(mine.total, mask));
}

/* Brings all of a subgroup to the largest of it. By shuffles: of keys, NVIDIA's subgroupMax (driver 580) has made NaN
 * in kernels that were short of registers. */
void lathe_merge_subgroup(inout $k.precise$lathe_powers mine) {
  float largest = mine.value;
  //@ for step = 6, 0, -1 do
  if (SUBGROUP > $(1 << step)u)
    largest = lathe_larger(largest, lathe_exchange(largest, $(1 << step)u));
  //@ end
  lathe_raise(mine, largest);
}

float lathe_second(lathe_powers mine) {
  return mine.value == $(k:neutral("maximum")) ? $(k:literal(0 / 0)) : mine.total;
}
//@ end

//@ end
//@ for name, kind in pairs { larger = "maximum", smaller = "minimum" } do
//@ local type, larger = k:gatherer(kind), tostring(kind == "maximum")
//@ piece[type] = function()
struct $type$ {
  $k.number$ value;
};

void lathe_clear(out $type$ mine) {
  mine.value = $(k:neutral(kind));
}

void lathe_merge(inout $type$ mine, $type$ other) {
  mine.value = lathe_$name$(mine.value, other.value);
}

$type$ lathe_exchange($type$ mine, uint mask) {
  return $type$(lathe_exchange(mine.value, mask));
}
//@ end
//@ end

//@ function piece.lathe_nowhere()
/* No place. */
const uint64_t lathe_nowhere = 0x7ffffffffffffffful;
//@ end

//@ for sign, kind in pairs { [">"] = "argmax", ["<"] = "argmin" } do
//@ local type, larger = k:gatherer(kind), tostring(kind == "argmax")
//@ piece[type] = function()
/* The place of the first largest or smallest term, or of the first NaN. */
struct $type$ {
  $k.number$ value;
  uint64_t index;
};

void lathe_clear(out $type$ mine) {
  mine.value = $(k:neutral(kind));
  mine.index = lathe_nowhere;
}

void lathe_merge(inout $type$ mine, $type$ other) {
  const bool nan = mine.value != mine.value, other_nan = other.value != other.value;
  const bool equal = nan || other_nan ? nan && other_nan : mine.value == other.value;
  const bool better = !nan && (other_nan || other.value $sign$ mine.value);

  if (equal ? other.index < mine.index : better)
    mine = other;
}

$type$ lathe_exchange($type$ mine, uint mask) {
  const uvec2 index = subgroupShuffleXor(uvec2(uint(mine.index), uint(mine.index >> 32)), mask);
  return $type$(lathe_exchange(mine.value, mask), uint64_t(index.x) | uint64_t(index.y) << 32);
}
//@ end
//@ end
