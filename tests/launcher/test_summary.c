/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary says of redundant loads and stores, on the made-up program of tests/storage/fixture_waste.c, and of
 * memory, on that of fixture_memory.c, and of traced loops, on that of fixture_traced.c. */
#include "launcher/summary/summary.h"
#include "launcher/text/text.h"
#include "tests/storage/fixture.h"
#include "tests/storage/folder.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *folder, *database;
static char printed[16384];

/* A fresh profile, changed by SQL. */
static int make_profile(void (*write)(const char *, const char *), const char *sql) {
    sqlite3 *db;
    folder = pie_folder_make();
    database = pie_folder_path(folder, "a.db");
    write(database, folder);
    if (sqlite3_open(database, &db) != SQLITE_OK)
        return -1;
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    return code == SQLITE_OK ? 0 : -1;
}

static void read_printed(FILE *file) {
    rewind(file);
    size_t size = fread(printed, 1, sizeof printed - 1, file);
    printed[size] = '\0';
}

/* What goes to standard error for that profile on a screen of this width. */
static void print_summary_of(void (*write)(const char *, const char *), const char *sql,
                             const char *columns) {
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    assert_int_equal(make_profile(write, sql), 0);
    setenv("COLUMNS", columns, 1);
    dup2(fileno(file), STDERR_FILENO);
    int r = pie_summary_print(database, 0, NULL);
    dup2(saved, STDERR_FILENO);
    close(saved);
    read_printed(file);
    fclose(file);
    pie_folder_remove(folder);
    assert_int_equal(r, 0);
}

static void print_summary(const char *sql, const char *columns) {
    print_summary_of(pie_fixture_write_waste, sql, columns);
}

static void print_memory(const char *sql, const char *columns) {
    print_summary_of(pie_fixture_write_memory, sql, columns);
}

static void print_traced(const char *sql, const char *columns) {
    print_summary_of(pie_fixture_write_traced, sql, columns);
}

static size_t count_lines(void) {
    size_t lines = 0;
    for (const char *p = printed; *p; p++)
        lines += *p == '\n';
    return lines;
}

static void expect_part(const char *text) {
    if (!strstr(printed, text))
        fprintf(stderr, "%s\n", printed);
    assert_non_null(strstr(printed, text));
}

static void test_the_worst_findings_come_first(void **state) {
    print_summary("", "100");
    expect_part(
        " of the CPU time\n"
        "\n"
        "waste.py:6: 16 % of the run wasted: slice underutilization (2.00 s, 1.69 s looked up again)\n"
        "    work on slices or whole arrays (vectorise) instead of one element at a time; where single\n"
        "    elements are needed, convert once with .tolist()\n"
        "waste.py:8: 15 % of the run wasted: loop-invariant computation (1.92 s computed again)\n"
        "waste.py:15: 9 % of the run wasted: API misuse (1.10 s looked up again)\n"
        "6 lines together: 63 % of the run wasted (7.82 s, 5.24 to 10.98 s)\n"
        "\n"
        "   CPU s");
    assert_null(strstr(printed, "waste.py:7: "));
}

/* Line 8 runs below line 6, but what line 6 wastes it does itself. */
static void test_lines_that_share_no_time_add_up(void **state) {
    print_summary("UPDATE node SET parent = 6 WHERE id = 8", "100");
    expect_part("\n6 lines together: 63 % of the run wasted (7.82 s, 5.24 to 10.98 s)\n");
}

static void test_it_is_one_screen(void **state) {
    static const char *const widths[] = {"60", "80", "100", "140"};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char *rest;
        print_summary("", widths[i]);
        assert_in_range(count_lines(), 10, 25);
        for (char *line = strtok_r(printed, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            if (strstr(line, "of the run wasted"))
                assert_true(pie_text_width(line) <= (size_t)atoi(widths[i]));
        }
    }
}

/* Line 15 calls line 2 of a library, which makes the redundant loads: one finding for people. */
static void test_library_lines_are_reported_by_the_users_own(void **state) {
    print_summary("DELETE FROM watch WHERE first_node <> 215", "100");
    expect_part("\nwaste.py:15: 9 % of the run wasted: API misuse (1.10 s looked up again)\n");
    assert_null(strstr(printed, "core.py"));
}

static void test_advice_takes_two_lines_at_most(void **state) {
    print_summary("DELETE FROM watch WHERE first_node <> 206", "60");
    expect_part("\nwaste.py:6: 16 % of the run wasted: slice underutilization …\n"
                "    work on slices or whole arrays (vectorise) instead of\n"
                "    one element at a time; where single elements are needed…\n"
                "\n");
}

/* Threads that ended before they had a clock share the row with id 0. */
static void test_threads_and_where_their_time_went(void **state) {
    static const char busy[] =
        "UPDATE thread SET runnable_ns = 5330000000, throttled_ns = 4000000000, wait_ns = 0;";
    char sql[600];
    print_memory(busy, "100");
    assert_null(strstr(printed, "Threads: ")); /* the title says all of the only one */
    snprintf(sql, sizeof sql,
             "%s INSERT INTO thread (process, id, tid, is_main, cpu_ns, threads)"
             " VALUES (1, 0, 0, 0, 30000000, 7)",
             busy);
    print_memory(sql, "100");
    expect_part(" + 5.33 s ready to run + 4.00 s throttled, 7 short ones 0.03 s\n");
}

/* As code has for which there was no room: "(table full)". */
static void test_a_name_without_a_line_stands_alone(void **state) {
    print_memory("UPDATE file SET path = '(table full)' WHERE is_own; UPDATE location SET line = NULL",
                 "100");
    expect_part("  (table full)    [Fast-Lib 0.50 s]\n");
    assert_null(strstr(printed, "(table full):0"));
}

static void test_folding_is_reported(void **state) {
    print_summary("", "100");
    assert_null(strstr(printed, "Folded"));
    print_summary(
        "INSERT INTO counter (process, name, value, is_drop) VALUES (1, 'contexts_folded', 18799, 0)", "100");
    expect_part("\nFolded: 18799 call paths of little weight that had not been seen for long are in "
                "\"(other)\" (--max-size)\n");
}

static void test_a_file_beyond_its_limit_is_reported(void **state) {
    print_summary("", "100");
    assert_null(strstr(printed, "--max-size"));
    print_summary(
        "INSERT INTO counter (process, name, value, is_drop) VALUES (1, 'bytes_over_max_size', 3200000, 0)",
        "100");
    expect_part("\nFile: 3.20 MB larger than --max-size; what it holds is in use or too heavy to fold\n");
}

/* No line takes a tenth of the run. */
#define LIGHT "UPDATE sample SET native_ns = 200000000, python_ns = 0;"

static void test_reuse_and_what_weighs_little_are_not_reported(void **state) {
    print_summary("DELETE FROM watch WHERE first_node NOT IN (210, 212, 214);" LIGHT, "100");
    expect_part("\nNo work of weight was found that is done again (100 comparisons).\n");
    assert_null(strstr(printed, "of the run wasted"));
}

/* Line 8 has no watch, and takes a tenth of the run. */
#define ONLY_LINE_8                                                                                          \
    "DELETE FROM watch WHERE first_node NOT IN (210, 212, 214);" LIGHT                                       \
    "UPDATE sample SET native_ns = 1500000000 WHERE node = 208;"
#define COUNTED(callee, calls, compared, again, call_ns, again_ns)                                           \
    "INSERT INTO windowed SELECT 1, path, 8, '" callee "', 0, 1, " #calls ", 0, " #compared                  \
    ", 1, 1, 1, 0, " #again ", 0, 0, 0, 0, 0, " #call_ns ", " #again_ns                                      \
    ", 0, 0, 0 FROM file WHERE is_own AND path GLOB '*waste.py';"

static void expect_heavy(const char *sql, const char *text) {
    print_summary(sql, "400");
    expect_part(text);
    assert_null(strstr(printed, "No work"));
    assert_null(strstr(printed, "done again ("));
}

static void test_a_line_of_weight_is_named_with_what_was_counted(void **state) {
    expect_heavy(
        ONLY_LINE_8,
        "\n\nwaste.py:8 takes 22 % of the run, and no call of it was compared; pieprof sees only work "
        "that is done again: look at the line's own algorithm, or for another call that does the "
        "same\n\n");
    expect_heavy(ONLY_LINE_8 COUNTED("convolve", 57, 57, 1, 900, 10) COUNTED("len", 60, 60, 60, 5, 5),
                 "\n\nwaste.py:8 takes 22 % of the run, but no call is made again: 57 counted calls of "
                 "convolve had other arguments each time; pieprof sees only work that is done again: ");
    expect_heavy(
        ONLY_LINE_8 "UPDATE sample SET native_ns = 2000000000 WHERE node = 208",
        "\n\nwaste.py:8 takes 26 % of the run, and nothing was compared that tells whether all of it is "
        "needed: count its calls with \"pieprof confirm ");
    /* what comes again, or could not be read, or is too little */
    expect_heavy(ONLY_LINE_8 COUNTED("convolve", 57, 57, 30, 900, 470), "and no call of it was compared;");
    expect_heavy(ONLY_LINE_8 COUNTED("convolve", 57, 20, 0, 900, 0), "and no call of it was compared;");
    expect_heavy(ONLY_LINE_8 COUNTED("convolve", 4, 4, 0, 900, 0), "and no call of it was compared;");
    print_summary(ONLY_LINE_8 "UPDATE source_line SET text = 'from waste import calls' WHERE line = 8",
                  "100");
    expect_part("No work");
}

/* Line 8 is a module's, and in no loop; then a library below it calls line 9. */
#define RUNS_ONCE                                                                                            \
    ONLY_LINE_8 "UPDATE location SET is_in_loop = 0 WHERE line = 8;"                                         \
                "UPDATE function SET name = '<module>' WHERE id IN (SELECT function FROM location "          \
                "WHERE line = 8);"
#define STARTS_A_SERVER                                                                                      \
    "INSERT INTO node (process, id, parent, location, own_location) SELECT process, 900, id, "               \
    "(SELECT l.id FROM location l JOIN function f ON f.process = l.process AND f.id = l.function JOIN file " \
    "x ON x.process = l.process AND x.id = f.file WHERE x.library IS NOT NULL LIMIT 1), own_location "       \
    "FROM node WHERE id = 8;"                                                                                \
    "INSERT INTO node (process, id, parent, location, own_location) SELECT n.process, 901, 900, n.location," \
    " n.own_location FROM node n WHERE n.id = 9"

static void test_a_line_that_runs_once_has_no_calls_to_count(void **state) {
    expect_heavy(RUNS_ONCE,
                 "\n\nwaste.py:8 takes 22 % of the run, and runs only once; see what takes its time with "
                 "\"call tree of waste.py:8\"\n\n");
    expect_heavy(RUNS_ONCE STARTS_A_SERVER,
                 "\n\nwaste.py:8 takes 22 % of the run, spread over the libraries below it, which call your "
                 "code; see what takes its time with \"call tree of waste.py:8\"\n\n");
    expect_heavy(RUNS_ONCE COUNTED("convolve", 57, 57, 1, 900, 10), "but no call is made again: 57 counted");
}

/* Line 11: what the watches say is not why. Line 12: there were too few. */
static void test_a_line_that_is_not_decided_is_named_with_what_decides(void **state) {
    print_summary("DELETE FROM watch WHERE first_node <> 211;"
                  "UPDATE sample SET native_ns = 10 * native_ns, python_ns = 10 * python_ns WHERE node = 211",
                  "400");
    expect_part("\n\nwaste.py:11 may waste up to ");
    expect_part(" % of the run, but 30 comparisons do not decide: count its calls with \"pieprof confirm ");
    expect_part("a.db --finding 1\", or see \"pairs of waste.py:11\"\n");
    assert_null(strstr(printed, "No work"));
    print_summary("DELETE FROM watch WHERE first_node <> 212; UPDATE watch SET watches = 3;"
                  "CREATE TEMP TABLE changed AS SELECT * FROM watch; UPDATE changed SET outcome = 2, "
                  "watches = 4, weight_ns = 1.5 * weight_ns;"
                  "INSERT INTO watch SELECT * FROM changed;"
                  "UPDATE sample SET native_ns = 10 * native_ns, python_ns = 10 * python_ns WHERE node = 212",
                  "120");
    expect_part("\nwaste.py:12 may waste up to ");
    expect_part(", but only 7 comparisons tell of it: profile a longer run, with more data\n");
    print_summary("DELETE FROM watch WHERE first_node <> 212; UPDATE watch SET watches = 2;"
                  "UPDATE sample SET native_ns = 10 * native_ns, python_ns = 10 * python_ns WHERE node = 212",
                  "120");
    assert_null(strstr(printed, "may waste")); /* two may be a coincidence */
}

static void test_why_it_was_not_measured_is_said(void **state) {
    print_summary(
        "DELETE FROM watch; UPDATE process SET sampler = 'none', sampler_note = 'breakpoints are refused: "
        "redundant loads and stores are not watched for; to mend it: ask'",
        "60");
    expect_part("\n\nbreakpoints are refused: redundant loads and stores are not\n"
                "watched for; to mend it: ask\n\n");
    assert_null(strstr(printed, "No work"));
}

static void test_nothing_is_said_where_nothing_was_asked_for(void **state) {
    print_summary("DELETE FROM watch; UPDATE process SET sampler = 'none', sampler_note = NULL", "100");
    assert_null(strstr(printed, "done again"));
    assert_null(strstr(printed, "comparison"));
}

static void expect_no(const char *text) {
    if (strstr(printed, text))
        fprintf(stderr, "%s\n", printed);
    assert_null(strstr(printed, text));
}

/* Of two processes the one that had most is printed, of its lines those with a twentieth of it. */
static void test_the_peak_and_whose_it_was(void **state) {
    print_memory("", "100");
    expect_part(
        " (33 %)\n\n"
        "Memory:  peak 456 MB (Python 6 %) at 7.0 s in process 4101, resident 480 MB: keep.py:7 400 MB\n");
    print_memory("UPDATE allocation SET peak_python_bytes = 22800000 WHERE node IN (2, 6);"
                 "DELETE FROM heap WHERE process = 2",
                 "100");
    expect_part("\nMemory:  peak 456 MB (Python 6 %) at 7.0 s, resident 480 MB: keep.py:7 400 MB, keep.py:8 "
                "42.8 MB, k…\n");
}

static void test_what_was_not_measured_of_memory_is_said(void **state) {
    print_memory("UPDATE heap SET note = 'the program''s own malloc() is not counted' WHERE process = 1",
                 "100");
    expect_part(" 400 MB\n         the program's own malloc() is not counted\n");
    print_memory("UPDATE heap SET peak_python_bytes = 0, peak_native_bytes = 0, note = 'nothing is counted'",
                 "100");
    expect_part("\nMemory:  nothing is counted\n");
    expect_no("peak");
}

static void test_without_memory_nothing_is_said_of_it(void **state) {
    print_memory("DELETE FROM heap; DELETE FROM allocation; DELETE FROM copy; DELETE FROM footprint;"
                 "DELETE FROM line_footprint; DELETE FROM holder",
                 "100");
    expect_no("emory");
    expect_no("leaks");
    expect_no("copie");
}

static void test_leaks_are_the_first_findings(void **state) {
    print_memory("", "100");
    expect_part("\n\nkeep.py:3: leaks 3.00 MB/s (30.0 MB, score 0.97); held by list of bytes -> module "
                "__main__.cache\n\n   CPU s");
    print_memory("DELETE FROM holder", "100");
    expect_part("\n\nkeep.py:3: leaks 3.00 MB/s (30.0 MB, score 0.97)\n\n   CPU s");
    print_memory("", "80");
    expect_part("\n\nkeep.py:3: leaks 3.00 MB/s (30.0 MB, score 0.97); held by …module __main__.cache\n");
    print_memory("UPDATE process SET sampler = 'taskclock'", "60");
    expect_part("\n\nkeep.py:3: leaks 3.00 MB/s (30.0 MB, score 0.97)\n"
                "Too little was compared to tell what is done again (0 comparisons).\n\n   CPU s");
}

/* 100 MB/s and a tenth of all copies: here 9.5 of 11.1 GB. */
static void test_a_line_that_copies_much_is_reported(void **state) {
    print_memory("", "100");
    expect_no("copies");
    print_memory("UPDATE copy SET bytes = 10 * bytes", "100");
    expect_part("\nkeep.py:7: copies 9.50 GB (950 MB/s), 87 % of all that is copied\n\n   CPU s");
}

/* Two leaks, a copying line and findings of redundancy: none is crowded out, and it is one screen all the same. */
static void test_all_kinds_of_findings_fit_one_screen(void **state) {
    static const char *const widths[] = {"60", "80", "100", "140"};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char *rest;
        print_summary("INSERT INTO heap VALUES (1, 1700000001000000000, 1, 500000000, 5, 1, 1, 1, 1, 1, 1, "
                      "'glibc', 'a note');"
                      "INSERT INTO footprint VALUES (1, 1700000000000000000, 0, 0, 1, NULL),"
                      " (1, 1700000002000000000, 0, 900, 1, NULL);"
                      "INSERT INTO copy VALUES (1, 0, 206, 1, 1, 900000000, 0);"
                      "INSERT INTO allocation SELECT 1, id, 0, 20, 0, 99, 0, 99, 0, 0, 99, 0, 0, 20, 0, "
                      "11, 11, 11, 11, 11, 11, 11, 11, 1700000000000000000, 0, 0, 0 FROM node"
                      " WHERE id IN (206, 207)",
                      widths[i]);
        assert_in_range(count_lines(), 10, 25);
        expect_part("waste.py:6: leaks 50 B/s");
        expect_part("waste.py:7: leaks 50 B/s");
        expect_part("waste.py:6: copies 900 MB (450 MB/s), 100 % of");
        expect_part("waste.py:6: 16 % of the run wasted: ");
        expect_no("waste.py:8: 15 % of");
        for (char *line = strtok_r(printed, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            if (strstr(line, "leaks") || strstr(line, "copies") || strstr(line, "Memory"))
                assert_true(pie_text_width(line) <= (size_t)atoi(widths[i]));
        }
    }
}

static void test_a_traced_loop_and_its_costliest_calls(void **state) {
    print_traced("", "100");
    expect_part(
        "\n\nLoop parse.py:7 in parse, 930 ms: sure at 95 % after 41 of 10000 iterations (2 more loops)\n"
        "       share call                  at          calls    mean     p95     p99\n"
        "62.1 ± 3.8 % tokenize              parse.py:8  10000 57.8 us 81.2 us  120 us\n"
        "20.0 ± 3.0 % json.dumps            parse.py:9  10000 18.6 us 22.0 us 1.20 ms\n"
        " 8.0 ± 2.0 % (the loop's own code) parse.py:7      -       -       -       -\n"
        " 1.8 ± 1.8 % one                   parse.py:10 10000 1.67 us 2.16 us 2.70 us\n"
        " 1.6 ± 1.6 % two                   parse.py:10 10000 1.49 us 1.92 us 2.40 us\n"
        "\n");
    expect_no("three");
    print_traced("DELETE FROM learned_loop WHERE id = 2", "100");
    expect_part(" of 10000 iterations (1 more loop)\n");
}

static void test_an_undecided_loop_with_a_note(void **state) {
    static const char only_second[] =
        "DELETE FROM learned_call WHERE loop = 1; DELETE FROM learned_loop WHERE id = 1";
    print_traced(only_second, "60");
    expect_part("\n\nLoop parse.py:14 in load, 500 ms: not sure at 99 % after 1 …\n"
                "what C code calls by itself is not seen: 2 of 3 calls of ma…\n"
                "        share call                  at          calls   mean\n"
                "90.0 ± 90.0 % parse                 parse.py:15     1 450 ms\n"
                "10.0 ± 90.0 % (the loop's own code) parse.py:14     -      -\n\n");
    print_traced(only_second, "100");
    expect_part("\nLoop parse.py:14 in load, 500 ms: not sure at 99 % after 1 of 1 iteration\n");
}

static void test_what_is_unknown_of_a_loop_is_left_out(void **state) {
    print_traced("DELETE FROM learned_loop WHERE process = 1; UPDATE learned_loop SET function = NULL,"
                 " file = NULL, line = NULL, body_s = NULL, confidence = NULL;"
                 "UPDATE learned_call SET share = NULL, callee = NULL, file = NULL",
                 "100");
    expect_part("\n\nLoop ? in ?, unknown time: not sure after 0 of 50 iterations\n"
                "share call at calls\n"
                "    - -    ?      0\n");
}

static void test_without_traced_loops_nothing_is_said_of_them(void **state) {
    print_traced("DELETE FROM learned_call; DELETE FROM learned_loop", "100");
    expect_no("Loop");
    expect_no("oop");
    print_traced("DELETE FROM learned_call", "100");
    expect_part("\n\nLoop parse.py:7 in parse, 930 ms: not sure at 95 % after 300 of 10000 iterations (2 "
                "more loops)\n\n");
}

/* Beside findings of every kind as many calls are shown as there is room for. */
static void test_a_traced_loop_leaves_it_one_screen(void **state) {
    static const char *const widths[] = {"60", "80", "100", "140"};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char *rest;
        print_summary(
            "INSERT INTO heap VALUES (1, 1700000001000000000, 1, 500000000, 5, 1, 1, 1, 1, 1, 1, "
            "'glibc', 'a note that says what of the memory was not measured, and why not');"
            "INSERT INTO learned_loop VALUES (1, 1, '/x/waste.py', 5, 'main.<locals>.work_on_all_of_it_', "
            "'racing', 0.95, 1, 123456789, 123456, 12.5, 'a note');"
            "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 19)"
            " INSERT INTO learned_call SELECT 1, 1, n, '/x/waste.py', 6, 'callee', 0, 3, 7, 100, 100, "
            "0.05, 0.04, 0.06, 1e-6, 0, 1e-6, 1e-6, 1e-6 FROM n",
            widths[i]);
        assert_in_range(count_lines(), 10, 25);
        expect_part("\nLoop waste.py:5 in main.<locals>.work_on_a…, 12.5 s: s");
        expect_part("waste.py:6: 16 % of the run wasted: ");
        expect_part(" waste.py:6");
        for (char *line = strtok_r(printed, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            if (strstr(line, "Loop") || strstr(line, "callee") || strstr(line, "a note"))
                assert_true(pie_text_width(line) <= (size_t)atoi(widths[i]));
        }
    }
}

static void expect_seconds(double seconds, const char *text) {
    char buffer[PIE_TEXT_SECONDS_SIZE];
    pie_text_seconds(seconds, buffer);
    assert_string_equal(buffer, text);
}

static void test_seconds_have_three_digits_and_a_unit(void **state) {
    expect_seconds(0, "0 ns");
    expect_seconds(4.4e-9, "4 ns");
    expect_seconds(999.4e-9, "999 ns");
    expect_seconds(999.6e-9, "1.00 us");
    expect_seconds(57.75e-6, "57.8 us");
    expect_seconds(812e-6, "812 us");
    expect_seconds(1.2e-3, "1.20 ms");
    expect_seconds(0.93, "930 ms");
    expect_seconds(0.9996, "1.00 s");
    expect_seconds(-12.34, "-12.3 s");
    expect_seconds(86400, "86400 s");
}

static void expect_bytes(double bytes, const char *text) {
    char buffer[PIE_TEXT_BYTES_SIZE];
    pie_text_bytes(bytes, buffer);
    assert_string_equal(buffer, text);
}

static void test_bytes_have_three_digits_and_a_unit(void **state) {
    expect_bytes(0, "0 B");
    expect_bytes(999, "999 B");
    expect_bytes(999.6, "1.00 kB");
    expect_bytes(1000, "1.00 kB");
    expect_bytes(9994, "9.99 kB");
    expect_bytes(9996, "10.0 kB");
    expect_bytes(99949, "99.9 kB");
    expect_bytes(99951, "100 kB");
    expect_bytes(999499, "999 kB");
    expect_bytes(999501, "1.00 MB");
    expect_bytes(512e6, "512 MB");
    expect_bytes(536870912, "537 MB");
    expect_bytes(-1.5e9, "-1.50 GB");
    expect_bytes(2e12, "2.00 TB");
    expect_bytes(1e22, "10000 EB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_worst_findings_come_first),
        cmocka_unit_test(test_lines_that_share_no_time_add_up),
        cmocka_unit_test(test_it_is_one_screen),
        cmocka_unit_test(test_library_lines_are_reported_by_the_users_own),
        cmocka_unit_test(test_advice_takes_two_lines_at_most),
        cmocka_unit_test(test_threads_and_where_their_time_went),
        cmocka_unit_test(test_a_name_without_a_line_stands_alone),
        cmocka_unit_test(test_folding_is_reported),
        cmocka_unit_test(test_a_file_beyond_its_limit_is_reported),
        cmocka_unit_test(test_reuse_and_what_weighs_little_are_not_reported),
        cmocka_unit_test(test_a_line_of_weight_is_named_with_what_was_counted),
        cmocka_unit_test(test_a_line_that_runs_once_has_no_calls_to_count),
        cmocka_unit_test(test_a_line_that_is_not_decided_is_named_with_what_decides),
        cmocka_unit_test(test_why_it_was_not_measured_is_said),
        cmocka_unit_test(test_nothing_is_said_where_nothing_was_asked_for),
        cmocka_unit_test(test_the_peak_and_whose_it_was),
        cmocka_unit_test(test_what_was_not_measured_of_memory_is_said),
        cmocka_unit_test(test_without_memory_nothing_is_said_of_it),
        cmocka_unit_test(test_leaks_are_the_first_findings),
        cmocka_unit_test(test_a_line_that_copies_much_is_reported),
        cmocka_unit_test(test_all_kinds_of_findings_fit_one_screen),
        cmocka_unit_test(test_a_traced_loop_and_its_costliest_calls),
        cmocka_unit_test(test_an_undecided_loop_with_a_note),
        cmocka_unit_test(test_what_is_unknown_of_a_loop_is_left_out),
        cmocka_unit_test(test_without_traced_loops_nothing_is_said_of_them),
        cmocka_unit_test(test_a_traced_loop_leaves_it_one_screen),
        cmocka_unit_test(test_seconds_have_three_digits_and_a_unit),
        cmocka_unit_test(test_bytes_have_three_digits_and_a_unit),
    };
    pie_text_set_locale();
    unsetenv("FORCE_COLOR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
