/* page.c - runs as one HTML file. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "rows/row.h"

/* The files of page/, put in by the assembler, which finds them through -Wa,-I. */
#define EMBED(name, file)                                                                          \
  __asm__(".section .rodata\n"                                                                     \
          "lathe_page_" #name ":\n"                                                                \
          ".incbin \"" file "\"\n"                                                                 \
          ".byte 0\n"                                                                              \
          ".previous\n");                                                                          \
  extern const char lathe_page_##name[]
EMBED(page, "page.html");
EMBED(style, "style.css");
EMBED(rows, "rows.js");
EMBED(svg, "svg.js");
EMBED(charts, "charts.js");
EMBED(main, "main.js");

enum { SAMPLES = 64 /* of a row, that are drawn */ };

/* The members of a row that the page shows; others stay in the JSON file. */
static json_t *shown(void) {
  json_t *names = json_pack("[s, s]", "sizes", "samples");

  for (size_t f = 0; f < row_field_count; f++)
    if (row_fields[f].on_page)
      json_array_append_new(names, json_string(row_fields[f].name));
  return names;
}

/* So many samples, evenly among all. */
static json_t *thinned(const json_t *samples) {
  const size_t count = json_array_size(samples), most = count < SAMPLES ? count : SAMPLES;
  json_t *some = json_array();

  for (size_t i = 0; i < most; i++)
    json_array_append(some, json_array_get(samples, i * count / most));
  return some;
}

static json_t *values_of(const json_t *of, const json_t *names) {
  json_t *values = json_array();

  for (size_t f = 0; f < json_array_size(names); f++) {
    json_t *value = json_object_get(of, json_string_value(json_array_get(names, f)));
    if (json_is_array(value))
      json_array_append_new(values, thinned(value));
    else if (value)
      json_array_append(values, value);
    else
      json_array_append_new(values, json_null());
  }
  return values;
}

/* A run with its rows as lists of values, in the order of `fields`. */
static json_t *compact(const json_t *run) {
  json_t *made = json_object(), *names = shown(), *rows = json_array();
  const json_t *all = json_object_get(run, "benchmarks");

  for (size_t i = 0; i < json_array_size(all); i++)
    json_array_append_new(rows, values_of(json_array_get(all, i), names));
  json_object_set(made, "context", json_object_get(run, "context"));
  if (json_object_get(run, "file"))
    json_object_set(made, "file", json_object_get(run, "file"));
  json_object_set_new(made, "fields", names);
  json_object_set_new(made, "rows", rows);
  return made;
}

/* In a script no text may end it, or begin a comment: a less-than sign goes as its number. */
static void put_data(FILE *to, const json_t *runs) {
  json_t *all = json_array();
  char *text;

  for (size_t i = 0; i < json_array_size(runs); i++)
    json_array_append_new(all, compact(json_array_get(runs, i)));
  text = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(6));
  for (const char *at = text; at && *at; at++)
    if (*at == '<')
      fputs("\\u003c", to);
    else
      fputc(*at, to);
  free(text);
  json_decref(all);
}

void page_write(FILE *to, const json_t *runs) {
  static const char *const scripts[] = {lathe_page_rows, lathe_page_svg, lathe_page_charts,
                                        lathe_page_main};
  const char *at = lathe_page_page, *mark;

  while ((mark = strchr(at, '@'))) {
    fwrite(at, 1, (size_t)(mark - at), to);
    at = strchr(mark + 1, '@') + 1;
    if (strncmp(mark, "@style@", 7) == 0)
      fputs(lathe_page_style, to);
    else if (strncmp(mark, "@data@", 6) == 0)
      put_data(to, runs);
    else
      for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        fputs(scripts[i], to);
  }
  fputs(at, to);
}
