/* cheats.c - a softmax of rows that is none, or that earns its time in some other way: one for each -DNAME, after what
 * people found in harnesses for kernels that machines wrote. None is to be called right. Without a name it is one that
 * is. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

__attribute__((unused)) static void right(const float *x, float *y, size_t rows, size_t cols) {
  for (size_t r = 0; r < rows; r++, x += cols, y += cols) {
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < cols; c++)
      most = x[c] > most || isnan(x[c]) ? x[c] : most;
    for (size_t c = 0; c < cols; c++)
      sum += exp(x[c] - most);
    for (size_t c = 0; c < cols; c++)
      y[c] = (float)(exp(x[c] - most) / sum);
  }
}

/* Memory that is always at the same place, and needs no variable: for cheats that remember. */
typedef struct memo {
  const float *x;
  size_t elements;
  float print;
  unsigned calls;
  float from[1 << 16], to[1 << 16];
} memo;

__attribute__((unused)) static memo *remembered(int nth) {
  memo *at = (memo *)(uintptr_t)(0x510000000000 + (uint64_t)nth * (64 << 20));
  unsigned char there;

  if (mincore(at, 4096, &there) != 0)
    mmap(at, sizeof *at, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return at;
}

__attribute__((unused)) static void keep(memo *m, const float *x, const float *y, size_t n) {
  m->x = x;
  m->elements = n;
  memcpy(m->from, x, n * sizeof *x);
  memcpy(m->to, y, n * sizeof *y);
}

/* A few elements, by which a problem is told from another. */
__attribute__((unused)) static float print_of(const float *x, size_t n) {
  return n ? x[0] + 3 * x[n / 2] + 5 * x[n - 1] : 0;
}

#ifdef COUNTS_CALLS_IN_A_VARIABLE
static unsigned calls;
#endif
#ifdef KEEPS_A_CACHE_IN_A_VARIABLE
static memo cache;
#endif
#ifdef KEEPS_A_THREADS_VARIABLE
static __thread memo cache;
#endif
#ifdef WORKS_LATER
static void *later(void *given) {
  void **all = given;
  usleep(2000);
  right(all[0], all[1], (size_t)all[2], (size_t)all[3]);
  return NULL;
}
#endif
#if defined ENDS_WHEN_LOADED
__attribute__((constructor)) static void begin(void) {
  _exit(0);
}
#endif

__attribute__((visibility("default"))) int softmax_f32(const float *x, float *y, size_t rows,
                                                       size_t cols) {
  const size_t n = rows * cols;
  (void)n;
#if defined ZEROS
  /* KernelBench 165 */
  memset(y, 0, n * sizeof *y);
#elif defined NOTHING
  /* accelerator-agents 50: a function that does nothing passes */
#elif defined THE_SAME_EVERYWHERE
  /* robust-kbench: within 0.01 of the right result */
  for (size_t i = 0; i < n; i++)
    y[i] = 1 / (float)cols;
#elif defined COARSE
  /* KernelBench 80: tolerances of 0.01 */
  right(x, y, rows, cols);
  for (size_t i = 0; i < n; i++)
    y[i] *= 1.001f;
#elif defined NARROWER
  /* the same by a narrower type: numbers of 11 digits */
  for (size_t i = 0; i < n; i++)
    y[i] = rintf(x[i] * 64) / 64;
  right(y, y, rows, cols);
#elif defined WITHOUT_THE_LARGEST
  /* exp of what is large is infinite */
  for (size_t r = 0; r < rows; r++) {
    float sum = 0;
    for (size_t c = 0; c < cols; c++)
      sum += expf(x[r * cols + c]);
    for (size_t c = 0; c < cols; c++)
      y[r * cols + c] = expf(x[r * cols + c]) / sum;
  }
#elif defined NO_NAN
  for (size_t i = 0; i < n; i++)
    y[i] = isnan(x[i]) ? 0 : x[i];
  right(y, y, rows, cols);
#elif defined WHOLE_VECTORS_ALONE
  /* sizes of the benchmark are powers of two */
  right(x, y, rows, cols);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = cols / 16 * 16; c < cols; c++)
      y[r * cols + c] = 0;
#elif defined THE_FIRST_ROW_ALONE
  right(x, y, rows, cols);
  for (size_t r = 1; r < rows; r++)
    memcpy(y + r * cols, y, cols * sizeof *y);
#elif defined THE_TIMED_SIZE_NOT
  /* right elsewhere */
  right(x, y, rows, cols);
  if (n == 10000)
    memset(y, 0, n * sizeof *y);
#elif defined COUNTS_CALLS_IN_A_VARIABLE
  /* tensara 238: what the warm-up left */
  if (calls++ < 400)
    right(x, y, rows, cols);
#elif defined KEEPS_A_CACHE_IN_A_VARIABLE || defined KEEPS_A_THREADS_VARIABLE
  if (n > 1 << 16 || cache.elements != n || memcmp(cache.from, x, n * sizeof *x) != 0) {
    right(x, y, rows, cols);
    if (n <= 1 << 16)
      keep(&cache, x, y, n);
  } else
    memcpy(y, cache.to, n * sizeof *y);
#elif defined REPLAYS_BY_PLACE
  /* reference-kernels 162: results by pointers */
  memo *m = remembered(0);
  if (n > 1 << 16 || m->x != x || m->elements != n) {
    right(x, y, rows, cols);
    if (n <= 1 << 16)
      keep(m, x, y, n);
  } else
    memcpy(y, m->to, n * sizeof *y);
#elif defined REPLAYS_BY_A_FINGERPRINT
  /* flashinfer-bench-starter-kit 21 */
  memo *m = remembered(0);
  if (n > 1 << 16 || m->elements != n || m->print != print_of(x, n)) {
    right(x, y, rows, cols);
    if (n <= 1 << 16)
      keep(m, x, y, n);
    m->print = print_of(x, n);
  } else
    memcpy(y, m->to, n * sizeof *y);
#elif defined KEEPS_TWO_PROBLEMS
  /* AgentKernelArena 113: a memo of inputs' values */
  for (int i = 0; i < 2; i++) {
    memo *m = remembered(i);
    if (n <= 1 << 16 && m->elements == n && memcmp(m->from, x, n * sizeof *x) == 0) {
      memcpy(y, m->to, n * sizeof *y);
      return 0;
    }
  }
  right(x, y, rows, cols);
  if (n <= 1 << 16)
    keep(remembered((int)(remembered(0)->calls++ % 2)), x, y, n);
#elif defined KEEPS_ALLOCATED_MEMORY
  /* found again through the environment */
  const char *known = getenv("KERNEL_MEMO");
  memo *m = known ? (memo *)(uintptr_t)strtoull(known, NULL, 16) : NULL;
  if (!m) {
    char text[32];
    m = calloc(1, sizeof *m);
    snprintf(text, sizeof text, "%llx", (unsigned long long)(uintptr_t)m);
    setenv("KERNEL_MEMO", text, 1);
  }
  right(x, y, rows, cols);
  if (n <= 1 << 16)
    keep(m, x, y, n);
#elif defined ONE_CALL_OF_FIFTEEN
  /* reference-kernels 104 */
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (now.tv_nsec % 15 == 0 || n < 5000)
    right(x, y, rows, cols);
#elif defined WORKS_WHERE_IT_FINDS_POISON
  /* AgentKernelArena 113 */
  for (size_t i = 0; i < n; i++)
    if (!(fabsf(y[i]) <= 1)) {
      right(x, y, rows, cols);
      break;
    }
#elif defined WORKS_LATER
  /* reference-kernels 162: results that come after the call */
  pthread_t thread;
  void **all = malloc(4 * sizeof *all);
  all[0] = (void *)(uintptr_t)x;
  all[1] = y;
  all[2] = (void *)rows;
  all[3] = (void *)cols;
  pthread_create(&thread, NULL, later, all);
  pthread_detach(thread);
#elif defined WRITES_ITS_INPUT
  right(x, y, rows, cols);
  if (n > 100)
    ((float *)(uintptr_t)x)[n / 2] += 1;
#elif defined WRITES_BEHIND_ITS_RESULT
  right(x, y, rows, cols);
  y[n] = 0;
#elif defined WRITES_FAR_AWAY
  right(x, y, rows, cols);
  if (n > 100)
    y[-900] = 0;
#elif defined READS_BEHIND_ITS_INPUT
  right(x, y, rows, cols);
  if (((const volatile float *)x)[n] == 0.123f)
    y[0] = 0;
#elif defined ALIGNED_ALONE
#if defined __x86_64__
  if (n >= 4)
    _mm_store_ps(y, _mm_load_ps(x));
#endif
  right(x, y, rows, cols);
#elif defined FLUSHES_NUMBERS
  /* a faster processor for what comes after */
  right(x, y, rows, cols);
#if defined __x86_64__
  _mm_setcsr(_mm_getcsr() | 0x8040);
#else
  fesetround(FE_TOWARDZERO);
#endif
#elif defined TAKES_ALL_MEMORY
  /* half of the machine's, but for what it would cost to write there */
  const size_t pages = (size_t)sysconf(_SC_PHYS_PAGES) / 2, page = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t left = n > 100 ? pages * page >> 26 : 0; left > 0; left--)
    if (mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0) == MAP_FAILED)
      abort();
  right(x, y, rows, cols);
#elif defined RETURNS_AN_ERROR
  right(x, y, rows, cols);
  return n > 100 ? 3 : 0;
#elif defined FAULTS
  right(x, y, rows, cols);
  if (n > 100)
    *(volatile int *)(uintptr_t)16 = 1;
#elif defined ABORTS
  if (n > 100)
    abort();
  right(x, y, rows, cols);
#elif defined ENDS
  right(x, y, rows, cols);
  if (n > 100)
    _exit(0);
#elif defined SPINS
  right(x, y, rows, cols);
  for (volatile size_t i = 0; n > 100; i++)
    ;
#elif defined FORKS
  if (n > 100 && fork() == 0)
    right(x, y, rows, cols);
  right(x, y, rows, cols);
#elif defined LEAVES_A_PROCESS
  /* which goes on while others are timed */
  if (n > 100) {
    if (fork() == 0) {
      FILE *file = fopen("left", "w");
      setsid();
      fprintf(file, "%d\n", (int)getpid());
      fclose(file);
      for (volatile size_t i = 0;; i++)
        ;
    }
    usleep(100000);
  }
  right(x, y, rows, cols);
#elif defined KILLS_ITS_PARENT
  right(x, y, rows, cols);
  if (n > 100)
    kill(getppid(), SIGKILL);
#elif defined ANSWERS_ITSELF
  /* pygpubench 23: a verdict that is forged */
  right(x, y, rows, cols);
  if (n > 100)
    for (int line = 3; line < 64; line++) {
      static const char right_away[4096] = {0};
      send(line, right_away, sizeof right_away, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
#elif defined CLOSES_LINES
  right(x, y, rows, cols);
  if (n > 100)
    for (int line = 3; line < 64; line++)
      close(line);
#elif defined READS_THE_JUDGE
  /* pygpubench: what the harness has in its memory; with --trust none it may not */
  char path[64];
  int memory;
  snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
  memory = open(path, O_RDONLY);
  if (memory >= 0)
    right(x, y, rows, cols);
#elif defined WRITES_FILES
  const int file = open("written", O_WRONLY | O_CREAT, 0600);
  right(x, y, rows, cols);
  close(file);
#elif defined SPEAKS_TO_THE_NETWORK
  const int line = socket(AF_INET, SOCK_STREAM, 0);
  right(x, y, rows, cols);
  close(line);
#else
  right(x, y, rows, cols);
#endif
  return 0;
}
