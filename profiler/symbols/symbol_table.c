/* SPDX-License-Identifier: Apache-2.0 */

/* The table is a sorted array of disjoint segments, found by bisection. It is made in three steps:
 *
 * 1. Sort the symbols by start, the preferred name first, and merge those of the same start.
 * 2. Symbols without a size (labels in assembly) extend to the next symbol, unless they lie inside one that
 * has a size: then they are labels within that function.
 * 3. Sweep over the starts with a stack of the symbols that are open, and write a segment whenever the top
 * changes, so that a function nested inside another covers its part of it.
 *
 * Only the names that have a segment are kept. Of a library with very many, those of .symtab stay in its file, and one
 * is read from there when it is asked for (profiler/symbols/module_symbols.c). */

#include "profiler/symbols/symbol_table.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/sort.h"
#include "profiler/symbols/symbol_table_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The state of step 3. */
struct sweep {
    struct pie_symbol_table *table;
    struct pie_raw_symbol **open;
    size_t open_count;
    uint64_t written_to; /* all before this address is written */
};

/* Those of a mangled name say nothing. */
static int leading_underscores(const char *name) {
    return name[0] == '_' && name[1] == 'Z' ? 0 : (int)strspn(name, "_");
}

static int rank_binding(unsigned char info) {
    switch (ELF64_ST_BIND(info)) {
    case STB_GLOBAL:
        return 0;
    case STB_WEAK:
        return 1;
    default:
        return 2;
    }
}

static int compare_spelling(const struct pie_raw_symbol *a, const struct pie_raw_symbol *b) {
    int difference = leading_underscores(a->name) - leading_underscores(b->name);
    if (!difference)
        difference = rank_binding(a->info) - rank_binding(b->info);
    return difference ? difference : strcmp(a->name, b->name);
}

/* Of which one or both have their names in the file: one that is here first. */
static int compare_left(const struct pie_raw_symbol *a, const struct pie_raw_symbol *b) {
    if (!a->name != !b->name)
        return a->name ? -1 : 1;
    int difference = rank_binding(a->info) - rank_binding(b->info);
    return difference ? difference : (a->name_offset > b->name_offset) - (a->name_offset < b->name_offset);
}

/* Of two that start at the same place: sized before unsized, functions before plain labels, then as a person would name
 * it. */
static int compare_names(const struct pie_raw_symbol *a, const struct pie_raw_symbol *b) {
    if (!a->size != !b->size)
        return a->size ? -1 : 1;
    bool a_is_label = ELF64_ST_TYPE(a->info) == STT_NOTYPE, b_is_label = ELF64_ST_TYPE(b->info) == STT_NOTYPE;
    if (a_is_label != b_is_label)
        return a_is_label ? 1 : -1;
    return a->name && b->name ? compare_spelling(a, b) : compare_left(a, b);
}

/* Step 1. symbols is sorted by start. Returns the new count. */
static size_t merge_same_start(struct pie_raw_symbol **symbols, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || symbols[kept - 1]->start != symbols[i]->start) {
            symbols[kept++] = symbols[i];
            continue;
        }
        struct pie_raw_symbol *a = symbols[kept - 1], *b = symbols[i];
        uint64_t size = a->size > b->size ? a->size : b->size;
        if (compare_names(b, a) < 0)
            symbols[kept - 1] = b;
        symbols[kept - 1]->size = size;
    }
    return kept;
}

/* Step 2. Returns the new count. */
static size_t extend_unsized(struct pie_raw_symbol **symbols, size_t count) {
    size_t kept = 0;
    uint64_t sized_to = 0; /* end of the farthest sized symbol so far */
    for (size_t i = 0; i < count; i++) {
        struct pie_raw_symbol *symbol = symbols[i];
        if (symbol->size == 0) {
            if (symbol->start < sized_to)
                continue;
            uint64_t end = symbol->limit;
            if (i + 1 < count && symbols[i + 1]->start < end)
                end = symbols[i + 1]->start;
            if (end <= symbol->start)
                continue;
            symbol->size = end - symbol->start;
        } else if (symbol->start + symbol->size > sized_to) {
            sized_to = symbol->start + symbol->size;
        }
        symbols[kept++] = symbol;
    }
    return kept;
}

/* A function interrupted by another has several segments and one name. */
static uint32_t name_offset(struct pie_symbol_table *table, struct pie_raw_symbol *symbol) {
    if (!symbol->has_offset) {
        size_t size = strlen(symbol->name) + 1;
        memcpy(table->names + table->names_size, symbol->name, size);
        symbol->name_offset = (uint32_t)table->names_size;
        symbol->has_offset = true;
        table->names_size += size;
    }
    return symbol->name_offset;
}

static void write_segment(struct sweep *sweep, struct pie_raw_symbol *symbol, uint64_t end) {
    if (end <= sweep->written_to)
        return;
    uint64_t start = symbol->start > sweep->written_to ? symbol->start : sweep->written_to;
    uint64_t size = end - start;
    uint32_t name = name_offset(sweep->table, symbol);
    sweep->table->segments[sweep->table->count++] = (struct pie_symbol_segment){
        .start = start, .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, .name = name};
    sweep->written_to = end;
}

/* Writes what is open up to `address`. */
static void close_until(struct sweep *sweep, uint64_t address) {
    while (sweep->open_count > 0) {
        struct pie_raw_symbol *top = sweep->open[sweep->open_count - 1];
        uint64_t end = top->start + top->size;
        if (end > address) {
            write_segment(sweep, top, address);
            return;
        }
        write_segment(sweep, top, end);
        sweep->open_count--;
    }
}

/* Step 3. The table has room for 2 * count segments: each start and each end writes at most one. */
static void sweep_symbols(struct sweep *sweep, struct pie_raw_symbol **symbols, size_t count) {
    for (size_t i = 0; i < count; i++) {
        close_until(sweep, symbols[i]->start);
        if (sweep->written_to < symbols[i]->start)
            sweep->written_to = symbols[i]->start;
        sweep->open[sweep->open_count++] = symbols[i];
    }
    close_until(sweep, UINT64_MAX);
}

/* Gives back what was reserved but not used. */
static void shrink(struct pie_symbol_table *table) {
    void *segments =
        pie_realloc(table->segments, (table->count ? table->count : 1) * sizeof(*table->segments));
    if (segments)
        table->segments = segments;
    void *names = pie_realloc(table->names, table->names_size ? table->names_size : 1);
    if (names)
        table->names = names;
}

/* The symbols by start, in an array of the caller's; NULL without memory. */
static struct pie_raw_symbol **sort_symbols(const struct pie_symbol_table_builder *builder) {
    struct pie_raw_symbol **sorted = pie_malloc((builder->count + 1) * sizeof(*sorted));
    struct pie_sort_key *keys = pie_malloc((builder->count + 1) * sizeof(*keys));
    if (sorted && keys) {
        pie_populate(keys, builder->count * sizeof(*keys));
        pie_populate(sorted, builder->count * sizeof(*sorted));
        for (size_t i = 0; i < builder->count; i++)
            keys[i] = (struct pie_sort_key){.key = builder->symbols[i].start, .item = &builder->symbols[i]};
        if (pie_sort_keys(keys, builder->count) == 0) {
            for (size_t i = 0; i < builder->count; i++)
                sorted[i] = keys[i].item;
            pie_free(keys);
            return sorted;
        }
    }
    pie_free(keys);
    pie_free(sorted);
    return NULL;
}

static int make_table(struct pie_raw_symbol **symbols, size_t count, struct pie_symbol_table **ret_table) {
    size_t names_bytes = 1; /* an empty one, so that there always is one */
    for (size_t i = 0; i < count; i++)
        names_bytes += symbols[i]->name ? strlen(symbols[i]->name) + 1 : 0;

    struct pie_symbol_table *table = pie_calloc(1, sizeof(*table));
    struct sweep sweep = {.table = table};
    sweep.open = pie_malloc((count + 1) * sizeof(*sweep.open));
    if (table) {
        table->segments = pie_malloc((2 * count + 1) * sizeof(*table->segments));
        table->names = pie_malloc(names_bytes);
    }
    if (!table || !sweep.open || !table->segments || !table->names || names_bytes > UINT32_MAX) {
        pie_free(sweep.open);
        pie_symbol_table_destroy(table);
        return -ENOMEM;
    }
    pie_populate(table->names, names_bytes);
    table->names[0] = '\0';
    table->names_size = 1;
    pie_populate(table->segments, count * sizeof(*table->segments));
    sweep_symbols(&sweep, symbols, count);
    pie_free(sweep.open);
    shrink(table);
    *ret_table = table;
    return 0;
}

int pie_symbol_table_build(struct pie_symbol_table_builder *builder, struct pie_symbol_table **ret_table) {
    struct pie_raw_symbol **symbols = sort_symbols(builder);
    if (!symbols)
        return -ENOMEM;
    size_t count = extend_unsized(symbols, merge_same_start(symbols, builder->count));
    int r = make_table(symbols, count, ret_table);
    pie_free(symbols);
    if (r < 0)
        return r;
    (*ret_table)->left_offset = builder->left_offset;
    (*ret_table)->left_bytes = builder->left_bytes;
    builder->count = 0;
    return 0;
}

void pie_symbol_table_destroy(struct pie_symbol_table *table) {
    if (!table)
        return;
    for (size_t i = 0; i < table->n_places; i++)
        pie_free(table->loaded[i]);
    pie_free(table->loaded);
    pie_free(table->block);
    if (table->mapping)
        munmap(table->mapping, table->mapping_bytes);
    pie_free(table->segments);
    pie_free(table->names);
    pie_free(table);
}

/* The segment of an address, and the names that it is of; NULL: there is none. */
static const struct pie_symbol_segment *find_segment(const struct pie_symbol_table *table, uint64_t address,
                                                     const char **ret_names) {
    const struct pie_symbol_segment *segments = table->segments;
    size_t low = 0, count = table->count;

    if (table->places)
        segments = pie_symbol_table_loaded(table, address, &count);
    if (!segments)
        return NULL;
    *ret_names = table->places ? (const char *)(segments + count) : table->names;
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (segments[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    return address - segments[low - 1].start < segments[low - 1].size ? &segments[low - 1] : NULL;
}

const char *pie_symbol_table_find(const struct pie_symbol_table *table, uint64_t address) {
    const char *names;
    const struct pie_symbol_segment *segment = find_segment(table, address, &names);
    return segment && !(segment->name & PIE_NAME_LEFT) ? names + segment->name : NULL;
}

bool pie_symbol_table_find_left(const struct pie_symbol_table *table, uint64_t address, uint64_t *ret_offset,
                                uint64_t *ret_max_bytes) {
    const char *names;
    const struct pie_symbol_segment *segment = find_segment(table, address, &names);
    if (!segment || !(segment->name & PIE_NAME_LEFT))
        return false;
    uint64_t at = segment->name & ~PIE_NAME_LEFT;
    *ret_offset = table->left_offset + at;
    *ret_max_bytes = table->left_bytes - at;
    return true;
}

bool pie_symbol_table_range(const struct pie_symbol_table *table, uint64_t address, uint64_t *ret_start,
                            uint64_t *ret_end) {
    const char *names;
    const struct pie_symbol_segment *segment = find_segment(table, address, &names);
    if (!segment)
        return false;
    *ret_start = segment->start;
    *ret_end = segment->start + segment->size;
    return true;
}

size_t pie_symbol_table_count(const struct pie_symbol_table *table) {
    return table->count;
}

size_t pie_symbol_table_size_bytes(const struct pie_symbol_table *table) {
    size_t segments = table->places ? 0 : table->count;
    size_t places = table->n_places * (sizeof(*table->places) + sizeof(*table->loaded));
    return sizeof(*table) + segments * sizeof(*table->segments) + table->names_size + places +
           table->loaded_bytes;
}
