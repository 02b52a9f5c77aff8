/* SPDX-License-Identifier: Apache-2.0 */

/* The collector of counted windows (ports/windows.h): which lines, and when. */

#include "profiler/windows/collector.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

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
/* The same of a budget that the user named: so much of it for a second. It is what one window may cost, too. */
static const double ASKED_FIRST_PART = 0.04;

/* Hot lines, and lines that lead to them (callers). Calls of the latter are longer and fewer, and hand more on. So a
 * window has those of one function, and all that it costs is spent on few. */
enum kind { HOT, CALLERS, KINDS };
static const struct pie_window_limits LIMITS[KINDS] = {
    {.length_ns = 20000000,
     .forced_ns = 400000000,
     .cost_ns = 4000000,
     .calls = 500,
     .few_calls = 16,
     .long_ns = 100000000},
    {.length_ns = 40000000,
     .forced_ns = 400000000,
     .cost_ns = 4000000,
     .calls = 500,
     .few_calls = 16,
     .long_ns = 160000000},
};
/* The mean pause between two of a kind, of the thread's CPU time. Each is drawn from half to one and a half times
 * that. */
static const uint64_t PAUSE_NS = 240000000;
/* This number of calls of a line says enough of it, … */
static const uint64_t CALLS_ENOUGH[KINDS] = {5000, 1000};
/* … as does this number of windows that saw none. Callers have few windows, and main() would take most of them. */
static const unsigned VAIN_MAX[KINDS] = {8, 3};

enum {
    DROPPED = -2,
    CALLERS_MAX = 6, /* frames of own code above the innermost one that are looked at, */
    STEPS_MAX = 200, /* … and frames of any code */
};

/* Of the collection thread. Fork child: forget(). */
static struct {
    const struct pie_pystack_ops *ops;
    const struct pie_window_ops *windows;  /* NULL: not yet, or not in this Python */
    struct pie_window_lines *lines[KINDS]; /* one block; [CALLERS] has functions as a whole, too */
    uint64_t next_ns[KINDS];               /* of the thread's CPU time: no window before */
    double allowed;                        /* of the program's CPU time; 0: not limited */
    uint64_t first_ns, most_ns;            /* what windows may cost at the beginning, and each of them */
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
    state.lines[HOT] = pie_calloc(KINDS, sizeof *state.lines[HOT]);
    if (!state.lines[HOT])
        return -ENOMEM;
    state.lines[CALLERS] = state.lines[HOT] + 1;
    state.ops = collection->ops;
    state.windows = NULL;
    state.random = pie_monotonic_ns() | 1;
    state.next_ns[HOT] = state.next_ns[CALLERS] = 0;
    state.allowed = FREE_SHARE;
    state.first_ns = FIRST_NS;
    state.most_ns = UINT64_MAX;
    state.is_last = false;
    return 0;
}

static void forget(void) {
    state.lines[HOT] = state.lines[CALLERS] = NULL;
}

/* --- Which lines --- */

/* The innermost line of own code at a node or above, with the node. False: there is none within *steps nodes, or nobody
 * knows yet whose code it is. */
static bool own_place(struct pie_cct_id *node, unsigned *steps, struct pie_window_place *ret_place) {
    for (; *steps > 0 && !pie_cct_is_root(*node) && !pie_cct_is_full(*node); *node = pie_cct_parent(*node)) {
        uint64_t key = pie_cct_key(*node);
        --*steps;
        if (!pie_cct_key_is_python(key) || pie_cct_key_code(key) == PIE_CCT_CODE_FULL ||
            state.ops->owner(pie_cct_key_code(key)) != PIE_CODE_OWNER_OWN)
            continue;
        uint32_t code = pie_cct_key_code(key), offset = pie_cct_key_offset(key);
        ret_place->line = state.ops->line(code, offset);
        ret_place->is_in_loop = state.ops->operation(code, offset) & PIE_OPERATION_IN_LOOP;
        return state.ops->describe(code, &ret_place->file, &ret_place->function, &ret_place->function_line) ==
               0;
    }
    return false;
}

/* Such as an import: it is run once. */
static bool is_run_once(const struct pie_window_place *place) {
    return !place->is_in_loop && strcmp(place->function, "<module>") == 0;
}

static void add_caller(struct pie_window_place place) {
    if (place.line > 0 && place.function_line > 0 && !is_run_once(&place))
        pie_window_lines_add(state.lines[CALLERS], &place);
}

static void add_innermost(struct pie_window_place place) {
    if (place.line <= 0 || is_run_once(&place))
        return;
    place.function = "";
    place.function_line = 0;
    pie_window_lines_add(state.lines[HOT], &place);
}

static void add_function(struct pie_window_place place) {
    place.line = 0;
    if (place.function_line > 0)
        pie_window_lines_add(state.lines[CALLERS], &place);
}

static void sample(const struct pie_thread *thread, size_t slot, const struct pie_record *record) {
    struct pie_window_place place;
    struct pie_cct_id node = record->node;
    unsigned steps = UINT_MAX;

    if (!thread->is_main || !state.ops->owner)
        return;
    for (enum kind kind = HOT; kind < KINDS; kind++)
        pie_window_lines_sample(state.lines[kind], record->user_ns + record->system_ns);
    if (!own_place(&node, &steps, &place))
        return;
    add_innermost(place);
    add_function(place);
    steps = STEPS_MAX;
    for (int i = 0; i < CALLERS_MAX; i++) {
        node = pie_cct_parent(node);
        if (!own_place(&node, &steps, &place))
            return;
        add_caller(place);
        add_function(place);
    }
}

/* --- When --- */

static struct pie_window_limits limits_of(enum kind kind) {
    struct pie_window_limits limits = LIMITS[kind];

    if (limits.cost_ns > state.most_ns)
        limits.cost_ns = state.most_ns;
    return limits;
}

static bool may_cost(enum kind kind) {
    double cpu_ns = (double)pie_process_cpu_ns();

    return (double)state.windows->spent_ns() + (double)limits_of(kind).cost_ns <=
           (double)state.first_ns + state.allowed * cpu_ns;
}

/* The lines of main() make no call that a window sees. */
static bool is_done(const struct pie_window_line *line, enum kind kind) {
    uint64_t calls = state.windows->calls(line->number);

    return calls >= CALLS_ENOUGH[kind] || (calls == 0 && line->windows >= VAIN_MAX[kind]);
}

static void choose_lines(enum kind kind) {
    struct pie_window_lines *lines = state.lines[kind];

    for (unsigned i = 0; i < lines->count; i++) {
        struct pie_window_line *line = &lines->lines[i];
        if (line->number >= 0 && is_done(line, kind)) {
            state.windows->drop(line->number);
            line->number = DROPPED;
        }
    }
    for (struct pie_window_line *line; (line = pie_window_lines_next(lines));) {
        int number = state.windows->add(line->file, line->line, line->function_line);
        line->number = number >= 0 ? number : DROPPED;
    }
}

static void open_if_due(enum kind kind) {
    uint64_t now_ns = state.lines[kind]->cpu_ns;

    if (now_ns < state.next_ns[kind] || !state.windows->is_resting() || !may_cost(kind))
        return;
    choose_lines(kind);
    struct pie_window_limits limits = limits_of(kind);
    if (!pie_window_lines_turn(state.lines[kind], &limits.function_line))
        return;
    state.next_ns[kind] = now_ns + PAUSE_NS / 2 + pie_random_next(&state.random) % PAUSE_NS;
    if (state.windows->open(&limits))
        pie_window_lines_opened(state.lines[kind], limits.function_line);
}

static void tick(void) {
    state.windows = atomic_load_explicit(&installed, memory_order_acquire);
    if (!state.windows)
        return;
    state.windows->look();
    enum kind first = state.next_ns[CALLERS] < state.next_ns[HOT] ? CALLERS : HOT;
    open_if_due(first); /* where little may be spent, they take turns */
    open_if_due(first == HOT ? CALLERS : HOT);
}

static void spent(uint64_t *spent_ns) {
    spent_ns[PIE_COST_WINDOWS] += state.windows ? state.windows->spent_ns() : 0;
}

static void govern(const struct pie_governor *governor) {
    double allowed = governor->allowed[PIE_COST_WINDOWS];

    state.allowed = allowed > 0 && allowed < FREE_SHARE ? allowed : FREE_SHARE;
    if (governor->is_asked)
        state.first_ns = state.most_ns = (uint64_t)(ASKED_FIRST_PART * governor->budget * 1e9);
}

/* --- Rows --- */

static void prepare(bool is_last) {
    state.is_last = is_last;
}

static uint64_t time_of(const struct pie_window_line *line) {
    return line ? line->cpu_ns : 0;
}

static void say_more(struct pie_window_row *row) {
    const struct pie_window_lines *lines = state.lines[row->function_line ? CALLERS : HOT];
    const struct pie_window_line *line =
        pie_window_lines_find(lines, row->file, row->line, row->function_line);

    row->is_in_loop = pie_window_line_is_in_loop(line);
    row->function = line ? line->function : "";
    row->line_ns = time_of(line);
    row->function_ns =
        row->function_line ? time_of(pie_window_lines_find(lines, row->file, 0, row->function_line)) : 0;
}

/* All are totals. While a window is open they change, and the next flush has them. After the last one no window
 * ends. */
static int write_rows(struct pie_sink *sink) {
    struct pie_window_row row;
    int r = 0;

    if (!state.windows || (!state.is_last && !state.windows->is_resting()))
        return 0;
    for (size_t i = 0; r == 0 && state.windows->row(i, &row); i++) {
        say_more(&row);
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
