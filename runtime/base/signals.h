/* signals.h - crashes of kernels caught, requests to end noted. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* Calls function(argument). Null when it returns; where it crashes, the name of the signal,
 * and what the function held is lost. Does not nest. */
const char *signals_guard(void (*function)(void *), void *argument);

/* "SIGSEGV"; "a signal" for one that is no crash's. */
const char *signals_name(int number);

/* From here on a signal that asks the program to end is only noted, so that what is finished can be
 * written: Ctrl-C and its like, a terminal or a pipe that is gone, a file that may not grow. One that
 * was ignored, as under nohup, still is. A second one of those that somebody sends ends the program,
 * after it has called last (not null), which may do what a signal's handler may. */
void signals_note_interrupts(void (*last)(void));

/* The signal that was noted first, or 0. */
int signals_interrupted(void);

/* For a forked process: what nobody guards is death by its signal, whatever the other process or a
 * sanitizer makes of it; and what asks both to end, as a terminal does, is the other's to heed. */
void signals_begin_child(void);

#endif
