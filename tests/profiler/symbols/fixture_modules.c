/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/profiler/symbols/fixture_modules.h"

#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

void fixture_path(const char *kind, char *ret_path, size_t size) {
    snprintf(ret_path, size, FIXTURES "/fixture_%s.so", kind);
}

void *fixture_open(const char *kind) {
    char path[1024];
    fixture_path(kind, path, sizeof(path));
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        fail_msg("%s", dlerror());
    return module;
}

void fixture_copy(const char *from, const char *to) {
    char buffer[65536];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
        assert_int_equal(fwrite(buffer, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void *find(void *module, const char *prefix, const char *name) {
    char symbol[128];
    snprintf(symbol, sizeof(symbol), "%s%s", prefix, name);
    void *found = dlsym(module, symbol);
    if (!found)
        fail_msg("%s", dlerror());
    return found;
}

uintptr_t fixture_mark(void *module, const char *name) {
    return (uintptr_t)find(module, "mark_", name);
}

int fixture_line(void *module, const char *name) {
    return *(const int *)find(module, "line_", name);
}

struct fixture_frames fixture_resolve(struct pie_symbolizer *symbolizer, uintptr_t address) {
    struct fixture_frames frames;
    frames.count =
        pie_symbolizer_resolve(symbolizer, address, &frames.module, frames.symbols, PIE_SYMBOL_INLINE_MAX);
    assert_in_range(frames.count, 1, PIE_SYMBOL_INLINE_MAX);
    return frames;
}

void assert_only_name(struct pie_symbolizer *symbolizer, uintptr_t address, const char *function) {
    struct fixture_frames frames = fixture_resolve(symbolizer, address);
    assert_int_equal(frames.count, 1);
    if (function) {
        assert_non_null(frames.symbols[0].function);
        assert_string_equal(frames.symbols[0].function, function);
    } else {
        assert_null(frames.symbols[0].function);
    }
    assert_null(frames.symbols[0].file);
    assert_int_equal(frames.symbols[0].line, 0);
    assert_int_equal(frames.symbols[0].first_line, 0);
}

int fixture_count_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    int count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}
