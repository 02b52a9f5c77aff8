/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/pyops_tables.h"
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_instruments.h>
#include <internal/pycore_intrinsics.h>
#include <internal/pycore_opcode_metadata.h>
#include <internal/pycore_optimizer.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include "runtime/code/pyops.h"

/* CPython 3.14 and 3.15: as 3.13, but an operator with the argument NB_SUBSCR is a subscript. END_ASYNC_FOR counts as a
 * jump for debuggers alone. */
#if PY_VERSION_HEX < 0x030e0000 || PY_VERSION_HEX >= 0x03100000
#error "this file is for CPython 3.14 and 3.15"
#endif

const struct pie_pyops pie_pyops = {
    .operations =
        {
            [BINARY_SLICE] = PIE_OPERATION_SUBSCRIPT,
            [STORE_SUBSCR] = PIE_OPERATION_STORE_SUBSCRIPT,
            [STORE_SLICE] = PIE_OPERATION_STORE_SUBSCRIPT,
            [DELETE_SUBSCR] = PIE_OPERATION_STORE_SUBSCRIPT,
            [CALL] = PIE_OPERATION_CALL,
            [CALL_KW] = PIE_OPERATION_CALL,
            [CALL_FUNCTION_EX] = PIE_OPERATION_CALL,
            [BINARY_OP] = PIE_OPERATION_OPERATOR,
            [UNARY_NEGATIVE] = PIE_OPERATION_OPERATOR,
            [UNARY_INVERT] = PIE_OPERATION_OPERATOR,
            [UNARY_NOT] = PIE_OPERATION_OPERATOR,
            [COMPARE_OP] = PIE_OPERATION_OPERATOR,
            [CONTAINS_OP] = PIE_OPERATION_OPERATOR,
            [IS_OP] = PIE_OPERATION_OPERATOR,
            [TO_BOOL] = PIE_OPERATION_OPERATOR,
            [GET_ITER] = PIE_OPERATION_ITERATE,
#if PY_VERSION_HEX < 0x030f0000
            [GET_YIELD_FROM_ITER] = PIE_OPERATION_ITERATE,
#endif
            [FOR_ITER] = PIE_OPERATION_ITERATE,
            [SEND] = PIE_OPERATION_ITERATE,
            [GET_AITER] = PIE_OPERATION_ITERATE,
            [GET_ANEXT] = PIE_OPERATION_ITERATE,
            [UNPACK_SEQUENCE] = PIE_OPERATION_ITERATE,
            [UNPACK_EX] = PIE_OPERATION_ITERATE,
            [LIST_EXTEND] = PIE_OPERATION_ITERATE,
            [SET_UPDATE] = PIE_OPERATION_ITERATE,
            [DICT_UPDATE] = PIE_OPERATION_ITERATE,
            [DICT_MERGE] = PIE_OPERATION_ITERATE,
            [LOAD_ATTR] = PIE_OPERATION_ATTRIBUTE,
            [LOAD_SUPER_ATTR] = PIE_OPERATION_ATTRIBUTE,
            [STORE_ATTR] = PIE_OPERATION_ATTRIBUTE,
            [DELETE_ATTR] = PIE_OPERATION_ATTRIBUTE,
        },
    .variants =
        {
            {BINARY_OP, NB_SUBSCR, PIE_OPERATION_SUBSCRIPT, PIE_PYOPS_FETCH},
            {CALL_INTRINSIC_1, INTRINSIC_UNARY_POSITIVE, PIE_OPERATION_OPERATOR, PIE_PYOPS_OTHER},
        },
    .flows =
        {
            [RETURN_VALUE] = PIE_PYOPS_ENDS,
            [INTERPRETER_EXIT] = PIE_PYOPS_ENDS,
            [RAISE_VARARGS] = PIE_PYOPS_ENDS,
            [RERAISE] = PIE_PYOPS_ENDS,
            [JUMP_FORWARD] = PIE_PYOPS_ENDS | PIE_PYOPS_JUMPS,
            [JUMP_BACKWARD] = PIE_PYOPS_ENDS | PIE_PYOPS_JUMPS | PIE_PYOPS_BACK,
            [JUMP_BACKWARD_NO_INTERRUPT] = PIE_PYOPS_ENDS | PIE_PYOPS_JUMPS | PIE_PYOPS_BACK,
            [FOR_ITER] = PIE_PYOPS_JUMPS,
            [SEND] = PIE_PYOPS_JUMPS,
            [POP_JUMP_IF_FALSE] = PIE_PYOPS_JUMPS,
            [POP_JUMP_IF_TRUE] = PIE_PYOPS_JUMPS,
            [POP_JUMP_IF_NONE] = PIE_PYOPS_JUMPS,
            [POP_JUMP_IF_NOT_NONE] = PIE_PYOPS_JUMPS,
        },
    .plain =
        {
            [INSTRUMENTED_CALL] = CALL,
            [INSTRUMENTED_CALL_KW] = CALL_KW,
            [INSTRUMENTED_CALL_FUNCTION_EX] = CALL_FUNCTION_EX,
            [INSTRUMENTED_END_ASYNC_FOR] = END_ASYNC_FOR,
            [INSTRUMENTED_END_FOR] = END_FOR,
            [INSTRUMENTED_END_SEND] = END_SEND,
            [INSTRUMENTED_FOR_ITER] = FOR_ITER,
            [INSTRUMENTED_JUMP_BACKWARD] = JUMP_BACKWARD,
            [INSTRUMENTED_JUMP_FORWARD] = JUMP_FORWARD,
            [INSTRUMENTED_LOAD_SUPER_ATTR] = LOAD_SUPER_ATTR,
            [INSTRUMENTED_NOT_TAKEN] = NOT_TAKEN,
            [INSTRUMENTED_POP_ITER] = POP_ITER,
            [INSTRUMENTED_POP_JUMP_IF_FALSE] = POP_JUMP_IF_FALSE,
            [INSTRUMENTED_POP_JUMP_IF_NONE] = POP_JUMP_IF_NONE,
            [INSTRUMENTED_POP_JUMP_IF_NOT_NONE] = POP_JUMP_IF_NOT_NONE,
            [INSTRUMENTED_POP_JUMP_IF_TRUE] = POP_JUMP_IF_TRUE,
            [INSTRUMENTED_RESUME] = RESUME,
            [INSTRUMENTED_RETURN_VALUE] = RETURN_VALUE,
            [INSTRUMENTED_YIELD_VALUE] = YIELD_VALUE,
        },
    .roles =
        {
            PIE_PYOPS_COMMON_ROLES,
            [LOAD_ATTR] = PIE_PYOPS_ATTRIBUTE_OR_METHOD,
            [LOAD_FAST_CHECK] = PIE_PYOPS_LOCAL,
            [LOAD_COMMON_CONSTANT] = PIE_PYOPS_CONSTANT, /* from 3.15 on None, True and False are some */
            [LOAD_SMALL_INT] = PIE_PYOPS_CONSTANT,
            [LOAD_FAST_BORROW] = PIE_PYOPS_LOCAL,
            [LOAD_FAST_BORROW_LOAD_FAST_BORROW] = PIE_PYOPS_TWO_LOCALS,
            [NOT_TAKEN] = PIE_PYOPS_NOTHING,
            [LOAD_FAST_LOAD_FAST] = PIE_PYOPS_TWO_LOCALS,
            [STORE_FAST_LOAD_FAST] = PIE_PYOPS_STORE_AND_LOCAL,
            [TO_BOOL] = PIE_PYOPS_TRUTH,
            [POP_JUMP_IF_FALSE] = PIE_PYOPS_BRANCH,
            [POP_JUMP_IF_TRUE] = PIE_PYOPS_BRANCH,
        },
    .comparison_shift = 5,
    .extended_arg = EXTENDED_ARG,
    .hiding =
        {
            .monitoring = offsetof(PyCodeObject, _co_monitoring),
            .lines = offsetof(_PyCoMonitoringData, lines),
            .instructions = offsetof(_PyCoMonitoringData, per_instruction_opcodes),
            .line = INSTRUMENTED_LINE,
            .instruction = INSTRUMENTED_INSTRUCTION,
            .executors = offsetof(PyCodeObject, co_executors),
            .executor_list = offsetof(_PyExecutorArray, executors),
            .executor_opcode = offsetof(_PyExecutorObject, vm_data.opcode),
            .executor = ENTER_EXECUTOR,
        },
};

static_assert(offsetof(_PyCoLineInstrumentationData, data) == 1, "the length of an entry comes first");
