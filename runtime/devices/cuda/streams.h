/* streams.h - kernels that move memory and do nothing else, for a GPU's ceiling. */
#ifndef CUDA_STREAMS_H
#define CUDA_STREAMS_H

enum { STREAMS_ACCESSES = 4 }; /* accesses of 16 bytes to a stream that a thread has in flight */

/* PTX of a kernel for each number of streams read, STREAMS_READING included, by streams_name; in a
 * second flavour what is moved leaves the caches first. All take
 *   (from0, from1, from2, to, packs of 16 bytes in each stream)
 * and any grid of blocks in one dimension. The text lasts; null where there is no memory. */
const char *streams_ptx(void);

/* "copies_2_once"; static. */
const char *streams_name(int streams, int once);

#endif
