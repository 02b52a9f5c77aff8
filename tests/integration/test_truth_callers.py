# SPDX-License-Identifier: Apache-2.0
"""Counted windows of callers, and what calls go through, in a program whose mixtures are known."""

import re

import pytest

from helpers import ROOT, TRUTH, binary, line_of, profile, python_abi, python_minor, run

PROGRAM = TRUTH / "redundancy" / "callers.py"
SHARED_WASTE = (ROOT / "storage" / "read" / "statements" / "shared_waste.sql").read_text()
CPU_SECONDS = {"fitted": 2.4}  # others 0.8: within its calls, only watches compare
pytestmark = pytest.mark.skipif(python_abi().endswith("t"), reason="no windows without the GIL")


PARTS = ("same", "wanted", "measured", "other", "fitted", "status", "nested", "lowered", "searched", "cut", "columns")


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    """Each part alone: windows may take 10 ms, and a hundredth of the CPU time. No part takes another one's."""
    folder = tmp_path_factory.mktemp("callers")
    return {part: profile(folder / f"{part}.db", PROGRAM, CPU_SECONDS.get(part, 0.8), part, options=("--overhead", "0"))
            for part in PARTS}


def row_of(done, table, mark, callee):
    (row,) = done[mark].sql(f"select * from {table} where line = {line_of(PROGRAM, mark)} and callee = '{callee}'")
    print(mark, row)
    return row


def high(done, mark):
    return [row for row in done[mark].sql(f"select * from v_redundancy where line = {line_of(PROGRAM, mark)}")
            if row["severity"] == "high"]


def test_the_call_that_all_rounds_share(done):
    row = row_of(done, "called", "same", "digests")
    assert row["calls"] >= 10 and row["compared"] == row["calls"] and row["function"] == "same"
    assert row["again"] == row["same"] == row["calls"] - 1 and row["again_ns"] >= 0.8 * row["call_ns"]
    (found,) = high(done, "same")
    assert found["category"] == "loop-invariant computation"
    # four digests of 40 rounds of 240 for each round of the loop
    assert abs(found["wasted_s"] / (row["function_ns"] / 1e9) - 160 / 240) < 0.15


def test_a_line_that_wants_what_comes_again(done):
    """All but a twentieth of the function is the same in each round, but each round makes something else of it."""
    row = row_of(done, "called", "wanted", "digests")
    assert row["again"] == row["calls"] - 1 and row["again_ns"] > 0.9 * row["call_ns"]
    (found,) = high(done, "wanted")
    assert found["category"] == "loop-invariant computation" and "that were counted" in found["evidence"]


def test_a_loop_that_does_nothing_else(done):
    row = row_of(done, "called", "measured", "digests")
    assert row["again"] == row["calls"] - 1
    assert not [found for found in high(done, "measured") if "calls of digests that were counted" in found["evidence"]]


def test_other_arguments(done):
    row = row_of(done, "called", "other", "digests")
    assert row["calls"] >= 10 and row["again"] == row["alike"] == 0 and row["once"] == row["calls"]
    assert not high(done, "other")


def test_what_each_call_does_again_is_said_within_it(done):
    """All calls of fit() differ, but each of them has twelve that are the same."""
    row = row_of(done, "called", "fitted", "fit")
    assert row["calls"] >= 10 and row["once"] == row["calls"] == row["compared"]
    assert not high(done, "fitted")
    within = done["fitted"].sql(f"select * from v_redundancy where severity = 'high' and line = {line_of(PROGRAM, 'within')}")
    assert len(within) == 1, within


def test_a_status_proves_nothing(done):
    row = row_of(done, "called", "status", "check")
    assert row["calls"] >= 10 and row["again"] == 0 and row["alike"] == row["calls"] - 1
    assert not [found for found in high(done, "status") if found["category"] == "loop-invariant computation"]


def test_lines_within_each_other_tell_their_time_once(done):
    """Two thirds of the calls are the same again. So say the line that makes these, and the one in which all calls do
    their work. A fix saves that once."""
    true_s = float(done["nested"].completed.stdout)
    lines = line_of(PROGRAM, "nested"), line_of(PROGRAM, "below")
    found = done["nested"].sql("select * from v_redundancy where severity = 'high'")
    assert {row["line"] for row in found} == set(lines) and sum(row["wasted_s"] for row in found) > 1.6 * true_s
    text = run([binary(), "query", done["nested"].db, "summary"]).stdout
    told = re.search(r"^2 lines together: (\d+) % of the run wasted \(([\d.]+) s, ([\d.]+) to ([\d.]+) s\); "
                     "time that they share counts once$", text, re.MULTILINE)
    share, wasted_s, low, high_s = map(float, told.groups())
    (run_row,) = done["nested"].sql("select cpu_s from v_run")
    assert low <= true_s <= high_s <= run_row["cpu_s"] + 0.01 and share <= 100
    assert 0.8 * true_s <= wasted_s <= 1.25 * true_s
    # the page has the same sum, over the contexts of both
    (by_context,) = done["nested"].sql("with wasteful as materialized (select * from x_wasteful_line where run = 1), "
                                       f"{SHARED_WASTE} select sum(wasted_s) as s from wasted_context")
    assert abs(by_context["s"] - wasted_s) < 0.01


@pytest.mark.skipif(python_minor() >= 12, reason="no call from Python 3.12 on")
def test_a_comprehension_is_a_call(done):
    row = row_of(done, "called", "lowered", "lowered.<locals>.<setcomp>")
    assert row["calls"] >= 10 and row["distinct_args"] == 1 and row["again"] == row["calls"] - 1
    (found,) = high(done, "lowered")
    assert found["category"] == "loop-invariant computation"


def test_a_list_that_is_searched(done):
    row = row_of(done, "passed", "searched", "list.count")
    assert row["kind"] == 1 and row["items"] == 400 * row["calls"] and row["carried"] == row["calls"] - 1
    (found,) = high(done, "searched")
    assert found["category"] == "inefficient algorithm" and found["again"] == "read again"


def test_slices_of_slices(done):
    row = row_of(done, "passed", "cut", "a[i] of list")
    assert row["kind"] == 2 and 1950 * row["calls"] < row["items"] < 2000 * row["calls"]
    assert row["carried"] >= 0.9 * row["calls"]
    (found,) = high(done, "cut")
    assert found["category"] == "inefficient algorithm" and found["kind"] == "store"


def test_slices_of_other_lists(done):
    row = row_of(done, "passed", "columns", "a[i] of list")
    assert row["items"] == 63 * row["calls"] and row["carried"] == 0
    assert not [found for found in high(done, "columns") if found["category"] == "inefficient algorithm"]
