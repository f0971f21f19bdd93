/* grid.c - the table with a column for each backend and a line for each (op, type, size). */
#include <math.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "base/wrap.h"
#include "columns.h"
#include "devices/peer/peers.h"
#include "findings.h"
#include "table.h"

enum { MOST_BACKENDS = 32, TIME = 7, RATIO = 10 };

/* Of a run that times, and of one that only checks. */
enum { FASTEST, RATE, ARITHMETIC, CEILING, CHOSEN, TIMED };
enum { WORST, BOUND, CHECKED };

static report_column timed[TIMED] = {[FASTEST] = {.head = "fastest", .left = true, .rank = 2},
                                     [RATE] = {.head = "GB/s", .width = 5, .rank = 4},
                                     [ARITHMETIC] = {.head = "FLOP/s", .width = 6, .rank = 3},
                                     [CEILING] = {.head = "ceil", .width = 5, .rank = 0},
                                     [CHOSEN] = {.head = "chosen", .width = 6, .rank = 1}};
static report_column checked[CHECKED] = {
    [WORST] = {.head = "worst ulp", .width = 9, .rank = 0},
    [BOUND] = {.head = "bound", .width = 6, .rank = 1},
};

/* The head of each line: its widths, and the backends that have a column. */
static struct {
  int op, dtype, size;
  bool apart; /* the op's name is on a line of its own, where it would make all of them too wide */
  const lathe_backend *backend[MOST_BACKENDS], *peer[PEERS];
  size_t backends, peers;
} line;

/* A variant's name without the op and type that its line begins with. */
static const char *short_name(const lathe_variant *v) {
  const size_t op = strlen(v->op->name), dtype = strlen(lathe_dtype_name(v->dtype));
  const char *name = v->name;

  if (strncmp(name, v->op->name, op) == 0 && name[op] == '_' &&
      strncmp(name + op + 1, lathe_dtype_name(v->dtype), dtype) == 0 &&
      strncmp(name + op + 1 + dtype, "__", 2) == 0)
    return name + op + 1 + dtype + 2;
  return name;
}

static void widen(int *width, const char *text) {
  const int length = (int)strlen(text);

  if (length > *width)
    *width = length;
}

static bool has_column(const lathe_backend *backend) {
  for (size_t b = 0; b < line.backends; b++)
    if (line.backend[b] == backend)
      return true;
  return false;
}

static void add_peer(const lathe_backend *backend) {
  for (size_t p = 0; p < line.peers; p++)
    if (line.peer[p] == backend)
      return;
  line.peer[line.peers++] = backend;
}

static int peer_width(size_t p) {
  const int width = (int)strlen(line.peer[p]->name);

  return width > RATIO ? width : RATIO;
}

/* The table's rows of backends go from the most to the least preferred; columns read the other way. */
static void measure_columns(const report *r) {
  const bool check = r->options->check_only;
  int taken;

  line.op = 2;
  line.dtype = report_many_dtypes(r) ? 5 : 0;
  line.size = report_size_width(r);
  for (size_t i = 0; i < r->selection->count; i++)
    widen(&line.op, r->selection->tasks[i].op->name);
  for (size_t b = lathe_backend_count; b-- > 0;)
    if (report_fills(r, &lathe_backends[b]) && line.backends < MOST_BACKENDS)
      line.backend[line.backends++] = &lathe_backends[b];
  timed[FASTEST].width = (int)strlen(timed[FASTEST].head);
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (r->selection->variant[i] && has_column(lathe_variants[i].backend))
      widen(&timed[FASTEST].width, short_name(&lathe_variants[i]));
  taken = 1 + line.dtype + line.size + (int)line.backends * (1 + TIME + !check);
  for (size_t i = 0; i < peers_count() && !check; i++)
    add_peer(peers_at(i)->backend);
  for (size_t p = 0; p < line.peers; p++)
    taken += 1 + peer_width(p);
  line.apart = line.op + taken > report_columns_width();
  if (line.apart)
    line.op = 1;
  taken += line.op;
  timed[ARITHMETIC].unwanted = !report_contracts(r);
  if (check)
    report_columns_fit(checked, CHECKED, taken);
  else
    report_columns_fit(timed, TIMED, taken);
}

static void legend(const report *r) {
  char text[512] = "* fastest";

  if (timed[CEILING].shown)
    strcat(text, report_ceiling_legend(r));
  if (timed[CHOSEN].shown)
    strcat(text, "; chosen: how much longer dispatch's choice takes than the fastest on the same "
                 "device (?: not known well)");
  for (size_t p = 0; p < line.peers; p++)
    sprintf(text + strlen(text), "%s%s", p ? ", " : "; ", line.peer[p]->name);
  if (line.peers)
    strcat(text, ": its time divided by dispatch's choice's");
  wrap_print(text, 0, 3);
  putchar('\n');
}

void report_grid_begin(const report *r) {
  const bool check = r->options->check_only;

  measure_columns(r);
  if (!check)
    legend(r);
  printf("%s%-*s %-*s%*s", terminal_paint(STRONG), line.op, line.apart ? "" : "op", line.dtype,
         line.dtype ? "type" : "", line.size, "size");
  for (size_t b = 0; b < line.backends; b++)
    printf(" %*.8s%s", TIME, line.backend[b]->name, check ? "" : " ");
  for (size_t p = 0; p < line.peers; p++)
    printf(" %*s", peer_width(p), line.peer[p]->name);
  if (check)
    report_columns_heads(checked, CHECKED);
  else
    report_columns_heads(timed, TIMED);
  fputs(terminal_paint(PLAIN), stdout);
  report_columns_end();
}

/* "4 ok", or how many of a backend's variants are wrong, or that none was proved right. */
static void check_cell(row *const *rows, size_t count, const lathe_backend *backend) {
  int right = 0, wrong = 0, others = 0;
  char text[24];

  for (size_t i = 0; i < count; i++)
    if (rows[i]->of->backend == backend) {
      right += rows[i]->state == ROW_RIGHT;
      wrong += rows[i]->state == ROW_WRONG;
      others += report_failed(rows[i]) && rows[i]->state != ROW_WRONG;
    }
  if (wrong)
    snprintf(text, sizeof text, "%d wrong", wrong);
  else
    snprintf(text, sizeof text, right || others ? "%d ok" : "-", right);
  printf(" %s%7s%s", terminal_paint(wrong || others ? BAD : PLAIN), text, terminal_paint(PLAIN));
}

/* A backend's best time. */
static void time_cell(row *const *rows, size_t count, const lathe_backend *backend) {
  const row *fastest = row_fastest(rows, count), *best = NULL, *failed = NULL;
  units_text time;
  const char *text = "-";

  for (size_t i = 0; i < count; i++) {
    if (rows[i]->of->backend != backend)
      continue;
    if (report_failed(rows[i]) && (!failed || rows[i]->state == ROW_WRONG))
      failed = rows[i];
    if (rows[i]->sample_count > 0 && (!best || rows[i]->real_time < best->real_time))
      best = rows[i];
  }
  if (best) {
    time = units_time(best->real_time);
    text = time.text;
  } else if (failed) {
    text = report_failed_as(failed);
  }
  printf(" %s%7s%s%s",
         terminal_paint(best && best == fastest ? GOOD
                        : failed && !best       ? BAD
                                                : PLAIN),
         text,
         best && best == fastest ? "*"
         : strlen(text) > 7      ? ""
                                 : " ",
         terminal_paint(PLAIN));
}

static void peer_cell(row *const *rows, size_t count, size_t p) {
  report_share text = {"-"};

  bool wrong = false;

  for (size_t i = 0; i < count; i++)
    if (rows[i]->of->backend == line.peer[p]) {
      text = report_ratio(rows[i]);
      wrong = report_failed(rows[i]);
    }
  printf(" %*s", peer_width(p), wrong ? "wrong" : text.text);
}

/* The largest error of the variants that ran, and the bound. */
static void worst_error(row *const *rows, size_t count) {
  double worst = 0, bound = NAN;
  char text[2][24] = {"-", "-"};

  for (size_t i = 0; i < count; i++)
    if (rows[i]->state != ROW_SKIPPED && !rows[i]->peer) {
      worst = fmax(worst, rows[i]->ulp);
      bound = rows[i]->ulp_bound;
    }
  if (!isnan(bound)) {
    snprintf(text[0], sizeof text[0], "%.3g", worst);
    snprintf(text[1], sizeof text[1], "%.4g", bound);
  }
  report_columns_cell(&checked[WORST], text[0]);
  report_columns_cell(&checked[BOUND], text[1]);
}

/* How much longer the variant takes that dispatch chooses. */
static void chosen(row *const *rows, size_t count, const row *fastest) {
  const row *choice = row_chosen(rows, count, fastest);
  const double loss = choice ? row_loss(choice, fastest) : NAN;
  char text[24] = "-";

  if (choice == fastest)
    strcpy(text, "same");
  else if (isfinite(loss))
    snprintf(text, sizeof text, "%+.0f%%", 100 * loss);
  else if (choice)
    strcpy(text, "?");
  report_columns_cell(&timed[CHOSEN], text);
}

void report_grid_line(const report *r, row *const *rows, size_t count) {
  static const char *last;
  const row *fastest = row_fastest(rows, count);

  if (line.apart && last != rows[0]->op)
    puts(rows[0]->op);
  last = rows[0]->op;
  printf("%-*s %-*s%*s", line.op, line.apart ? "" : rows[0]->op, line.dtype,
         line.dtype ? rows[0]->dtype : "", line.size, rows[0]->size);
  for (size_t b = 0; b < line.backends; b++)
    if (r->options->check_only)
      check_cell(rows, count, line.backend[b]);
    else
      time_cell(rows, count, line.backend[b]);
  for (size_t p = 0; p < line.peers; p++)
    peer_cell(rows, count, p);
  if (r->options->check_only) {
    worst_error(rows, count);
  } else if (fastest) {
    report_columns_cell(&timed[FASTEST], short_name(fastest->of));
    report_columns_cell(&timed[RATE], units_number(fastest->gigabytes_per_second).text);
    report_columns_cell(&timed[ARITHMETIC], report_arithmetic_rate(fastest).text);
    report_columns_cell(&timed[CEILING], report_ceiling_share(fastest).text);
    chosen(rows, count, fastest);
  }
  report_columns_end();
}
