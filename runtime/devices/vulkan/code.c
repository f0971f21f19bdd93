/* code.c - from the SPIR-V that the program carries to pipelines. */
#include "vulkan.h"

#ifdef HAVE_VULKAN
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "spirv.h"

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

/* ---- what is asked of floating-point arithmetic ------------------------------------------------- */

/* From the SPIR-V specification. */
enum {
  MODE_DENORM_PRESERVE = 4459,
  MODE_SIGNED_ZERO_INF_NAN_PRESERVE = 4461,
  MODE_ROUNDING_MODE_RTE = 4462,
  CAPABILITY_ABOVE_MODE = 5, /* a mode's capability has its number and this */
  MOST_MODES = 3 * VULKAN_WIDTHS,
};

typedef struct mode {
  uint32_t number, width;
} mode;

/* Where a device's behaviour for one width binds others, those of them that the module has must all
 * have it. */
static bool can_ask(const VkBool32 *offered, int width, const bool *used,
                    VkShaderFloatControlsIndependence apart) {
  if (!used[width] || !offered[width])
    return false;
  for (int other = 0; other < VULKAN_WIDTHS; other++) {
    const bool bound =
        apart == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE ||
        (apart == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY && width != 1 && other != 1);
    if (bound && used[other] && !offered[other])
      return false;
  }
  return true;
}

/* The execution modes to add, of what the device offers, for the widths that the module uses. What costs
 * time and shows in no result is not asked for: f32 rounded right where it is rounded again (an H200's
 * divisions take five times as long then), and its numbers below the normal range in f16, where they are
 * nothing. An NVIDIA GPU keeps those of f16 unasked; asked, it keeps f32's too, at every step. */
static size_t choose_modes(const vulkan_floats *floats, const bool *used, bool loose, mode *modes) {
  const VkShaderFloatControlsIndependence none = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  size_t count = 0;

  for (int w = 0; w < VULKAN_WIDTHS; w++) {
    const uint32_t width = 16u << w;
    const bool in_f16 = w == 1 && used[0];
    const bool flush = (in_f16 && floats->denormals_apart != none) || (w == 0 && floats->keeps_f16);
    const bool any = w == 1 && loose && !(in_f16 && floats->rounding_apart == none);
    if (used[w] && floats->specials[w])
      modes[count++] = (mode){MODE_SIGNED_ZERO_INF_NAN_PRESERVE, width};
    if (!flush && can_ask(floats->denormals, w, used, floats->denormals_apart))
      modes[count++] = (mode){MODE_DENORM_PRESERVE, width};
    if (!any && can_ask(floats->nearest, w, used, floats->rounding_apart))
      modes[count++] = (mode){MODE_ROUNDING_MODE_RTE, width};
  }
  return count;
}

/* A copy of a module that asks for what the device keeps of NaN, denormals and rounding: GLSL has no
 * words for it, and a module that asks for more than a device has is not valid there. Released by
 * free; null where there is no memory. */
static uint32_t *with_modes(const uint32_t *from, size_t count, bool loose,
                            const vulkan_floats *floats, size_t *words) {
  uint32_t *copy = malloc((count + MOST_MODES * 6) * sizeof *copy);
  bool used[VULKAN_WIDTHS] = {false};
  mode modes[MOST_MODES];
  size_t wanted, to = SPIRV_HEADER;

  if (!copy)
    return NULL;
  for (size_t at = SPIRV_HEADER; at < count; at += spirv_length(from[at]))
    if (spirv_op(from[at]) == SPIRV_TYPE_FLOAT)
      for (int w = 0; w < VULKAN_WIDTHS; w++)
        used[w] = used[w] || from[at + 2] == 16u << w;
  wanted = choose_modes(floats, used, loose, modes);
  memcpy(copy, from, SPIRV_HEADER * sizeof *copy);
  for (size_t m = 0; m < wanted; m++) {
    bool known = false;
    for (size_t before = 0; before < m; before++)
      known = known || modes[before].number == modes[m].number;
    if (!known) {
      copy[to++] = 2u << 16 | SPIRV_CAPABILITY;
      copy[to++] = modes[m].number + CAPABILITY_ABOVE_MODE;
    }
  }
  for (size_t at = SPIRV_HEADER; at < count; at += spirv_length(from[at])) {
    const size_t length = spirv_length(from[at]);
    memcpy(copy + to, from + at, length * sizeof *copy);
    to += length;
    if (spirv_op(from[at]) == SPIRV_ENTRY_POINT)
      for (size_t m = 0; m < wanted; m++) {
        const uint32_t added[] = {4u << 16 | SPIRV_EXECUTION_MODE, from[at + 2], modes[m].number,
                                  modes[m].width};
        memcpy(copy + to, added, sizeof added);
        to += sizeof added / sizeof *added;
      }
  }
  *words = to;
  return copy;
}

/* ---- modules and pipelines ---------------------------------------------------------------------- */

/* The code of an image, unpacked: of the last one that was asked for it is kept. Null with the reason in why. */
static const uint32_t *unpack(vulkan_code *code, const lathe_image *image, size_t *words,
                              const char **why) {
  if (code->unpacked_of != image) {
    free(code->unpacked);
    code->unpacked = image_unpack_words(&code->bundle, image, &code->unpacked_size, why);
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
  kernel = spirv_kernel(spirv, all, nth, &count);
  if (!kernel) {
    *why = "its code has no such kernel";
    return NULL;
  }
  made = with_modes(kernel, count, image->loose, &code->floats, words);
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
  /* As templates/glsl/kernel.comp and contract_matrix.comp declare them, numbered from 0; a module may lack some. */
  const uint32_t constants[] = {p->block,       code->subgroup, p->constant[0], p->constant[1],
                                p->constant[2], p->constant[3], p->constant[4], p->constant[5]};
  enum { CONSTANTS = sizeof constants / sizeof *constants };
  VkSpecializationMapEntry entries[CONSTANTS];
  const VkSpecializationInfo specialization = {
      .mapEntryCount = CONSTANTS,
      .pMapEntries = entries,
      .dataSize = sizeof constants,
      .pData = constants,
  };
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT size = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT,
      .requiredSubgroupSize = code->subgroup,
  };
  const bool full = code->full && p->block % code->subgroup == 0;
  const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage =
          {
              .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
              .pNext = code->size_varies ? &size : NULL,
              .flags = full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT : 0,
              .stage = VK_SHADER_STAGE_COMPUTE_BIT,
              .module = p->module,
              .pName = "main",
              .pSpecializationInfo = &specialization,
          },
      .layout = code->layout,
  };

  for (uint32_t i = 0; i < CONSTANTS; i++)
    entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = 4 * i, .size = 4};
  return vk.CreateComputePipelines(code->device, VK_NULL_HANDLE, 1, &info, NULL, &p->made);
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
  image_forget(&code->bundle);
}
#endif
