# SPDX-License-Identifier: Apache-2.0
"""Calls of own code for which a library's Python code works (truth/redundancy/outer_calls.py)."""

import pytest

from helpers import TRUTH, line_of, profile

PROGRAM = TRUTH / "redundancy" / "outer_calls.py"
CPU_SECONDS = 2
REDUNDANT, CHANGED = 1, 2
FIRST_SEEN, OUTER_CALL = 8, 512
INVARIANT = ("repeated native calls", "loop-invariant computation")
COMPARED_MIN = 8  # one sample in eight begins such a watch, if the budget allows it


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    probe = profile(tmp_path_factory.mktemp("probe") / "x.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if probe[0]["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {probe[0]['sampler_note']}")
    return profile(tmp_path_factory.mktemp("outer") / "a.db", PROGRAM, CPU_SECONDS)


def compared(done, mark):
    """(compared outer calls, those that were another one again, different ones) of the line with this mark."""
    (row,) = done.sql(f"""
        select coalesce(sum(iif(w.outcome <= {CHANGED}, w.watches, 0)), 0) as compared,
          coalesce(sum(iif(w.outcome = {REDUNDANT}, w.watches, 0)), 0) as same,
          coalesce(sum(iif(w.traits & {FIRST_SEEN} <> 0, w.watches, 0)), 0) as different
        from watch w join node n on n.process = w.process and n.id = w.first_node
        join location l on l.process = n.process and l.id = n.line_location
        join function u on u.process = l.process and u.id = l.function join file f on f.process = u.process and f.id = u.file
        where w.traits & {OUTER_CALL} <> 0 and n.line_location = n.own_location and f.path = '{PROGRAM}'
          and l.line = {line_of(PROGRAM, mark)}""")
    print(mark, row)
    return row["compared"], row["same"], row["different"]


def findings(done, mark):
    return done.sql(f"select * from v_redundancy where file = '{PROGRAM}' and line = {line_of(PROGRAM, mark)}")


def is_told(row):
    """By itself, or as evidence for the line that calls (called_again.sql)."""
    return row["severity"] == "high" or "evidence for the finding of" in row["evidence"]


def test_the_same_call_again(done):
    calls, same, different = compared(done, "same")
    assert calls >= COMPARED_MIN and same >= 0.95 * calls and different == 1
    (row,) = [row for row in findings(done, "same") if row["kind"] == "store"]
    assert row["category"] in INVARIANT and is_told(row)


def test_recursion(done):
    calls, same, different = compared(done, "deeper")
    assert calls >= COMPARED_MIN and same >= 0.9 * calls and different <= 4


@pytest.mark.parametrize("mark", ["other", "generated"])
def test_other_arguments_each_time(done, mark):
    """Of those that come again, 280 others lie between, so in a loop they may be told to come again in turns. A
    generator is left behind in the middle of its loop."""
    calls, same, _ = compared(done, mark)
    assert same <= 0.2 * calls
    assert calls >= COMPARED_MIN
    others = [row for row in findings(done, mark) if mark == "other" or "not known to be new" not in row["evidence"]]
    assert [row for row in others if row["category"] in INVARIANT or row["severity"] == "high"] == []


@pytest.mark.parametrize("mark", ["effect", "failing", "counted"])
def test_a_call_without_a_result_or_with_a_mere_number_says_nothing(done, mark):
    assert compared(done, mark) == (0, 0, 0)
