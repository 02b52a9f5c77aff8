/* SPDX-License-Identifier: Apache-2.0 */
/* How findings are printed: figures, places, wrapped text and call paths, without a profile. */
#include "launcher/answers/finding.h"
#include "launcher/answers/paths.h"
#include "launcher/text/text.h"
#include "launcher/text/wrap.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct pie_style plain = {.bold = "", .dim = "", .hot = "", .warm = "", .plain = ""};

static void expect_wrapped(const char *text, size_t at, size_t indent, size_t columns, const char *expected) {
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    pie_wrap_print(out, text, at, indent, columns);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
}

static void test_text_is_broken_at_blanks(void **state) {
    expect_wrapped("", 0, 0, 20, "\n");
    expect_wrapped("one", 0, 0, 20, "one\n");
    expect_wrapped("one two three", 0, 0, 7, "one two\nthree\n");
    expect_wrapped("one two three", 0, 0, 8, "one two\nthree\n");
    expect_wrapped("one two three", 4, 2, 8, " one\n  two\n  three\n");
    expect_wrapped("one two three", 2, 2, 9, "one two\n  three\n");
    expect_wrapped("one two", 6, 2, 8, "\n  one\n  two\n");
    expect_wrapped("  one   two ", 0, 0, 20, "one two\n");
    expect_wrapped("a_word_longer_than_the_line b", 0, 1, 10, "a_word_longer_than_the_line\n b\n");
    expect_wrapped("ééé ééé", 0, 0, 7, "ééé ééé\n");
    expect_wrapped("ééé ééé", 0, 0, 6, "ééé\nééé\n");
}

static void test_no_line_is_wider_than_the_screen(void **state) {
    unsigned seed = 7;
    for (int round = 0; round < 500; round++) {
        char text[400], *printed = NULL, *rest;
        size_t size = 0, length = (size_t)rand_r(&seed) % (sizeof text - 1);
        for (size_t i = 0; i < length; i++)
            text[i] = rand_r(&seed) % 5 == 0 || i % 11 == 10 ? ' ' : 'x';
        text[length] = '\0';
        FILE *out = open_memstream(&printed, &size);
        pie_wrap_print(out, text, 0, 3, 20);
        fclose(out);
        size_t letters = 0;
        for (char *line = strtok_r(printed, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            assert_true(strlen(line) <= 20);
            for (const char *p = line; *p; p++)
                letters += *p == 'x';
        }
        for (size_t i = 0; i < length; i++)
            letters -= text[i] == 'x';
        assert_int_equal(letters, 0);
        free(printed);
    }
}

static void expect_fraction(double fraction, double low, double high, const char *expected) {
    char text[32];
    struct pie_finding finding = {.redundant_fraction = fraction, .fraction_low = low, .fraction_high = high};
    pie_finding_fraction(&finding, text, sizeof text);
    assert_string_equal(text, expected);
}

static void test_a_fraction_says_how_sure_it_is(void **state) {
    expect_fraction(0.97, 0.951, 0.982, "97 ± 2 %");
    expect_fraction(0.5, 0.25, 0.75, "50 ± 25 %");
    expect_fraction(1, 0.999, 1, "100 ± 1 %");
    expect_fraction(1, 0.21, 1, "100 ± 79 %");
    expect_fraction(0.8, 0.7, 0.86, "80 ± 10 %");
    expect_fraction(0.5, NAN, NAN, "50 %");
    expect_fraction(NAN, NAN, NAN, "-");
}

/* What is printed of a finding under "wasted", with these figures in seconds. */
static void expect_figures(struct pie_finding finding, const char *expected) {
    char *printed = NULL, *line;
    size_t size = 0;
    struct pie_finding_screen screen = {
        .out = open_memstream(&printed, &size), .columns = 200, .style = plain};
    finding.line = finding.worst_line = finding.first_line = finding.user_line = NAN;
    finding.wasted_share = 0.5;
    pie_finding_print(&screen, &finding, 1);
    fclose(screen.out);
    assert_non_null(line = strstr(printed, "wasted      "));
    line[strcspn(line, "\n")] = '\0';
    assert_string_equal(line + strlen("wasted      "), expected);
    free(printed);
}

static void test_what_was_done_again_has_a_figure_of_its_own_where_it_is_less(void **state) {
    static char load[] = "load", store[] = "store", calls[] = "API misuse", computed[] = "computed again",
                moved[] = "moved again";
    struct pie_finding finding = {.kind = load, .category = calls, .redundant_fraction = NAN, .traps = 9};
    finding.wasted_s = 2, finding.wasted_s_low = 1.4, finding.wasted_s_high = 2.4;
    finding.again_s = 0.5, finding.again_s_low = 0.4, finding.again_s_high = 0.7;
    expect_figures(finding, "2.00 s (1.40 to 2.40), 50.0 % of the run; 0.50 s (0.40 to 0.70) of it looked up "
                            "again; - of the loads redundant (9 traps, sampler unknown)");
    finding.kind = store;
    assert_string_equal(pie_finding_again(&finding), "computed again");
    finding.kind = load, finding.again = computed, finding.again_s = 2;
    expect_figures(finding,
                   "2.00 s (1.40 to 2.40), 50.0 % of the run, computed again; - of the loads redundant "
                   "(9 traps, sampler unknown)");
    finding.traps = finding.again_s_low = finding.again_s_high = NAN, finding.again_s = 1.5;
    finding.again = moved;
    expect_figures(finding, "2.00 s (1.40 to 2.40), 50.0 % of the run; 1.50 s of it moved again");
}

static void test_what_was_not_watched_has_no_figures(void **state) {
    static char store[] = "store", computed[] = "computed again";
    struct pie_finding finding = {.kind = store, .again = computed, .redundant_fraction = NAN};
    expect_figures(finding, "unknown: no access was watched");
}

static void expect_place(const char *file, double line, const char *expected) {
    char *place = pie_finding_place(file, line);
    assert_string_equal(place, expected);
    free(place);
}

static void test_a_place_is_a_path_and_a_line(void **state) {
    expect_place("/a/b.py", 12, "/a/b.py:12");
    expect_place("/a/b.py", NAN, "/a/b.py");
    expect_place(NULL, 3, "?");
}

/* The paths of a pair printed without source text, on a screen of this width. Heap. */
static char *paths(char *kind, char *first, char *second, size_t columns) {
    struct pie_finding pair = {.kind = kind, .first_path = first, .second_path = second};
    char *printed = NULL;
    size_t size = 0;
    struct pie_finding_screen screen = {
        .out = open_memstream(&printed, &size), .columns = columns, .style = plain};
    assert_int_equal(pie_paths_print(&screen, &pair), 0);
    fclose(screen.out);
    return printed;
}

static char first_path[] =
    "[{\"kind\": \"python\", \"function\": \"main\", \"file\": \"/a/app.py\", \"line\": 3},"
    " {\"kind\": \"native\", \"function\": \"subscript\", \"library\": \"/lib/numpy.so\","
    "  \"offset\": 4660, \"file\": \"mapping.c\", \"line\": 26},"
    " {\"kind\": \"native\", \"function\": null, \"library\": \"/lib/numpy.so\","
    "  \"offset\": \"0xbeef\"}]";
static char second_path[] =
    "[{\"kind\": \"python\", \"function\": \"main\", \"file\": \"/a/app.py\", \"line\": 4}]";

static void test_both_paths_are_printed_innermost_first(void **state) {
    char *printed = paths("load", first_path, second_path, 0);
    assert_string_equal(printed, "   ----- first load ------------------------------------------------\n"
                                 "   (no symbol)  /lib/numpy.so  0xbeef\n"
                                 "   subscript    /lib/numpy.so  0x1234  mapping.c:26\n"
                                 "   main         /a/app.py:3\n"
                                 "   ----- second load: the same value from the same address ---------\n"
                                 "   main  /a/app.py:4\n");
    free(printed);
    printed = paths("store", first_path, second_path, 0);
    assert_non_null(strstr(printed, " first store "));
    assert_non_null(strstr(printed, " second store: the same value to the same address "));
    free(printed);
}

static void test_paths_fit_the_screen(void **state) {
    char long_path[1500];
    snprintf(long_path, sizeof long_path,
             "[{\"kind\": \"native\", \"function\": \"%0300d\", \"library\": \"/%0300d.so\", \"offset\": 1},"
             " {\"kind\": \"python\", \"function\": \"%0300d\", \"file\": \"/%0300d.py\", \"line\": 7}]",
             1, 2, 3, 4);
    for (size_t columns = 70; columns < 150; columns += 7) {
        char *printed = paths("load", long_path, second_path, columns), *rest;
        assert_non_null(strstr(printed, ".so  0x1\n"));
        assert_non_null(strstr(printed, ".py:7\n"));
        for (char *line = strtok_r(printed, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            assert_true(pie_text_width(line) <= columns);
        free(printed);
    }
}

static void test_a_damaged_path_is_said_to_be_unknown(void **state) {
    static char *const damaged[] = {NULL, "", "[", "{}", "7", "[]", "[{\"kind\": \"native\""};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        char *printed = paths("load", damaged[i], second_path, 80);
        assert_non_null(strstr(printed, "   (not known)\n"));
        assert_non_null(strstr(printed, "/a/app.py:4"));
        free(printed);
    }
    char *printed = paths("load", "[1, {\"kind\": 3, \"line\": \"x\"}, null]", second_path, 80);
    assert_non_null(strstr(printed, "(no symbol)  ?\n"));
    free(printed);
}

static void test_a_path_cannot_steer_the_terminal(void **state) {
    char *printed =
        paths("load", "[{\"kind\": \"python\", \"function\": \"a\\u001b[31m\", \"file\": \"b\\u0007\"}]",
              second_path, 80);
    assert_null(strchr(printed, '\033'));
    assert_null(strchr(printed, '\a'));
    free(printed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_broken_at_blanks),
        cmocka_unit_test(test_no_line_is_wider_than_the_screen),
        cmocka_unit_test(test_a_fraction_says_how_sure_it_is),
        cmocka_unit_test(test_what_was_done_again_has_a_figure_of_its_own_where_it_is_less),
        cmocka_unit_test(test_what_was_not_watched_has_no_figures),
        cmocka_unit_test(test_a_place_is_a_path_and_a_line),
        cmocka_unit_test(test_both_paths_are_printed_innermost_first),
        cmocka_unit_test(test_paths_fit_the_screen),
        cmocka_unit_test(test_a_damaged_path_is_said_to_be_unknown),
        cmocka_unit_test(test_a_path_cannot_steer_the_terminal),
    };
    pie_text_set_locale();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
