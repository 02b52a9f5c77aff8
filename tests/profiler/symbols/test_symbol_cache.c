/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/symbol_cache.h"

#include "profiler/base/own_memory.h"
#include "profiler/symbols/module_symbols.h"
#include "profiler/symbols/symbol_cache_folder.h"
#include "tests/safe_load_faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SYMBOLS = 300, SYMBOL_BYTES = 32 };

static char caches[] = "/tmp/pieprof-caches-XXXXXX";
static char names[SYMBOLS][16];
static char module_path[64];
static const struct pie_module_entry module = {
    .path = module_path, .open_path = module_path, .build_id = "0123456789abcdef0123456789abcdef01234567"};
#define FILE_NAME "pieprof/symbols/0123456789abcdef0123456789abcdef01234567"

static int set_up(void **state) {
    assert_non_null(mkdtemp(caches));
    snprintf(module_path, sizeof module_path, "%s/module.so", caches);
    pie_symbol_cache_set(caches);
    return 0;
}

static int tear_down(void **state) {
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", caches);
    return system(command);
}

static uint64_t address_of(int symbol) {
    return 0x1000 + (uint64_t)symbol * SYMBOL_BYTES;
}

static struct pie_symbol_table *make_table(void) {
    struct pie_symbol_table_builder *builder;
    struct pie_symbol_table *table;

    assert_int_equal(pie_symbol_table_builder_create(&builder), 0);
    for (int i = 0; i < SYMBOLS; i++) {
        snprintf(names[i], sizeof names[i], "function_%d", i);
        assert_int_equal(pie_symbol_table_add(builder, names[i], ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                              address_of(i), SYMBOL_BYTES, UINT64_MAX),
                         0);
    }
    assert_int_equal(pie_symbol_table_build(builder, &table), 0);
    pie_symbol_table_builder_destroy(builder);
    return table;
}

static void put(const char *link, bool has_no_dwarf) {
    struct pie_symbol_table *table = make_table();

    pie_symbol_cache_put(&module, link, has_no_dwarf, table);
    pie_symbol_table_destroy(table);
}

/* Is it there, with all names? */
static bool is_there(bool wants_dwarf) {
    struct pie_symbol_table *table = pie_symbol_cache_get(&module, wants_dwarf);

    if (!table)
        return false;
    assert_int_equal(pie_symbol_table_count(table), SYMBOLS);
    for (int i = 0; i < SYMBOLS; i++) {
        uint64_t address = address_of(i) + SYMBOL_BYTES - 1, start, end;
        assert_int_equal(pie_symbol_table_reach(table, address), 0);
        assert_string_equal(pie_symbol_table_find(table, address), names[i]);
        assert_true(pie_symbol_table_range(table, address, &start, &end));
        assert_true(start == address_of(i) && end == address_of(i + 1));
    }
    assert_null(pie_symbol_table_find(table, 0xfff));
    assert_null(pie_symbol_table_find(table, address_of(SYMBOLS)));
    pie_symbol_table_destroy(table);
    return true;
}

static void path_of(const char *name, char path[128]) {
    snprintf(path, 128, "%s/%s", caches, name);
}

static unsigned files_in(const char *name) {
    char path[128];
    unsigned count = 0;

    path_of(name, path);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static void test_a_table_is_kept(void **state) {
    assert_false(is_there(false));
    put("", false);
    assert_true(is_there(false));
    assert_false(is_there(true)); /* whether it has DWARF is not known */
    put("", true);
    assert_true(is_there(true));
    assert_int_equal(files_in("pieprof/symbols"), 1);
}

static void test_only_modules_with_a_build_id(void **state) {
    struct pie_module_entry other = module;
    struct pie_symbol_table *table = make_table();

    other.build_id = NULL;
    pie_symbol_cache_put(&other, "", true, table);
    other.build_id = "../../../../../../tmp/x";
    pie_symbol_cache_put(&other, "", true, table);
    other.build_id = "0123"; /* others may have it by chance */
    pie_symbol_cache_put(&other, "", true, table);
    pie_symbol_table_destroy(table);
    assert_int_equal(files_in("pieprof/symbols"), 1);
}

static char *file_bytes(size_t *ret_size) {
    char path[128];
    struct stat status;

    path_of(FILE_NAME, path);
    int fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &status), 0);
    char *bytes = malloc((size_t)status.st_size);
    assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
    close(fd);
    *ret_size = (size_t)status.st_size;
    return bytes;
}

static void write_bytes(const char *bytes, size_t size) {
    char path[128];

    path_of(FILE_NAME, path);
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* Not used at all, or a part of it is refused; no name is another one. */
static bool is_refused(void) {
    struct pie_symbol_table *table = pie_symbol_cache_get(&module, false);
    bool refused = !table;

    for (int i = 0; table && i < SYMBOLS; i++) {
        int r = pie_symbol_table_reach(table, address_of(i));
        const char *name = pie_symbol_table_find(table, address_of(i));
        if (r == 0)
            assert_string_equal(name, names[i]);
        else
            assert_null(name);
        refused |= r == -EBADMSG;
    }
    pie_symbol_table_destroy(table);
    return refused;
}

static void test_a_damaged_file_is_not_used(void **state) {
    size_t size;

    put("", true);
    char *bytes = file_bytes(&size);
    for (size_t at = 0; at < size; at += 13) {
        bytes[at] ^= 0x10;
        write_bytes(bytes, size);
        assert_true(is_refused());
        bytes[at] ^= 0x10;
    }
    for (size_t cut = 0; cut < size; cut += 97) {
        write_bytes(bytes, cut);
        assert_true(is_refused());
    }
    put("", true);
    assert_true(is_there(true));
    free(bytes);
}

static void test_a_file_that_shrinks_while_it_is_used(void **state) {
    let_safe_loads_fault();
    put("", true);
    struct pie_symbol_table *table = pie_symbol_cache_get(&module, true);
    assert_int_equal(pie_symbol_table_reach(table, address_of(0)), 0);
    write_bytes("", 0);
    assert_int_equal(pie_symbol_table_reach(table, address_of(SYMBOLS - 1)), -EBADMSG);
    assert_null(pie_symbol_table_find(table, address_of(SYMBOLS - 1)));
    assert_string_equal(pie_symbol_table_find(table, address_of(0)), names[0]);
    pie_symbol_table_destroy(table);
}

/* What has not been reached costs no memory. */
static void test_only_what_is_reached_is_read(void **state) {
    put("", true);
    struct pie_symbol_table *whole = make_table(), *table = pie_symbol_cache_get(&module, true);
    size_t empty_bytes = pie_symbol_table_size_bytes(table);

    assert_int_equal(pie_symbol_table_count(table), SYMBOLS);
    assert_null(pie_symbol_table_find(table, address_of(70)));
    assert_int_equal(pie_symbol_table_reach(table, 0), 0);
    assert_int_equal(pie_symbol_table_size_bytes(table), empty_bytes);
    assert_int_equal(pie_symbol_table_reach(table, address_of(70)), 0);
    assert_string_equal(pie_symbol_table_find(table, address_of(127)), names[127]); /* of the same 64 */
    assert_null(pie_symbol_table_find(table, address_of(63)));
    assert_null(pie_symbol_table_find(table, address_of(128)));
    size_t read_bytes = pie_symbol_table_size_bytes(table) - empty_bytes;
    assert_in_range(read_bytes, 64 * 16, 64 * (16 + sizeof names[0]));
    assert_int_equal(pie_symbol_table_reach(table, address_of(64)), 0);
    assert_int_equal(pie_symbol_table_size_bytes(table), empty_bytes + read_bytes);
    assert_true(pie_symbol_table_size_bytes(table) < pie_symbol_table_size_bytes(whole) / 2);
    pie_symbol_table_destroy(table);
    pie_symbol_table_destroy(whole);
}

/* Of the file's pages few stay in memory, whatever the kernel maps around those that are read. */
static void test_the_file_is_not_kept_in_memory(void **state) {
    char line[256], path[128];
    bool is_file = false, was_seen = false;

    put("", true);
    struct pie_symbol_table *table = pie_symbol_cache_get(&module, true);
    for (int i = 0; i < 256; i += 64)
        assert_int_equal(pie_symbol_table_reach(table, address_of(i)), 0);
    path_of(FILE_NAME, path);
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        if (line[strcspn(line, "-:")] == '-') /* the head of a mapping */
            is_file = strstr(line, path) != NULL;
        if (is_file && strncmp(line, "Rss:", 4) == 0) {
            assert_int_equal(strtol(line + 4, NULL, 10), 0);
            was_seen = true;
        }
    }
    fclose(maps);
    assert_true(was_seen);
    pie_symbol_table_destroy(table);
}

/* The module itself is asked then, and the file replaced. */
static void test_a_damaged_block_sends_to_the_module(void **state) {
    struct pie_module_entry own = module;
    struct pie_module_symbols symbols = {0};
    struct pie_module_files_limits limits = {.symbol_bytes = 1 << 20};
    struct pie_symbolizer_counters counters = {0};
    size_t size;

    put("", true);
    char *bytes = file_bytes(&size);
    bytes[size - 100] ^= 1; /* in the last block */
    write_bytes(bytes, size);
    free(bytes);
    pie_module_symbols_load(&symbols, &own, address_of(0), &limits, &counters);
    assert_true(symbols.is_complete);
    assert_string_equal(pie_symbol_table_find(symbols.table, address_of(0)), names[0]);
    assert_true(pie_module_symbols_reach(&symbols, address_of(1)));
    assert_false(pie_module_symbols_reach(&symbols, address_of(SYMBOLS - 1)));
    assert_null(symbols.table);
    assert_false(symbols.is_complete);
    pie_module_symbols_load(&symbols, &own, address_of(SYMBOLS - 1), &limits, &counters);
    assert_int_equal(counters.unreadable_modules, 1); /* module.so is not there */
    pie_module_symbols_finish(&symbols);
}

static int unpacked(uint64_t *words, size_t head, size_t size, struct pie_symbol_table **ret_table) {
    char *block = malloc(head + 8);

    memcpy(block + 8, words, head);
    int r = pie_symbol_table_unpack(block, 8, head, (char *)words + head, size - head, ret_table);
    if (r < 0)
        free(block);
    return r;
}

/* The result of reach() for the first symbol, or of unpack() where that fails. */
static int result_of(uint64_t *words, size_t head, size_t size) {
    struct pie_symbol_table *table;
    int r = unpacked(words, head, size, &table);

    if (r == 0) {
        r = pie_symbol_table_reach(table, address_of(0));
        pie_symbol_table_destroy(table);
    }
    return r;
}

/* Bytes that are no table, whatever their check. */
static void test_what_is_no_table_is_not_unpacked(void **state) {
    struct pie_symbol_table *table = make_table(), *other;
    size_t size = pie_symbol_table_packed_bytes(table), head = pie_symbol_table_head_bytes(table);
    uint64_t *words = malloc(size);

    pie_symbol_table_pack(table, words);
    assert_int_equal(unpacked(words, head, size, &other), 0);
    assert_int_equal(pie_symbol_table_reach(other, address_of(0)), 0);
    assert_string_equal(pie_symbol_table_find(other, address_of(0)), names[0]);
    pie_symbol_table_destroy(other); /* with the block */
    for (size_t word = 0; word < head / 8; word++)
        for (int bit = 0; bit < 64; bit += 63) { /* counts, places and starts */
            pie_symbol_table_pack(table, words);
            words[word] ^= UINT64_C(1) << bit;
            int r = result_of(words, head, size);
            assert_true(r == 0 || r == -EBADMSG);
        }
    pie_symbol_table_pack(table, words);
    words[1] = INT64_MAX; /* where names of the module's file lie */
    assert_int_equal(result_of(words, head, size), -EBADMSG);
    for (uint64_t count = 0; count < 3; count++) {
        pie_symbol_table_pack(table, words);
        words[0] = count ? UINT64_MAX / count : 0;
        assert_int_equal(result_of(words, head, size), -EBADMSG);
    }
    pie_symbol_table_pack(table, words);
    for (size_t cut = 0; cut < head; cut += 7)
        assert_int_equal(result_of(words, cut, size), -EBADMSG);
    for (size_t cut = head; cut < size; cut += 7)
        assert_int_equal(result_of(words, head, cut), -EBADMSG);
    free(words);
    pie_symbol_table_destroy(table);
}

static void test_a_debug_file_that_is_installed_later_counts(void **state) {
    char path[128];

    put("module.debug", true);
    assert_true(is_there(true));
    path_of("module.debug", path);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_false(is_there(true));
    assert_int_equal(unlink(path), 0);
    assert_true(is_there(true));
}

static void test_a_folder_that_others_may_write_to_is_not_used(void **state) {
    char path[128];

    put("", true);
    path_of("pieprof/symbols", path);
    assert_int_equal(chmod(path, 0777), 0);
    assert_false(is_there(true));
    assert_int_equal(chmod(path, 0700), 0);
    path_of(FILE_NAME, path);
    assert_int_equal(chmod(path, 0666), 0);
    assert_false(is_there(true));
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(is_there(true));
}

static void test_a_link_in_its_place_is_not_followed(void **state) {
    char path[128], to[128];

    put("", true);
    path_of(FILE_NAME, path);
    path_of("elsewhere", to);
    assert_int_equal(rename(path, to), 0);
    assert_int_equal(symlink(to, path), 0);
    assert_false(is_there(true));
    put("", true); /* replaces the link, not the file behind it */
    assert_true(is_there(true));
    assert_int_equal(unlink(to), 0);
    assert_true(is_there(true));
}

static void test_where_there_are_no_caches_none_are_made(void **state) {
    char home[128], cache[160];

    path_of("home", home);
    assert_int_equal(mkdir(home, 0700), 0);
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", home, 1);
    pie_symbol_cache_begin();
    put("", true);
    assert_false(is_there(true));
    assert_int_equal(files_in("home"), 0);
    snprintf(cache, sizeof cache, "%s/.cache", home);
    assert_int_equal(mkdir(cache, 0700), 0);
    put("", true);
    assert_true(is_there(true));
    setenv("XDG_CACHE_HOME", "relative", 1); /* counts as not set */
    pie_symbol_cache_begin();
    assert_true(is_there(true));
    setenv("XDG_CACHE_HOME", caches, 1);
    pie_symbol_cache_begin();
    assert_true(is_there(true)); /* that of the other tests */
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    pie_symbol_cache_begin();
    assert_false(is_there(true));
    pie_symbol_cache_set(caches);
}

/* All of a file is one writer's. */
static void test_writers_at_the_same_time(void **state) {
    enum { WRITERS = 3, ROUNDS = 200, BYTES = 100000 };
    static char bytes[BYTES];
    size_t size;

    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            memset(bytes, 'a' + i, sizeof bytes);
            for (int round = 0; round < ROUNDS; round++)
                pie_symbol_cache_write(caches, "shared", bytes, sizeof bytes - (size_t)i);
            _exit(0);
        }
    for (int ended = 0; ended < WRITERS;) {
        char *read = pie_symbol_cache_map(caches, "shared", BYTES, &size);
        for (size_t i = 0; read && i < size; i++)
            assert_int_equal(read[i], read[0]);
        if (read) {
            assert_int_equal(size, sizeof bytes - (size_t)(read[0] - 'a'));
            munmap(read, size);
        }
        ended += waitpid(-1, NULL, WNOHANG) > 0;
    }
    char path[128];
    path_of("pieprof/symbols/shared", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(files_in("pieprof/symbols"), 1); /* no half of a file is left */
}

/* The size is what counts: files of holes take no room. */
static void make_old(const char *name, off_t bytes, time_t used_s) {
    char path[128];
    const struct timespec times[2] = {{.tv_sec = used_s}, {.tv_sec = used_s}};

    path_of(name, path);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(ftruncate(fd, bytes), 0);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static bool exists(const char *name) {
    char path[128];

    path_of(name, path);
    return access(path, F_OK) == 0;
}

static void test_the_oldest_go(void **state) {
    make_old("pieprof/symbols/first", 15 << 20, 1000000);
    make_old("pieprof/symbols/second", 15 << 20, 2000000);
    make_old("pieprof/symbols/third", 15 << 20, 3000000);
    make_old("pieprof/symbols/fourth", 15 << 20, 4000000);
    make_old("pieprof/symbols/.1-2", 10, 1000000); /* what somebody did not finish */
    put("", true);
    assert_false(exists("pieprof/symbols/.1-2"));
    assert_true(exists("pieprof/symbols/first"));
    make_old("pieprof/symbols/fifth", 15 << 20, 5000000);
    put("", true);
    assert_false(exists("pieprof/symbols/first"));
    assert_false(exists("pieprof/symbols/second"));
    assert_true(exists("pieprof/symbols/third"));
    assert_true(is_there(true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_is_kept),
        cmocka_unit_test(test_only_modules_with_a_build_id),
        cmocka_unit_test(test_a_damaged_file_is_not_used),
        cmocka_unit_test(test_a_file_that_shrinks_while_it_is_used),
        cmocka_unit_test(test_only_what_is_reached_is_read),
        cmocka_unit_test(test_the_file_is_not_kept_in_memory),
        cmocka_unit_test(test_a_damaged_block_sends_to_the_module),
        cmocka_unit_test(test_what_is_no_table_is_not_unpacked),
        cmocka_unit_test(test_a_debug_file_that_is_installed_later_counts),
        cmocka_unit_test(test_a_folder_that_others_may_write_to_is_not_used),
        cmocka_unit_test(test_a_link_in_its_place_is_not_followed),
        cmocka_unit_test(test_where_there_are_no_caches_none_are_made),
        cmocka_unit_test(test_writers_at_the_same_time),
        cmocka_unit_test(test_the_oldest_go),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
