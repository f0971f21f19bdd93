/* params.c - a variant's tuning parameters, taken from their text. */
#include "params.h"

#include <stdio.h>
#include <string.h>

bool params_next(const char **at, param *p) {
  const int name = (int)strcspn(*at, "="), length = (int)strcspn(*at, " ");

  if (name >= length)
    return false;
  snprintf(p->name, sizeof p->name, "%.*s", name, *at);
  snprintf(p->value, sizeof p->value, "%.*s", length - name - 1, *at + name + 1);
  *at += length + ((*at)[length] == ' ');
  return true;
}

bool params_number(const param *p) {
  return p->value[0] && !p->value[strspn(p->value, "0123456789")];
}
