/* units.h - figures as people read them: three digits and a unit. */
#ifndef UNITS_H
#define UNITS_H

enum { UNITS_TEXT = 24 };
typedef struct units_text {
  char text[UNITS_TEXT];
} units_text;

units_text units_time(double ns);      /* 1.23 us */
units_text units_bytes(double bytes);  /* 1.23 MiB */
units_text units_count(double count);  /* 1.23 G */
units_text units_number(double value); /* 1.23, 12.3, 123 */

#endif
