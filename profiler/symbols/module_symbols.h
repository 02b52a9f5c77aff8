/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profiler/symbols/dwarf_info.h"
#include "profiler/symbols/module_files.h"
#include "profiler/symbols/modules.h"
#include "profiler/symbols/symbol_table.h"
#include "profiler/symbols/symbolizer.h"

/* The functions of one module: its symbol table and its DWARF, from whichever file has them. Context: drain. */

struct pie_module_symbols {
    struct pie_symbol_table *table; /* NULL: nothing is known */
    struct pie_dwarf *dwarf;        /* NULL: nothing is known */
    unsigned tries;     /* to read the file, as long as it failed for want of descriptors or memory */
    bool is_complete;   /* no use in trying again */
    bool has_bad_cache; /* the kept table is damaged */
};

/* Reads them, unless they were read; again if the last time failed for want of descriptors or memory. Of a kept table
 * (symbol_cache.h) what covers vaddr is there then. Counts refused symbols and debug information. */
void pie_module_symbols_load(struct pie_module_symbols *symbols, const struct pie_module_entry *entry,
                             uint64_t vaddr, const struct pie_module_files_limits *limits,
                             struct pie_symbolizer_counters *counters);

/* The same for another address. False: the kept table is damaged, and they are to be read anew. */
bool pie_module_symbols_reach(struct pie_module_symbols *symbols, uint64_t vaddr);

enum { PIE_SYMBOL_NAME_BYTES = 8192 };

/* The raw name of the function at a virtual address of the module's file, or NULL; text is room for one that is read
 * from the file. */
const char *pie_module_symbols_name(const struct pie_module_symbols *symbols,
                                    const struct pie_module_entry *entry, uint64_t vaddr,
                                    char text[PIE_SYMBOL_NAME_BYTES]);

void pie_module_symbols_finish(struct pie_module_symbols *symbols);
