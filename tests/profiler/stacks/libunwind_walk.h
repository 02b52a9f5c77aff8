/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/stacks/unwind.h"

/* pie_unwind() done by libunwind's cursor: the oracle of the tests and the other side of the benchmark. 0.4 to 0.7 us a
 * frame; not for handlers of a profiled program (profiler/stacks/unwind_sigsafe.c says why). */
size_t libunwind_walk(const ucontext_t *context, struct pie_native_frame *frames, size_t max);
