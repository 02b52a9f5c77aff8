# SPDX-License-Identifier: Apache-2.0
"""Stacks, pages and descriptors of the profiler's are nobody else's: not of a child that is not profiled, not of the
program."""

import pathlib
import subprocess

import pytest

from helpers import PYTHON, profile, run
from test_faults_watch import DENSE, counters

DEFECTS = pathlib.Path(__file__).resolve().parent / "defects"


def links_sqlite(pieprof):
    """Is SQLite a library that the program may use too? Then what it maps is left as it is."""
    return "libsqlite3.so" in subprocess.run(["ldd", pieprof], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def needs_watching(pieprof, tmp_path):
    """Skips with the profiler's own reason where accesses cannot be watched, and without NumPy."""
    if run([PYTHON, "-c", "import numpy"]).returncode:
        pytest.skip("needs NumPy")
    (facts,) = profile(tmp_path / "probe.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if facts["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {facts['sampler_note']}")


# A child is not profiled if the profiler has not been told of it.
UNPROFILED = {"raw": [], "fork": ["--no-children"]}


@pytest.mark.parametrize("kind", UNPROFILED)
def test_an_unprofiled_child_shares_no_writable_page(pieprof, tmp_path, kind):
    done = run([pieprof, "-q", "-o", tmp_path / "a.db", *UNPROFILED[kind], DEFECTS / "shared_pages.py", kind])
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.split("--\n")
    assert kind == "fork" or before.strip()  # the parent has the table of processes
    *pages, ending = after.splitlines()
    if links_sqlite(pieprof):
        pages = [line for line in pages if not line.endswith("-shm")]
    assert [line for line in pages if line] == []
    assert ending == "child 0"


def test_a_child_by_the_system_call_finds_no_lock_held(pieprof, tmp_path):
    """Of the start of a run a third of such children waited for ever: the collection thread had a lock of malloc()."""
    for n in range(3):
        done = run([pieprof, "-q", "-o", tmp_path / f"{n}.db", DEFECTS / "forks_at_start.py"])
        assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


@pytest.mark.parametrize("kind", UNPROFILED)
def test_an_unprofiled_child_has_stacks_of_its_own(pieprof, tmp_path, kind):
    done = run([pieprof, "-q", "-o", tmp_path / "a.db", *UNPROFILED[kind], DEFECTS / "alarms_in_children.py", kind, "1"])
    assert (done.returncode, done.stdout) == (0, "[0, 0]\n"), done.stderr


@pytest.mark.parametrize("how, options", [("fork", []), ("fork", ["--no-children"])],
                         ids=["children", "no-children"])
@pytest.mark.usefixtures("needs_watching")
def test_children_inherit_no_borrowed_descriptor(pieprof, tmp_path, how, options):
    """Before, one child in fifty had one."""
    db = tmp_path / "a.db"
    done = run([pieprof, *DENSE, *options, "-o", db, DEFECTS / "forks_meanwhile.py", "4", how])
    assert done.returncode == 0, done.stderr
    forks, *leaks = done.stdout.split()
    assert leaks == []
    assert int(forks) >= 10, "too few to tell"
    assert counters(db)["watches"] >= 5  # and debug registers were moved all the time


# Beside the kernel's frame: the way from there to a stack of the profiler's.
OWN_BYTES = 1024
COLLECTORS = {"clock": ["--rate", "4000"], "watches": DENSE, "ptrace": [*DENSE, "--breakpoints", "ptrace"]}


@pytest.mark.parametrize("kind", COLLECTORS)
def test_handlers_leave_the_programs_stack(pieprof, tmp_path, kind):
    db = tmp_path / "a.db"
    done = run([pieprof, "-q", *COLLECTORS[kind], "-o", db, DEFECTS / "own_stack.py", "paint", "2"])
    assert done.returncode == 0, done.stderr
    frame, used = map(int, done.stdout.split())
    assert 500 < frame <= used  # samples did begin there
    if kind == "ptrace":  # SIGTRAP is never blocked: one may come while another's handler is on its way
        used -= frame + OWN_BYTES if used > frame + OWN_BYTES else 0
    assert used - frame <= OWN_BYTES, f"{used} of them, {frame} the kernel's"


def test_a_small_stack_is_enough(pieprof, tmp_path):
    done = run([pieprof, *DENSE, "-o", tmp_path / "a.db", DEFECTS / "own_stack.py", "small", "2"])
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr


@pytest.mark.parametrize("kind", COLLECTORS)
def test_the_program_sees_its_own_stack(pieprof, tmp_path, kind):
    command = [DEFECTS / "own_stack.py", "answers", "0.5"]
    expected = run([PYTHON, *command])
    done = run([pieprof, "-q", *COLLECTORS[kind], "-o", tmp_path / "a.db", *command])
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout), done.stderr
