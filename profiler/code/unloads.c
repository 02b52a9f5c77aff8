/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/unloads.h"

#include "profiler/code/generation.h"
#include "profiler/code/object_table.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t seen; /* their number at the last look; a forked child has as many */

static int look(struct dl_phdr_info *info, size_t size, void *data) {
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *(uint64_t *)data = info->dlpi_subs;
    return 1; /* each entry says the same */
}

uint64_t pie_unloads(void) {
    uint64_t count = 0;

    dl_iterate_phdr(look, &count);
    return count;
}

void pie_unloads_refresh(void) {
    uint64_t count = pie_unloads();

    pie_objects_refresh();
    if (atomic_exchange_explicit(&seen, count, memory_order_acq_rel) != count)
        pie_code_begin_generation();
}

void pie_unloading_begin(void) {
    pie_code_unloading(true);
}

void pie_unloading_end(void) {
    pie_unloads_refresh();
    pie_code_unloading(false);
}
