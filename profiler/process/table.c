/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/process/table.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "profiler/process/table_memory.h"

/* A child that the profiler knows nothing of (a raw system call, a fork that could not wait) must not be able to write
 * into its parent's table, so normally a fork leaves it out (MADV_DONTFORK). Such a child must not look for it either,
 * and the page at pie_process_table_here shows it. Where the kernel cannot wipe pages (before Linux 4.14) all children
 * inherit the table. */

/* In older headers not yet defined: include/uapi/asm-generic/mman-common.h. */
enum { WIPE_ON_FORK = 18 };

static struct pie_process_table *mapped; /* set once; the same address in a child that has it */
static bool is_left_out;                 /* children do not inherit it */

static void *map(size_t bytes, int sharing) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_DONTDUMP); /* best effort, as the region */
    return memory;
}

static void advise(int advice) {
    if (mapped && is_left_out)
        madvise(mapped, sizeof *mapped, advice);
}

void pie_process_table_init(void) {
    struct pie_process_table_here *here = pie_process_table_here;

    if (here || !(here = map(sizeof *here, MAP_PRIVATE)))
        return;
    mapped = map(sizeof *mapped, MAP_SHARED);
    is_left_out = mapped && madvise(here, sizeof *here, WIPE_ON_FORK) == 0;
    advise(MADV_DONTFORK);
    atomic_store_explicit(&here->table, mapped, memory_order_relaxed);
    pie_process_table_here = here;
}

void pie_process_table_lend(void) {
    advise(MADV_DOFORK);
}

void pie_process_table_keep(void) {
    advise(MADV_DONTFORK);
}

void pie_process_table_inherited(void) {
    advise(MADV_DONTFORK);
    if (pie_process_table_here)
        atomic_store_explicit(&pie_process_table_here->table, mapped, memory_order_relaxed);
}
