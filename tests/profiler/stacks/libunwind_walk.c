/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/profiler/stacks/libunwind_walk.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>

size_t libunwind_walk(const ucontext_t *context, struct pie_native_frame *frames, size_t max) {
    unw_cursor_t cursor;
    size_t n = 0;

    if (unw_init_local2(&cursor, (unw_context_t *)context, UNW_INIT_SIGNAL_FRAME) < 0)
        return 0;
    do {
        unw_word_t ip = 0, sp = 0;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        unw_get_reg(&cursor, UNW_REG_SP, &sp);
        frames[n++] = (struct pie_native_frame){.ip = ip, .sp = sp};
    } while (n < max && unw_step(&cursor) > 0);
    return n;
}
