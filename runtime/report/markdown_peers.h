/* markdown_peers.h - the part of the report to read that holds ours against other libraries. */
#ifndef MARKDOWN_PEERS_H
#define MARKDOWN_PEERS_H

#include "report.h"

/* How often ours is at least as fast as each library, and within a fifth of it. Nothing where no library was timed. */
void markdown_peers_summary(FILE *to, const report *r);

/* Each op and size: mean and deviation of both, the speedup with its interval, and a rating. */
void markdown_peers_rows(FILE *to, const report *r);

#endif
