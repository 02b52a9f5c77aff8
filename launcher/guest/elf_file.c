/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/guest/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pie_elf_file {
    int fd;
    Elf *elf;
    Elf_Data *symbols, *dynamic, *loader; /* NULL: there are none */
    size_t symbol_names, dynamic_names;   /* numbers of the sections with their texts */
};

/* A part of the file as it is. */
static Elf_Data *raw(Elf *elf, const GElf_Phdr *segment) {
    return elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_BYTE);
}

static void find_loader(struct pie_elf_file *file) {
    size_t count = 0;
    GElf_Phdr segment;
    for (size_t i = 0; elf_getphdrnum(file->elf, &count) == 0 && i < count; i++) {
        if (gelf_getphdr(file->elf, (int)i, &segment) && segment.p_type == PT_INTERP)
            file->loader = raw(file->elf, &segment);
    }
}

static void find_tables(struct pie_elf_file *file) {
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_DYNSYM) {
            file->symbols = elf_getdata(section, NULL);
            file->symbol_names = header.sh_link;
        } else if (header.sh_type == SHT_DYNAMIC) {
            file->dynamic = elf_getdata(section, NULL);
            file->dynamic_names = header.sh_link;
        }
    }
}

static bool is_for_us(Elf *elf) {
    GElf_Ehdr header;
    return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
}

struct pie_elf_file *pie_elf_file_open(const char *path) {
    struct pie_elf_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    elf_version(EV_CURRENT);
    file->elf = file->fd >= 0 ? elf_begin(file->fd, ELF_C_READ, NULL) : NULL;
    if (is_for_us(file->elf)) {
        find_loader(file);
        find_tables(file);
        return file;
    }
    pie_elf_file_close(file);
    return NULL;
}

void pie_elf_file_close(struct pie_elf_file *file) {
    if (!file)
        return;
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file);
}

const char *pie_elf_file_loader(const struct pie_elf_file *file) {
    const Elf_Data *data = file->loader;
    bool is_text = data && data->d_size > 0 && ((const char *)data->d_buf)[data->d_size - 1] == '\0';
    return is_text ? data->d_buf : NULL;
}

const char *pie_elf_file_needs(const struct pie_elf_file *file, const char *prefix) {
    GElf_Dyn item;
    for (int i = 0; file->dynamic && gelf_getdyn(file->dynamic, i, &item) && item.d_tag != DT_NULL; i++) {
        const char *name =
            item.d_tag == DT_NEEDED ? elf_strptr(file->elf, file->dynamic_names, item.d_un.d_val) : NULL;
        if (name && strncmp(name, prefix, strlen(prefix)) == 0)
            return name;
    }
    return NULL;
}

static const char *read_symbol(const struct pie_elf_file *file, size_t index, GElf_Sym *ret_symbol) {
    if (!file->symbols || !gelf_getsym(file->symbols, (int)index, ret_symbol))
        return NULL;
    const char *name = elf_strptr(file->elf, file->symbol_names, ret_symbol->st_name);
    return name ? name : "";
}

const char *pie_elf_file_symbol(const struct pie_elf_file *file, size_t index, bool *ret_is_defined) {
    GElf_Sym symbol;
    const char *name = read_symbol(file, index, &symbol);
    *ret_is_defined = name && symbol.st_shndx != SHN_UNDEF;
    return name;
}

static bool find(const struct pie_elf_file *file, const char *name, GElf_Sym *ret_symbol) {
    const char *found;
    for (size_t i = 0; (found = read_symbol(file, i, ret_symbol)); i++) {
        if (ret_symbol->st_shndx != SHN_UNDEF && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

bool pie_elf_file_defines(const struct pie_elf_file *file, const char *name) {
    GElf_Sym symbol;
    return find(file, name, &symbol);
}

bool pie_elf_file_word(const struct pie_elf_file *file, const char *name, uint64_t *ret_word) {
    GElf_Sym symbol;
    GElf_Phdr segment;
    size_t count = 0;
    if (!find(file, name, &symbol) || elf_getphdrnum(file->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            symbol.st_value < segment.p_vaddr || segment.p_filesz < sizeof *ret_word ||
            symbol.st_value - segment.p_vaddr > segment.p_filesz - sizeof *ret_word)
            continue;
        Elf_Data *data = raw(file->elf, &segment);
        if (!data)
            return false;
        memcpy(ret_word, (const char *)data->d_buf + (symbol.st_value - segment.p_vaddr), sizeof *ret_word);
        return true;
    }
    return false;
}
