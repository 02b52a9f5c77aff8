#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: counted_copy.py PROGRAM LINES [ARGUMENTS...]

Runs a copy of a program in which each call, operator and element access of some lines (1,2,…) goes through a function
of this file, and prints what was counted as one line of JSON: {line: [[name, kind, calls, raised, distinct arguments,
distinct results, again], …]}. A call is "again" where its arguments last had the result that it returned.
"""

import ast
import collections
import json
import operator
import sys
import types

import values

BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
          ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
          ast.LShift: "lshift", ast.RShift: "rshift"}
IN_PLACE = {kind: f"i{name.rstrip('_')}" for kind, name in BINARY.items()}
COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Eq: "eq", ast.NotEq: "ne", ast.Gt: "gt", ast.GtE: "ge"}
SAME = {changed: BINARY[kind] for kind, changed in IN_PLACE.items()}  # a += b counts as a + b
UNARY = {ast.USub: "neg", ast.Invert: "invert"}
PLAIN = (int, float, bool, type(None))  # what the interpreter computes by itself
BOUND_TO_PLACE = {"super", "locals", "globals", "vars", "dir"}  # mean the frame that calls them …
OF_TEXT = {"eval", "exec"}  # … and so do these, unless they are given the globals


class Sums:
    """Of what is called at a line."""

    def __init__(self):
        self.calls = self.raised = self.again = 0
        self.last, self.results = {}, set()

    def note(self, arguments, result):
        given, found = arguments, values.digest([result])
        self.again += result is not None and self.last.get(given) == found
        self.last[given] = found
        self.results.add(found)


counted = collections.defaultdict(lambda: collections.defaultdict(Sums))


def called(function):
    """What is called, as one of a kind: a method is the same whatever its receiver."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    if isinstance(function, types.FunctionType):
        return function.__qualname__, "call", id(function.__code__)
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.BuiltinFunctionType) and not isinstance(owner, types.ModuleType):
        return function.__qualname__, "call", type(owner).__name__
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    return (name or type(function).__qualname__), "call", id(function) if name else None


def watch(sums, given, function, arguments, named):
    sums.calls += 1
    try:
        result = function(*arguments, **named)
    except BaseException:
        sums.raised += 1
        raise
    sums.note(given, result)
    return result


def count_call(line, function, /, *arguments, **named):
    given = values.digest([function, list(arguments), named])
    return watch(counted[line][called(function)], given, function, arguments, named)


def count_operator(line, name, *operands):
    if all(type(operand) in PLAIN for operand in operands):
        return getattr(operator, name)(*operands)
    kinds = tuple(type(operand).__name__ for operand in operands)
    sums = counted[line][(SAME.get(name, name), "operator", kinds)]
    return watch(sums, values.digest(operands), getattr(operator, name), operands, {})


def count_contained(line, item, container):
    sums = counted[line][("in", "operator", (type(item).__name__, type(container).__name__))]
    return watch(sums, values.digest([item, container]), lambda: item in container, (), {})


def count_item(line, container, index):
    sums = counted[line][("a[i]", "item", type(container).__name__)]
    return watch(sums, b"", operator.getitem, (container, index), {})


def count_store(line, container, index, value):
    sums = counted[line][("a[i] = x", "item", type(container).__name__)]
    return watch(sums, b"", operator.setitem, (container, index, value), {})


def change_item(line, name, container, index, value):
    """a[i] += x: the element is read before the value is computed."""
    before = count_item(line, container, index)
    count_store(line, container, index, count_operator(line, name, before, value()))


def means_its_place(node):
    """Would this call do something else when a function of this file makes it?"""
    if not isinstance(node.func, ast.Name):
        return False
    return node.func.id in BOUND_TO_PLACE or (node.func.id in OF_TEXT and len(node.args) < 2)


class Rewriter(ast.NodeTransformer):
    def __init__(self, lines):
        self.lines = lines

    def through(self, node, name, *arguments):
        call = ast.Call(ast.Name(f"_pie_{name}", ast.Load()), [ast.Constant(node.lineno), *arguments], [])
        return ast.copy_location(call, node)

    def generic_visit(self, node):
        super().generic_visit(node)
        rewrite = getattr(self, f"rewrite_{type(node).__name__}", None)
        is_chosen = rewrite and node.lineno in self.lines
        return rewrite(node) if is_chosen else node

    def rewrite_Call(self, node):
        if means_its_place(node) or (isinstance(node.func, ast.Name) and node.func.id.startswith("_pie_")):
            return node
        made = self.through(node, "call", node.func, *node.args)
        made.keywords = node.keywords
        return made

    def rewrite_BinOp(self, node):
        return self.through(node, "operator", ast.Constant(BINARY[type(node.op)]), node.left, node.right)

    def rewrite_UnaryOp(self, node):
        if type(node.op) not in UNARY or isinstance(node.operand, ast.Constant):
            return node
        return self.through(node, "operator", ast.Constant(UNARY[type(node.op)]), node.operand)

    def rewrite_Compare(self, node):
        if len(node.ops) > 1 or isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        [kind], [right] = node.ops, node.comparators
        if type(kind) in COMPARED:
            return self.through(node, "operator", ast.Constant(COMPARED[type(kind)]), node.left, right)
        made = self.through(node, "contained", node.left, right)
        return ast.copy_location(ast.UnaryOp(ast.Not(), made), node) if isinstance(kind, ast.NotIn) else made

    def rewrite_Subscript(self, node):
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.through(node, "item", node.value, index_of(node))

    def rewrite_Assign(self, node):
        if len(node.targets) > 1 or not isinstance(node.targets[0], ast.Subscript):
            return node
        [target] = node.targets
        return ast.copy_location(ast.Expr(self.through(node, "store", target.value, index_of(target), node.value)), node)

    def rewrite_AugAssign(self, node):
        name, target = ast.Constant(IN_PLACE[type(node.op)]), node.target
        if isinstance(target, ast.Name):
            before = ast.Name(target.id, ast.Load())
            return ast.copy_location(ast.Assign([target], self.through(node, "operator", name, before, node.value)), node)
        if isinstance(target, ast.Attribute):
            before = ast.Attribute(target.value, target.attr, ast.Load())
            return ast.copy_location(ast.Assign([target], self.through(node, "operator", name, before, node.value)), node)
        later = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.value)
        made = self.through(node, "change", name, target.value, index_of(target), later)
        return ast.copy_location(ast.Expr(made), node)


def index_of(node):
    """a[1:2, ...] as an object."""
    index = node.slice
    if isinstance(index, ast.Tuple):
        return ast.Tuple([index_of(ast.Subscript(None, item)) for item in index.elts], ast.Load())
    if not isinstance(index, ast.Slice):
        return index
    parts = [part or ast.Constant(None) for part in (index.lower, index.upper, index.step)]
    return ast.Call(ast.Name("slice", ast.Load()), parts, [])


def run(path, lines, arguments):
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    tree = ast.fix_missing_locations(Rewriter(lines).visit(tree))
    module = types.ModuleType("__main__")
    module.__file__ = path
    vars(module).update(_pie_call=count_call, _pie_operator=count_operator, _pie_contained=count_contained, _pie_item=count_item,
                        _pie_store=count_store, _pie_change=change_item)
    sys.modules["__main__"], sys.argv = module, [path, *arguments]
    exec(compile(tree, path, "exec"), vars(module))


def found():
    return {line: [[name, kind, sums.calls, sums.raised, len(sums.last), len(sums.results), sums.again]
                   for (name, kind, _), sums in rows.items()] for line, rows in counted.items()}


if __name__ == "__main__":
    run(sys.argv[1], {int(line) for line in sys.argv[2].split(",")}, sys.argv[3:])
    print(json.dumps(found()))
