/* SPDX-License-Identifier: Apache-2.0 */

static volatile unsigned long value;

/* Without debug information it has no name. */
static __attribute__((noinline)) void spin(unsigned long one, unsigned long three) {
    for (unsigned long i = 0; i < one; i++)
        value = value * 3 + i; // # one
    for (unsigned long i = 0; i < three; i++)
        value = value * 3 + i; // # three
}

void work(unsigned long one, unsigned long three) {
    spin(one, three);
    value++;
}
