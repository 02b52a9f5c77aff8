# SPDX-License-Identifier: Apache-2.0
"""Where a frame waits for a Python function that it called, and which functions change more than they return."""
import dis

import _walk
import tap

ROUNDS = 100  # unspecialised at first, later specialised


def inner(*args, **kwargs):
    return _walk.caller_unit()


def plain(a, b=2):
    return _walk.caller_unit()


class Holder:
    def method(self, a=1):
        return _walk.caller_unit()

    def __getitem__(self, key):
        return _walk.caller_unit()

    @property
    def attribute(self):
        return _walk.caller_unit()


HOLDER = Holder()
CALLS = ["plain(1, 2)", "plain(1)", "plain(b=1, a=2)", "inner()", "inner(1, 2, 3)", "HOLDER.method()", "HOLDER.method(a=2)",
         "(lambda: _walk.caller_unit())()"]
OTHERS = ["inner(*())", "HOLDER[1]", "HOLDER.attribute", "sorted([1], key=inner)[0] and None", "list(map(inner, [1]))[0]"]


def units_of(source):
    """(where f was seen to wait, where its call of a Python function is)."""
    namespace = {"inner": inner, "plain": plain, "HOLDER": HOLDER, "_walk": _walk}
    exec("def f():\n return %s\n" % source, namespace)
    f = namespace["f"]
    calls = [i.offset // 2 for i in dis.get_instructions(f) if i.opname == "CALL"]
    return {f() for _ in range(ROUNDS)}, calls[-1:]


def check_call(source):
    seen, calls = units_of(source)
    assert seen == set(calls), (seen, calls)


def check_other(source):
    seen, _ = units_of(source)
    assert seen == {None}, seen


def pure(numbers, x):
    total = [0.0 for _ in numbers]
    for number in numbers:
        total = [total, number * x, len(numbers)]
    return total


def stores_global():
    global stored
    stored = 1


def stores_attribute(a):
    a.b = 1


def stores_item(a):
    a[0] = 1


def drops_result(a):
    a.append(1)


def drops_result_of_many(a):
    a.append(*[1])


def stores_nonlocal():
    kept = 0

    def inside():
        nonlocal kept
        kept += 1
    return inside


def check_acts(function, expected):
    assert _walk.acts(function.__code__) is expected


ACTING = [stores_global, stores_attribute, stores_item, drops_result, drops_result_of_many, stores_nonlocal()]


def not_here():
    raise tap.Skip("calls of Python functions are not looked at in this Python")


if _walk.has_python_calls():
    tap.run([("call: %.30s" % source, lambda source=source: check_call(source)) for source in CALLS]
            + [("no such call: %s" % source, lambda source=source: check_other(source)) for source in OTHERS]
            + [("acts: %s" % function.__name__, lambda function=function: check_acts(function, True)) for function in ACTING]
            + [("does not act", lambda: check_acts(pure, False)), ("does not act: inner", lambda: check_acts(inner, False))])
else:
    tap.run([("calls of Python functions", not_here)])
