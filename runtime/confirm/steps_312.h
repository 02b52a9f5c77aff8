/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/confirm/sites.h"

struct _object;
struct PyCodeObject;
struct _PyInterpreterFrame;
struct pie_confirm_activation;

/* A thread whose counted instructions are seen one by one, from CPython 3.12 on. Zeroed memory is one that has seen
 * none. All of it is called with the GIL held, within a callback of sys.monitoring. */
struct pie_confirm_steps {
    struct pie_confirm_activation *top; /* frames with a call that is going on, the innermost first */
    struct pie_confirm_thread thread;
    const struct _PyInterpreterFrame *idle_frame; /* the last event was of an instruction that does nothing */
    int idle_next;                                /* and the next one comes from here */
};

enum pie_confirm_step {
    PIE_CONFIRM_STEP_NOWHERE, /* nothing is to be seen at this instruction, whenever it comes */
    PIE_CONFIRM_STEP_SEEN,
    PIE_CONFIRM_STEP_CALL_ENDED, /* … and a call ended before it */
};

/* An instruction of a code object that has a counted line is about to be executed. offset: in bytes. */
enum pie_confirm_step pie_confirm_steps_instruction(struct pie_confirm_steps *steps,
                                                    struct PyCodeObject *code, struct _object *offset,
                                                    uint64_t now_ns);
/* The frame that is at work begins: what an earlier one at this place had going on is gone. */
void pie_confirm_steps_start(struct pie_confirm_steps *steps, struct PyCodeObject *code);
/* An exception leaves the frame that is at work. */
void pie_confirm_steps_unwind(struct pie_confirm_steps *steps, struct PyCodeObject *code, uint64_t now_ns);
/* Events did not come for a while, or come no more: the end of what is going on will not be seen. */
void pie_confirm_steps_drop(struct pie_confirm_steps *steps);
/* Is a call of the frame that is at work going on? */
bool pie_confirm_steps_are_in_call(const struct pie_confirm_steps *steps);
