/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/ask/phrase.h"
#include "storage/ask/questions.h"
#include "storage/ask/refusals.h"
#include "storage/base/nearest.h"

static void test_words_are_split_at_blanks_and_kept_together_by_quotes(void **state) {
    const char *words[8];
    bool quoted[8];
    char buffer[64];
    assert_int_equal(pie_phrase_words("  hot\tlines in \"my file.py\" ", buffer, words, quoted, 8), 4);
    assert_string_equal(words[0], "hot");
    assert_string_equal(words[3], "my file.py");
    assert_true(quoted[3]);
    assert_false(quoted[2]);
    assert_int_equal(pie_phrase_words("", buffer, words, quoted, 8), 0);
    assert_int_equal(pie_phrase_words("'open", buffer, words, quoted, 8), -EINVAL);
    assert_int_equal(pie_phrase_words("a b c", buffer, words, NULL, 2), -E2BIG);
}

static struct pie_phrase parse(const char *text) {
    struct pie_phrase phrase;
    char *message = NULL;
    assert_int_equal(pie_phrase_parse(text, &phrase, &message), 0);
    assert_null(message);
    return phrase;
}

static void test_a_phrase_gives_question_limit_file_and_run(void **state) {
    struct pie_phrase phrase = parse("Top 10 hot lines in foo.py of run 3");
    assert_string_equal(phrase.question, "hot lines");
    assert_string_equal(phrase.file, "foo.py");
    assert_int_equal(phrase.limit, 10);
    assert_int_equal(phrase.run, 3);
    assert_string_equal(parse("the hot functions").question, "hot functions");
    assert_int_equal(parse("top hot lines").limit, PIE_PHRASE_TOP_DEFAULT);
    assert_int_equal(parse("5 threads").limit, 5);
    assert_int_equal(parse("hot lines").limit, 0);
    assert_true(parse("all hot lines").all);
    assert_true(parse("hot lines by function").by_function);
    assert_false(parse("hot lines by line").by_function);
    assert_string_equal(parse("hot lines in 'a b.py'").file, "a b.py");
    assert_string_equal(parse("runs").question, "runs");
    assert_string_equal(parse("hot lines of file run").file, "run");
}

static void test_a_place_has_a_file_and_a_line(void **state) {
    static const struct {
        const char *text, *question, *file;
        int64_t line;
    } cases[] = {
        {"pairs of foo.py:62", "pairs", "foo.py", 62},
        {"pairs foo.py:62", "pairs", "foo.py", 62},
        {"pairs at /a/foo.py:62", "pairs", "/a/foo.py", 62},
        {"pairs of file foo.py:62 of run 3", "pairs", "foo.py", 62},
        {"redundancy in foo.py line 7", "redundancy", "foo.py", 7},
        {"redundancy of line 7 in foo.py", "redundancy", "foo.py", 7},
        {"line 7 of foo.py redundancy", "redundancy", "foo.py", 7},
        {"pairs of 'a b.py' line 3", "pairs", "a b.py", 3},
        {"pairs of 'a b.py':3", "pairs", "a b.py", 3},
        {"pairs of 'a:3'", "pairs", "a:3", 0},
        {"pairs of a:b.py", "pairs", "a:b.py", 0},
        {"pairs of a.py:", "pairs", "a.py:", 0},
        {"pairs of <string>:1", "pairs", "<string>", 1},
        {"pairs of a.py:1:2", "pairs", "a.py:1", 2},
        {"hot lines in foo.py", "hot lines", "foo.py", 0},
        {"hot line in line.py", "hot line", "line.py", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pie_phrase phrase = parse(cases[i].text);
        assert_string_equal(phrase.question, cases[i].question);
        assert_string_equal(phrase.file, cases[i].file);
        assert_int_equal(phrase.line, cases[i].line);
    }
}

static void test_a_wrong_phrase_is_refused_with_one_line(void **state) {
    static const char *const wrong[] = {
        "top 0 hot lines",     "top -1 lines",           "top 99999999999999999999 lines",
        "hot lines in",        "hot lines of run 0",     "lines in a.py in b.py",
        "hot lines sort by",   "hot lines by",           "hot \"lines",
        "lines in ''",         "pairs of a.py:0",        "pairs of :3",
        "pairs a.py:1 b.py:2", "pairs of a.py:1 line 2", "pairs of a.py:99999999999999999999",
        "line 0 of a.py",      "line 3 of run 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pie_phrase phrase;
        char *message = NULL;
        assert_true(pie_phrase_parse(wrong[i], &phrase, &message) < 0);
        assert_non_null(message);
        assert_null(strchr(message, '\n'));
        free(message);
    }
    char *longer = malloc(PIE_PHRASE_MAX_BYTES + 2), *message = NULL;
    struct pie_phrase phrase;
    memset(longer, 'x', PIE_PHRASE_MAX_BYTES + 1);
    longer[PIE_PHRASE_MAX_BYTES + 1] = 0;
    assert_int_equal(pie_phrase_parse(longer, &phrase, &message), -E2BIG);
    free(message);
    free(longer);
}

static void test_every_question_is_found_by_its_names(void **state) {
    size_t count;
    const struct pie_question *questions = pie_question_all(&count);
    assert_true(count >= 8);
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(pie_question_find(questions[i].name), &questions[i]);
    assert_string_equal(pie_question_find("lines")->name, "hot lines");
    assert_string_equal(pie_question_find("native")->name, "native functions");
    assert_string_equal(pie_question_find("findings")->name, "redundancy");
    assert_string_equal(pie_question_find("wasted loads")->name, "redundant loads");
    assert_string_equal(pie_question_find("redundant writes")->name, "redundant stores");
    assert_null(pie_question_find("hot line s"));
    assert_null(pie_question_find(""));
}

/* Names are found in the order of the table, so an alias that another question has too would never be reached. */
static void test_no_name_means_two_things(void **state) {
    size_t count;
    const struct pie_question *questions = pie_question_all(&count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(questions[i].aliases);
        char *aliases = strdup(questions[i].aliases), *rest = aliases;
        for (char *alias; (alias = strsep(&rest, "|"));) {
            assert_true(*alias);
            assert_string_equal(pie_question_find(alias)->name, questions[i].name);
        }
        free(aliases);
        if (questions[i].by_function)
            assert_non_null(pie_question_find(questions[i].by_function));
        if (questions[i].in_place)
            assert_true(pie_question_has(pie_question_find(questions[i].in_place), PIE_PLACE_FILE, true));
        if (!pie_question_chooses_rows(&questions[i], PIE_PLACE_FILE))
            assert_null(questions[i].files);
        if (questions[i].by_total)
            assert_non_null(pie_question_find(questions[i].by_total));
        assert_null(pie_refusal_find(questions[i].name));
    }
}

static void test_only_conditions_that_were_asked_for_are_in_the_statement(void **state) {
    struct pie_phrase phrase = parse("top 3 leaks in foo.py");
    char *sql = pie_question_sql(pie_question_find("leaks"), &phrase, PIE_PLACE_FILE, NULL, false);
    assert_non_null(strstr(sql, "run = :run"));
    assert_non_null(strstr(sql, "in_place('file', :in, file) OR in_place('file', :in, user_file)"));
    assert_non_null(strstr(sql, "LIMIT :limit"));
    assert_null(strstr(sql, ":line"));
    free(sql);
    phrase = parse("redundant loads in foo.py:5");
    sql = pie_question_sql(pie_question_find("redundant loads"), &phrase, PIE_PLACE_FILE, NULL, false);
    assert_non_null(strstr(sql, "kind = 'load'"));
    assert_non_null(strstr(sql, "line = :line"));
    assert_null(strstr(sql, ":limit"));
    free(sql);
    phrase = parse("hot lines in foo.py"); /* contexts are chosen before */
    sql = pie_question_sql(pie_question_find("hot lines"), &phrase, PIE_PLACE_FILE, NULL, false);
    assert_null(strstr(sql, ":in"));
    free(sql);
    phrase = parse("runs");
    sql = pie_question_sql(pie_question_find("runs"), &phrase, PIE_PLACE_ANY, NULL, false);
    assert_null(strstr(sql, ":"));
    free(sql);
}

static void test_an_order_is_a_column_of_the_question(void **state) {
    static const struct {
        const char *question, *word, *column;
    } cases[] = {
        {"hot lines", "wait", "wait_s"},
        {"hot lines", "time", "cpu_s"},
        {"own functions", "cpu", "total_s"},
        {"own functions", "self", "self_s"},
        {"memory", "size", "allocated_bytes"},
        {"copies", "bytes", "bytes"},
        {"threads", "waiting", "wait_s"},
        {"runs", "samples", "samples"},
        {"leaks", "wait", NULL},
        {"hot lines", "nonsense", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *column = pie_question_order(pie_question_find(cases[i].question), cases[i].word);
        if (cases[i].column)
            assert_string_equal(column, cases[i].column);
        else
            assert_null(column);
    }
    assert_string_equal(parse("threads by wait").order, "wait");
    assert_string_equal(parse("hot lines sort by Wait time").order, "wait");
    assert_string_equal(parse("hot lines by function").order, "");
}

static void test_a_question_and_its_place_may_be_one(void **state) {
    static const struct {
        const char *text, *question, *name;
        enum pie_place_kind kind;
    } cases[] = {
        {"who calls work", "callers", "work", PIE_PLACE_ANY},
        {"what does work call", "callees", "work", PIE_PLACE_ANY},
        {"callers of work", "callers", "work", PIE_PLACE_ANY},
        {"hot lines where library = 'a b'", "hot lines", "a b", PIE_PLACE_LIBRARY},
        {"lines where file is a.py", "lines", "a.py", PIE_PLACE_FILE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pie_phrase phrase = parse(cases[i].text);
        assert_string_equal(phrase.question, cases[i].question);
        assert_string_equal(phrase.file, cases[i].name);
        assert_int_equal(phrase.kind, cases[i].kind);
    }
    assert_string_equal(parse("who calls").question, "who calls");
}

static void test_a_place_may_say_what_it_is(void **state) {
    static const struct {
        const char *text, *name;
        enum pie_place_kind kind;
    } cases[] = {
        {"hot lines in foo.py", "foo.py", PIE_PLACE_ANY},
        {"hot lines of thread 2", "2", PIE_PLACE_THREAD},
        {"hot lines in function work", "work", PIE_PLACE_FUNCTION},
        {"copies in library numpy", "numpy", PIE_PLACE_LIBRARY},
        {"copies in folder src", "src", PIE_PLACE_FOLDER},
        {"copies in file x", "x", PIE_PLACE_FILE},
        {"copies in library", "library", PIE_PLACE_ANY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pie_phrase phrase = parse(cases[i].text);
        assert_string_equal(phrase.file, cases[i].name);
        assert_int_equal(phrase.kind, cases[i].kind);
    }
    assert_true(parse("top all hot lines").all);
    assert_int_equal(parse("top all hot lines").limit, 0);
}

static const char *nearest_to(const char *text) {
    static const char *const names[] = {"hot lines", "hot functions", "native functions", "threads",
                                        "overhead"};
    size_t found;
    return pie_nearest_choose(text, names, 5, &found, 1) ? names[found] : NULL;
}

static void test_the_nearest_phrase_is_the_one_meant(void **state) {
    assert_string_equal(nearest_to("hot liens"), "hot lines");
    assert_string_equal(nearest_to("nativ function"), "native functions");
    assert_string_equal(nearest_to("thraeds"), "threads");
    assert_string_equal(nearest_to("over head"), "overhead");
    assert_null(nearest_to("zzzzzz"));
    assert_null(nearest_to(""));
    assert_true(pie_nearest_distance("hot lines", "hot lines") == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_split_at_blanks_and_kept_together_by_quotes),
        cmocka_unit_test(test_a_phrase_gives_question_limit_file_and_run),
        cmocka_unit_test(test_a_place_has_a_file_and_a_line),
        cmocka_unit_test(test_a_wrong_phrase_is_refused_with_one_line),
        cmocka_unit_test(test_every_question_is_found_by_its_names),
        cmocka_unit_test(test_no_name_means_two_things),
        cmocka_unit_test(test_only_conditions_that_were_asked_for_are_in_the_statement),
        cmocka_unit_test(test_an_order_is_a_column_of_the_question),
        cmocka_unit_test(test_a_question_and_its_place_may_be_one),
        cmocka_unit_test(test_a_place_may_say_what_it_is),
        cmocka_unit_test(test_the_nearest_phrase_is_the_one_meant),
    };
    return cmocka_run_group_tests_name("phrase", tests, NULL, NULL);
}
