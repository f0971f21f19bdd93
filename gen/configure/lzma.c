#include <lzma.h>
int main(void) {
  return lzma_stream_buffer_bound(1) == 0;
}
