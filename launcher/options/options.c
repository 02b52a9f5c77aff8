/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/options/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/options/output_path.h"
#include "launcher/options/run_name.h"
#include "launcher/options/value.h"

/* --- Quantities: the first unit is the one that is written for children --- */

static const char *const rate_units[] = {"", "hz", "khz", NULL},
                         *const time_units[] = {"ns", "us", "ms", "s", NULL},
                         *const age_units[] = {"s", "m", "min", "h", "d", NULL},
                         *const second_units[] = {"s", "", NULL}, *const share_units[] = {"%", "", NULL},
                         *const no_units[] = {"", NULL}, *const byte_units[] = {"",    "b",   "kb",  "mb",
                                                                                "gb",  "k",   "m",   "g",
                                                                                "kib", "mib", "gib", NULL};
static const double rate_factors[] = {1, 1, 1e3}, time_factors[] = {1, 1e3, 1e6, 1e9},
                    age_factors[] = {1, 60, 60, 3600, 86400}, second_factors[] = {1e9, 1e9},
                    share_factors[] = {1, 1}, no_factors[] = {1},
                    byte_factors[] = {1, 1, 1e3, 1e6, 1e9, 0x1p10, 0x1p20, 0x1p30, 0x1p10, 0x1p20, 0x1p30};

#define UNITS(name) .units = name##_units, .factors = name##_factors
#define FROM_TO(from, to) .least = from, .most = to
static const struct pie_quantity rate = {UNITS(rate), .divisor = 1, FROM_TO(1, 5000), .is_rate = true},
                                 interval = {UNITS(time), .divisor = 1, FROM_TO(200000, 1e9)},
                                 age = {UNITS(age), .divisor = 1, FROM_TO(10, 1e9)},
                                 overhead = {UNITS(share), .divisor = 100, FROM_TO(0, 1), .is_real = true},
                                 confidence = {UNITS(share), .divisor = 100, FROM_TO(0.5, 1 - 0x1p-53),
                                               .is_real = true},
                                 tolerance = {UNITS(no), .divisor = 1, FROM_TO(0, 1 - 0x1p-53),
                                              .is_real = true},
                                 file_size = {UNITS(byte), .divisor = 1, FROM_TO(0x1p22, 0x1p40)},
                                 context_size = {UNITS(byte), .divisor = 1, FROM_TO(0x1p16, 0x1p28)},
                                 threshold = {UNITS(byte), .divisor = 1, FROM_TO(0x1p12, 0x1p30)},
                                 epoch = {UNITS(second), .divisor = 1, FROM_TO(1e8, 3.6e12)},
                                 count = {UNITS(no), .divisor = 1, FROM_TO(1, 1e9)};

/* --- Choices --- */

static const char *const clocks[] = {"perf", "perf-user", "timer", "itimer", "none", NULL},
                         *const samplers[] = {"pmu", "taskclock", "none", NULL},
                         *const ways[] = {"perf", "ptrace", "any", NULL},
                         *const allocators[] = {"system", "jemalloc", NULL},
                         *const policies[] = {[PIE_RACE_RACING] = "racing",
                                              [PIE_RACE_REJECTS] = "rejects",
                                              [PIE_RACE_ACCEPTS_REJECTS] = "accepts-rejects",
                                              NULL};

/* --- The table --- */

#define SETTING(member) .offset = offsetof(struct pie_config, member)
#define FLAG(member, on) .kind = PIE_OPTION_FLAG, SETTING(member), .is_on = on
#define PATH(member) .kind = PIE_OPTION_PATH, SETTING(member)
#define CHOICE(member, of) .kind = PIE_OPTION_CHOICE, SETTING(member), .choices = of
#define QUANTITY(member, of, fallback_text)                                                                  \
    .kind = PIE_OPTION_QUANTITY, SETTING(member), .quantity = &(of), .fallback = fallback_text
#define ACTION(what) .kind = PIE_OPTION_ACTION, .action = what

static const struct pie_option table[] = {
    {"output", "FILE", "the profile; a run is added to an existing file", 'o', PATH(output), .wrong = "-o",
     .right = "the name of a file", .unset = "pieprof.db", .environment = "PIEPROF_OUTPUT"},
    {"python", "PYTHON", "the Python that runs the program, by path or name", 0, .kind = PIE_OPTION_TEXT,
     SETTING(python), .wrong = "--python", .right = "the path or the name of an interpreter",
     .unset = "python3"},
    {"guest", NULL, "run that Python itself, with pieprof loaded into it", 0, FLAG(is_guest, true)},
    {"max-size", "BYTES", "fold old data of little weight beyond this size", 0,
     QUANTITY(max_bytes, file_size, "256m"), .wrong = "bad size",
     .right = "bytes from 4m to 1024g, such as 256m"},
    {"keep", "TIME", "keep only the last 10min, 1h, … of the profile", 0, QUANTITY(keep_s, age, NULL),
     .wrong = "bad time", .right = "how much is kept, from 10s on, such as 1h", .unset = "all of it"},
    {"rate", "HZ", "samples per second of CPU time at most, up to 5khz", 'r',
     QUANTITY(period_ns, rate, "1khz"), .wrong = "bad rate", .right = "from 1hz to 5khz, such as 1khz"},
    {"interval", "TIME", "the rate as the time between two samples: 1ms, 500us", 'i',
     QUANTITY(period_ns, interval, NULL), .wrong = "bad interval",
     .right = "from 200us to 1s, such as 1ms (for Python's own -i: pieprof -- -i …)"},
    {"overhead", "SHARE", "the share of time it may cost; 0: fixed rates", 0,
     QUANTITY(overhead_budget, overhead, "5%"), .given_offset = offsetof(struct pie_config, is_budget_asked),
     .unset = "5% after 2 s", .wrong = "bad overhead", .right = "a part of the program's time, such as 5%",
     .environment = "PIEPROF_OVERHEAD"},
    {"time", NULL, "measure where time goes", 0, FLAG(has_time, true), .is_default = true},
    {"no-time", NULL, "do not measure time", 0, FLAG(has_time, false)},
    {"clock", "CLOCK", "use only perf, perf-user, timer, itimer or none", 0, CHOICE(force_clock, clocks),
     .wrong = "unknown clock", .right = "perf, perf-user, timer, itimer or none", .unset = "the best"},
    {"redundancy", NULL, "watch for redundant loads and stores, where possible", 0,
     FLAG(has_redundancy, true), .is_default = true},
    {"no-redundancy", NULL, "do not watch for them", 0, FLAG(has_redundancy, false)},
    {"sampler", "SAMPLER", "sample memory accesses by pmu, taskclock or none", 0,
     CHOICE(force_sampler, samplers), .wrong = "unknown sampler", .right = "pmu, taskclock or none",
     .unset = "the best"},
    {"breakpoints", "WAY", "set debug registers by perf, by ptrace or by any", 0, CHOICE(breakpoints, ways),
     .wrong = "unknown breakpoints", .right = "perf, ptrace or any", .unset = "perf"},
    {"no-adaptive", NULL, "watch all lines equally, even those with enough evidence", 0,
     FLAG(is_adaptive, false)},
    {"fp-tolerance", "X", "floats that differ by this part count as equal: 1e-9", 0,
     QUANTITY(fp_tolerance, tolerance, NULL), .wrong = "bad tolerance",
     .right = "a part of the number, from 0 to below 1, such as 1e-9", .unset = "0"},
    {"memory", NULL, "sample allocations, live memory and leaks", 0, FLAG(has_memory, true),
     .is_default = true},
    {"no-memory", NULL, "do not sample memory", 0, FLAG(has_memory, false)},
    {"context-memory", "BYTES", "forget unused code and call paths beyond this size", 0,
     QUANTITY(context_bytes, context_size, "4m"), .wrong = "bad size",
     .right = "bytes from 64k to 256m, such as 4m"},
    {"memory-threshold", "BYTES", "record the footprint after this change: 10m", 0,
     QUANTITY(threshold_bytes, threshold, NULL), .wrong = "bad threshold",
     .right = "bytes from 4k to 1g, such as 10m", .unset = "adapts"},
    {"allocator", "NAME", "run malloc() on this allocator: system or jemalloc", 0,
     CHOICE(allocator, allocators), .wrong = "unknown allocator", .right = "system or jemalloc",
     .unset = "system"},
    {"copies", NULL, "sample copied bytes", 0, FLAG(has_copies, true), .is_default = true},
    {"no-copies", NULL, "do not sample copies", 0, FLAG(has_copies, false)},
    {"learn", "PLACE", "time the calls in the loop at FILE:LINE, or in a function's loops", 0,
     .kind = PIE_OPTION_LIST, SETTING(trace_places), .wrong = "too many loops to trace"},
    {"no-learn", NULL, "run a loop over pieprof.loop(…) as an ordinary one", 0,
     FLAG(has_traced_loops, false)},
    {"learn-policy", "NAME", "racing, rejects or accepts-rejects", 0, .kind = PIE_OPTION_NUMBER,
     SETTING(trace.policy), .choices = policies, .fallback = "racing", .wrong = "unknown policy",
     .right = "racing, rejects or accepts-rejects"},
    {"learn-confidence", "SHARE", "the confidence required to stop timing a call", 0,
     QUANTITY(trace.confidence, confidence, "95%"), .wrong = "bad confidence",
     .right = "from 50% to less than 100%, such as 95%"},
    {"learn-interval", "TIME", "restart the race of the calls after this time", 0,
     QUANTITY(trace.interval_ns, epoch, "1s"), .wrong = "bad interval",
     .right = "seconds from 0.1 to 3600, such as 1s"},
    {"learn-top", "N", "the number of most expensive calls to find", 0, QUANTITY(trace.top, count, NULL),
     .wrong = "bad number of calls", .right = "a number from 1 to 1000000000", .unset = "1"},
    {"learn-budget", "N", "calls that rejects may time in an interval", 0,
     QUANTITY(trace.budget, count, NULL), .wrong = "bad budget", .right = "a number from 1 to 1000000000",
     .unset = "as many as racing"},
    {"children", NULL, "also profile the Python processes that the program starts", 0,
     FLAG(has_children, true), .is_default = true, .environment = "PIEPROF_CHILDREN"},
    {"no-children", NULL, "profile this process only", 0, FLAG(has_children, false)},
    {"per-process", NULL, "a file for each process: FILE.HOST.PID, or %h and %p in FILE; see merge", 0,
     FLAG(is_per_process, true)},
    {"run-name", "NAME", "processes of this name are one run", 0, .kind = PIE_OPTION_TEXT, SETTING(run_name),
     .wrong = "--run-name", .right = "a name", .unset = "a parent and its children"},
    {"only", "PATH", "your own code is the code under PATH", 0, PATH(only)},
    {"exclude", "PATH", "code under PATH is not your own", 0, PATH(exclude)},
    {"no-argv", NULL, "do not store the command line in the profile", 0, FLAG(has_argv, false)},
    {"quiet", NULL, "print no summary at the end", 'q', FLAG(is_quiet, true)},
    {"verbose", NULL, "report each step, and how the run is going", 'v', FLAG(is_verbose, true)},
    {"progress", NULL, "on a terminal, show time, samples, memory and overhead meanwhile", 0,
     FLAG(has_progress, true)},
    {"version", NULL, "print the versions of pieprof and of its Python", 'V', ACTION(PIE_ACTION_VERSION)},
    {"help", NULL, "print this text", 'h', ACTION(PIE_ACTION_HELP)},
};
enum { OPTIONS = sizeof table / sizeof *table };

const struct pie_option *pie_option_all(size_t *ret_count) {
    *ret_count = OPTIONS;
    return table;
}

int pie_options_fail(struct pie_options *options, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(options->error, sizeof options->error, format, args);
    va_end(args);
    return -EINVAL;
}

/* A flag is off where an option switches it on, and the other way round, but for those that state the default. */
void pie_options_init(struct pie_options *options) {
    *options = (struct pie_options){.config.trace.cost = 0.01, .is_bare = true};
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].kind == PIE_OPTION_FLAG && !table[i].is_default)
            *(bool *)((char *)&options->config + table[i].offset) = !table[i].is_on;
        else if (table[i].fallback)
            pie_option_set(options, &table[i], table[i].fallback);
        if (table[i].given_offset)
            *(bool *)((char *)&options->config + table[i].given_offset) = false;
    }
}

/* A flag's variable switches it off by 0 and on by anything else. */
static int set_from_environment(struct pie_options *options, const struct pie_option *option) {
    const char *value = option->environment ? getenv(option->environment) : NULL;
    if (!value || !*value)
        return 0;
    if (option->kind != PIE_OPTION_FLAG)
        return pie_option_set(options, option, value);
    *(bool *)((char *)&options->config + option->offset) = (strcmp(value, "0") != 0) == option->is_on;
    return 0;
}

int pie_options_from_environment(struct pie_options *options) {
    const char *words = getenv("PIEPROF_OPTS");
    int r = 0;
    for (size_t i = 0; r == 0 && i < OPTIONS; i++)
        r = set_from_environment(options, &table[i]);
    if (r == 0 && words)
        r = pie_options_from_string(options, words, "PIEPROF_OPTS");
    return r;
}

int pie_options_complete(struct pie_options *options) {
    struct pie_config *config = &options->config;
    options->has_default_output = !config->output;
    int r = config->output ? 0 : pie_option_set(options, &table[0], table[0].unset);
    if (r < 0)
        return r;
    config->is_per_process = config->is_per_process || pie_output_has_pid(config->output);
    if (!config->run_name && !(config->run_name = pie_run_name_make(config->is_per_process)))
        return pie_options_fail(options, "out of memory");
    return 0;
}

char *pie_options_to_string(const struct pie_options *options) {
    struct pie_options defaults;
    char *string = NULL;
    int r = 0;
    pie_options_init(&defaults);
    for (size_t i = 0; r == 0 && i < OPTIONS; i++)
        r = pie_option_append(&table[i], &options->config, &defaults.config, &string);
    if (r == 0 && !string)
        string = strdup("");
    if (r == 0)
        return string;
    free(string);
    return NULL;
}
