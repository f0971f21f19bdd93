/* page.h - runs as one HTML file that needs no network: page/ has its text, its style and its scripts. */
#ifndef PAGE_H
#define PAGE_H

#include <jansson.h>
#include <stdio.h>

/* Writes the page of some runs: an array of objects as report_as_json makes them. A member `file` says where a run was
 * stored. */
void page_write(FILE *to, const json_t *runs);

#endif
