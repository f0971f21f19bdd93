#include <mpfr.h>
int main(void) {
  mpfr_t x;
  mpfr_init2(x, 100);
  mpfr_set_ui(x, 1, MPFR_RNDN);
  return mpfr_erf(x, x, MPFR_RNDN) == 0;
}
