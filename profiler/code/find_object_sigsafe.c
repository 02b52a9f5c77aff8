/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/find_object.h"

#include "profiler/code/object_table.h"

#include <stddef.h>

/* "Can be called from signal handlers" and takes no lock (glibc's manual, Dynamic Linker Introspection). Written before
 * there are threads. */
static pie_linker_find linker_find;

void pie_find_object_by(pie_linker_find find) {
    linker_find = find;
}

bool pie_find_object(uintptr_t address, struct pie_object *ret_object) {
    struct pie_linker_object found;

    if (!linker_find)
        return pie_object_table_find(address, ret_object);
    if (linker_find((void *)address, &found) != 0)
        return false;
    *ret_object = (struct pie_object){
        .start = (uintptr_t)found.map_start,
        .end = (uintptr_t)found.map_end,
        .map = found.link_map,
        .eh_frame = found.eh_frame,
    };
    return true;
}

bool pie_is_in_object(uintptr_t address) {
    struct pie_object object;

    return pie_find_object(address, &object);
}
