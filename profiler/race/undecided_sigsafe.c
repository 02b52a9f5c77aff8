/* SPDX-License-Identifier: Apache-2.0 */

/* Wilson's interval, for handlers too: without libm, which sets errno. */

#include "profiler/race/racing.h"

#include <emmintrin.h>
#include <string.h>

static double root(double x) {
    return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));
}

/* ln(x) to 1e-5, of normal positive numbers: the exponent, and 2 artanh((m - 1) / (m + 1)) of the mantissa. */
static double logarithm(double x) {
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1023) << 52;
    memcpy(&x, &bits, sizeof x);
    double s = (x - 1) / (x + 1), s2 = s * s;
    return exponent * 0.693147180559945 +
           2 * s * (1 + s2 * (1.0 / 3 + s2 * (1.0 / 5 + s2 * (1.0 / 7 + s2 / 9))));
}

/* The normal distribution's quantile that leaves this part above it, below a half, to 5e-4: Hastings's, formula
 * 26.2.23 of Abramowitz and Stegun. */
static double quantile(double part) {
    double t = root(-2 * logarithm(part));

    return t -
           (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

double pie_race_undecided(uint64_t hits, uint64_t tries, double confidence) {
    double n = (double)tries, part = (double)(hits < tries ? hits : tries) / n;
    double z = quantile((confidence > 0 && confidence < 1 ? 1 - confidence : 0.05) / 2);

    if (tries == 0)
        return 1;
    return 2 * z / (1 + z * z / n) * root(part * (1 - part) / n + z * z / (4 * n * n));
}
