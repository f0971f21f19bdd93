/* foreign.c - which kernels a call of what somebody else wrote launches on a Vulkan device. */
#include "call.h"

#ifdef HAVE_VULKAN
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/common/file.h"
#include "devices/foreign/description.h"
#include "devices/foreign/foreign.h"

/* A pipeline that was made of a module in a file, or for an empty path in the one that was given. */
typedef struct made {
  struct made *next;
  const foreign *of;
  char path[FOREIGN_PATH];
  uint32_t constant[DESCRIPTION_CONSTANTS];
  VkPipeline pipeline;
} made;

size_t vulkan_foreign_workspace(const vulkan_call *c) {
  const vulkan_device *d = (const vulkan_device *)c->remote.head.on;
  const char *why;
  const double bytes = description_workspace(c->foreign->description, c->remote.head.variant,
                                             &c->remote.args, &d->limits, &why);

  return bytes > 0 ? (size_t)bytes : 0;
}

static int make(vulkan_device *d, made *m, const unsigned char *code, size_t size) {
  uint32_t *spirv = malloc(size);
  int error = LATHE_VULKAN_NO_MEMORY;

  if (spirv) {
    memcpy(spirv, code, size);
    error = lathe_vulkan_make_of(lathe_vulkan_of(d->code.library), spirv, size / 4, false,
                                 m->constant[0], m->constant + 2, &m->pipeline);
  }
  free(spirv);
  return error == LATHE_VULKAN_NO_MEMORY ? VK_ERROR_OUT_OF_HOST_MEMORY : error;
}

/* Null with the reason in why, static. */
static const made *pipeline_of(vulkan_call *c, const description_launch *l, const char **why) {
  static const uint32_t magic = 0x07230203;
  static char text[320];
  static made *all;
  vulkan_device *d = (vulkan_device *)c->remote.head.on;
  const foreign *f = c->foreign;
  made wanted = {.of = f, .next = all}, *m = all;
  const unsigned char *code = f->code;
  unsigned char *file = NULL;
  size_t size = f->code_size;
  int error;

  if (l->kernel && !f->code)
    foreign_beside(f, l->kernel, wanted.path);
  memcpy(wanted.constant, l->constant, sizeof wanted.constant);
  if (l->constants == 0)
    wanted.constant[0] = l->block[0];
  while (m && (m->of != f || strcmp(m->path, wanted.path) != 0 ||
               memcmp(m->constant, wanted.constant, sizeof m->constant) != 0))
    m = m->next;
  if (m)
    return m;
  if (wanted.path[0])
    code = file = file_read(wanted.path, &size);
  *why = text;
  if (!code || size < sizeof magic || size % 4 || memcmp(code, &magic, sizeof magic) != 0) {
    snprintf(text, sizeof text, "%.200s: %s", wanted.path[0] ? wanted.path : f->given,
             code ? "it is no module in SPIR-V" : strerror(errno));
    free(file);
    return NULL;
  }
  error = make(d, &wanted, code, size);
  free(file);
  m = error ? NULL : malloc(sizeof *m);
  if (!m) {
    snprintf(text, sizeof text, "no pipeline could be made of it: %s", vulkan_error(error));
    return NULL;
  }
  *m = wanted;
  all = m;
  return m;
}

bool vulkan_load_foreign(vulkan_call *c, const char **why) {
  const vulkan_device *d = (const vulkan_device *)c->remote.head.on;
  description_launch launches[LATHE_MAX_LAUNCHES];
  description_arguments arguments;

  c->count = description_launches(c->foreign->description, c->remote.head.variant, &c->remote.args,
                                  &d->limits, launches, why);
  if (c->count < 0) {
    c->count = 0;
    return false;
  }
  if (!description_fill(c->foreign->description, c->remote.head.variant, &c->remote.args,
                        &arguments, why))
    return false;
  for (int l = 0; l < c->count; l++) {
    const made *m = pipeline_of(c, &launches[l], why);
    if (!m)
      return false;
    c->pipeline[l] = m->pipeline;
    c->launch[l] = (lathe_launch){.kernel = "main"};
    memcpy(c->launch[l].grid, launches[l].grid, sizeof launches[l].grid);
    memcpy(c->launch[l].block, launches[l].block, sizeof launches[l].block);
  }
  return true;
}

#endif
