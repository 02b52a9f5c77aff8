# SPDX-License-Identifier: Apache-2.0
"""Counted windows: what cannot be read is known by the text that it was made of, and a choice by what it looks at."""

import pytest

from helpers import TRUTH, line_of, profile, python_abi

PROGRAM = TRUTH / "redundancy" / "windows_made.py"
CPU_SECONDS = 1
pytestmark = pytest.mark.skipif(python_abi().endswith("t"), reason="no windows without the GIL")


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("made") / "a.db", PROGRAM, CPU_SECONDS, options=("--overhead", "0"))


def counted(done, mark, table="windowed", callee="ZipFile"):
    (row,) = done.sql(f"select * from {table} where line = {line_of(PROGRAM, mark)} and callee = '{callee}'")
    print(mark, row)
    return row


def test_what_was_made_of_the_same_text_is_the_same(done):
    row = counted(done, "made")
    assert row["calls"] >= 30 and row["compared"] == row["calls"]
    assert row["distinct_args"] == 1 and row["alike"] == row["same"] == row["calls"] - 1


def test_what_was_made_of_other_text_is_not(done):
    row = counted(done, "various")
    assert row["calls"] >= 30 and row["compared"] == row["calls"]
    assert row["distinct_args"] >= row["calls"] - 5


def test_what_others_hold_may_have_changed(done):
    assert counted(done, "held")["compared"] == 0


def test_a_choice_among_items_of_which_few_have_changed(done):
    row = counted(done, "chosen", "passed", "min")
    assert row["kind"] == 10 and row["items"] == 400 * row["calls"]
    assert row["carried"] >= 0.9 * row["calls"] - 10  # the first of a window is the exception
    (found,) = [f for f in done.sql("select * from v_redundancy where severity = 'high'")
                if f["line"] == line_of(PROGRAM, "chosen")]
    assert found["category"] == "inefficient algorithm" and "heapq" in found["advice"]


@pytest.mark.parametrize("mark", ("renewed", "resting"))
def test_items_that_are_all_new_and_all_the_same_are_no_such_choice(done, mark):
    row = counted(done, mark, "passed", "max")
    assert row["calls"] >= 4 and row["carried"] == 0
