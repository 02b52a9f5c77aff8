/* SPDX-License-Identifier: Apache-2.0 */

/* The table is filled under the linker's lock, by dl_iterate_phdr(): it goes through the linker's list, so a pointer
 * that walks along gives each module's link_map. */

#include "profiler/code/object_table.h"

#include "profiler/base/sort.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

pie_linker_find pie_linker_find_object;
static const struct link_map *first; /* the program's, which stays */
static unsigned long long added,
    removed; /* as the linker counted them at the last refresh; under its lock, as these */
static struct pie_object objects[PIE_OBJECTS_MAX];

struct walk {
    const struct link_map *map; /* of the module whose turn it is */
    size_t count;
};

static __attribute__((constructor)) void begin(void) {
    pie_linker_find_object = (pie_linker_find)dlsym(RTLD_DEFAULT, "_dl_find_object");
    first = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD); /* its handle, as every handle of glibc, is a link_map */
    pie_objects_refresh();
}

static void add(struct walk *walk, const struct dl_phdr_info *info) {
    struct pie_object object;

    if (walk->count < PIE_OBJECTS_MAX &&
        pie_object_from_headers(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, walk->map, &object))
        objects[walk->count++] = object;
}

static int by_start(const void *a, const void *b) {
    const struct pie_object *one = a, *other = b;

    return (one->start > other->start) - (one->start < other->start);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct walk *walk = data;

    if (walk->map == first) {
        if (info->dlpi_adds == added && info->dlpi_subs == removed)
            return 1;
        added = info->dlpi_adds;
        removed = info->dlpi_subs;
    }
    if (!walk->map || walk->map->l_addr != info->dlpi_addr)
        return 1; /* no list as we know it: the last table stays */
    add(walk, info);
    const struct link_map *visited = walk->map;
    walk->map = visited->l_next;
    if (walk->map)
        return 0;
    if (pie_sort(objects, walk->count, sizeof *objects, by_start) == 0)
        pie_object_table_publish(objects, walk->count, visited);
    else
        added = 0; /* again at the next look */
    return 1;
}

void pie_object_table_refresh(void) {
    struct walk walk = {.map = first};

    if (first)
        dl_iterate_phdr(visit, &walk);
}

void pie_objects_refresh(void) {
    if (!pie_linker_find_object)
        pie_object_table_refresh();
}
