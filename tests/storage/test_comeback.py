# SPDX-License-Identifier: Apache-2.0
"""Long calls, and calls on long arrays: on rows of fixture_waste.c that are changed.
Line 15 takes 1.1 s of CPU time; its calls are its own, for which Python code of a library is at work."""

import pytest
from conftest import changer, make
from test_calls_for_one import BULK, ITEM, MISUSE, SLICE, library, nothing_at, own_calls, watches
from test_verdict import CHANGED, OUTER, REPEATED, SAME, SEEN_BEFORE, findings


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
