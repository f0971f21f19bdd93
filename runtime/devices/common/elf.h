/* elf.h - files of compiled code, of processors and of NVIDIA's GPUs, as they lie in memory. Nothing beyond a file's
 * end is read, whatever it says. */
#ifndef DEVICES_ELF_H
#define DEVICES_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct elf {
  const unsigned char *at;
  size_t size;
  const Elf64_Shdr *section;
  int sections;
  const Elf64_Shdr *names;
} elf;

/* Of a file whose bytes are there; false where it is none. */
bool elf_open(elf *e);

/* Null for a section that has no bytes in the file. */
const void *elf_data(const elf *e, const Elf64_Shdr *s);

/* The section that a name, in two parts, is of; or null. */
const Elf64_Shdr *elf_section(const elf *e, const char *prefix, const char *name);
const char *elf_section_name(const elf *e, const Elf64_Shdr *s);

/* Of the nth symbol; empty where there is none. */
const char *elf_symbol_name(const elf *e, uint32_t nth);

/* Whether a library has a function for others of that name. */
bool elf_exports(const elf *e, const char *name);

/* The next section of memory that code may write and that stays when it returns, after one, or null: the first. Null
 * after the last. */
const Elf64_Shdr *elf_state_after(const elf *e, const Elf64_Shdr *last);

/* The bytes of all of these, but for what compilers have put there; name: of the section that has most of them. */
size_t elf_state(const elf *e, const char **name);

#endif
