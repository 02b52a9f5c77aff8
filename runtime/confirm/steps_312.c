/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/steps_312.h"

#include "profiler/base/own_memory.h"
#include "runtime/confirm/slots.h"

/* sys.monitoring (PEP 669) has an event for each instruction. The operands lie on the frame's stack before a site, and
 * the result does at the next event of that frame. */

enum { UNIT_BYTES = 2 };

/* A frame whose call is going on. */
struct pie_confirm_activation {
    struct pie_confirm_activation *outer; /* or the next spare one */
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

static struct pie_confirm_activation *spare;

/* --- Activations --- */

static struct pie_confirm_activation *push(struct pie_confirm_steps *steps, const struct place *place) {
    struct pie_confirm_activation *made = spare;

    if (made)
        spare = made->outer;
    else if (!(made = pie_calloc(1, sizeof *made)))
        return NULL;
    made->outer = steps->top;
    made->frame = place->frame;
    made->depth = place->depth;
    made->ongoing.call.sums = NULL;
    steps->top = made;
    return made;
}

static void pop(struct pie_confirm_steps *steps) {
    struct pie_confirm_activation *gone = steps->top;

    steps->top = gone->outer;
    gone->outer = spare;
    spare = gone;
}

/* Its end was not seen. */
static void drop(struct pie_confirm_steps *steps) {
    pie_confirm_call_drop(&steps->thread, &steps->top->ongoing.call);
    pop(steps);
}

void pie_confirm_steps_drop(struct pie_confirm_steps *steps) {
    while (steps->top)
        drop(steps);
    steps->idle_frame = NULL;
}

/* Frames that are as deep as this one, or deeper, are gone. A program that switches stacks leaves such calls
 * behind, and where exceptions that leave a frame are not seen, they do. */
static void drop_deeper(struct pie_confirm_steps *steps, const struct place *place) {
    for (; steps->top && steps->top->frame != place->frame && steps->top->depth >= place->depth; drop(steps))
        if (pie_confirm_board)
            pie_confirm_board->is_short = true;
}

/* --- Events --- */

static _PyInterpreterFrame *frame_at_work(const PyThreadState *tstate) {
#if PY_VERSION_HEX >= 0x030d0000
    return tstate->current_frame;
#else
    return tstate->cframe->current_frame;
#endif
}

static struct place find_place(PyCodeObject *code, int unit) {
    PyThreadState *tstate = PyThreadState_Get();

    return (struct place){.frame = frame_at_work(tstate),
                          .code = unit >= 0 ? pie_confirm_code_of(code) : NULL,
                          .depth = tstate->py_recursion_limit - tstate->py_recursion_remaining,
                          .unit = unit};
}

/* The end of the stack with what a site takes from it: arguments, and what lies around them or is no argument. */
static PyObject **top_at(const struct place *place, const struct pie_confirm_site *site) {
    enum { MOST_BESIDES = 4 };
    bool is_call = site->kind == PIE_CONFIRM_CALL || site->kind == PIE_CONFIRM_CALL_NAMED;

    return pie_confirm_slots(place->frame, place->code->code, place->code->sites[place->unit].depth,
                             MOST_BESIDES + (is_call ? site->argument : 0));
}

/* The call of this frame that is going on, if there is one, has ended. place->unit: -1: by an exception that leaves the
 * frame. Returns whether there was one. */
static bool end_call(struct pie_confirm_steps *steps, const struct place *place, uint64_t now_ns) {
    struct pie_confirm_activation *here = steps->top;

    if (!here || here->frame != place->frame)
        return false;
    bool has_result = place->unit == here->ongoing.site->next_unit;
    pie_confirm_event_end(&steps->thread, &here->ongoing,
                          has_result ? top_at(place, here->ongoing.site) : NULL, now_ns);
    pop(steps);
    return true;
}

static struct pie_confirm_site *readable_site(const struct place *place) {
    struct pie_confirm_site *site = pie_confirm_site_at(place->code, place->unit);
    bool is_readable = site && site->depth >= 0 && !pie_confirm_stack_is_short();

    if (site && !is_readable)
        pie_confirm_board->is_short = true;
    return is_readable ? site : NULL;
}

static void begin_call(struct pie_confirm_steps *steps, const struct place *place, uint64_t now_ns) {
    struct pie_confirm_site *site = readable_site(place);
    struct pie_confirm_ongoing none = {.site = NULL};
    PyObject **top = site ? top_at(place, site) : NULL;
    struct pie_confirm_activation *here = top ? push(steps, place) : NULL;

    if (site && !here)
        pie_confirm_board->is_short = true;
    if (!here)
        (void)pie_confirm_event_begin(&steps->thread, &none, NULL, NULL, now_ns);
    else if (!pie_confirm_event_begin(&steps->thread, &here->ongoing, site, top, now_ns))
        pop(steps);
}

static void measure_idle(struct pie_confirm_steps *steps, const struct place *place, uint64_t now_ns) {
    if (steps->idle_frame == place->frame && steps->idle_next == place->unit)
        pie_confirm_event_idle(&steps->thread, now_ns);
    bool is_idle = pie_confirm_is_idle(place->code, place->unit);
    steps->idle_frame = is_idle ? place->frame : NULL;
    steps->idle_next = is_idle ? place->code->sites[place->unit].next_unit : -1;
}

enum pie_confirm_step pie_confirm_steps_instruction(struct pie_confirm_steps *steps, PyCodeObject *code,
                                                    PyObject *offset, uint64_t now_ns) {
    struct place place = find_place(code, (int)(PyLong_AsLong(offset) / UNIT_BYTES));

    if (!place.code || place.unit >= place.code->units || !place.code->sites[place.unit].is_watched)
        return PIE_CONFIRM_STEP_NOWHERE;
    drop_deeper(steps, &place);
    measure_idle(steps, &place, now_ns);
    bool has_ended = end_call(steps, &place, now_ns);
    begin_call(steps, &place, now_ns);
    return has_ended ? PIE_CONFIRM_STEP_CALL_ENDED : PIE_CONFIRM_STEP_SEEN;
}

void pie_confirm_steps_start(struct pie_confirm_steps *steps, PyCodeObject *code) {
    struct place place = find_place(code, -1);

    drop_deeper(steps, &place);
    if (steps->top && steps->top->frame == place.frame)
        drop(steps);
}

void pie_confirm_steps_unwind(struct pie_confirm_steps *steps, PyCodeObject *code, uint64_t now_ns) {
    struct place place = find_place(code, -1);

    drop_deeper(steps, &place);
    (void)end_call(steps, &place, now_ns);
}

bool pie_confirm_steps_are_in_call(const struct pie_confirm_steps *steps) {
    return steps->top && steps->top->frame == frame_at_work(PyThreadState_Get());
}
