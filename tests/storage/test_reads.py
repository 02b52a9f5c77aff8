# SPDX-License-Identifier: Apache-2.0
"""Lists that are searched, and calls that read all that was there again: on changed rows of fixture_waste.c. Line 10
takes 1.5 of the run's 12.4 CPU seconds."""

import pytest
from conftest import changer, make, rows

SEARCH, ARGUMENT, SORT = 1, 2, 3
NS = 1_400_000_000


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("reads"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def reading(kind, cpu_ns=NS, same=0, rises=90, others=10, lower_ns=NS // 4, upper_ns=3 * NS // 4, items=100_000):
    return ("INSERT INTO reading (process, node, kind, samples, cpu_ns, cpu_sq_ns2, same, rises, others, lower_ns, upper_ns, "
            f"sum_size, max_size) SELECT DISTINCT process, 210, {kind}, 101, {cpu_ns}, 1e15, {same}, {rises}, {others}, {lower_ns}, "
            f"{upper_ns}, {items}, 2400 FROM watch WHERE first_node = 210")


def told(program):
    return [r for r in rows(program, "top 1000 redundancy") if r["again"] == "read again"]


def of_line(program):
    return [r for r in rows(program, "top 1000 redundancy") if r["line"] == 10 and r["library"] is None]


def test_a_search_wastes_its_time(changed):
    (row,) = of_line(changed(reading(SEARCH)))
    assert (row["kind"], row["category"], row["severity"]) == ("load", "inefficient algorithm", "high")
    assert row["evidence"].startswith("each test reads up to 2400 items of one list, which grows, so twice the items")
    assert row["wasted_s"] == pytest.approx(1.4) and row["wasted_s_low"] == pytest.approx(0.8 * 1.4)
    assert row["advice"].startswith("keep the items in a set")


def test_a_list_that_does_not_grow(changed):
    (row,) = of_line(changed(reading(SEARCH, same=90, rises=0, lower_ns=0, upper_ns=0)))
    assert row["evidence"].startswith("each test reads up to 2400 items of one list; the tests take 1.4 of the line's 1.5 s")


def test_lists_that_change_are_searched_often(changed):
    """Half of the samples met the list of before, and a list takes 45 us for each of its items."""
    (row,) = of_line(changed(reading(SEARCH, rises=55, others=45)))
    assert (row["category"], row["severity"]) == ("inefficient algorithm", "high")


def test_a_growing_argument_wastes_the_line(changed):
    (row,) = of_line(changed(reading(ARGUMENT)))
    assert row["evidence"].startswith("each call reads all that was there again: its argument grew to 2.4 kB, and began as before "
                                      "in 90 of 100 comparisons")
    assert row["wasted_s"] == pytest.approx(1.5) and row["again_s"] == pytest.approx(1.4)
    assert "numpy.cumsum" in row["advice"], "by the library"


def test_a_list_that_is_sorted_again(changed):
    """That a sort reads all of it needs no proof."""
    (row,) = of_line(changed(reading(SORT, lower_ns=0, upper_ns=0)))
    assert "the list grew to 300 items, with the items of before in 90 of 100" in row["evidence"]
    assert "bisect.insort" in row["advice"]


@pytest.mark.parametrize("what, change", [
    ("too few samples", reading(SEARCH, rises=19, others=0)),
    ("another list in each test", reading(SEARCH, rises=45, others=55)),
    ("each list is searched a few times", reading(SEARCH, rises=70, others=30, items=5_000_000)),
    ("the line does more than search", reading(SEARCH, cpu_ns=NS * 3 // 4)),
    ("another argument", reading(ARGUMENT, rises=70, others=30)),
    ("longer ones take no longer", reading(ARGUMENT, lower_ns=NS // 2, upper_ns=NS // 2)),
    ("not known whether they do", reading(ARGUMENT, lower_ns=0, upper_ns=0)),
    ("of little weight", reading(ARGUMENT, cpu_ns=NS // 3)),
])
def test_what_is_not_told(changed, what, change):
    assert told(changed(change)) == [], what
