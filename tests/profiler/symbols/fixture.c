/* SPDX-License-Identifier: Apache-2.0 */

/* Built several times, with and without debug information and symbols: see meson.build. NAME() makes two modules
 * that differ in nothing but the names of their functions. */

#include "tests/profiler/symbols/fixture_marks.h"

#ifndef OTHER
#define NAME(name) name##_one
#else
#define NAME(name) name##_two
#endif

int fixture_state;

static inline __attribute__((always_inline)) void innermost(void) {
    fixture_state += 3;
    MARK(innermost);
    fixture_state *= 5;
}

static inline __attribute__((always_inline)) void middle(void) {
    fixture_state ^= 7;
    innermost();
    MARK(middle);
}

static __attribute__((noinline, used)) void NAME(hidden)(void) {
    fixture_state -= 1;
    MARK(hidden);
    fixture_state /= 3;
}

void NAME(outer)(void);
void NAME(outer)(void) {
    fixture_state += 11;
    middle();
    MARK(outer);
    NAME(hidden)();
    fixture_state += 1;
}

/* Code without a type and a size, and a gap that belongs to nobody. */
__asm__(".text\n"
        ".balign 16\n"
        ".globl handmade\n"
        "handmade:\n"
        "\tnop\n"
        "\tnop\n"
        "\tret\n"
        ".globl sized\n"
        ".type sized, @function\n"
        "sized:\n"
        "\tnop\n"
        "\tret\n"
        ".size sized, 2\n"
        "\t.skip 14, 0x90\n"
        ".globl after_gap\n"
        ".type after_gap, @function\n"
        "after_gap:\n"
        "\tret\n"
        ".size after_gap, 1\n");
