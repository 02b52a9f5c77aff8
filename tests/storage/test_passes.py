# SPDX-License-Identifier: Apache-2.0
"""Whole re-reads of an array, and calls that give the same from some time on: on changed rows of fixture_waste.c.
Line 10 reads arrays: 70 of 76 watches found the same, in 1.5 of the run's 12.4 CPU seconds."""

import re

import pytest
from conftest import changer, make, rows

IN_LOOP, OF_ARGUMENT = 1, 64
CHANGED, RETURNED, ARGUMENTS = 2, 4, 16
ROUND_NS, ARRAY_BYTES = 1_000_000, 4_000_000
RERUN = "perhaps one pass does for all rounds"


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("passes"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def passes(array_bytes=ARRAY_BYTES, round_ns=ROUND_NS, line=10):
    """The loads of line 10's arrays are of the only array that its calls got."""
    return (f"UPDATE watch SET traits = {IN_LOOP + OF_ARGUMENT}, array_bytes = {array_bytes} * watches,"
            f" round_ns = {round_ns} * watches WHERE first_node = {200 + line} AND kind = 1 AND memory = 2")


def of_line(program, line=10, question="top 1000 redundancy"):
    return [r for r in rows(program, question) if r["line"] == line and r["library"] is None]


def test_passes_over_an_array_are_told_with_their_number_and_size(changed):
    (row,) = of_line(changed(passes()))
    assert (row["kind"], row["category"], row["severity"]) == ("load", "whole re-reads", "maybe")
    assert row["evidence"].startswith("1500 passes or more over the same 4 MB, which did not change: 70 of 76 words ")
    assert row["advice"].startswith(RERUN) and "numpy.bincount" in row["advice"]


def test_a_fast_processor_has_short_calls(changed):
    """4 MB take 60 us where 66 bytes are read in a ns, so half of the reads have 30 us left."""
    program = changed(passes(), "UPDATE OR REPLACE watch SET length = 1 WHERE first_node = 210")
    assert of_line(program)[0]["severity"] == "maybe"


def test_they_are_no_waste_and_come_before_reuse_only(changed):
    program = changed(passes())
    (row,) = of_line(program)
    assert row["wasted_s"] is None and row["wasted_share"] is None and row["again_s"] is None
    order = [r["severity"] for r in rows(program, "top 1000 redundancy")]
    assert order == sorted(order, key=["high", "low", "maybe", "reuse"].index) and order.count("maybe") == 1
    before = {r["function"]: r["wasted_s"] for r in rows(changed(), "top 1000 redundancy by function")}
    after = {r["function"]: r["wasted_s"] for r in rows(changed(passes()), "top 1000 redundancy by function")}
    assert after == before


@pytest.mark.parametrize("what, change", [
    ("too few passes", passes(round_ns=20_000_000)),
    ("too little data", passes(array_bytes=65_000)),
    ("no call reads so fast", passes(array_bytes=300_000_000)),
    ("not known", passes(array_bytes=0)),
    ("another line reads first", "UPDATE OR REPLACE watch SET second_node = 207 WHERE first_node = 210 AND second_node = 210"),
    ("it is read in short calls", "UPDATE OR REPLACE watch SET length = 0 WHERE first_node = 210"),
    ("most words change", "UPDATE watch SET watches = 5 WHERE first_node = 210 AND outcome = 1"),
    ("little of the run", "UPDATE sample SET native_ns = 400000000 WHERE node = 210"),
])
def test_what_does_not_show_it_is_not_told(changed, what, change):
    assert all(r["severity"] != "maybe" for r in of_line(changed(passes(), change))), what
    assert of_line(changed(passes()))[0]["severity"] == "maybe"


def test_a_line_with_a_high_finding_says_that_only(changed):
    """Line 8 computes the same in each round: a high finding of its stores."""
    found = of_line(changed(passes(line=8)), 8)
    assert [(r["kind"], r["severity"]) for r in found] == [("store", "high"), ("load", "reuse")]


def test_the_report_says_it_without_a_figure_of_waste(changed):
    text = changed(passes())("report", "a.db", "--all").text
    (entry,) = [part for part in re.split(r"\n(?=\d+\. )", text) if "whole re-reads" in part]
    assert "passes or more over the same 4 MB" in " ".join(entry.split()) and "wasted" not in entry


def settled(early, late, line=8):
    """The calls of a line, compared: the first slice has changed ones, later ones have the same."""
    values = (f"kind, {{outcome}}, {RETURNED}, {ARGUMENTS}, length, first_node, second_node, own_operation, inner_operation,"
              " {watches}, 800 * {watches}, 1e7 * {watches}, 1e14 * {watches}, 1000000 * {watches}, 5000 * {watches}, 0, 0")
    text = f" FROM watch WHERE first_node = {200 + line} AND kind = 2 AND outcome = 1 GROUP BY process"
    add = [f"INSERT INTO watch SELECT process, {slice_s}, " + values.format(outcome=outcome, watches=watches) + text
           for slice_s, outcome, watches in ([(s, CHANGED, n) for s, n in early] + [(s, 1, n) for s, n in late])]
    return ["UPDATE process SET slice_width_s = 1", *add]


def test_calls_that_give_the_same_from_some_time_on_have_converged(changed):
    (row,) = [r for r in of_line(changed(*settled([(0, 6), (1, 6), (2, 3)], [(2, 2), (3, 30), (4, 30)])), 8) if r["kind"] == "store"]
    assert row["category"] == "loop-invariant computation"
    assert "15 compared calls gave something else at first, but after 3 s of the run all 60 gave the same" in row["evidence"]
    assert row["advice"].startswith("stop the loop as soon as a round changes nothing")


@pytest.mark.parametrize("early, late", [
    ([(0, 9)], [(1, 30), (2, 30)]),                   # some calls to begin with: when it settled is not known
    ([(0, 6), (4, 1)], [(1, 30), (2, 30), (3, 30)]),  # the same, but not to the end
    ([(0, 6), (1, 6)], [(2, 5)]),                     # too little is known of what comes after
    ([(0, 3), (1, 3), (2, 3)], [(0, 30), (1, 30), (3, 30)]),  # other calls were the same from the beginning
])
def test_what_changes_now_and_then_has_not_converged(changed, early, late):
    found = of_line(changed(*settled(early, late)), 8)
    assert found and all("something else at first" not in r["evidence"] and "stop the loop" not in r["advice"] for r in found)


# Line 9 computes a part again, by what its writes say; it gets line 10's loads.
COSTLY_9 = "UPDATE sample SET native_ns = 2 * native_ns WHERE node = 209"
PASSES_OF_9 = (f"UPDATE OR REPLACE watch SET first_node = 209, second_node = 209, traits = {IN_LOOP + OF_ARGUMENT}, array_bytes = "
               f"{ARRAY_BYTES} * watches, round_ns = {ROUND_NS} * watches WHERE first_node = 210 AND kind = 1 AND memory = 2")


def test_results_that_are_nearly_the_same_do_not_prove_passes_to_be_repeated_work(changed):
    (before,) = of_line(changed(COSTLY_9), 9)
    assert (before["category"], before["severity"]) == ("inefficient algorithm", "high")
    assert [(r["category"], r["severity"]) for r in of_line(changed(COSTLY_9, PASSES_OF_9), 9)] == [
        ("inefficient algorithm", "low"), ("whole re-reads", "maybe")]


def test_the_same_arguments_prove_it(changed):
    again = f"UPDATE OR REPLACE watch SET memory = {RETURNED}, traits = {ARGUMENTS} WHERE first_node = 209 AND kind = 2 AND outcome = 1"
    gone = "DELETE FROM watch WHERE first_node = 209 AND outcome = 2"
    found = {r["severity"]: r["category"] for r in of_line(changed(again, gone, COSTLY_9, PASSES_OF_9), 9)}
    assert found["high"] in ("loop-invariant computation", "repeated native calls") and "maybe" not in found
