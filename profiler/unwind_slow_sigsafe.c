/* SPDX-License-Identifier: Apache-2.0 */

/* The slow way: libunwind's cursor. It looks modules up with dl_iterate_phdr, which inside a handler is answered from a
 * snapshot (runtime/phdr_sigsafe.c), so the loader's lock is never taken. */

#include "profiler/unwind.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>

size_t pie_unwind_slow(const ucontext_t *context, struct pie_native_frame *frames, size_t max,
                       unsigned *ret_flags) {
    unw_cursor_t cursor;
    size_t n = 0;
    int more;

    *ret_flags = PIE_UNWIND_SLOW;
    if (unw_init_local2(&cursor, (unw_context_t *)context, UNW_INIT_SIGNAL_FRAME) < 0) {
        const greg_t *gregs = context->uc_mcontext.gregs;
        frames[0] = (struct pie_native_frame){(uintptr_t)gregs[REG_RIP], (uintptr_t)gregs[REG_RSP]};
        *ret_flags |= PIE_UNWIND_TRUNCATED;
        return 1;
    }
    do {
        unw_word_t ip = 0, sp = 0;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        unw_get_reg(&cursor, UNW_REG_SP, &sp);
        frames[n++] = (struct pie_native_frame){ip, sp};
        more = unw_step(&cursor);
    } while (more > 0 && n < max);
    if (more != 0)
        *ret_flags |= PIE_UNWIND_TRUNCATED;
    return n;
}
