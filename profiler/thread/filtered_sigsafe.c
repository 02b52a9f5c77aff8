/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/thread/filtered.h"

#include <stdatomic.h>

/* Both are kept in a forked child: a filter can never be taken off. */
static __thread bool is_own __attribute__((tls_model("initial-exec")));
static _Atomic bool is_everywhere; /* relaxed: set before the filter is, by the thread that sets it */

bool pie_filtered(void) {
    return is_own || atomic_load_explicit(&is_everywhere, memory_order_relaxed);
}

void pie_filtered_set(bool is_filtered) {
    is_own = is_filtered;
}

void pie_filtered_set_all(void) {
    atomic_store_explicit(&is_everywhere, true, memory_order_relaxed);
}
