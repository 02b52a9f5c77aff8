/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* Native stacks. A frame is where it is executing and where its stack begins: frame i occupies the addresses
 * [frames[i].sp, frames[i + 1].sp), which is how Python frames find the evaluation loop that runs them. */
struct pie_native_frame {
    uintptr_t ip; /* the interrupted instruction for the first, else the return address */
    uintptr_t sp;
};

enum pie_unwind_flags {
    PIE_UNWIND_TRUNCATED = 1, /* the outermost frames are missing: too deep, or no way on */
    PIE_UNWIND_EXOTIC = 2,    /* … because a frame is described in a way that is not modelled */
};

/* The stack of the interrupted code, innermost first; at most max frames. Returns their number (at least 1).
 * A frame whose rule is cached costs some 10 ns. Context: signal. */
size_t pie_unwind(const ucontext_t *context, struct pie_native_frame *frames, size_t max,
                  unsigned *ret_flags);

/* The memory of the cache. Its places are hashes, so a few hundred addresses touch all of it. Context: any. */
void *pie_unwind_cache(size_t *ret_bytes);

/* Libraries were unloaded: forget the rules of their addresses. Context: drain. */
void pie_unwind_flush_cache(void);
