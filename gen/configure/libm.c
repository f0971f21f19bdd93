#include <math.h>
int main(int argc, char **argv) {
  return (void)argv, erf(argc) > 1 || erfl(argc) > 1;
}
