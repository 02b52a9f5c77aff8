# SPDX-License-Identifier: Apache-2.0
"""Calls that come again in turns, long calls, and calls on long arrays: on rows of fixture_waste.c that are changed.
Line 15 takes 1.1 s of CPU time; its calls are its own, for which Python code of a library is at work."""

import pytest
from conftest import changer, make
from test_calls_for_one import BULK, ITEM, MISUSE, SLICE, library, nothing_at, own_calls, watches
from test_verdict import CHANGED, OUTER, REPEATED, SAME, SEEN_BEFORE, findings

WEAK_AND_NEW = 256 + 128


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("comeback"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def lasting(microseconds):
    return f"UPDATE watch SET length_ns = {1000 * microseconds} * watches WHERE traits & {OUTER}"


def compared(again, others, microseconds, traits=SEEN_BEFORE):
    """Line 15 has these calls only."""
    return [nothing_at(15), library("python"), own_calls(SAME, again, traits), own_calls(CHANGED, others),
            lasting(microseconds)]


def test_few_calls_that_met_remembered_ones_tell_that_all_take_turns(changed):
    """Draws of 40 calls met a remembered one 4 times: 752 pairs / 4 = 188 kinds, of 36,667 calls."""
    row = findings(changed(*compared(4, 36, 30)))["store", "waste.py", 15]
    assert (row["category"], row["severity"]) == (REPEATED, "high")
    assert row["wasted_s"] == pytest.approx(1.1 * (1 - 188 / 36667), abs=1e-4)
    assert row["wasted_s_low"] == pytest.approx(0.8 * 1.1 * (1 - 483 / 36667), abs=1e-3)
    assert "of about 3.7e+04 calls some 1.9e+02 are different, 4.8e+02 at most" in row["evidence"]


@pytest.mark.parametrize("again, microseconds, traits, more", [
    (2, 30, SEEN_BEFORE, []),  # may be an accident
    (4, 15, SEEN_BEFORE, []),  # no dearer than to look a result up
    (4, 30, SEEN_BEFORE | WEAK_AND_NEW, []),  # random numbers come again, too
    (4, 2000, SEEN_BEFORE, []),  # 550 calls may be of 483 kinds
    (4, 30, SEEN_BEFORE, [f"UPDATE watch SET own_operation = own_operation & 15 WHERE traits & {OUTER}"]),  # a cache's
])
def test_they_do_not_tell_it_where(changed, again, microseconds, traits, more):
    found = findings(changed(*compared(again, 40 - again, microseconds, traits), *more))
    row = found["store", "waste.py", 15]
    assert row["severity"] == "low" and row["wasted_s"] < 0.15


@pytest.mark.parametrize("microseconds, severity", [(60, "high"), (40, "low")])
def test_long_calls_of_the_standard_library_are_worth_keeping_though_others_take_turns(changed, microseconds, severity):
    row = findings(changed(*compared(12, 8, microseconds)))["store", "waste.py", 15]
    assert row["severity"] == severity
    assert severity == "low" or row["category"] == REPEATED


@pytest.mark.parametrize("bulk, operation, category, severity", [
    (20, {}, MISUSE, "high"), (40, {}, MISUSE, "low"), (40, {"operation": ITEM}, SLICE, "high"),
])
def test_a_call_for_all_would_do_the_bulk_work_too(changed, bulk, operation, category, severity):
    program = changed("DELETE FROM watch", watches(207, 40, **operation), watches(207, bulk, traits=BULK, **operation))
    row = findings(program)["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == (category, severity)
