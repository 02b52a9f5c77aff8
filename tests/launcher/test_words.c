/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/text/words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Expects string to split into the words that follow, up to NULL. */
static void expect_words(const char *string, ...) {
    char **words = pie_words_split(string);
    va_list expected;
    assert_non_null(words);
    va_start(expected, string);
    size_t i = 0;
    for (const char *word; (word = va_arg(expected, const char *)); i++) {
        assert_non_null(words[i]);
        assert_string_equal(words[i], word);
    }
    assert_null(words[i]);
    va_end(expected);
    free(words);
}

static void test_blanks_separate_and_quotes_join(void **state) {
    expect_words("", NULL);
    expect_words(" \t\n ", NULL);
    expect_words("a", "a", NULL);
    expect_words(" a  b\tc\n", "a", "b", "c", NULL);
    expect_words("'a b' \"c d\" e\\ f", "a b", "c d", "e f", NULL);
    expect_words("a'b c'd", "ab cd", NULL);
    expect_words("'' \"\"", "", "", NULL);
    expect_words("'it'\\''s'", "it's", NULL);
    expect_words("\"a\\\"b\\\\c\\d\"", "a\"b\\c\\d", NULL);
    expect_words("'a\\b'", "a\\b", NULL);
}

static void test_an_open_quote_is_refused(void **state) {
    static const char *const open[] = {"'", "\"", "a 'b", "a \"b\\\"", "a\\"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        errno = 0;
        assert_null(pie_words_split(open[i]));
        assert_int_equal(errno, EINVAL);
    }
}

static char *random_word(unsigned *seed) {
    static const char letters[] = "ab '\"\\\t\n$;\xc3\xa9";
    static char word[24];
    size_t length = (size_t)rand_r(seed) % (sizeof word - 1);
    for (size_t i = 0; i < length; i++)
        word[i] = letters[(size_t)rand_r(seed) % (sizeof letters - 1)];
    word[length] = '\0';
    return word;
}

static void test_what_is_appended_is_split_again(void **state) {
    unsigned seed = 1;
    for (int round = 0; round < 2000; round++) {
        char *string = NULL, *expected[8];
        size_t n = (size_t)rand_r(&seed) % 8;
        for (size_t i = 0; i < n; i++) {
            expected[i] = strdup(random_word(&seed));
            assert_int_equal(pie_words_append(&string, expected[i]), 0);
        }
        char **words = pie_words_split(string ? string : "");
        assert_non_null(words);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(words[i], expected[i]);
            free(expected[i]);
        }
        assert_null(words[n]);
        free(words);
        free(string);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blanks_separate_and_quotes_join),
        cmocka_unit_test(test_an_open_quote_is_refused),
        cmocka_unit_test(test_what_is_appended_is_split_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
