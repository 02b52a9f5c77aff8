/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Words between the collection thread, which draws slices (pauses.c), and hooks (pauses_sigsafe.c). Of 32 bits: is it a
 * request; is it to pause; the slice; the share, 0 where all is counted. */

enum {
    PIE_HEAP_REQUEST_IS = 1 << 30,
    PIE_HEAP_REQUEST_PAUSES = 1 << 29,
    PIE_HEAP_REQUEST_SLICE = 16,                /* where its bits begin */
    PIE_HEAP_REQUEST_CURRENT = (1 << 24) - 1,   /* slice and share */
    PIE_HEAP_REQUEST_ALL = PIE_HEAP_REQUEST_IS, /* all is to be counted */
};

static inline uint16_t pie_heap_share_in(uint32_t word) {
    return (uint16_t)word;
}

static inline uint8_t pie_heap_slice_in(uint32_t word) {
    return (uint8_t)(word >> PIE_HEAP_REQUEST_SLICE);
}
