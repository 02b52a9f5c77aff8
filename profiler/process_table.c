/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/process_table.h"

#include <sys/mman.h>

#include "profiler/process_table_memory.h"

void pie_process_table_init(void) {
    void *memory;

    if (pie_process_table)
        return;
    memory = mmap(NULL, sizeof *pie_process_table, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return;
    madvise(memory, sizeof *pie_process_table, MADV_DONTDUMP); /* best effort, as the region */
    pie_process_table = memory;
}
