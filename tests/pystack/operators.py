# SPDX-License-Identifier: Apache-2.0
"""The operation at which a thread stands while native code runs for it: p is an object whose operators take samples.

Each piece of code runs unspecialised and often enough to be specialised, and under a debugger; each sample must say the
same.
"""
import sys

import _walk
import tap

CASES = {
    _walk.SUBSCRIPT: ["p[0]", "p[1:2]", "p[1:2, 0]", "p[a]"],
    _walk.STORE_SUBSCRIPT: ["p[0] = 1", "p[1:2] = a", "del p[0]", "del p[1:2]"],
    _walk.CALL: ["p()", "p(1, a)", "p(k=1)", "p(*[])", "p(**{})", "p.method()", "method()", "len(p)", "str(p)",
                 "list(p)", "bool(p)", "next(p, None)", "getattr(p, 'sampled')", "print(p, file=sink)"],
    _walk.OPERATOR: ["p + 1", "p += 1", "-p", "+p", "~p", "p == 1", "p < a", "1 in p", "1 not in p", "not p",
                     "1 if p else 2", "p and a", "p or a", "p == 1 or a"],
    _walk.ITERATE: ["for _ in p: pass", "[x for x in p]", "[*p]", "{*p}", "b, *c = p, *p"],
    _walk.ATTRIBUTE: ["p.sampled", "p.other = 1", "del p.other"],
    _walk.OTHER: ["f'{p}'"],
}
ROUNDS = 60


class Sink:
    def write(self, text):
        pass


def operations_of(source, is_traced):
    """The operation of each of ROUNDS samples of one place."""
    namespace = {"last": _walk.last_operation, "sink": Sink(), "operations": []}
    body = ("def f(p, method, a):\n for _ in range(%d):\n  q = p\n  %s\n  p = q\n  operations.append(last())\n"
            % (ROUNDS, source))
    exec(compile(body, "%s, %s" % (source, is_traced), "exec"), namespace)
    probe = _walk.Probe()
    if is_traced:
        sys.settrace(trace)
    try:
        namespace["f"](probe, probe.method, [])
    finally:
        sys.settrace(None)
    assert len(namespace["operations"]) == ROUNDS
    return namespace["operations"]


def trace(frame, event, argument):
    frame.f_trace_opcodes = True
    return trace


def check(source, operation):
    for is_traced in (False, True):
        operations = operations_of(source, is_traced)
        expected = [operation | _walk.IN_LOOP] * ROUNDS
        assert operations == expected, (is_traced, operations)


def case(source, operation):
    return ("%d: %s" % (operation, source), lambda: check(source, operation))


tap.run([case(source, operation) for operation, sources in CASES.items() for source in sources])
