# SPDX-License-Identifier: Apache-2.0
"""What is advised depends on the library of the line, and what is not decided is said."""

import re

import pytest
from conftest import changer, make, rows


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("advice"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def advice(program):
    """(kind, line) of own code -> advice"""
    return {(r["kind"], r["line"]): r["advice"] for r in rows(program, "redundancy") if r["library"] is None}


@pytest.mark.parametrize("library, slices, calls", [
    ("numpy", "slices or whole arrays", "a ufunc"),
    ("pandas", ".to_numpy()", "masks, merge, groupby"),
    ("torch", "whole tensors", "a whole tensor"),
    ("jaxlib", "jax.vmap", "jax.jit"),
    ("Pillow", "numpy.asarray(image)", "numpy.asarray(image)"),
    ("scikit-learn", "all rows with one call", "all rows with one call"),
    ("pyarrow", ".to_pylist()", "pyarrow.compute"),
    ("Shapely", "STRtree", "prepare()"),
    ("lxml", "XPath", "XPath"),
    ("libsqlite3.so.0.8.6", "one call", "executemany()"),
    ("regex", "one call", "compile the pattern once"),
    ("something-else", "many elements with one call", "where the library has one"),
])
def test_advice_is_that_of_the_library(changed, library, slices, calls):
    program = changed(f"UPDATE module SET library = '{library}' WHERE library = 'numpy'")
    found = advice(program)
    assert slices in found["load", 6] and calls in found["load", 7]
    if library not in ("numpy", "pandas", "jaxlib", "Pillow"):
        assert "array" not in found["load", 7] or library == "Shapely", "none for arrays where there is none"
    assert "before the loop" in found["store", 8] and "only what changes" in found["store", 9]


def test_the_library_s_own_python_code_comes_before_the_native_code_below_it(changed):
    """Line 15 calls fastlib's Python code, which calls NumPy."""
    program = changed("UPDATE file SET library = 'pandas' WHERE library = 'Fast-Lib'")
    assert "masks, merge, groupby" in advice(program)["load", 15]
    assert "a ufunc" in advice(program)["load", 7]


def test_names_in_evidence_are_cut(changed):
    program = changed("UPDATE function SET name = printf('%.*c', 300, 'x') WHERE name = 'check_bounds'")
    evidence = next(r["evidence"] for r in rows(program, "redundancy") if (r["kind"], r["line"]) == ("load", 6))
    assert re.search(r"; read in x{79}…$", evidence)


def test_nothing_is_ever_said_to_be_no_waste(waste):
    assert all("nothing is wasted" not in r["advice"] for r in rows(waste, "redundancy"))


def test_a_question_that_is_advised_has_an_answer(changed):
    """Line 8 takes most of the run and has no watch; what the watches of line 11 say is not why."""
    program = changed("DELETE FROM watch WHERE first_node NOT IN (206, 210, 211, 212, 214)",
                      "UPDATE sample SET native_ns = 200000000, python_ns = 0",
                      "UPDATE sample SET native_ns = 4000000000 WHERE node = 208",
                      "UPDATE location SET is_in_loop = 0 WHERE line = 8",
                      "UPDATE function SET name = '<module>' WHERE id IN (SELECT function FROM location WHERE line = 8)")
    told = [row["advice"] for row in rows(program, "redundancy")]
    told += [row["what_to_do"] for row in rows(program, "select what_to_do from x_undecided_line")]
    asked = {question for text in told for question in re.findall('"([^"]+)"', text)}
    assert asked == {"call tree of waste.py:8", "pairs of waste.py:11"}
    for question in sorted(asked):
        answer = program("query", "a.db", question)
        assert answer.returncode == 0 and answer.text.count("\n") > 1, question
