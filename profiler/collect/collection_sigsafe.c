/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/collection.h"

/* A forked child has no collection thread but a new one. */
static __thread bool is_self __attribute__((tls_model("initial-exec")));

bool pie_collection_is_self(void) {
    return is_self;
}

void pie_collection_set_self(void) {
    is_self = true;
}
