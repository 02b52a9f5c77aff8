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
    uint16_t module; /* number of the one whose code it is (profiler/code/modules.h) */
    bool is_blind;   /* no rule leads on from here: frames that follow are guessed */
};

enum pie_unwind_flags {
    PIE_UNWIND_TRUNCATED = 1, /* the outermost frames are missing: too deep, or no way on */
    PIE_UNWIND_EXOTIC = 2,    /* … because a frame is described in a way that is not modelled */
    PIE_UNWIND_BLIND = 4,     /* a frame is blind */
    PIE_UNWIND_BRIDGED = 8,   /* what is beyond it was found on the stack: pie_unwind_bridge() */
};

/* The stack of the interrupted code, innermost first; at most max frames. Returns their number (at least 1).
 * A frame whose rule is cached costs some 10 ns. Context: signal. */
size_t pie_unwind(const ucontext_t *ucontext, struct pie_native_frame *frames, size_t max,
                  unsigned *ret_flags);

struct pie_pyframe;

/* Where the caller of blind code was last found, so that a second look is cheap. One per thread, zero at first. */
struct pie_unwind_found {
    uintptr_t at, word, loop_sp, bp;
    uintptr_t searched_sp, searched_loop_sp, searched_to; /* a search that is not over, or found none */
    uint32_t skips;
};

/* Where a walk met a blind frame below an evaluation loop: looks for the way up on the stack, below the markers of the
 * Python frames, and walks on from there. loop: the evaluation loop's function. Takes frames and flags of pie_unwind()
 * and gives better ones; what cannot be found stays as it was. 1 us where the caller is the same as last time; else
 * some 10 us, 0.1 ms at worst. Context: signal. */
size_t pie_unwind_bridge(const ucontext_t *ucontext, uintptr_t loop, const struct pie_pyframe *python,
                         size_t n_python, struct pie_unwind_found *found, struct pie_native_frame *frames,
                         size_t n, size_t max, unsigned *flags);

/* The memory of the cache that is in use. Its places are hashes, so a few hundred addresses touch all of it. Context:
 * any. */
void *pie_unwind_cache(size_t *ret_bytes);
