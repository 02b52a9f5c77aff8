/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/confirm.h"

#include "profiler/base/clocks.h"
#include "runtime/confirm/monitoring.h"
#include "runtime/confirm/sites.h"
#include "runtime/confirm/slots.h"

/* Seeing all calls of some lines from CPython 3.12 on: sys.monitoring (PEP 669) has events for them. The first frame
 * of each code object is seen as it starts. If the code has such a line, its instructions get events. All but sites
 * and the places behind them are switched off again as they are met, so they run at full speed, as other code does.
 * The operands lie on the frame's stack before a site, the result does at the next event of that frame. */

const bool pie_confirm_is_possible = true;
const bool pie_confirm_slows_functions = false;

enum { UNIT_BYTES = 2 };

/* A frame whose call is going on. */
struct activation {
    struct activation *outer; /* or the next spare one */
    _PyInterpreterFrame *frame;
    int depth; /* of Python frames in this thread */
    struct pie_confirm_ongoing ongoing;
};

/* Where the thread is. */
struct place {
    _PyInterpreterFrame *frame;
    struct pie_confirm_code *code;
    int depth, unit;
};

static struct activation *spare;
static unsigned generation; /* counts the times when events did not come */

static __thread struct {
    struct activation *top;
    struct pie_confirm_thread thread;
    unsigned generation;
    const _PyInterpreterFrame *idle_frame; /* the last event was of an instruction that does nothing */
    int idle_next;                         /* and the next one comes from here */
} self;

/* --- Activations --- */

static struct activation *push(const struct place *place) {
    struct activation *made = spare;

    if (made)
        spare = made->outer;
    else if (!(made = PyMem_RawMalloc(sizeof *made)))
        return NULL;
    made->outer = self.top;
    made->frame = place->frame;
    made->depth = place->depth;
    made->ongoing.call.sums = NULL;
    self.top = made;
    return made;
}

static void pop(void) {
    struct activation *gone = self.top;

    self.top = gone->outer;
    gone->outer = spare;
    spare = gone;
}

/* Its end was not seen. */
static void drop(void) {
    pie_confirm_call_drop(&self.thread, &self.top->ongoing.call);
    pop();
}

/* Events did not come for a while: somebody else was there, who is on the board already. */
static void catch_up(void) {
    while (self.generation != generation && self.top)
        drop();
    self.generation = generation;
}

/* Frames that are as deep as this one, or deeper, are gone. A program that switches stacks leaves such calls behind. */
static void drop_deeper(const struct place *place) {
    for (; self.top && self.top->frame != place->frame && self.top->depth >= place->depth; drop())
        if (pie_confirm_board)
            pie_confirm_board->is_short = true;
}

/* --- Events --- */

static struct place find_place(PyCodeObject *code, PyObject *offset, bool is_known) {
    PyThreadState *tstate = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030d0000
    _PyInterpreterFrame *frame = tstate->current_frame;
#else
    _PyInterpreterFrame *frame = tstate->cframe->current_frame;
#endif

    return (struct place){.frame = frame,
                          .code = is_known ? pie_confirm_code_of(code) : NULL,
                          .depth = tstate->py_recursion_limit - tstate->py_recursion_remaining,
                          .unit = (int)(PyLong_AsLong(offset) / UNIT_BYTES)};
}

/* The end of the stack with what a site takes from it: arguments, and what lies around them or is no argument. */
static PyObject **top_at(const struct place *place, const struct pie_confirm_site *site) {
    enum { MOST_BESIDES = 4 };
    bool is_call = site->kind == PIE_CONFIRM_CALL || site->kind == PIE_CONFIRM_CALL_NAMED;

    return pie_confirm_slots(place->frame, place->code->code, place->code->sites[place->unit].depth,
                             MOST_BESIDES + (is_call ? site->argument : 0));
}

/* The call of this frame that is going on, if there is one, has ended. place->unit: -1: by an exception that leaves the
 * frame. */
static void end_call(const struct place *place, uint64_t now_ns) {
    struct activation *here = self.top;

    if (!here || here->frame != place->frame)
        return;
    bool has_result = place->unit == here->ongoing.site->next_unit;
    pie_confirm_event_end(&self.thread, &here->ongoing, has_result ? top_at(place, here->ongoing.site) : NULL,
                          now_ns);
    pop();
}

static struct pie_confirm_site *readable_site(const struct place *place) {
    struct pie_confirm_site *site = pie_confirm_site_at(place->code, place->unit);
    bool is_readable = site && site->depth >= 0 && !pie_confirm_stack_is_short();

    if (site && !is_readable)
        pie_confirm_board->is_short = true;
    return is_readable ? site : NULL;
}

static void begin_call(const struct place *place, uint64_t now_ns) {
    struct pie_confirm_site *site = readable_site(place);
    struct pie_confirm_ongoing none = {.site = NULL};
    PyObject **top = site ? top_at(place, site) : NULL;
    struct activation *here = top ? push(place) : NULL;

    if (site && !here)
        pie_confirm_board->is_short = true;
    if (!here)
        (void)pie_confirm_event_begin(&self.thread, &none, NULL, NULL, now_ns);
    else if (!pie_confirm_event_begin(&self.thread, &here->ongoing, site, top, now_ns))
        pop();
}

static void measure_idle(const struct place *place, uint64_t now_ns) {
    if (self.idle_frame == place->frame && self.idle_next == place->unit)
        pie_confirm_event_idle(&self.thread, now_ns);
    bool is_idle = pie_confirm_is_idle(place->code, place->unit);
    self.idle_frame = is_idle ? place->frame : NULL;
    self.idle_next = is_idle ? place->code->sites[place->unit].next_unit : -1;
}

static bool on_instruction(PyObject *code, PyObject *offset) {
    uint64_t now_ns = pie_monotonic_ns();
    struct place place = find_place((PyCodeObject *)code, offset, true);

    if (!pie_confirm_board || !place.code || place.unit >= place.code->units ||
        !place.code->sites[place.unit].is_watched)
        return true;
    catch_up();
    drop_deeper(&place);
    measure_idle(&place, now_ns);
    end_call(&place, now_ns);
    begin_call(&place, now_ns);
    return false;
}

static bool on_unwind(PyObject *code, PyObject *offset) {
    uint64_t now_ns = pie_monotonic_ns();

    if (!self.top || !pie_confirm_board)
        return false;
    struct place place = find_place((PyCodeObject *)code, offset, false);
    place.unit = -1;
    catch_up();
    drop_deeper(&place);
    end_call(&place, now_ns);
    return false;
}

static bool on_start(PyObject *object, PyObject *offset) {
    if (!pie_confirm_board)
        return true;
    if (pie_monitoring_has_others()) {
        pie_monitoring_step_aside();
        return false;
    }
    struct pie_confirm_code *code = pie_confirm_code_of((PyCodeObject *)object);
    if (code && !code->is_armed)
        pie_monitoring_arm(code);
    return true;
}

static void on_gone(void) {
    generation++;
    if (pie_confirm_board)
        pie_confirm_board->has_others = true;
}

/* --- Beginning --- */

int pie_confirm_see_calls(void) {
    static const struct pie_monitoring_callbacks callbacks = {
        .start = on_start, .unwind = on_unwind, .instruction = on_instruction, .gone = on_gone};

    return pie_monitoring_begin(&callbacks);
}
