# SPDX-License-Identifier: Apache-2.0
"""Every instruction of the standard library has the line that PyCode_Addr2Line says."""
import os
import sysconfig
import types

import _walk
import tap

MODULES_LEAST = 200


def sources():
    for directory in ("", "asyncio", "collections", "ctypes", "email", "encodings", "http", "importlib", "json",
                      "logging", "multiprocessing", "unittest", "urllib", "xml/etree"):
        path = os.path.join(sysconfig.get_path("stdlib"), directory)
        for name in sorted(os.listdir(path)):
            if name.endswith(".py"):
                yield os.path.join(path, name)


def code_objects(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def test_standard_library():
    modules = objects = units = 0
    for path in sources():
        with open(path, "rb") as file:
            module = compile(file.read(), path, "exec", dont_inherit=True)
        modules += 1
        for code in code_objects(module):
            assert _walk.line_differences(code) == 0, code
            assert _walk.describe(code) == (path, code.co_qualname, code.co_firstlineno), code
            objects += 1
            units += len(code.co_code) // 2
    tap.note("%d modules, %d code objects, %d code units" % (modules, objects, units))
    assert modules >= MODULES_LEAST, modules


def test_lines_that_jump():
    # Far apart, backwards, and instructions without any line (the clean-up of a with block's exception).
    source = "def f():\n" + "\n" * 5000 + " with a(\n" + "\n" * 300 + "  b): c\n return [\n d\n for d in e]\n"
    code = compile(source, "jumps", "exec").co_consts[0]
    assert _walk.line_differences(code) == 0
    assert any(line is None for _, _, line in code.co_lines()), "the case is not covered"


def test_huge_function():
    # The line table is longer than what is kept: the lines kept are right, the others unknown.
    source = "def f():\n" + "".join(" x%d = a(%200d, b)\n" % (i, i) for i in range(3000))
    code = compile(source, "huge", "exec").co_consts[0]
    assert len(code.co_linetable) > 65536
    differences = _walk.line_differences(code)
    assert 0 < differences < len(code.co_code) // 2 * (1 - 60000 / len(code.co_linetable)), differences


tap.run_module(globals())
