/* files.c - the files of a run: seen to be possible before it, written after it. */
#include "files.h"

#include <string.h>

#include "base/message.h"
#include "base/output.h"

static const struct {
  const char *option;
  size_t path; /* in options */
  void (*write)(FILE *, const report *);
} files[] = {
    {"--json", offsetof(options, json), report_json},
    {"--csv", offsetof(options, csv), report_csv},
    {"--markdown", offsetof(options, markdown), report_markdown},
    {"--html", offsetof(options, html), report_html},
};
enum { FILES = sizeof files / sizeof *files };

static const char *path_of(const options *o, int file) {
  return *(const char *const *)((const char *)o + files[file].path);
}

/* Refuses a file that is to be written and is read, too. */
static void refuse_input(const char *option, const char *path, const char *read, const char *as) {
  if (read && output_same(read, path))
    message_refuse("%s %s would overwrite %s %s: name another file", option, path, as, read);
}

void report_files_check(const options *o, const char *tune) {
  for (int i = 0; i < FILES; i++) {
    const char *path = path_of(o, i);
    if (!path)
      continue;
    refuse_input(files[i].option, path, o->compare, "--compare");
    refuse_input(files[i].option, path, o->tuning, "--tuning");
    refuse_input(files[i].option, path, tune, "tune");
    for (int j = 0; j < i; j++)
      if (path_of(o, j) && output_same(path_of(o, j), path))
        message_refuse("%s %s and %s %s are the same file", files[j].option, path_of(o, j),
                       files[i].option, path);
    if (strcmp(path, "-") != 0 && output_same("-", path))
      message_refuse("%s %s: standard output goes there already (%s - is for this alone on it)",
                     files[i].option, path, files[i].option);
    output_check(path);
  }
  for (int i = 0; i < FILES; i++)
    if (path_of(o, i) && strcmp(path_of(o, i), "-") == 0)
      output_divert_standard();
}

bool report_files_write(const report *r) {
  bool all = true;

  for (int i = 0; i < FILES; i++) {
    const char *path = path_of(r->options, i);
    output file;
    if (!path)
      continue;
    file = output_open(path);
    if (file.file)
      files[i].write(file.file, r);
    all = output_commit(&file) && all;
  }
  return all;
}
