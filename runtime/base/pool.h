/* pool.h - work on all processors that this process may run on. What is worked on is cut into parts by its size
 * alone, and what comes of each part depends on no other, so that the results are the same whatever the number of
 * threads. */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>

/* Does one part; thread: below pool_threads(), another one for each part that is under way. */
typedef void pool_work(void *context, size_t part, int thread);

/* Does all parts, and returns when they are done: from then on all threads but the caller's sleep, so that nothing
 * is disturbed that is timed. One part is done by the caller alone, and so are all while the others work for another
 * caller. Not to be called out of work. */
void pool_run(pool_work *work, void *context, size_t parts);

/* How many threads work together, the caller's among them. */
int pool_threads(void);

/* Sets how many; 0, as at first: one for each processor that this process may run on. */
void pool_use(int threads);

/* From here on this thread stays on the nth of the processors that the process may run on, counted around. Others that
 * work are as they were. */
void pool_stay(size_t nth);

/* How many parts of `each` there are in `all`, and how many the nth has. */
size_t pool_parts(size_t all, size_t each);
size_t pool_part_size(size_t all, size_t each, size_t nth);

#endif
