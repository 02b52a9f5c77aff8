# SPDX-License-Identifier: Apache-2.0
"""What each code unit does, and whether it lies in a loop, in code as it is compiled, specialised and instrumented."""
import bytecode
import dis
import os
import random
import sys
import sysconfig
import types

import _walk
import tap

OBJECTS_LEAST = 4000


def differences(code, operations=_walk.operations):
    """Without the flags of loops that fold or fill, which folds.py tests."""
    found, expected = [byte & ~(_walk.IN_FOLD | _walk.IN_FILL) for byte in operations(code)], bytecode.truth(code)
    return [(unit, found[unit], expected[unit]) for unit in range(len(expected)) if found[unit] != expected[unit]]


def check(code, operations=_walk.operations):
    wrong = differences(code, operations)
    if wrong:
        dis.dis(code)
    assert not wrong, (code, wrong[:9])


def sources():
    for directory in ("", "asyncio", "json"):
        path = os.path.join(sysconfig.get_path("stdlib"), directory)
        for name in sorted(os.listdir(path)):
            if name.endswith(".py"):
                yield os.path.join(path, name)


def test_standard_library():
    objects = units = loops = 0
    for path in sources():
        with open(path, "rb") as file:
            module = compile(file.read(), path, "exec", dont_inherit=True)
        for code in bytecode.code_objects(module):
            check(code)
            objects += 1
            units += len(code.co_code) // 2
            loops += sum(operation >= _walk.IN_LOOP for operation in _walk.operations(code))
    tap.note("%d code objects, %d code units, %d of them in loops" % (objects, units, loops))
    assert objects >= OBJECTS_LEAST, objects


WORK = '''
class Base:
    def __init__(self): self.value = 1
    def method(self, *args, **kwargs): return self.value
class Derived(Base):
    __slots__ = ("slot",)
    def __init__(self):
        super().__init__()
        self.slot = 2
    def method(self, *args, **kwargs): return super().method(*args, **kwargs) + self.slot
def generator(n):
    for i in range(n):
        yield i
def delegate(n):
    yield from generator(n)
def work(n):
    total, items, table, text = 0, list(range(n)), {}, ""
    derived, base = Derived(), Base()
    for i in range(n):
        total += items[i] * 2 - i
        items[i] = total
        table[i] = -total
        table[i, i] = +total
        text += "x"
        if i in table and not text == "y" or i is None:
            total -= len(items[1:3]) + derived.method(i, key=i) + base.method(*(i,))
        items[0:1] = [~total]
        a, (b, *c) = i, (i, i)
        del table[i, i]
        derived.value = base.value = [*items[:2], *c][-1]
    try:
        for item in delegate(3):
            if item > 1:
                raise ValueError
    except ValueError:
        total += sum(x * x for x in items) + max([y for y in items if y])
    while n > 0:
        n -= 1
        try:
            if n % 7 == 3:
                continue
            text.nothing
        except AttributeError as error:
            total += len(error.args)
        finally:
            total ^= n
    return total
'''


def compiled(name):
    """Functions that no sample has seen, under a name of their own."""
    namespace = {}
    exec(compile(WORK, "<%s>" % name, "exec"), namespace)
    return namespace


def codes_of(namespace):
    functions = [value for value in namespace.values() if isinstance(value, types.FunctionType)]
    functions += [value for name in ("Base", "Derived") for value in vars(namespace[name]).values()
                  if isinstance(value, types.FunctionType)]
    return [code for function in functions for code in bytecode.code_objects(function.__code__)]


def opcodes(codes):
    """Those of the instructions as they are now; what lies in caches is none."""
    return {code._co_code_adaptive[instruction.offset] for code in codes for instruction in dis.get_instructions(code)}


def is_instrumented(codes):
    """In every version, these are the opcodes of instrumented instructions alone."""
    return any(opcode >= 233 for opcode in opcodes(codes))


def test_code_that_has_not_run():
    for code in codes_of(compiled("cold")):
        check(code)


def test_specialised_code():
    namespace = compiled("warm")
    for _ in range(50):
        namespace["work"](100)
    codes = codes_of(namespace)
    assert len(opcodes(codes) - set(dis.opmap.values())) > 10, "the case is not covered"
    for code in codes:
        check(code)


def test_specialised_code_of_a_stopped_thread():
    namespace = compiled("warm, by content")
    for _ in range(50):
        namespace["work"](100)
    for code in codes_of(namespace):
        check(code, _walk.operations_by_content)
        assert _walk.intern(code) == _walk.intern_by_content(code)


def test_code_that_is_seen_before_and_after_it_is_specialised():
    namespace = compiled("early")
    codes = codes_of(namespace)
    ids = [_walk.intern(code) for code in codes]
    for _ in range(50):
        namespace["work"](100)
    assert [_walk.intern_by_content(code) for code in codes] == ids
    for code in codes:
        check(code)


def traced(lines, opcodes):
    def trace(frame, event, argument):
        frame.f_trace_lines, frame.f_trace_opcodes = lines, opcodes
        return trace
    return trace


def check_traced(name, lines, opcodes):
    """Interned while a debugger looks on."""
    namespace = compiled(name)
    for _ in range(20):
        namespace["work"](50)
    codes = codes_of(namespace)
    sys.settrace(traced(lines, opcodes))
    try:
        namespace["work"](5)
        found = [_walk.operations(code) for code in codes]
        covered = is_instrumented(codes)
    finally:
        sys.settrace(None)
    assert covered or sys.version_info < (3, 12), "the case is not covered"
    assert found == [bytecode.truth(code) for code in codes]


def test_traced_lines():
    check_traced("traced lines", True, False)


def test_traced_opcodes():
    check_traced("traced opcodes", False, True)


def test_traced_lines_and_opcodes():
    check_traced("traced lines and opcodes", True, True)


def check_monitored(name, events):
    namespace = compiled(name)
    codes = codes_of(namespace)
    for _ in range(20):
        namespace["work"](50)
    monitoring, tool = sys.monitoring, 3
    monitoring.use_tool_id(tool, "test")
    try:
        for event in (1 << i for i in range(20)):
            if events & event:
                monitoring.register_callback(tool, event, lambda *arguments: None)
        for code in codes:
            monitoring.set_local_events(tool, code, events)
        namespace["work"](5)
        covered = is_instrumented(codes)
        found = [_walk.operations(code) for code in codes]
    finally:
        for code in codes:
            monitoring.set_local_events(tool, code, 0)
        monitoring.free_tool_id(tool)
    assert covered, "the case is not covered"
    assert found == [bytecode.truth(code) for code in codes]


def monitored(names):
    def test():
        if not hasattr(sys, "monitoring"):
            raise tap.Skip("no sys.monitoring")
        available = vars(sys.monitoring.events)
        check_monitored("monitored " + names, sum(available.get(name, 0) for name in names.split()))
    return ("monitored: " + names, test)


MONITORED = [monitored(names) for names in (
    "LINE", "INSTRUCTION", "LINE INSTRUCTION", "CALL", "JUMP BRANCH BRANCH_LEFT BRANCH_RIGHT",
    "PY_START PY_RESUME PY_RETURN PY_YIELD CALL JUMP BRANCH BRANCH_LEFT BRANCH_RIGHT STOP_ITERATION LINE INSTRUCTION")]


def test_loops_that_the_optimizer_took_over():
    if "ENTER_EXECUTOR" not in dis.opmap:
        raise tap.Skip("no optimizer")
    namespace = compiled("optimized")
    for _ in range(50):
        namespace["work"](2000)
    codes = codes_of(namespace)
    if dis.opmap["ENTER_EXECUTOR"] not in opcodes(codes):
        raise tap.Skip("the optimizer is off")
    for code in codes:
        check(code)


def test_long_arguments():
    names = "".join(" n%d = %d.5\n" % (i, i) for i in range(300))
    body = "".join("  a.n%d[n%d] = b[%d.5]\n" % (i, i, i) for i in range(300))
    code = compile("def f():\n" + names + " for a in b:\n" + body + " c[0]\n", "long", "exec").co_consts[0]
    assert any(instruction.opname == "EXTENDED_ARG" for instruction in dis.get_instructions(code))
    check(code)


def test_huge_function():
    # More code than is kept: what is kept is right, the rest is not known.
    source = "def f():\n" + " a[b] = c + d\n" * 12000
    code = compile(source, "huge", "exec").co_consts[0]
    units = len(code.co_code) // 2
    assert units > 65536
    found, expected = _walk.operations(code), bytecode.truth(code)
    assert found[:65536] == expected[:65536] and not any(found[65536:])


def test_any_bytes():
    # As compiled code never is: jumps to anywhere, handlers anywhere. No crash, and no unit without an answer.
    generator = random.Random(1)
    opcodes = [opcode for name, opcode in dis.opmap.items() if opcode < 256 and not name.startswith("INSTRUMENTED")
               and name not in ("ENTER_EXECUTOR", "RESERVED")]
    template = (lambda: None).__code__
    seen = set()
    for i in range(3000):
        units = generator.randrange(1, 200)
        code = b"".join(bytes([generator.choice(opcodes), generator.getrandbits(8)]) for _ in range(units))
        code += bytes([dis.opmap["NOP"], 0]) * 32  # the last one's cache
        table = bytes(generator.getrandbits(8) for _ in range(generator.randrange(40)))
        garbage = template.replace(co_code=code, co_exceptiontable=table, co_name="garbage",
                                   co_qualname="garbage %d" % i)
        operations = _walk.operations(garbage)
        assert len(operations) == units + 32
        assert all(operation & 15 <= _walk.ATTRIBUTE and operation < 32 for operation in operations)
        seen.update(operations)
    assert len(seen) > 10, seen


def test_what_is_not_known_is_other():
    code = (lambda: a[b]).__code__
    assert any(_walk.operations(code))
    assert _walk.operation(code, len(code.co_code) // 2) == _walk.operation(code, 1 << 31) == _walk.OTHER
    assert _walk.operation(None, 0) == _walk.OTHER


tap.run([(name, value) for name, value in list(globals().items()) if name.startswith("test_")] + MONITORED)
