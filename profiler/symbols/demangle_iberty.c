/* SPDX-License-Identifier: Apache-2.0 */

/* Why libiberty: __cxa_demangle() would pull libstdc++ into every profiled program, where it could come
 * before the one that the program's own extension modules bring, and it knows nothing of Rust. libiberty's
 * demanglers are the ones of gdb, perf and binutils, are plain C, linked statically, and know both of Rust's
 * schemes.
 *
 * Only the two entry points that report lack of memory are used; cplus_demangle() ends the process then. They
 * bound their recursion and give up on names with more than about 1000 components. The text comes in pieces,
 * so a short name that stands for a huge one costs no memory: from NAME_BYTES_MAX on it is thrown away. */

#include "profiler/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 16 * 1024 };

struct output {
    char *text;
    size_t length, capacity;
    bool failed;
};

static void append(const char *piece, size_t size, void *data) {
    struct output *output = data;
    if (output->failed)
        return;
    if (output->length + size >= output->capacity) {
        size_t capacity = (output->length + size + 1) * 2;
        char *text = output->length + size < NAME_BYTES_MAX ? realloc(output->text, capacity) : NULL;
        if (!text) {
            output->failed = true;
            return;
        }
        output->text = text;
        output->capacity = capacity;
    }
    memcpy(output->text + output->length, piece, size);
    output->length += size;
    output->text[output->length] = '\0';
}

char *pie_demangle_mangled(const char *symbol) {
    /* Rust's old scheme looks like C++: it must be tried first. */
    struct output output = {0};
    if (rust_demangle_callback(symbol, DMGL_PARAMS, append, &output) && output.text && !output.failed)
        return output.text;
    output.length = 0;
    output.failed = false;
    if (cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, append, &output) && output.text &&
        !output.failed)
        return output.text;
    free(output.text);
    return NULL;
}
