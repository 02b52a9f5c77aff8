/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "profiler/ports/pystack.h"

#include <errno.h>

#include "profiler/base/half.h"
#include "profiler/base/region.h"
#include "runtime/code/arguments.h"
#include "runtime/code/lines.h"
#include "runtime/code/operations.h"
#include "runtime/code/registry.h"
#include "runtime/code/store.h"
#include "runtime/embed/install.h"
#include "runtime/objects/kind.h"
#include "runtime/objects/value.h"
#include "runtime/objects/awaits.h"
#include "runtime/objects/tasks.h"
#include "runtime/stacks/collections.h"
#include "runtime/stacks/gil.h"
#include "runtime/stacks/pyframe.h"
#include "runtime/stacks/takers.h"

/* Binds the walker and the registry to the engine's table. What handlers call is in the *_sigsafe.c files. */

static int describe(uint32_t code_id, const char **ret_file, const char **ret_qualname,
                    int32_t *ret_first_line) {
    const struct pie_code_record *record = pie_code_store_get(code_id);

    if (!record)
        return -ENOENT;
    *ret_file = pie_code_record_file(record);
    *ret_qualname = pie_code_record_qualname(record);
    *ret_first_line = record->first_line;
    return 0;
}

/* An arena that is empty is an empty store. */
static void forget_code(void) {
    pie_code_arguments_forget();
    pie_region_clear(pie_half_current() ? PIE_ARENA_CODE : PIE_ARENA_CODE_OTHER);
}

/* Without the GIL another thread may change an object, or drop it, while it is read. What needs whole objects is off;
 * code objects never change, and a frame belongs to its thread. */
static const struct pie_pystack_ops ops = {
    .eval_loop = (void (*)(void))_PyEval_EvalFrameDefault,
    .takers = pie_takers,
    .walk = pie_pyframe_walk_current,
    .walk_thread = pie_pyframe_walk,
    .find_tstate = pie_pyframe_find_tstate,
    .current_tstate = pie_pyframe_current_tstate,
    .intern = pie_code_registry_intern,
    .intern_by_content = pie_code_registry_intern_by_content,
    .intern_again = pie_code_store_again,
    .code_bytes = pie_code_store_bytes,
    .forget_code = forget_code,
    .instr_offset = pie_pyframe_instr_offset,
    .describe = describe,
    .set_owner = pie_code_store_set_owner,
    .owner = pie_code_store_owner,
    .line = pie_code_lines_find,
    .operation = pie_code_operations_find,
    .line_is_in_loop = pie_code_operations_line_is_in_loop,
    .object_at = pie_object_kind_at,
    .array_data = pie_object_array_data,
    .is_frame_memory = pie_pyframe_is_memory,
    .collects = pie_collections_generation,
#ifdef Py_GIL_DISABLED
    .without_gil =
        "this Python runs without the GIL: redundant loads and stores are not watched for, memory is "
        "not counted, loops are not traced, and tasks of asyncio are not kept apart",
#else
    .value = pie_object_value,
    .value_floats = pie_object_value_floats,
    .value_words = pie_object_value_words,
    .call_digest = pie_code_arguments_digest,
    .call_read = pie_code_call_read,
    .sorted_read = pie_code_sorted_read,
#if PY_VERSION_HEX < 0x030c0000
    .python_calls = &pie_code_python_calls,
#endif
    .array_argument = pie_code_arguments_array,
    .awaits = pie_awaits_find,
    .foreign_loop = pie_task_in_foreign_loop,
    .running_task = pie_task_running,
    .gil = pie_gil_read,
#endif
};

const char *pie_runtime_pystack_refusal(void) {
    const char *reason = NULL;

    return pie_pyframe_check(&reason) == 0 ? NULL : reason;
}

/* Where the interpreter is not the one that the walker was compiled for, the walker stays off and the table says that
 * no thread runs Python: native profiles still work. */
const struct pie_pystack_ops *pie_runtime_pystack_ops(void) {
    if (!pie_runtime_pystack_refusal())
        pie_pyframe_enable();
    pie_takers_find();
    return &ops;
}
