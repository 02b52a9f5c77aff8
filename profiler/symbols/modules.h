/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "profiler/symbols/elf_image.h"

/* The ELF files that are, or were, mapped into this process by the dynamic linker. A module keeps its
 * identity after dlclose; the same file loaded again at the same place is the same module, anything else is a
 * new one. Context: drain (one thread), cli. */

struct pie_module_entry {
    const char *path;        /* absolute, as the dynamic linker says it; "[vdso]"; owned by the list */
    const char *open_path;   /* to read it from; NULL: only memory */
    const char *build_id;    /* hex, or NULL; owned by the list */
    uintptr_t base;          /* address minus virtual address in the file */
    const Elf64_Phdr *phdrs; /* a copy owned by the list */
    size_t phdr_count;
    dev_t device;
    ino_t inode;
    struct timespec modified;
    uint64_t serial; /* grows with each time it was found loaded anew */
    bool is_loaded;
    bool was_loaded; /* before the refresh under way */
    void *user;      /* of the symbolizer, see pie_modules_create() */
};

struct pie_modules;
struct pie_code_module;

/* `forget` frees entry->user of a module that is dropped from the list, at the latest by destroy. */
int pie_modules_create(void (*forget)(struct pie_module_entry *entry), struct pie_modules **ret_modules);
void pie_modules_destroy(struct pie_modules *modules);

/* Compares the list with the loaded modules; a few hundred nanoseconds when nothing changed. Returns 1 if the list
 * changed, 0 if not, or -errno. Takes the dynamic linker's lock for the time of a walk over its list. */
int pie_modules_refresh(struct pie_modules *modules);

/* The module that an address lies in: of those loaded, else of those that were, the latest. NULL: none. Owned
 * by the list; valid until the next refresh. */
struct pie_module_entry *pie_modules_find(struct pie_modules *modules, uintptr_t address);

/* The module that a sample has seen, be it loaded or not; one that came and went between two refreshes is added to the
 * list. NULL: no memory. As above. */
struct pie_module_entry *pie_modules_find_known(struct pie_modules *modules,
                                                const struct pie_code_module *known);

/* Calls `visit` while the module cannot be unloaded. Returns its result, or -ENOENT if it is not loaded. */
int pie_modules_with_loaded(const struct pie_module_entry *entry,
                            int (*visit)(const struct pie_module_entry *entry, void *data), void *data);

/* The bytes [vaddr, vaddr + size) of a module that is held by pie_modules_with_loaded(), or NULL if they are
 * not all inside one readable segment. */
const void *pie_module_memory(const struct pie_module_entry *entry, uint64_t vaddr, uint64_t size);

/* How many bytes are there from vaddr to the end of its readable segment; 0 if there is none. */
uint64_t pie_module_memory_left(const struct pie_module_entry *entry, uint64_t vaddr);

void pie_modules_each(const struct pie_modules *modules,
                      void (*visit)(const struct pie_module_entry *entry, void *data), void *data);
