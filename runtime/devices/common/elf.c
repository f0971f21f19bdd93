/* elf.c - files of compiled code. */
#include "elf.h"

#include <string.h>

const void *elf_data(const elf *e, const Elf64_Shdr *s) {
  return s->sh_type != SHT_NOBITS && s->sh_offset <= e->size && s->sh_size <= e->size - s->sh_offset
             ? e->at + s->sh_offset
             : NULL;
}

/* The text at an offset of a section of texts; empty where there is none. */
static const char *text_of(const elf *e, const Elf64_Shdr *s, uint32_t offset) {
  const char *texts = elf_data(e, s);

  return texts && offset < s->sh_size && memchr(texts + offset, 0, s->sh_size - offset)
             ? texts + offset
             : "";
}

bool elf_open(elf *e) {
  const Elf64_Ehdr *head = (const void *)e->at;

  if (e->size < sizeof *head || memcmp(e->at, ELFMAG, SELFMAG) != 0 || head->e_shoff > e->size ||
      head->e_shnum > (e->size - head->e_shoff) / sizeof *e->section ||
      head->e_shstrndx >= head->e_shnum)
    return false;
  if (head->e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  e->section = (const void *)(e->at + head->e_shoff);
  e->sections = head->e_shnum;
  e->names = &e->section[head->e_shstrndx];
  return true;
}

const Elf64_Shdr *elf_section(const elf *e, const char *prefix, const char *name) {
  const size_t length = strlen(prefix);

  for (int s = 0; s < e->sections; s++) {
    const char *own = text_of(e, e->names, e->section[s].sh_name);
    if (strncmp(own, prefix, length) == 0 && strcmp(own + length, name) == 0)
      return &e->section[s];
  }
  return NULL;
}

const char *elf_symbol_name(const elf *e, uint32_t nth) {
  for (int s = 0; s < e->sections; s++) {
    const Elf64_Sym *symbols = elf_data(e, &e->section[s]);
    if (e->section[s].sh_type == SHT_SYMTAB && symbols &&
        nth < e->section[s].sh_size / sizeof *symbols &&
        e->section[s].sh_link < (uint32_t)e->sections)
      return text_of(e, &e->section[e->section[s].sh_link], symbols[nth].st_name);
  }
  return "";
}

const char *elf_section_name(const elf *e, const Elf64_Shdr *s) {
  return text_of(e, e->names, s->sh_name);
}

bool elf_exports(const elf *e, const char *name) {
  for (int s = 0; s < e->sections; s++) {
    const Elf64_Shdr *table = &e->section[s];
    const Elf64_Sym *symbols = elf_data(e, table);
    if (table->sh_type != SHT_DYNSYM || !symbols || table->sh_link >= (uint32_t)e->sections)
      continue;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++)
      if (symbols[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
          strcmp(text_of(e, &e->section[table->sh_link], symbols[i].st_name), name) == 0)
        return true;
  }
  return false;
}

/* Bytes that the start-up files of compilers put into each library: a handle, and whether it was ended. */
static bool is_of_compiler(const char *symbol) {
  return strcmp(symbol, "__dso_handle") == 0 ||
         strncmp(symbol, "completed.", strlen("completed.")) == 0;
}

/* Of a section what symbols there say, of the compiler's own; 0 where the file has no symbols. */
static size_t compilers_part(const elf *e, const Elf64_Shdr *of) {
  const size_t each = 8;
  size_t bytes = 0;

  for (int s = 0; s < e->sections; s++) {
    const Elf64_Shdr *table = &e->section[s];
    const Elf64_Sym *symbols = elf_data(e, table);
    if (table->sh_type != SHT_SYMTAB || !symbols || table->sh_link >= (uint32_t)e->sections)
      continue;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++)
      if (symbols[i].st_shndx == of - e->section &&
          ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT &&
          is_of_compiler(text_of(e, &e->section[table->sh_link], symbols[i].st_name)))
        bytes += each;
  }
  return bytes;
}

/* Whether the loader protects a section from being written once it has done its own work. */
static bool is_sealed(const elf *e, const Elf64_Shdr *s) {
  const Elf64_Ehdr *head = (const void *)e->at;
  const Elf64_Phdr *segment = (const void *)(e->at + head->e_phoff);

  if (head->e_phoff > e->size || head->e_phnum > (e->size - head->e_phoff) / sizeof *segment)
    return false;
  for (int i = 0; i < head->e_phnum; i++)
    if (segment[i].p_type == PT_GNU_RELRO && s->sh_addr >= segment[i].p_vaddr &&
        s->sh_addr + s->sh_size <= segment[i].p_vaddr + segment[i].p_memsz)
      return true;
  return false;
}

/* Sections that say where functions are, which the loader writes. */
static bool is_of_loader(const elf *e, const Elf64_Shdr *s) {
  static const char *const names[] = {".got", ".got.plt", ".tm_clone_table", ".eh_frame"};
  bool is = s->sh_type == SHT_DYNAMIC || s->sh_type == SHT_INIT_ARRAY ||
            s->sh_type == SHT_FINI_ARRAY || is_sealed(e, s);

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    is = is || strcmp(elf_section_name(e, s), names[i]) == 0;
  return is;
}

/* Of a GPU a block's shared memory goes with it, and constants are the host's to write. */
static bool is_of_call(const elf *e, const Elf64_Shdr *s) {
  static const char *const begin[] = {".nv.shared", ".nv.constant", ".nv.local"};
  bool is = false;

  for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
    is = is || strncmp(elf_section_name(e, s), begin[i], strlen(begin[i])) == 0;
  return is;
}

const Elf64_Shdr *elf_state_after(const elf *e, const Elf64_Shdr *last) {
  const Elf64_Shdr *s = last ? last + 1 : e->section;
  const uint64_t written = SHF_WRITE | SHF_ALLOC;

  while (s < e->section + e->sections && ((s->sh_flags & written) != written || s->sh_size == 0 ||
                                          is_of_loader(e, s) || is_of_call(e, s)))
    s++;
  return s < e->section + e->sections ? s : NULL;
}

size_t elf_state(const elf *e, const char **name) {
  size_t bytes = 0, most = 0;

  *name = "";
  for (const Elf64_Shdr *s = NULL; (s = elf_state_after(e, s));) {
    const size_t compilers = compilers_part(e, s);
    const size_t own = s->sh_size > compilers ? (size_t)s->sh_size - compilers : 0;
    bytes += own;
    if (own > most) {
      most = own;
      *name = elf_section_name(e, s);
    }
  }
  return bytes;
}
