/* SPDX-License-Identifier: Apache-2.0 */

/* The dynamic linker counts loads and unloads (dlpi_adds, dlpi_subs in dl_iterate_phdr(3)), so that nothing
 * needs to be compared while both stand still. A module that is found again at the same base, under the same
 * path and with the same program headers is the same module if nothing was unloaded meanwhile; else the
 * build-id decides, or, where a file has none, its inode and time of change.
 *
 * Modules that are gone stay in the list for the addresses seen before; programs that load thousands of
 * generated libraries lose the oldest of them. */

#include "profiler/symbols/modules.h"
#include "profiler/code/modules.h"
#include "profiler/symbols/modules_scan.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { UNLOADED_MAX = 1024 };

struct range {
    uintptr_t start, end;
    struct pie_module_entry *entry;
};

struct pie_modules {
    void (*forget)(struct pie_module_entry *entry);
    struct pie_module_entry **entries; /* in the order of their serials */
    size_t count, capacity;
    struct range *ranges; /* segments of what is loaded, by start */
    size_t range_count;
    unsigned long long loads, unloads;
    uint64_t serial;
};

int pie_modules_create(void (*forget)(struct pie_module_entry *entry), struct pie_modules **ret_modules) {
    struct pie_modules *modules = calloc(1, sizeof(*modules));
    if (!modules)
        return -ENOMEM;
    modules->forget = forget;
    *ret_modules = modules;
    return 0;
}

static void drop_entry(struct pie_modules *modules, struct pie_module_entry *entry) {
    modules->forget(entry);
    pie_module_entry_finish(entry);
    free(entry);
}

void pie_modules_destroy(struct pie_modules *modules) {
    if (!modules)
        return;
    for (size_t i = 0; i < modules->count; i++)
        drop_entry(modules, modules->entries[i]);
    free(modules->entries);
    free(modules->ranges);
    free(modules);
}

static bool is_same_file(const struct pie_module_entry *a, const struct pie_module_entry *b) {
    if (a->build_id && b->build_id)
        return strcmp(a->build_id, b->build_id) == 0;
    return !a->build_id && !b->build_id && a->device == b->device && a->inode == b->inode &&
           a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec == b->modified.tv_nsec;
}

static bool has_same_headers(const struct pie_module_entry *known, const struct pie_module_entry *found) {
    return known->base == found->base && known->phdr_count == found->phdr_count &&
           memcmp(known->phdrs, found->phdrs, found->phdr_count * sizeof(*found->phdrs)) == 0;
}

/* What has no path was known to the scan. */
static bool is_same_module(const struct pie_module_entry *known, const struct pie_module_entry *found) {
    if (!has_same_headers(known, found))
        return false;
    return found->path ? strcmp(known->path, found->path) == 0 && is_same_file(known, found)
                       : known->was_loaded;
}

/* Where nothing was unloaded, what lies where a module lay is that module. The list mostly has the linker's
 * order. */
static bool is_still_there(const void *data, const struct pie_modules_scan *scan,
                           const struct pie_module_entry *found) {
    const struct pie_modules *modules = data;
    size_t same = (size_t)(found - scan->found);

    if (scan->has_unloads)
        return false;
    if (same < modules->count && modules->entries[same]->is_loaded &&
        has_same_headers(modules->entries[same], found))
        return true;
    for (size_t i = 0; i < modules->count; i++)
        if (modules->entries[i]->is_loaded && has_same_headers(modules->entries[i], found))
            return true;
    return false;
}

static int append_entry(struct pie_modules *modules, struct pie_module_entry *entry) {
    if (modules->count == modules->capacity) {
        size_t capacity = modules->capacity ? modules->capacity * 2 : 64;
        struct pie_module_entry **entries = realloc(modules->entries, capacity * sizeof(*entries));
        if (!entries)
            return -ENOMEM;
        modules->entries = entries;
        modules->capacity = capacity;
    }
    modules->entries[modules->count++] = entry;
    return 0;
}

/* Marks one found module as loaded: the known one that it is, else a new one, which takes it over. */
static int note_loaded(struct pie_modules *modules, struct pie_module_entry *found, size_t known_count) {
    for (size_t i = 0; i < known_count; i++) {
        struct pie_module_entry *known = modules->entries[i];
        if (known->is_loaded || !is_same_module(known, found))
            continue;
        known->is_loaded = true;
        if (!known->was_loaded)
            known->serial = ++modules->serial;
        return 0;
    }
    struct pie_module_entry *entry = malloc(sizeof(*entry));
    if (!entry)
        return -ENOMEM;
    *entry = *found;
    entry->is_loaded = true;
    entry->serial = ++modules->serial;
    int r = append_entry(modules, entry);
    if (r < 0) {
        free(entry);
        return r;
    }
    *found = (struct pie_module_entry){0};
    return 0;
}

static int compare_serials(const void *left, const void *right) {
    const struct pie_module_entry *a = *(struct pie_module_entry *const *)left;
    const struct pie_module_entry *b = *(struct pie_module_entry *const *)right;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static void drop_oldest_unloaded(struct pie_modules *modules) {
    if (modules->count > 1)
        qsort(modules->entries, modules->count, sizeof(*modules->entries), compare_serials);
    size_t unloaded = 0, kept = 0;
    for (size_t i = 0; i < modules->count; i++)
        unloaded += !modules->entries[i]->is_loaded;
    for (size_t i = 0; i < modules->count; i++) {
        struct pie_module_entry *entry = modules->entries[i];
        if (!entry->is_loaded && unloaded > UNLOADED_MAX) {
            unloaded--;
            drop_entry(modules, entry);
            continue;
        }
        modules->entries[kept++] = entry;
    }
    modules->count = kept;
}

static int compare_ranges(const void *left, const void *right) {
    const struct range *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static int rebuild_ranges(struct pie_modules *modules) {
    size_t count = 0;
    for (size_t i = 0; i < modules->count; i++)
        count += modules->entries[i]->is_loaded ? modules->entries[i]->phdr_count : 0;
    struct range *ranges = malloc((count + 1) * sizeof(*ranges));
    if (!ranges)
        return -ENOMEM;
    count = 0;
    for (size_t i = 0; i < modules->count; i++) {
        struct pie_module_entry *entry = modules->entries[i];
        for (size_t j = 0; entry->is_loaded && j < entry->phdr_count; j++) {
            const Elf64_Phdr *phdr = &entry->phdrs[j];
            uintptr_t start = entry->base + phdr->p_vaddr;
            if (phdr->p_type == PT_LOAD && phdr->p_memsz > 0)
                ranges[count++] =
                    (struct range){.start = start, .end = start + phdr->p_memsz, .entry = entry};
        }
    }
    if (count > 1)
        qsort(ranges, count, sizeof(*ranges), compare_ranges);
    free(modules->ranges);
    modules->ranges = ranges;
    modules->range_count = count;
    return 0;
}

static int merge_scan(struct pie_modules *modules, struct pie_modules_scan *scan) {
    size_t known_count = modules->count;
    int r = 0;
    for (size_t i = 0; i < known_count; i++) {
        modules->entries[i]->was_loaded = modules->entries[i]->is_loaded;
        modules->entries[i]->is_loaded = false;
    }
    for (size_t i = 0; i < scan->count && r == 0; i++)
        r = note_loaded(modules, &scan->found[i], known_count);
    modules->range_count = 0; /* it may point to what is dropped now */
    drop_oldest_unloaded(modules);
    int ranges_error = rebuild_ranges(modules);
    return r < 0 ? r : ranges_error;
}

int pie_modules_refresh(struct pie_modules *modules) {
    struct pie_modules_scan scan = {
        .loads = modules->loads, .unloads = modules->unloads, .is_known = is_still_there, .data = modules};
    int r = pie_modules_scan(&scan);
    if (r < 0 || scan.is_unchanged)
        return r;
    r = merge_scan(modules, &scan);
    /* After a failure the next refresh tries again. */
    modules->loads = r < 0 ? 0 : scan.loads;
    modules->unloads = scan.unloads;
    pie_modules_scan_finish(&scan);
    return r < 0 ? r : 1;
}

static bool covers(const struct pie_module_entry *entry, uintptr_t address) {
    for (size_t i = 0; i < entry->phdr_count; i++) {
        const Elf64_Phdr *phdr = &entry->phdrs[i];
        if (phdr->p_type == PT_LOAD && address - (entry->base + phdr->p_vaddr) < phdr->p_memsz)
            return true;
    }
    return false;
}

struct pie_module_entry *pie_modules_find(struct pie_modules *modules, uintptr_t address) {
    size_t low = 0, high = modules->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (modules->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && address < modules->ranges[low - 1].end)
        return modules->ranges[low - 1].entry;
    for (size_t i = modules->count; i-- > 0;)
        if (!modules->entries[i]->is_loaded && covers(modules->entries[i], address))
            return modules->entries[i];
    return NULL;
}

static bool has_build_id(const struct pie_module_entry *entry, const struct pie_code_module *known) {
    static const char digits[] = "0123456789abcdef";
    const char *text = entry->build_id ? entry->build_id : "";

    for (unsigned i = 0; i < known->build_id_bytes; i++)
        if (text[2 * i] != digits[known->build_id[i] >> 4] ||
            text[2 * i + 1] != digits[known->build_id[i] & 15])
            return false;
    return text[(size_t)2 * known->build_id_bytes] == '\0';
}

static bool is_known(const struct pie_module_entry *entry, const struct pie_code_module *known) {
    return entry->base == known->base && entry->phdr_count == known->phdr_count &&
           memcmp(entry->phdrs, known->phdrs, known->phdr_count * sizeof *known->phdrs) == 0 &&
           has_build_id(entry, known) && (known->path[0] != '/' || strcmp(entry->path, known->path) == 0);
}

static struct pie_module_entry *add_known(struct pie_modules *modules, const struct pie_code_module *known) {
    struct pie_module_entry *entry = calloc(1, sizeof(*entry));

    if (!entry || pie_modules_scan_known(known, entry) < 0 || append_entry(modules, entry) < 0) {
        if (entry)
            pie_module_entry_finish(entry);
        free(entry);
        return NULL;
    }
    entry->serial = ++modules->serial;
    return entry;
}

struct pie_module_entry *pie_modules_find_known(struct pie_modules *modules,
                                                const struct pie_code_module *known) {
    struct pie_module_entry *found = NULL;

    for (size_t i = modules->count; i-- > 0 && !(found && found->is_loaded);)
        if (is_known(modules->entries[i], known) && (!found || modules->entries[i]->is_loaded))
            found = modules->entries[i];
    return found ? found : add_known(modules, known);
}

struct hold {
    const struct pie_module_entry *entry;
    int (*visit)(const struct pie_module_entry *entry, void *data);
    void *data;
    int result;
};

static int visit_held(struct dl_phdr_info *info, size_t size, void *data) {
    struct hold *hold = data;
    if (info->dlpi_addr != hold->entry->base || info->dlpi_phnum != hold->entry->phdr_count ||
        memcmp(info->dlpi_phdr, hold->entry->phdrs, info->dlpi_phnum * sizeof(*hold->entry->phdrs)) != 0)
        return 0;
    hold->result = hold->visit(hold->entry, hold->data);
    return 1;
}

int pie_modules_with_loaded(const struct pie_module_entry *entry,
                            int (*visit)(const struct pie_module_entry *entry, void *data), void *data) {
    struct hold hold = {.entry = entry, .visit = visit, .data = data, .result = -ENOENT};
    if (entry->is_loaded)
        dl_iterate_phdr(visit_held, &hold);
    return hold.result;
}

void pie_modules_each(const struct pie_modules *modules,
                      void (*visit)(const struct pie_module_entry *entry, void *data), void *data) {
    for (size_t i = 0; i < modules->count; i++)
        visit(modules->entries[i], data);
}
