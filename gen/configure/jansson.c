#include <jansson.h>
int main(void) {
  return json_object_size(json_pack("{s:f}", "time", 1.5)) != 1;
}
