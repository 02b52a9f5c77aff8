/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "storage/write/rowlog.h"
#include "storage/own/source_text.h"
#include "storage/base/utf8.h"
#include "tests/storage/folder.h"

static char taken[8192];

static int take(void *data, const char *path, int32_t line, const char *text) {
    size_t size = strlen(taken);
    snprintf(taken + size, sizeof taken - size, "%d:%s|", line, text);
    return 0;
}

/* 40 lines: a function from 11 to 14, at module level after it. */
static void write_source(const char *folder) {
    char text[2048] = "";
    for (int i = 1; i <= 40; i++) {
        char line[64];
        snprintf(line, sizeof line,
                 i == 11            ? "def f(a,\n"
                 : i == 12          ? "):\n"
                 : i > 12 && i < 15 ? "    x%d  \n"
                                    : "y%d\n",
                 i);
        strcat(text, line);
    }
    pie_folder_write(folder, "a.py", text);
}

static const char *flush(struct pie_source_text *source) {
    taken[0] = 0;
    assert_int_equal(pie_source_text_flush(source, NULL, take, NULL), 0);
    return taken;
}

static void test_own_functions_are_kept_whole_and_each_line_once(void **state) {
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.py");
    struct pie_source_text *source;
    write_source(folder);
    assert_int_equal(pie_source_text_create(&source), 0);
    assert_int_equal(pie_source_text_want(source, 1, path, true, 11, 13), 0);
    assert_string_equal(flush(source), "10:y10|11:def f(a,|12:):|13:    x13|14:    x14|15:y15|16:y16|");
    assert_int_equal(pie_source_text_want(source, 1, path, true, 11, 14), 0);
    assert_string_equal(flush(source), "17:y17|");
    assert_int_equal(pie_source_text_want(source, 1, path, true, 0, 40), 0);
    assert_string_equal(flush(source), "37:y37|38:y38|39:y39|40:y40|");
    assert_string_equal(flush(source), "");
    pie_source_text_destroy(source);
    pie_folder_remove(folder);
}

static void test_of_library_code_only_the_line_is_kept(void **state) {
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.py");
    struct pie_source_text *source;
    write_source(folder);
    assert_int_equal(pie_source_text_create(&source), 0);
    assert_int_equal(pie_source_text_want(source, 3, path, false, 11, 13), 0);
    assert_int_equal(pie_source_text_want(source, 3, path, false, 11, 4000), 0);
    assert_int_equal(pie_source_text_want(source, 3, path, false, 11, -5), 0);
    assert_string_equal(flush(source), "13:    x13|");
    pie_source_text_destroy(source);
    pie_folder_remove(folder);
}

static void test_a_file_that_changed_or_cannot_be_read_gives_nothing(void **state) {
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.py");
    struct pie_source_text *source;
    write_source(folder);
    assert_int_equal(pie_source_text_create(&source), 0);
    assert_int_equal(pie_source_text_want(source, 1, path, false, 0, 1), 0);
    assert_string_equal(flush(source), "1:y1|");
    pie_folder_write(folder, "a.py", "other\ntext\n");
    assert_int_equal(pie_source_text_want(source, 1, path, false, 0, 2), 0);
    assert_int_equal(pie_source_text_want(source, 2, "<string>", true, 0, 2), 0);
    assert_int_equal(pie_source_text_want(source, 4, "/no/such/file.py", true, 0, 2), 0);
    assert_int_equal(pie_source_text_want(source, 5, folder, true, 0, 1), 0);
    assert_string_equal(flush(source), "");
    pie_source_text_destroy(source);
    pie_folder_remove(folder);
}

static void test_long_lines_are_cut_between_characters(void **state) {
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.py");
    struct pie_source_text *source;
    char text[2000];
    memset(text, 'x', sizeof text);
    memcpy(text + PIE_SOURCE_LINE_MAX_BYTES - 1, "\xc3\xa9", 2);
    strcpy(text + 1990, "\r\ny\rz");
    pie_folder_write(folder, "a.py", text);
    assert_int_equal(pie_source_text_create(&source), 0);
    for (int line = 1; line <= 3; line++)
        assert_int_equal(pie_source_text_want(source, 1, path, false, 0, line), 0);
    flush(source);
    assert_int_equal(strcspn(taken, "|"), 2 + PIE_SOURCE_LINE_MAX_BYTES - 1);
    assert_string_equal(strchr(taken, '|'), "|2:y|3:z|");
    pie_source_text_destroy(source);
    pie_folder_remove(folder);
}

/* Reading goes in chunks of 64 KiB, and ends soon after the last wanted line. */
static void test_lines_far_into_a_file_end_as_python_ends_them(void **state) {
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    const char *folder = pie_folder_make(), *path = pie_folder_path(folder, "a.py");
    const size_t room = 700000;
    char *text = malloc(room), expected[128];
    for (int end = 0; end < 3; end++) {
        /* one byte more in front each time, so that each byte of a line's end is a chunk's last once */
        for (int shift = 0; shift < 12; shift++) {
            struct pie_source_text *source;
            size_t size = (size_t)sprintf(text, "%.*s", shift, "############");
            for (int line = 1; line <= 50000; line++)
                size += (size_t)sprintf(text + size, "x%06d%s", line, ends[end]);
            assert_true(size < room);
            pie_folder_write(folder, "a.py", text);
            assert_int_equal(pie_source_text_create(&source), 0);
            for (int line = 7281; line <= 7283; line++)
                assert_int_equal(pie_source_text_want(source, 1, path, false, 0, line), 0);
            assert_int_equal(pie_source_text_want(source, 1, path, false, 0, 8192), 0);
            assert_int_equal(pie_source_text_want(source, 1, path, false, 0, 50000), 0);
            assert_int_equal(pie_source_text_want(source, 1, path, false, 0, 50001), 0);
            assert_string_equal(flush(source), "7281:x007281|7282:x007282|7283:x007283|8192:x008192|"
                                               "50000:x050000|");
            snprintf(expected, sizeof expected, "1:%.*sx000001|9362:x009362|", shift, "############");
            assert_int_equal(pie_source_text_want(source, 1, path, false, 0, 1), 0);
            assert_int_equal(pie_source_text_want(source, 1, path, false, 0, 9362), 0);
            assert_string_equal(flush(source), expected);
            pie_source_text_destroy(source);
        }
    }
    free(text);
    pie_folder_remove(folder);
}

static void test_invalid_utf8_is_replaced(void **state) {
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain", "plain"},
        {"\xc3\xa9", "\xc3\xa9"},
        {"a\xff", "a\xef\xbf\xbd"},
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xf0\x9f", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[64];
        out[pie_utf8_clean(out, cases[i].in, strlen(cases[i].in))] = 0;
        assert_string_equal(out, cases[i].out);
    }
}

static void test_a_full_row_log_refuses_and_keeps_what_it_has(void **state) {
    struct pie_rowlog log = {0};
    char *big = malloc((8 << 20) + 1);
    memset(big, 'x', 8 << 20);
    big[8 << 20] = 0;
    int r = 0, rows = 0;
    size_t size = 0;
    for (; rows < 100 && r == 0; rows++) {
        size = log.size;
        r = pie_rowlog_add(&log, 1, "it", (int64_t)rows, big);
    }
    assert_int_equal(r, -ENOBUFS);
    assert_true(rows > 2);
    assert_int_equal(log.size, size);
    assert_true(log.size <= PIE_ROWLOG_MAX_BYTES);
    pie_rowlog_finish(&log);
    free(big);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_functions_are_kept_whole_and_each_line_once),
        cmocka_unit_test(test_of_library_code_only_the_line_is_kept),
        cmocka_unit_test(test_a_file_that_changed_or_cannot_be_read_gives_nothing),
        cmocka_unit_test(test_long_lines_are_cut_between_characters),
        cmocka_unit_test(test_lines_far_into_a_file_end_as_python_ends_them),
        cmocka_unit_test(test_invalid_utf8_is_replaced),
        cmocka_unit_test(test_a_full_row_log_refuses_and_keeps_what_it_has),
    };
    return cmocka_run_group_tests_name("source_text", tests, NULL, NULL);
}
