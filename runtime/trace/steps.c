/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <opcode.h>

#include "runtime/trace/steps.h"

#include "profiler/base/clocks.h"

#include <string.h>

enum { CALLEE_BYTES = 200, UNIT_BYTES = 2, UNITS_MAX = 1 << 14 };

static struct pie_trace_sites sites_of[PIE_TRACE_LOOPS_MAX]; /* by loop */
static double step_ns =
    150; /* from one instruction's event to the next one's: the median of those that do nothing */

static enum pie_trace_kind kind_of(unsigned opcode) {
    switch (opcode) {
    case CALL:
    case CALL_FUNCTION_EX:
#ifdef CALL_KW
    case CALL_KW:
#endif
        return PIE_TRACE_CALLING;
    case LOAD_FAST:
    case LOAD_CONST:
        return PIE_TRACE_IDLE;
    default:
        return PIE_TRACE_OTHER;
    }
}

/* The code as the compiler wrote it says what an instruction is, whatever the interpreter has made of it since. */
static bool read_kinds(struct pie_trace_sites *sites, PyCodeObject *code) {
    PyObject *bytes = PyCode_GetCode(code);

    if (!bytes) {
        PyErr_Clear();
        return false;
    }
    Py_ssize_t units = PyBytes_GET_SIZE(bytes) / UNIT_BYTES;
    sites->units = units < UNITS_MAX ? units : UNITS_MAX;
    for (Py_ssize_t i = 0; i < sites->units; i++)
        sites->kinds[i] = (uint8_t)kind_of((unsigned char)PyBytes_AS_STRING(bytes)[i * UNIT_BYTES]);
    Py_DECREF(bytes);
    return true;
}

/* One code object for a loop as a rule; a function that is made anew has another one with the same calls. */
static struct pie_trace_sites *find_sites(struct pie_trace_loop *loop, PyCodeObject *code) {
    struct pie_trace_sites *sites = &sites_of[pie_trace_loop_id(loop) - 1];

    if (sites->code == code)
        return sites;
    if (!sites->kinds)
        sites->kinds = PyMem_RawMalloc(UNITS_MAX * sizeof *sites->kinds);
    if (!sites->calls)
        sites->calls = PyMem_RawMalloc(UNITS_MAX * sizeof *sites->calls);
    if (!sites->kinds || !sites->calls || !read_kinds(sites, code))
        return NULL;
    memset(sites->calls, 0, UNITS_MAX * sizeof *sites->calls);
    sites->code = code;
    return sites;
}

bool pie_trace_steps_begin(struct pie_trace_steps *steps, struct pie_trace_loop *loop, PyCodeObject *code) {
    *steps = (struct pie_trace_steps){.loop = loop, .sites = find_sites(loop, code)};
    return steps->sites;
}

/* A step of one nanosecond towards each, and so their median. */
static void note_idle(uint64_t ns) {
    step_ns += (double)ns > step_ns ? 1 : -1;
}

static void end_call(struct pie_trace_steps *steps, double ns) {
    steps->called_ns += ns;
    steps->n_calls++;
    if (steps->call)
        pie_trace_call(steps->loop, steps->call, (uint64_t)ns);
}

static void end_at(struct pie_trace_steps *steps, uint64_t event_ns) {
    uint64_t ns = event_ns - steps->begun_ns;
    double net_ns = (double)ns - step_ns * (double)(1 + steps->foreign);

    if (steps->kind == PIE_TRACE_IDLE && !steps->foreign)
        note_idle(ns);
    if (steps->kind == PIE_TRACE_CALLING)
        end_call(steps, net_ns > 0 ? net_ns : 0);
    else if (steps->kind != PIE_TRACE_NOTHING)
        steps->own_ns += net_ns;
    steps->kind = PIE_TRACE_NOTHING;
    steps->foreign = 0;
}

void pie_trace_steps_end(struct pie_trace_steps *steps) {
    end_at(steps, pie_monotonic_ns());
}

bool pie_trace_steps_next(struct pie_trace_steps *steps, int unit) {
    uint64_t event_ns = pie_monotonic_ns();

    end_at(steps, event_ns);
    steps->n_steps++;
    steps->unit = unit;
    steps->begun_ns = event_ns;
    steps->kind =
        unit < steps->sites->units ? (enum pie_trace_kind)steps->sites->kinds[unit] : PIE_TRACE_OTHER;
    if (steps->kind != PIE_TRACE_CALLING)
        return false;
    steps->call = steps->sites->calls[unit];
    return !steps->call;
}

void pie_trace_steps_name(struct pie_trace_steps *steps, PyObject *callee) {
    char text[CALLEE_BYTES];
    bool is_native;

    if (steps->kind != PIE_TRACE_CALLING || steps->sites->calls[steps->unit])
        return;
    pie_trace_callee(callee, text, sizeof text, &is_native);
    int line = PyCode_Addr2Line((PyCodeObject *)steps->sites->code, steps->unit * UNIT_BYTES);
    unsigned call = pie_trace_add_call(steps->loop, (uint32_t)steps->unit, line, text, is_native);
    steps->sites->calls[steps->unit] = (uint16_t)call;
    steps->call = call;
}

struct pie_trace_observed pie_trace_steps_result(const struct pie_trace_steps *steps, double setting_up_ns) {
    return (struct pie_trace_observed){
        .own_ns = steps->own_ns,
        .own_steps = (double)(steps->n_steps - steps->n_calls),
        .called_ns = steps->called_ns,
        .calls = (double)steps->n_calls,
        .step_ns = step_ns,
        .cost_ns = setting_up_ns + (double)steps->n_steps * step_ns,
    };
}
