# SPDX-License-Identifier: Apache-2.0
"""Calls of Python functions by lines of own code (truth/redundancy/python_calls.py)."""

import pytest

from helpers import PYTHON, TRUTH, line_of, profile, run

PROGRAM = TRUTH / "redundancy" / "python_calls.py"
CPU_SECONDS = 0.25
OPTIONS = ("--rate", "4khz", "--overhead", "30%")  # as many watches as in a longer run
REDUNDANT, CHANGED = 1, 2
FIRST_SEEN, OUTER_CALL, OWN_CALL = 8, 512, 1024
INVARIANT = ("repeated native calls", "loop-invariant computation")
COMPARED_MIN = 8
RARE = 2  # re.sub() is mostly native, and counted windows end such watches
VERSION = run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).stdout.strip()
pytestmark = pytest.mark.skipif(VERSION != "3.11", reason=f"such calls are looked at in Python 3.11, this one is {VERSION}")


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    folder = tmp_path_factory.mktemp("python_calls")
    probe = profile(folder / "probe.db", "-c", "pass").sql("select sampler, sampler_note from process")[0]
    if probe["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {probe['sampler_note']}")
    return profile(folder / "a.db", PROGRAM, CPU_SECONDS, options=OPTIONS)


def compared(done, mark):
    """(compared calls of the line with this mark, those that came again, different ones, those of own functions)."""
    (row,) = done.sql(f"""
        select coalesce(sum(iif(w.outcome <= {CHANGED}, w.watches, 0)), 0) as compared,
          coalesce(sum(iif(w.outcome = {REDUNDANT}, w.watches, 0)), 0) as same,
          coalesce(sum(iif(w.traits & {FIRST_SEEN} <> 0, w.watches, 0)), 0) as different,
          coalesce(sum(iif(w.traits & {OWN_CALL} <> 0 and w.outcome <= {CHANGED}, w.watches, 0)), 0) as own
        from watch w join node n on n.process = w.process and n.id = w.first_node
        join location l on l.process = n.process and l.id = n.line_location
        join function u on u.process = l.process and u.id = l.function join file f on f.process = u.process and f.id = u.file
        where w.traits & {OUTER_CALL} <> 0 and n.line_location = n.own_location and f.path = '{PROGRAM}'
          and l.line = {line_of(PROGRAM, mark)}""")
    print(mark, row)
    return row["compared"], row["same"], row["different"], row["own"]


def findings(done, mark):
    return done.sql(f"select * from v_redundancy where file = '{PROGRAM}' and line = {line_of(PROGRAM, mark)}")


def is_told(row):
    """By itself, or as evidence for the line that calls (called_again.sql)."""
    return row["severity"] == "high" or "evidence for the finding of" in row["evidence"]


@pytest.mark.parametrize("mark, is_own", [("deepcopied", False), ("filled", False), ("substituted", False), ("own", True),
                                          ("named", True)])
def test_the_same_call_again(done, mark, is_own):
    calls, same, different, own = compared(done, mark)
    assert calls >= (RARE if mark == "substituted" else COMPARED_MIN) and same == calls and different == 1
    assert own == (calls if is_own else 0)
    (row,) = [row for row in findings(done, mark) if row["kind"] == "store"]
    expected = ("API misuse",) if mark == "deepcopied" else INVARIANT  # a copy is made to be changed, not to be kept
    assert row["category"] in expected and is_told(row)


def test_the_time_of_an_own_function_is_its_callers(done):
    """It ran for twice CPU_SECONDS, beside what watching took."""
    (row,) = [row for row in findings(done, "own") if row["kind"] == "store"]
    assert 1.2 * CPU_SECONDS <= row["cpu_s"] <= 2.2 * CPU_SECONDS


@pytest.mark.parametrize("mark", ["other", "library", "recursion", "method"])
def test_another_call_each_time(done, mark):
    calls, same, different, _ = compared(done, mark)
    assert calls >= COMPARED_MIN and same == 0 and different >= calls
    assert [row for row in findings(done, mark) if row["category"] in INVARIANT or row["severity"] == "high"] == []


def test_a_function_that_changes_the_world_is_undecided(done):
    """Its arguments and its results are the same, but for the world."""
    calls, same, different, own = compared(done, "report")
    assert calls >= COMPARED_MIN and same == own == calls and different == 1
    assert [row["severity"] for row in findings(done, "report")] == ["low"]


@pytest.mark.parametrize("mark", ["ticket", "effect", "kept", "failing", "generator"])
def test_what_is_no_evidence_is_not_compared(done, mark):
    """No arguments, a mere True, an object that is kept, an exception, a generator's end."""
    assert compared(done, mark)[3] == 0
    assert [row for row in findings(done, mark) if row["severity"] == "high"] == []


def test_a_call_that_raises_is_not_taken_for_the_next_one(done):
    _, same, _, _ = compared(done, "odd")
    assert same == 0


SET = """
import sys, time
end = time.thread_time() + float(sys.argv[1])

def letters(word):
    return sum(ord(letter) for letter in word * 200)

def work():
    while time.thread_time() < end:
        kept = {letters(word) for word in ("alpha", "beta", "gamma")}  # set

work()
"""


def test_a_comprehension_counts_once(pieprof, done, tmp_path):
    """The line of a comprehension is a place of the function and one of the comprehension, below it."""
    (tmp_path / "p.py").write_text(SET)
    own = profile(tmp_path / "a.db", tmp_path / "p.py", 2 * CPU_SECONDS, options=OPTIONS)
    (run_row,) = own.query("runs")
    (row,) = own.sql(f"select * from v_redundancy where kind = 'store' and line = {line_of(tmp_path / 'p.py', 'set')}")
    assert 0.8 * run_row["cpu_s"] <= row["cpu_s"] <= run_row["cpu_s"] and row["wasted_s_high"] <= run_row["cpu_s"]
