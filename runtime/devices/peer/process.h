/* process.h - Python with a library that kernels are held against: a process for each library, started when
 * something is first asked of it, and anew when it has ended. peer.py says what may be asked. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { PEER_WHY = 320 };

/* Sends a request, lines that end with a newline, to a library's process, and waits for the figure that answers it.
 * False with one line in why: where no Python has the library, the process refused, or it ended. */
bool peer_ask(const char *library, const char *request, double *figure, char why[PEER_WHY]);

/* A file of memory that a library's processes have from their beginning on, by the same number; negative where there is
 * none. To be asked for before the first process begins. */
int peer_file(const char *library);

/* Whether the process was there, and refused what it was last asked. */
bool peer_refused(const char *library);

/* How many of a library's processes have ended: what they were told is gone. */
unsigned peer_ended(const char *library);

#endif
