#define DEVICE_TEST "$name$_test"

//@ use "device.h"

static $name$ *device_handle;
//@ local in_memory = false
//@ for _, t in ipairs(types) do
//@ in_memory = in_memory or t.in_memory
//@ end
//@ if in_memory then
static VkBuffer device_arguments; /* of the arguments, and its address */
static VkDeviceAddress device_arguments_address;
//@ end

static const char *device_open(void) {
  const char *none = device_find();
  if (none)
    return none;
  const $name$_device on = {device_instance, device_get, device_physical, device_made, &device_features, VK_NULL_HANDLE};
  const int status = $name$_make(&device_handle, &on);
  return status ? $name$_status(status) : NULL;
}

static void device_begin(void) {
  //@ if in_memory then
  if (!device_arguments) {
    const int i = room_of((VkDeviceAddress)(uintptr_t)device_room(384));
    const VkBufferDeviceAddressInfo where = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = rooms[i].buffer,
    };
    device_arguments = rooms[i].buffer;
    device_arguments_address = vk.GetBufferDeviceAddress(device_made, &where);
  }
  //@ end
  device_begin_commands();
}

