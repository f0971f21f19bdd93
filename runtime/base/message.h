/* message.h - what the bench program says of bad requests and of trouble. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>

/* EXIT_SIGNAL is added to the number of the signal that ended the run. */
enum {
  EXIT_RIGHT = 0,
  EXIT_WRONG = 1,
  EXIT_REQUEST = 2,
  EXIT_NOTHING = 3,
  EXIT_KILLED = 4,
  EXIT_SIGNAL = 128
};

/* A copy of a text that a terminal shows as it is, whatever its bytes: those of no character, and of one that is not
 * seen, as \x1b. Free it; null without memory. */
char *message_plain(const char *text);

/* Prints "bench: ..." as such a text, and a newline on standard error, and ends with EXIT_REQUEST. */
_Noreturn void message_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The memory, or the file in memory, that was asked for; refuses where there is none. */
void *message_need(void *memory);

/* A copy of a text. Free it. */
char *message_copy(const char *text);

/* Refuses a name, naming the nearest right one: kind is "op", where tells of a list. */
_Noreturn void message_unknown(const char *kind, const char *word, const char *const *names,
                               size_t count, const char *where);

/* Prints "bench: warning: ..." on standard error. */
void message_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
