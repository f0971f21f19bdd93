/* markdown_peers.c - the part of the report to read that holds ours against other libraries. */
#include "markdown_peers.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "findings.h"

static const double near = 1 / 1.2;  /* ours takes a fifth longer */
static const double aim = 0.8;       /* of the comparisons with NumPy, that are to be so near */
static const uint64_t large = 10000; /* points from which a call's own cost says little */

static bool is_compared(const row *r) {
  return r->peer && isfinite(r->ratio);
}

/* The rows of one library, or its large ones. */
typedef struct tally {
  size_t count, as_fast, within;
  double logs;
} tally;

static tally tally_of(const report *r, const char *library, uint64_t from) {
  tally t = {0};

  for (size_t i = 0; i < r->count; i++) {
    const row *line = r->rows[i];
    if (!is_compared(line) || strcmp(line->backend, library) != 0 || line->points < from)
      continue;
    t.count++;
    t.as_fast += line->ratio >= 1;
    t.within += line->ratio >= near;
    t.logs += log(line->ratio);
  }
  return t;
}

static double share(size_t some, const tally *of) {
  return 100 * (double)some / (double)of->count;
}

static void put_tally(FILE *to, const report *r, const char *library) {
  const tally all = tally_of(r, library, 0), larger = tally_of(r, library, large);

  fprintf(to, "| %s | %zu | %.0f %% | %.0f %% | %.2f | ", library, all.count,
          share(all.as_fast, &all), share(all.within, &all), exp(all.logs / (double)all.count));
  if (larger.count)
    fprintf(to, "%.2f", exp(larger.logs / (double)larger.count));
  fputs(" |\n", to);
}

/* Whether an earlier row is of the same library. */
static bool was_before(const report *r, size_t i) {
  for (size_t j = 0; j < i; j++)
    if (is_compared(r->rows[j]) && r->rows[j]->backend == r->rows[i]->backend)
      return true;
  return false;
}

static void put_aim(FILE *to, const report *r) {
  const tally t = tally_of(r, "numpy", 0);
  const double within = share(t.within, &t) / 100;

  if (t.count)
    fprintf(to,
            "\n%.0f %% of the comparisons with NumPy are within 20 %% of it or faster; the aim of "
            "%.0f %% is %s.\n",
            100 * within, 100 * aim, within >= aim ? "reached" : "missed");
}

static const char *rating_of(double speedup) {
  return speedup >= 0.8   ? "excellent"
         : speedup >= 0.5 ? "good"
         : speedup >= 0.2 ? "fair"
                          : "needs work";
}

/* "1.23 us ± 0.04" in one unit. */
static void put_time(FILE *to, const row *r) {
  fprintf(to, "%s ± %s | ", units_time(r->samples.mean).text,
          units_time(r->samples.deviation).text);
}

static void put_comparison(FILE *to, const row *peer, const row *ours) {
  fprintf(to, "| %s | %s | %s | %s | ", peer->op, peer->dtype, peer->size, peer->backend);
  put_time(to, peer);
  put_time(to, ours);
  fprintf(to, "%.2f | ", peer->ratio);
  if (isfinite(peer->ratio_low))
    fprintf(to, "%.2f to %.2f", peer->ratio_low, peer->ratio_high);
  fprintf(to, " | %s | %.3g | %.3g |\n", rating_of(peer->ratio), peer->ulp, ours->ulp);
}

static const row *named(row *const *rows, size_t count, const char *variant) {
  size_t i = 0;

  while (i < count && rows[i]->variant != variant)
    i++;
  return i < count ? rows[i] : NULL;
}

void markdown_peers_rows(FILE *to, const report *r) {
  bool begun = false;
  size_t count;

  for (size_t i = 0; i < r->count; i += count) {
    count = report_task_rows(r, i);
    for (size_t j = i; j < i + count; j++) {
      const row *ours =
          is_compared(r->rows[j]) ? named(&r->rows[i], count, r->rows[j]->against) : NULL;
      if (!ours)
        continue;
      if (!begun)
        fputs(
            "\n## Each comparison\n\nTimes are means of a call with their standard deviation, ours "
            "of dispatch's choice. The speedup is\nthe ratio of the medians, above 1 where "
            "ours "
            "is faster. Its rating: excellent from 0.8, good from 0.5,\nfair from 0.2.\n\n| op | "
            "type "
            "| size | library | its time | ours | speedup | 95 % interval | rating | its ulp | our "
            "ulp "
            "|\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
            to);
      begun = true;
      put_comparison(to, r->rows[j], ours);
    }
  }
}

void markdown_peers_summary(FILE *to, const report *r) {
  bool any = false;

  for (size_t i = 0; i < r->count; i++) {
    if (!is_compared(r->rows[i]) || was_before(r, i))
      continue;
    if (!any)
      fprintf(to,
              "\n## Beside other libraries\n\n| library | comparisons | ours as fast or faster | "
              "within 20 %% | geometric mean of the speedups | that from %llu points on |\n"
              "| --- | --- | --- | --- | --- | --- |\n",
              (unsigned long long)large);
    any = true;
    put_tally(to, r, r->rows[i]->backend);
  }
  put_aim(to, r);
}
