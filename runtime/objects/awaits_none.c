/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/objects/awaits.h"

/* CPython 3.14 and later: time that an event loop waits stays where the loop waits. */

size_t pie_awaits_find(uintptr_t tstate, uintptr_t loop_code, uint64_t random, struct pie_pyframe *frames,
                       size_t max_frames, struct pie_await *awaits, size_t max) {
    return 0;
}

void pie_awaits_set_tasks(uintptr_t set) {}

bool pie_awaits_has_tasks(void) {
    return true; /* nobody has to look for them */
}
