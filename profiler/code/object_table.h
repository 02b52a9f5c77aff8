/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/code/find_object.h"

/* The loaded modules where glibc is older than 2.35. A library that was loaded since the last refresh is found too, but
 * by its headers, in up to 10 us. One that was unloaded is found until the refresh that ends dlclose(). Modules of
 * other namespaces (dlmopen()) are not found. */

enum { PIE_OBJECTS_MAX = 4096 }; /* the rest is not found */

/* Context: signal. */
bool pie_object_table_find(uintptr_t address, struct pie_object *ret_object);

/* Takes the modules that are loaded now, if that changed. Takes the linker's lock. Context: hook, drain. */
void pie_object_table_refresh(void);

/* The same, where the table is in use. Context: hook, drain. */
void pie_objects_refresh(void);

/* _dl_find_object() and its result on x86-64, as glibc's <dlfcn.h> has them from 2.35 on. */
struct pie_linker_object {
    unsigned long long flags;
    void *map_start, *map_end;
    struct link_map *link_map;
    void *eh_frame;
    unsigned long long reserved[7];
};
typedef int (*pie_linker_find)(void *address, struct pie_linker_object *ret_object);

/* "Can be called from signal handlers" and takes no lock (glibc's manual, Dynamic Linker Introspection). NULL: there is
 * none, the table is in use. Written before there are threads. */
extern pie_linker_find pie_linker_find_object;

/* Between object_table.c, which fills the table, and object_table_sigsafe.c, which reads it: the modules sorted by
 * start, and the last one in the linker's list. One caller at a time. Context: hook, drain. */
void pie_object_table_publish(const struct pie_object *objects, size_t count, const struct link_map *last);

/* The module that these program headers describe. Returns false if they load nothing. Context: signal. */
bool pie_object_from_headers(const Elf64_Phdr *phdrs, unsigned count, uintptr_t base,
                             const struct link_map *map, struct pie_object *ret_object);
