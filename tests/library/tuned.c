/* tuned.c - what is measured on a processor is what plans take afterwards, near that size alone, and what is saved is
 * taken again. With arguments: a file of `bench tune` is taken, and another one written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/matmul.h>
#include <lathe/softmax.h>
#include <lathe_tune.h>

static int failed;

#define EXPECT(what)                                                                               \
  ((what) ? (void)0 : (void)(failed = 1, printf("line %d: expected %s\n", __LINE__, #what)))

static float x[64 * 1000], y[64 * 1000];
static _Alignas(64) char workspace[1 << 22];
static const size_t dim[] = {64, 1000}, near[] = {32, 2000}, far[] = {64, 10};

static const char *variant_of(const lathe_device *device, const size_t *at) {
  lathe_plan plan;

  return lathe_make_of(&plan, &lathe_softmax_f32_cpu, device, at, NULL) ? plan.why : plan.variant;
}

/* The same text with another variant. */
static void replace(char *text, size_t room, const char *variant) {
  char *at = strstr(text, "softmax_f32__");
  char after[4096];

  snprintf(after, sizeof after, "%s", strchr(at, ' '));
  snprintf(at, room - (size_t)(at - text), "%s%s", variant, after);
}

static void measure(void) {
  void *const operand[] = {x, y};
  lathe_tuning with = {.size = sizeof with, .operand = operand, .seconds = 0.02};
  const char *usual = variant_of(NULL, dim);
  const lathe_options scalar = {.size = sizeof scalar, .variant = "*__scalar*"};
  char text[4096], why[160], small[20];
  lathe_device *device, *other;
  lathe_plan plan;

  EXPECT(!lathe_make_of(&plan, &lathe_softmax_f32_cpu, NULL, dim, &scalar));
  const char *const slow = plan.variant;

  EXPECT(!lathe_open_cpu(&device) && !lathe_open_cpu(&other));
  EXPECT(!strcmp(variant_of(device, dim), usual));
  EXPECT(lathe_tune(NULL, &lathe_softmax_f32_cpu, dim, &with, &plan) == LATHE_OPTIONS &&
         plan.why[0]);
  with.size = 1;
  EXPECT(lathe_tune(device, &lathe_softmax_f32_cpu, dim, &with, &plan) == LATHE_OPTIONS);
  with.size = sizeof with;
  EXPECT(lathe_tune(device, &lathe_softmax_f32_cpu, NULL, &with, &plan) == LATHE_SHAPE);
  EXPECT(lathe_save_tuning(device, text, sizeof text) == strlen(text));
  EXPECT(!strstr(text, "softmax") && strstr(text, "lathe-tuning 1\ndevice cpu "));
  EXPECT(lathe_tune(device, &lathe_softmax_f32_cpu, dim, &with, &plan) == LATHE_OK);
  EXPECT(plan.variant && !plan.why[0] && !strcmp(variant_of(device, dim), plan.variant));
  EXPECT(!lathe_run(&plan, operand, NULL, NULL, NULL) && y[0] == 1 / 1000.f);
  EXPECT(lathe_save_tuning(device, text, sizeof text) == strlen(text));
  EXPECT(strstr(text, "\nsoftmax f32 cpu 64x1000 softmax_f32__"));
  EXPECT(lathe_save_tuning(device, small, sizeof small) == strlen(text) && strlen(small) == 19);
  EXPECT(lathe_save_tuning(device, NULL, 0) == strlen(text));
  /* One that no device would choose by itself. */
  replace(text, sizeof text, slow);
  EXPECT(lathe_load_tuning(other, text, why) == LATHE_OK && !why[0]);
  EXPECT(!strcmp(variant_of(other, dim), slow));
  EXPECT(!strcmp(variant_of(other, near), slow));
  EXPECT(strcmp(variant_of(other, far), slow));
  EXPECT(!strcmp(variant_of(NULL, dim), usual));
  /* A later line counts, one of other variants does not. */
  EXPECT(!lathe_tune(other, &lathe_softmax_f32_cpu, dim, &with, &plan));
  EXPECT(strcmp(variant_of(other, dim), slow));
  char *mark = strrchr(text, ' ') + 1;
  *mark = *mark == '0' ? '1' : '0';
  EXPECT(!lathe_load_tuning(other, text, why) && !strcmp(variant_of(other, dim), usual));
  lathe_close(other);
  lathe_close(device);
}

static void refuse(void) {
  char why[160], text[1024];
  lathe_device *device;

  EXPECT(!lathe_open_cpu(&device));
  EXPECT(lathe_load_tuning(device, "", why) == LATHE_OPTIONS && strstr(why, "lathe-tuning 1"));
  EXPECT(lathe_load_tuning(device, "lathe-tuning 2\n", why) == LATHE_OPTIONS &&
         strstr(why, "line 1"));
  EXPECT(lathe_load_tuning(device, "lathe-tuning 1\ndevice cpu an abacus\n", why) == LATHE_OPTIONS);
  EXPECT(strstr(why, "found 'an abacus'"));
  EXPECT(!lathe_load_tuning(device, "lathe-tuning 1\ndevice cuda a GPU\n\nadd f32 cuda 5 a 1 0\n",
                            why));
  EXPECT(lathe_load_tuning(device, "lathe-tuning 1\nadd f32 cpu 5 a 1 0\n", why) == LATHE_OPTIONS);
  EXPECT(strstr(why, "line 2") && strstr(why, "before this"));
  lathe_save_tuning(device, text, sizeof text);
  strcat(text, "\r\nnonsense\n");
  EXPECT(lathe_load_tuning(device, text, NULL) == LATHE_OPTIONS);
  lathe_close(device);
}

static void lend(void) {
  const size_t product[] = {100, 100, 100};
  void *const operand[] = {x, x, y};
  lathe_tuning with = {.size = sizeof with, .operand = operand, .seconds = 0.02};
  lathe_device *device;
  lathe_plan plan;

  EXPECT(!lathe_open_cpu(&device));
  with.workspace_bytes = lathe_tuning_workspace(device, &lathe_matmul_f32_cpu, product);
  with.workspace = workspace;
  EXPECT(with.workspace_bytes > 0 && with.workspace_bytes <= sizeof workspace);
  EXPECT(!lathe_tune(device, &lathe_matmul_f32_cpu, product, &with, &plan));
  EXPECT(plan.variant && plan.workspace <= with.workspace_bytes);
  lathe_close(device);
}

static void take(const char *from, const char *to) {
  static char text[1 << 16];
  FILE *file = fopen(from, "r");
  char why[160];
  lathe_device *device;

  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  EXPECT(!lathe_open_cpu(&device));
  if (lathe_load_tuning(device, text, why))
    failed = 1, puts(why);
  puts(variant_of(device, dim));
  lathe_save_tuning(device, text, sizeof text);
  file = fopen(to, "w");
  fputs(text, file);
  fclose(file);
  lathe_close(device);
}

int main(int count, char **argument) {
  if (count > 2) {
    take(argument[1], argument[2]);
    return failed;
  }
  measure();
  refuse();
  lend();
  return failed;
}
