# SPDX-License-Identifier: Apache-2.0
"""Time in subinterpreters, one after the other and side by side: each line has its own, and no frames of others."""

import textwrap

import pytest

import helpers

SPIN = """
    import time
    def spin(seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:  # loop
            pass
    """
PROGRAM = SPIN + """
    import sys, threading
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    FOLDER = {folder!r}
    def inside(name, seconds):
        code = f"import sys; sys.path.insert(0, {{FOLDER!r}}); import {{name}}; {{name}}.spin({{seconds}})"
        interpreters.run_string(interpreters.create(), code)
    spin(0.3)
    inside("first", 0.6)
    spin(0.3)
    beside = threading.Thread(target=inside, args=("second", 0.6))
    beside.start()
    spin(0.3)
    beside.join()
    """
SECONDS = {"program": 0.9, "first": 0.6, "second": 0.6}


def test_lines_and_frames_are_of_the_interpreter_that_runs(profiled, tmp_path):
    for name in SECONDS:
        text = PROGRAM.format(folder=str(tmp_path)) if name == "program" else SPIN
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    done = profiled(tmp_path / "program.py", options=["-q"])
    for name, seconds in SECONDS.items():
        path = tmp_path / f"{name}.py"
        lines = {row["line"]: row["cpu_s"] for row in done.lines(path)}
        loop = helpers.line_of(path, "loop")
        assert sum(lines.get(line, 0) for line in (loop, loop + 1)) == pytest.approx(seconds, rel=0.15), (name, lines)
    files = [{frame.file for frame in sample.frames if frame.is_python} for sample in done.samples()]
    for of_path in files:
        own = {file for file in of_path if file and file.startswith(str(tmp_path))}
        assert len(own) <= 1, own  # an interpreter has none of another's frames


COUNTED = """
    import dis, hashlib, opcode, time
    LOWEST = min((number for name, number in opcode.opmap.items() if "INSTRUMENTED" in name), default=256)
    def hot(number):
        return hashlib.pbkdf2_hmac("sha256", b"x%d" % (number % 3), b"salt", 20)
    def spin(seconds):
        end = time.thread_time() + seconds
        number = 0
        while time.thread_time() < end:
            hot(number)
            number += 1
    def look():
        for code in (spin.__code__, hot.__code__):
            raw = code._co_code_adaptive
            assert not any(raw[at.offset] >= LOWEST for at in dis.get_instructions(code)), "events of another's"
    """
LOOKS = """
    import sys, time
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    import counted
    def run(code):
        failed = interpreters.run_string(inside, code)
        assert not failed, failed
    inside = interpreters.create()
    run(f"import sys; sys.path.insert(0, {sys.path[0]!r}); import counted; counted.spin(0.3)")
    end = time.thread_time() + 4
    while time.thread_time() < end:
        counted.spin(0.05)
        run("counted.look(); counted.spin(0.01)")
    """


def test_windows_leave_code_of_other_interpreters_alone(profiled, tmp_path):
    """One file in two interpreters: code objects of both have the counted lines."""
    for name, text in (("counted", COUNTED), ("looks", LOOKS)):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    profiled(tmp_path / "looks.py", options=["-q", "--overhead", "0"])
