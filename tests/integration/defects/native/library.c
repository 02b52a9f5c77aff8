/* SPDX-License-Identifier: Apache-2.0 */

/* Built several times with another NAME: libraries that are alike but for their names. */

volatile double result;

int NAME(long rounds) {
    double sum = 0;

    for (long i = 0; i < rounds; i++)
        sum += (double)i * 1.5;
    result = sum;
    return 0;
}
