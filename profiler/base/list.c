/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/list.h"

#include "profiler/base/own_memory.h"

enum { ROOM_FIRST = 64 }; /* elements */

void *pie_list_grown(void *list, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return list;
    size_t more = *room ? *room * 2 : ROOM_FIRST;
    void *grown = pie_realloc(list, more * size);
    if (grown)
        *room = more;
    return grown;
}
