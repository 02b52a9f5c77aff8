/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/objects/digest.h"

#include <math.h>
#include <string.h>

#include "profiler/base/hash.h"

/* Numbers that are to be compared within a tolerance cannot be part of a hash: where they are rounded first, near ones
 * on both sides of a border differ, and of 1024 numbers one is nearly always near a border. So a few sums stand for
 * them (pie_value_floats), whose differences are at most those of the numbers. Each number has a weight of its own in
 * its sum, or two that change places would not be seen. */

static const double WEIGHT_STEP = 1.0 / 64;

static void add_number(struct pie_digest *digest, double number) {
    struct pie_value_floats *floats = digest->floats;
    uint32_t nth = floats->count++, sum = nth % PIE_VALUE_SUMS;
    double weight = 1 + nth / PIE_VALUE_SUMS * WEIGHT_STEP;

    if (!isfinite(number)) { /* near nothing but itself */
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        pie_digest_add_word(digest, nth);
        pie_digest_add_word(digest, bits);
        return;
    }
    floats->sums[sum] += weight * number;
    floats->sizes[sum] += weight * fabs(number);
}

void pie_digest_add_float_word(struct pie_digest *digest, uint64_t word) {
    double number;
    float halves[2];

    if (digest->float_bytes == sizeof number) {
        memcpy(&number, &word, sizeof number);
        add_number(digest, number);
        return;
    }
    memcpy(halves, &word, sizeof halves);
    add_number(digest, (double)halves[0]);
    add_number(digest, (double)halves[1]);
}

void pie_digest_add_floats(struct pie_digest *digest, uintptr_t address, uint64_t bytes, uint32_t words_max,
                           uint64_t float_bytes) {
    bool is_readable = float_bytes == sizeof(float) || float_bytes == sizeof(double);

    digest->float_bytes = is_readable && digest->floats ? (uint8_t)float_bytes : 0;
    pie_digest_add_bytes(digest, address, bytes, words_max);
    digest->float_bytes = 0;
}
