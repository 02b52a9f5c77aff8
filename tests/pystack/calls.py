# SPDX-License-Identifier: Apache-2.0
"""Whether the innermost frame stands at a call: every way of calling a built-in, and what only looks like one.

Each piece of code runs once unspecialised and often enough to be specialised; each sample must say the same.
"""
import _walk
import tap

CALLS = [
    "p()", "p(1)", "p(a=1)", "p(*())", "p(**{})", "p.method()", "method()", "len(p)", "str(p)", "tuple(p)", "list(p)",
    "isinstance(1, int) and p()", "print(p, file=sink)", "getattr(p, 'sampled')", "next(p, None)", "bool(p)",
    "sorted([p])  and p()", "f'{1}'.join([]) or p()",
]
NO_CALLS = [
    "p + 1", "p[0]", "p.sampled", "p == 1", "p < 1", "not p", "1 if p else 2", "a, *b = [], *p", "f'{p}'", "1 in p",
    "for _ in p: pass", "[*p]", "while p: break", "p += 1",
]
ROUNDS = 100


class Sink:
    def write(self, text):
        pass


def samples_of(source):
    """The flags of ROUNDS samples of one place."""
    namespace = {"_walk": _walk, "sink": Sink(), "flags": []}
    body = "def f(p, method):\n for _ in range(%d):\n  %s\n  flags.append(p.last[1])\n" % (ROUNDS, source)
    exec(body, namespace)
    probe = _walk.Probe()
    namespace["f"](probe, probe.method)
    assert len(namespace["flags"]) == ROUNDS
    assert not any(flags & (_walk.INVALID | _walk.TRUNCATED) for flags in namespace["flags"])
    return namespace["flags"]


def check(source, is_call):
    flags = samples_of(source)
    wrong = [i for i, flag in enumerate(flags) if bool(flag & _walk.IN_CALL) != is_call]
    assert not wrong, "wrong in rounds %s" % wrong


def case(source, is_call):
    return ("%s: %s" % ("call" if is_call else "no call", source), lambda: check(source, is_call))


tap.run([case(source, True) for source in CALLS] + [case(source, False) for source in NO_CALLS])
