/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names for native addresses: ELF symbols always, DWARF file, line and inlined functions where present.
 *
 * Modules are the ELF files mapped into this process, found through dl_iterate_phdr and kept by identity. So an address
 * seen before dlclose is still named by the module that was there. Nothing is looked up on the network.
 *
 * No descriptor and no file mapping outlives a call. Reading is bounded: a module with more than 64 MB of debug
 * information is named from its ELF symbols only; struct pie_symbolizer_counters counts it.
 *
 * A forked child must make its own symbolizer: the fork may have come in the middle of a call.
 *
 * Context: drain (one thread), cli. Never in a handler. */

struct pie_symbolizer;
struct pie_code_module;

/* One frame at an address. Several where functions were inlined: innermost first, the last is the real function.
 * Strings are owned by the symbolizer and live until it is destroyed. */
struct pie_symbol {
    const char *function; /* demangled; NULL: the address is inside no known symbol */
    const char *file;     /* absolute unless the debug information was made relative; NULL: none */
    int32_t line;         /* 0: no debug information */
    int32_t first_line;   /* of the function; 0: unknown */
};

struct pie_module {
    const char *path;     /* absolute path; "[vdso]"; NULL: anonymous code */
    const char *build_id; /* hex or NULL */
    uint64_t offset;      /* of the address, as a virtual address in the ELF file */
};

enum { PIE_SYMBOL_INLINE_MAX = 16 };

/* Missing information, and the memory in use. Totals so far. */
struct pie_symbolizer_counters {
    uint64_t unreadable_modules; /* named from their memory or not at all: file gone, changed or damaged */
    uint64_t refused_symbols;    /* modules whose symbol tables are too large */
    uint64_t refused_debug_info; /* modules whose debug information is too large or damaged */
    uint64_t refused_units;      /* compilation units whose line tables are too large or damaged */
    uint64_t unnamed_addresses;  /* resolved without a function */
    uint64_t memory_bytes;       /* held now, roughly */
};

/* Returns 0 or -ENOMEM. */
int pie_symbolizer_create(struct pie_symbolizer **ret_symbolizer);
void pie_symbolizer_destroy(struct pie_symbolizer *symbolizer);

/* Takes note of libraries loaded or unloaded since the last call; some ten nanoseconds when there are none.
 * pie_symbolizer_resolve() does it too; calling it often lets no module come and go unseen.
 * Returns 1 if there were, 0 if not, or -errno. */
int pie_symbolizer_refresh(struct pie_symbolizer *symbolizer);

/* Debug information may take this CPU time in all; at first there is no limit. A module whose turn has not come has its
 * ELF symbols alone: lines and inlined functions are for addresses that are asked for later. */
void pie_symbolizer_allow_debug_info(struct pie_symbolizer *symbolizer, uint64_t most_ns);

/* Resolves one code address (for a return address pass address - 1): in the module that is loaded there, else in the
 * last one that was. Fills *ret_module and up to `max` symbols; of a chain of more inlined calls the innermost and the
 * real function are kept. Returns their number (at least 1: an unnamed one), or -EINVAL if max is 0. A few
 * microseconds, some 40 with debug information; the first address of a module costs milliseconds, of a very large
 * one a tenth of a second (its symbol table is read then). */
int pie_symbolizer_resolve(struct pie_symbolizer *symbolizer, uintptr_t address,
                           struct pie_module *ret_module, struct pie_symbol *ret_symbols, size_t max);

/* The same in a module that a sample has seen at its place, be it loaded or not; NULL: as above. */
int pie_symbolizer_resolve_in(struct pie_symbolizer *symbolizer, const struct pie_code_module *known,
                              uintptr_t address, struct pie_module *ret_module,
                              struct pie_symbol *ret_symbols, size_t max);

/* The function symbol around an address of a module that is loaded: [*ret_begin, *ret_end). A symbol without a size, as
 * hand-written code has them, ends at the next one. False: there is none, or no memory. Costs as
 * pie_symbolizer_resolve(). */
bool pie_symbolizer_function_range(struct pie_symbolizer *symbolizer, uintptr_t address, uintptr_t *ret_begin,
                                   uintptr_t *ret_end);

/* An address without a function that was not asked for. */
void pie_symbolizer_count_unnamed(struct pie_symbolizer *symbolizer);
void pie_symbolizer_count(const struct pie_symbolizer *symbolizer,
                          struct pie_symbolizer_counters *ret_counters);
