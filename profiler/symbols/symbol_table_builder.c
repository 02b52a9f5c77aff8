/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/base/own_memory.h"
#include "profiler/symbols/symbol_table.h"
#include "profiler/symbols/symbol_table_private.h"

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

static int add(struct pie_symbol_table_builder *builder, const struct pie_raw_symbol *symbol) {
    if (symbol->start >= symbol->limit)
        return 0;
    if (builder->count == builder->capacity) {
        size_t capacity = builder->capacity ? builder->capacity * 2 : 1024;
        struct pie_raw_symbol *symbols = pie_realloc(builder->symbols, capacity * sizeof(*symbols));
        if (!symbols)
            return -ENOMEM;
        pie_populate(symbols + builder->count, (capacity - builder->count) * sizeof(*symbols));
        builder->symbols = symbols;
        builder->capacity = capacity;
    }
    struct pie_raw_symbol *added = &builder->symbols[builder->count++];
    *added = *symbol;
    if (added->size > added->limit - added->start)
        added->size = added->limit - added->start;
    return 0;
}

int pie_symbol_table_add(struct pie_symbol_table_builder *builder, const char *name, unsigned char info,
                         uint64_t start, uint64_t size, uint64_t limit) {
    return add(builder, &(struct pie_raw_symbol){
                            .start = start, .size = size, .limit = limit, .name = name, .info = info});
}

void pie_symbol_table_leave_names(struct pie_symbol_table_builder *builder, const Elf *elf, uint64_t offset,
                                  uint64_t bytes) {
    builder->left_elf = elf;
    builder->left_offset = offset;
    builder->left_bytes = bytes < PIE_NAME_LEFT ? bytes : PIE_NAME_LEFT;
}

/* Could code carry this symbol? STT_NOTYPE is what assemblers make of a label without .type. */
static bool is_code_symbol(const Elf64_Sym *symbol) {
    switch (ELF64_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
    case STT_NOTYPE:
        return symbol->st_name != 0 && symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
    default:
        return false;
    }
}

/* A section that symbols lie in, kept for the next symbol: most lie in .text. */
struct code_section {
    size_t index;        /* 0: of none */
    uint64_t start, end; /* end 0: it has no code */
};

static void find_code(Elf *elf, size_t index, struct code_section *code) {
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(elf, index);
    bool has_code = section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR);
    *code = (struct code_section){.index = index};
    if (has_code) {
        code->start = header.sh_addr;
        code->end = header.sh_addr + header.sh_size;
    }
}

/* The names of a table, NULL where the last does not end. */
static Elf_Data *find_names(Elf *elf, const GElf_Shdr *header) {
    Elf_Scn *section = elf_getscn(elf, header->sh_link);
    GElf_Shdr names_header;
    if (!section || !gelf_getshdr(section, &names_header) || names_header.sh_type != SHT_STRTAB)
        return NULL;
    Elf_Data *names = elf_getdata(section, NULL);
    if (!names || !names->d_buf || names->d_size == 0 ||
        ((const char *)names->d_buf)[names->d_size - 1] != '\0')
        return NULL;
    return names;
}

/* In a section whose last name is not terminated, libelf finds the names that are. */
static const char *name_of(Elf *elf, const GElf_Shdr *header, const Elf_Data *names,
                           const Elf64_Sym *symbol) {
    if (!names)
        return elf_strptr(elf, header->sh_link, symbol->st_name);
    return symbol->st_name < names->d_size ? (const char *)names->d_buf + symbol->st_name : NULL;
}

/* Are the names of this table those that stay in the file? */
static bool has_left_names(const struct pie_symbol_table_builder *builder, Elf *elf,
                           const GElf_Shdr *header) {
    Elf_Scn *section = elf_getscn(elf, header->sh_link);
    GElf_Shdr names;
    return builder->left_bytes && elf == builder->left_elf && header->sh_type == SHT_SYMTAB && section &&
           gelf_getshdr(section, &names) && names.sh_type == SHT_NOBITS;
}

static int add_section(struct pie_symbol_table_builder *builder, Elf *elf, Elf_Scn *section,
                       const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !data->d_buf)
        return 0;
    const Elf64_Sym *symbols = data->d_buf; /* in this machine's form (profiler/symbols/elf_image.c) */
    size_t count = data->d_size / sizeof(*symbols);
    bool is_left = has_left_names(builder, elf, header);
    const Elf_Data *names = find_names(elf, header);
    struct code_section code = {0};
    for (size_t i = 1; i < count; i++) {
        const Elf64_Sym *symbol = &symbols[i];
        if (!is_code_symbol(symbol))
            continue;
        if (symbol->st_shndx != code.index)
            find_code(elf, symbol->st_shndx, &code);
        if (symbol->st_value < code.start || symbol->st_value >= code.end)
            continue;
        const char *name = is_left ? NULL : name_of(elf, header, names, symbol);
        if (is_left ? symbol->st_name >= builder->left_bytes : !name || !*name)
            continue;
        int r = add(builder,
                    &(struct pie_raw_symbol){.start = symbol->st_value,
                                             .size = symbol->st_size,
                                             .limit = code.end,
                                             .name = name,
                                             .name_offset = is_left ? symbol->st_name | PIE_NAME_LEFT : 0,
                                             .has_offset = is_left,
                                             .info = symbol->st_info});
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
