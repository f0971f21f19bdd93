//@ local head = use "../c/export_head.c"
//@ head.begin("#include <vulkan/vulkan_core.h>")

/* What a call returns. What is below 0 is a VkResult. */
enum {
  $UPPER$_OK,
  $UPPER$_NULL,      /* the address of an operand that has elements is 0 */
  $UPPER$_SIZE,      /* no memory has such a size, or no kernel is for it */
  $UPPER$_WORKSPACE, /* the workspace's address is 0, or no multiple of 64 */
  $UPPER$_LACKS,     /* the device lacks, or has not enabled, what every kernel needs */
  $UPPER$_DEVICE,    /* no kernel of the file runs on this device */
  $UPPER$_MEMORY,    /* the host's memory does not suffice */
};

/* The same in words. */
const char *$name$_status(int status);

/* A device of the caller's, of Vulkan 1.2 or more. */
typedef struct $name$_device {
  VkInstance instance;
  PFN_vkGetInstanceProcAddr get;
  VkPhysicalDevice physical;
  VkDevice device;
  const VkPhysicalDeviceFeatures2 *enabled; /* with all that follows it: as vkCreateDevice was given it */
  VkPipelineCache cache;                    /* or VK_NULL_HANDLE */
} $name$_device;

/* The code and pipelines for a device, made when calls first want them. */
typedef struct $name$ $name$;

int $name$_make($name$ **made, const $name$_device *on);

/* When no commands that were recorded by it are left to run. */
void $name$_free($name$ *on);
//@ head.finish()
