/* SPDX-License-Identifier: Apache-2.0 */

/* The dynamic section leads to the symbols (DT_SYMTAB) and names (DT_STRTAB). The number of symbols is written
 * nowhere; it follows from the hash table: DT_HASH has it, in DT_GNU_HASH it is one more than the end of the
 * longest-reaching chain. Where such a function chosen at run time ends is taken from the unwind table, which
 * knows all functions. Every pointer is checked against the module's segments: the module is held loaded meanwhile
 * but may have been damaged by the program. */

#include "profiler/symbols/loaded_symbols.h"
#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct dynamic {
    const struct pie_module_entry *entry;
    const Elf64_Sym *symbols;
    size_t symbol_count;
    const char *names;
    size_t names_size;
    const char *soname;
};

struct request {
    struct pie_symbol_table_builder *builder;
    char **ret_names;
};

/* d_ptr is an address where the dynamic linker relocated it, else (vdso) a virtual address in the file. */
static uint64_t to_vaddr(const struct pie_module_entry *entry, uint64_t pointer) {
    return pointer >= entry->base ? pointer - entry->base : pointer;
}

static size_t count_gnu_hash(const struct pie_module_entry *entry, uint64_t vaddr) {
    const uint32_t *header = pie_module_memory(entry, vaddr, 4 * sizeof(*header));
    if (!header)
        return 0;
    uint32_t bucket_count = header[0], first = header[1], bloom_count = header[2];
    uint64_t buckets_vaddr = vaddr + 16 + (uint64_t)bloom_count * 8;
    const uint32_t *buckets = pie_module_memory(entry, buckets_vaddr, (uint64_t)bucket_count * 4);
    if (!buckets)
        return 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < bucket_count; i++)
        if (buckets[i] > last)
            last = buckets[i];
    if (last < first)
        return first;
    uint64_t chain_vaddr = buckets_vaddr + (uint64_t)bucket_count * 4;
    uint64_t chain_count = pie_module_memory_left(entry, chain_vaddr) / 4;
    const uint32_t *chain = (const uint32_t *)(entry->base + chain_vaddr);
    for (uint64_t i = last - first; i < chain_count; i++)
        if (chain[i] & 1)
            return (size_t)(first + i + 1);
    return 0;
}

static size_t count_symbols(const struct pie_module_entry *entry, uint64_t hash, uint64_t gnu_hash) {
    const uint32_t *header = hash ? pie_module_memory(entry, hash, 8) : NULL;
    if (header)
        return header[1];
    return gnu_hash ? count_gnu_hash(entry, gnu_hash) : 0;
}

static const Elf64_Phdr *find_phdr(const struct pie_module_entry *entry, uint32_t type) {
    for (size_t i = 0; i < entry->phdr_count; i++)
        if (entry->phdrs[i].p_type == type)
            return &entry->phdrs[i];
    return NULL;
}

static const char *name_at(const struct dynamic *dynamic, uint64_t offset) {
    if (offset >= dynamic->names_size)
        return NULL;
    const char *name = dynamic->names + offset;
    return *name && memchr(name, '\0', dynamic->names_size - offset) ? name : NULL;
}

static int read_dynamic(const struct pie_module_entry *entry, struct dynamic *ret_dynamic) {
    const Elf64_Phdr *phdr = find_phdr(entry, PT_DYNAMIC);
    const Elf64_Dyn *item = phdr ? pie_module_memory(entry, phdr->p_vaddr, phdr->p_memsz) : NULL;
    if (!item)
        return -ENOENT;
    uint64_t symbols = 0, names = 0, hash = 0, gnu_hash = 0, soname = 0;
    struct dynamic dynamic = {.entry = entry};
    for (size_t i = 0; i < phdr->p_memsz / sizeof(*item) && item[i].d_tag != DT_NULL; i++) {
        uint64_t vaddr = to_vaddr(entry, item[i].d_un.d_ptr);
        switch (item[i].d_tag) {
        case DT_SYMTAB:
            symbols = vaddr;
            break;
        case DT_STRTAB:
            names = vaddr;
            break;
        case DT_HASH:
            hash = vaddr;
            break;
        case DT_GNU_HASH:
            gnu_hash = vaddr;
            break;
        case DT_STRSZ:
            dynamic.names_size = item[i].d_un.d_val;
            break;
        case DT_SONAME:
            soname = item[i].d_un.d_val;
            break;
        }
    }
    dynamic.symbol_count = count_symbols(entry, hash, gnu_hash);
    dynamic.symbols = pie_module_memory(entry, symbols, (uint64_t)dynamic.symbol_count * sizeof(Elf64_Sym));
    dynamic.names = pie_module_memory(entry, names, dynamic.names_size);
    if (!symbols || !names || !dynamic.symbols || !dynamic.names)
        return -ENOENT;
    dynamic.soname = name_at(&dynamic, soname);
    *ret_dynamic = dynamic;
    return 0;
}

static uint64_t code_end(const struct pie_module_entry *entry, uint64_t vaddr) {
    for (size_t i = 0; i < entry->phdr_count; i++) {
        const Elf64_Phdr *phdr = &entry->phdrs[i];
        if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_X) && vaddr - phdr->p_vaddr < phdr->p_memsz)
            return phdr->p_vaddr + phdr->p_memsz;
    }
    return 0;
}

static int copy_names(struct dynamic *dynamic, char **ret_names) {
    char *names = pie_malloc(dynamic->names_size + 1);
    if (!names)
        return -ENOMEM;
    memcpy(names, dynamic->names, dynamic->names_size);
    dynamic->names = names;
    *ret_names = names;
    return 0;
}

static int visit_dynamic(const struct pie_module_entry *entry, void *data) {
    struct request *request = data;
    struct dynamic dynamic;
    int r = read_dynamic(entry, &dynamic);
    if (r == 0)
        r = copy_names(&dynamic, request->ret_names);
    for (size_t i = 1; r == 0 && i < dynamic.symbol_count; i++) {
        const Elf64_Sym *symbol = &dynamic.symbols[i];
        unsigned char type = ELF64_ST_TYPE(symbol->st_info);
        const char *name = name_at(&dynamic, symbol->st_name);
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF && name)
            r = pie_symbol_table_add(request->builder, name, symbol->st_info, symbol->st_value,
                                     symbol->st_size, code_end(entry, symbol->st_value));
    }
    return r;
}

/* The end of the function at `vaddr`: the next start in the sorted table of .eh_frame_hdr, 0 if unknown.
 * Header: version 1, three encodings; those that linkers write are pcrel|sdata4, udata4, datarel|sdata4. */
static uint64_t function_end(const struct pie_module_entry *entry, uint64_t vaddr) {
    struct {
        unsigned char version, frame_encoding, count_encoding, table_encoding;
        int32_t frame;
        uint32_t count;
    } header;
    const Elf64_Phdr *phdr = find_phdr(entry, PT_GNU_EH_FRAME);
    const char *bytes = phdr ? pie_module_memory(entry, phdr->p_vaddr, sizeof(header)) : NULL;
    if (!bytes)
        return 0;
    memcpy(&header, bytes, sizeof(header));
    const int32_t *table =
        pie_module_memory(entry, phdr->p_vaddr + sizeof(header), (uint64_t)header.count * 2 * sizeof(*table));
    if (header.version != 1 || header.count_encoding != 0x03 || header.table_encoding != 0x3b || !table)
        return 0;
    size_t low = 0, high = header.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (phdr->p_vaddr + (uint64_t)(int64_t)table[2 * middle] <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < header.count ? phdr->p_vaddr + (uint64_t)(int64_t)table[2 * low] : 0;
}

static bool is_glibc(const struct dynamic *dynamic) {
    return dynamic->soname &&
           (strcmp(dynamic->soname, "libc.so.6") == 0 || strcmp(dynamic->soname, "libm.so.6") == 0);
}

/* Calls the choosers of glibc's. */
static int each_chosen(const struct pie_module_entry *entry, const struct dynamic *dynamic,
                       int (*each)(const struct pie_module_entry *entry, const char *name,
                                   const Elf64_Sym *symbol, uint64_t vaddr, void *data),
                       void *data) {
    int r = 0;

    for (size_t i = 1; r == 0 && i < dynamic->symbol_count; i++) {
        const Elf64_Sym *symbol = &dynamic->symbols[i];
        const char *name = name_at(dynamic, symbol->st_name);
        if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC || !name || !code_end(entry, symbol->st_value))
            continue;
        uintptr_t (*choose)(void) = (uintptr_t (*)(void))(entry->base + symbol->st_value);
        r = each(entry, name, symbol, choose() - entry->base, data);
    }
    return r;
}

static int add_chosen(const struct pie_module_entry *entry, const char *name, const Elf64_Sym *symbol,
                      uint64_t vaddr, void *data) {
    struct request *request = data;
    uint64_t end = code_end(entry, vaddr) ? function_end(entry, vaddr) : 0;
    /* As a label: wherever a symbol table knows the function itself, its name goes first. */
    unsigned char info = ELF64_ST_INFO(ELF64_ST_BIND(symbol->st_info), STT_NOTYPE);

    return pie_symbol_table_add(request->builder, name, info, vaddr, 0, end);
}

static int visit_chosen(const struct pie_module_entry *entry, void *data) {
    struct request *request = data;
    struct dynamic dynamic;
    int r = read_dynamic(entry, &dynamic);
    if (r < 0 || !is_glibc(&dynamic))
        return r;
    r = copy_names(&dynamic, request->ret_names);
    return r < 0 ? r : each_chosen(entry, &dynamic, add_chosen, request);
}

static int mark_chosen(const struct pie_module_entry *entry, const char *name, const Elf64_Sym *symbol,
                       uint64_t vaddr, void *data) {
    uint64_t *mark = data;

    *mark = pie_hash_mix(pie_hash_mix(*mark, symbol->st_value), vaddr);
    return 0;
}

static int visit_mark(const struct pie_module_entry *entry, void *data) {
    struct dynamic dynamic;
    int r = read_dynamic(entry, &dynamic);

    return r < 0 || !is_glibc(&dynamic) ? r : each_chosen(entry, &dynamic, mark_chosen, data);
}

uint64_t pie_loaded_symbols_mark_chosen(const struct pie_module_entry *entry) {
    uint64_t mark = 0;

    (void)pie_modules_with_loaded(entry, visit_mark, &mark);
    return mark;
}

int pie_loaded_symbols_add_dynamic(const struct pie_module_entry *entry,
                                   struct pie_symbol_table_builder *builder, char **ret_names) {
    struct request request = {.builder = builder, .ret_names = ret_names};
    *ret_names = NULL;
    return pie_modules_with_loaded(entry, visit_dynamic, &request);
}

int pie_loaded_symbols_add_chosen(const struct pie_module_entry *entry,
                                  struct pie_symbol_table_builder *builder, char **ret_names) {
    struct request request = {.builder = builder, .ret_names = ret_names};
    *ret_names = NULL;
    return pie_modules_with_loaded(entry, visit_chosen, &request);
}
