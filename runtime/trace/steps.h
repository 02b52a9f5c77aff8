/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/trace/trace.h"

struct PyCodeObject;

/* An observed iteration as the sequence of instructions of the loop's frame, shared by trace/calls_311.c and
 * trace/calls_312.c. An instruction lasts from its event to the next one's. The event's own time, known from
 * instructions that do next to nothing, is subtracted. */

enum pie_trace_kind {
    PIE_TRACE_NOTHING, /* no instruction is being executed */
    PIE_TRACE_IDLE,    /* one that does next to nothing */
    PIE_TRACE_OTHER,
    PIE_TRACE_CALLING,
};

/* The code of a loop: which instructions call, and which of the loop's calls they are. */
struct pie_trace_sites {
    const struct PyCodeObject *code;
    ptrdiff_t units;
    uint8_t *kinds;  /* enum pie_trace_kind, by code unit */
    uint16_t *calls; /* 0: not known yet */
};

struct pie_trace_steps {
    struct pie_trace_loop *loop;
    struct pie_trace_sites *sites;
    enum pie_trace_kind kind; /* of the instruction that is being executed */
    int unit;
    unsigned call;     /* which one, 0: not known */
    uint64_t begun_ns; /* its event */
    uint64_t foreign;  /* events since then of other frames that run the same code */
    uint64_t n_steps;  /* so far */
    uint64_t n_calls;  /* of them, that call, and … */
    double called_ns;  /* … the time of these */
    double own_ns;     /* the others */
};

/* Begins an iteration. False: no memory. */
bool pie_trace_steps_begin(struct pie_trace_steps *steps, struct pie_trace_loop *loop,
                           struct PyCodeObject *code);

/* The next instruction begins. True: it is a call whose callee is not known yet; pie_trace_steps_name() must follow. */
bool pie_trace_steps_next(struct pie_trace_steps *steps, int unit);
void pie_trace_steps_name(struct pie_trace_steps *steps, struct _object *callee);

/* The instruction that is being executed was the last one. */
void pie_trace_steps_end(struct pie_trace_steps *steps);

/* The result for the iteration. setting_up_ns: the time to begin its observation. */
struct pie_trace_observed pie_trace_steps_result(const struct pie_trace_steps *steps, double setting_up_ns);
