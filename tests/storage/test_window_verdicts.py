# SPDX-License-Identifier: Apache-2.0
"""What calls that a run itself counted in windows say of its findings: on changed rows of fixture_waste.c."""

import pytest
from conftest import changer, make
from test_verdict import REPEATED, findings

ARRAYS = "numpy.ndarray + numpy.ndarray"


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("windows"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def window(line, callee, calls, call_ns, compared=0, distinct=None, again=0, again_ns=0, singles=0, single_ns=0):
    """Of a line of waste.py."""
    distinct = calls if distinct is None else distinct
    return ("INSERT INTO windowed SELECT DISTINCT p.process, f.path, "
            f"{line}, '{callee}', 0, 1, {calls}, 0, {compared}, {distinct}, {distinct}, 0, 0, {again}, 0, {again}, {singles}, 0, 0, {call_ns}, "
            f"{again_ns}, 0, {single_ns}, 0 FROM watch p JOIN file f ON f.process = p.process AND f.path GLOB '*waste.py'")


@pytest.mark.parametrize("windows, severity", [
    ((window(10, ARRAYS, 100, 8e6), window(7, "f", 50, 2e6)), "low"),
    ((window(10, ARRAYS, 99, 8e6),), "high"),  # few operations
    ((window(10, ARRAYS, 100, 4e6), window(7, "f", 50, 6e6)), "high"),  # other calls take more time
    ((window(10, ARRAYS, 100, 8e6), window(7, "f", 50, 2e6, singles=50, single_ns=2e6)), "high"),  # some on single numbers
    ((window(10, "a[i] of numpy.ndarray", 100, 8e6, singles=100, single_ns=8e6),), "high"),
    ((window(19, ARRAYS, 100, 8e6),), "high"),  # in another function
])
def test_a_function_that_works_on_arrays_takes_no_single_elements(changed, windows, severity):
    row = findings(changed(*windows))["load", "waste.py", 6]
    assert row["severity"] == severity
    if severity == "low":
        assert "; but of the operations that were counted in its function, those on arrays took 80 % of the time, and those on " \
            "single elements 0 %" in row["evidence"]


@pytest.mark.parametrize("known_ns, again, again_ns, severity", [
    (4e6, 90, 3e6, "high"),
    (4e6, 40, 2e6, "low"),  # half of what is known
    (2e6, 90, 2e6, "low"),  # a fifth of the line's time is known
    (4e6, 11, 3e6, "low"),
])
def test_what_can_be_compared_decides(changed, known_ns, again, again_ns, severity):
    """Line 11, whose loads are undecided, calls f() with values and g() with objects."""
    row = findings(changed("UPDATE sample SET native_ns = 10 * native_ns WHERE node = 211", window(11, "f", 100, known_ns, compared=100, distinct=10, again=again, again_ns=again_ns),
                           window(11, "g", 100, 10e6 - known_ns)))["load", "waste.py", 11]
    assert row["severity"] == severity
    if severity == "high":
        assert row["category"] == "loop-invariant computation" != REPEATED
        assert row["evidence"].startswith("of 100 calls of f that were counted, 90 were made before: 10 different; ")
