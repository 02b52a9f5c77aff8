/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/symbols/module_symbols.h"
#include "profiler/base/own_memory.h"
#include "profiler/symbols/loaded_symbols.h"
#include "profiler/symbols/symbol_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES_MAX = 100 };

static bool is_passing(int error) {
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -EAGAIN;
}

static int add_images(struct pie_symbol_table_builder *builder, const struct pie_module_files *files) {
    const struct pie_elf_image *const images[] = {&files->own, &files->separate, &files->mini};
    pie_symbol_table_leave_names(builder, files->own.elf, files->own.left_offset, files->own.left_bytes);
    for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
        int r = images[i]->elf ? pie_symbol_table_add_elf(builder, images[i]->elf) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* From the files where they could be read, else from the module's memory. */
static int build_table(const struct pie_module_entry *entry, const struct pie_module_files *files,
                       struct pie_symbol_table **ret_table) {
    struct pie_symbol_table_builder *builder;
    char *dynamic_names = NULL, *chosen_names = NULL;
    int r = pie_symbol_table_builder_create(&builder);
    if (r < 0)
        return r;
    if (files->own_error == 0)
        r = add_images(builder, files);
    else if (files->own_error != -EFBIG)
        r = pie_loaded_symbols_add_dynamic(entry, builder, &dynamic_names);
    if (r == 0)
        r = pie_loaded_symbols_add_chosen(entry, builder, &chosen_names);
    if (r == 0 || r == -ENOENT)
        r = pie_symbol_table_build(builder, ret_table);
    pie_symbol_table_builder_destroy(builder);
    pie_free(dynamic_names);
    pie_free(chosen_names);
    return r;
}

static void take_dwarf(struct pie_module_symbols *symbols, struct pie_module_files *files,
                       struct pie_symbolizer_counters *counters) {
    int r = files->dwarf_error;
    if (r == 0)
        r = pie_dwarf_open(&files->dwarf, &files->alternate, &symbols->dwarf);
    if (r < 0 && r != -ENOENT)
        counters->refused_debug_info++;
}

static void count_failure(const struct pie_module_entry *entry, int error,
                          struct pie_symbolizer_counters *counters) {
    if (error == -EFBIG)
        counters->refused_symbols++;
    else if (entry->open_path) /* the vdso has no file to be missed */
        counters->unreadable_modules++;
}

/* Of an earlier run. One that is not to be read from its file for its size is not read from there either. */
static struct pie_symbol_table *kept_table(const struct pie_module_entry *entry,
                                           const struct pie_module_files_limits *limits) {
    return limits->symbol_bytes ? pie_symbol_cache_get(entry, limits->dwarf_bytes > 0) : NULL;
}

bool pie_module_symbols_reach(struct pie_module_symbols *symbols, uint64_t vaddr) {
    if (!symbols->table || pie_symbol_table_reach(symbols->table, vaddr) != -EBADMSG)
        return true;
    pie_symbol_table_destroy(symbols->table);
    symbols->table = NULL;
    symbols->is_complete = false;
    symbols->has_bad_cache = true;
    return false;
}

void pie_module_symbols_load(struct pie_module_symbols *symbols, const struct pie_module_entry *entry,
                             uint64_t vaddr, const struct pie_module_files_limits *limits,
                             struct pie_symbolizer_counters *counters) {
    if (symbols->is_complete)
        return;
    if (symbols->tries == 0 && !symbols->has_bad_cache)
        symbols->table = kept_table(entry, limits);
    if (symbols->table && symbols->tries == 0 && pie_module_symbols_reach(symbols, vaddr)) {
        symbols->is_complete = true;
        return;
    }
    struct pie_module_files files;
    pie_module_files_read(entry, limits, &files);
    symbols->tries++;
    symbols->is_complete = !is_passing(files.own_error) || symbols->tries == TRIES_MAX;
    if (symbols->is_complete && files.own_error < 0)
        count_failure(entry, files.own_error, counters);
    /* Once there is a table from memory only the file makes a better one. */
    struct pie_symbol_table *table = NULL;
    if ((files.own_error == 0 || !symbols->table) && build_table(entry, &files, &table) == 0) {
        pie_symbol_table_destroy(symbols->table);
        symbols->table = table;
        if (files.own_error == 0 && files.dwarf_error == -ENOENT)
            pie_symbol_cache_put(entry, files.link, limits->dwarf_bytes > 0, table);
    }
    if (files.own_error == 0)
        take_dwarf(symbols, &files, counters);
    pie_module_files_finish(&files);
}

const char *pie_module_symbols_name(const struct pie_module_symbols *symbols,
                                    const struct pie_module_entry *entry, uint64_t vaddr,
                                    char text[PIE_SYMBOL_NAME_BYTES]) {
    uint64_t offset, max_bytes;
    if (!symbols->table)
        return NULL;
    if (!pie_symbol_table_find_left(symbols->table, vaddr, &offset, &max_bytes))
        return pie_symbol_table_find(symbols->table, vaddr);
    bool done = pie_module_files_read_text(entry, offset, max_bytes, text, PIE_SYMBOL_NAME_BYTES);
    return done && *text ? text : NULL;
}

void pie_module_symbols_finish(struct pie_module_symbols *symbols) {
    pie_symbol_table_destroy(symbols->table);
    pie_dwarf_close(symbols->dwarf);
    *symbols = (struct pie_module_symbols){0};
}
