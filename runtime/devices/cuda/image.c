/* image.c - what an image's own data says of its kernels, without a device: code for a GPU is an ELF file, which has
 * the kernels' registers and memory in its sections. Images are fat binaries, one after another, of such files and of
 * PTX (fatbinary_section.h has their heads). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "devices/common/elf.h"
#include "library/image.h"

enum {
  KIND_ELF = 2,          /* of a fat binary's part */
  FORMAT_SIZED = 4,      /* of an entry of .nv.info: its bytes follow */
  INFO_REGISTERS = 0x2f, /* what it is: (symbol, number) */
  INFO_FRAME = 0x11,
};

typedef struct fat_head {
  uint32_t magic;
  uint16_t version, bytes;
  uint64_t rest;
} fat_head;

typedef struct fat_part {
  uint16_t kind, version;
  uint32_t bytes;
  uint64_t rest;
  uint32_t unknown[3], architecture;
} fat_part;

/* Kernels that were asked for, and those found. */
typedef struct finding {
  const lathe_schedule *schedule;
  device_kernel *to;
  int most, count;
} finding;

/* Whether calls may launch a kernel of that name. */
static bool may_launch(const lathe_schedule *s, const char *name) {
  for (int k = 0; k < s->nkernels; k++)
    if (s->kernels[k] && strcmp(s->kernels[k], name) == 0)
      return true;
  return false;
}

static device_kernel *kernel_of(finding *f, const elf *e, int architecture, const char *name) {
  const Elf64_Shdr *shared = elf_section(e, ".nv.shared.", name);

  for (int k = 0; k < f->count; k++)
    if (f->to[k].architecture == architecture && strcmp(f->to[k].name, name) == 0)
      return &f->to[k];
  if (f->count == f->most || !may_launch(f->schedule, name))
    return NULL;
  f->to[f->count] = (device_kernel){.architecture = architecture,
                                    .fixed = shared ? (int)shared->sh_size : 0,
                                    .registers = -1,
                                    .local = -1,
                                    .at_once = -1,
                                    .occupancy = NAN};
  snprintf(f->to[f->count].name, sizeof f->to->name, "%s", name);
  return &f->to[f->count++];
}

static void read_elf(finding *f, elf e, int architecture) {
  const Elf64_Shdr *info = elf_open(&e) ? elf_section(&e, ".nv.info", "") : NULL;
  const unsigned char *at = info ? elf_data(&e, info) : NULL;
  size_t left = at ? info->sh_size : 0;

  while (left >= 4) {
    uint16_t size;
    uint32_t value[2];
    memcpy(&size, at + 2, sizeof size);
    if (at[0] != FORMAT_SIZED)
      size = 0;
    if (size > left - 4)
      return;
    if (size >= sizeof value && (at[1] == INFO_REGISTERS || at[1] == INFO_FRAME)) {
      device_kernel *k;
      memcpy(value, at + 4, sizeof value);
      k = kernel_of(f, &e, architecture, elf_symbol_name(&e, value[0]));
      if (k && at[1] == INFO_REGISTERS)
        k->registers = (int)value[1];
      else if (k)
        k->local = (int)value[1];
    }
    at += 4 + size;
    left -= 4 + (size_t)size;
  }
}

static void read_fat(finding *f, const unsigned char *at, size_t left) {
  fat_head head;
  fat_part part;

  while (left >= sizeof head) {
    memcpy(&head, at, sizeof head);
    if (head.magic != 0xba55ed50 || head.bytes > left || head.rest > left - head.bytes)
      return;
    at += head.bytes;
    left -= head.bytes;
    for (uint64_t inside = head.rest; inside >= sizeof part;) {
      memcpy(&part, at, sizeof part);
      if (part.bytes > inside || part.rest > inside - part.bytes || part.bytes + part.rest == 0)
        return;
      if (part.kind == KIND_ELF)
        read_elf(f, (elf){.at = at + part.bytes, .size = part.rest}, (int)part.architecture);
      at += part.bytes + part.rest;
      inside -= part.bytes + part.rest;
      left -= part.bytes + part.rest;
    }
  }
}

int cuda_image_kernels(const lathe_variant *variant, device_kernel *to, int most,
                       const char **why) {
  finding f = {.schedule = variant->schedule, .to = to, .most = most};
  const lathe_image *image = variant->image;
  lathe_image_bundle bundle = {0};
  size_t size;

  *why = "its code was left out";
  if (!image || !variant->schedule)
    return -1;
  for (; image; image = image->next) {
    void *code = lathe_image_unpack(&bundle, image, &size, why);
    if (!code)
      break;
    read_fat(&f, code, size);
    free(code);
  }
  lathe_image_forget(&bundle);
  return image ? -1 : f.count;
}
