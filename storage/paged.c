/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/paged.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "profiler/memory.h"

enum { PAGE_BITS = 12, PAGE_ENTRIES = 1 << PAGE_BITS, PAGES = 1 << (32 - PAGE_BITS) };

int pie_paged_init(struct pie_paged *paged, size_t entry_size) {
    void *pages = mmap(NULL, PAGES * sizeof(void *), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (pages == MAP_FAILED)
        return -ENOMEM;
    *paged = (struct pie_paged){.pages = pages, .entry_size = entry_size};
    return 0;
}

void *pie_paged_get(const struct pie_paged *paged, uint32_t id) {
    char *page = paged->pages[id >> PAGE_BITS];

    return page ? page + (id & (PAGE_ENTRIES - 1)) * paged->entry_size : NULL;
}

void *pie_paged_make(struct pie_paged *paged, uint32_t id) {
    void **page = &paged->pages[id >> PAGE_BITS];

    if (!*page)
        *page = pie_calloc(PAGE_ENTRIES, paged->entry_size);
    if ((id >> PAGE_BITS) >= paged->used)
        paged->used = (id >> PAGE_BITS) + 1;
    return pie_paged_get(paged, id);
}

void pie_paged_each(const struct pie_paged *paged, void (*see)(void *data, uint32_t id, void *entry),
                    void *data) {
    for (size_t page = 0; page < paged->used; page++)
        for (size_t i = 0; paged->pages[page] && i < PAGE_ENTRIES; i++)
            see(data, (uint32_t)(page << PAGE_BITS | i), (char *)paged->pages[page] + i * paged->entry_size);
}

void pie_paged_forget(struct pie_paged *paged, bool (*keeps)(void *data, uint32_t id), void *data,
                      void (*drop)(void *entry)) {
    for (size_t page = 0; page < paged->used; page++) {
        char *entry = paged->pages[page];
        size_t kept = 0;
        for (size_t i = 0; entry && i < PAGE_ENTRIES; i++, entry += paged->entry_size) {
            if (keeps(data, (uint32_t)(page << PAGE_BITS | i))) {
                kept++;
                continue;
            }
            if (drop)
                drop(entry);
            memset(entry, 0, paged->entry_size);
        }
        if (kept > 0)
            continue;
        pie_free(paged->pages[page]);
        paged->pages[page] = NULL;
    }
}

static bool keeps_nothing(void *unused, uint32_t id) {
    return false;
}

void pie_paged_finish(struct pie_paged *paged, void (*drop)(void *entry)) {
    if (!paged->pages)
        return;
    pie_paged_forget(paged, keeps_nothing, NULL, drop);
    munmap(paged->pages, PAGES * sizeof(void *));
    paged->pages = NULL;
}
