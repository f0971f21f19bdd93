/* ranges.h - named ranges of time (NVTX), for tools such as Nsight Systems to show beside what a GPU does. */
#ifndef RANGES_H
#define RANGES_H

/* A range ends where the one that began last does. Without such a tool they are nothing. */
void ranges_begin(const char *name);
void ranges_end(void);

#endif
