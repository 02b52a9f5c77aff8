/* SPDX-License-Identifier: Apache-2.0 */

/* Two tables take turns: a refresh fills the one that is not read, then raises the version (release; acquire in
 * find_in_table()), whose lowest bit is the number of the table to read. A reader that sees another version afterwards
 * may have read what the next refresh was writing, and looks again. Readers never wait: after some tries they find
 * nothing. A forked child has the version of a whole table, whatever its parent's thread was filling.
 *
 * The linker appends what it loads to its list. So what was loaded since the last refresh lies behind the last module
 * of that time, and one load shows where nothing was. Such a module is read with safe loads: the linker may be at work
 * on it, or free it. */

#include "profiler/code/object_table.h"

#include "profiler/base/safe_load.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

enum { TRIES = 8, ADDED_MAX = 256, PHDRS_MAX = 32, PAGE_BYTES = 4096 };

static struct entry {
    _Atomic uintptr_t start, end, map, eh_frame;
} tables[2][PIE_OBJECTS_MAX];
static _Atomic size_t counts[2];
static _Atomic uint64_t version;
static _Atomic uintptr_t last;

static void store(struct entry *entry, const struct pie_object *object) {
    atomic_store_explicit(&entry->start, object->start, memory_order_relaxed);
    atomic_store_explicit(&entry->end, object->end, memory_order_relaxed);
    atomic_store_explicit(&entry->map, (uintptr_t)object->map, memory_order_relaxed);
    atomic_store_explicit(&entry->eh_frame, (uintptr_t)object->eh_frame, memory_order_relaxed);
}

static struct pie_object load(const struct entry *entry) {
    return (struct pie_object){
        .start = atomic_load_explicit(&entry->start, memory_order_relaxed),
        .end = atomic_load_explicit(&entry->end, memory_order_relaxed),
        .map = (const struct link_map *)atomic_load_explicit(&entry->map, memory_order_relaxed),
        .eh_frame = (const uint8_t *)atomic_load_explicit(&entry->eh_frame, memory_order_relaxed),
    };
}

void pie_object_table_publish(const struct pie_object *objects, size_t count,
                              const struct link_map *last_map) {
    uint64_t next = atomic_load_explicit(&version, memory_order_relaxed) + 1;
    struct entry *table = tables[next & 1];

    /* after the version that readers of this table still hold: pairs with the fence in find_in_table() */
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < count; i++)
        store(&table[i], &objects[i]);
    atomic_store_explicit(&counts[next & 1], count, memory_order_relaxed);
    atomic_store_explicit(&last, (uintptr_t)last_map, memory_order_relaxed);
    atomic_store_explicit(&version, next, memory_order_release);
}

/* The last module that begins at or below address. */
static bool search(const struct entry *table, size_t count, uintptr_t address,
                   struct pie_object *ret_object) {
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (atomic_load_explicit(&table[middle].start, memory_order_relaxed) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    *ret_object = load(&table[low - 1]);
    return address < ret_object->end;
}

static bool find_in_table(uintptr_t address, struct pie_object *ret_object) {
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = atomic_load_explicit(&version, memory_order_acquire);
        size_t count = atomic_load_explicit(&counts[before & 1], memory_order_relaxed);
        bool is_found = search(tables[before & 1], count <= PIE_OBJECTS_MAX ? count : 0, address, ret_object);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&version, memory_order_relaxed) == before)
            return is_found;
    }
    return false;
}

/* Adds what one program header says. */
static void take_header(const Elf64_Phdr *phdr, uintptr_t base, struct pie_object *object) {
    uintptr_t start = (base + phdr->p_vaddr) & ~(uintptr_t)(PAGE_BYTES - 1);

    if (phdr->p_type == PT_GNU_EH_FRAME)
        object->eh_frame = (const uint8_t *)(base + phdr->p_vaddr);
    if (phdr->p_type != PT_LOAD)
        return;
    if (object->end == 0 || start < object->start)
        object->start = start;
    if (base + phdr->p_vaddr + phdr->p_memsz > object->end)
        object->end = base + phdr->p_vaddr + phdr->p_memsz;
}

bool pie_object_from_headers(const Elf64_Phdr *phdrs, unsigned count, uintptr_t base,
                             const struct link_map *map, struct pie_object *ret_object) {
    struct pie_object object = {.map = map};

    for (unsigned i = 0; i < count; i++)
        take_header(&phdrs[i], base, &object);
    *ret_object = object;
    return object.end > object.start;
}

/* A module by its headers in memory, which begin at its base: so they do in all libraries that are not prelinked. */
static bool read_module(uintptr_t map, struct pie_object *ret_object) {
    const struct link_map *module = (const struct link_map *)map;
    uintptr_t base;
    Elf64_Ehdr header;
    Elf64_Phdr phdrs[PHDRS_MAX];

    return pie_safe_load(&module->l_addr, &base) && base != 0 &&
           pie_safe_copy(&header, (const void *)base, sizeof header) &&
           memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof *phdrs &&
           header.e_phnum <= PHDRS_MAX &&
           pie_safe_copy(phdrs, (const void *)(base + header.e_phoff), header.e_phnum * sizeof *phdrs) &&
           pie_object_from_headers(phdrs, header.e_phnum, base, module, ret_object);
}

static bool find_added(uintptr_t address, struct pie_object *ret_object) {
    uintptr_t map = atomic_load_explicit(&last, memory_order_relaxed), next, before;

    for (unsigned i = 0; map && i < ADDED_MAX; i++, map = next) {
        if (!pie_safe_load(&((const struct link_map *)map)->l_next, &next) || !next ||
            !pie_safe_load(&((const struct link_map *)next)->l_prev, &before) || before != map)
            return false;
        if (read_module(next, ret_object) && address >= ret_object->start && address < ret_object->end)
            return true;
    }
    return false;
}

bool pie_object_table_find(uintptr_t address, struct pie_object *ret_object) {
    return find_in_table(address, ret_object) || find_added(address, ret_object);
}
