/* SPDX-License-Identifier: Apache-2.0 */

/* In a build with a sanitizer the allocator and the copies are the sanitizer's: nothing is exported or counted. */

#include "runtime/memory/allocator.h"
#include "runtime/memory/mappings.h"

__thread enum pie_heap_domain pie_allocator_domain __attribute__((tls_model("initial-exec")));
__thread unsigned pie_mappings_quiet __attribute__((tls_model("initial-exec")));

bool pie_allocator_check(void) {
    return false;
}

bool pie_allocator_is_counted(void) {
    return false;
}

const char *pie_allocator_refusal(void) {
    return "pieprof was built with a sanitizer, whose allocator it is";
}

const char *pie_allocator_name(void) {
    return "sanitizer";
}

void pie_mappings_set_allocator(const void *function) {}

uint64_t pie_mappings_refused(void) {
    return 0;
}
