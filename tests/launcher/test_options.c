/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/session/child_env.h"
#include "launcher/options/options.h"
#include "launcher/options/value.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct pie_options parsed(const char *string) {
    struct pie_options options;
    pie_options_init(&options);
    assert_int_equal(pie_options_from_string(&options, string, "a test"), 0);
    return options;
}

static void free_options(struct pie_options *options) {
    free((char *)options->config.output);
    free((char *)options->config.only);
    free((char *)options->config.exclude);
    free((char *)options->config.run_name);
    free(options->python_argv);
}

static void test_rates_and_intervals_are_periods(void **state) {
    static const struct {
        const char *words;
        uint64_t period_ns;
    } cases[] = {
        {"", 1000000},        {"-r 1khz", 1000000},   {"-r 1kHz", 1000000},
        {"-r 5000", 200000},  {"-r 100hz", 10000000}, {"-i 1ms", 1000000},
        {"-i 500us", 500000}, {"-i 0.25ms", 250000},  {"--interval=1s", 1000000000},
        {"-r 3khz", 333333},  {"-i200000ns", 200000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pie_options options = parsed(cases[i].words);
        assert_int_equal(options.config.period_ns, cases[i].period_ns);
    }
}

static void test_the_budget_is_a_share(void **state) {
    assert_true(parsed("--overhead 3%").config.overhead_budget == 0.03);
    assert_true(parsed("--overhead 7").config.overhead_budget == 0.07);
    assert_true(parsed("--overhead 0.5%").config.overhead_budget == 0.005);
    assert_true(parsed("--overhead 0").config.overhead_budget == 0);
}

/* The default is free at first; what the user names is kept from the start, whatever it is, in children too. */
static void test_a_budget_that_is_named_is_known(void **state) {
    static const char *const named[] = {"--overhead 5%", "--overhead 2%", "--overhead 0"};
    struct pie_options options = parsed("-q");

    assert_false(options.config.is_budget_asked);
    assert_true(options.config.overhead_budget == 0.05);
    char *string = pie_options_to_string(&options);
    assert_null(strstr(string, "overhead"));
    assert_false(parsed(string).config.is_budget_asked);
    free(string);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        options = parsed(named[i]);
        assert_true(options.config.is_budget_asked);
        string = pie_options_to_string(&options);
        assert_true(parsed(string).config.is_budget_asked);
        assert_true(parsed(string).config.overhead_budget == options.config.overhead_budget);
        free(string);
    }
    setenv("PIEPROF_OVERHEAD", "5%", 1);
    pie_options_init(&options);
    assert_int_equal(pie_options_from_environment(&options), 0);
    assert_true(options.config.is_budget_asked);
    unsetenv("PIEPROF_OVERHEAD");
    setenv("PIEPROF_OPTS", "--overhead 5%", 1);
    pie_options_init(&options);
    assert_int_equal(pie_options_from_environment(&options), 0);
    assert_true(options.config.is_budget_asked);
    unsetenv("PIEPROF_OPTS");
}

static void test_redundancy_is_watched_for_unless_told_otherwise(void **state) {
    assert_true(parsed("").config.has_redundancy);
    assert_false(parsed("--no-redundancy").config.has_redundancy);
    assert_true(parsed("--no-redundancy --redundancy").config.has_redundancy);
    assert_true(parsed("").config.has_memory);
    assert_true(parsed("").config.has_copies);
    assert_int_equal(parsed("").config.threshold_bytes, 0);
    assert_int_equal(parsed("--memory-threshold 10m").config.threshold_bytes, 10 << 20);
    assert_int_equal(parsed("--memory-threshold=10MB").config.threshold_bytes, 10000000);
    assert_null(parsed("").config.allocator);
    assert_string_equal(parsed("--allocator system").config.allocator, "system");
    assert_null(parsed("").config.force_sampler);
    assert_string_equal(parsed("--sampler pmu").config.force_sampler, "pmu");
    assert_string_equal(parsed("--sampler=taskclock").config.force_sampler, "taskclock");
    assert_string_equal(parsed("--sampler none").config.force_sampler, "none");
    assert_null(parsed("").config.breakpoints);
    assert_string_equal(parsed("--breakpoints perf").config.breakpoints, "perf");
    assert_string_equal(parsed("--breakpoints=any").config.breakpoints, "any");
    struct pie_options options;
    pie_options_init(&options);
    assert_int_equal(pie_options_from_string(&options, "--breakpoints gdb", "a test"), -EINVAL);
    assert_non_null(strstr(options.error, "perf, ptrace or any"));
}

static void test_a_tolerance_is_a_part_of_one(void **state) {
    assert_true(parsed("").config.fp_tolerance == 0);
    assert_true(parsed("--fp-tolerance 1e-9").config.fp_tolerance == 1e-9);
    assert_true(parsed("--fp-tolerance=0.25").config.fp_tolerance == 0.25);
    assert_true(parsed("--fp-tolerance .5 --fp-tolerance 0").config.fp_tolerance == 0);
    static const char *const bad[] = {"1", "-1e-9", "nan", "inf", "1e-9x", "''", "5%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pie_options options;
        char string[64];
        snprintf(string, sizeof string, "--fp-tolerance %s", bad[i]);
        pie_options_init(&options);
        assert_int_equal(pie_options_from_string(&options, string, "a test"), -EINVAL);
        assert_non_null(strstr(options.error, "tolerance"));
    }
}

static bool is_same(const struct pie_option *option, const struct pie_options *a,
                    const struct pie_options *b) {
    size_t bytes = option->kind == PIE_OPTION_FLAG     ? sizeof(bool)
                   : option->kind == PIE_OPTION_NUMBER ? sizeof(unsigned)
                                                       : sizeof(uint64_t);
    return memcmp((const char *)&a->config + option->offset, (const char *)&b->config + option->offset,
                  bytes) == 0;
}

/* Gives an option a value that is not the default. False: it is no setting. */
static bool set_to_another(struct pie_options *options, const struct pie_option *option) {
    static const char *const values[] = {"333us",  "90min",    "64m",     "1.7%",
                                         "97.3%",  "0.25",     "7",       "none",
                                         "ptrace", "jemalloc", "rejects", "/a b/it's \"x\""};
    struct pie_options before;
    if (option->kind == PIE_OPTION_ACTION || option->is_default)
        return false;
    if (!option->value)
        return pie_option_set(options, option, NULL) == 0;
    pie_options_init(&before);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (pie_option_set(options, option, values[i]) == 0 && !is_same(option, options, &before))
            return true;
    }
    fail_msg("no value for --%s", option->name);
    return false;
}

static const char *text_in(const struct pie_option *option, const struct pie_options *options) {
    return *(const char *const *)((const char *)&options->config + option->offset);
}

/* Each option of the table, alone. */
static void test_each_option_survives_the_way_to_a_child(void **state) {
    size_t n;
    const struct pie_option *all = pie_option_all(&n);
    for (const struct pie_option *option = all; option < all + n; option++) {
        struct pie_options given, got;
        pie_options_init(&given);
        pie_options_init(&got);
        if (!set_to_another(&given, option))
            continue;
        char *string = pie_options_to_string(&given);
        assert_non_null(string);
        assert_int_equal(pie_options_from_string(&got, string, "a test"), 0);
        free(string);
        if (option->kind == PIE_OPTION_TEXT || option->kind == PIE_OPTION_PATH ||
            option->kind == PIE_OPTION_LIST) {
            assert_string_equal(text_in(option, &got), text_in(option, &given));
            free((char *)text_in(option, &got));
            free((char *)text_in(option, &given));
        } else {
            assert_true(is_same(option, &got, &given));
        }
    }
}

static void test_options_survive_the_way_to_a_child(void **state) {
    struct pie_options options =
        parsed("-o '/a b/it'\\''s \"x\".db' -i 333us --overhead 1.7% --clock itimer --only /p "
               "--exclude '/q r' --no-time --no-redundancy --no-memory --no-copies --memory-threshold 3mib "
               "--allocator jemalloc --sampler taskclock --breakpoints ptrace --fp-tolerance 1.7e-9 "
               "--no-argv --run-name 'job 7' --keep 90min --max-size 64m --context-memory 100k "
               "--per-process -qv");
    char *string = pie_options_to_string(&options);
    assert_non_null(string);
    struct pie_options got = parsed(string);
    const struct pie_config *a = &options.config, *b = &got.config;
    assert_string_equal(b->output, "/a b/it's \"x\".db");
    assert_int_equal(b->period_ns, 333000);
    assert_true(a->overhead_budget == b->overhead_budget);
    assert_string_equal(b->run_name, "job 7");
    assert_int_equal(b->keep_s, 5400);
    assert_int_equal(b->max_bytes, 64 << 20);
    assert_int_equal(b->context_bytes, 100 << 10);
    assert_true(b->is_per_process);
    assert_string_equal(b->force_clock, "itimer");
    assert_string_equal(b->only, "/p");
    assert_string_equal(b->exclude, "/q r");
    assert_false(b->has_time);
    assert_false(b->has_redundancy);
    assert_string_equal(b->force_sampler, "taskclock");
    assert_string_equal(b->breakpoints, "ptrace");
    assert_false(b->has_memory);
    assert_false(b->has_copies);
    assert_int_equal(b->threshold_bytes, 3 << 20);
    assert_string_equal(b->allocator, "jemalloc");
    assert_true(a->fp_tolerance == 1.7e-9 && b->fp_tolerance == a->fp_tolerance);
    assert_false(b->has_argv);
    assert_true(b->has_children);
    assert_true(b->is_quiet);
    assert_true(b->is_verbose);
    free(string);
    free_options(&options);
    free_options(&got);
}

static void test_the_variable_of_a_child_is_read_and_removed(void **state) {
    struct pie_options options = parsed("-o /x.db");
    const struct pie_watch_price price = {
        .trap_ns = 12000, .fault_tax_ns = 900, .fault_tax_share = 0.375, .pmu_interrupt_ns = 4321};
    const struct pie_clock_price clock_price = {.signal_ns = 3456,
                                                .whole_permille = 2100,
                                                .switch_ns = 15600,
                                                .long_switch_ns = 3700,
                                                .reload_ns = 9100};
    char *variable = pie_child_env_make(&options, "/v w/bin/python", 77, &price, &clock_price);
    struct pie_child_env child;
    assert_non_null(variable);
    putenv(variable);
    setenv("_PIEPROF_RUN", "12:345:0:1:1001:9999999", 1);
    pie_child_env_take(&child);
    assert_true(child.is_child);
    assert_true(child.is_profiled);
    assert_int_equal(child.run_id, 12);
    assert_int_equal(child.parent_pid, 345);
    assert_int_equal(child.summary_pid, 77);
    assert_string_equal(child.target, "/v w/bin/python");
    assert_true(child.has_price);
    assert_int_equal(child.price.trap_ns, 12000);
    assert_int_equal(child.price.fault_tax_ns, 900);
    assert_float_equal(child.price.fault_tax_share, 0.375, 1e-9);
    assert_int_equal(child.price.pmu_interrupt_ns, 4321);
    assert_true(child.has_clock_price);
    assert_int_equal(child.clock_price.signal_ns, 3456);
    assert_int_equal(child.clock_price.whole_permille, 2100);
    assert_int_equal(child.clock_price.reload_ns, 9100);
    assert_int_equal(child.clock_price.switch_ns, 15600);
    assert_int_equal(child.clock_price.long_switch_ns, 3700);
    assert_true(child.has_heap_prices);
    assert_int_equal(child.heap_prices[PIE_HEAP_PRICE_NATIVE], 0);
    assert_int_equal(child.heap_prices[PIE_HEAP_PRICE_SMALL], 1001);
    assert_int_equal(child.heap_prices[PIE_HEAP_PRICE_LARGE], 9999999);
    for (char **entry = environ; *entry; entry++)
        assert_null(strstr(*entry, "_PIEPROF"));
    free(child.target);
    free(child.variables[0]);
    free(child.variables[1]);
    free(child.options);
    pie_child_env_take(&child);
    assert_false(child.is_child);
    free(variable);
    free_options(&options);
}

static void test_a_damaged_variable_leaves_plain_python(void **state) {
    static const char *const settings[] = {"",
                                           "off",
                                           "'open",
                                           "/only",
                                           "/a 1 opts",
                                           "/a 1 opts x",
                                           "/a 1 opts 1:2",
                                           "/a 1 opts 1:2:1000000001:4 -",
                                           "/a 1 opts 1:2:3 -",
                                           "/a 1 opts 1:2:3:4x -",
                                           "/a 1 opts - 5",
                                           "/a 1 opts - 5:6x",
                                           "/a 1 opts - - more"};
    static const char *const runs[] = {"",
                                       "0:1",
                                       "x:1",
                                       "1:",
                                       "1:2x",
                                       "-3:4",
                                       "1:2:3",
                                       "1:2:3:4:5",
                                       "1:2:3:4:5:6x",
                                       "1:2:3:4:5:10000000",
                                       "1:2:3:4:5:-1"};
    struct pie_child_env child;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        setenv("_PIEPROF_CHILD", settings[i], 1);
        setenv("_PIEPROF_RUN", "1:2", 1);
        pie_child_env_take(&child);
        assert_true(child.is_child);
        assert_false(child.is_profiled);
    }
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        setenv("_PIEPROF_CHILD", "/a 1 opts - -", 1);
        setenv("_PIEPROF_RUN", runs[i], 1);
        pie_child_env_take(&child);
        assert_true(child.is_child);
        assert_false(child.is_profiled);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates_and_intervals_are_periods),
        cmocka_unit_test(test_the_budget_is_a_share),
        cmocka_unit_test(test_a_budget_that_is_named_is_known),
        cmocka_unit_test(test_redundancy_is_watched_for_unless_told_otherwise),
        cmocka_unit_test(test_a_tolerance_is_a_part_of_one),
        cmocka_unit_test(test_each_option_survives_the_way_to_a_child),
        cmocka_unit_test(test_options_survive_the_way_to_a_child),
        cmocka_unit_test(test_the_variable_of_a_child_is_read_and_removed),
        cmocka_unit_test(test_a_damaged_variable_leaves_plain_python),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
