/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/memory/pymem_answers.h"

/* A static libpython whose functions cannot be replaced: with hooks, it knows no allocator. */
void pie_pymem_answers_install(const void *originals) {}

void pie_pymem_answers_in_sys(void) {}
