/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/symbols/modules.h"
#include "profiler/symbols/symbol_table.h"

/* Symbols read from a module's own memory, where its file is of no help. Context: drain. */

/* Adds the functions of the dynamic symbol table: for modules without a readable file (the vdso, a library whose
 * file was deleted, no free descriptor). *ret_names holds the names and is freed by the caller after the table was
 * built. Returns 0, -ENOENT if the module is not loaded or has no such table, or -ENOMEM. */
int pie_loaded_symbols_add_dynamic(const struct pie_module_entry *entry,
                                   struct pie_symbol_table_builder *builder, char **ret_names);

/* Adds the functions that glibc chose for this CPU. A stripped libc names only the choosers (memcpy is
 * STT_GNU_IFUNC) and leaves the code that runs without a name, which is where much native time goes. The choosers
 * are called; only those of glibc's own libc and libm, known only to read. Results as above. */
int pie_loaded_symbols_add_chosen(const struct pie_module_entry *entry,
                                  struct pie_symbol_table_builder *builder, char **ret_names);

/* A number for the functions that glibc chose: 0 for other modules, and another one where it chose others. */
uint64_t pie_loaded_symbols_mark_chosen(const struct pie_module_entry *entry);
