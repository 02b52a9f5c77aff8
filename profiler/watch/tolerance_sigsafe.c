/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/internal.h"

#include <math.h>

bool pie_watch_is_close(const struct pie_value_floats *a, const struct pie_value_floats *b,
                        double tolerance) {
    if (a->rest != b->rest || a->count != b->count)
        return false;
    for (int i = 0; i < PIE_VALUE_SUMS; i++) {
        double size = a->sizes[i] > b->sizes[i] ? a->sizes[i] : b->sizes[i];
        if (!(fabs(a->sums[i] - b->sums[i]) <= tolerance * size)) /* also where a sum overflowed */
            return false;
    }
    return true;
}
