/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/pyops_tables.h"
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_opcode.h>
#undef Py_BUILD_CORE

#include "runtime/code/pyops.h"

/* CPython 3.11: conditional jumps have two directions, and they ask objects for their truth themselves. Debuggers do
 * not touch the bytecode. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "this file is for CPython 3.11"
#endif

const struct pie_pyops pie_pyops = {
    .operations =
        {
            [BINARY_SUBSCR] = PIE_OPERATION_SUBSCRIPT,
            [STORE_SUBSCR] = PIE_OPERATION_STORE_SUBSCRIPT,
            [DELETE_SUBSCR] = PIE_OPERATION_STORE_SUBSCRIPT,
            [PRECALL] = PIE_OPERATION_CALL,
            [CALL] = PIE_OPERATION_CALL,
            [CALL_FUNCTION_EX] = PIE_OPERATION_CALL,
            [BINARY_OP] = PIE_OPERATION_OPERATOR,
            [UNARY_POSITIVE] = PIE_OPERATION_OPERATOR,
            [UNARY_NEGATIVE] = PIE_OPERATION_OPERATOR,
            [UNARY_INVERT] = PIE_OPERATION_OPERATOR,
            [UNARY_NOT] = PIE_OPERATION_OPERATOR,
            [COMPARE_OP] = PIE_OPERATION_OPERATOR,
            [CONTAINS_OP] = PIE_OPERATION_OPERATOR,
            [IS_OP] = PIE_OPERATION_OPERATOR,
            [JUMP_IF_FALSE_OR_POP] = PIE_OPERATION_OPERATOR,
            [JUMP_IF_TRUE_OR_POP] = PIE_OPERATION_OPERATOR,
            [POP_JUMP_FORWARD_IF_FALSE] = PIE_OPERATION_OPERATOR,
            [POP_JUMP_FORWARD_IF_TRUE] = PIE_OPERATION_OPERATOR,
            [POP_JUMP_BACKWARD_IF_FALSE] = PIE_OPERATION_OPERATOR,
            [POP_JUMP_BACKWARD_IF_TRUE] = PIE_OPERATION_OPERATOR,
            [GET_ITER] = PIE_OPERATION_ITERATE,
            [GET_YIELD_FROM_ITER] = PIE_OPERATION_ITERATE,
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
            [LOAD_METHOD] = PIE_OPERATION_ATTRIBUTE,
            [STORE_ATTR] = PIE_OPERATION_ATTRIBUTE,
            [DELETE_ATTR] = PIE_OPERATION_ATTRIBUTE,
        },
    .flows =
        {
            [RETURN_VALUE] = PIE_PYOPS_ENDS,
            [RAISE_VARARGS] = PIE_PYOPS_ENDS,
            [RERAISE] = PIE_PYOPS_ENDS,
            [JUMP_FORWARD] = PIE_PYOPS_ENDS | PIE_PYOPS_JUMPS,
            [JUMP_BACKWARD] = PIE_PYOPS_ENDS | PIE_PYOPS_JUMPS | PIE_PYOPS_BACK,
            [JUMP_BACKWARD_NO_INTERRUPT] = PIE_PYOPS_ENDS | PIE_PYOPS_JUMPS | PIE_PYOPS_BACK,
            [FOR_ITER] = PIE_PYOPS_JUMPS,
            [SEND] = PIE_PYOPS_JUMPS,
            [JUMP_IF_FALSE_OR_POP] = PIE_PYOPS_JUMPS,
            [JUMP_IF_TRUE_OR_POP] = PIE_PYOPS_JUMPS,
            [POP_JUMP_FORWARD_IF_FALSE] = PIE_PYOPS_JUMPS,
            [POP_JUMP_FORWARD_IF_TRUE] = PIE_PYOPS_JUMPS,
            [POP_JUMP_FORWARD_IF_NONE] = PIE_PYOPS_JUMPS,
            [POP_JUMP_FORWARD_IF_NOT_NONE] = PIE_PYOPS_JUMPS,
            [POP_JUMP_BACKWARD_IF_FALSE] = PIE_PYOPS_JUMPS | PIE_PYOPS_BACK,
            [POP_JUMP_BACKWARD_IF_TRUE] = PIE_PYOPS_JUMPS | PIE_PYOPS_BACK,
            [POP_JUMP_BACKWARD_IF_NONE] = PIE_PYOPS_JUMPS | PIE_PYOPS_BACK,
            [POP_JUMP_BACKWARD_IF_NOT_NONE] = PIE_PYOPS_JUMPS | PIE_PYOPS_BACK,
        },
    .roles =
        {
            [NOP] = PIE_PYOPS_NOTHING,
            [LOAD_CONST] = PIE_PYOPS_CONSTANT,
            [LOAD_DEREF] = PIE_PYOPS_CONSTANT, /* of an outer function, while none sets it here */
            [LOAD_GLOBAL] = PIE_PYOPS_GLOBAL,
            [LOAD_ATTR] = PIE_PYOPS_ATTRIBUTE,
            [LOAD_FAST] = PIE_PYOPS_LOCAL,
            [LOAD_NAME] = PIE_PYOPS_NAME,
            [STORE_FAST] = PIE_PYOPS_STORE_LOCAL,
            [STORE_NAME] = PIE_PYOPS_STORE_NAME,
            [BINARY_SUBSCR] = PIE_PYOPS_FETCH,
            [BINARY_OP] = PIE_PYOPS_COMBINE,
            [COMPARE_OP] = PIE_PYOPS_COMPARE,
            [CONTAINS_OP] = PIE_PYOPS_CONTAINS,
            [POP_JUMP_FORWARD_IF_FALSE] = PIE_PYOPS_BRANCH,
            [POP_JUMP_FORWARD_IF_TRUE] = PIE_PYOPS_BRANCH,
            [POP_JUMP_BACKWARD_IF_FALSE] = PIE_PYOPS_BRANCH,
            [POP_JUMP_BACKWARD_IF_TRUE] = PIE_PYOPS_BRANCH,
            [JUMP_FORWARD] = PIE_PYOPS_GOTO,
            [JUMP_BACKWARD] = PIE_PYOPS_GOTO,
            [FOR_ITER] = PIE_PYOPS_LOOP,
        },
    .extended_arg = EXTENDED_ARG,
};
