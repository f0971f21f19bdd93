/* units.c - figures as people read them. */
#include "units.h"

#include <math.h>
#include <stdio.h>

units_text units_number(double value) {
  const double size = fabs(value);
  units_text t;

  /* The borders are where rounding would add a digit. */
  snprintf(t.text, sizeof t.text, "%.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, value);
  return t;
}

static units_text scaled(double value, double step, const char *const *units, int count) {
  units_text t;
  int unit = 0;

  while (unit + 1 < count && fabs(value) >= 999.5) {
    value /= step;
    unit++;
  }
  snprintf(t.text, sizeof t.text, "%.12s %s", units_number(value).text, units[unit]);
  return t;
}

units_text units_time(double ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"};

  return scaled(ns, 1000, units, 4);
}

units_text units_count(double count) {
  static const char *const units[] = {"", "K", "M", "G", "T", "P", "E"};

  return scaled(count, 1000, units, 7);
}

units_text units_bytes(double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  return scaled(bytes, 1024, units, 7);
}
