/* merge.h - one run made of its shares, as several machines ran them. */
#ifndef MERGE_H
#define MERGE_H

#include <jansson.h>
#include <stdio.h>

/* Null where stored runs are all shares of one run; else why not, static: one is no share, is of another build, machine
 * or request than the first, was not run to its end, is there twice, or is missing. */
const char *merge_refusal(const json_t *runs);

/* One run with the rows of all, in the order that one process would have them in; its context is the first one's, with
 * a list `shards` of what is each run's own. */
json_t *merge_runs(const json_t *runs);

/* The exit status that a run with these rows would have, and how many of its own rows were right and not. */
int merge_status(const json_t *run);

/* Writes the counts as JSON of an endpoint of shields.io, which makes a badge of it. */
void merge_badge(const json_t *run, FILE *to);

/* A line that counts the rows by what became of them. */
void merge_count(const json_t *run, FILE *to);

#endif
