/* modes.h - how the operands of a call lie, for the host, CUDA and GLSL alike: all unlike each other, for accesses of
 * one element each; at multiples of 16 bytes, for accesses of so many; the same, as many as a kernel has room for; rows
 * that start anywhere, but all alike, for accesses of 16 bytes that lie in a row whole, and the elements at both its
 * ends apart. */
#define LATHE_APART 0
#define LATHE_PACKS 1
#define LATHE_FULL 2
#define LATHE_ENDS 3
