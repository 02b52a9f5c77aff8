# SPDX-License-Identifier: Apache-2.0
"""`… in X`: what X may be, and that an answer has what the summary names, on the known profiles of the fixtures."""

import json

import pytest
from conftest import changer, make, rows


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """The run of fixture_memory.c."""
    return make(tmp_path_factory.mktemp("memory"), 0, 0, 1)


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("waste"), 0, 1)


def lines(found):
    return [(r["file"].rpartition("/")[2], r["line"], pytest.approx(r["cpu_s"])) for r in found]


WORK = [("app.py", 6, 0.6), ("app.py", 5, 0.05)]
MAIN = [("app.py", 11, 0.3), ("app.py", 10, 0.05)]


@pytest.mark.parametrize("place, expected", [
    ("app.py", [WORK[0], MAIN[0], MAIN[1], WORK[1]]),      # its calls into the library are reported at its own line
    ("src/app.py", [WORK[0], MAIN[0], MAIN[1], WORK[1]]),
    ("src", [WORK[0], ("core.py", 2, 0.3), MAIN[1], WORK[1]]),
    ("folder src", [WORK[0], ("core.py", 2, 0.3), MAIN[1], WORK[1]]),
    ("core.py", [("core.py", 2, 0.3)]),
    ("fastlib/core.py", [("core.py", 2, 0.3)]),
    ("app.py:11", [MAIN[0]]),
    ("work", WORK),
    ("function main()", MAIN),
    ("Fast-Lib", [("core.py", 2, 0.3)]),
    ("library fast_lib", [("core.py", 2, 0.3)]),
    ("sort", [("core.py", 2, 0.25)]),                       # native
    ("thread 1", [WORK[0], ("core.py", 2, 0.3), WORK[1], MAIN[1]]),
    ("MainThread", [WORK[0], ("core.py", 2, 0.3), WORK[1], MAIN[1]]),
    ("4002", [("app.py", 10, 0)]),                          # a tid
])
def test_hot_lines(program, place, expected):
    found = rows(program, f"hot lines in {place}")
    assert lines(found) == [(file, line, pytest.approx(cpu)) for file, line, cpu in expected]
    assert all(r["cpu_share"] == pytest.approx(r["cpu_s"]) for r in found), "of the run's second"


def test_the_whole_path_is_a_place(program):
    assert len(rows(program, f"hot lines in {program.folder}/src/app.py")) == 4
    assert len(rows(program, f"hot lines in {program.folder}/src")) == 4
    assert len(rows(program, "hot lines in /")) == 4


@pytest.mark.parametrize("question, expected", [
    ("hot functions in app.py", ["work", "main"]),
    ("native functions in app.py", ["compare", "sort"]),
    ("native functions in work", []),
    ("own lines in Fast-Lib", ["main"]),
    ("call tree in core.py", ["<module>", "main", "crunch", "sort", "compare"]),
])
def test_functions(program, question, expected):
    assert [r["function"] for r in rows(program, question)] == expected


def test_other_subjects_of_time(program):
    assert [(r["library"], r["cpu_s"]) for r in rows(program, "libraries in app.py")] == [("Fast-Lib", pytest.approx(0.3))]
    assert [(r["name"], r["cpu_s"], r["cpu_share"]) for r in rows(program, "threads in work")] == [
        ("MainThread", pytest.approx(0.65), pytest.approx(0.65))]
    [root, main] = rows(program, "call tree in app.py:10")[:2]
    assert (root["function"], main["total_s"], main["total_share"]) == ("<module>", pytest.approx(0.05), pytest.approx(0.05))


def test_a_thread_has_waited_elsewhere(program, tmp_path):
    """What a thread's row says of all that it did is none of the place's."""
    copy = changer(program, tmp_path)(
        "UPDATE thread SET wait_ns = 9e9, runnable_ns = 8e9, throttled_ns = 7e9",
        "UPDATE sample SET wait_ns = 3e8, runnable_ns = 2e8, throttled_ns = 1e8 WHERE process = 2 AND node = 5 AND slice_s = 1")
    keys = ("wait_s", "runnable_s", "throttled_s")
    assert [[r[key] for key in keys] for r in rows(copy, "threads in work")] == [pytest.approx([0.3, 0.2, 0.1])]
    assert [[r[key] for key in keys] for r in rows(copy, "threads in core.py")] == [[0, 0, 0]]
    assert [[r[key] for key in keys] for r in rows(copy, "threads in MainThread")] == [[9, 8, 7]]


def test_copies_are_reported_at_the_line_that_the_summary_names(memory):
    own = {(r["file"], r["line"]): r["copy_bytes"] for r in rows(memory, "own memory")}
    told = {}
    for r in rows(memory, "copies in keep.py"):
        told[r["file"], r["line"]] = told.get((r["file"], r["line"]), 0) + r["bytes"]
    assert told == {place: copied for place, copied in own.items() if copied}


def test_memory_and_peak_are_reported_at_the_line_that_the_summary_names(memory):
    own = [(r["line"], r["allocated_bytes"], r["peak_bytes"]) for r in rows(memory, "own memory")]
    assert [(r["line"], r["allocated_bytes"], r["peak_bytes"]) for r in rows(memory, "memory in keep.py")] == own
    assert {(r["line"], r["allocated_bytes"], r["peak_bytes"]) for r in rows(memory, "peak in keep.py")} == {
        row for row in own if row[2] > 0}
    assert [r["line"] for r in rows(memory, "leaks in keep.py")] == [r["line"] for r in rows(memory, "leaks")]
    assert rows(memory, "leaks in keep") == rows(memory, "leaks in function keep") != []


def test_findings(waste):
    every = rows(waste, "all redundancy")
    for r in every:
        name = r["file"].rpartition("/")[2]
        inside = rows(waste, f"all redundancy in {name}:{r['line']}")
        assert (r["file"], r["line"], r["wasted_s"]) in [(i["file"], i["line"], i["wasted_s"]) for i in inside]
        assert r["function"] in {i["function"] for i in rows(waste, f"all redundancy in function {r['function']}")}


def test_what_a_place_was_taken_for_is_said(program):
    told = program("query", "a.db", "hot lines in app.py").text
    assert told.startswith("In file app.py\n")
    answer = json.loads(program("query", "a.db", "hot lines in app.py:6", "--json").text)
    assert answer["in"] == {"kind": "file", "name": "app.py", "line": 6}


def test_a_name_that_is_two_things(program, tmp_path):
    copy = changer(program, tmp_path)("UPDATE thread SET name = 'work' WHERE is_main")
    told = copy("query", "a.db", "hot lines in work").text
    assert told.startswith('In function work; it is a thread too: "in thread work"\n')
    assert len(rows(copy, "hot lines in work")) == 2 and len(rows(copy, "hot lines in thread work")) == 4


def test_where_nothing_is_there_is_no_complaint(program):
    done = program("query", "a.db", "copies in app.py")
    assert (done.returncode, done.text, done.complaint) == (0, "nothing found in app.py\n", "")


def test_hostile_names_are_compared_in_no_time(program, tmp_path):
    """Base names were found by rtrim(), which took the square of the length: these took minutes."""
    copy = changer(program, tmp_path)(
        f"UPDATE module SET path = '/{'a' * 500000}{'b' * 500000}', library = NULL",
        f"UPDATE file SET path = '/{'a' * 500000}{'b' * 500000}'")
    for question in ("native functions", "copy pairs", "redundancy", "pairs", "hot lines", "hot lines in work"):
        done = copy("query", "a.db", question, "--json", "--timeout", "20")
        assert done.returncode == 0, done.complaint
