# SPDX-License-Identifier: Apache-2.0
"""Evidence that another draw of samples would give as well: on rows of fixture_waste.c that are changed."""

import pytest
from conftest import changer, make
from test_calls_for_one import BULK, library, nothing_at, own_calls, watches
from test_verdict import CHANGED, FIRST_SEEN, INVARIANT, REPEATED, SAME, SAMPLED, SEEN_BEFORE, STORE, findings

ARRAY = 3
PARTIAL = "inefficient algorithm"


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("margins"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


@pytest.mark.parametrize("same, others, category", [(10, 14, "undecided"), (40, 56, PARTIAL)])
def test_stores_that_are_partly_the_same_need_a_lower_end(changed, same, others, category):
    """10 of 24 is 0.24 at least, 40 of 96 is 0.32."""
    bulk = [watches(209, count, outcome, STORE, ARRAY, BULK) for count, outcome in ((same, SAME), (others, CHANGED))]
    row = findings(changed("DELETE FROM watch", *bulk))["store", "waste.py", 9]
    assert row["category"] == category, row["evidence"]


# Of the stores of line 15, which takes 1.1 s, a third are the same, in memory of the standard library's.
STORES = [nothing_at(15), library("python"), watches(215, 6, SAME, STORE, 0), watches(215, 12, CHANGED, STORE, 0)]


def long_calls(same, others):
    """Of the same, the arguments were looked at in part; what differs, differs for certain."""
    return [own_calls(SAME, same, SAMPLED | SEEN_BEFORE), own_calls(CHANGED, others)]


@pytest.mark.parametrize("same, others, category", [(18, 4, INVARIANT), (32, 10, REPEATED)])
def test_most_calls_with_the_same_long_arguments_decide(changed, same, others, category):
    row = findings(changed(*STORES, *long_calls(same, others)))["store", "waste.py", 15]
    assert (row["category"], row["severity"]) == (category, "high"), row["evidence"]
    assert row["wasted_s"] == pytest.approx(1.1 * same / (same + others))
    assert "the arguments decide, since most calls had those of another one" in row["evidence"]


@pytest.mark.parametrize("same, others", [(14, 7), (8, 2)])
def test_they_do_not_where_half_may_differ_or_few_were_compared(changed, same, others):
    row = findings(changed(*STORES, *long_calls(same, others)))["store", "waste.py", 15]
    assert (row["category"], row["severity"]) == ("undecided", "low")


@pytest.mark.parametrize("same, others, severity", [(3, 0, "high"), (2, 0, "low"), (4, 1, "low")])
def test_three_calls_are_enough_if_none_differs(changed, same, others, severity):
    asked = [own_calls(outcome, count, traits) for outcome, count, traits in
             ((SAME, same, SEEN_BEFORE), (CHANGED, others, FIRST_SEEN)) if count]
    longer = "UPDATE sample SET native_ns = native_ns + 4000000000 WHERE node = 15"
    row = findings(changed(nothing_at(15), library("python"), longer, *asked))["store", "waste.py", 15]
    assert row["severity"] == severity, row["evidence"]
