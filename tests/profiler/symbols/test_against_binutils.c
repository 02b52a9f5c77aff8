/* SPDX-License-Identifier: Apache-2.0 */

/* 500 addresses each of libc and of this program against nm and addr2line. The addresses are spread over the functions
 * that nm lists. addr2line names functions as DWARF does; the symbolizer names the outermost one by its ELF
 * symbol, so that name is held against all that nm knows at the same place. */

#include "profiler/symbols/source_path.h"
#include "profiler/symbols/symbolizer.h"
#include "tests/profiler/symbols/fixture_modules.h"

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/skip.h"

enum { ADDRESSES = 500, LINE_BYTES = 4096 };

struct named {
    uint64_t start, size;
    char name[256];
};

struct names {
    struct named *items;
    size_t count;
};

static struct names read_nm(const char *options, const char *path) {
    char command[2048], line[LINE_BYTES];
    snprintf(command, sizeof(command), "nm -S --defined-only %s '%s' 2>/dev/null", options, path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    struct names names = {0};
    while (fgets(line, sizeof(line), pipe)) {
        struct named item;
        char type;
        if (sscanf(line, "%lx %lx %c %255s", &item.start, &item.size, &type, item.name) != 4 ||
            !strchr("tTwWi", type) || item.size == 0)
            continue;
        item.name[strcspn(item.name, "@")] = '\0';
        names.items = realloc(names.items, (names.count + 1) * sizeof(item));
        names.items[names.count++] = item;
    }
    pclose(pipe);
    return names;
}

/* Is `function` one of the names that nm has for a place which covers the address? Clone suffixes are not compared. */
static bool is_name_at(const struct names *names, uint64_t address, const char *function) {
    for (size_t i = 0; i < names->count; i++) {
        const struct named *item = &names->items[i];
        size_t length = strlen(function);
        if (address - item->start < item->size && strncmp(item->name, function, length) == 0 &&
            (item->name[length] == '\0' || item->name[length] == '.'))
            return true;
    }
    return false;
}

/* The file that has the symbols: the module itself, or its separate debug file. */
static bool find_symbols(const char *path, const char *build_id, char *ret_path, size_t size,
                         struct names *ret_names) {
    snprintf(ret_path, size, "%s", path);
    *ret_names = read_nm("", path);
    if (ret_names->count > 0)
        return true;
    snprintf(ret_path, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
    *ret_names = read_nm("", ret_path);
    return ret_names->count > 0;
}

static void write_addresses(const char *path, const uint64_t *addresses, size_t count) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%#lx\n", addresses[i]);
    assert_int_equal(fclose(file), 0);
}

static void chomp(char *line) {
    line[strcspn(line, "\n")] = '\0';
    char *discriminator = strstr(line, " (discriminator");
    if (discriminator)
        *discriminator = '\0';
}

/* Holds the line of "file:line" against ours. */
static bool is_same_line(const struct pie_symbol *symbol, const char *theirs) {
    char line[16];
    const char *colon = strrchr(theirs, ':');
    if (!symbol->line)
        return strncmp(theirs, "??", 2) == 0 ||
               (colon && (strcmp(colon, ":?") == 0 || strcmp(colon, ":0") == 0));
    snprintf(line, sizeof(line), ":%d", symbol->line);
    return colon && strcmp(colon, line) == 0;
}

/* And the file. addr2line joins relative directories where there is nothing to be joined ("./misc" and
 * "./misc/tsearch.c"), so ours has to be the end of theirs. */
static bool is_same_file(const struct pie_symbol *symbol, const char *theirs) {
    char file[LINE_BYTES], path[LINE_BYTES];
    if (!symbol->line)
        return true;
    snprintf(file, sizeof(file), "%.*s", (int)(strrchr(theirs, ':') - theirs), theirs);
    assert_int_equal(pie_source_path(NULL, file, path, sizeof(path)), 0);
    const char *ours = symbol->file;
    while (strncmp(ours, "../", 3) == 0)
        ours += 3;
    size_t our_length = strlen(ours), their_length = strlen(path);
    return our_length <= their_length && strcmp(path + their_length - our_length, ours) == 0;
}

struct comparison {
    struct pie_symbolizer *symbolizer;
    const struct names *names;
    uintptr_t base;
    size_t same, frames, unlike, unlike_files, missed_inlines;
};

static void complain(struct comparison *comparison, uint64_t address, const char *ours, const char *theirs) {
    comparison->unlike++;
    print_message("# %#lx: %s here, %s by addr2line\n", address, ours ? ours : "nothing", theirs);
}

/* Compares one address with the lines that addr2line wrote for it: name and place of each frame. */
static void compare(struct comparison *comparison, uint64_t address, char (*lines)[LINE_BYTES], int count) {
    struct fixture_frames ours = fixture_resolve(comparison->symbolizer, comparison->base + address);
    const struct pie_symbol *outermost = &ours.symbols[ours.count - 1];
    comparison->frames += (size_t)ours.count;
    if (!outermost->function || !is_name_at(comparison->names, address, outermost->function)) {
        complain(comparison, address, outermost->function ? outermost->function : "nothing", "another name");
        return;
    }
    if (ours.count * 2 > count && is_same_line(&ours.symbols[0], lines[1])) {
        comparison->missed_inlines++;
        return;
    }
    if (ours.count * 2 != count) {
        complain(comparison, address, "another number of frames", lines[0]);
        return;
    }
    bool is_file_alike = true;
    for (int i = 0; i < ours.count; i++) {
        if (!is_same_line(&ours.symbols[i], lines[2 * i + 1])) {
            complain(comparison, address, ours.symbols[i].file, lines[2 * i + 1]);
            return;
        }
        is_file_alike = is_file_alike && is_same_file(&ours.symbols[i], lines[2 * i + 1]);
        if (i < ours.count - 1 && strcmp(ours.symbols[i].function, lines[2 * i]) != 0) {
            complain(comparison, address, ours.symbols[i].function, lines[2 * i]);
            return;
        }
    }
    comparison->same += is_file_alike;
    comparison->unlike_files += !is_file_alike;
}

static void compare_all(struct comparison *comparison, const char *path, const uint64_t *addresses,
                        size_t count) {
    static char lines[2 * PIE_SYMBOL_INLINE_MAX][LINE_BYTES];
    char list[] = "/tmp/pieprof-addresses-XXXXXX", command[2048], line[LINE_BYTES];
    close(mkstemp(list));
    write_addresses(list, addresses, count);
    /* -a writes each address before its frames. */
    snprintf(command, sizeof(command), "addr2line -a -f -i -e '%s' < %s", path, list);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    int line_count = 0;
    size_t done = 0;
    bool more = fgets(line, sizeof(line), pipe);
    while (more) {
        uint64_t address = strtoull(line, NULL, 16);
        for (line_count = 0; (more = fgets(line, sizeof(line), pipe)) && strncmp(line, "0x", 2) != 0;
             line_count++) {
            assert_in_range(line_count, 0, 2 * PIE_SYMBOL_INLINE_MAX - 1);
            strcpy(lines[line_count], line);
            chomp(lines[line_count]);
        }
        compare(comparison, address, lines, line_count);
        done++;
    }
    pclose(pipe);
    unlink(list);
    assert_int_equal(done, count);
}

static void assert_like_binutils(uintptr_t inside) {
    if (system("nm --version >/dev/null 2>&1") != 0 || system("addr2line --version >/dev/null 2>&1") != 0)
        skip_because("no nm and addr2line here");
    struct comparison comparison = {0};
    assert_int_equal(pie_symbolizer_create(&comparison.symbolizer), 0);
    struct fixture_frames frames = fixture_resolve(comparison.symbolizer, inside);
    char path[1024];
    struct names names;
    bool found = find_symbols(frames.module.path, frames.module.build_id, path, sizeof(path), &names);
    if (!found) {
        pie_symbolizer_destroy(comparison.symbolizer);
        print_message("# %s has no symbols here\n", frames.module.path);
        skip();
    }
    comparison.names = &names;
    comparison.base = inside - frames.module.offset;
    static uint64_t addresses[ADDRESSES];
    unsigned seed = 7;
    for (size_t i = 0; i < ADDRESSES; i++) {
        const struct named *item = &names.items[i * names.count / ADDRESSES];
        addresses[i] = item->start + (uint64_t)rand_r(&seed) % item->size;
    }
    compare_all(&comparison, path, addresses, ADDRESSES);
    print_message("# %s: %zu of %d alike, %zu frames\n", path, comparison.same, ADDRESSES, comparison.frames);
    assert_in_range(comparison.unlike, 0, ADDRESSES / 100);
    /* What binutils 2.40 gets wrong with DWARF 5: it overlooks inlined calls with more than one range as clang writes
     * them (llvm-symbolizer sees them), and names a unit's first file where the line is in one that it includes; gdb
     * says what the symbolizer says. glibc includes much of its code. */
    assert_in_range(comparison.unlike_files, 0, ADDRESSES / 8);
    assert_in_range(comparison.missed_inlines, 0, ADDRESSES / 8);
    free(names.items);
    pie_symbolizer_destroy(comparison.symbolizer);
}

static void test_this_program(void **state) {
    assert_like_binutils((uintptr_t)test_this_program);
}

static void test_libc(void **state) {
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(libc);
    assert_like_binutils((uintptr_t)dlsym(libc, "nl_langinfo"));
    dlclose(libc);
}

static void test_fixture(void **state) {
    void *module = fixture_open("debug");
    assert_like_binutils(fixture_mark(module, "hidden"));
    dlclose(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_program),
        cmocka_unit_test(test_fixture),
        cmocka_unit_test(test_libc),
    };
    return cmocka_run_group_tests_name("against_binutils", tests, NULL, NULL);
}
