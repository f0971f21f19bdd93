/* signals.h - crashes of kernels caught, the user's interrupt noted. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* Calls function(argument). Null when it returns; where it crashes, the name of the signal,
 * and what the function held is lost. Does not nest. */
const char *signals_guard(void (*function)(void *), void *argument);

/* "SIGSEGV"; "a signal" for one that is no crash's. */
const char *signals_name(int number);

/* From here on the first Ctrl-C (or SIGTERM) only sets a flag, so that what is finished can
 * be written; a second one ends the program. */
void signals_note_interrupts(void);
bool signals_interrupted(void);

/* For a forked process: what nobody guards is death by its signal, whatever the other process or a
 * sanitizer makes of it; and Ctrl-C, which the terminal sends to both, is the other's to heed. */
void signals_begin_child(void);

#endif
