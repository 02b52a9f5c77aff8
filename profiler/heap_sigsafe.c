/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/heap.h"

__thread struct pie_heap_thread *pie_heap_self __attribute__((tls_model("initial-exec")));
__thread int64_t pie_copy_left __attribute__((tls_model("initial-exec")));
uint64_t pie_heap_filter[PIE_HEAP_FILTER_BITS / 64];

void pie_heap_allocated_slowly(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block,
                               size_t bytes, const void *caller) {
}

void pie_heap_freeing_slowly(struct pie_heap_thread *heap, enum pie_heap_domain domain, void *block) {
}

uint32_t pie_heap_resizing(void *block) {
    return 0;
}

void pie_heap_resized(struct pie_heap_thread *heap, enum pie_heap_domain domain, uint32_t token, void *block,
                      size_t old_bytes, size_t bytes, const void *caller) {
}

void pie_copy_slowly(size_t bytes, const void *caller) {
    pie_copy_left = INT64_MAX;
}
