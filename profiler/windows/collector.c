/* SPDX-License-Identifier: Apache-2.0 */

/* The collector of counted windows (ports/windows.h): which lines, and when. */

#include "profiler/windows/collector.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "profiler/base/clocks.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/random.h"
#include "profiler/govern/governor.h"
#include "profiler/ports/config.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/ports/windows.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/time/sample_ring.h"
#include "profiler/windows/lines.h"

/* Of the program's CPU time until the governor has divided its budget. */
static const double FREE_SHARE = 0.01;
/* What a window may cost at the beginning, before it is known what one costs. */
static const uint64_t FIRST_NS = 10000000;

static const struct pie_window_limits LIMITS = {
    .length_ns = 20000000, .forced_ns = 400000000, .cost_ns = 4000000, .calls = 500};
/* The mean pause between two; each is drawn from half to one and a half times that. */
static const uint64_t PAUSE_NS = 240000000;
/* This number of calls of a line says enough of it. */
static const uint64_t CALLS_ENOUGH = 5000;

enum { DROPPED = -2 };

/* Of the collection thread. Fork child: forget(). */
static struct {
    const struct pie_pystack_ops *ops;
    const struct pie_window_ops *windows; /* NULL: not yet, or not in this Python */
    struct pie_window_lines *lines;
    uint64_t next_ns; /* CLOCK_MONOTONIC: no window before */
    double allowed;   /* of the program's CPU time; 0: not limited */
    uint64_t random;
    bool is_last;
} state;

/* Set once, after the collection thread has begun. */
static _Atomic(const struct pie_window_ops *) installed;

void pie_windows_set(const struct pie_window_ops *ops) {
    atomic_store_explicit(&installed, ops, memory_order_release);
}

static int begin(struct pie_collection *collection) {
    if (!collection->config->has_redundancy)
        return -ENOTSUP;
    state.lines = pie_calloc(1, sizeof *state.lines);
    if (!state.lines)
        return -ENOMEM;
    state.ops = collection->ops;
    state.windows = NULL;
    state.random = pie_monotonic_ns() | 1;
    state.next_ns = 0;
    state.allowed = FREE_SHARE;
    state.is_last = false;
    return 0;
}

static void forget(void) {
    state.lines = NULL;
}

/* --- Which lines --- */

/* The innermost line of own code above a sample. False: there is none, or nobody knows yet whose code it is. */
static bool own_line(struct pie_cct_id node, const char **ret_file, int32_t *ret_line, bool *ret_in_loop) {
    for (; !pie_cct_is_root(node) && !pie_cct_is_full(node); node = pie_cct_parent(node)) {
        uint64_t key = pie_cct_key(node);
        const char *name;
        int32_t first_line;
        if (!pie_cct_key_is_python(key) || pie_cct_key_code(key) == PIE_CCT_CODE_FULL ||
            state.ops->owner(pie_cct_key_code(key)) != PIE_CODE_OWNER_OWN)
            continue;
        *ret_line = state.ops->line(pie_cct_key_code(key), pie_cct_key_offset(key));
        *ret_in_loop =
            state.ops->operation(pie_cct_key_code(key), pie_cct_key_offset(key)) & PIE_OPERATION_IN_LOOP;
        return state.ops->describe(pie_cct_key_code(key), ret_file, &name, &first_line) == 0;
    }
    return false;
}

static void sample(const struct pie_thread *thread, size_t slot, const struct pie_record *record) {
    const char *file = NULL;
    int32_t line = 0;
    bool is_in_loop = false;

    if (!thread->is_main || !state.ops->owner)
        return;
    if (!own_line(record->node, &file, &line, &is_in_loop))
        file = NULL;
    pie_window_lines_add(state.lines, file, line, record->user_ns + record->system_ns, is_in_loop);
}

/* --- When --- */

static bool may_cost(void) {
    double cpu_ns = (double)pie_process_cpu_ns();

    return (double)state.windows->spent_ns() + (double)LIMITS.cost_ns <=
           (double)FIRST_NS + state.allowed * cpu_ns;
}

static void choose_lines(void) {
    for (unsigned i = 0; i < state.lines->count; i++) {
        struct pie_window_line *line = &state.lines->lines[i];
        if (line->number >= 0 && state.windows->calls(line->number) >= CALLS_ENOUGH) {
            state.windows->drop(line->number);
            line->number = DROPPED;
        }
    }
    for (struct pie_window_line *line; (line = pie_window_lines_next(state.lines));) {
        int number = state.windows->add(line->file, line->line);
        line->number = number >= 0 ? number : DROPPED;
    }
}

static void tick(void) {
    uint64_t now_ns = pie_monotonic_ns();

    state.windows = atomic_load_explicit(&installed, memory_order_acquire);
    if (!state.windows)
        return;
    state.windows->look();
    if (now_ns < state.next_ns || !state.windows->is_resting() || !may_cost())
        return;
    choose_lines();
    if (!pie_window_lines_are_hot(state.lines))
        return;
    state.next_ns = now_ns + PAUSE_NS / 2 + pie_random_next(&state.random) % PAUSE_NS;
    (void)state.windows->open(&LIMITS);
}

static void spent(uint64_t *spent_ns) {
    spent_ns[PIE_COST_WINDOWS] += state.windows ? state.windows->spent_ns() : 0;
}

static void govern(const struct pie_governor *governor) {
    double allowed = governor->allowed[PIE_COST_WINDOWS];

    state.allowed = allowed > 0 && allowed < FREE_SHARE ? allowed : FREE_SHARE;
}

/* --- Rows --- */

static void prepare(bool is_last) {
    state.is_last = is_last;
}

/* All are totals. While a window is open they change, and the next flush has them. After the last one no window
 * ends. */
static int write_rows(struct pie_sink *sink) {
    struct pie_window_row row;
    int r = 0;

    if (!state.windows || (!state.is_last && !state.windows->is_resting()))
        return 0;
    for (size_t i = 0; r == 0 && state.windows->row(i, &row); i++) {
        row.is_in_loop = pie_window_lines_is_in_loop(state.lines, row.file, row.line);
        r = sink->ops->put_window(sink, &row);
    }
    return r;
}

static int write_overhead(struct pie_sink *sink) {
    uint64_t spent_ns = state.windows ? state.windows->spent_ns() : 0;

    return spent_ns ? sink->ops->put_overhead(sink, "counted windows", spent_ns, 0) : 0;
}

const struct pie_collector pie_windows_collector = {
    .name = "counted windows",
    .begin = begin,
    .forget = forget,
    .sample = sample,
    .tick = tick,
    .spent = spent,
    .govern = govern,
    .prepare = prepare,
    .write = write_rows,
    .write_overhead = write_overhead,
};
