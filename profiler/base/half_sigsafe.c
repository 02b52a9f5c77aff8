/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/half.h"

#include <stdatomic.h>

/* seq_cst: a thread first says that it is inside, then looks; who turns does it the other way round (turn.c). */
static _Atomic unsigned current;
static __thread unsigned own;

unsigned pie_half_current(void) {
    return atomic_load(&current);
}

void pie_half_enter(void) {
    own = atomic_load(&current);
}

unsigned pie_half_own(void) {
    return own;
}

void pie_half_set(unsigned half) {
    atomic_store(&current, half);
}
