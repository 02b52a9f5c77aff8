/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/heap/known_prices.h"
#include "profiler/time/clock_price.h"
#include "profiler/watch/setup.h"

struct pie_options;

/* How a process of a run hands its settings to the Python processes it starts: an environment variable that is added
 * only to redirected children (runtime/libc/exec.h) and taken out of the environment before Python sees it. */
struct pie_child_env {
    bool is_child; /* started by a process under pieprof: plain Python to the letter, whatever argv[0] says */
    bool is_profiled; /* and to be profiled; the rest is valid then */
    bool is_root;     /* the first process of its run, which pieprof has made a guest of; it has no run yet */
    int64_t run_id;
    int32_t parent_pid;
    pid_t summary_pid;            /* the process that prints the summary: this one after an exec in place */
    char *target;                 /* the interpreter that the run replaces; heap, as options */
    char *options;                /* for pie_options_from_string() */
    struct pie_watch_price price; /* the cost of watching here */
    bool has_price;
    struct pie_clock_price clock_price; /* the cost of its clock's signals */
    bool has_clock_price;
    uint32_t heap_prices[PIE_HEAP_PRICES]; /* of counting blocks */
    bool has_heap_prices;
    char *variables[2]; /* as they were, for pie_child_env_restore(); heap */
};

/* Reads and removes the variables. Context: launcher (before Python starts). */
void pie_child_env_take(struct pie_child_env *ret_child);

/* The settings of the parent, or those that a root was given: the options, and the prices, which become known here.
 * Returns 0, or -EINVAL where they cannot be read. Context: launcher. */
int pie_child_env_apply(const struct pie_child_env *child, struct pie_options *ret_options);

/* Puts the variables back: this program is about to execute itself. data: struct pie_child_env. */
void pie_child_env_restore(void *data);

/* "NAME=value" for pie_exec_set_child_variable(), on the heap; NULL without memory. Prices: NULL where they are
 * not known. Context: launcher. */
char *pie_child_env_make(const struct pie_options *options, const char *target, pid_t summary_pid,
                         const struct pie_watch_price *price, const struct pie_clock_price *clock_price);

/* "NAME=value" for the first process of a run, beside the above: it has no parent in the run. */
extern const char PIE_CHILD_ENV_ROOT[];

/* The same where children are not to be profiled, not even by PIEPROF=1. */
extern const char PIE_CHILD_ENV_OFF[];
