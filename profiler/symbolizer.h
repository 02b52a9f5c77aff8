/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Names for native addresses: ELF symbols always, DWARF file, line and inlined functions where present.
 *
 * Modules are the ELF files mapped into this process, found through dl_iterate_phdr and kept by identity, so that
 * an address seen before dlclose is still named by the module that was there. Nothing is looked up on the network.
 *
 * Context: drain (one thread), or cli. Never in a handler. */

struct pie_symbolizer;

/* One frame at an address. Several where functions were inlined: innermost first, the last is the real function.
 * Strings are owned by the symbolizer and live until it is destroyed. */
struct pie_symbol {
    const char *function; /* demangled; NULL: the address is inside no known symbol */
    const char *file;     /* NULL: no debug information */
    int32_t line;         /* 0: no debug information */
    int32_t first_line;   /* of the function; 0: unknown */
};

struct pie_module {
    const char *path;     /* absolute path; "[vdso]"; NULL: anonymous code */
    const char *build_id; /* hex or NULL */
    uint64_t offset;      /* of the address, as a virtual address in the ELF file */
};

enum { PIE_SYMBOL_INLINE_MAX = 16 };

int pie_symbolizer_create(struct pie_symbolizer **ret_symbolizer);
void pie_symbolizer_destroy(struct pie_symbolizer *symbolizer);

/* Takes note of libraries loaded or unloaded since the last call; cheap when nothing changed. */
int pie_symbolizer_refresh(struct pie_symbolizer *symbolizer);

/* Resolves one code address (for a return address pass address - 1). Fills *ret_module and up to `max` symbols;
 * returns their number (at least 1: an unnamed one), or -errno. The first address of a module may cost
 * milliseconds (its symbol table is read then). */
int pie_symbolizer_resolve(struct pie_symbolizer *symbolizer, uintptr_t address, struct pie_module *ret_module,
                           struct pie_symbol *ret_symbols, size_t max);
