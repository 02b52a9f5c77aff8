# SPDX-License-Identifier: Apache-2.0
"""What the code units of a code object do, told by the dis module: what the registry is held against."""
import dis
import types

import _walk

OPERATIONS = {
    name: operation
    for operation, names in (
        (_walk.SUBSCRIPT, "BINARY_SUBSCR BINARY_SLICE"),
        (_walk.STORE_SUBSCRIPT, "STORE_SUBSCR STORE_SLICE DELETE_SUBSCR"),
        (_walk.CALL, "PRECALL CALL CALL_KW CALL_FUNCTION_EX"),
        (_walk.OPERATOR, "BINARY_OP UNARY_POSITIVE UNARY_NEGATIVE UNARY_INVERT UNARY_NOT COMPARE_OP CONTAINS_OP IS_OP"),
        (_walk.ITERATE, "GET_ITER GET_YIELD_FROM_ITER FOR_ITER SEND GET_AITER GET_ANEXT UNPACK_SEQUENCE UNPACK_EX"
                        " LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE"),
        (_walk.ATTRIBUTE, "LOAD_ATTR LOAD_METHOD LOAD_SUPER_ATTR STORE_ATTR DELETE_ATTR"),
    )
    for name in names.split()
}
# What asks an object for its truth: an instruction of its own where there is one, else the jumps that depend on it.
TRUTH = ["TO_BOOL"] if "TO_BOOL" in dis.opmap else [
    "JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE",
    "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_TRUE"]
OPERATIONS.update(dict.fromkeys(TRUTH, _walk.OPERATOR))
# Control never goes on with the next instruction.
ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT", "JUMP_FORWARD",
        "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
JUMPS = {dis.opname[op] for op in dis.hasjrel + dis.hasjabs} - {"END_ASYNC_FOR"}


def code_objects(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def operation(instruction):
    if instruction.opname == "BINARY_OP" and instruction.argrepr == "[]":
        return _walk.SUBSCRIPT
    if instruction.opname == "CALL_INTRINSIC_1" and instruction.argrepr == "INTRINSIC_UNARY_POSITIVE":
        return _walk.OPERATOR
    return OPERATIONS.get(instruction.opname, _walk.OTHER)


def grouped(code):
    """[(first unit, instruction)]; prefixes belong to the instruction that they are for."""
    groups, first = [], None
    for instruction in dis.get_instructions(code):
        first = instruction.offset // 2 if first is None else first
        if instruction.opname != "EXTENDED_ARG":
            groups.append((first, instruction))
            first = None
    return groups


def edges(code, groups):
    """{first unit: first units of the instructions where control can go}"""
    graph = {first: [] for first, _ in groups}
    for at, (first, instruction) in enumerate(groups):
        if instruction.opname not in ENDS and at + 1 < len(groups):
            graph[first].append(groups[at + 1][0])
        if instruction.opname in JUMPS:
            graph[first].append(instruction.argval // 2)
    for entry in dis._parse_exception_table(code):
        for first in graph:
            if entry.start <= first * 2 < entry.end:
                graph[first].append(entry.target // 2)
    return graph


def finished_order(graph):
    """The nodes in the order in which a depth-first search leaves them."""
    order, seen = [], set()
    for root in graph:
        stack = [] if root in seen else [(root, iter(graph[root]))]
        seen.add(root)
        while stack:
            node, successors = stack[-1]
            for successor in successors:
                if successor not in seen:
                    seen.add(successor)
                    stack.append((successor, iter(graph[successor])))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def cyclic(graph):
    """The nodes from which a path leads back to them (Kosaraju's algorithm)."""
    backwards = {node: [] for node in graph}
    for node, successors in graph.items():
        for successor in successors:
            backwards[successor].append(node)
    result, seen = set(), set()
    for root in reversed(finished_order(graph)):
        component, todo = [], [] if root in seen else [root]
        seen.add(root)
        while todo:
            component.append(todo.pop())
            fresh = [node for node in backwards[component[-1]] if node not in seen]
            seen.update(fresh)
            todo += fresh
        if len(component) > 1 or root in graph[root]:
            result.update(component)
    return result


def truth(code):
    """A byte for each code unit, as _walk.operations() has them."""
    groups = grouped(code)
    loops = cyclic(edges(code, groups))
    ends = [first for first, _ in groups[1:]] + [len(code.co_code) // 2]
    return b"".join(
        bytes([operation(instruction) | (_walk.IN_LOOP if first in loops else 0)]) * (end - first)
        for (first, instruction), end in zip(groups, ends))
