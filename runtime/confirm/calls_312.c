/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/confirm.h"

#include "profiler/base/clocks.h"
#include "runtime/confirm/monitoring.h"
#include "runtime/confirm/steps_312.h"

/* Seeing all calls of some lines from CPython 3.12 on: sys.monitoring (PEP 669) has events for them. The first frame
 * of each code object is seen as it starts. If the code has such a line, its instructions get events. All but sites
 * and the places behind them are switched off again as they are met, so they run at full speed, as other code does
 * (steps_312.c). */

const bool pie_confirm_is_possible = true;
const bool pie_confirm_slows_functions = false;

static unsigned generation; /* counts the times when events did not come */

static __thread struct {
    struct pie_confirm_steps steps;
    unsigned generation;
} self;

/* Events did not come for a while: somebody else was there, who is on the board already. */
static void catch_up(void) {
    if (self.generation != generation)
        pie_confirm_steps_drop(&self.steps);
    self.generation = generation;
}

static bool on_instruction(PyObject *code, PyObject *offset) {
    uint64_t now_ns = pie_monotonic_ns();

    if (!pie_confirm_board)
        return true;
    catch_up();
    return pie_confirm_steps_instruction(&self.steps, (PyCodeObject *)code, offset, now_ns) ==
           PIE_CONFIRM_STEP_NOWHERE;
}

static bool on_unwind(PyObject *code, PyObject *offset) {
    uint64_t now_ns = pie_monotonic_ns();

    if (!self.steps.top || !pie_confirm_board)
        return false;
    catch_up();
    pie_confirm_steps_unwind(&self.steps, (PyCodeObject *)code, now_ns);
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
