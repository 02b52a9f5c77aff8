/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The loaded module (program, library, vDSO) at an address: by the dynamic linker's _dl_find_object(), which glibc has
 * from 2.35 on, else by a table of our own (profiler/code/object_table.h). */

struct link_map;

struct pie_object {
    uintptr_t start, end;       /* its mapping, holes between segments included */
    const struct link_map *map; /* may be freed at any time: to be read with safe loads */
    const uint8_t *eh_frame;    /* its .eh_frame_hdr, NULL: it has none */
};

/* Returns false where none is. 50 ns. Context: signal. */
bool pie_find_object(uintptr_t address, struct pie_object *ret_object);

/* The same without details. Context: signal. */
bool pie_is_in_object(uintptr_t address);
