/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "profiler/symbols/modules.h"
#include "profiler/symbols/symbol_table.h"

/* Symbol tables that are kept between runs, each in a file named by the module's build-id:
 * $XDG_CACHE_HOME/pieprof/symbols/, or ~/.cache/pieprof/symbols/. It is off where the folder above is not there, where
 * what is there belongs to somebody else or others may write to it, and in a process with more rights than its user
 * (AT_SECURE). All failures mean that there is no cache. */

/* Notes where it is. Before, and without a folder, the cache is off. Context: engine start. */
void pie_symbol_cache_begin(void);
/* Where it is, "" if it is off. folder: absolute, borrowed for the call. Context: engine start. */
void pie_symbol_cache_set(const char *folder);

/* The table of a module, which the caller destroys; NULL: there is none that can be used. wants_dwarf: only if the
 * module is known to have no DWARF. Context: drain. */
struct pie_symbol_table *pie_symbol_cache_get(const struct pie_module_entry *entry, bool wants_dwarf);

/* Keeps one. link: the name in .gnu_debuglink, "": none. has_no_dwarf: it was looked for. Context: drain. */
void pie_symbol_cache_put(const struct pie_module_entry *entry, const char *link, bool has_no_dwarf,
                          const struct pie_symbol_table *table);
