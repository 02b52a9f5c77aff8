/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/calltree_ids.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "storage/export/calltree_rows.h"

uint32_t pie_calltree_id(int64_t id) {
    return id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

int pie_calltree_ids_add(struct pie_calltree_ids *ids, int64_t process, uint32_t id) {
    if (ids->count == UINT32_MAX - 1)
        return -EOVERFLOW;
    if (ids->process_count == 0 || ids->processes[ids->process_count - 1].process != process) {
        struct pie_calltree_process *processes =
            pie_calltree_grow(ids->processes, ids->process_count, sizeof *processes);
        if (!processes)
            return -ENOMEM;
        ids->processes = processes;
        processes[ids->process_count++] =
            (struct pie_calltree_process){.process = process, .first = ids->count};
    }
    uint32_t *list = pie_calltree_grow(ids->ids, ids->count, sizeof *list);
    if (!list)
        return -ENOMEM;
    ids->ids = list;
    list[ids->count++] = id;
    return 0;
}

/* The rows from *ret_first to before *ret_end; of a process that has none, none. */
static void get_rows(const struct pie_calltree_ids *ids, int64_t process, uint32_t *ret_first,
                     uint32_t *ret_end) {
    uint32_t low = 0, high = ids->process_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ids->processes[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < ids->process_count && ids->processes[low].process == process;
    *ret_end = is_there && low + 1 < ids->process_count ? ids->processes[low + 1].first : ids->count;
    *ret_first = is_there ? ids->processes[low].first : *ret_end;
}

/* Most processes leave no gaps between their ids, so the first look is where the row is then. */
uint32_t pie_calltree_ids_find(const struct pie_calltree_ids *ids, int64_t process, int64_t wanted) {
    uint32_t id = pie_calltree_id(wanted), low, high;
    if (id == 0 || ids->count == 0)
        return 0;
    get_rows(ids, process, &low, &high);
    if (low == high || id < ids->ids[low])
        return 0;
    uint32_t guess = id - ids->ids[low];
    if (guess < high - low && ids->ids[low + guess] == id)
        return low + guess + 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ids->ids[middle] == id)
            return middle + 1;
        if (ids->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

void pie_calltree_ids_resolve(const struct pie_calltree_ids *rows, const struct pie_calltree_ids *into,
                              uint32_t *references) {
    for (uint32_t i = 0; i < rows->process_count; i++) {
        uint32_t end = i + 1 < rows->process_count ? rows->processes[i + 1].first : rows->count;
        for (uint32_t row = rows->processes[i].first; row < end; row++)
            references[row] = pie_calltree_ids_find(into, rows->processes[i].process, references[row]);
    }
}

void pie_calltree_ids_finish(struct pie_calltree_ids *ids) {
    free(ids->ids);
    free(ids->processes);
    *ids = (struct pie_calltree_ids){0};
}
