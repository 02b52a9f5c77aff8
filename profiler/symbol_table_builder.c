/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/symbol_table.h"
#include "profiler/symbol_table_private.h"
#include "profiler/memory.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

int pie_symbol_table_builder_create(struct pie_symbol_table_builder **ret_builder) {
    struct pie_symbol_table_builder *builder = pie_calloc(1, sizeof(*builder));
    if (!builder)
        return -ENOMEM;
    *ret_builder = builder;
    return 0;
}

void pie_symbol_table_builder_destroy(struct pie_symbol_table_builder *builder) {
    if (!builder)
        return;
    pie_free(builder->symbols);
    pie_free(builder);
}

int pie_symbol_table_add(struct pie_symbol_table_builder *builder, const char *name, unsigned char info,
                         uint64_t start, uint64_t size, uint64_t limit) {
    if (start >= limit)
        return 0;
    if (builder->count == builder->capacity) {
        size_t capacity = builder->capacity ? builder->capacity * 2 : 1024;
        struct pie_raw_symbol *symbols = pie_realloc(builder->symbols, capacity * sizeof(*symbols));
        if (!symbols)
            return -ENOMEM;
        builder->symbols = symbols;
        builder->capacity = capacity;
    }
    builder->symbols[builder->count++] = (struct pie_raw_symbol){
        .start = start,
        .size = size > limit - start ? limit - start : size,
        .limit = limit,
        .name = name,
        .info = info,
    };
    return 0;
}

/* Could code carry this symbol? STT_NOTYPE is what assemblers make of a label without .type. */
static bool is_code_symbol(const GElf_Sym *symbol) {
    switch (GELF_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
    case STT_NOTYPE:
        return symbol->st_name != 0 && symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
               symbol->st_shndx != SHN_COMMON;
    default:
        return false;
    }
}

/* The end of the executable section that `symbol` lies in, or 0. */
static uint64_t section_end(Elf *elf, const GElf_Sym *symbol) {
    GElf_Shdr header;
    Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
        return 0;
    uint64_t end = header.sh_addr + header.sh_size;
    return symbol->st_value >= header.sh_addr && end > symbol->st_value ? end : 0;
}

static int add_section(struct pie_symbol_table_builder *builder, Elf *elf, Elf_Scn *section,
                       const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !data->d_buf || data->d_size / sizeof(Elf64_Sym) > INT32_MAX)
        return 0;
    int count = (int)(data->d_size / sizeof(Elf64_Sym));
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, i, &symbol) || !is_code_symbol(&symbol))
            continue;
        /* elf_strptr() makes sure that the name ends inside the string section. */
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        uint64_t end = section_end(elf, &symbol);
        if (!name || !*name || end == 0)
            continue;
        int r = pie_symbol_table_add(builder, name, symbol.st_info, symbol.st_value, symbol.st_size, end);
        if (r < 0)
            return r;
    }
    return 0;
}

int pie_symbol_table_add_elf(struct pie_symbol_table_builder *builder, Elf *elf) {
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        int r = add_section(builder, elf, section, &header);
        if (r < 0)
            return r;
    }
    return 0;
}
