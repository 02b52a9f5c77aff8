# SPDX-License-Identifier: Apache-2.0
"""Counted windows: what an ordinary run counts of calls whose mixture is known, and that no program notices it."""

import pytest

from helpers import TRUTH, line_of, profile, python_abi, python_minor

PROGRAM = TRUTH / "redundancy" / "windows.py"
CODES = TRUTH / "redundancy" / "codes.py"
RULES = TRUTH / "redundancy" / "rules.py"
LONG = TRUTH / "redundancy" / "windows_long.py"
CPU_SECONDS = 1.5
pytestmark = pytest.mark.skipif(python_abi().endswith("t"), reason="no windows without the GIL")
INVARIANT = ("repeated native calls", "loop-invariant computation")


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("windows") / "a.db", PROGRAM, CPU_SECONDS, options=("--overhead", "0"))


@pytest.fixture(scope="module")
def codes(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("codes") / "a.db", CODES, 2, options=("--overhead", "0"))


def counted(done, mark, callee="_hashlib.pbkdf2_hmac"):
    (row,) = done.sql(f"select * from windowed where line = {line_of(PROGRAM, mark)} and callee = '{callee}'")
    print(mark, row)
    return row


def high(done, mark):
    return [row for row in done.sql(f"select * from v_redundancy where line = {line_of(PROGRAM, mark)}")
            if row["severity"] == "high"]


def test_a_third_comes_again(done):
    row = counted(done, "third")
    assert row["calls"] >= 100 and row["compared"] == row["calls"] and row["raised"] == 0
    assert abs(row["again"] / row["calls"] - 1 / 3) < 0.03
    # all others are met once, and each window begins anew with the one that comes again
    assert row["once"] == row["distinct_args"] - 1 == row["calls"] - row["again"] - 1 and row["twice"] == 0
    assert not high(done, "third")


def test_all_are_different(done):
    row = counted(done, "other")
    assert row["calls"] >= 100
    assert row["again"] == row["alike"] == row["same"] == 0 and row["distinct_args"] == row["once"] == row["calls"]
    assert not high(done, "other")


def test_what_comes_in_turns(done):
    row = counted(done, "turns")
    assert row["calls"] >= 100 and row["distinct_args"] == 20 and row["once"] == row["twice"] == 0
    assert row["again"] == row["calls"] - 20 and row["same"] <= 20  # at the beginning of a window only
    (found,) = high(done, "turns")
    assert found["category"] == "repeated native calls" and "were made before: 20 different" in found["evidence"]


def test_what_long_calls_repeat_is_seen_though_it_never_comes_back(pieprof, tmp_path):
    """A window that lasts as long as one of them meets each of eight equal ones alone."""
    done = profile(tmp_path / "a.db", LONG, 4, options=("--overhead", "0"))
    (row,) = done.sql(f"select * from windowed where line = {line_of(LONG, 'long')} and callee = '_hashlib.pbkdf2_hmac'")
    print(row)
    assert row["calls"] >= 20 and row["compared"] == row["calls"]
    assert 0.6 <= row["again"] / row["calls"] <= 0.9 and row["same"] == row["again"]
    (found,) = [row for row in done.sql(f"select * from v_redundancy where line = {line_of(LONG, 'long')}") if row["severity"] == "high"]
    assert found["category"] in INVARIANT


def test_growing_arguments(done):
    row = counted(done, "growing", "_hashlib.openssl_sha256")
    assert row["calls"] >= 50 and row["grew"] >= row["calls"] - 1 and row["again"] == 0


def test_recursion(done):
    row = counted(done, "deep")
    assert row["calls"] >= 50 and row["distinct_args"] == 1 and row["again"] == row["same"] == row["calls"] - 1


@pytest.mark.parametrize(("mark", "callee", "distinct"), [("turns", "eval", 7), ("program", "compile", 1)])
def test_text_that_is_made_into_code_again(codes, mark, callee, distinct):
    """The first call of each text is new. The work of the code is at its own lines, the rest is the compiler's."""
    (row,) = codes.sql(f"select * from passed where line = {line_of(CODES, mark)} and callee = '{callee}'")
    print(row)
    assert row["kind"] == 4 and row["calls"] >= 50 and row["carried"] == row["calls"] - distinct
    (found,) = codes.sql(f"select * from v_redundancy where line = {line_of(CODES, mark)} and kind = 'store'")
    # program() has nothing else to do, so it is its call that need not be made, and the line is evidence for that
    assert found["severity"] == "high" or mark == "program" and "evidence for the finding of codes.py" in found["evidence"]
    assert (found["kind"], found["category"], found["again"]) == ("store", "repeated native calls", "computed again")
    assert f"{row['carried']} made code of text that had been made into code before" in found["evidence"]
    assert "compile()" in found["advice"]
    assert 0.6 < found["wasted_s"] <= 2.2 and found["wasted_s_low"] < found["wasted_s"] < found["wasted_s_high"]


def test_other_text_and_code_objects_are_no_waste(codes):
    (row,) = codes.sql(f"select * from passed where line = {line_of(CODES, 'others')} and kind = 4")
    assert row["calls"] >= 50 and row["carried"] == 0
    assert codes.sql(f"select * from passed where line = {line_of(CODES, 'codes')}") == []
    for mark in ("others", "codes"):
        assert codes.sql(f"select * from v_redundancy where line = {line_of(CODES, mark)} and severity = 'high'") == [], mark


def test_code_that_reads_what_its_names_stand_for(pieprof, tmp_path):
    """It is run with the same arguments each time, and says the same of a million numbers."""
    done = profile(tmp_path / "a.db", RULES, 2, options=("--overhead", "0"))
    assert done.truth["checked"] == done.truth["passed"] >= 100000
    (row,) = done.sql(f"select * from windowed where line = {line_of(RULES, 'rule')} and callee = 'eval'")
    assert row["calls"] >= 100 and row["compared"] == row["again"] == 0
    found = done.sql(f"select * from v_redundancy where line = {line_of(RULES, 'rule')}")
    assert not [row for row in found if row["category"] in INVARIANT or "were made before" in row["evidence"]]


def test_the_program_does_not_notice(pieprof, tmp_path):
    """Its tracers, exceptions, generators, recursion, threads and children are as without windows."""
    odd = profile(tmp_path / "a.db", TRUTH / "redundancy" / "windows_odd.py", 2, options=("--overhead", "0"))
    assert "as it was" in odd.completed.stdout
    (row,) = odd.sql("select sum(calls) as calls from windowed")
    assert row["calls"] >= 100


@pytest.mark.skipif(python_minor() < 12, reason="this Python has no sys.monitoring")
def test_tools_of_the_program(pieprof, tmp_path):
    """A window has a tool of sys.monitoring. The program finds it nowhere, and no event of its own gets lost."""
    tools = profile(tmp_path / "a.db", TRUTH / "redundancy" / "windows_tools.py", 3, options=("--overhead", "0"))
    assert "as it was" in tools.completed.stdout
    (row,) = tools.sql("select sum(calls) as calls from windowed")
    assert row["calls"] >= 100
