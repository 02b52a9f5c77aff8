/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"
#include "profiler/stacks/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One stack out of two: native frames, with each evaluation loop replaced by the Python frames it runs, and without the
 * interpreter's own frames through which one Python frame called another. */

struct pie_hybrid {
    size_t depth;         /* entries of the path */
    size_t native_on_top; /* native frames above the innermost Python frame; 0: the interpreter itself runs */
    size_t top_depth;     /* entries of the path that they have */
    size_t unmatched;     /* Python frames whose loop was not found among the native frames */
};

/* Merges; writes CCT keys, innermost first, to path (room for n_native + n_python). Frames of code objects that cannot
 * be interned are left out. ops gives ids and offsets. Context: signal. */
struct pie_hybrid pie_hybrid_merge(const struct pie_pystack_ops *ops, const struct pie_native_frame *native,
                                   size_t n_native, const struct pie_pyframe *python, size_t n_python,
                                   uint64_t *path);

/* While the interpreter starts, only the innermost one of its own frames is kept on top. Context: launcher (before
 * there are threads of the program). */
void pie_hybrid_set_starting(bool is_starting);
