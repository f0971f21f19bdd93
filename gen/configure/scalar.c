#include <math.h>
int main(int argc, char **argv) {
  return (void)argv, fmaf(argc, 2.0f, sqrtf(argc)) > 3.0f;
}
