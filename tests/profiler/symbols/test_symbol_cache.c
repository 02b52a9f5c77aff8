/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/symbol_cache.h"

#include "profiler/base/own_memory.h"
#include "profiler/symbols/symbol_cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static struct pie_symbol_table *make_table(void) {
    struct pie_symbol_table_builder *builder;
    struct pie_symbol_table *table;

    assert_int_equal(pie_symbol_table_builder_create(&builder), 0);
    for (int i = 0; i < SYMBOLS; i++) {
        snprintf(names[i], sizeof names[i], "function_%d", i);
        assert_int_equal(pie_symbol_table_add(builder, names[i], ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                              0x1000 + (uint64_t)i * SYMBOL_BYTES, SYMBOL_BYTES, UINT64_MAX),
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
    for (int i = 0; i < SYMBOLS; i++)
        assert_string_equal(
            pie_symbol_table_find(table, 0x1000 + (uint64_t)i * SYMBOL_BYTES + SYMBOL_BYTES - 1), names[i]);
    assert_null(pie_symbol_table_find(table, 0xfff));
    assert_null(pie_symbol_table_find(table, 0x1000 + (uint64_t)SYMBOLS * SYMBOL_BYTES));
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

static void test_a_damaged_file_is_not_used(void **state) {
    size_t size;

    put("", true);
    char *bytes = file_bytes(&size);
    for (size_t at = 0; at < size; at += 13) {
        bytes[at] ^= 0x10;
        write_bytes(bytes, size);
        assert_null(pie_symbol_cache_get(&module, false));
        bytes[at] ^= 0x10;
    }
    for (size_t cut = 0; cut < size; cut += 97) {
        write_bytes(bytes, cut);
        assert_null(pie_symbol_cache_get(&module, false));
    }
    put("", true);
    assert_true(is_there(true));
    free(bytes);
}

/* Bytes with the right check that are no table. */
static void test_what_is_no_table_is_not_unpacked(void **state) {
    struct pie_symbol_table *table = make_table(), *other;
    size_t size = pie_symbol_table_packed_bytes(table);
    uint64_t *words = malloc(size + 8);

    pie_symbol_table_pack(table, words);
    char *block = malloc(size + 8);
    memcpy(block + 8, words, size);
    assert_int_equal(pie_symbol_table_unpack(block, 8, size, &other), 0);
    assert_string_equal(pie_symbol_table_find(other, 0x1000), pie_symbol_table_find(table, 0x1000));
    pie_symbol_table_destroy(other); /* with the block */
    words[4] = UINT64_MAX;           /* the first start */
    assert_int_equal(pie_symbol_table_unpack(words, 0, size, &other), -EBADMSG);
    words[4] = 0x1000;
    words[5] |= (uint64_t)INT32_MAX << 32; /* its name */
    assert_int_equal(pie_symbol_table_unpack(words, 0, size, &other), -EBADMSG);
    pie_symbol_table_pack(table, words);
    words[5] |= (uint64_t)1 << 63; /* its name was left in the file, where none are */
    assert_int_equal(pie_symbol_table_unpack(words, 0, size, &other), -EBADMSG);
    pie_symbol_table_pack(table, words);
    words[2] = INT64_MAX; /* where such names lie */
    assert_int_equal(pie_symbol_table_unpack(words, 0, size, &other), -EBADMSG);
    pie_symbol_table_pack(table, words);
    ((char *)words)[size - 1] = 'x'; /* the last name has no end */
    assert_int_equal(pie_symbol_table_unpack(words, 0, size, &other), -EBADMSG);
    for (uint64_t count = 0; count < 3; count++) {
        pie_symbol_table_pack(table, words);
        words[0] = count ? UINT64_MAX / count : 0;
        assert_int_equal(pie_symbol_table_unpack(words, 0, size, &other), -EBADMSG);
    }
    for (size_t cut = 0; cut < size; cut += 7) {
        pie_symbol_table_pack(table, words);
        assert_int_equal(pie_symbol_table_unpack(words, 0, cut, &other), -EBADMSG);
    }
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
        char *read = pie_symbol_cache_read(caches, "shared", BYTES, &size);
        for (size_t i = 0; read && i < size; i++)
            assert_int_equal(read[i], read[0]);
        if (read)
            assert_int_equal(size, sizeof bytes - (size_t)(read[0] - 'a'));
        pie_free(read);
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
