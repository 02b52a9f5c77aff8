# SPDX-License-Identifier: Apache-2.0
"""Symbol tables are kept between runs, and nothing but time depends on that."""

import shutil
import subprocess

import pytest

from helpers import clean_environment, profile

PROGRAM = """
import json, time
until = time.process_time() + 0.25
while time.process_time() < until:
    json.dumps([1 / 3] * 5000)
print(json.dumps({}))
"""

DTOA = ("python", "_Py_dg_dtoa")  # of the interpreter itself, where all of its time goes


def names(folder, number, program, **environment):
    """The native functions, by library."""
    done = profile(folder / f"{number}.db", program, env=clean_environment(**environment))
    rows = done.sql("select library, function from v_native")
    return {(row["library"], row["function"]) for row in rows}


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path / "program.py"


def test_a_second_run_has_the_same_names(pieprof, tmp_path, program):
    caches = tmp_path / "caches"
    caches.mkdir(mode=0o700)
    first = names(tmp_path, 1, program, XDG_CACHE_HOME=str(caches))
    files = {path: path.stat().st_mtime_ns for path in (caches / "pieprof" / "symbols").iterdir()}
    assert DTOA in first and len(files) >= 2
    assert DTOA in names(tmp_path, 2, program, XDG_CACHE_HOME=str(caches))
    assert {path: path.stat().st_mtime_ns for path in files} == files
    for path in files:
        path.write_bytes(path.read_bytes()[:-100] + b"\xff" * 100)
    assert DTOA in names(tmp_path, 3, program, XDG_CACHE_HOME=str(caches))
    assert all(path.stat().st_mtime_ns > files[path] for path in files), "damaged files are replaced"


def test_nothing_appears_in_an_empty_home(pieprof, tmp_path, program):
    home = tmp_path / "home"
    home.mkdir()
    assert names(tmp_path, 1, program, HOME=str(home), XDG_CACHE_HOME=None)
    assert list(home.iterdir()) == []


# The static function is in .symtab alone, beside names of 1.9 MB.
LIBRARY = """
static volatile long sum;
__attribute__((noinline)) static void first_static(long count) { while (count--) sum += count; }
__attribute__((noinline)) static void second_static(long count) { while (count--) sum ^= count; }
void first(void) { first_static(100000); }
void second(void) { second_static(100000); }
"""
CALLER = """
import ctypes, os, sys, time
library = ctypes.CDLL(sys.argv[1])
for call in (library.first, library.second):
    until = time.process_time() + 0.25
    while time.process_time() < until:
        call()
    if sys.argv[2:]:
        os.utime(sys.argv[1], (1, 1))
"""


def large_library(folder):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    labels = (f"n{i:0119d}" for i in range(16000))
    (folder / "labels.s").write_text(".section .note.GNU-stack\n.text\n" +
                                       "".join(f".type {label},@function\n{label}: ret\n" for label in labels))
    (folder / "spin.c").write_text(LIBRARY)
    (folder / "caller.py").write_text(CALLER)
    path = folder / "liblarge.so"
    sources = [folder / "spin.c", folder / "labels.s"]
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "-o", path, *sources], check=True)
    return path


def test_a_name_of_very_many_is_read_from_the_library_when_it_is_asked_for(pieprof, tmp_path):
    library, caches = large_library(tmp_path), tmp_path / "caches"
    caches.mkdir(mode=0o700)
    for number in (1, 2):  # the second takes the table from the cache
        done = profile(tmp_path / f"{number}.db", tmp_path / "caller.py", str(library),
                       env=clean_environment(XDG_CACHE_HOME=str(caches)))
        functions = {row["function"] for row in done.sql("select function from v_native")}
        assert {"first_static", "second_static"} <= functions
    table = max((caches / "pieprof" / "symbols").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert b"n0000000000" not in table.read_bytes()


def test_a_library_that_changes_meanwhile_has_no_names_that_were_left_in_it(pieprof, tmp_path):
    library = large_library(tmp_path)
    done = profile(tmp_path / "x.db", tmp_path / "caller.py", str(library), "touch",
                   env=clean_environment(XDG_CACHE_HOME=str(tmp_path)))
    seconds = {row["function"]: row["cpu_s"] for row in done.sql("select * from v_native where library = 'liblarge.so'")}
    callers = {"first", "second"}  # a sample in ten thousand falls into one, and their names are kept
    assert seconds.keys() - callers == {"first_static", None}
    assert seconds[None] == pytest.approx(0.25, abs=0.06)
