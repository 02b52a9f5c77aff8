/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Loops that fold elements: `for i in range(...)` whose rounds fetch single elements by a place that depends on the
 * round only, and do nothing with them but add them up, count them, or keep the greatest or least. One call for the
 * slice does the same (sum, count, max), whatever the elements are, since no round needs what another one found.
 *
 * Loops that fill: the same, but the rounds set single elements, by such a place, to what is the same in all rounds or
 * to an element of another container. An assignment to the slice does the same.
 *
 * Whether the iterator is one of a range, and what the elements are fetched from, is not in the bytecode. */

/* Sets PIE_OPERATION_IN_FOLD at all units of such loops, or PIE_OPERATION_IN_FILL. Context: drain. */
void pie_code_folds_mark(const uint8_t *bytecode, uint32_t n_units, uint8_t *operations);
