/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/options/options.h"
#include "launcher/options/learn.h"
#include "launcher/options/output_path.h"
#include "launcher/options/run_name.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/text/words.h"

static const double RATE_MAX_HZ = 5000, RATE_MIN_HZ = 1;
static const double THRESHOLD_MIN_BYTES = 4096, THRESHOLD_MAX_BYTES = 0x1p30;
static const double CONTEXT_MIN_BYTES = 0x1p16, CONTEXT_MAX_BYTES = 0x1p28, SIZE_MIN_BYTES = 0x1p22,
                    SIZE_MAX_BYTES = 0x1p40;

int pie_options_fail(struct pie_options *options, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(options->error, sizeof options->error, format, args);
    va_end(args);
    return -EINVAL;
}

/* The path as it will be after the program has changed its folder. Heap, or NULL with error set. */
static char *absolute(struct pie_options *options, const char *path) {
    char *folder = NULL, *result = NULL;
    if (path[0] == '/')
        result = strdup(path);
    else if (!(folder = getcwd(NULL, 0)))
        pie_options_fail(options, "cannot tell the current folder: %s; give absolute paths", strerror(errno));
    else if (asprintf(&result, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path) < 0)
        result = NULL;
    if (!result && options->error[0] == '\0')
        pie_options_fail(options, "out of memory");
    free(folder);
    return result;
}

static int set_output(struct pie_options *options, const char *value) {
    if (*value == '\0')
        return pie_options_fail(options, "-o needs the name of a file");
    char *path = absolute(options, value);
    if (!path)
        return -EINVAL;
    options->config.output = path;
    return 0;
}

/* Reads "12.5unit"; false unless the number is followed by nothing but one of the units (a NULL-terminated list). */
static bool read_quantity(const char *text, const char *const *units, const double *factors,
                          double *ret_value) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number))
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; units[i]; i++) {
        if (strcasecmp(end, units[i]) == 0) {
            *ret_value = number * factors[i];
            return true;
        }
    }
    return false;
}

static int set_rate(struct pie_options *options, const char *value) {
    static const char *const units[] = {"", "hz", "khz", NULL};
    static const double factors[] = {1, 1, 1000};
    double hz;
    if (!read_quantity(value, units, factors, &hz) || hz < RATE_MIN_HZ || hz > RATE_MAX_HZ)
        return pie_options_fail(options, "bad rate '%s': from 1hz to 5khz, such as 1khz", value);
    options->config.period_ns = (uint64_t)llround(1e9 / hz);
    return 0;
}

static int set_interval(struct pie_options *options, const char *value) {
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    static const double factors[] = {1, 1e3, 1e6, 1e9};
    double ns;
    if (!read_quantity(value, units, factors, &ns) || ns < 1e9 / RATE_MAX_HZ || ns > 1e9 / RATE_MIN_HZ)
        return pie_options_fail(
            options,
            "bad interval '%s': from 200us to 1s, such as 1ms (for Python's own -i: pieprof -- -i …)", value);
    options->config.period_ns = (uint64_t)llround(ns);
    return 0;
}

static int set_keep(struct pie_options *options, const char *value) {
    static const char *const units[] = {"s", "m", "min", "h", "d", NULL};
    static const double factors[] = {1, 60, 60, 3600, 86400};
    double seconds;
    if (!read_quantity(value, units, factors, &seconds) || seconds < 10 || seconds > 1e9)
        return pie_options_fail(options, "bad time '%s': how much is kept, from 10s on, such as 1h", value);
    options->config.keep_s = (uint64_t)llround(seconds);
    return 0;
}

static int set_overhead(struct pie_options *options, const char *value) {
    static const char *const units[] = {"%", "", NULL};
    static const double factors[] = {0.01, 0.01};
    double share;
    if (!read_quantity(value, units, factors, &share) || share <= 0 || share > 1)
        return pie_options_fail(options, "bad overhead '%s': a part of the program's time, such as 5%%",
                                value);
    options->config.overhead_budget = share;
    return 0;
}

static int set_clock(struct pie_options *options, const char *value) {
    static const char *const clocks[] = {"perf", "perf-user", "timer", "itimer", "none"};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (strcmp(value, clocks[i]) == 0) {
            options->config.force_clock = clocks[i];
            return 0;
        }
    }
    return pie_options_fail(options, "unknown clock '%s': perf, perf-user, timer, itimer or none", value);
}

static int set_redundancy(struct pie_options *options, const char *value) {
    options->config.redundancy = true;
    return 0;
}

static int set_no_redundancy(struct pie_options *options, const char *value) {
    options->config.redundancy = false;
    return 0;
}

static int set_no_adaptive(struct pie_options *options, const char *value) {
    options->config.adaptive = false;
    return 0;
}

static int set_memory(struct pie_options *options, const char *value) {
    options->config.memory = true;
    return 0;
}

static int set_no_memory(struct pie_options *options, const char *value) {
    options->config.memory = false;
    return 0;
}

static bool read_bytes(const char *value, double least, double most, uint64_t *ret_bytes) {
    static const char *const units[] = {"", "b", "kb", "mb", "gb", "k", "m", "g", "kib", "mib", "gib", NULL};
    static const double factors[] = {1, 1, 1e3, 1e6, 1e9, 1024, 0x1p20, 0x1p30, 1024, 0x1p20, 0x1p30};
    double bytes;
    if (!read_quantity(value, units, factors, &bytes) || bytes < least || bytes > most)
        return false;
    *ret_bytes = (uint64_t)llround(bytes);
    return true;
}

static int set_memory_threshold(struct pie_options *options, const char *value) {
    return read_bytes(value, THRESHOLD_MIN_BYTES, THRESHOLD_MAX_BYTES, &options->config.threshold_bytes)
               ? 0
               : pie_options_fail(options, "bad threshold '%s': bytes from 4k to 1g, such as 10m", value);
}

static int set_context_memory(struct pie_options *options, const char *value) {
    return read_bytes(value, CONTEXT_MIN_BYTES, CONTEXT_MAX_BYTES, &options->config.context_bytes)
               ? 0
               : pie_options_fail(options, "bad size '%s': bytes from 64k to 256m, such as 4m", value);
}

static int set_max_size(struct pie_options *options, const char *value) {
    return read_bytes(value, SIZE_MIN_BYTES, SIZE_MAX_BYTES, &options->config.max_bytes)
               ? 0
               : pie_options_fail(options, "bad size '%s': bytes from 4m to 1024g, such as 256m", value);
}

/* The name that value is, or NULL. */
static const char *one_of(const char *const *names, const char *value) {
    while (*names && strcmp(value, *names) != 0)
        names++;
    return *names;
}

static int set_allocator(struct pie_options *options, const char *value) {
    static const char *const allocators[] = {"system", "jemalloc", NULL};
    options->config.allocator = one_of(allocators, value);
    return options->config.allocator
               ? 0
               : pie_options_fail(options, "unknown allocator '%s': system or jemalloc", value);
}

static int set_copies(struct pie_options *options, const char *value) {
    options->config.copies = true;
    return 0;
}

static int set_no_copies(struct pie_options *options, const char *value) {
    options->config.copies = false;
    return 0;
}

static int set_sampler(struct pie_options *options, const char *value) {
    static const char *const samplers[] = {"pmu", "taskclock", "none", NULL};
    options->config.force_sampler = one_of(samplers, value);
    return options->config.force_sampler
               ? 0
               : pie_options_fail(options, "unknown sampler '%s': pmu, taskclock or none", value);
}

static int set_breakpoints(struct pie_options *options, const char *value) {
    static const char *const ways[] = {"perf", "ptrace", "any", NULL};
    options->config.breakpoints = one_of(ways, value);
    return options->config.breakpoints
               ? 0
               : pie_options_fail(options, "unknown breakpoints '%s': perf, ptrace or any", value);
}

static int set_fp_tolerance(struct pie_options *options, const char *value) {
    char *end;
    double tolerance = strtod(value, &end);
    if (end == value || *end != '\0' || !(tolerance >= 0 && tolerance < 1))
        return pie_options_fail(
            options, "bad tolerance '%s': a part of the number, from 0 to below 1, such as 1e-9", value);
    options->config.fp_tolerance = tolerance;
    return 0;
}

static int set_only(struct pie_options *options, const char *value) {
    return (options->config.only = absolute(options, value)) ? 0 : -EINVAL;
}

static int set_exclude(struct pie_options *options, const char *value) {
    return (options->config.exclude = absolute(options, value)) ? 0 : -EINVAL;
}

static int set_time(struct pie_options *options, const char *value) {
    options->config.time = true;
    return 0;
}

static int set_no_time(struct pie_options *options, const char *value) {
    options->config.time = false;
    return 0;
}

static int set_per_process(struct pie_options *options, const char *value) {
    options->config.per_process = true;
    return 0;
}

static int set_run_name(struct pie_options *options, const char *value) {
    if (*value == '\0')
        return pie_options_fail(options, "--run-name needs a name");
    options->config.run_name = strdup(value);
    return options->config.run_name ? 0 : pie_options_fail(options, "out of memory");
}

static int set_children(struct pie_options *options, const char *value) {
    options->config.children = true;
    return 0;
}

static int set_no_children(struct pie_options *options, const char *value) {
    options->config.children = false;
    return 0;
}

static int set_no_argv(struct pie_options *options, const char *value) {
    options->config.keep_argv = false;
    return 0;
}

static int set_quiet(struct pie_options *options, const char *value) {
    options->config.quiet = true;
    return 0;
}

static int set_verbose(struct pie_options *options, const char *value) {
    options->config.verbose = true;
    return 0;
}

static int set_version(struct pie_options *options, const char *value) {
    options->action = PIE_ACTION_VERSION;
    return 0;
}

static int set_help(struct pie_options *options, const char *value) {
    options->action = PIE_ACTION_HELP;
    return 0;
}

static const struct pie_option table[] = {
    {"output", "FILE", "the profile; a run is added to what is there (default pieprof.db)", set_output, 'o'},
    {"max-size", "BYTES", "fold what is old and light in the file beyond this size (default 256m)",
     set_max_size, 0},
    {"keep", "TIME", "keep only the last 10min, 1h, … of the profile (default: all of it)", set_keep, 0},
    {"rate", "HZ", "samples per second of CPU time, up to 5khz (default 1khz)", set_rate, 'r'},
    {"interval", "TIME", "the same as time between two samples: 1ms, 500us", set_interval, 'i'},
    {"overhead", "SHARE", "how much of the program's time profiling may take (default 5%)", set_overhead, 0},
    {"time", NULL, "profile where time goes (the default)", set_time, 0},
    {"no-time", NULL, "do not", set_no_time, 0},
    {"clock", "CLOCK", "insist on perf, perf-user, timer, itimer or none (default: the best)", set_clock, 0},
    {"redundancy", NULL, "watch for redundant loads and stores (the default, where possible)", set_redundancy,
     0},
    {"no-redundancy", NULL, "do not", set_no_redundancy, 0},
    {"sampler", "SAMPLER", "sample memory accesses by pmu, taskclock or none (default: the best)",
     set_sampler, 0},
    {"breakpoints", "WAY", "set debug registers by perf, by ptrace or by any (default: perf)",
     set_breakpoints, 0},
    {"no-adaptive", NULL, "watch all lines alike, also those of which enough is known", set_no_adaptive, 0},
    {"fp-tolerance", "X", "floats that differ by this part count as equal: 1e-9 (default 0)",
     set_fp_tolerance, 0},
    {"memory", NULL, "sample what is allocated, what stays and what leaks (the default)", set_memory, 0},
    {"no-memory", NULL, "do not", set_no_memory, 0},
    {"context-memory", "BYTES", "forget code and call paths unseen for long beyond this (default 4m)",
     set_context_memory, 0},
    {"memory-threshold", "BYTES", "note the footprint when it has changed by this: 10m (default: adapts)",
     set_memory_threshold, 0},
    {"allocator", "NAME", "who serves malloc(): system or jemalloc (default: system)", set_allocator, 0},
    {"copies", NULL, "sample copied bytes (the default)", set_copies, 0},
    {"no-copies", NULL, "do not", set_no_copies, 0},
    {"learn", "PLACE", "time the calls in the loop at FILE:LINE, or in a function's loops", pie_option_learn,
     0},
    {"no-learn", NULL, "a loop over pieprof.loop(…) is an ordinary one", pie_option_no_learn, 0},
    {"learn-policy", "NAME", "racing, rejects or accepts-rejects (default: racing)", pie_option_learn_policy,
     0},
    {"learn-confidence", "SHARE", "how sure it must be of a call to stop timing it (default 95%)",
     pie_option_learn_confidence, 0},
    {"learn-interval", "TIME", "calls race again after this long (default 1s)", pie_option_learn_interval, 0},
    {"learn-top", "N", "the calls looked for (default 1)", pie_option_learn_top, 0},
    {"learn-budget", "N", "calls that rejects may time in an interval (default: as racing would)",
     pie_option_learn_budget, 0},
    {"children", NULL, "also profile the Python processes it starts (the default)", set_children, 0},
    {"no-children", NULL, "only this process", set_no_children, 0},
    {"per-process", NULL, "a file for each process: FILE.HOST.PID, or %h and %p in FILE; see merge",
     set_per_process, 0},
    {"run-name", "NAME", "processes of this name are one run (default: a parent and its children)",
     set_run_name, 0},
    {"only", "PATH", "your own code is what lies under PATH", set_only, 0},
    {"exclude", "PATH", "code under PATH is not your own", set_exclude, 0},
    {"no-argv", NULL, "do not store the command line in the profile", set_no_argv, 0},
    {"quiet", NULL, "no summary at the end", set_quiet, 'q'},
    {"verbose", NULL, "say what is being done", set_verbose, 'v'},
    {"version", NULL, "print the versions of pieprof and of its Python", set_version, 'V'},
    {"help", NULL, "print this text", set_help, 'h'},
};

const struct pie_option *pie_option_all(size_t *ret_count) {
    *ret_count = sizeof table / sizeof *table;
    return table;
}

void pie_options_init(struct pie_options *options) {
    *options = (struct pie_options){
        .config =
            {
                .period_ns = 1000000,
                .overhead_budget = 0.05,
                .max_bytes = UINT64_C(256) << 20,
                .context_bytes = UINT64_C(4) << 20,
                .time = true,
                .redundancy = true,
                .adaptive = true,
                .memory = true,
                .copies = true,
                .children = true,
                .keep_argv = true,
            },
        .is_bare = true,
    };
    pie_options_learn_init(&options->config);
}

int pie_options_from_environment(struct pie_options *options) {
    int r = 0;
    const char *output = getenv("PIEPROF_OUTPUT");
    const char *overhead = getenv("PIEPROF_OVERHEAD");
    const char *children = getenv("PIEPROF_CHILDREN");
    const char *opts = getenv("PIEPROF_OPTS");
    if (output && *output)
        r = set_output(options, output);
    if (r == 0 && overhead && *overhead)
        r = set_overhead(options, overhead);
    if (r == 0 && children && *children)
        options->config.children = strcmp(children, "0") != 0;
    if (r == 0 && opts)
        r = pie_options_from_string(options, opts, "PIEPROF_OPTS");
    return r;
}

int pie_options_complete(struct pie_options *options) {
    options->has_default_output = !options->config.output;
    int r = options->config.output ? 0 : set_output(options, "pieprof.db");
    if (r < 0)
        return r;
    struct pie_config *config = &options->config;
    config->per_process = config->per_process || pie_output_has_pid(config->output);
    if (!config->run_name && !(config->run_name = pie_run_name_make(config->per_process)))
        return pie_options_fail(options, "out of memory");
    return 0;
}

static int append_pair(char **string, const char *name, const char *value) {
    if (!value)
        return 0;
    int r = pie_words_append(string, name);
    return r < 0 ? r : pie_words_append(string, value);
}

static int append_flag(char **string, bool is_on, const char *name) {
    return is_on ? pie_words_append(string, name) : 0;
}

char *pie_options_to_string(const struct pie_options *options) {
    const struct pie_config *config = &options->config;
    char interval[32], overhead[40], tolerance[32], threshold[32], keep[32], context[32], size[32],
        *string = NULL;
    snprintf(interval, sizeof interval, "%lluns", (unsigned long long)config->period_ns);
    snprintf(overhead, sizeof overhead, "%.17g%%", config->overhead_budget * 100);
    snprintf(tolerance, sizeof tolerance, "%.17g", config->fp_tolerance);
    snprintf(threshold, sizeof threshold, "%llu", (unsigned long long)config->threshold_bytes);
    snprintf(keep, sizeof keep, "%llus", (unsigned long long)config->keep_s);
    snprintf(context, sizeof context, "%llu", (unsigned long long)config->context_bytes);
    snprintf(size, sizeof size, "%llu", (unsigned long long)config->max_bytes);
    if (append_pair(&string, "--output", config->output) == 0 &&
        append_pair(&string, "--context-memory", context) == 0 &&
        append_pair(&string, "--max-size", size) == 0 &&
        append_pair(&string, "--keep", config->keep_s ? keep : NULL) == 0 &&
        append_pair(&string, "--interval", interval) == 0 &&
        append_pair(&string, "--overhead", overhead) == 0 &&
        append_pair(&string, "--clock", config->force_clock) == 0 &&
        append_pair(&string, "--sampler", config->force_sampler) == 0 &&
        append_pair(&string, "--breakpoints", config->breakpoints) == 0 &&
        append_pair(&string, "--fp-tolerance", tolerance) == 0 &&
        append_pair(&string, "--memory-threshold", config->threshold_bytes ? threshold : NULL) == 0 &&
        append_pair(&string, "--allocator", config->allocator) == 0 &&
        append_pair(&string, "--only", config->only) == 0 &&
        append_pair(&string, "--exclude", config->exclude) == 0 &&
        append_flag(&string, !config->time, "--no-time") == 0 &&
        append_flag(&string, !config->redundancy, "--no-redundancy") == 0 &&
        append_flag(&string, !config->adaptive, "--no-adaptive") == 0 &&
        append_flag(&string, !config->memory, "--no-memory") == 0 &&
        append_flag(&string, !config->copies, "--no-copies") == 0 &&
        pie_options_learn_append(config, &string) == 0 &&
        append_pair(&string, "--run-name", config->run_name) == 0 &&
        append_flag(&string, config->per_process, "--per-process") == 0 &&
        append_flag(&string, !config->children, "--no-children") == 0 &&
        append_flag(&string, !config->keep_argv, "--no-argv") == 0 &&
        append_flag(&string, config->quiet, "--quiet") == 0 &&
        append_flag(&string, config->verbose, "--verbose") == 0)
        return string;
    free(string);
    return NULL;
}
