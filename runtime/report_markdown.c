/* report_markdown.c - a report to read: the machine, then a table for each op and type. */
#include <math.h>
#include <string.h>

#include "clock.h"
#include "cpu.h"
#include "report.h"
#include "units.h"

/* Text as a table's cell: a bar would end it. */
static void put_cell(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '|')
      fputc('\\', to);
    fputc(*text, to);
  }
}

static void put_row(FILE *to, const row *r) {
  const char *bold = r->fastest ? "**" : "";

  fprintf(to, "| %s | %s%s%s | ", r->size, bold, r->variant, bold);
  if (r->state != ROW_RIGHT) {
    fprintf(to, "%s: ", r->status);
    put_cell(to, r->reason);
    fputs(" | | | | | |\n", to);
    return;
  }
  if (r->sample_count > 0) {
    fprintf(to, "%s%s%s | %s %% | ", bold, units_time(r->real_time).text, bold,
            isfinite(r->noise) ? units_number(100 * r->noise).text : "?");
    fprintf(to, "%.3g | %s | ", r->ns_per_point, units_number(r->throughput_gbps).text);
    if (isfinite(r->ceiling_share))
      fprintf(to, "%.0f %% of %s%s", 100 * r->ceiling_share, r->ceiling,
              r->above_ceiling ? ", which was measured too low" : "");
  } else {
    fputs("right | | | | ", to);
  }
  fprintf(to, " | %.3g of %g |\n", r->ulp, r->ulp_bound);
}

static void put_machine(FILE *to, const report *r) {
  cpu_cache cache[16];
  const int caches = cpu_caches(cache, sizeof cache / sizeof *cache);

  fprintf(to, "# Kernels of %s\n\n", r->host);
  fprintf(to, "| | |\n| --- | --- |\n");
  fprintf(to, "| date | %s |\n", r->date);
  fprintf(to, "| command | `%s` |\n", r->command);
  fprintf(to, "| processor | %s |\n", lathe_cpu_name());
  fprintf(to, "| features | %s |\n", cpu_feature_names(lathe_cpu_features()));
  for (int i = 0; i < caches; i++)
    if (strcmp(cache[i].type, "Instruction") != 0)
      fprintf(to, "| level %d cache | %s |\n", cache[i].level,
              units_bytes((double)cache[i].size).text);
  fprintf(to, "| seed | %llu |\n", (unsigned long long)r->options->seed);
  fprintf(to, "| timer overhead | %s |\n", units_time(clock_overhead_ns()).text);
  fprintf(to, "| rows | %zu right, %zu wrong, %zu unproved, %zu killed, %zu skipped, in %.1f s |\n",
          r->right, r->wrong, r->unproved, r->killed, r->skipped, r->seconds);
  if (r->interrupted)
    fprintf(to, "| interrupted | %zu rows not run |\n", r->total - r->count);
}

void report_markdown(FILE *to, const report *r) {
  const task *last = NULL;

  put_machine(to, r);
  fputs("\nTimes are medians of one call, on one thread, with the data in whatever cache holds "
        "it;\n+- is half of the median's 95 % interval; the fastest of a size is in bold. GB/s "
        "counts each operand\nonce; its ceiling is what this machine was seen to move at that "
        "size.\n",
        to);
  for (size_t i = 0; i < r->count; i++) {
    const task *t = r->rows[i]->task;
    if (!last || t->op != last->op || t->dtype != last->dtype) {
      fprintf(to, "\n## %s %s\n\n%s (%s)\n\n", t->op->name, lathe_dtype_name(t->dtype),
              t->op->doc ? t->op->doc : "", t->op->source);
      fputs("| size | variant | time | +- | ns/point | GB/s | ceiling | ulp |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
            to);
    }
    put_row(to, r->rows[i]);
    last = t;
  }
}
