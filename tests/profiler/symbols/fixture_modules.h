/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profiler/symbols/symbolizer.h"

/* What the tests of the symbolizer share. Failures end the test. */

/* Loads FIXTURES/fixture_<kind>.so. */
void *fixture_open(const char *kind);
void fixture_path(const char *kind, char *ret_path, size_t size);
void fixture_copy(const char *from, const char *to);

/* The address of mark_<name>, the line of that mark. */
uintptr_t fixture_mark(void *module, const char *name);
int fixture_line(void *module, const char *name);

struct fixture_frames {
    struct pie_module module;
    struct pie_symbol symbols[PIE_SYMBOL_INLINE_MAX];
    int count;
};

struct fixture_frames fixture_resolve(struct pie_symbolizer *symbolizer, uintptr_t address);

/* One unnamed or named frame without file and line. */
void assert_only_name(struct pie_symbolizer *symbolizer, uintptr_t address, const char *function);

int fixture_count_descriptors(void);
