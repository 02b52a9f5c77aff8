# SPDX-License-Identifier: Apache-2.0
"""Verdicts on findings by what a second run counted. The rows are made up, beside the findings of fixture_waste.c;
views/confirm.sql has the thresholds."""

import pytest
from conftest import changer, make, rows

NAMES = ("process, file, line, callee, is_item, is_whole, has_more, calls, raised, compared, distinct_args, distinct_results, "
         "again, alike, singles, call_ns, again_ns, alike_ns, single_ns, run_ns, bulk_ns, grew, arg_bytes")
SECOND = 10**9


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("waste"), 1, 2)


@pytest.fixture(scope="module")
def judged(waste, tmp_path_factory):
    """A function: rows of counted at the line of a category's worst finding -> that finding."""
    found = {}
    for row in rows(waste, "top 1000 redundancy"):
        if row["severity"] != "reuse" and row["library"] is None:
            found.setdefault(row["category"], row)
    change = changer(waste, tmp_path_factory.mktemp("judged"))

    def judge(category, *counted):
        place = found[category]
        values = [", ".join(map(str, numbers(**one))) for one in counted] or [", ".join(map(str, numbers(callee="", calls=0)))]
        copy = change(*(f"INSERT INTO counted ({NAMES}) SELECT min(id), '{place['file']}', {place['line']}, {value} FROM process "
                        "WHERE run = (SELECT max(id) FROM run)" for value in values))
        judge.copy = copy
        answer = rows(copy, "top 1000 redundancy")
        (row,) = [r for r in answer if (r["file"], r["line"], r["kind"]) == (place["file"], place["line"], place["kind"])
                  and r["category"] == category]
        return row, answer

    return judge


def numbers(callee="f", calls=1000, again=0, alike=0, singles=0, compared=None, is_item=0, is_whole=1, has_more=0, distinct=1,
            again_s=0.0, alike_s=0.0, single_s=0.0, call_s=1.0, bulk_s=0.0):
    compared = calls if compared is None else compared
    return [f"'{callee}'", is_item, is_whole, has_more, calls, 0, compared, distinct, distinct, again, alike, singles,
            *(int(s * SECOND) for s in (call_s, again_s, alike_s, single_s)), 3 * SECOND,
            int(bulk_s * SECOND), 0, 0]


def test_without_a_second_run_nothing_is_said(waste):
    for row in rows(waste, "redundancy") + rows(waste, "redundancy by function"):
        assert (row["verdict"], row["facts"], row["gain_s"]) == (None, None, None)


@pytest.mark.parametrize("category, counted, verdict", [
    ("loop-invariant computation", {"again": 999, "again_s": 0.5}, "confirmed"),
    ("loop-invariant computation", {"again": 999, "again_s": 0.49}, "undecided"),
    ("loop-invariant computation", {"again": 1, "again_s": 0.9}, "undecided"),
    ("loop-invariant computation", {"again": 9, "again_s": 0.05}, "refuted"),
    ("loop-invariant computation", {"alike": 9, "alike_s": 0.06}, "undecided"),
    ("loop-invariant computation", {"compared": 949}, "undecided"),
    ("loop-invariant computation", {"compared": 950}, "refuted"),
    ("loop-invariant computation", {"is_whole": 0}, "undecided"),
    ("loop-invariant computation", {"has_more": 1}, "undecided"),
    ("loop-invariant computation", {"callee": "", "calls": 0}, "undecided"),
    ("slice underutilization", {"is_item": 1, "singles": 1000, "single_s": 0.5}, "confirmed"),
    ("slice underutilization", {"is_item": 1, "singles": 999, "single_s": 1.0}, "refuted"),
    ("slice underutilization", {"is_item": 1, "singles": 1000, "single_s": 0.49}, "undecided"),
    ("slice underutilization", {"is_item": 1, "singles": 1000, "single_s": 0.05}, "refuted"),
    ("slice underutilization", {"calls": 1001}, "undecided"),
    ("slice underutilization", {"calls": 1001, "bulk_s": 0.5}, "refuted"),
    ("API misuse", {"singles": 1000, "single_s": 0.9}, "confirmed"),
    ("API misuse", {}, "undecided"),
    ("API misuse", {"bulk_s": 0.49}, "undecided"),
    ("API misuse", {"bulk_s": 0.5}, "refuted"),
    ("API misuse", {"calls": 1}, "refuted"),
    ("inefficient algorithm", {}, "undecided"),
    ("inefficient algorithm", {"again": 999, "again_s": 0.9}, "confirmed"),
])
def test_thresholds(judged, category, counted, verdict):
    row, _ = judged(category, counted)
    assert row["verdict"] == verdict, row["facts"]


@pytest.mark.parametrize("compared, words", [
    (1000, "7 distinct arguments"), (0, "arguments known only as objects"),
    (999, "arguments of 1 % known only as objects"), (400, "arguments of 60 % known only as objects")])  # fmt: skip
def test_objects_are_no_distinct_arguments(judged, compared, words):
    row, _ = judged("loop-invariant computation", {"distinct": 7, "compared": compared})
    assert row["facts"].startswith(f"f: 1 000 calls, {words}, 0 of 1 s computed again")


def test_words(judged):
    row, _ = judged("loop-invariant computation", {"callee": "numpy.cos", "calls": 200_000, "again": 199_999, "again_s": 1.93,
                                                   "call_s": 2.1})
    assert row["facts"] == "numpy.cos: 200 000 calls, 1 distinct argument, 1.93 of 2.1 s computed again"
    row, _ = judged("loop-invariant computation", {"callee": "f", "calls": 2, "distinct": 2}, {"callee": "g", "call_s": 0.5})
    assert row["facts"] == "f: 2 calls, 2 distinct arguments, 0 of 1 s computed again; 1 other callee, 1.5 s with it"
    row, _ = judged("loop-invariant computation", {"callee": 95 * "ü"})
    assert row["facts"].startswith(79 * "ü" + "…: 1 000 calls")
    row, _ = judged("inefficient algorithm", {})
    assert row["facts"].endswith("; counting calls cannot confirm this category")
    row, _ = judged("loop-invariant computation", {"compared": 250})
    assert row["facts"].endswith("; 75 % of the calls could not be compared by value")
    row, _ = judged("API misuse", {})
    assert row["facts"].endswith("; these take or give more than one number: whether one call could do for many is not counted")


@pytest.mark.parametrize("item_s, call_s, first", [(0.5, 0.5, "a[i]"), (0.06, 0.94, "a[i]"), (0.04, 0.96, "pmf"), (1.0, 0.0, "a[i]")])
def test_what_takes_next_to_no_time_is_not_the_fact(judged, item_s, call_s, first):
    """table[i, j] = pmf(i), and a call of g() for one number that takes no time either"""
    item = {"callee": "a[i]", "is_item": 1, "singles": 1000, "call_s": item_s, "single_s": item_s}
    number = {"callee": "g", "singles": 1000, "call_s": 0.0005, "single_s": 0.0005}
    row, _ = judged("API misuse", item, {"callee": "pmf", "call_s": call_s}, number)
    assert row["facts"].startswith(f"{first}: 1 000 "), row["facts"]
    assert "; 2 other callees, 1 s with it" in row["facts"]
    assert row["facts"].endswith("; these take or give more than one number: whether one call could do for many is not counted") == (
        first == "pmf")


@pytest.mark.parametrize("again_s, first", [(0.04, "sum"), (0.06, "int")])
def test_what_little_was_computed_again_is_not_the_fact(judged, again_s, first):
    """int(values.sum()): a few of the sums are the same number, of which int() makes the same again."""
    row, _ = judged("undecided", {"callee": "int", "again": 300, "again_s": again_s, "call_s": 0.1}, {"callee": "sum", "call_s": 0.9})
    assert row["facts"].startswith(f"{first}: 1 000 calls")


def test_the_confirmed_lead_and_the_refuted_are_never_high(judged):
    row, answer = judged("inefficient algorithm", {"again": 999, "again_s": 0.9})
    assert row["rank"] == 1 and row["severity"] == "high"
    assert [r["rank"] for r in answer] == list(range(1, len(answer) + 1))
    row, answer = judged("loop-invariant computation", {})
    assert row["severity"] == "low" and all(r["rank"] < row["rank"] for r in answer if r["severity"] == "high")


@pytest.mark.parametrize("counted, verdict, severity", [
    ({"again": 999, "again_s": 0.9}, "confirmed", "high"), ({}, "refuted", "low")])
def test_a_function_has_the_verdict_of_its_worst_line(judged, counted, verdict, severity):
    line, _ = judged("repeated native calls", counted)
    (row,) = [r for r in rows(judged.copy, "redundancy by function") if (r["function"], r["kind"]) == ("rotate", "store")]
    assert (row["worst_line"], row["verdict"], row["severity"]) == (line["line"], verdict, severity)
    assert (row["facts"], row["gain_s"]) == (line["facts"], line["gain_s"])


def test_where_a_line_is_refuted_another_is_the_worst(judged):
    line, _ = judged("loop-invariant computation", {})
    (row,) = [r for r in rows(judged.copy, "redundancy by function") if (r["function"], r["kind"]) == ("work", "store")]
    assert line["verdict"] == "refuted" and row["worst_line"] != line["line"]
    assert row["verdict"] is None and row["evidence"].endswith("; the function's verdict is that of its loads")


def test_the_gain_holds_the_calls_and_their_part_of_the_line(judged):
    row, _ = judged("loop-invariant computation", {"again": 500, "again_s": 0.5, "alike_s": 0.1, "alike": 100})
    assert row["gain_s"] == pytest.approx(max(0.6, 0.6 * row["cpu_s"]))


def test_many_short_calls_of_before_beside_a_long_new_one_gain_their_time_only(judged):
    row, _ = judged("loop-invariant computation", {"callee": "len", "again": 9999, "calls": 10_000, "again_s": 0.01, "call_s": 0.01},
                    {"callee": "solve", "calls": 100, "distinct": 100, "call_s": 0.09})
    assert row["gain_s"] == pytest.approx(0.1 * row["cpu_s"])


def test_calls_that_are_alike_in_one_that_comes_again_count_once(judged):
    """f() is called within all(...) at the same line; all of that comes again."""
    row, _ = judged("loop-invariant computation", {"callee": "all", "calls": 10, "again": 9, "again_s": 0.8, "call_s": 0.2},
                    {"callee": "f", "alike": 990, "alike_s": 0.7, "call_s": 0.8, "compared": 0})
    assert row["verdict"] == "confirmed" and row["facts"].startswith("all: 10 calls, 1 distinct argument, 0.8 of 0.8 s computed again;")
    assert row["gain_s"] == pytest.approx(max(1.0, row["cpu_s"]))


def test_the_bound_is_the_time_of_the_whole_function(judged):
    row, _ = judged("repeated native calls", {"again": 999, "again_s": 0.9})
    [sums] = rows(judged.copy, "select sum(s.python_ns + s.native_ns + s.system_ns) as ns, sum(s.cpu_sq_ns2) as sq from sample s join "
                  "node n on n.process = s.process and n.id = s.node join location l on l.process = n.process and "
                  "l.id = n.own_location join function u on u.process = l.process and u.id = l.function join process p on "
                  "p.id = s.process where p.run = (select max(id) from run) and u.name = 'rotate'")
    assert row["gain_within"] == "rotate" and sums["ns"] > 2 * 0.7 * SECOND  # with its other lines
    assert row["gain_most_s"] == pytest.approx(1.15 * (sums["ns"] + 1.96 * sums["sq"] ** 0.5) / SECOND, rel=1e-3)
    assert row["gain_s"] < row["gain_most_s"]
