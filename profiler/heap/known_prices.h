/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Prices of counting (heap/price.h) that a process hands to the ones it executes, in hundredths of a ns. They are those
 * of a machine and of pymalloc, so only a process whose Python has that gives or takes Python's. */

enum pie_heap_price_kind {
    PIE_HEAP_PRICE_NATIVE, /* pie_heap_pair_ns() */
    PIE_HEAP_PRICE_VISIT,  /* pie_heap_quiet_visit_ns() */
    PIE_HEAP_PRICE_SMALL,  /* pie_heap_python_pairs_set() */
    PIE_HEAP_PRICE_LARGE,
    PIE_HEAP_PRICES,
};

enum { PIE_HEAP_PRICE_MAX = 9999998 }; /* 0.1 ms, of seven digits with the 1. A larger one is not handed on */

/* A price was measured, or is used as it was handed to this process. Context: any. */
void pie_heap_price_know(enum pie_heap_price_kind kind, double ns);

/* What to hand on: each price + 1, 0 where it is not known. False: none is. Context: any, vfork child. */
bool pie_heap_prices_known(uint32_t ret_prices[PIE_HEAP_PRICES]);

/* What a parent handed to this process, as above. Context: launcher (before any other thread). */
void pie_heap_prices_inherit(const uint32_t prices[PIE_HEAP_PRICES]);

/* In ns; below 0: the process was handed none. Context: any. */
double pie_heap_price_inherited(enum pie_heap_price_kind kind);
