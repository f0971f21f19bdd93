/* against.c - what rows take in units of what they take in another build of this program. */
#include "against.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/terminal.h"
#include "base/units.h"
#include "measure/stats.h"

static const double least = 0.015; /* a difference that is worth a word */
static const double alike = 0.03;  /* within this two times are the same */
static const double least_ns = 2;  /* and that is not by the luck of where code lies, of one call */
static const double level = 0.01;  /* how often chance may call a row different, in all of them */
enum { FEWEST = 6 /* rounds whose ratios tell an interval */ };

static const char slower[] = "slower", faster[] = "faster", broken[] = "broken", same[] = "same",
                  unknown[] = "unknown", new_here[] = "new";

/* The logarithms of the rounds' ratios. */
static stats_shift shift_of(const row *line) {
  const size_t count = line->turns.count;
  double *ratios = message_need(malloc((count + 1) * sizeof *ratios));
  stats_shift s;

  for (size_t i = 0; i < count; i++)
    ratios[i] = log(line->turns.ours[i] / line->turns.base[i]);
  s = stats_shift_of(ratios, count);
  free(ratios);
  return s;
}

bool against_is_open(const row *line) {
  const double surely = 1e-6; /* among thousands of rows */
  const stats_shift s = shift_of(line);

  return s.probability > surely && !(-log1p(least) < s.low && s.high < log1p(least));
}

static void measure_turns(row *line) {
  const size_t count = line->turns.count;
  const stats_shift s = shift_of(line);

  line->base_time = stats_median(line->turns.base, count, sizeof *line->turns.base);
  line->base_ratio = exp(s.estimate);
  if (count >= FEWEST) {
    line->base_ratio_low = exp(s.low);
    line->base_ratio_high = exp(s.high);
  }
  line->base_probability = s.probability;
}

static const char *change_of(const row *line, bool told) {
  const double times = line->base_ratio, apart = fabs(times - 1) * line->base_time;

  if (told && apart > least_ns && fmax(times, 1 / times) > 1 + least)
    return times > 1 ? slower : faster;
  return line->base_ratio_low > 1 / (1 + alike) && line->base_ratio_high < 1 + alike ? same
                                                                                     : unknown;
}

static bool is_compared(const row *line) {
  return line->state == ROW_RIGHT && line->turns.count > 0;
}

void against_judge(const report *r) {
  double *probabilities = message_need(calloc(r->count + 1, sizeof *probabilities));
  bool *told = message_need(calloc(r->count + 1, sizeof *told));
  size_t compared = 0;

  for (size_t i = 0; i < r->count; i++) {
    row *line = r->rows[i];
    if (line->peer)
      continue;
    if (!line->base_status)
      line->change = new_here;
    else if (line->state != ROW_RIGHT && line->state != ROW_SKIPPED &&
             strcmp(line->base_status, "right") == 0)
      line->change = broken;
    if (!is_compared(line))
      continue;
    measure_turns(line);
    probabilities[compared++] = line->base_probability;
  }
  stats_holm(probabilities, compared, level, told);
  compared = 0;
  for (size_t i = 0; i < r->count; i++)
    if (!r->rows[i]->peer && is_compared(r->rows[i]))
      r->rows[i]->change = change_of(r->rows[i], told[compared++]);
  free(probabilities);
  free(told);
}

static size_t count_of(const report *r, const char *change) {
  size_t count = 0;

  for (size_t i = 0; i < r->count; i++)
    count += r->rows[i]->change == change;
  return count;
}

/* Rows of one kind after the other, slower ones by how much: the table's order. */
static int by_change(const void *a, const void *b) {
  const row *x = *(row *const *)a, *y = *(row *const *)b;
  const double one = x->change == broken ? INFINITY : x->base_ratio;
  const double other = y->change == broken ? INFINITY : y->base_ratio;

  return (one < other) - (one > other);
}

/* Those that are worth a line; their number. To be freed. */
static row **changed(const report *r, size_t *count) {
  row **all = message_need(calloc(r->count + 1, sizeof *all));

  *count = 0;
  for (size_t i = 0; i < r->count; i++)
    if (r->rows[i]->change == slower || r->rows[i]->change == faster ||
        r->rows[i]->change == broken)
      all[(*count)++] = r->rows[i];
  qsort(all, *count, sizeof *all, by_change);
  return all;
}

static void put_counts(FILE *to, const report *r) {
  const size_t s = count_of(r, slower), f = count_of(r, faster), alike_rows = count_of(r, same);
  const size_t u = count_of(r, unknown);

  fprintf(to, "%zu rows against %s: %zu slower, %zu faster, %zu the same, %zu cannot be told",
          s + f + alike_rows + u, r->base_commit ? r->base_commit : r->options->against, s, f,
          alike_rows, u);
  if (count_of(r, broken))
    fprintf(to, ", %zu no longer right", count_of(r, broken));
  if (count_of(r, new_here))
    fprintf(to, "; %zu new", count_of(r, new_here));
  fputc('\n', to);
}

bool against_print(const report *r) {
  size_t count;
  row **all = changed(r, &count);
  int width = 0;

  for (size_t i = 0; i < count; i++)
    width = (int)strlen(all[i]->name) > width ? (int)strlen(all[i]->name) : width;
  putchar('\n');
  if (count)
    printf("%s        %-*s %8s %8s %8s  interval%s\n", terminal_paint(STRONG), width, "row", "base",
           "now", "change", terminal_paint(PLAIN));
  for (size_t i = 0; i < count; i++) {
    const row *line = all[i];
    printf("%s%s%s  %-*s", terminal_paint(line->change == faster ? GOOD : BAD),
           line->change == slower   ? "SLOWER"
           : line->change == faster ? "faster"
                                    : "BROKEN",
           terminal_paint(PLAIN), width, line->name);
    if (line->change == broken)
      printf("  %s: %s\n", line->status, line->reason);
    else
      printf(" %8s %8s  %+6.1f%%  %+.1f to %+.1f%%\n", units_time(line->base_time).text,
             units_time(line->real_time).text, 100 * (line->base_ratio - 1),
             100 * (line->base_ratio_low - 1), 100 * (line->base_ratio_high - 1));
  }
  if (count)
    putchar('\n');
  free(all);
  put_counts(stdout, r);
  count = count_of(r, slower) + count_of(r, faster) + count_of(r, same) + count_of(r, unknown);
  if (count == 0)
    message_warn("nothing was compared: no row is timed in both programs");
  return count > 0 && count_of(r, slower) + count_of(r, broken) == 0;
}

void against_markdown(FILE *to, const report *r) {
  size_t count;
  row **all;

  if (!r->options->against)
    return;
  all = changed(r, &count);
  fputs("\n## Against the base\n\n", to);
  put_counts(to, r);
  if (count)
    fputs("\n| | row | base | now | change | interval |\n| --- | --- | --- | --- | --- | --- |\n",
          to);
  for (size_t i = 0; i < count; i++) {
    const row *line = all[i];
    if (line->change == broken)
      fprintf(to, "| **broken** | %s | right | %s | | |\n", line->name, line->status);
    else
      fprintf(to, "| %s%s%s | %s | %s | %s | %+.1f %% | %+.1f to %+.1f %% |\n",
              line->change == slower ? "**" : "", line->change, line->change == slower ? "**" : "",
              line->name, units_time(line->base_time).text, units_time(line->real_time).text,
              100 * (line->base_ratio - 1), 100 * (line->base_ratio_low - 1),
              100 * (line->base_ratio_high - 1));
  }
  free(all);
}
