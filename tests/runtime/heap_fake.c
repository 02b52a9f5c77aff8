/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runtime/heap_fake.h"

#include "profiler/code/modules.h"

#include <errno.h>

__thread struct pie_heap_thread *pie_heap_self __attribute__((tls_model("initial-exec")));
__thread int64_t pie_copy_left __attribute__((tls_model("initial-exec")));
_Atomic uint8_t pie_heap_filter[PIE_HEAP_FILTER_BYTES];
_Atomic uint64_t pie_copy_ends_bytes = UINT64_MAX;

struct heap_fake_note heap_fake_notes[HEAP_FAKE_NOTES];
size_t heap_fake_count;
uint64_t heap_fake_copies, heap_fake_copied_bytes, heap_fake_shifts;
const void *heap_fake_copy_caller;
int64_t heap_fake_copy_distance = INT64_MAX;

void heap_fake_begin(struct pie_heap_thread *heap, bool is_slow) {
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        heap->counts[i] = (struct pie_heap_count){.allocated_limit = is_slow ? 0 : UINT64_MAX,
                                                  .freed_limit = is_slow ? 0 : UINT64_MAX};
    pie_heap_self = heap;
}

void heap_fake_end(void) {
    pie_heap_self = NULL;
}

void heap_fake_forget(void) {
    heap_fake_count = 0;
}

void heap_fake_track_all(bool are_tracked) {
    for (size_t i = 0; i < sizeof pie_heap_filter / sizeof *pie_heap_filter; i++)
        pie_heap_filter[i] = are_tracked ? UINT8_MAX : 0;
}

int64_t heap_fake_live(const struct pie_heap_thread *heap) {
    int64_t live = 0;

    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        live += (int64_t)(heap->counts[i].allocated_bytes - heap->counts[i].freed_bytes);
    return live;
}

static void note(struct heap_fake_note one) {
    if (heap_fake_count < HEAP_FAKE_NOTES)
        heap_fake_notes[heap_fake_count] = one;
    heap_fake_count++;
}

void pie_heap_allocated_slowly(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                               size_t bytes, const void *caller) {
    note((struct heap_fake_note){
        .call = HEAP_FAKE_ALLOCATED, .domain = domain, .block = block, .bytes = bytes, .caller = caller});
}

void pie_heap_freeing_slowly(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                             size_t bytes) {
    note((struct heap_fake_note){.call = HEAP_FAKE_FREEING, .domain = domain, .block = block});
}

uint32_t pie_heap_resizing(void *block) {
    static uint32_t token;

    note((struct heap_fake_note){.call = HEAP_FAKE_RESIZING, .block = block, .token = ++token});
    return token;
}

void pie_heap_resizing_copy(void *block, size_t bytes) {}

void pie_heap_resized(struct pie_heap_thread *heap, enum pie_heap_domain domain, uint32_t token, void *block,
                      size_t old_bytes, size_t bytes, const void *caller) {
    if (bytes > old_bytes)
        heap->counts[domain].allocated_bytes += bytes - old_bytes;
    else
        heap->counts[domain].freed_bytes += old_bytes - bytes;
    note((struct heap_fake_note){.call = HEAP_FAKE_RESIZED,
                                 .domain = domain,
                                 .block = block,
                                 .old_bytes = old_bytes,
                                 .bytes = bytes,
                                 .token = token,
                                 .caller = caller});
}

void pie_copy_slowly(const void *to, const void *from, size_t bytes, const void *caller) {
    heap_fake_shifts += pie_copy_is_shift(to, from, bytes);
    pie_copy_left = heap_fake_copy_distance;
    heap_fake_copies++;
    heap_fake_copied_bytes += bytes;
    heap_fake_copy_caller = caller;
}

uint64_t heap_fake_rewritten_bytes;

void pie_code_modules_rewritten(uintptr_t start, size_t bytes) {
    heap_fake_rewritten_bytes += bytes;
}
