/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/guest/sanitizer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/guest/elf_symbols.h"
#include "launcher/python/python.h"
#include "runtime/interpreter/sanitizer.h"

/* What every file that is built with it calls; its library, shared or linked in, defines it. */
static const char CALLED[] = "__asan_init";

static bool needs(const struct pie_elf_symbols *symbols, const char *name) {
    const char *needed;

    for (size_t i = 0; (needed = pie_elf_symbols_needed(symbols, i)); i++)
        if (strcmp(needed, name) == 0)
            return true;
    return false;
}

static bool has_sanitizer(const char *path) {
    struct pie_elf_symbols *symbols = pie_elf_symbols_read(path);
    bool has = symbols && (pie_elf_symbols_defines(symbols, CALLED) || needs(symbols, CALLED));

    pie_elf_symbols_free(symbols);
    return has;
}

int pie_guest_sanitizer_check(const struct pie_python *python, char *why, size_t size) {
    const char *preload = getenv("LD_PRELOAD");

    if (has_sanitizer(python->path))
        snprintf(
            why, size,
            "%s is built with AddressSanitizer, before whose library no other one can be loaded: it cannot "
            "be profiled",
            python->path);
    else if (preload && pie_sanitizer_is_preloaded(preload))
        snprintf(
            why, size,
            "LD_PRELOAD has AddressSanitizer's library (%s), before which no other one can be loaded: %s "
            "cannot be profiled with it",
            preload, python->path);
    else
        return 0;
    return -EINVAL;
}
