/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/contexts.h"
#include "profiler/memory.h"

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

struct location {
    unsigned flags;
    uint32_t library_module;
    uint32_t function; /* of the machine code: for inlined code the one that it was inlined into */
    uint32_t line;     /* first location of the same line */
};

struct pie_contexts {
    struct table locations; /* struct location */
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
        *page = pie_calloc(PAGE_ENTRIES, table->entry_size);
    if ((id >> PAGE_BITS) >= table->used)
        table->used = (id >> PAGE_BITS) + 1;
    return table_get(table, id);
}

static void table_finish(struct table *table) {
    if (!table->pages)
        return;
    for (size_t i = 0; i < table->used; i++)
        pie_free(table->pages[i]);
    munmap(table->pages, PAGES * sizeof(void *));
}

int pie_contexts_create(struct pie_contexts **ret_contexts) {
    struct pie_contexts *contexts = pie_calloc(1, sizeof *contexts);
    if (!contexts)
        return -ENOMEM;
    if (table_init(&contexts->locations, sizeof(struct location)) < 0 ||
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
    pie_free(contexts);
}

int pie_contexts_set_location(struct pie_contexts *contexts, uint32_t id,
                              const struct pie_context_location *location) {
    struct location *entry = table_make(&contexts->locations, id);
    if (!entry)
        return -ENOMEM;
    const struct location *caller =
        location->caller ? table_get(&contexts->locations, location->caller) : NULL;
    *entry = (struct location){
        .flags = location->flags,
        .library_module = location->library_module,
        .function = caller ? caller->function : location->function,
        .line = location->line,
    };
    return 0;
}

/* Code made from a string belongs to who runs it. */
static bool is_own(const struct location *location, const struct pie_context_node *above) {
    if (!(location->flags & PIE_CONTEXT_OWN))
        return false;
    return !(location->flags & PIE_CONTEXT_TEXT) || above->line_location == above->own_location;
}

int pie_contexts_add_node(struct pie_contexts *contexts, uint32_t node, uint32_t parent, uint32_t location,
                          struct pie_context_node *ret_node) {
    struct pie_context_node *entry = table_make(&contexts->nodes, node);
    if (!entry)
        return -ENOMEM;
    const struct pie_context_node *above = parent ? table_get(&contexts->nodes, parent) : NULL;
    const struct location *found = table_get(&contexts->locations, location);
    struct pie_context_node places = above ? *above : (struct pie_context_node){0};
    bool is_python = found && (found->flags & PIE_CONTEXT_PYTHON);
    if (is_python)
        places.own_depth++;
    if (found && is_own(found, &places)) {
        places.own_location = location;
        places.own_depth = 0;
    }
    if (is_python) {
        places.line_location = location;
        places.library_module = 0;
        places.entry_function = 0;
    }
    if (found && (found->flags & PIE_CONTEXT_FOREIGN) && places.entry_function == 0)
        places.entry_function = found->function;
    if (found && found->library_module != 0)
        places.library_module = found->library_module;
    *entry = places;
    *ret_node = places;
    return 0;
}

uint32_t pie_contexts_get_line(const struct pie_contexts *contexts, uint32_t location) {
    const struct location *found = location ? table_get(&contexts->locations, location) : NULL;
    return found ? found->line : 0;
}

struct pie_context_node pie_contexts_get_node(const struct pie_contexts *contexts, uint32_t node) {
    const struct pie_context_node *found = table_get(&contexts->nodes, node);
    return found ? *found : (struct pie_context_node){0};
}
