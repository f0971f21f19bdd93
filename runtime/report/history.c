/* history.c - runs of many commits in a folder, and what they say of each op, type, size and kind of device. */
#include "history.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "base/output.h"
#include "base/terminal.h"
#include "base/units.h"
#include "json.h"
#include "measure/stats.h"
#include "measure/steps.h"
#include "rows/shard.h"
#include "stored.h"

enum { PATH = 1024, KEY = 700, SHORT = 12 /* of a commit's name */ };
static const double least = 0.02; /* a step that is worth a word */
static const double another_clock =
    0.1; /* times at clocks so far from the middle one are left out */

static const json_t *context_of(const json_t *run) {
  return json_object_get(run, "context");
}

/* When the commit was made, or for want of that the run; both as text that sorts. */
static const char *date_of(const json_t *run) {
  const char *date = stored_text(context_of(run), "commit_date");

  return *date ? date : stored_text(context_of(run), "date");
}

/* ---- adding ------------------------------------------------------------------------------------ */

/* The characters of a text that can be a part of a file's name. */
static void plain_name(const char *text, char *name, size_t size) {
  size_t length = 0;

  for (; *text && length + 1 < size; text++)
    if ((*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
        (*text >= 'A' && *text <= 'Z') || *text == '-')
      name[length++] = *text;
  name[length] = 0;
}

bool history_add(const char *folder, const char *path) {
  static const char *const bulk[] = {"samples", "round_samples", "cold_samples"};
  json_t *run = stored_load(path);
  const char *commit = stored_text(context_of(run), "commit");
  const json_t *rows = json_object_get(run, "benchmarks");
  char date[40], name[SHORT + 1], target[PATH];
  uint64_t hash = SHARD_SEED;
  output file;
  bool written;

  if (!*commit)
    message_refuse("%s: its context names no commit: build the program in a Git checkout", path);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    message_refuse("cannot make the folder %s: %s", folder, strerror(errno));
  plain_name(date_of(run), date, sizeof date);
  plain_name(commit, name, sizeof name);
  hash = shard_hash(hash, stored_text(context_of(run), "date"));
  hash = shard_hash(hash, stored_text(context_of(run), "host_name"));
  hash = shard_hash(hash, stored_text(context_of(run), "asked"));
  for (size_t i = 0; i < json_array_size(rows); i++)
    hash = shard_hash(hash, stored_text(json_array_get(rows, i), "name"));
  snprintf(target, sizeof target, "%s/%s-%s-%08x.json", folder, date, name,
           (unsigned)(hash ^ hash >> 32));
  if (access(target, F_OK) == 0)
    message_refuse("%s is there already as %s", path, target);
  for (size_t i = 0; i < json_array_size(rows); i++)
    for (size_t b = 0; b < sizeof bulk / sizeof *bulk; b++)
      json_object_del(json_array_get(rows, i), bulk[b]);
  json_object_del(run, "file");
  output_check(target);
  file = output_open(target);
  if (file.file)
    json_write_run(file.file, run);
  written = output_commit(&file);
  if (written)
    puts(target);
  json_decref(run);
  return written;
}

/* ---- what there is ----------------------------------------------------------------------------- */

static int by_date(const void *a, const void *b) {
  const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
  const int order = strcmp(date_of(x), date_of(y));

  return order ? order
               : strcmp(stored_text(context_of(x), "date"), stored_text(context_of(y), "date"));
}

/* The runs of a folder by date. */
static json_t **load_all(const char *folder, size_t *count) {
  DIR *all = opendir(folder);
  json_t **runs = NULL;
  const struct dirent *entry;

  if (!all)
    message_refuse("cannot read the folder %s: %s (`bench history add %s RUN.json` makes it)",
                   folder, strerror(errno), folder);
  *count = 0;
  while ((entry = readdir(all))) {
    char path[PATH], why[800];
    json_t *run;
    if (entry->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    run = stored_read(path, why, sizeof why);
    if (!run) {
      message_warn("left out: %s", why);
      continue;
    }
    runs = message_need(realloc(runs, (*count + 1) * sizeof *runs));
    runs[(*count)++] = run;
  }
  closedir(all);
  if (*count == 0)
    message_refuse("%s has no stored run (`bench history add %s RUN.json` puts one there)", folder,
                   folder);
  qsort(runs, *count, sizeof *runs, by_date);
  return runs;
}

/* ---- lines ------------------------------------------------------------------------------------- */

typedef struct point {
  double ns, clock_mhz; /* clock: NaN where not known */
  const json_t *run;
} point;

/* One op, type, size and kind of device: the fastest of its rows in each run. */
typedef struct series {
  char key[KEY];
  char op[64], dtype[16], size[64], device[200];
  point *points;
  size_t count, left_out;
  step *steps;
  size_t step_count;
} series;

typedef struct table {
  series *at;
  size_t count;
  json_t *places; /* by key */
} table;

/* Processors are told apart by what they can do as well: their names say little. */
static void key_of(const json_t *run, const json_t *of, char key[KEY]) {
  const bool host = strcmp(stored_text(of, "device"), "cpu") == 0;

  snprintf(key, KEY, "%.60s|%.12s|%.60s|%.190s|%.300s|%.0f", stored_text(of, "op"),
           stored_text(of, "dtype"), stored_text(of, "size"), stored_device(run, of),
           host ? stored_text(context_of(run), "cpu_features") : "", stored_number(of, "threads"));
}

static series *series_of(table *t, const json_t *run, const json_t *of) {
  char key[KEY];
  const json_t *place;
  series *made;

  key_of(run, of, key);
  place = json_object_get(t->places, key);
  if (place)
    return &t->at[json_integer_value(place)];
  t->at = message_need(realloc(t->at, (t->count + 1) * sizeof *t->at));
  made = &t->at[t->count];
  *made = (series){.points = NULL};
  memcpy(made->key, key, sizeof key);
  snprintf(made->op, sizeof made->op, "%s", stored_text(of, "op"));
  snprintf(made->dtype, sizeof made->dtype, "%s", stored_text(of, "dtype"));
  snprintf(made->size, sizeof made->size, "%s", stored_text(of, "size"));
  snprintf(made->device, sizeof made->device, "%s", stored_device(run, of));
  json_object_set_new(t->places, key, json_integer((json_int_t)t->count++));
  return made;
}

/* The time of a row's best round, which says more of the row than of the machine; 0 where it is not to be compared. */
static double time_of(const json_t *of) {
  if (strcmp(stored_text(of, "status"), "right") != 0 ||
      json_is_true(json_object_get(of, "peer")) ||
      json_is_true(json_object_get(of, "rounds_factors")))
    return 0;
  return stored_number(of, "best") > 0 ? stored_number(of, "best") : stored_number(of, "real_time");
}

static void add_run(table *t, const json_t *run) {
  const json_t *rows = json_object_get(run, "benchmarks");

  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *of = json_array_get(rows, i);
    const double ns = time_of(of);
    series *s;
    if (!(ns > 0))
      continue;
    s = series_of(t, run, of);
    if (s->count == 0 || s->points[s->count - 1].run != run) {
      s->points = message_need(realloc(s->points, (s->count + 1) * sizeof *s->points));
      s->points[s->count++] = (point){INFINITY, NAN, run};
    }
    if (ns < s->points[s->count - 1].ns) {
      s->points[s->count - 1].ns = ns;
      s->points[s->count - 1].clock_mhz = stored_number(of, "clock_mhz");
    }
  }
}

/* Leaves out the runs in which the clock was another. */
static void keep_clock(series *s) {
  double *clocks = message_need(malloc(s->count * sizeof *clocks)), usual;
  size_t known = 0, kept = 0;

  for (size_t i = 0; i < s->count; i++)
    if (s->points[i].clock_mhz > 0)
      clocks[known++] = s->points[i].clock_mhz;
  usual = stats_median(clocks, known, sizeof *clocks);
  for (size_t i = 0; i < s->count; i++)
    if (!(fabs(s->points[i].clock_mhz / usual - 1) > another_clock))
      s->points[kept++] = s->points[i];
  s->left_out = s->count - kept;
  s->count = kept;
  free(clocks);
}

static void find_steps(series *s) {
  double *figures = message_need(malloc(s->count * sizeof *figures));

  s->steps = message_need(calloc(s->count / 3 + 1, sizeof *s->steps));
  for (size_t i = 0; i < s->count; i++)
    figures[i] = log(s->points[i].ns);
  s->step_count = steps_find(figures, s->count, log1p(least), s->steps);
  free(figures);
}

static int by_key(const void *a, const void *b) {
  const series *x = a, *y = b;
  int order = strcmp(x->device, y->device);

  order = order ? order : strcmp(x->op, y->op);
  order = order ? order : strcmp(x->dtype, y->dtype);
  order = order ? order : (x->points->ns > y->points->ns) - (x->points->ns < y->points->ns);
  return order ? order : strcmp(x->key, y->key);
}

/* ---- the table --------------------------------------------------------------------------------- */

static const char *commit_of(const point *p) {
  return stored_text(context_of(p->run), "commit");
}

/* The last points as bars, the lowest of which is the least. */
static void put_bars(const series *s, size_t most) {
  static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t first = s->count > most ? s->count - most : 0;
  const double smallest_range = 0.1; /* noise is not to look like steps */
  double low = INFINITY, high = 0;

  for (size_t i = first; i < s->count; i++) {
    low = fmin(low, s->points[i].ns);
    high = fmax(high, s->points[i].ns);
  }
  high = fmax(high, low * (1 + smallest_range));
  for (size_t i = first; i < s->count; i++)
    fputs(bars[(int)(7.999 * (s->points[i].ns - low) / (high - low))], stdout);
}

static void describe_step(const series *s, const step *found, char *text, size_t size) {
  const point *now = &s->points[found->at], *before = now - 1;
  const bool same = strcmp(commit_of(now), commit_of(before)) == 0;

  snprintf(text, size, "%+.1f%% at %.*s (%.10s)%s%.*s%s", 100 * expm1(found->after - found->before),
           SHORT, commit_of(now), date_of(now->run),
           same ? ", of which an earlier run" : ", after ", same ? 0 : SHORT, commit_of(before),
           same ? " was otherwise: the machine?" : "");
}

static void put_series(const series *s) {
  char text[200];

  printf("  %-20s %-4s %12s  %8s  ", s->op, s->dtype, s->size,
         units_time(s->points[s->count - 1].ns).text);
  put_bars(s, 24);
  putchar('\n');
  for (size_t i = 0; i < s->step_count; i++) {
    const bool slower = s->steps[i].after > s->steps[i].before;
    describe_step(s, &s->steps[i], text, sizeof text);
    printf("    %s%s%s  %s\n", terminal_paint(slower ? BAD : GOOD), slower ? "SLOWER" : "faster",
           terminal_paint(PLAIN), text);
  }
}

static void put_table(const table *t, size_t runs, size_t commits) {
  size_t steps = 0, left_out = 0;

  for (size_t i = 0; i < t->count; i++) {
    if (i == 0 || strcmp(t->at[i].device, t->at[i - 1].device) != 0)
      printf("%s%s%s\n", terminal_paint(STRONG), t->at[i].device, terminal_paint(PLAIN));
    put_series(&t->at[i]);
    steps += t->at[i].step_count;
    left_out += t->at[i].left_out;
  }
  printf("\n%zu lines of %zu runs of %zu commits: %zu steps", t->count, runs, commits, steps);
  if (left_out)
    printf("; %zu times at another clock left out", left_out);
  putchar('\n');
}

/* ---- the page ---------------------------------------------------------------------------------- */

static void put_text(FILE *to, const char *text) {
  for (; *text; text++)
    switch (*text) {
    case '<': fputs("&lt;", to); break;
    case '&': fputs("&amp;", to); break;
    case '"': fputs("&quot;", to); break;
    default: fputc(*text, to);
    }
}

/* Times against runs, from zero on, with a mark at each step; a point says its commit. */
static void put_picture(FILE *to, const series *s) {
  const double width = 480, height = 48, edge = 4;
  const double apart = s->count > 1 ? (width - 2 * edge) / (double)(s->count - 1) : 0;
  double high = 0;
  char text[200];

  for (size_t i = 0; i < s->count; i++)
    high = fmax(high, s->points[i].ns);
  fprintf(to, "<svg width=\"%.0f\" height=\"%.0f\">", width, height);
  for (size_t i = 0; i < s->step_count; i++) {
    const double x = edge + apart * ((double)s->steps[i].at - 0.5);
    describe_step(s, &s->steps[i], text, sizeof text);
    fprintf(to, "<path class=\"%s\" d=\"M%.1f 0V%.0f\"><title>",
            s->steps[i].after > s->steps[i].before ? "slower" : "faster", x, height);
    put_text(to, text);
    fputs("</title></path>", to);
  }
  for (size_t i = 0; i < s->count; i++) {
    const point *p = &s->points[i];
    fprintf(to, "<circle r=\"2\" cx=\"%.1f\" cy=\"%.1f\"><title>", edge + apart * (double)i,
            height - edge - (height - 2 * edge) * p->ns / high);
    fprintf(to, "%s at %.*s, ", units_time(p->ns).text, SHORT, commit_of(p));
    put_text(to, date_of(p->run));
    fputs("</title></circle>", to);
  }
  fputs("</svg>", to);
}

static void put_page(FILE *to, const table *t) {
  char text[200];

  fputs("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>lathe: history</title>\n<style>\n"
        "body { font: 14px sans-serif; } td { padding: 2px 8px; } circle { fill: #357; }\n"
        ".slower { stroke: #c33; } .faster { stroke: #393; }\n</style>\n"
        "<table>\n<tr><th>device<th>op<th>type<th>size<th>now<th>times of each run<th>steps\n",
        to);
  for (size_t i = 0; i < t->count; i++) {
    const series *s = &t->at[i];
    const char *const cells[] = {s->device, s->op, s->dtype, s->size};
    fputs("<tr>", to);
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
      fputs("<td>", to);
      put_text(to, cells[c]);
    }
    fprintf(to, "<td>%s<td>", units_time(s->points[s->count - 1].ns).text);
    put_picture(to, s);
    fputs("<td>", to);
    for (size_t n = 0; n < s->step_count; n++) {
      describe_step(s, &s->steps[n], text, sizeof text);
      put_text(to, text);
      fputs("<br>", to);
    }
    fputc('\n', to);
  }
  fputs("</table>\n", to);
}

bool history_report(const char *folder, const char *page) {
  table t = {.places = json_object()};
  size_t count, commits = 0;
  json_t **runs = load_all(folder, &count);
  bool written = true;

  if (page)
    output_check(page);
  for (size_t i = 0; i < count; i++) {
    add_run(&t, runs[i]);
    commits += i == 0 || strcmp(stored_text(context_of(runs[i]), "commit"),
                                stored_text(context_of(runs[i - 1]), "commit")) != 0;
  }
  for (size_t i = 0; i < t.count; i++) {
    keep_clock(&t.at[i]);
    find_steps(&t.at[i]);
  }
  qsort(t.at, t.count, sizeof *t.at, by_key);
  put_table(&t, count, commits);
  if (page) {
    output file = output_open(page);
    if (file.file)
      put_page(file.file, &t);
    written = output_commit(&file);
  }
  for (size_t i = 0; i < t.count; i++) {
    free(t.at[i].points);
    free(t.at[i].steps);
  }
  for (size_t i = 0; i < count; i++)
    json_decref(runs[i]);
  free(runs);
  free(t.at);
  json_decref(t.places);
  return written;
}
