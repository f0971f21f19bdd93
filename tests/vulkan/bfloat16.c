/* bfloat16.c - a Vulkan loader that plays VK_KHR_shader_bfloat16 on the real one's devices, as tests of it
 * are run where no device has it. In the environment LATHE_LOADER names the real library, and LATHE_PLAYS
 * what a device says of itself, of these words: extension, feature, nvidia. What is done with it is said on
 * standard error. A module's numbers are rounded to the nearest in integer arithmetic. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

/* As runtime/vulkan.h has them for headers from before. */
static const char extension[] = "VK_KHR_shader_bfloat16";
enum { FEATURES = 1000141000 };
typedef struct bfloat16_features {
  VkStructureType type;
  void *next;
  VkBool32 present, dot_product, cooperative_matrix;
} bfloat16_features;

static PFN_vkEnumerateDeviceExtensionProperties real_extensions;
static PFN_vkGetPhysicalDeviceFeatures2 real_features;
static PFN_vkGetPhysicalDeviceProperties2 real_properties;
static PFN_vkCreateDevice real_device;
static PFN_vkCreateShaderModule real_module;
static bool enabled;

static bool plays(const char *word) {
  return strstr(getenv("LATHE_PLAYS"), word);
}

/* The structure of a chain that comes before that of a type; null where that is not in it. */
static VkBaseOutStructure *before(const void *chain, int type) {
  VkBaseOutStructure *s = (VkBaseOutStructure *)chain;

  while (s && !(s->pNext && (int)s->pNext->sType == type))
    s = s->pNext;
  return s;
}

static VkResult extensions(VkPhysicalDevice physical, const char *layer, uint32_t *count,
                           VkExtensionProperties *list) {
  VkResult error;

  *count -= list ? 1 : 0;
  error = real_extensions(physical, layer, count, list);
  for (uint32_t i = 0; list && i < *count; i++)
    if (strcmp(list[i].extensionName, extension) == 0)
      list[i].extensionName[0] = 0;
  if (list)
    strcpy(list[*count].extensionName, plays("extension") ? extension : "");
  ++*count;
  return error;
}

static void features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *to) {
  VkBaseOutStructure *found = before(to, FEATURES);

  real_features(physical, to);
  if (found)
    ((bfloat16_features *)found->pNext)->present = plays("feature");
}

static void properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *to) {
  VkBaseOutStructure *found = before(to, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);

  real_properties(physical, to);
  if (found)
    ((VkPhysicalDeviceVulkan12Properties *)found->pNext)->driverID =
        plays("nvidia") ? VK_DRIVER_ID_NVIDIA_PROPRIETARY : VK_DRIVER_ID_MESA_LLVMPIPE;
}

static VkResult create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                              const VkAllocationCallbacks *memory, VkDevice *device) {
  VkDeviceCreateInfo mine = *info;
  VkBaseOutStructure *found = before(info, FEATURES);
  const char *names[16];
  bool named = false;

  mine.ppEnabledExtensionNames = names;
  mine.enabledExtensionCount = 0;
  for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
    if (strcmp(info->ppEnabledExtensionNames[i], extension) == 0)
      named = true;
    else
      names[mine.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
  enabled = named && found && ((bfloat16_features *)found->pNext)->present;
  if (named || found)
    fprintf(stderr, "bf16 is enabled%s\n", enabled ? "" : " by half");
  if (found)
    found->pNext = found->pNext->pNext;
  return real_device(physical, &mine, memory, device);
}

/* ---- modules ------------------------------------------------------------------------------------ */

/* From the SPIR-V specification. */
enum {
  EXTENSION = 10,
  CAPABILITY = 17,
  TYPE_BOOL = 20,
  TYPE_INT = 21,
  TYPE_FLOAT = 22,
  TYPE_VECTOR = 23,
  CONSTANT = 43,
  CONSTANT_COMPOSITE = 44,
  FUNCTION = 54,
  U_CONVERT = 113,
  F_CONVERT = 115,
  BITCAST = 124,
  I_ADD = 128,
  IS_NAN = 156,
  SELECT = 169,
  SHIFT_RIGHT = 194,
  AND = 199,
  BFLOAT16 = 5116,
};

typedef struct words {
  uint32_t *at;
  size_t count;
} words;

static void put(words *w, uint32_t op, size_t count, const uint32_t *operands) {
  w->at[w->count++] = (uint32_t)(count + 1) << 16 | op;
  memcpy(w->at + w->count, operands, count * 4);
  w->count += count;
}
#define PUT(w, op, ...)                                                                            \
  put(w, op, sizeof(uint32_t[]){__VA_ARGS__} / 4, (const uint32_t[]){__VA_ARGS__})

/* The module with integers in the place of bf16; released by free. */
static uint32_t *rewritten(const uint32_t *from, size_t count, size_t *words_left) {
  enum { SIXTEEN, ONE, BELOW_HALF, NOT_A_NUMBER, CONSTANTS };
  static const uint32_t value[CONSTANTS] = {16, 1, 0x7fff, 0x7fc00000};
  words to = {.at = malloc(count * 16 + 1024)};
  uint32_t word = 0, boolean = 0, bf16 = 0, bf16s = 0, next = from[3];
  const uint32_t both_words = next++, both_booleans = next++;
  uint32_t one[CONSTANTS], both[CONSTANTS];
  bool defined = false;

  for (int i = 0; i < CONSTANTS; i++) {
    one[i] = next++;
    both[i] = next++;
  }
  memcpy(to.at, from, 5 * 4);
  to.count = 5;
  for (size_t at = 5; at < count; at += from[at] >> 16) {
    const uint32_t op = from[at] & 0xffff, length = from[at] >> 16, *operand = from + at + 1;
    if ((op == CAPABILITY && operand[0] == BFLOAT16) ||
        (op == EXTENSION && strcmp((const char *)operand, "SPV_KHR_bfloat16") == 0))
      continue;
    if (op == TYPE_BOOL)
      boolean = operand[0];
    else if (op == TYPE_INT && operand[1] == 32 && operand[2] == 0)
      word = operand[0];
    else if (op == TYPE_VECTOR && operand[1] == bf16)
      bf16s = operand[0];
    if (op == FUNCTION && !defined) {
      PUT(&to, TYPE_VECTOR, both_words, word, 2);
      PUT(&to, TYPE_VECTOR, both_booleans, boolean, 2);
      for (int i = 0; i < CONSTANTS; i++) {
        PUT(&to, CONSTANT, word, one[i], value[i]);
        PUT(&to, CONSTANT_COMPOSITE, both_words, both[i], one[i], one[i]);
      }
      defined = true;
    }
    if (op == TYPE_FLOAT && length == 4) {
      bf16 = operand[0];
      PUT(&to, TYPE_INT, bf16, 16, 0);
    } else if (op == F_CONVERT && operand[0] == bf16s) {
      const uint32_t bits = next, high = next + 1, odd = next + 2, some = next + 3;
      const uint32_t rounded = next + 4, nan = next + 5, chosen = next + 6, result = next + 7;
      const uint32_t numbers = operand[2];
      PUT(&to, BITCAST, both_words, bits, numbers);
      PUT(&to, SHIFT_RIGHT, both_words, high, bits, both[SIXTEEN]);
      PUT(&to, AND, both_words, odd, high, both[ONE]);
      PUT(&to, I_ADD, both_words, some, bits, both[BELOW_HALF]);
      PUT(&to, I_ADD, both_words, rounded, some, odd);
      PUT(&to, IS_NAN, both_booleans, nan, numbers);
      PUT(&to, SELECT, both_words, chosen, nan, both[NOT_A_NUMBER], rounded);
      PUT(&to, SHIFT_RIGHT, both_words, result, chosen, both[SIXTEEN]);
      PUT(&to, U_CONVERT, bf16s, operand[1], result);
      next += 8;
    } else {
      put(&to, op, length - 1, operand);
    }
  }
  to.at[3] = next;
  *words_left = to.count;
  return to.at;
}

static VkResult create_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                              const VkAllocationCallbacks *memory, VkShaderModule *module) {
  const uint32_t *code = info->pCode;
  VkShaderModuleCreateInfo mine = *info;
  uint32_t *ours = NULL;
  size_t count = 0;
  VkResult error;

  for (size_t at = 5; at < info->codeSize / 4 && !ours; at += code[at] >> 16)
    if (code[at] == (2u << 16 | CAPABILITY) && code[at + 1] == BFLOAT16)
      ours = rewritten(code, info->codeSize / 4, &count);
  if (ours) {
    fprintf(stderr, "bf16 in a module%s\n", enabled ? "" : ", not enabled");
    mine.pCode = ours;
    mine.codeSize = count * 4;
  }
  error = real_module(device, &mine, memory, module);
  free(ours);
  return error;
}

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name) {
  PFN_vkGetInstanceProcAddr find;
  PFN_vkVoidFunction found;

  *(void **)&find = dlsym(dlopen(getenv("LATHE_LOADER"), RTLD_NOW), "vkGetInstanceProcAddr");
  found = find(instance, name);
#define PLAY(word, real, ours)                                                                     \
  if (strcmp(name, #word) == 0) {                                                                  \
    real = (PFN_##word)found;                                                                      \
    return (PFN_vkVoidFunction)ours;                                                               \
  }
  PLAY(vkEnumerateDeviceExtensionProperties, real_extensions, extensions)
  PLAY(vkGetPhysicalDeviceFeatures2, real_features, features)
  PLAY(vkGetPhysicalDeviceProperties2, real_properties, properties)
  PLAY(vkCreateDevice, real_device, create_device)
  PLAY(vkCreateShaderModule, real_module, create_module)
#undef PLAY
  return found;
}
