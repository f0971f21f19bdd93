#!/bin/sh
# test_peers.sh - other libraries beside ours: on the same inputs, checked, timed and compared; and what is said of one
# that is missing, crashes, hangs or is wrong. Needs LATHE_SRC, LATHE_BENCH, and LATHE_PYTHON, a Python with NumPy.

. "$LATHE_SRC/tests/check.sh"
cd "$tmp" || exit 1

# bench OPTION...: status, and the files `output` and `stderr`
bench() {
  "$LATHE_BENCH" --fast --backend scalar --seed 1 "$@" >output 2>stderr
  status=$?
}
ends() { # ends STATUS
  is "ends with $1" test "$status" = "$1"
}
says() { is "says: $1" grep -e "$1" output; }
as_python() { # as_python FILE: what follows is run in the place of Python
  cat >"$1" && chmod +x "$1"
}
# rows FILE EXPRESSION: it is true of the rows of a JSON file
rows() {
  "$LATHE_PYTHON" - "$1" "$2" <<'EOS'
import json, sys
rows = json.load(open(sys.argv[1]))["benchmarks"]
peers, ours = [r for r in rows if r["peer"]], [r for r in rows if not r["peer"]]
if not eval(sys.argv[2]):
    for r in peers:
        print(*(r[field] for field in "name status reason real_time against ratio ratio_low ratio_high".split()))
    sys.exit(1)
EOS
}

# ---- what a peer's row says -----------------------------------------------------------------------

bench --op add,sum,argmax,softmax,lerp --size 1K,7x33 --peers numpy --json rows.json --csv rows.csv --markdown rows.md
ends 0
says '^op .* numpy '
is 'every op has a row of NumPy' rows rows.json 'len(peers) == 10 and all(r["status"] == "right" for r in peers)'
is 'held against what dispatch chooses' rows rows.json \
  'all(r["against"] in [o["variant"] for o in ours if o["dispatched"] or o["fastest"]] for r in peers)'
is 'by a ratio of the rounds' rows rows.json \
  'all(abs(r["ratio"] - r["real_time"] / next(o["real_time"] for o in ours if o["variant"] == r["against"]
    and o["size"] == r["size"])) < r["ratio"] and (r["ratio_low"] or 0) <= r["ratio"] <= (r["ratio_high"] or 1e9) for r in peers)'
is 'is never the fastest, nor chosen' rows rows.json 'not any(r["fastest"] or r["dispatched"] for r in peers)'
is 'its samples are kept' rows rows.json 'all(len(r["samples"]) == r["sample_count"] > 0 for r in peers)'
is 'a column of the ratio in CSV' grep -q ',ratio,ratio_low,ratio_high,' rows.csv
is 'a ratio has an interval where both times have one' rows rows.json \
  'any(r["ratio_low"] and r["ratio_low"] < r["ratio"] < r["ratio_high"] for r in peers)'
# Of networks a line has the fastest, ours or a library, and by how much.
bench --op mlp --size small --implementation simd --iterations 3 --warmup 1 --peers numpy
tr -s ' \n' ' ' <output >samples
is 'the fastest of a network' grep -E 'by mlp_f32__[a-z0-9_]*, [0-9.]* times as fast as mlp_f32__[a-z0-9_]*; 5200 parameters' samples
is 'a library among these' grep -E 'by mlp_f32__[^;]*numpy[^;]*; 5200' samples

# The report to read has what the comparison comes to.
is 'a heading' grep -x '## Beside other libraries' rows.md
is 'a library with its share' grep -E '^\| numpy \| 10 \| [0-9]+ % \| [0-9]+ % \| [0-9.]+ \|' rows.md
is 'the aim for NumPy' grep -E '^[0-9]+ % of the comparisons with NumPy are .* the aim of 80 % is (reached|missed)' rows.md
is 'each comparison, by its ratio and rating' "$LATHE_PYTHON" - rows.json rows.md <<'EOS'
import json, sys
peers = [r for r in json.load(open(sys.argv[1]))["benchmarks"] if r["peer"]]
cells = [[c.strip() for c in line.split("|")] for line in open(sys.argv[2]) if line.count("|") == 12]
for r in peers:
    line = next(c for c in cells if c[1:5] == [r["op"], r["dtype"], r["size"], "numpy"])
    ratio = r["ratio"]
    rating = "excellent" if ratio >= 0.8 else "good" if ratio >= 0.5 else "fair" if ratio >= 0.2 else "needs work"
    assert line[7] == f"{ratio:.2f}" and line[9] == rating and "±" in line[5] and "±" in line[6], (line, r)
EOS
bench --op add --size 1K --peers numpy
says '^  add_f32__numpy '
says '= .*x.* of add_f32__scalar'

# Each text of the specs that NumPy can compute in f32 is right, transposed products among them.
bench --check-only --size 100,3x255 --peers numpy --json all.json
ends 0
is 'all specs are what NumPy computes' rows all.json \
  'len(peers) > 60 and all(r["status"] == "right" or r["reason"].startswith("NumPy has no") for r in peers)'
bench --op 'matmul*' --check-only --size 5x7x11,64x32x1 --dtype f32,f64 --peers numpy --json products.json
is 'products of matrices' rows products.json 'len(peers) > 3 and all(r["status"] == "right" for r in peers)'
bench --op add --dtype bf16 --size 100 --peers numpy
ends 0
says 'NumPy has no bf16'

# ---- OpenBLAS -------------------------------------------------------------------------------------

bench --op matmul,matmul_nt,matmul_tn --size 5x7x11 --dtype f32,f64,f16 --peers openblas --json products.json
ends 0
if grep -q 'OpenBLAS is not installed' output; then
  echo 'test_peers.sh: OpenBLAS is not tried: it is not installed (./configure --install-deps=peers)'
else
  is 'multiplies matrices of each order' rows products.json \
    'len(peers) == 9 and all((r["status"] == "right") == (r["dtype"] != "f16") for r in peers)'
  is 'and says what it does not' rows products.json \
    '[r["reason"] for r in peers if r["dtype"] == "f16"] == 3 * ["OpenBLAS multiplies matrices of f64 and f32 alone"]'
fi

# ---- peers that are not as they should be ---------------------------------------------------------

fails() { # fails REASON: of a run of which our rows are right
  ends 0
  is "the reason: $1" rows rows.json \
    "all(r['status'] != 'right' and r['real_time'] is None and '$1' in r['reason'] for r in peers) and len(peers) == 2"
  is 'ours go on' rows rows.json 'ours and all(r["status"] == "right" and r["real_time"] > 0 for r in ours)'
}
LATHE_PYTHON=/nonexistent bench --op add,exp --size 100 --peers numpy --json rows.json
fails 'numpy was found in no Python here; ./configure --install-deps=peers installs it'
says 'skipped 2 rows of numpy: '

as_python crash <<'EOS'
#!/bin/sh
eval "echo 'ok a library' >&$4; read line <&$4"
kill -SEGV $$
EOS
LATHE_PYTHON=$tmp/crash bench --op add,exp --size 100 --peers numpy --json rows.json
fails 'ended with signal 11'

as_python stillborn <<EOS
#!/bin/sh
echo begun >>'$tmp/begun'
[ ! "\$ALWAYS" ] && [ "\$(grep -c . '$tmp/begun')" = 2 ] || kill -KILL \$\$
exec '$LATHE_PYTHON' "\$@"
EOS
ALWAYS=1 LATHE_PYTHON=$tmp/stillborn bench --op add,exp --size 100 --peers numpy --json rows.json
fails 'ended with signal 9'
is 'is tried twice' test "$(grep -c . begun)" = 2
rm begun
LATHE_PYTHON=$tmp/stillborn bench --op add,exp --size 100 --peers numpy --json rows.json
is 'one that another program ended' rows rows.json 'len(peers) == 2 and all(r["status"] == "right" for r in peers)'

as_python hang <<'EOS'
#!/bin/sh
eval "echo 'ok a library' >&$4"
exec sleep 300
EOS
LATHE_PYTHON=$tmp/hang bench --op add,exp --size 100 --peers numpy --timeout 1 --json rows.json
fails 'did not end within 1 s'

# What a Python has begun ends with it, however that comes to its end.
as_python parent <<EOS
#!/bin/sh
sleep 300 &
echo \$! >'$tmp/begun'
\$THEN
exec '$LATHE_PYTHON' "\$@"
EOS
ended() { # ended WHEN: the process that the last Python began is no more
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$(cat begun)" 2>/dev/null || break
    sleep 0.2
  done
  is "what a Python began ends with $1" test "$(kill -0 "$(cat begun)" 2>&1)"
  rm begun
}
export THEN=true
LATHE_PYTHON=$tmp/parent bench --op add --size 100 --peers numpy --json rows.json
is 'a Python that began something' rows rows.json 'peers and all(r["status"] == "right" for r in peers)'
ended 'the run'
for THEN in 'exec sleep 300' 'exit 3' 'exec sh -c "kill -SEGV $$"'; do
  LATHE_PYTHON=$tmp/parent bench --op add --size 100 --peers numpy --timeout 1
  ended "$THEN"
done
THEN='exec sleep 300'
for signal in TERM KILL; do
  LATHE_PYTHON=$tmp/parent "$LATHE_BENCH" --fast --backend scalar --op add --size 100 --peers numpy >output 2>&1 &
  while [ ! -s begun ]; do sleep 0.1; done
  kill -$signal $!
  ended "$signal"
  wait $!
done

# It answers everything, and computes nothing.
as_python idle <<'EOS'
#!/bin/sh
eval "exec 3<&$4 4>&$4"
echo 'ok a library' >&4
while read -r word rest; do
  case $word in load) while read -r line && [ "$line" != end ]; do :; done <&3 ;; esac
  echo ok 1000 >&4
done <&3
EOS
LATHE_PYTHON=$tmp/idle bench --op add,exp --size 100 --peers numpy --json rows.json
fails 'was never written'
says 'PEER add_f32__numpy: '

# What is a view of an operand costs a library nothing, and is no result.
is_copied() {
  "$LATHE_PYTHON" - "$LATHE_SRC/runtime/devices/peer" <<'EOS'
import sys
import numpy
for name in "calls", "with_numpy":
    exec(open(f"{sys.argv[1]}/{name}.py").read())
class Work:
    expression, inputs, outputs = "x.T", {"x": numpy.ones((2, 3))}, {"y": numpy.ones((3, 2))}
    statements, value, _ = statements_of(expression)
result = Numpy().prepare(Work).one()
sys.exit(not (result.flags.owndata and result.flags.c_contiguous))
EOS
}
is 'copies what is a view' is_copied

# NumPy itself with wrong results, in the way of the real script: what PART says in the place of `part`.
as_python wrong <<EOS
#!/bin/sh
script=\$(printf '%s' "\$2" | sed "s/np.copyto(view, part/np.copyto(view, \$PART/")
exec '$LATHE_PYTHON' -c "\$script" "\$3" "\$4"
EOS
export PART='part * 1.01'
LATHE_PYTHON=$tmp/wrong bench --op add,exp --size 100 --peers numpy --json rows.json
fails 'ulp off'
is 'with the text that may be at fault' rows rows.json \
  'all("; peers of specs/" in r["reason"] and "says \x27" in r["reason"] for r in peers) and peers'
PART='(part * 1.0000004).astype(part.dtype)'
for seed in 5 6 7; do # by the second problem's results, or the first one's
  LATHE_PYTHON=$tmp/wrong "$LATHE_BENCH" --fast --backend scalar --op exp --size 1K --peers numpy --seed $seed \
    --json rows.json >output 2>stderr
  is "less exact than ours, seed $seed" rows rows.json \
    'all(r["status"] == "right" and (r["ulp"] <= r["ulp_bound"] or "is less exact than" in r["note"]) for r in peers) and peers'
done
PART='part * 1.01'
LATHE_PYTHON=$tmp/wrong bench --op argmax,argmin --size 1K --peers numpy --json rows.json
fails 'r is '
# One NaN or infinity is no rounding, however many results are right.
for value in nan inf; do
  PART="self.np.where(self.np.arange(part.size) == 5, self.np.$value, part)"
  LATHE_PYTHON=$tmp/wrong bench --op add,exp --size 1K --peers numpy --json rows.json
  fails ' ulp off'
done

as_python unknown <<EOS
#!/bin/sh
script=\$(printf '%s' "\$2" | sed "s/self.expression = rest/self.expression = rest + ' + xx'/")
exec '$LATHE_PYTHON' -c "\$script" "\$3" "\$4"
EOS
LATHE_PYTHON=$tmp/unknown bench --op add --size 100 --peers numpy --json rows.json
is 'a text that is refused is named' rows rows.json \
  'all("NameError" in r["reason"] and "peers of specs/arithmetic.lua:" in r["reason"] for r in peers) and peers'

bench --op add --size 100 --peers cudnn,numpy --check-only
ends 0
is 'says which library has nothing to compute' grep 'no rows of cudnn: no spec of these ops has a text for it' stderr
is 'and of no other' test "$(grep -c 'no rows of' stderr)" = 1
bench --op add --peers nump
ends 2
is 'names the nearest peer' grep "unknown peer 'nump'; did you mean 'numpy'" stderr

# ---- on a GPU that is none: a driver, a PyTorch and a cuBLASLt that keep their own time --------------------------

build='cc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC'
driver=$LATHE_SRC/tests/cuda/driver
mkdir gpu
is 'builds the false driver' $build -I"$LATHE_SRC/runtime" "$driver/driver.c" "$driver/device.c" "$driver/defaults.c" \
  -o gpu/libcuda.so.1 -lm
is 'builds the false cuBLASLt' $build -I"$LATHE_SRC/runtime" -I"$driver" "$driver/cublaslt.c" -o gpu/libcublasLt.so.13 \
  -Wl,--no-as-needed gpu/libcuda.so.1 -Wl,-rpath,"$tmp/gpu"
is 'builds the false cuDNN' $build -I"$LATHE_SRC/runtime" -I"$driver" "$driver/cudnn.c" -o gpu/libcudnn.so.9 \
  -Wl,--no-as-needed gpu/libcuda.so.1 -Wl,-rpath,"$tmp/gpu" -lm
# on_gpu OPTION...: the bench program where these are
on_gpu() {
  PYTHONPATH=$LATHE_SRC/tests/peers PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$tmp/gpu \
    "$LATHE_BENCH" --fast --seed 1 --iterations 9 --timeout 20 --json rows.json "$@" >output 2>stderr
  status=$?
}

on_gpu --op exp --backend cuda --size 10,10000 --peers torch,torch.compile
is 'PyTorch has rows on the GPU, and no others' rows rows.json \
  'len(peers) == 4 and all(r["status"] == "right" and r["device"] == "cuda0" for r in peers)'
is 'of either kind' rows rows.json '{r["backend"] for r in peers} == {"torch_cuda", "torch.compile_cuda"}'
is 'warm by its own clock' rows rows.json 'all(abs(r["real_time"] - 1000) < 1 for r in peers)'
is 'and cold' rows rows.json \
  'all(abs(r["cold_time"] - 2000) < 1 if r["size"] == "10000" else r["cold_time"] is None for r in peers)'
if grep -q '^[ *>]*exp_f32__cuda.* skipped' output; then
  echo 'test_peers.sh: no ratio to our CUDA kernels is tried: they were left out'
else
  is 'held against the choice of dispatch there' rows rows.json 'all(abs(r["ratio"] - 1) < 0.01
    and r["against"] == next(o["variant"] for o in ours if o["dispatched"]) for r in peers)'
fi
on_gpu --op exp --backend scalar --size 100 --peers torch
is 'on the processor where our rows are' rows rows.json '[(r["backend"], r["device"]) for r in peers] == [("torch", "peer")]'
on_gpu --op exp --backend scalar,cuda --size 100 --peers torch
is 'and at both places' rows rows.json 'sorted(r["backend"] for r in peers) == ["torch", "torch_cuda"]'
is 'each held against ours' rows rows.json 'all("cuda" in r["against"] or r["backend"] == "torch" for r in peers
  if any(o["backend"] == "cuda" and o["real_time"] for o in ours))'
"$LATHE_BENCH" --op exp --backend cuda --size 100 --peers torch,cublas --json rows.json >output 2>stderr
is 'no GPU is a row with its reason' rows rows.json \
  'any(r["device"] for r in peers) or [r["status"] for r in peers] == ["skipped"] and "NVIDIA" in peers[0]["reason"]'

for backend in scalar cuda; do
  on_gpu --op dropout --backend $backend --size 10000 --peers torch
  is "$backend: random numbers of its own" rows rows.json \
    'all(r["status"] == "right" and r["real_time"] > 0 and r["checked"] == "56 % of the elements" for r in peers) and peers'
  on_gpu --op dropout_backward --backend $backend --size 10000 --peers torch
  is "$backend: a gradient that PyTorch derives" rows rows.json \
    'all(r["status"] == "right" and r["real_time"] > 0 for r in peers) and peers'
  for fault in scale share; do
    FAKE_TORCH=$fault on_gpu --op dropout --backend $backend --size 10000 --peers torch
    is "$backend: dropout with the fault $fault" rows rows.json \
      'all(r["status"] == "wrong" and "draws its own random numbers" in r["reason"] for r in peers) and peers'
  done
done
cat >mine.py <<EOS
import torch

def there(x):
    assert x.device == "cuda:0"
    return x.exp()

def here(x):
    assert x.device == "cpu"
    return x.exp()

def wrong(x):
    return x.exp() * 1.001
EOS
judged() { # judged STATUS VERDICT NAME OPTION...: a function of Python has that verdict
  wanted=$2 name=$3
  ended=$1
  shift 3
  on_gpu --op exp --size 10000 --with "mine.py:$name" "$@"
  [ "$status" = "$ended" ] && rows rows.json "[r['verdict'] for r in peers] == ['$wanted']"
}
is 'a function that has tensors on the GPU' judged 0 right there --backend cuda
is 'by the name of a device' judged 0 right there --device cuda0
is 'it has a ceiling there' rows rows.json 'peers[0]["device"] == "cuda0" and peers[0]["ceiling"]'
is 'one on the processor' judged 0 right here --backend scalar
is 'it is told where it is' judged 1 wrong here --backend cuda
is 'a wrong one there' judged 1 wrong wrong --backend cuda
FAKE_TORCH='no GPU' on_gpu --op exp --size 100 --with mine.py:there --backend cuda
is 'without a GPU it has no verdict' rows rows.json '[r["verdict"] for r in peers] == ["skipped"]'
on_gpu --op exp --size 100 --with mine.py:there --backend cuda --trust none
ends 2
is 'none is shut in there' grep -q 'what is shut in has no GPU; leave out --trust' stderr

FAKE_TORCH=stale on_gpu --op exp --backend cuda --size 10000 --peers torch
is 'graphs that compute nothing' rows rows.json 'all(r["status"] == "wrong" for r in peers) and peers'
FAKE_TORCH='no GPU' on_gpu --op exp --backend cuda --size 10000 --peers torch
is 'a PyTorch that sees no GPU' rows rows.json \
  'all(r["status"] == "skipped" and "PyTorch 2.0.fake finds no GPU" in r["reason"] for r in peers) and peers'

matmul='--op matmul,matmul_nt,matmul_tn,matmul_batched --size 5x7x11,3x5x7x11 --backend scalar --peers cublas'
on_gpu $matmul --dtype f32,f16
is 'cuBLASLt multiplies matrices of each order, and batches' rows rows.json \
  'len(peers) == 16 and all((r["status"] == "right" and r["device"] == "cuda0") == (r["dtype"] == "f32") for r in peers)'
is 'by the faster of two algorithms' rows rows.json \
  'all(abs(r["real_time"] - 1000) < 1 for r in peers if r["dtype"] == "f32")'
is 'and says what it has no algorithm for' rows rows.json \
  'all("no algorithm" in r["reason"] for r in peers if r["dtype"] == "f16")'
FAKE_CUBLAS=wrong on_gpu $matmul --dtype f32
is 'a wrong product is called wrong' rows rows.json 'len(peers) == 8 and all(r["status"] == "wrong" for r in peers)'
on_gpu --op softmax,log_softmax --size 7x33 --backend scalar --dtype f32,f16 --peers cudnn
is 'cuDNN has softmax and its logarithm' rows rows.json \
  'len(peers) == 4 and all((r["status"] == "right" and r["real_time"] > 0) == (r["dtype"] == "f32") for r in peers)'
is 'and says what it refuses' rows rows.json 'all("cuDNN refuses" in r["reason"] for r in peers if r["dtype"] == "f16")'
FAKE_CUDNN=wrong on_gpu --op softmax,log_softmax --size 7x33 --backend scalar --peers cudnn
is 'a wrong softmax is called wrong' rows rows.json 'len(peers) == 2 and all(r["status"] == "wrong" for r in peers)'

rm gpu/libcublasLt.so.13 && echo 'int nothing;' | cc -shared -fPIC -x c - -o gpu/libcublasLt.so.13
on_gpu $matmul --dtype f32
is 'a library that is another' rows rows.json 'all("is not cuBLASLt: it has no cublasLtCreate" in r["reason"] for r in peers)'

summary
