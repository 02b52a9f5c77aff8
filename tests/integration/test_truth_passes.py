# SPDX-License-Identifier: Apache-2.0
"""Whole re-reads of an array that does not change (truth/redundancy/passes.py), and an iteration that has converged
(truth/redundancy/settles.py)."""

import re

import pytest

from helpers import PYTHON, TRUTH, binary, has_numpy, line_of, profile, run

PROGRAM, SETTLES = TRUTH / "redundancy/passes.py", TRUTH / "redundancy/settles.py"
SAYS = re.compile(r"(\d+) passes or more over the same ([0-9.]+) MB, which did not change: (\d+) of (\d+) words")
OPTIONS = ("--overhead", "30%")  # as many watches as in a run of three times the length
ROUNDS = {"groups": 12000, "descent": 2500, "changing": 2000, "scaled": 2000, "search": 400_000}

pytestmark = pytest.mark.skipif(not has_numpy(), reason=f"{PYTHON} has no NumPy")


@pytest.fixture(scope="module", autouse=True)
def needs_breakpoints(pieprof, tmp_path_factory):
    probe = profile(tmp_path_factory.mktemp("probe") / "x.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if probe[0]["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {probe[0]['sampler_note']}")


def told(done):
    return [row for row in done.query("top 1000 redundancy") if row["severity"] == "maybe"]


def test_passes_are_told_with_their_number_and_size(tmp_path):
    """Their number is a lower bound: what a trap costs besides its price makes rounds look longer."""
    done = profile(tmp_path / "x.db", PROGRAM, "groups", ROUNDS["groups"], options=OPTIONS)
    (row,) = told(done)
    assert (row["file"], row["line"], row["category"]) == (str(PROGRAM), line_of(PROGRAM, "groups"), "whole re-reads")
    print(row["evidence"])
    passes, megabytes, again, known = SAYS.match(row["evidence"]).groups()
    assert float(megabytes) * 1e6 == pytest.approx(done.truth["bytes"], rel=0.01)
    assert 0.4 <= int(passes) / done.truth["rounds"] <= 1.15
    assert int(again) >= 0.9 * int(known), "nothing writes to the array"
    assert row["wasted_s"] is None and "numpy.bincount" in row["advice"]


@pytest.mark.parametrize("name", ["descent", "changing", "scaled", "search"])
def test_what_must_read_again_or_reads_little_is_not_told(tmp_path, name):
    assert told(profile(tmp_path / "x.db", PROGRAM, name, ROUNDS[name], options=OPTIONS)) == []


def test_the_summary_has_one_line_of_it(tmp_path):
    done = run([binary(), "-o", "x.db", *OPTIONS, PROGRAM, "groups", str(ROUNDS["groups"])], cwd=tmp_path)
    (text,) = [text for text in done.stderr.splitlines() if ": perhaps needless: " in text]
    assert re.match(rf"passes\.py:{line_of(PROGRAM, 'groups')}: perhaps needless: \d+ passes or more over the same 4 MB", text)
    assert "No work of weight" not in done.stderr


def test_an_iteration_that_has_converged_is_told_with_the_time(tmp_path):
    """The time is the end of a slice, of one second here."""
    done = profile(tmp_path / "x.db", SETTLES, 3)
    rows = [row for row in done.query("redundancy") if (row["file"], row["line"]) == (str(SETTLES), line_of(SETTLES, "settles"))]
    (row,) = [row for row in rows if row["kind"] == "store"]
    print(row["evidence"], done.truth)
    assert row["category"] == "loop-invariant computation" and row["advice"].startswith("stop the loop as soon as")
    (after_s,) = re.findall(r"gave something else at first, but after (\d+) s of the run all \d+ gave the same", row["evidence"])
    assert done.truth["share"] - 0.2 <= row["wasted_s"] / row["cpu_s"] <= done.truth["share"] + 0.1, done.truth
    assert done.truth["settled_s"] - 1 <= int(after_s) <= done.truth["settled_s"] + 2.5
