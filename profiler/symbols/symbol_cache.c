/* SPDX-License-Identifier: Apache-2.0 */

/* A file is written under another name and then renamed, so a reader finds all of it or nothing, however many write. It
 * has a check over all of its bytes; one that is cut, damaged or of another version is not used, and is replaced. It is
 * read, not mapped: a file that shrinks does no harm.
 *
 * A build-id stands for a file's contents, so only its separate debug files are looked at again: those may be
 * installed later. So are glibc's choices for this processor: the folder may be used by several machines. */

#include "profiler/symbols/symbol_cache.h"

#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/symbols/loaded_symbols.h"
#include "profiler/symbols/module_files.h"
#include "profiler/symbols/symbol_cache_folder.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Another one for each change of the format. Characters: newer GCCs warn of a string that loses its end. */
static const char MAGIC[] = {'p', 'i', 'e', '-', 's', 'y', 'm', '3'};

enum {
    SYMBOLS_MIN = 256, /* fewer are read as fast from the module */
    BUILD_ID_MIN = 16, /* digits: shorter ones may be the same by chance */
};
static const uint64_t FILE_BYTES_MAX = 16 << 20;

struct header {
    char magic[sizeof MAGIC];
    uint64_t check;    /* of all that follows */
    uint64_t separate; /* pie_module_files_separate() */
    uint64_t chosen;   /* pie_loaded_symbols_mark_chosen() */
    uint64_t has_no_dwarf;
    char link[PIE_MODULE_LINK_BYTES];
};
static_assert(sizeof(struct header) % sizeof(uint64_t) == 0, "whole words");

/* Set before the collection thread starts; the same in a forked child. */
static char folder[PATH_MAX];

void pie_symbol_cache_set(const char *wanted) {
    if (snprintf(folder, sizeof folder, "%s", wanted) >= (int)sizeof folder)
        folder[0] = '\0';
}

void pie_symbol_cache_begin(void) {
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    char path[PATH_MAX] = "";
    int n = 0;

    if (cache && cache[0] == '/')
        n = snprintf(path, sizeof path, "%s", cache);
    else if (home && home[0] == '/')
        n = snprintf(path, sizeof path, "%s/.cache", home);
    pie_symbol_cache_set(n > 0 && n < (int)sizeof path ? path : "");
}

static bool file_name(const struct pie_module_entry *entry, char name[NAME_MAX + 1]) {
    size_t digits = entry->build_id ? strlen(entry->build_id) : 0;

    return digits >= BUILD_ID_MIN && digits % 2 == 0 &&
           strspn(entry->build_id, "0123456789abcdef") == digits &&
           snprintf(name, NAME_MAX + 1, "%s", entry->build_id) <= NAME_MAX;
}

static uint64_t word_at(const char *bytes, size_t left) {
    uint64_t word = 0;

    memcpy(&word, bytes, left < sizeof word ? left : sizeof word);
    return word;
}

/* In lanes: one step of a hash waits for the one before, and a table of the executable has 100,000 words. */
static uint64_t check_of(const char *bytes, size_t size) {
    enum { LANES = 4 };
    uint64_t hashes[LANES] = {size, 1, 2, 3};
    size_t at = offsetof(struct header, separate);

    for (; at + LANES * sizeof hashes[0] <= size; at += LANES * sizeof hashes[0])
        for (size_t lane = 0; lane < LANES; lane++)
            hashes[lane] =
                pie_hash_mix(hashes[lane], word_at(bytes + at + lane * sizeof hashes[0], sizeof hashes[0]));
    for (size_t lane = 1; lane < LANES; lane++)
        hashes[0] = pie_hash_mix(hashes[0], hashes[lane]);
    for (; at < size; at += sizeof hashes[0])
        hashes[0] = pie_hash_mix(hashes[0], word_at(bytes + at, size - at));
    return hashes[0];
}

/* The table takes bytes. NULL: there is none, and bytes stay the caller's. */
static struct pie_symbol_table *table_of(const struct pie_module_entry *entry, bool wants_dwarf, char *bytes,
                                         size_t size) {
    struct pie_symbol_table *table = NULL;
    struct header header;

    if (size < sizeof header)
        return NULL;
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof MAGIC) != 0 || header.check != check_of(bytes, size) ||
        header.link[sizeof header.link - 1] != '\0' || (wants_dwarf && !header.has_no_dwarf) ||
        header.separate != pie_module_files_separate(entry, header.link) ||
        header.chosen != pie_loaded_symbols_mark_chosen(entry))
        return NULL;
    return pie_symbol_table_unpack(bytes, sizeof header, size - sizeof header, &table) == 0 ? table : NULL;
}

struct pie_symbol_table *pie_symbol_cache_get(const struct pie_module_entry *entry, bool wants_dwarf) {
    struct pie_symbol_table *table = NULL;
    char name[NAME_MAX + 1];
    size_t size;

    if (!folder[0] || !file_name(entry, name))
        return NULL;
    char *bytes = pie_symbol_cache_read(folder, name, FILE_BYTES_MAX, &size);
    if (bytes)
        table = table_of(entry, wants_dwarf, bytes, size);
    if (!table)
        pie_free(bytes);
    return table;
}

void pie_symbol_cache_put(const struct pie_module_entry *entry, const char *link, bool has_no_dwarf,
                          const struct pie_symbol_table *table) {
    struct header header = {.has_no_dwarf = has_no_dwarf};
    size_t size = sizeof header + pie_symbol_table_packed_bytes(table);
    char name[NAME_MAX + 1];

    if (!folder[0] || !file_name(entry, name) || pie_symbol_table_count(table) < SYMBOLS_MIN ||
        size > FILE_BYTES_MAX || strlen(link) >= sizeof header.link)
        return;
    char *bytes = pie_malloc(size);
    if (!bytes)
        return;
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    memcpy(header.link, link, strlen(link));
    header.separate = pie_module_files_separate(entry, link);
    header.chosen = pie_loaded_symbols_mark_chosen(entry);
    memcpy(bytes, &header, sizeof header);
    pie_symbol_table_pack(table, bytes + sizeof header);
    uint64_t check = check_of(bytes, size);
    memcpy(bytes + offsetof(struct header, check), &check, sizeof check);
    pie_symbol_cache_write(folder, name, bytes, size);
    pie_free(bytes);
}
