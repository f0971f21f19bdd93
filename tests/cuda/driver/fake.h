/* fake.h - what the two files of the false driver share. */
#include "cuda_driver.h"

/* What every function returns, once a launch has gone wrong: the real driver does that as well, until
 * the process ends. */
extern CUresult fake_state;
