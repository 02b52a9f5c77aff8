# SPDX-License-Identifier: Apache-2.0
"""CPU time of threads without Python frames is told at the lines that wait for them."""

import os
import shutil

import pytest

import helpers
from helpers import TRUTH, line_of

PROGRAM, BLAS = TRUTH / "pool.py", TRUTH / "pool_blas.py"
CC = shutil.which(os.environ.get("CC", "cc"))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if not CC:
        pytest.skip("no C compiler")
    path = tmp_path_factory.mktemp("pool") / "libpool.so"
    done = helpers.run([CC, "-O1", "-shared", "-fPIC", "-pthread", TRUTH / "pool.c", "-o", path])
    assert done.returncode == 0, done.stderr
    return path


def worked(profile, program=PROGRAM):
    return {r["line"]: r["worked_s"] for r in profile.query("top 100 worked for") if r["file"] == str(program)}


def check_shares(found, program):
    """A line of less than 20 ms is found in one tick in four: in 125 of them with a standard deviation of 0.04."""
    one, three = (found[line_of(program, mark)] for mark in ("one", "three"))
    assert one / (one + three) == pytest.approx(0.25, abs=0.13), found


@pytest.mark.parametrize("kind, seconds", [("waiting", 5), ("part", 2.5), ("bystander", 2.5)])
def test_lines_have_the_time_that_pools_work_for_them(tmp_path, library, kind, seconds):
    profile = helpers.profile(tmp_path / "p.db", PROGRAM, library, kind, seconds)
    found, truth = worked(profile), profile.truth["worked_s"]
    check_shares(found, PROGRAM)
    lines = [line_of(PROGRAM, mark) for mark in ("one", "three")]
    total_s = sum(truth.values()) * profile.program_share
    assert sum(found[line] for line in lines) == pytest.approx(total_s, rel=0.12), (found, truth)
    assert sum(found.values()) <= sum(found[line] for line in lines) + 0.1, found
    # It is beside the line's own time, and in the time of the threads once.
    hot = {r["line"]: r for r in profile.lines(PROGRAM)}
    for line in lines:
        assert hot[line]["worked_s"] == pytest.approx(found[line])
    if kind == "waiting":
        assert sum(hot[line]["cpu_s"] for line in lines) <= 0.1
    pool_s = sum(r["cpu_s"] for r in profile.query("threads") if not r["is_main"])
    assert sum(found.values()) <= pool_s + 1e-6


def test_native_threads_for_which_nobody_waits_work_for_no_line(tmp_path, library):
    profile = helpers.profile(tmp_path / "p.db", PROGRAM, library, "alone", 1)
    found = worked(profile)
    waited = {r["line"]: r["wait_s"] for r in profile.lines(PROGRAM)}
    # Where the machine is busy they are not done when the program comes for the result.
    assert found.pop(line_of(PROGRAM, "alone"), 0) <= waited.get(line_of(PROGRAM, "alone"), 0) + 1e-6
    assert sum(found.values()) <= 0.02, found


def test_threads_of_blas(tmp_path):
    if helpers.run([helpers.PYTHON, "-c", "import numpy"]).returncode != 0:
        pytest.skip("no numpy")
    profile = helpers.profile(tmp_path / "p.db", BLAS)
    pool_s = sum(r["cpu_s"] for r in profile.query("threads") if not r["is_main"])
    if pool_s < 0.5:
        pytest.skip("this numpy uses one thread")
    found = {line: s for line, s in worked(profile, BLAS).items()}
    check_shares(found, BLAS)
    assert 0.8 * pool_s <= sum(found.values()) <= pool_s + 1e-6, (found, pool_s)
