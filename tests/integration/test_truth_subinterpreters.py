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
