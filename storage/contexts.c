/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/contexts.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Two levels over the 32-bit ids. The upper one is reserved address space of which the kernel backs only the parts
 * that are written. */
enum { PAGE_BITS = 12, PAGE_ENTRIES = 1 << PAGE_BITS, PAGES = 1 << (32 - PAGE_BITS) };

struct table {
    void **pages;
    size_t entry_size;
    size_t used; /* pages beyond this index have never been touched */
};

struct pie_contexts {
    struct table locations; /* unsigned char: flags */
    struct table nodes;     /* struct pie_context_node */
};

static int table_init(struct table *table, size_t entry_size) {
    void *pages = mmap(NULL, PAGES * sizeof(void *), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return -ENOMEM;
    *table = (struct table){.pages = pages, .entry_size = entry_size};
    return 0;
}

static void *table_get(const struct table *table, uint32_t id) {
    char *page = table->pages[id >> PAGE_BITS];
    return page ? page + (id & (PAGE_ENTRIES - 1)) * table->entry_size : NULL;
}

static void *table_make(struct table *table, uint32_t id) {
    void **page = &table->pages[id >> PAGE_BITS];
    if (!*page)
        *page = calloc(PAGE_ENTRIES, table->entry_size);
    if ((id >> PAGE_BITS) >= table->used)
        table->used = (id >> PAGE_BITS) + 1;
    return table_get(table, id);
}

static void table_finish(struct table *table) {
    if (!table->pages)
        return;
    for (size_t i = 0; i < table->used; i++)
        free(table->pages[i]);
    munmap(table->pages, PAGES * sizeof(void *));
}

int pie_contexts_create(struct pie_contexts **ret_contexts) {
    struct pie_contexts *contexts = calloc(1, sizeof *contexts);
    if (!contexts)
        return -ENOMEM;
    if (table_init(&contexts->locations, 1) < 0 ||
        table_init(&contexts->nodes, sizeof(struct pie_context_node)) < 0) {
        pie_contexts_destroy(contexts);
        return -ENOMEM;
    }
    *ret_contexts = contexts;
    return 0;
}

void pie_contexts_destroy(struct pie_contexts *contexts) {
    if (!contexts)
        return;
    table_finish(&contexts->locations);
    table_finish(&contexts->nodes);
    free(contexts);
}

int pie_contexts_set_location(struct pie_contexts *contexts, uint32_t location, unsigned flags) {
    unsigned char *entry = table_make(&contexts->locations, location);
    if (!entry)
        return -ENOMEM;
    *entry = (unsigned char)flags;
    return 0;
}

int pie_contexts_add_node(struct pie_contexts *contexts, uint32_t node, uint32_t parent, uint32_t location,
                          struct pie_context_node *ret_node) {
    struct pie_context_node *entry = table_make(&contexts->nodes, node);
    if (!entry)
        return -ENOMEM;
    const struct pie_context_node *above = parent ? table_get(&contexts->nodes, parent) : NULL;
    const unsigned char *flags = table_get(&contexts->locations, location);
    struct pie_context_node found = above ? *above : (struct pie_context_node){0};
    bool is_in_own = found.line_location == found.own_location;
    if (flags && (*flags & PIE_CONTEXT_PYTHON))
        found.line_location = location;
    if (flags && (*flags & PIE_CONTEXT_OWN) && (is_in_own || !(*flags & PIE_CONTEXT_TEXT)))
        found.own_location = location;
    *entry = found;
    *ret_node = found;
    return 0;
}
