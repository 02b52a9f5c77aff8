/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a block costs more, from its allocation to its end, because it is counted; in ns, measured at the first call (some 0.1 ms).
 * Context: drain. */
double pie_heap_pair_ns(void);
