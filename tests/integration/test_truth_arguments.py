# SPDX-License-Identifier: Apache-2.0
"""Calls whose arguments are known to repeat or not to (truth/redundancy/arguments.py)."""

import pytest

from helpers import TRUTH, line_of, profile

PROGRAM = TRUTH / "redundancy" / "arguments.py"
SECONDS = 3
OPTIONS = ("--overhead", "30%")  # as many watches as in a longer run
REDUNDANT, CHANGED = 1, 2
FIRST_SEEN, ARGUMENTS, OTHER_ARGUMENTS = 8, 16, 32
INVARIANT = ("repeated native calls", "loop-invariant computation")
# Of library functions half of the watches ask, of the interpreter's own one sample in eight begins one; the machine
# may be busy with other work.
COMPARED_MIN = 10


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    probe = profile(tmp_path_factory.mktemp("probe") / "x.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if probe[0]["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {probe[0]['sampler_note']}")
    return profile(tmp_path_factory.mktemp("arguments") / "a.db", PROGRAM, SECONDS, options=OPTIONS)


def compared(done, mark):
    """(compared calls, those that were another one again, different ones) of the line with this mark."""
    (row,) = done.sql(f"""
        select coalesce(sum(iif(w.outcome <= {CHANGED}, w.watches, 0)), 0) as compared,
          coalesce(sum(iif(w.outcome = {REDUNDANT} and w.traits & {OTHER_ARGUMENTS} = 0, w.watches, 0)), 0) as same,
          coalesce(sum(iif(w.traits & {FIRST_SEEN} <> 0, w.watches, 0)), 0) as different
        from watch w join node n on n.process = w.process and n.id = w.first_node
        join location l on l.process = n.process and l.id = n.line_location
        join function u on u.process = l.process and u.id = l.function join file f on f.process = u.process and f.id = u.file
        where w.traits & {ARGUMENTS} <> 0 and f.path = '{PROGRAM}' and l.line = {line_of(PROGRAM, mark)}""")
    print(mark, row)
    return row["compared"], row["same"], row["different"]


def findings(done, mark):
    return done.sql(f"select * from v_redundancy where file = '{PROGRAM}' and line = {line_of(PROGRAM, mark)}")


def is_told(row):
    """By itself, or as evidence for the line that calls (called_again.sql)."""
    return row["severity"] == "high" or "evidence for the finding of" in row["evidence"]


@pytest.mark.parametrize("mark", ["library same", "own same"])
def test_the_same_call_again(done, mark):
    calls, same, different = compared(done, mark)
    assert calls >= COMPARED_MIN and same == calls and different == 1
    (row,) = [row for row in findings(done, mark) if row["kind"] == "store"]
    assert row["category"] in INVARIANT and is_told(row)
    assert f"{same} of {calls} compared calls had the arguments and the result of another one: 1 different" in row["evidence"]


def test_two_arguments_that_take_turns(done):
    calls, same, different = compared(done, "library two")
    assert calls >= COMPARED_MIN and same == calls and different == 2


@pytest.mark.parametrize("mark", ["library other", "library mutated", "own other", "library same result", "own random"])
def test_other_arguments_or_results_each_time(done, mark):
    """Of a generator of random numbers the arguments are the same, but not the state, nor the result; of unpacking,
    which leaves out what follows, only the result is."""
    calls, same, _ = compared(done, mark)
    assert same <= 0.05 * calls
    assert mark == "own random" or calls >= COMPARED_MIN  # nothing can be said of the generator's calls
    assert [row for row in findings(done, mark) if row["category"] in INVARIANT] == []
    # To sort a list again of which one item is another is an inefficient algorithm, and no repeated call.
    known = ["inefficient algorithm"] if mark == "own other" else []
    assert [row for row in findings(done, mark) if row["severity"] == "high" and row["category"] not in known] == []


def test_a_call_for_its_effect_says_nothing(done):
    assert compared(done, "library effect") == (0, 0, 0)


@pytest.mark.parametrize("mark", ["own range", "own view"])
def test_what_a_loop_makes_to_go_through_is_no_result(done, mark):
    """To keep it would gain nothing, or cannot be done."""
    assert compared(done, mark) == (0, 0, 0)
    assert findings(done, mark) == []
