#!/bin/sh
# test_profile.sh - where the time of a call goes: --profile, ranges for tools, and what a launch of nothing takes. Needs
# LATHE_SRC, LATHE_BENCH and LATHE_PYTHON, in the folder of the build.

. "$LATHE_SRC/tests/check.sh"

export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent
cd "$tmp" || exit 1

# rows EXPRESSION: it is true of rows.json, as `rows` and `context`.
rows() {
  "$LATHE_PYTHON" -c '
import json, sys
run = json.load(open("rows.json"))
context, rows = run["context"], [r for r in run["benchmarks"] if r["status"] == "right"]
sys.exit(not (rows and eval(sys.argv[1])))' "$1"
}

fields='("host_time", "launch_time", "kernel_time", "memory_time", "copy_in_time", "copy_out_time", "pinned_in_time")'

is 'a run without it' "$LATHE_BENCH" --fast --op exp --size 1K --backend scalar --json rows.json
is 'has no such figures' rows "all(r[f] is None for r in rows for f in $fields)"
is 'knows what an empty call takes' rows '0 < context["empty_launches"]["cpu"]["own_ns"] < context["empty_launches"]["cpu"]["host_ns"]'

"$LATHE_BENCH" --fast --profile --op exp --size 100K --backend scalar --json rows.json --csv rows.csv --markdown rows.md >list 2>stderr
is 'a processor' rows 'all(r["kernel_time"] == r["real_time"] and r["memory_time"] < r["kernel_time"] for r in rows)'
is 'alone a call takes longer than nothing' rows 'all(r["host_time"] > r["kernel_time"] / 2 for r in rows)'
is 'which is not asked' rows 'all(r["launch_time"] is None and r["copy_in_time"] is None for r in rows)'
is 'nor told of copies' sh -c '! grep -q copy list'
is 'in the table' grep -q '^Where the time of a call goes' list
is 'and in CSV' grep -q 'host_time,launch_time,kernel_time,copy_in_time,copy_out_time,pinned_in_time,pinned_out_time,memory_time,instructions' rows.csv
is 'and in Markdown' grep -q '^## Where the time of a call goes' rows.md
is 'with its figures' grep -Eq '^\| exp_f32__scalar_u1 \| 100K \| [0-9.]+ [um]s \| [0-9.]+ [um]s \| [0-9.]+ [um]s \|' rows.md
is 'counts, or says once why not' rows "(context['counters_missing'] is None) == all(r['cycles'] is not None for r in rows)"
[ "$(grep -c 'are not counted:' list)" = 1 ] || is 'a reason is not needed' rows 'context["counters_missing"] is None'

is 'measures' sh -c '"$LATHE_BENCH" --profile --check-only 2>&1 | grep -q "check-only with --profile: what is only checked is not measured"'

# A driver in which a launch that moves memory takes 0.5 us, and any other one 1 us.
cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -Wno-unused-parameter -shared -fPIC \
  -I"$LATHE_SRC/runtime" "$LATHE_SRC/tests/cuda/driver/driver.c" "$LATHE_SRC/tests/cuda/driver/device.c" \
  "$LATHE_SRC/tests/cuda/driver/defaults.c" -o libcuda.so.1 -lm
LD_LIBRARY_PATH=. "$LATHE_BENCH" --fast --profile --op exp --size 10K --backend cuda --dtype f32 --json rows.json >list 2>stderr
if grep -q 'skipped: disabled' list; then
  echo 'there are no CUDA kernels here'
else
  is 'a GPU' rows 'all(abs(r["kernel_time"] - 1000) < 1 for r in rows)'
  is 'is asked, and waited for' rows 'all(0.01 < r["launch_time"] / r["host_time"] < 100 for r in rows)'
  is 'is given inputs, and asked for outputs' rows 'all(r["copy_in_time"] > 0 and r["copy_out_time"] > 0 for r in rows)'
  is 'also in pinned memory' rows 'all(r["pinned_in_time"] > 0 and r["pinned_out_time"] > 0 for r in rows)'
  is 'in columns of its own' grep -q 'copy in copy out  pin in pin out' list
  is 'does nothing in no time' rows 'abs(context["empty_launches"]["cuda0"]["own_ns"] - 500) < 1'
  is 'as the table says' grep -q 'empty launch.*cuda0 500 ns' list
fi

# A GPU's clock, of a library that says it: it drops for one reading of three, or stays low after some.
cat >nvml.c <<'C'
#include <stdlib.h>
#include <string.h>
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  *device = &nvmlInit_v2;
  return strcmp(uuid, "GPU-00000000-0000-0000-0000-000000000000") != 0;
}
int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz) {
  static int readings;
  const char *wish = getenv("FAKE_CLOCK");
  (void)device;
  readings++;
  *mhz = wish && (strcmp(wish, "drops") == 0 ? readings % 3 == 1 : strcmp(wish, "low") == 0 && readings > 8) ? 990 : 1980;
  return which != 1;
}
C
clocked() { # clocked WISH: a run of some rows with that library
  FAKE_CLOCK=$1 LD_LIBRARY_PATH=. "$LATHE_BENCH" --fast --rounds 4 --op exp --size 10K --backend cuda --json rows.json >list 2>stderr
}
if ! grep -q 'skipped: disabled' list; then
  is 'compiles' cc -D_GNU_SOURCE -O1 -Wall -shared -fPIC nvml.c -o libnvidia-ml.so.1
  clocked steady
  is 'a steady clock' rows 'all(r["clock_low_mhz"] == r["clock_mhz"] == r["clock_high_mhz"] == 1980 and r["retaken"] == 0 for r in rows)'
  is 'is nothing to tell' sh -c '! grep "clock went" stderr'
  clocked drops
  is 'what it changed in is taken again' rows 'all(r["retaken"] > 0 and r["clock_mhz"] == 1980 for r in rows)'
  clocked low
  is 'rows at another clock' rows 'any(r["clock_low_mhz"] == 990 for r in rows) and max(r["clock_high_mhz"] for r in rows) == 1980'
  is 'are told of' grep -q "cuda0's clock went from 990 to 1980 MHz" stderr
  rm libnvidia-ml.so.1
fi

# What a kernel that counts says: files in which each number read is 1000 more than the last.
cat >counts.c <<'C'
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
long syscall(long number, ...) {
  static long (*real)(long, ...);
  va_list list;
  long a[6];
  va_start(list, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "syscall");
  if (number != SYS_perf_event_open) return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (getenv("REFUSED")) { errno = EACCES; return -1; }
  int file = memfd_create("counts", 0);
  uint64_t value;
  for (int i = 1; i < 10000; i++) { value = 1000 * (uint64_t)i; if (write(file, &value, sizeof value) < 0) return -1; }
  lseek(file, 0, SEEK_SET);
  return file;
}
C
if [ -n "$LATHE_SANITIZE" ]; then
  echo 'a program with sanitizers takes no other library before them'
else
  is 'compiles' cc -D_GNU_SOURCE -O1 -shared -fPIC counts.c -o counts.so -ldl
  LD_PRELOAD=$tmp/counts.so "$LATHE_BENCH" --fast --profile --op exp --size 100K --backend scalar --json rows.json >list 2>stderr
  is 'what is counted is of one call' rows 'all(abs(r["cycles"] * r["calls_per_sample"] - 1000) < 1 for r in rows)'
  is 'in the table' grep -q 'inst/cyc' list
  REFUSED=1 LD_PRELOAD=$tmp/counts.so "$LATHE_BENCH" --fast --profile --op exp --size 100K --backend scalar >list 2>stderr
  is 'says what forbids it' sh -c 'tr "\n" " " <list | grep -q "not counted: the kernel does not let it *(kernel.perf_event_paranoid is"'
fi

# A tool for ranges, as Nsight Systems is one.
cat >tool.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
typedef void function(void);
static int depth;
static void say(const char *word, const char *name) {
  FILE *to = fopen("ranges", "a");
  fprintf(to, "%d %s %d %s\n", (int)getpid(), word, depth, name);
  fclose(to);
}
static int begins(const char *name) { say("begin", name); return depth++; }
static int ends(void) { depth--; say("end", ""); return depth; }
typedef struct { size_t size; int (*table)(int, function ***, unsigned *); } callbacks;
int InitializeInjectionNvtx2(const void *(*tables)(uint32_t)) {
  const callbacks *c = tables(1);
  function ***core, ***core2;
  unsigned last;
  if (!c || c->size < sizeof *c || !c->table(1, (function ***)&core, &last) || last < 11 ||
      !c->table(5, (function ***)&core2, &last) || last < 15 || c->table(2, (function ***)&core2, &last))
    return 0;
  *core[9] = (function *)begins;
  *core[11] = (function *)ends;
  return 1;
}
C
is 'compiles a tool' cc -O1 -Wall -shared -fPIC tool.c -o tool.so
NVTX_INJECTION64_PATH=$tmp/tool.so "$LATHE_BENCH" --fast --profile --op exp --size 1K --backend scalar >list 2>stderr
for name in exp_f32__scalar probe inputs reference 'operands and kernels' 'first call' compare 'second call' release check 'time, warm' profile ceilings; do
  is "a range of $name" grep -q "begin [0-2] $name" ranges
done
is 'each ends' test "$(grep -c ' begin ' ranges)" = "$(grep -c ' end ' ranges)"
is 'at its own depth' sh -c '! grep -q "end -" ranges && grep -q " end 0" ranges'
NVTX_INJECTION64_PATH=$tmp/counts.c "$LATHE_BENCH" --fast --op exp --size 1K --backend scalar >list 2>stderr
is 'what is no tool is a warning' grep -q 'warning: NVTX_INJECTION64_PATH names' stderr
is 'and no more' grep -q ' 0 wrong' list

summary
