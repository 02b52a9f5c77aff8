/* SPDX-License-Identifier: Apache-2.0 */

/* A module is known by a fingerprint of its place, its program headers, its path and its build-id; of a file without
 * one by the beginnings of its symbols' names and of its table of functions. All of it is read from its memory, at
 * first sight of each of its addresses only, since the unwinder's cache keeps the number beside the rule.
 *
 * The table is open addressing by fingerprint; a number is an index. Lock-free: a slot is claimed by one
 * compare-and-swap of its fingerprint, then described by who claimed it, and published (release; acquire in
 * pie_code_module()). Nothing is ever taken out. Handlers need the number only, which is good from the claim on. A
 * forked child goes on with its copy; a slot that another thread was describing just then stays without a
 * description. */

#include "profiler/code/modules.h"

#include "profiler/base/hash.h"
#include "profiler/base/home.h"
#include "profiler/base/safe_load.h"
#include "profiler/code/find_object.h"
#include "profiler/code/generation.h"

#include <link.h>
#include <string.h>

enum { PROBES_MAX = 64, NOTES_BYTES_MAX = 1024, SAMPLE_BYTES = 1024, DYNAMIC_MAX = 64 };

static struct slot {
    _Atomic uint64_t fingerprint; /* 0: free */
    _Atomic bool is_described;
    struct pie_code_module module;
} slots[PIE_CODE_MODULES_MAX];
static _Atomic uint64_t refused;
static _Atomic uint32_t rewrites;

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = pie_hash_upper(hash ^ value);
    return hash ^ hash >> 32;
}

static uint64_t mix_memory(uint64_t hash, uintptr_t at, size_t bytes) {
    uintptr_t word;

    for (size_t i = 0; i + sizeof word <= bytes && pie_safe_load((const void *)(at + i), &word);
         i += sizeof word)
        hash = mix(hash, word);
    return hash;
}

/* Returns false if the program headers cannot be read. */
static bool read_header(uintptr_t start, Elf64_Ehdr *ret_header) {
    return pie_safe_copy(ret_header, (const void *)start, sizeof *ret_header) &&
           memcmp(ret_header->e_ident, ELFMAG, SELFMAG) == 0 && ret_header->e_phentsize == sizeof(Elf64_Phdr);
}

static bool read_phdr(uintptr_t start, const Elf64_Ehdr *header, unsigned i, Elf64_Phdr *ret_phdr) {
    return pie_safe_copy(ret_phdr, (const void *)(start + header->e_phoff + i * sizeof *ret_phdr),
                         sizeof *ret_phdr);
}

/* The build-id among the notes at an address. Returns its length, 0: there is none, and where it is. */
static size_t find_build_id(uintptr_t at, size_t bytes, uintptr_t *ret_id) {
    size_t offset = 0;
    Elf64_Nhdr note;
    uint32_t name;

    while (offset + sizeof note + sizeof name <= bytes && offset < NOTES_BYTES_MAX) {
        if (!pie_safe_copy(&note, (const void *)(at + offset), sizeof note) ||
            !pie_safe_copy(&name, (const void *)(at + offset + sizeof note), sizeof name))
            break;
        size_t id = offset + sizeof note + ((note.n_namesz + 3) & ~(size_t)3);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(&name, "GNU", 4) == 0) {
            *ret_id = at + id;
            return note.n_descsz <= sizeof((struct pie_code_module *)0)->build_id ? note.n_descsz : 0;
        }
        offset = id + ((note.n_descsz + (size_t)3) & ~(size_t)3);
    }
    return 0;
}

/* Where the names of a module's dynamic symbols are. glibc has relocated the pointer. */
static uintptr_t names_of(uintptr_t dynamic) {
    Elf64_Dyn item = {.d_tag = DT_NULL};

    for (unsigned i = 0; dynamic && i < DYNAMIC_MAX; i++) {
        if (!pie_safe_copy(&item, (const void *)(dynamic + i * sizeof item), sizeof item) ||
            item.d_tag == DT_NULL)
            break;
        if (item.d_tag == DT_STRTAB)
            return item.d_un.d_ptr;
    }
    return 0;
}

struct mapping {
    uintptr_t start, base, path, dynamic, functions;
};

static bool read_mapping(const struct pie_object *object, struct mapping *ret_mapping) {
    const struct link_map *map = object->map;

    ret_mapping->start = object->start;
    ret_mapping->functions = (uintptr_t)object->eh_frame;
    return pie_safe_load(&map->l_addr, &ret_mapping->base) &&
           pie_safe_load(&map->l_name, &ret_mapping->path) &&
           pie_safe_load(&map->l_ld, &ret_mapping->dynamic);
}

static uint64_t mix_path(uint64_t hash, uintptr_t path) {
    uint8_t byte;

    for (size_t i = 0;
         i < PIE_CODE_MODULE_PATH_MAX && pie_safe_load_byte((const void *)(path + i), &byte) && byte; i++)
        hash = mix(hash, byte);
    return hash;
}

static uint64_t fingerprint_of(const struct mapping *mapping) {
    uint64_t hash = mix_path(mix(mix(1, mapping->start), mapping->base), mapping->path);
    uintptr_t id = 0;
    Elf64_Ehdr header;
    Elf64_Phdr phdr;

    if (!read_header(mapping->start, &header))
        return hash | 1;
    for (unsigned i = 0; i < header.e_phnum && i < PIE_CODE_MODULE_PHDRS_MAX; i++) {
        if (!read_phdr(mapping->start, &header, i, &phdr))
            break;
        hash = mix(mix(hash, phdr.p_vaddr), phdr.p_memsz);
        size_t bytes = phdr.p_type == PT_NOTE && !id
                           ? find_build_id(mapping->base + phdr.p_vaddr, phdr.p_memsz, &id)
                           : 0;
        hash = bytes ? mix_memory(hash, id, bytes) : hash;
    }
    if (!id) {
        hash = mix_memory(hash, names_of(mapping->dynamic) & ~(uintptr_t)7, SAMPLE_BYTES);
        hash = mix_memory(hash, mapping->functions & ~(uintptr_t)7, SAMPLE_BYTES);
    }
    return hash | 1;
}

static void describe_path(struct pie_code_module *module, uintptr_t path) {
    for (size_t i = 0; i < sizeof module->path; i++) {
        uint8_t byte = 0;
        if (!pie_safe_load_byte((const void *)(path + i), &byte))
            byte = 0;
        module->path[i] = (char)byte;
        if (!byte)
            return;
    }
    module->path[0] = '\0';
}

static void describe(struct pie_code_module *module, const struct mapping *mapping) {
    Elf64_Ehdr header;
    uintptr_t id = 0;

    module->base = mapping->base;
    describe_path(module, mapping->path);
    if (!read_header(mapping->start, &header) || header.e_phnum > PIE_CODE_MODULE_PHDRS_MAX)
        return;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr *phdr = &module->phdrs[i];
        if (!read_phdr(mapping->start, &header, i, phdr))
            return;
        if (phdr->p_type == PT_NOTE && !module->build_id_bytes)
            module->build_id_bytes =
                (unsigned)find_build_id(mapping->base + phdr->p_vaddr, phdr->p_memsz, &id);
    }
    if (module->build_id_bytes && !pie_safe_copy(module->build_id, (const void *)id, module->build_id_bytes))
        module->build_id_bytes = 0;
    module->phdr_count = header.e_phnum;
}

static unsigned number_of(uint64_t fingerprint, const struct mapping *mapping) {
    unsigned at = (unsigned)(fingerprint >> 32) % PIE_CODE_MODULES_MAX;

    for (unsigned i = 0; i < PROBES_MAX; i++, at = (at + 1) % PIE_CODE_MODULES_MAX) {
        uint64_t seen = atomic_load_explicit(&slots[at].fingerprint, memory_order_relaxed);
        if (at == 0 || (seen != 0 && seen != fingerprint)) /* 0 is no number */
            continue;
        if (seen == fingerprint)
            return at;
        if (atomic_compare_exchange_strong_explicit(&slots[at].fingerprint, &seen, fingerprint,
                                                    memory_order_relaxed, memory_order_relaxed)) {
            describe(&slots[at].module, mapping);
            atomic_store_explicit(&slots[at].is_described, true, memory_order_release);
            return at;
        }
        if (seen == fingerprint)
            return at;
    }
    atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
    return 0;
}

unsigned pie_code_module_of(const struct pie_object *object, uintptr_t address) {
    struct mapping mapping;

    if (pie_home_contains(address) || !read_mapping(object, &mapping))
        return 0;
    return number_of(fingerprint_of(&mapping), &mapping);
}

unsigned pie_code_module_at(uintptr_t address) {
    struct pie_object object;

    return pie_find_object(address, &object) ? pie_code_module_of(&object, address) : PIE_CODE_MODULE_NOWHERE;
}

void pie_code_modules_rewritten(uintptr_t start, size_t bytes) {
    if (bytes == 0 || (!pie_is_in_object(start) && !pie_is_in_object(start + bytes - 1)))
        return;
    atomic_fetch_add_explicit(&rewrites, 1, memory_order_release);
    pie_code_begin_generation(); /* so that the collection thread takes notice */
}

uint32_t pie_code_modules_rewrites(void) {
    return atomic_load_explicit(&rewrites, memory_order_acquire);
}

const struct pie_code_module *pie_code_module(unsigned number) {
    if (number == 0 || number >= PIE_CODE_MODULES_MAX ||
        !atomic_load_explicit(&slots[number].is_described, memory_order_acquire))
        return NULL;
    return &slots[number].module;
}

uint64_t pie_code_modules_refused(void) {
    return atomic_load_explicit(&refused, memory_order_relaxed);
}
