/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/options/options.h"

#include <errno.h>
#include <float.h>
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
                                 overhead = {UNITS(share), .divisor = 100, FROM_TO(DBL_MIN, 1),
                                             .is_real = true},
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
    {"output", "FILE", "the profile; a run is added to what is there (default pieprof.db)", 'o', PATH(output),
     .wrong = "-o", .right = "the name of a file", .environment = "PIEPROF_OUTPUT"},
    {"max-size", "BYTES", "fold what is old and light in the file beyond this size (default 256m)", 0,
     QUANTITY(max_bytes, file_size, "256m"), .wrong = "bad size",
     .right = "bytes from 4m to 1024g, such as 256m"},
    {"keep", "TIME", "keep only the last 10min, 1h, … of the profile (default: all of it)", 0,
     QUANTITY(keep_s, age, NULL), .wrong = "bad time", .right = "how much is kept, from 10s on, such as 1h"},
    {"rate", "HZ", "samples per second of CPU time, up to 5khz (default 1khz)", 'r',
     QUANTITY(period_ns, rate, "1khz"), .wrong = "bad rate", .right = "from 1hz to 5khz, such as 1khz"},
    {"interval", "TIME", "the same as time between two samples: 1ms, 500us", 'i',
     QUANTITY(period_ns, interval, NULL), .wrong = "bad interval",
     .right = "from 200us to 1s, such as 1ms (for Python's own -i: pieprof -- -i …)"},
    {"overhead", "SHARE", "how much of the program's time profiling may take (default 5%)", 0,
     QUANTITY(overhead_budget, overhead, "5%"), .wrong = "bad overhead",
     .right = "a part of the program's time, such as 5%", .environment = "PIEPROF_OVERHEAD"},
    {"time", NULL, "profile where time goes (the default)", 0, FLAG(has_time, true), .is_default = true},
    {"no-time", NULL, "do not", 0, FLAG(has_time, false)},
    {"clock", "CLOCK", "insist on perf, perf-user, timer, itimer or none (default: the best)", 0,
     CHOICE(force_clock, clocks), .wrong = "unknown clock",
     .right = "perf, perf-user, timer, itimer or none"},
    {"redundancy", NULL, "watch for redundant loads and stores (the default, where possible)", 0,
     FLAG(has_redundancy, true), .is_default = true},
    {"no-redundancy", NULL, "do not", 0, FLAG(has_redundancy, false)},
    {"sampler", "SAMPLER", "sample memory accesses by pmu, taskclock or none (default: the best)", 0,
     CHOICE(force_sampler, samplers), .wrong = "unknown sampler", .right = "pmu, taskclock or none"},
    {"breakpoints", "WAY", "set debug registers by perf, by ptrace or by any (default: perf)", 0,
     CHOICE(breakpoints, ways), .wrong = "unknown breakpoints", .right = "perf, ptrace or any"},
    {"no-adaptive", NULL, "watch all lines alike, also those of which enough is known", 0,
     FLAG(is_adaptive, false)},
    {"fp-tolerance", "X", "floats that differ by this part count as equal: 1e-9 (default 0)", 0,
     QUANTITY(fp_tolerance, tolerance, NULL), .wrong = "bad tolerance",
     .right = "a part of the number, from 0 to below 1, such as 1e-9"},
    {"memory", NULL, "sample what is allocated, what stays and what leaks (the default)", 0,
     FLAG(has_memory, true), .is_default = true},
    {"no-memory", NULL, "do not", 0, FLAG(has_memory, false)},
    {"context-memory", "BYTES", "forget code and call paths unseen for long beyond this (default 4m)", 0,
     QUANTITY(context_bytes, context_size, "4m"), .wrong = "bad size",
     .right = "bytes from 64k to 256m, such as 4m"},
    {"memory-threshold", "BYTES", "note the footprint when it has changed by this: 10m (default: adapts)", 0,
     QUANTITY(threshold_bytes, threshold, NULL), .wrong = "bad threshold",
     .right = "bytes from 4k to 1g, such as 10m"},
    {"allocator", "NAME", "who serves malloc(): system or jemalloc (default: system)", 0,
     CHOICE(allocator, allocators), .wrong = "unknown allocator", .right = "system or jemalloc"},
    {"copies", NULL, "sample copied bytes (the default)", 0, FLAG(has_copies, true), .is_default = true},
    {"no-copies", NULL, "do not", 0, FLAG(has_copies, false)},
    {"learn", "PLACE", "time the calls in the loop at FILE:LINE, or in a function's loops", 0,
     .kind = PIE_OPTION_LIST, SETTING(learn_places), .wrong = "too many loops to learn"},
    {"no-learn", NULL, "a loop over pieprof.loop(…) is an ordinary one", 0, FLAG(has_traced_loops, false)},
    {"learn-policy", "NAME", "racing, rejects or accepts-rejects (default: racing)", 0,
     .kind = PIE_OPTION_NUMBER, SETTING(learn.policy), .choices = policies, .fallback = "racing",
     .wrong = "unknown policy", .right = "racing, rejects or accepts-rejects"},
    {"learn-confidence", "SHARE", "how sure it must be of a call to stop timing it (default 95%)", 0,
     QUANTITY(learn.confidence, confidence, "95%"), .wrong = "bad confidence",
     .right = "from 50% to less than 100%, such as 95%"},
    {"learn-interval", "TIME", "calls race again after this long (default 1s)", 0,
     QUANTITY(learn.interval_ns, epoch, "1s"), .wrong = "bad interval",
     .right = "seconds from 0.1 to 3600, such as 1s"},
    {"learn-top", "N", "the calls looked for (default 1)", 0, QUANTITY(learn.top, count, NULL),
     .wrong = "bad number of calls", .right = "a number from 1 to 1000000000"},
    {"learn-budget", "N", "calls that rejects may time in an interval (default: as racing would)", 0,
     QUANTITY(learn.budget, count, NULL), .wrong = "bad budget", .right = "a number from 1 to 1000000000"},
    {"children", NULL, "also profile the Python processes it starts (the default)", 0,
     FLAG(has_children, true), .is_default = true},
    {"no-children", NULL, "only this process", 0, FLAG(has_children, false)},
    {"per-process", NULL, "a file for each process: FILE.HOST.PID, or %h and %p in FILE; see merge", 0,
     FLAG(is_per_process, true)},
    {"run-name", "NAME", "processes of this name are one run (default: a parent and its children)", 0,
     .kind = PIE_OPTION_TEXT, SETTING(run_name), .wrong = "--run-name", .right = "a name"},
    {"only", "PATH", "your own code is what lies under PATH", 0, PATH(only)},
    {"exclude", "PATH", "code under PATH is not your own", 0, PATH(exclude)},
    {"no-argv", NULL, "do not store the command line in the profile", 0, FLAG(has_argv, false)},
    {"quiet", NULL, "no summary at the end", 'q', FLAG(is_quiet, true)},
    {"verbose", NULL, "say what is being done", 'v', FLAG(is_verbose, true)},
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
    *options = (struct pie_options){.config.learn.cost = 0.01, .is_bare = true};
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].kind == PIE_OPTION_FLAG && !table[i].is_default)
            *(bool *)((char *)&options->config + table[i].offset) = !table[i].is_on;
        else if (table[i].fallback)
            pie_option_set(options, &table[i], table[i].fallback);
    }
}

int pie_options_from_environment(struct pie_options *options) {
    const char *children = getenv("PIEPROF_CHILDREN"), *words = getenv("PIEPROF_OPTS");
    int r = 0;
    for (size_t i = 0; r == 0 && i < OPTIONS; i++) {
        const char *value = table[i].environment ? getenv(table[i].environment) : NULL;
        if (value && *value)
            r = pie_option_set(options, &table[i], value);
    }
    if (r == 0 && children && *children)
        options->config.has_children = strcmp(children, "0") != 0;
    if (r == 0 && words)
        r = pie_options_from_string(options, words, "PIEPROF_OPTS");
    return r;
}

int pie_options_complete(struct pie_options *options) {
    struct pie_config *config = &options->config;
    options->has_default_output = !config->output;
    int r = config->output ? 0 : pie_option_set(options, &table[0], "pieprof.db");
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
