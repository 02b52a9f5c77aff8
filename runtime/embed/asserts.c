/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/base/dwarf_guard.h"
#include "runtime/libc/export.h"

#include <dlfcn.h>

typedef void (*assert_fail)(const char *assertion, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));

/* Declared by <assert.h> only where assertions are compiled in. */
__attribute__((noreturn)) void __assert_fail(const char *assertion, const char *file, unsigned line,
                                             const char *function);

/* The C library's, but for libdw at work for us. */
PIE_EXPORT void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
    pie_dwarf_give_up();
    ((assert_fail)dlsym(RTLD_NEXT, "__assert_fail"))(assertion, file, line, function);
}
