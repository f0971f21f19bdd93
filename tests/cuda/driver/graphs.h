/* graphs.h - the graphs of a false driver, whose launches are of a type `launched`: what was asked for while calls were
 * recorded. The driver itself says what launching one does. */
#ifndef FAKE_GRAPHS_H
#define FAKE_GRAPHS_H

#include <stdlib.h>

#include "fake.h"

typedef struct recording {
  int count;
  launched all[];
} recording;

static recording *being_made; /* null: launches run */

static void record(const launched *one) {
  being_made =
      realloc(being_made, sizeof *being_made + (size_t)(being_made->count + 1) * sizeof *one);
  if (!being_made)
    abort();
  being_made->all[being_made->count++] = *one;
}

CUresult fake_capture_begin(CUstream stream, int mode) {
  (void)stream, (void)mode;
  being_made = calloc(1, sizeof *being_made);
  return fake_state;
}

CUresult fake_capture_end(CUstream stream, CUgraph *graph) {
  (void)stream;
  *graph = (CUgraph)being_made;
  being_made = NULL;
  return fake_state;
}

/* What is launched is the graph itself, which is freed as that. */
CUresult fake_graph_make(CUgraphExec *made, CUgraph graph, unsigned long long flags) {
  (void)flags;
  *made = (CUgraphExec)graph;
  return fake_state;
}

CUresult fake_graph_exec_free(CUgraphExec graph) {
  free(graph);
  return fake_state;
}

#endif
