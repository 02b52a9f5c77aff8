/* SPDX-License-Identifier: Apache-2.0 */

/* A file is written under another name and then renamed, so a reader finds all of it or nothing, however many write. It
 * has a check over its head, and one over each block of symbols (symbol_table_pack.c): one that is cut, damaged or of
 * another version is not used, and is replaced. It is mapped, since most of it is never looked at, and read with safe
 * loads: a file that shrinks does no harm.
 *
 * A build-id stands for a file's contents, so only its separate debug files are looked at again: those may be
 * installed later. So are glibc's choices for this processor: the folder may be used by several machines. */

#include "profiler/symbols/symbol_cache.h"

#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/safe_load.h"
#include "profiler/symbols/loaded_symbols.h"
#include "profiler/symbols/module_files.h"
#include "profiler/symbols/symbol_cache_folder.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Another one for each change of the format. Characters: newer GCCs warn of a string that loses its end. */
static const char MAGIC[] = {'p', 'i', 'e', '-', 's', 'y', 'm', '4'};

enum {
    SYMBOLS_MIN = 256, /* fewer are read as fast from the module */
    BUILD_ID_MIN = 16, /* digits: shorter ones may be the same by chance */
};
static const uint64_t FILE_BYTES_MAX = 16 << 20;

struct header {
    char magic[sizeof MAGIC];
    uint64_t check;    /* of all that follows, but for blocks of symbols */
    uint64_t head;     /* bytes before these blocks */
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

static uint64_t check_of(const char *head, size_t size) {
    size_t from = offsetof(struct header, head);

    return pie_hash_words(0, head + from, size - from);
}

/* The head, to be freed; NULL: it is none of this format and of this module as it is now. */
static char *head_of(const struct pie_module_entry *entry, bool wants_dwarf, const char *mapping, size_t size,
                     size_t *ret_bytes) {
    struct header header;

    if (size < sizeof header || !pie_safe_copy(&header, mapping, sizeof header) ||
        memcmp(header.magic, MAGIC, sizeof MAGIC) != 0 || header.head < sizeof header || header.head > size ||
        header.head % sizeof(uint64_t) != 0)
        return NULL;
    char *head = pie_malloc(header.head);
    if (!head)
        return NULL;
    *ret_bytes = header.head;
    if (pie_safe_copy(head, mapping, header.head)) {
        memcpy(&header, head, sizeof header);
        if (header.head == *ret_bytes && header.check == check_of(head, header.head) &&
            header.link[sizeof header.link - 1] == '\0' && (!wants_dwarf || header.has_no_dwarf) &&
            header.separate == pie_module_files_separate(entry, header.link) &&
            header.chosen == pie_loaded_symbols_mark_chosen(entry))
            return head;
    }
    pie_free(head);
    return NULL;
}

struct pie_symbol_table *pie_symbol_cache_get(const struct pie_module_entry *entry, bool wants_dwarf) {
    struct pie_symbol_table *table = NULL;
    char name[NAME_MAX + 1];
    size_t size, head_bytes;

    if (!folder[0] || !file_name(entry, name))
        return NULL;
    char *mapping = pie_symbol_cache_map(folder, name, FILE_BYTES_MAX, &size);
    if (!mapping)
        return NULL;
    char *head = head_of(entry, wants_dwarf, mapping, size, &head_bytes);
    if (head && pie_symbol_table_unpack(head, sizeof(struct header), head_bytes - sizeof(struct header),
                                        mapping + head_bytes, size - head_bytes, &table) == 0) {
        pie_symbol_table_take_mapping(table, mapping, size);
        return table;
    }
    pie_free(head);
    munmap(mapping, size);
    return NULL;
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
    header.head = sizeof header + pie_symbol_table_head_bytes(table);
    header.separate = pie_module_files_separate(entry, link);
    header.chosen = pie_loaded_symbols_mark_chosen(entry);
    memcpy(bytes, &header, sizeof header);
    pie_symbol_table_pack(table, bytes + sizeof header);
    uint64_t check = check_of(bytes, header.head);
    memcpy(bytes + offsetof(struct header, check), &check, sizeof check);
    pie_symbol_cache_write(folder, name, bytes, size);
    pie_free(bytes);
}
