/* markdown_peers.h - the part of the report to read that holds ours against other libraries. */
#ifndef MARKDOWN_PEERS_H
#define MARKDOWN_PEERS_H

#include "report.h"

/* How often ours is at least as fast as each library, and within a fifth of it; then each op and size: mean and
 * deviation of both, the speedup with its interval, and a rating. Nothing where no library was timed. */
void markdown_peers(FILE *to, const report *r);

#endif
