/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/windows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "profiler/base/clocks.h"
#include "profiler/ports/windows.h"
#include "profiler/trace/trace.h"
#include "profiler/watch/watch.h"
#include "profiler/windows/collector.h"
#include "runtime/confirm/sites.h"
#include "runtime/confirm/window.h"
#include "runtime/interpreter/finalizing.h"

/* When a window begins and ends. The collection thread asks by a pending call, which the interpreter makes on its main
 * thread between two instructions, with the GIL. It ends in the same way, or at the first event after its time. */

enum { RESTING, ASKED, OPEN };

/* Between two looks at the limits of a window that is longer than others. */
static const uint64_t LOOK_NS = 1000000;

/* Arrays of up to a million bytes are compared; larger ones are known only by their shape. */
static const size_t BUDGET_BYTES = 1 << 20;
/* What callers hand on is looked at less often. */
static const size_t CALLERS_BUDGET_BYTES = 4 << 20;

static struct pie_confirm_board board;

static struct {
    unsigned long thread;            /* that the window is of */
    struct pie_window_limits limits; /* changes at rest only */
    uint64_t begun_cpu_ns;           /* of the main thread; under the GIL, as is the next one */
    uint64_t look_ns;                /* the limits may be reached from then on */
    uint64_t look_cost_ns;           /* … and by that cost; under the GIL, too */
    _Atomic uint64_t begun_ns;
    _Atomic uint64_t spent_ns; /* relaxed: a sum */
    _Atomic int state;         /* release as a window ends: its rows are there */
    _Atomic bool is_end_asked;
    /* The interpreter ends: under the lock, no pending call is added any more. Order: innermost. */
    pthread_mutex_t lock;
    bool is_over;
    bool has_loops; /* that are traced: the frames are theirs. Under the GIL */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- On the program's threads, with the GIL --- */

/* The clock of the events goes on while the thread has no processor. */
static uint64_t cost_ns(void) {
    uint64_t cost_ns = pie_window_cost_ns(), cpu_ns = pie_thread_cpu_ns() - own.begun_cpu_ns;

    return PyThread_get_thread_ident() == own.thread && cpu_ns < cost_ns ? cpu_ns : cost_ns;
}

static void finish(void) {
    pie_watch_rest_calls(false);
    pie_confirm_board = NULL;
    atomic_fetch_add_explicit(&own.spent_ns, cost_ns(), memory_order_relaxed);
    atomic_store_explicit(&own.state, RESTING, memory_order_release);
}

/* Calls of some milliseconds would be counted one in a window, and never with the one that follows. */
static uint64_t length_ns(void) {
    return pie_window_calls() < own.limits.few_calls ? own.limits.long_ns : own.limits.length_ns;
}

static bool is_open(void) {
    return atomic_load_explicit(&own.state, memory_order_relaxed) == OPEN;
}

void pie_window_close(void) {
    if (!is_open())
        return;
    pie_window_unsee();
    finish();
}

/* Where the interpreter must not be asked for anything. */
static void leave(void) {
    if (!is_open())
        return;
    pie_window_leave();
    finish();
}

/* By the clock of the events a limit may be reached while others have the processor. The clock of the thread, which is
 * dear, says how much of its own time is left. */
static bool is_at_limit(uint64_t now_ns) {
    uint64_t begun_ns = atomic_load_explicit(&own.begun_ns, memory_order_relaxed);
    uint64_t cpu_ns = pie_thread_cpu_ns() - own.begun_cpu_ns;

    if (now_ns - begun_ns >= own.limits.forced_ns || cpu_ns >= length_ns())
        return true;
    if (pie_window_cost_ns() >= own.limits.cost_ns && cpu_ns >= own.limits.cost_ns)
        return true;
    /* more calls may come in between, which make the window shorter */
    own.look_ns = now_ns + (cpu_ns < own.limits.length_ns ? own.limits.length_ns - cpu_ns : LOOK_NS);
    return false;
}

void pie_window_check(uint64_t now_ns) {
    if (pie_window_calls() >= own.limits.calls || pie_python_is_finalizing())
        pie_window_close();
    else if ((now_ns >= own.look_ns || pie_window_cost_ns() >= own.limits.cost_ns) && is_at_limit(now_ns))
        pie_window_close();
}

/* Where main() is counted, the frames below it take longer all the same, and no event comes until they return. A call
 * that takes long, though it costs little, is waited for. */
void pie_window_check_cost(void) {
    if (pie_window_cost_ns() < own.look_cost_ns)
        return;
    if (pie_thread_cpu_ns() - own.begun_cpu_ns >= own.limits.cost_ns)
        pie_window_close();
    own.look_cost_ns += own.limits.cost_ns / 4;
}

/* Libraries that exchange the C stack take frames away in an order that nobody foresees. */
static bool has_greenlets(void) {
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */

    return modules && PyDict_CheckExact(modules) && PyDict_GetItemString(modules, "greenlet");
}

static int begin(void *unused) {
    if (atomic_load_explicit(&own.state, memory_order_relaxed) != ASKED)
        return 0;
    pie_confirm_board = &board;
    pie_confirm_budget_bytes = own.limits.function_line ? CALLERS_BUDGET_BYTES : BUDGET_BYTES;
    pie_confirm_lines_choose(own.limits.function_line != 0);
    if (own.is_over || own.has_loops || pie_python_is_finalizing() || has_greenlets() ||
        pie_confirm_stack_is_short() || !pie_window_see(own.limits.function_line)) {
        pie_confirm_board = NULL;
        atomic_store_explicit(&own.state, RESTING, memory_order_release);
        return 0;
    }
    atomic_store_explicit(&own.begun_ns, pie_monotonic_ns(), memory_order_relaxed);
    atomic_store_explicit(&own.is_end_asked, false, memory_order_relaxed);
    pie_watch_rest_calls(true);
    own.thread = PyThread_get_thread_ident();
    own.begun_cpu_ns = pie_thread_cpu_ns();
    own.look_ns = pie_monotonic_ns() + own.limits.length_ns;
    own.look_cost_ns = own.limits.cost_ns;
    atomic_store_explicit(&own.state, OPEN, memory_order_release);
    return 0;
}

/* A call that has just ended is counted by the event that follows, which ends the window. After an exception there may
 * be none for long, so the window is asked to end again. */
static int end(void *unused) {
    if (pie_window_is_in_call())
        atomic_store_explicit(&own.is_end_asked, false, memory_order_relaxed);
    else
        pie_window_close();
    return 0;
}

static void leave_to_loops(void) {
    own.has_loops = true;
    pie_window_close();
}

static void interpreter_ends(PyObject *unused) {
    pthread_mutex_lock(&own.lock);
    own.is_over = true;
    pthread_mutex_unlock(&own.lock);
    leave();
}

/* The interpreter's dict of what extensions keep there, which no program sees, is cleared while the interpreter can
 * still be asked. The module atexit would be imported for the program to see. */
static bool notice_the_end(void) {
    PyObject *kept = PyInterpreterState_GetDict(PyInterpreterState_Main()); /* borrowed */
    PyObject *notice = kept ? PyCapsule_New(&own, NULL, interpreter_ends) : NULL;
    bool done = notice && PyDict_SetItemString(kept, "pieprof.windows", notice) == 0;

    Py_XDECREF(notice);
    PyErr_Clear();
    return done;
}

/* The counts are the parent's. */
static void after_fork_in_child(void) {
    own.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    leave();
    atomic_store_explicit(&own.state, RESTING, memory_order_relaxed);
    atomic_store_explicit(&own.spent_ns, 0, memory_order_relaxed);
    board.n_rows = board.n_lines = 0;
    pie_confirm_sums_forget();
    pie_confirm_lines_changed();
}

/* --- On the collection thread --- */

/* call: NULL: it has been asked already. */
static bool ask(int (*call)(void *)) {
    bool is_asked = false;

    pthread_mutex_lock(&own.lock);
    if (!own.is_over && !pie_python_is_finalizing()) {
        is_asked = !call || pie_window_ask(call);
        pie_window_wake();
    }
    pthread_mutex_unlock(&own.lock);
    return is_asked;
}

static bool is_resting(void) {
    return atomic_load_explicit(&own.state, memory_order_acquire) == RESTING;
}

static bool open_window(const struct pie_window_limits *limits) {
    if (!is_resting() || board.n_lines == 0)
        return false;
    own.limits = *limits;
    atomic_store_explicit(&own.begun_ns, pie_monotonic_ns(), memory_order_relaxed);
    atomic_store_explicit(&own.state, ASKED, memory_order_release);
    if (ask(begin))
        return true;
    atomic_store_explicit(&own.state, RESTING, memory_order_release);
    return false;
}

/* Another thread, which makes no pending calls, may have ended the looking for them. */
static void look(void) {
    int now = atomic_load_explicit(&own.state, memory_order_acquire);
    uint64_t begun_ns = atomic_load_explicit(&own.begun_ns, memory_order_relaxed);
    bool is_due = now == OPEN && pie_monotonic_ns() - begun_ns >= own.limits.forced_ns;

    if (is_due && !atomic_exchange_explicit(&own.is_end_asked, true, memory_order_relaxed)) {
        if (!ask(end))
            atomic_store_explicit(&own.is_end_asked, false, memory_order_relaxed);
    } else if (is_due || now == ASKED) {
        (void)ask(NULL);
    }
}

static int add(const char *file, int32_t line, int32_t function_line) {
    if (board.n_lines == PIE_CONFIRM_LINES_MAX || strlen(file) >= sizeof board.lines->file)
        return -1;
    struct pie_confirm_line *added = &board.lines[board.n_lines];
    strcpy(added->file, file);
    added->line = line;
    added->function_line = function_line;
    pie_confirm_lines_changed();
    return (int)board.n_lines++;
}

/* Its rows keep the number. */
static void drop(int number) {
    board.lines[number].is_dropped = true;
    pie_confirm_lines_changed();
}

static uint64_t spent_ns(void) {
    return atomic_load_explicit(&own.spent_ns, memory_order_relaxed);
}

static uint64_t calls(int number) {
    uint64_t sum = 0;

    for (uint32_t i = 0; i < board.n_rows; i++)
        if (board.rows[i].line == (uint32_t)number)
            sum += board.rows[i].calls;
    return sum;
}

static bool row(size_t index, struct pie_window_row *ret_row) {
    if (index >= board.n_rows)
        return false;
    const struct pie_confirm_row *from = &board.rows[index];
    *ret_row = (struct pie_window_row){
        .file = board.lines[from->line].file,
        .callee = from->callee,
        .line = board.lines[from->line].line,
        .function_line = board.lines[from->line].function_line,
        .is_item = from->is_item,
        .calls = from->calls,
        .raised = from->raised,
        .compared = from->compared,
        .distinct_args = from->distinct_args,
        .distinct_results = from->distinct_results,
        .once = from->once,
        .twice = from->twice,
        .again = from->again,
        .alike = from->alike,
        .same = from->same,
        .singles = from->singles,
        .grew = from->grew,
        .arg_bytes = from->arg_bytes,
        .call_ns = from->call_ns,
        .again_ns = from->again_ns,
        .alike_ns = from->alike_ns,
        .single_ns = from->single_ns,
        .bulk_ns = from->bulk_ns,
        .passed_kind = from->passed_kind,
        .passed = from->passed,
        .passed_items = from->passed_items,
        .passed_ns = from->passed_ns,
        .carried = from->carried,
    };
    return true;
}

static const struct pie_window_ops ops = {
    .add = add,
    .drop = drop,
    .open = open_window,
    .look = look,
    .is_resting = is_resting,
    .spent_ns = spent_ns,
    .calls = calls,
    .row = row,
};

/* --- Beginning --- */

void pie_windows_install(void) {
    if (pie_confirm_codes_init() < 0 || !pie_window_prepare() || !notice_the_end() ||
        pthread_atfork(NULL, NULL, after_fork_in_child) != 0)
        return;
    pie_trace_before_first(leave_to_loops);
    pie_windows_set(&ops);
}
