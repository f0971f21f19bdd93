#include "run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests.h"

enum { SECONDS = 120 };

/* In the child: becomes the program, or ends with status 127 and a word about why. */
static _Noreturn void become(const char *folder, const char *const *arguments,
                             const char *const *environment, FILE *out, FILE *err) {
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(fileno(out), STDOUT_FILENO);
  dup2(fileno(err), STDERR_FILENO);
  for (; environment && *environment; environment++) {
    putenv((char *)*environment);
  }
  alarm(SECONDS);
  if (folder && chdir(folder) != 0) {
    dprintf(STDERR_FILENO, "%s: %s\n", folder, strerror(errno));
    _exit(127);
  }
  execvp(arguments[0], (char *const *)arguments);
  dprintf(STDERR_FILENO, "%s: %s\n", arguments[0], strerror(errno));
  _exit(127);
}

char *run_contents(FILE *file) {
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  long size = ftell(file);
  assert_true(size >= 0);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  text[size] = '\0';
  fclose(file);
  return text;
}

run_result run_program(const char *folder, const char *const *arguments,
                       const char *const *environment) {
  FILE *out = tmpfile(), *err = tmpfile();
  assert_non_null(out);
  assert_non_null(err);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    become(folder, arguments, environment, out, err);
  }
  int status;
  while (waitpid(child, &status, 0) < 0) {
    assert_int_equal(errno, EINTR);
  }
  return (run_result){
      .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
      .out = run_contents(out),
      .err = run_contents(err),
  };
}

void run_free(run_result *result) {
  free(result->out);
  free(result->err);
}

const char *test_variable(const char *name) {
  const char *value = getenv(name);
  if (!value) {
    fail_msg("the environment variable %s is not set: run the tests with `ninja test`", name);
  }
  return value;
}
