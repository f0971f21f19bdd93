/* code.c - from the SPIR-V that the program carries to pipelines. */
#include "vulkan.h"

#ifdef HAVE_VULKAN
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "library/spirv.h"

typedef struct vulkan_module {
  struct vulkan_module *next;
  const lathe_image *image;
  uint32_t nth;
  VkShaderModule made;
} vulkan_module;

typedef struct vulkan_pipeline {
  struct vulkan_pipeline *next;
  const lathe_image *image;
  VkShaderModule module;
  uint32_t block, constant[6];
  VkPipeline made;
} vulkan_pipeline;

/* ---- modules and pipelines ---------------------------------------------------------------------- */

/* The code of an image, unpacked: of the last one that was asked for it is kept. Null with the reason in why. */
static const uint32_t *unpack(vulkan_code *code, const lathe_image *image, size_t *words,
                              const char **why) {
  if (code->unpacked_of != image) {
    free(code->unpacked);
    code->unpacked = lathe_image_unpack_words(&code->bundle, image, &code->unpacked_size, why);
    code->unpacked_of = code->unpacked ? image : NULL;
  }
  *words = code->unpacked_size / 4;
  return code->unpacked;
}

/* The nth kernel of an image as this device is to have it; null with the reason in why. */
static uint32_t *make_words(vulkan_code *code, const lathe_image *image, uint32_t nth,
                            size_t *words, const char **why) {
  size_t all = 0, count = 0;
  const uint32_t *spirv = unpack(code, image, &all, why);
  uint32_t *kernel, *made;

  if (!spirv)
    return NULL;
  kernel = lathe_spirv_kernel(spirv, all, nth, &count);
  if (!kernel) {
    *why = "its code has no such kernel";
    return NULL;
  }
  made = lathe_spirv_ask(kernel, count, image->loose, &code->kind.floats, words);
  free(kernel);
  if (!made)
    *why = vulkan_error(VK_ERROR_OUT_OF_HOST_MEMORY);
  return made;
}

static const char *get_module(vulkan_code *code, const lathe_image *image, uint32_t nth,
                              VkShaderModule *made) {
  VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  vulkan_module *m = code->modules;
  const char *why = NULL;
  size_t words = 0;
  uint32_t *spirv;
  VkResult error;

  while (m && (m->image != image || m->nth != nth))
    m = m->next;
  if (m) {
    *made = m->made;
    return NULL;
  }
  spirv = make_words(code, image, nth, &words, &why);
  if (!spirv)
    return why;
  m = calloc(1, sizeof *m);
  info.codeSize = words * 4;
  info.pCode = spirv;
  error =
      m ? vk.CreateShaderModule(code->device, &info, NULL, &m->made) : VK_ERROR_OUT_OF_HOST_MEMORY;
  free(spirv);
  if (error) {
    free(m);
    return vulkan_error(error);
  }
  m->image = image;
  m->nth = nth;
  m->next = code->modules;
  code->modules = m;
  *made = m->made;
  return NULL;
}

/* Any thread may make one. */
static VkResult make_pipeline(const vulkan_code *code, vulkan_pipeline *p) {
  return lathe_vulkan_pipeline(vk.CreateComputePipelines, code->device, VK_NULL_HANDLE,
                               code->layout, p->module, &code->kind, p->block, p->constant,
                               &p->made);
}

static vulkan_pipeline *find(vulkan_pipeline *among, const lathe_image *first,
                             const lathe_launch *launch) {
  const lathe_image *image = lathe_nth_image(first, launch->image);

  while (among && (among->image != image || among->block != launch->block[0] ||
                   memcmp(among->constant, launch->constant, sizeof among->constant) != 0))
    among = among->next;
  return among;
}

/* A pipeline that is to be made, and its module; null with the reason in why. */
static vulkan_pipeline *begin_pipeline(vulkan_code *code, const lathe_image *first,
                                       const lathe_launch *launch, const char **why) {
  const lathe_image *image = lathe_nth_image(first, launch->image);
  VkShaderModule module = VK_NULL_HANDLE;
  vulkan_pipeline *p;

  *why = get_module(code, image, launch->constant[0], &module);
  if (*why)
    return NULL;
  p = calloc(1, sizeof *p);
  if (!p) {
    *why = vulkan_error(VK_ERROR_OUT_OF_HOST_MEMORY);
    return NULL;
  }
  p->image = image;
  p->module = module;
  p->block = launch->block[0];
  memcpy(p->constant, launch->constant, sizeof p->constant);
  return p;
}

static void keep(vulkan_code *code, vulkan_pipeline *p) {
  p->next = code->pipelines;
  code->pipelines = p;
}

const char *vulkan_code_get(vulkan_code *code, const lathe_image *first, const lathe_launch *launch,
                            VkPipeline *pipeline) {
  vulkan_pipeline *p = find(code->pipelines, first, launch);
  const char *why;

  if (!p) {
    p = begin_pipeline(code, first, launch, &why);
    if (!p)
      return why;
    const VkResult error = make_pipeline(code, p);
    if (error) {
      free(p);
      return vulkan_error(error);
    }
    keep(code, p);
  }
  *pipeline = p->made;
  return NULL;
}

typedef struct pipelines {
  const vulkan_code *code;
  vulkan_pipeline **one;
} pipelines;

static void make_one(void *context, size_t part, int thread) {
  const pipelines *all = context;

  (void)thread;
  if (make_pipeline(all->code, all->one[part]))
    all->one[part]->made = VK_NULL_HANDLE;
}

void vulkan_code_expect(vulkan_code *code, const lathe_image *first, const lathe_launch *launches,
                        size_t count) {
  pipelines all = {.code = code, .one = calloc(count + 1, sizeof *all.one)};
  vulkan_pipeline *begun = NULL;
  size_t ready = 0;
  const char *why;

  for (size_t i = 0; i < count && all.one; i++) {
    vulkan_pipeline *p;
    if (find(code->pipelines, first, &launches[i]) || find(begun, first, &launches[i]))
      continue;
    p = begin_pipeline(code, first, &launches[i], &why);
    if (!p)
      continue;
    p->next = begun;
    begun = p;
    all.one[ready++] = p;
  }
  pool_run(make_one, &all, ready);
  for (size_t i = 0; i < ready; i++)
    if (all.one[i]->made)
      keep(code, all.one[i]);
    else
      free(all.one[i]);
  free(all.one);
}

void vulkan_code_drop(vulkan_code *code) {
  while (code->pipelines) {
    vulkan_pipeline *next = code->pipelines->next;
    vk.DestroyPipeline(code->device, code->pipelines->made, NULL);
    free(code->pipelines);
    code->pipelines = next;
  }
  while (code->modules) {
    vulkan_module *next = code->modules->next;
    vk.DestroyShaderModule(code->device, code->modules->made, NULL);
    free(code->modules);
    code->modules = next;
  }
  free(code->unpacked);
  code->unpacked = NULL;
  code->unpacked_of = NULL;
  lathe_image_forget(&code->bundle);
}
#endif
