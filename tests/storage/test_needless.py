# SPDX-License-Identifier: Apache-2.0
"""Needless copies, on the known program of fixture_memory.c: keep.py:7 copies 900 MB that are no loop's, in node 4."""

import pytest
from conftest import changer, make, rows

NEEDLESS, WRITTEN, PART, UNSURE, OPEN, REWRITTEN = range(1, 7)
MB = 1000000


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    return make(tmp_path_factory.mktemp("needless"), 1, 0, 1)


@pytest.fixture
def changed(memory, tmp_path):
    return changer(memory, tmp_path)


def found(changed, *ends):
    """The row of keep.py:7, whose copies ended in these ways: (outcome, copies) ..."""
    values = ", ".join(f"((SELECT min(process) FROM copy WHERE node = 7), 4, {outcome}, {copies}, {copies})" for outcome, copies in ends)
    (row,) = rows(changed(f"INSERT INTO copy_end (process, node, outcome, copies, bytes) VALUES {values}"), "needless copies")
    return row


def wilson(k, n):
    z2 = 3.841458820694124
    p, h = k / n, z2 / n
    half = (h * p * (1 - p) + h * h / 4)**0.5
    return (p + h / 2 - half) / (1 + h), (p + h / 2 + half) / (1 + h)


def test_nothing_was_followed(memory):
    assert rows(memory, "needless copies") == []


def test_the_figures_of_a_line(changed):
    row = found(changed, (NEEDLESS, 12), (UNSURE, 60), (WRITTEN, 8))
    assert (row["rank"], row["file"].rpartition("/")[2], row["line"], row["copies"], row["watched"]) == (1, "keep.py", 7, 80, 12)
    assert row["needless_share"] == pytest.approx(0.9)
    assert (row["needless_low"], row["needless_high"]) == pytest.approx(wilson(72, 80))
    assert row["bytes"] == pytest.approx(0.9 * 950 * MB)  # of the context, its loops included
    assert row["verdict"] == "needless" and row["cpu_s"] > 0 and 0 < row["cpu_share"] < 1


@pytest.mark.parametrize("ends, verdict", [
    ([(NEEDLESS, 20)], "needless"),
    ([(NEEDLESS, 8), (UNSURE, 12)], "needless"),
    ([(NEEDLESS, 19)], "undecided"),               # too few
    ([(NEEDLESS, 7), (UNSURE, 93)], "undecided"),  # too few with a register
    ([(NEEDLESS, 16), (WRITTEN, 4)], "undecided"),
    ([(NEEDLESS, 20), (OPEN, 20)], "undecided"),   # what is not known counts as needed
    ([(NEEDLESS, 1), (PART, 30)], "needed"),
    ([(WRITTEN, 20)], "needed"),
    ([(WRITTEN, 3)], "undecided"),
])
def test_the_verdict(changed, ends, verdict):
    assert found(changed, *ends)["verdict"] == verdict


def test_writes_that_do_not_show_count_twice(changed):
    """A register on one of two sees half of them."""
    row = found(changed, (NEEDLESS, 30), (REWRITTEN, 10), (UNSURE, 40))
    assert row["needless_share"] == pytest.approx(80 * 0.5 / 80)


def test_a_line_whose_equal_copies_are_all_rewritten_is_needed(changed):
    row = found(changed, (NEEDLESS, 20), (REWRITTEN, 20), (UNSURE, 60))
    assert (row["needless_share"], row["verdict"]) == (0, "needed")
