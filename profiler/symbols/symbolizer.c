/* SPDX-License-Identifier: Apache-2.0 */

/* An address leads to its module, the module's symbols (read when its first address comes) to the names. The ELF
 * symbol names the real function, because it is the name that callers use: what DWARF calls __libc_malloc is
 * malloc. DWARF names what was inlined into it, and gives files and lines. */

#include "profiler/symbols/symbolizer.h"
#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/home.h"
#include "profiler/base/string_pool.h"
#include "profiler/code/modules.h"
#include "profiler/symbols/demangle.h"
#include "profiler/symbols/module_symbols.h"
#include "profiler/symbols/source_path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* For each module, and for all of them together; see pie_symbolizer_resolve() for what a refusal means. */
static const uint64_t symbol_bytes_max = 256 * 1024 * 1024; /* while a table is made from them */
static const uint64_t dwarf_bytes_max = 64 * 1024 * 1024;
static const uint64_t all_tables_bytes_max = 128 * 1024 * 1024;
static const uint64_t all_dwarf_bytes_max = 128 * 1024 * 1024;

/* To open a module's debug information, and to read a unit's lines: 3 to 15 ms. */
static const uint64_t debug_info_ns_least = 10000000;

struct pie_symbolizer {
    struct pie_modules *modules;
    struct pie_string_pool *strings;
    struct pie_symbolizer_counters counters;
    uint64_t tables_bytes, dwarf_bytes; /* of all modules */
    uint64_t debug_info_ns, debug_info_most_ns;
};

struct module_data {
    struct pie_symbolizer *owner;
    struct pie_module_symbols symbols;
    uint64_t tables_bytes, dwarf_bytes; /* of this one, as added to the owner's */
    bool waits;                         /* for its debug information */
};

static void update_sizes(struct module_data *data) {
    const struct pie_module_symbols *symbols = &data->symbols;
    uint64_t tables_bytes = symbols->table ? pie_symbol_table_size_bytes(symbols->table) : 0;
    uint64_t dwarf_bytes = symbols->dwarf ? pie_dwarf_size_bytes(symbols->dwarf) : 0;
    data->owner->tables_bytes += tables_bytes - data->tables_bytes;
    data->owner->dwarf_bytes += dwarf_bytes - data->dwarf_bytes;
    data->tables_bytes = tables_bytes;
    data->dwarf_bytes = dwarf_bytes;
}

static void forget_module(struct pie_module_entry *entry) {
    struct module_data *data = entry->user;
    if (!data)
        return;
    data->owner->counters.refused_units +=
        data->symbols.dwarf ? pie_dwarf_refused_units(data->symbols.dwarf) : 0;
    pie_module_symbols_finish(&data->symbols);
    update_sizes(data);
    free(data);
}

int pie_symbolizer_create(struct pie_symbolizer **ret_symbolizer) {
    struct pie_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
    if (!symbolizer)
        return -ENOMEM;
    int r = pie_string_pool_create(&symbolizer->strings);
    if (r == 0)
        r = pie_modules_create(forget_module, &symbolizer->modules);
    if (r < 0) {
        pie_symbolizer_destroy(symbolizer);
        return r;
    }
    symbolizer->debug_info_most_ns = UINT64_MAX;
    *ret_symbolizer = symbolizer;
    return 0;
}

void pie_symbolizer_allow_debug_info(struct pie_symbolizer *symbolizer, uint64_t most_ns) {
    symbolizer->debug_info_most_ns = most_ns;
}

void pie_symbolizer_destroy(struct pie_symbolizer *symbolizer) {
    if (!symbolizer)
        return;
    pie_modules_destroy(symbolizer->modules);
    pie_string_pool_destroy(symbolizer->strings);
    free(symbolizer);
}

int pie_symbolizer_refresh(struct pie_symbolizer *symbolizer) {
    return pie_modules_refresh(symbolizer->modules);
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool has_limit(const struct pie_symbolizer *symbolizer) {
    return symbolizer->debug_info_most_ns != UINT64_MAX;
}

static bool may_open_debug_info(const struct pie_symbolizer *symbolizer) {
    return !has_limit(symbolizer) ||
           symbolizer->debug_info_ns + debug_info_ns_least <= symbolizer->debug_info_most_ns;
}

/* Adds what has passed since then. */
static void charge(struct pie_symbolizer *symbolizer, uint64_t since_ns) {
    symbolizer->debug_info_ns += pie_thread_cpu_ns() - since_ns;
}

static void load(struct module_data *data, struct pie_module_entry *entry, uint64_t vaddr, bool wants_dwarf) {
    struct pie_symbolizer *symbolizer = data->owner;
    /* At least 1, which is too little for any: 0 says that none is wanted. */
    uint64_t dwarf_left = all_dwarf_bytes_max + 1 - smaller(all_dwarf_bytes_max, symbolizer->dwarf_bytes);
    struct pie_module_files_limits limits = {
        .symbol_bytes = symbolizer->tables_bytes < all_tables_bytes_max ? symbol_bytes_max : 0,
        .dwarf_bytes = wants_dwarf ? smaller(dwarf_bytes_max, dwarf_left) : 0,
    };
    uint64_t since_ns = wants_dwarf && has_limit(symbolizer) ? pie_thread_cpu_ns() : 0;

    pie_module_symbols_load(&data->symbols, entry, vaddr, &limits, &symbolizer->counters);
    update_sizes(data);
    if (since_ns)
        charge(symbolizer, since_ns);
}

/* Its turn has come: all is read anew. */
static void read_later(struct module_data *data) {
    pie_module_symbols_finish(&data->symbols);
    update_sizes(data);
    data->waits = false;
    pie_counter_add(PIE_COUNTER_DEBUG_INFO_READ, 1);
}

/* The module's symbols, read if this is its first address; NULL if memory ran out. */
static struct pie_module_symbols *module_symbols(struct pie_symbolizer *symbolizer,
                                                 struct pie_module_entry *entry, uintptr_t address) {
    struct module_data *data = entry->user;
    if (!data) {
        data = calloc(1, sizeof(*data));
        if (!data)
            return NULL;
        data->owner = symbolizer;
        entry->user = data;
    }
    uint64_t vaddr = address - entry->base;
    if (data->waits && may_open_debug_info(symbolizer))
        read_later(data);
    if (!data->symbols.is_complete || !pie_module_symbols_reach(&data->symbols, vaddr)) {
        /* Lines inside the interpreter and the C library tell a user nothing, and to read them costs 30 ms. */
        bool is_home = pie_home_contains(address), may = may_open_debug_info(symbolizer);
        if (!is_home && !may && !data->waits)
            pie_counter_add(PIE_COUNTER_DEBUG_INFO_WAITS, 1);
        data->waits = !is_home && !may;
        load(data, entry, vaddr, !is_home && may);
    }
    return &data->symbols;
}

static const char *put_demangled(struct pie_symbolizer *symbolizer, const char *name) {
    char *text = name ? pie_demangle(name) : NULL;
    const char *kept = pie_string_pool_put(symbolizer->strings, text);
    free(text);
    return kept;
}

static const char *put_source_path(struct pie_symbolizer *symbolizer, const struct pie_dwarf_frame *frame) {
    char path[PATH_MAX];
    if (!frame->file || pie_source_path(frame->directory, frame->file, path, sizeof(path)) < 0)
        return NULL;
    return pie_string_pool_put(symbolizer->strings, path);
}

static size_t find_debug_info(struct pie_symbolizer *symbolizer, const struct pie_module_symbols *symbols,
                              uint64_t vaddr, struct pie_dwarf_frame *ret_frames, size_t max) {
    uint64_t since_ns = has_limit(symbolizer) ? pie_thread_cpu_ns() : 0;

    if (!symbols->dwarf || (since_ns && symbolizer->debug_info_ns > symbolizer->debug_info_most_ns))
        return 0;
    size_t count = pie_dwarf_find(symbols->dwarf, vaddr, ret_frames, max);
    if (since_ns)
        charge(symbolizer, since_ns);
    return count;
}

/* Returns the number of symbols. */
static size_t resolve_in_module(struct pie_symbolizer *symbolizer, const struct pie_module_symbols *symbols,
                                const struct pie_module_entry *entry, uint64_t vaddr,
                                struct pie_symbol *ret_symbols, size_t max) {
    char text[PIE_SYMBOL_NAME_BYTES];
    struct pie_dwarf_frame frames[PIE_SYMBOL_INLINE_MAX] = {0};
    size_t frames_max = max < PIE_SYMBOL_INLINE_MAX ? max : PIE_SYMBOL_INLINE_MAX;
    size_t count = find_debug_info(symbolizer, symbols, vaddr, frames, frames_max);
    if (count == 0)
        count = 1;
    const char *elf_name = pie_module_symbols_name(symbols, entry, vaddr, text);
    if (elf_name)
        frames[count - 1].name = elf_name;
    for (size_t i = 0; i < count; i++)
        ret_symbols[i] = (struct pie_symbol){
            .function = put_demangled(symbolizer, frames[i].name),
            .file = put_source_path(symbolizer, &frames[i]),
            .line = frames[i].line,
            .first_line = frames[i].first_line,
        };
    return count;
}

int pie_symbolizer_resolve(struct pie_symbolizer *symbolizer, uintptr_t address,
                           struct pie_module *ret_module, struct pie_symbol *ret_symbols, size_t max) {
    return pie_symbolizer_resolve_in(symbolizer, NULL, address, ret_module, ret_symbols, max);
}

int pie_symbolizer_resolve_in(struct pie_symbolizer *symbolizer, const struct pie_code_module *known,
                              uintptr_t address, struct pie_module *ret_module,
                              struct pie_symbol *ret_symbols, size_t max) {
    if (max == 0)
        return -EINVAL;
    *ret_module = (struct pie_module){.offset = address};
    ret_symbols[0] = (struct pie_symbol){0};
    size_t count = 1;
    /* Another module may lie there since the last refresh. Where that fails the old list must do. */
    (void)pie_modules_refresh(symbolizer->modules);
    struct pie_module_entry *entry = known && known->phdr_count
                                         ? pie_modules_find_known(symbolizer->modules, known)
                                         : pie_modules_find(symbolizer->modules, address);
    if (entry) {
        ret_module->path = pie_string_pool_put(symbolizer->strings, entry->path);
        ret_module->build_id = pie_string_pool_put(symbolizer->strings, entry->build_id);
        ret_module->offset = address - entry->base;
        const struct pie_module_symbols *symbols = module_symbols(symbolizer, entry, address);
        if (symbols)
            count = resolve_in_module(symbolizer, symbols, entry, ret_module->offset, ret_symbols, max);
        if (entry->user)
            update_sizes(entry->user);
    }
    if (!ret_symbols[count - 1].function)
        symbolizer->counters.unnamed_addresses++;
    return (int)count;
}

bool pie_symbolizer_function_range(struct pie_symbolizer *symbolizer, uintptr_t address, uintptr_t *ret_begin,
                                   uintptr_t *ret_end) {
    uint64_t start, end;
    /* As in pie_symbolizer_resolve_in(). */
    (void)pie_modules_refresh(symbolizer->modules);
    struct pie_module_entry *entry = pie_modules_find(symbolizer->modules, address);
    if (!entry || !entry->is_loaded)
        return false;
    const struct pie_module_symbols *symbols = module_symbols(symbolizer, entry, address);
    if (!symbols || !symbols->table ||
        !pie_symbol_table_range(symbols->table, address - entry->base, &start, &end))
        return false;
    *ret_begin = entry->base + start;
    *ret_end = entry->base + end;
    return true;
}

static void add_refused_units(const struct pie_module_entry *entry, void *data) {
    const struct module_data *module = entry->user;
    uint64_t *sum = data;
    if (module && module->symbols.dwarf)
        *sum += pie_dwarf_refused_units(module->symbols.dwarf);
}

void pie_symbolizer_count_unnamed(struct pie_symbolizer *symbolizer) {
    symbolizer->counters.unnamed_addresses++;
}

void pie_symbolizer_count(const struct pie_symbolizer *symbolizer,
                          struct pie_symbolizer_counters *ret_counters) {
    *ret_counters = symbolizer->counters;
    pie_modules_each(symbolizer->modules, add_refused_units, &ret_counters->refused_units);
    ret_counters->memory_bytes =
        symbolizer->tables_bytes + symbolizer->dwarf_bytes + pie_string_pool_size_bytes(symbolizer->strings);
}
