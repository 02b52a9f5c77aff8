# SPDX-License-Identifier: Apache-2.0
"""Programs whose memory was reported wrongly, each with the answer that it must get."""

import pathlib

import pytest

from helpers import clean_environment, line_of, profile, run

HERE = pathlib.Path(__file__).resolve().parent / "defects"


def test_a_leak_beside_its_temporaries(pieprof, tmp_path):
    """60 MB that grow evenly were no leak, since as many bytes of the same line are freed at once."""
    program = HERE / "leak_with_temporary.py"
    done = profile(tmp_path / "x.db", program, env=clean_environment(PYTHONDONTWRITEBYTECODE="1"))
    [leak] = [r for r in done.query("leaks") if r["file"] == str(program)]
    print(leak)
    assert leak["line"] == line_of(program, "LEAK")
    assert leak["leaked_bytes"] == pytest.approx(60e6, rel=0.1 + 4 / leak["mallocs"] ** 0.5)
    most = done.query("what grew most")[0]
    assert (most["file"], most["line"]) == (leak["file"], leak["line"])


def test_a_block_that_grows_is_one_block(pieprof, tmp_path):
    """Each time realloc() makes it larger it may be sampled, and when it is freed all of that goes."""
    program = tmp_path / "grow.py"
    program.write_text("""
import time
for number in range(12):
    block = bytearray()
    for _ in range(60):
        block += bytes(500_000)  # GROWS
    del block
    time.sleep(0.02)
""")
    done = profile(tmp_path / "x.db", program)
    line = line_of(program, "GROWS")
    [grows] = [r for r in done.query("top 1000 memory") if (r["file"], r["line"]) == (str(program), line)]
    print(grows)
    assert grows["allocated_bytes"] >= 12 * 30e6
    assert grows["growth_bytes"] <= 0.01 * grows["allocated_bytes"]
    assert grows["peak_bytes"] <= 1.3 * 30e6 * 1.125 + 1e6


NATIVE = """
import ctypes
libc = ctypes.CDLL(None)
libc.pthread_create.argtypes = [ctypes.c_void_p] * 4
libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
thread = ctypes.c_ulong()
for _ in range(20):
    libc.pthread_create(ctypes.byref(thread), None, ctypes.cast(libc.malloc, ctypes.c_void_p), 5_000_000)
    libc.pthread_join(thread, None)
kept = bytearray(30_000_000)  # KEPT
"""


@pytest.mark.parametrize("question", ["peak", "peak by function"])
def test_the_rows_of_the_peak_add_up_to_it(pieprof, tmp_path, question):
    """Threads of native code, whose memory has no Python line, have a row with a name; what no sample stands for has
    one too."""
    program = tmp_path / "native.py"
    program.write_text(NATIVE)
    done = profile(tmp_path / "x.db", program)
    (heap,) = done.query("heap")
    rows = done.query(f"top 100000 {question}")
    for row in rows[:4]:
        print(row["file"], row["line"], row["function"], row["peak_bytes"])
    assert sum(r["peak_bytes"] for r in rows) == heap["peak_bytes"]
    threads = sum(r["peak_bytes"] for r in rows if r["file"].startswith("(native threads"))
    assert threads == pytest.approx(100e6, rel=0.02)
    assert all(r["line"] is None for r in rows if r["file"].startswith("("))
    assert sum(abs(r["peak_bytes"]) for r in rows if r["file"] in ("(not sampled)", "(too much in samples)")) < 5e6


def test_the_summary_names_what_has_no_line(pieprof, tmp_path):
    program = tmp_path / "native.py"
    program.write_text(NATIVE)
    done = run([pieprof, "-o", tmp_path / "x.db", program], env=clean_environment(COLUMNS="200"))
    memory = next(line for line in done.stderr.splitlines() if line.startswith("Memory:"))
    assert "(native threads" in memory and "native.py:10 30.0 MB" in memory, memory
