# SPDX-License-Identifier: Apache-2.0
"""Calls of which a quicker one is known (known.sql): on rows of fixture_waste.c that are changed. Line 15 calls
crunch() of a library, in which it spends 1.0 of its 1.1 s."""

import pytest
from conftest import changer, make, rows
from test_calls_for_one import calling
from test_verdict import findings

SAMPLES = "UPDATE sample SET samples = 10 * samples"
ALONE = "DELETE FROM sample WHERE node NOT IN (SELECT id FROM node WHERE own_location = (SELECT own_location FROM node WHERE id = 215))"
UNSEEN = "DELETE FROM watch WHERE first_node = 215"


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("known"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def named(function, library):
    return (f"UPDATE function SET name = '{function}' WHERE name = 'crunch'",
            f"UPDATE file SET library = '{library}' WHERE library = 'Fast-Lib'")


def at_line_15(program):
    return next(row for (_, _, line), row in findings(program).items() if line == 15)


@pytest.mark.parametrize("function, library, category, advice", [
    ("convolve", "numpy", "inefficient algorithm", "fftconvolve"),
    ("cdist", "scipy", "inefficient algorithm", "cKDTree"),
    ("literal_eval", "python", "API misuse", "json.loads"),
    ("Rolling.apply", "pandas", "API misuse", "rolling sums"),
])
def test_a_line_without_evidence_is_named_by_the_call_it_is_in(changed, function, library, category, advice):
    row = at_line_15(changed(SAMPLES, ALONE, UNSEEN, *named(function, library)))
    assert (row["category"], row["severity"]) == (category, "low")
    assert row["evidence"].startswith(f"91 % of its time is in {function}() of {library}, for which there often is a quicker way; ")
    assert advice in row["advice"] and row["again"] == "if a quicker call takes half the time"
    assert row["is_known"] == 1
    assert (row["wasted_s"], row["wasted_s_low"], row["wasted_s_high"]) == (
        pytest.approx(0.5), 0, pytest.approx(1.1)), "half of the call, which is the run: nobody knows how much"


def test_a_function_that_calls_one_for_each_row_is_named(changed):
    """Its own time is little: that of the function that it was given is most."""
    row = at_line_15(changed(*calling("apply_along_axis", "median"), named("", "numpy")[1], SAMPLES, ALONE, UNSEEN))
    assert (row["category"], row["severity"]) == ("API misuse", "low") and "with an axis" in row["advice"]


@pytest.mark.parametrize("function, library", [("convolve", "pandas"), ("convolve2", "numpy"), ("crunch", "numpy")])
def test_other_functions_say_nothing(changed, function, library):
    row = at_line_15(changed(SAMPLES, ALONE, UNSEEN, *named(function, library)))
    assert "quicker" not in row["evidence"] and row["category"] == "undecided"


def test_few_samples_say_nothing(changed):
    few = "UPDATE sample SET samples = 1"
    assert at_line_15(changed(few, ALONE, UNSEEN, *named("convolve", "numpy")))["category"] == "undecided"


def test_what_watches_decide_stays(changed):
    """Line 15 is API misuse and high by its watches."""
    row = at_line_15(changed(SAMPLES, *named("convolve", "numpy")))
    assert (row["category"], row["severity"]) == ("API misuse", "high") and "quicker" not in row["evidence"]


def test_the_summary_names_the_call_and_what_to_try(changed):
    program = changed(SAMPLES, ALONE, "DELETE FROM watch", *named("convolve", "numpy"),
                      "INSERT INTO watch SELECT id, 9, 1, 2, 1, 0, 2, 6, 6, 3, 3, 40, 320, 1e6, 1e12, 800, 0, 0, 0 FROM process")
    text = program("query", program.db, "summary").text
    assert "waste.py:15 takes" in text and "in convolve() of numpy, for which there often is a quicker way" in text.replace("\n    ", " ")
    assert "scipy.signal.fftconvolve" in text


def test_library_functions_have_the_time_of_own_lines_that_used_them(waste):
    found = rows(waste, "select u.name, l.line, c.python_ns + c.native_ns + c.system_ns as ns from x_call_time c"
                 " join function u on u.process = c.process and u.id = c.function"
                 " join location l on l.process = c.process and l.id = c.location"
                 " where c.process = (select max(id) from process) and c.kind = 6")
    assert {(row["name"], row["line"]): row["ns"] for row in found} == {("crunch", 15): 1e9}
