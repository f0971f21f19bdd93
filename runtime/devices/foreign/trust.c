/* trust.c - what the process of somebody else's code may do: by Linux's Landlock for files, and by a filter of its
 * calls of the system. */
#define _GNU_SOURCE
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"

#if defined __linux__ && (defined __x86_64__ || defined __aarch64__) &&                            \
    __has_include(<linux/landlock.h>)
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

enum { PATH = 4096 };

static bool refuse(const char **why, const char *what) {
  static char text[160];

  snprintf(text, sizeof text, "--trust none cannot be had here: %s: %s", what, strerror(errno));
  *why = text;
  return false;
}

/* ---- files -------------------------------------------------------------------------------------- */

static const uint64_t reading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

/* A ruleset of all that the system knows of; negative where it has none. */
static int make_rules(void) {
  const long version =
      syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  struct landlock_ruleset_attr rules = {.handled_access_fs =
                                            (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};

  if (version < 0)
    return -1;
#ifdef LANDLOCK_ACCESS_FS_REFER
  if (version >= 2)
    rules.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
#endif
#ifdef LANDLOCK_ACCESS_FS_TRUNCATE
  if (version >= 3)
    rules.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
#endif
  return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
}

/* Files below a path may be read, where it exists. */
static void allow(int rules, const char *path, bool folder) {
  struct landlock_path_beneath_attr rule = {
      .allowed_access = folder ? reading : reading & ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR,
      .parent_fd = open(path, O_PATH | O_CLOEXEC)};

  if (rule.parent_fd < 0)
    return;
  syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent_fd);
}

/* The folder that a path is in. */
static void allow_around(int rules, const char *path) {
  char folder[PATH], *slash;

  snprintf(folder, sizeof folder, "%s", path);
  slash = strrchr(folder, '/');
  if (slash && slash > folder) {
    *slash = 0;
    allow(rules, folder, true);
  }
}

static bool limit_files(const char *path, const char *const *others, const char **why) {
  static const char *const folders[] = {
      "/usr", "/lib", "/lib64", "/bin", "/opt", "/etc", "/sys/devices/system/cpu"};
  const int rules = make_rules();
  bool ok;

  if (rules < 0)
    return refuse(why, "Landlock, which limits the files that a process reads");
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
    allow(rules, folders[i], true);
  allow(rules, "/dev/urandom", false);
  allow_around(rules, path);
  for (; others && *others; others++)
    allow(rules, *others, true);
  ok = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(rules);
  return ok || refuse(why, "Landlock, which limits the files that a process reads");
}

/* ---- calls of the system ------------------------------------------------------------------------ */

/* Those that do nothing to others. */
static const uint32_t harmless[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_lseek,
    SYS_getdents64,
    SYS_fcntl,
    SYS_ioctl,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_getcwd,
    SYS_ppoll,
    SYS_dup,
    SYS_pipe2,
    SYS_epoll_create1,
    /* memory */
    SYS_mmap,
    SYS_mprotect,
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_madvise,
    SYS_fallocate,
    SYS_get_mempolicy,
    SYS_mincore,
    SYS_membarrier,
    /* itself */
    SYS_futex,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_exit,
    SYS_exit_group,
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_wait4,
    SYS_getrandom,
    SYS_restart_syscall,
    SYS_prctl,
    /* time */
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_times,
    /* lines that are there */
    SYS_sendto,
    SYS_recvfrom,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_getpeername,
#if defined __x86_64__
    SYS_stat,
    SYS_lstat,
    SYS_readlink,
    SYS_access,
    SYS_poll,
    SYS_arch_prctl,
    SYS_dup2,
    SYS_pipe,
    SYS_time,
    SYS_getdents,
#endif
};

enum { RULES = 320 };

typedef struct filter {
  struct sock_filter rule[RULES];
  unsigned short count;
} filter;

static void put(filter *f, struct sock_filter rule) {
  if (f->count < RULES)
    f->rule[f->count++] = rule;
}

static void load(filter *f, size_t at) {
  put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)at));
}

static void give(filter *f, uint32_t action) {
  put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static size_t argument(int nth) {
  return offsetof(struct seccomp_data, args) + (size_t)nth * sizeof(uint64_t);
}

/* A call is allowed where an argument's bits of a mask are some; else what happens is the action. */
static void give_masked(filter *f, uint32_t call, int nth, uint32_t mask, uint32_t bits,
                        uint32_t action) {
  put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5));
  load(f, argument(nth));
  put(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
  put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, bits, 0, 1));
  give(f, SECCOMP_RET_ALLOW);
  give(f, action);
}

static bool limit_calls(bool becomes, const char **why) {
  const uint32_t fails = SECCOMP_RET_ERRNO | EPERM;
  const uint32_t ends = becomes ? fails : SECCOMP_RET_KILL_PROCESS;
  /* Here a program that speaks of itself alone does not come by chance. */
  static const uint32_t hostile[] = {
      SYS_kill,   SYS_tkill,  SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
      SYS_socket, SYS_setsid, SYS_setpgid};
  filter f = {.count = 0};
  struct sock_fprog program;

  load(&f, offsetof(struct seccomp_data, arch));
  put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
  give(&f, SECCOMP_RET_KILL_PROCESS);
  load(&f, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
    put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, harmless[i], 0, 1));
    give(&f, SECCOMP_RET_ALLOW);
  }
  for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
    put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, hostile[i], 0, 1));
    give(&f, ends);
  }
  give_masked(&f, SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY, ends);
#if defined __x86_64__
  give_masked(&f, SYS_open, 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY, ends);
  put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 0, 1));
  give(&f, ends);
  put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 0, 1));
  give(&f, ends);
#endif
  give_masked(&f, SYS_clone, 0, CLONE_THREAD, CLONE_THREAD, ends);
  give_masked(&f, SYS_tgkill, 0, UINT32_MAX, becomes ? 0 : (uint32_t)getpid(), fails);
  give_masked(&f, SYS_prlimit64, 2, UINT32_MAX, 0, fails);
  if (becomes) {
    put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 1));
    give(&f, SECCOMP_RET_ALLOW);
  }
  /* Whose flags are in memory, where no filter sees them: libraries then take SYS_clone. */
  put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
  give(&f, SECCOMP_RET_ERRNO | ENOSYS);
  give(&f, fails);
  program = (struct sock_fprog){f.count, f.rule};
  return (f.count < RULES && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) ||
         refuse(why, "a filter of system calls (seccomp)");
}

/* Rights beyond those that its user has, as root's to read other processes. */
static bool drop_rights(const char **why) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  const struct rlimit nothing = {0, 0};

  setrlimit(RLIMIT_CORE, &nothing);
  return (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_capset, &head, none) == 0) ||
         refuse(why, "fewer rights");
}

/* A quarter of the machine's memory, so that what takes more does not end others. What the judge shares is not
 * counted. */
static bool limit_memory(const char **why) {
  const rlim_t quarter = (rlim_t)sysconf(_SC_PHYS_PAGES) * (rlim_t)sysconf(_SC_PAGESIZE) / 4;
  const struct rlimit limit = {quarter, quarter};

  return setrlimit(RLIMIT_DATA, &limit) == 0 || refuse(why, "a limit of memory");
}

bool trust_limit(const char *word, const char *path, const char *const *others, const char **why) {
  return strcmp(word, "some") == 0 || (drop_rights(why) && limit_memory(why) &&
                                       limit_files(path, others, why) && limit_calls(others, why));
}

const char *trust_missing(void) {
  const char *why;
  const int rules = make_rules();

  if (rules >= 0) {
    close(rules);
    return NULL;
  }
  refuse(&why, "Landlock, which limits the files that a process reads");
  return why;
}

#else

bool trust_limit(const char *word, const char *path, const char *const *others, const char **why) {
  (void)path, (void)others;
  *why = trust_missing();
  return strcmp(word, "some") == 0;
}

const char *trust_missing(void) {
  return "--trust none cannot be had here: it is made of Linux's Landlock and seccomp, on x86-64 "
         "and AArch64";
}

#endif

const char trust_command[] = "shut";

enum { NO_SUCH_PROGRAM = 127 /* as shells say it */ };

/* A Python's description of itself: lines, as it prints them. */
static bool ask_python(const char *python, const char *question, char *lines, size_t size) {
  size_t used = 0;
  ssize_t got = 1;
  int ends[2], status;
  pid_t child;

  if (pipe(ends) != 0)
    return false;
  child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execlp(python, python, "-c", question, (char *)NULL);
    _exit(NO_SUCH_PROGRAM);
  }
  close(ends[1]);
  while (got > 0 && used + 1 < size) {
    got = read(ends[0], lines + used, size - 1 - used);
    used += got > 0 ? (size_t)got : 0;
  }
  lines[used] = 0;
  close(ends[0]);
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* The first line is its own file, the others are folders. */
static const char question[] = "import sys\n"
                               "print(sys.executable, sys.prefix, sys.base_prefix, *sys.path, "
                               "sep='\\n')";

int trust_become(int argc, char **argv) {
  enum { FOLDERS = 64 };
  static char lines[1 << 14];
  const char *folders[FOLDERS + 1] = {NULL}, *why = "";
  size_t count = 0;
  char *own;

  if (argc < 4)
    message_refuse("shut is for this program's own use");
  if (strcmp(argv[1], "some") == 0) {
    execvp(argv[3], argv + 3);
    return NO_SUCH_PROGRAM;
  }
  if (!ask_python(argv[3], question, lines, sizeof lines))
    return NO_SUCH_PROGRAM;
  own = strtok(lines, "\n");
  for (char *line; count < FOLDERS && (line = strtok(NULL, "\n"));)
    if (line[0] == '/' && line[1])
      folders[count++] = line;
  if (own && trust_limit(argv[1], argv[2], folders, &why))
    execv(own, argv + 3);
  return NO_SUCH_PROGRAM;
}
