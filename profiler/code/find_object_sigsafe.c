/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/find_object.h"

#include "profiler/code/object_table.h"

bool pie_find_object(uintptr_t address, struct pie_object *ret_object) {
    struct pie_linker_object found;

    if (!pie_linker_find_object)
        return pie_object_table_find(address, ret_object);
    if (pie_linker_find_object((void *)address, &found) != 0)
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
