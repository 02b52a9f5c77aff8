/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/process/table.h"

/* Shared by process/table.c, which maps it, and process/table_sigsafe.c; for no other file. */

enum pie_process_state { PIE_PROCESS_FREE, PIE_PROCESS_CLAIMED, PIE_PROCESS_LIVE, PIE_PROCESS_TAKEN };

struct pie_process_table {
    _Atomic uint32_t high; /* entries that were ever used are below it */
    _Atomic uint32_t states[PIE_PROCESS_TABLE_MAX];
    struct pie_process_entry entries[PIE_PROCESS_TABLE_MAX];
};

/* A page that a child finds zeroed (MADV_WIPEONFORK), unlike one of vfork(), which has its parent's memory: where
 * `table` is NULL the table is not mapped. */
struct pie_process_table_here {
    struct pie_process_table *_Atomic table;
};

extern struct pie_process_table_here *pie_process_table_here; /* NULL: there never was a table */
