/* SPDX-License-Identifier: Apache-2.0 */

/* The n-th allocation or system call fails, for every n: nothing crashes or leaks, and an address gets its name, a
 * poorer one, or none. */

#include "tests/profiler/symbols/fixture_modules.h"

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <libelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <cmocka.h>

static long calls_until_failure; /* 0: none fails */
static bool has_failed;

static bool fails(int error) {
    if (calls_until_failure == 0 || --calls_until_failure > 0)
        return false;
    has_failed = true;
    errno = error;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
int __real_open(const char *path, int flags, int mode);
int __real_fstat(int fd, struct stat *status);
ssize_t __real_pread(int fd, void *bytes, size_t size, off_t offset);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
long __real_syscall(long number, ...);
Elf *__real_elf_memory(char *image, size_t size);
Dwarf *__real_dwarf_begin_elf(Elf *elf, Dwarf_Cmd command, Elf_Scn *group);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_open(const char *path, int flags, int mode);
int __wrap_fstat(int fd, struct stat *status);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
long __wrap_syscall(long number, ...);
Elf *__wrap_elf_memory(char *image, size_t size);
Dwarf *__wrap_dwarf_begin_elf(Elf *elf, Dwarf_Cmd command, Elf_Scn *group);

void *__wrap_malloc(size_t size) {
    return fails(ENOMEM) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails(ENOMEM) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    return fails(ENOMEM) ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text) {
    return fails(ENOMEM) ? NULL : __real_strdup(text);
}

int __wrap_open(const char *path, int flags, int mode) {
    return fails(EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __wrap_fstat(int fd, struct stat *status) {
    return fails(EIO) ? -1 : __real_fstat(fd, status);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset) {
    return fails(EIO) ? -1 : __real_pread(fd, bytes, size, offset);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    return fails(ENOMEM) ? MAP_FAILED : __real_mmap(address, size, protection, flags, fd, offset);
}

/* Mappings of our own (profiler/base/own_memory.c). */
long __wrap_syscall(long number, ...) {
    va_list arguments;
    long words[6];

    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(arguments, long);
    va_end(arguments);
    if ((number == SYS_mmap || number == SYS_mremap) && fails(ENOMEM))
        return -1;
    return __real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

Elf *__wrap_elf_memory(char *image, size_t size) {
    return fails(ENOMEM) ? NULL : __real_elf_memory(image, size);
}

Dwarf *__wrap_dwarf_begin_elf(Elf *elf, Dwarf_Cmd command, Elf_Scn *group) {
    return fails(ENOMEM) ? NULL : __real_dwarf_begin_elf(elf, command, group);
}

static bool is_one_of(const char *text, const char *const *list) {
    for (; *list; list++)
        if (strcmp(text, *list) == 0)
            return true;
    return false;
}

/* Resolves one address of each kind of module. Everything that is named must be named rightly. */
static void use_symbolizer(void *const *modules, size_t count) {
    static const char *const right[] = {"innermost", "middle", "outer_one", NULL};
    struct pie_symbolizer *symbolizer;
    if (pie_symbolizer_create(&symbolizer) < 0)
        return;
    (void)pie_symbolizer_refresh(symbolizer);
    for (size_t i = 0; i < count; i++) {
        struct pie_module module;
        struct pie_symbol symbols[PIE_SYMBOL_INLINE_MAX];
        int frames = pie_symbolizer_resolve(symbolizer, fixture_mark(modules[i], "innermost"), &module,
                                            symbols, PIE_SYMBOL_INLINE_MAX);
        assert_in_range(frames, 1, 3);
        for (int j = 0; j < frames; j++)
            if (symbols[j].function)
                assert_true(is_one_of(symbols[j].function, right));
    }
    pie_symbolizer_destroy(symbolizer);
}

static void test_each_call_fails_once(void **state) {
    static const char *const kinds[] = {
        "debug",
#ifdef HAVE_FIXTURE_LINKED
        "linked",
#endif
#ifdef HAVE_FIXTURE_PACKED
        "packed",
#endif
    };
    enum { COUNT = sizeof(kinds) / sizeof(*kinds) };
    void *modules[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        modules[i] = fixture_open(kinds[i]);
    int descriptors = fixture_count_descriptors();
    long nth = 0;
    do {
        nth++;
        has_failed = false;
        calls_until_failure = nth;
        use_symbolizer(modules, COUNT);
        calls_until_failure = 0;
        assert_int_equal(fixture_count_descriptors(), descriptors);
    } while (has_failed);
    assert_in_range(nth, 50, 100000);
    for (size_t i = 0; i < COUNT; i++)
        dlclose(modules[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_fails_once),
    };
    return cmocka_run_group_tests_name("symbolizer_faults", tests, NULL, NULL);
}
