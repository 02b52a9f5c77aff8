# SPDX-License-Identifier: Apache-2.0
"""Why threads waited, collections of garbage, and hints: in a page's data, in the summary and in its JSON, on the known
program of fixture.c: it has 1 s of CPU time, and thread 2 waits for 400 ms in main:10."""

import json

import page_contract
import pytest
from conftest import changer, clean_environment, make, rows
from test_page_data import data_of
from test_waiting import FILE, GIL, LOCK, SLEEP, TOLD, reason, task, worked

REASONS = (reason(LOCK, 240, "", 5), reason(FILE, 120, "/a/file"), reason(SLEEP, 30, holds_gil=1), reason(GIL, 10, "", 5))
GARBAGE = ("UPDATE function SET name = 'gc_collect_main' WHERE kind = 2 AND id = (SELECT min(l.function) FROM node n"
           " JOIN location l ON l.process = n.process AND l.id = n.location JOIN function u ON u.process = l.process"
           " AND u.id = l.function WHERE u.kind = 2 AND n.own_location NOT NULL)")


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return make(tmp_path_factory.mktemp("waits"), 1)


@pytest.fixture
def changed(one, tmp_path):
    return changer(one, tmp_path)


def summary(program):
    return json.loads(program("query", "a.db", "summary", "--json").text)


def columns_of(answer):
    return {name: [row[name] for row in answer] for name in answer[0]}


def test_the_page_has_the_causes_of_the_question_and_their_sums(changed):
    program = changed(*REASONS)
    data = data_of(program)
    assert page_contract.faults(data) == []
    assert data["waits"] == columns_of(rows(program, "top all wait causes"))
    assert data["wait_causes"]["cause"] == ["lock", "file", "sleep", "gil"]
    assert data["wait_causes"]["wait_s"] == pytest.approx([0.24, 0.12, 0.03, 0.01])
    assert data["wait_causes"]["wait_share"] == pytest.approx([0.6, 0.3, 0.075, 0.025])
    assert data["wait_causes"]["held_s"] == pytest.approx([0, 0, 0.03, 0])
    assert set(data["thread_waits"]["thread"]) == {2} and sum(data["thread_waits"]["wait_s"]) == pytest.approx(0.4)
    thread, = [row for row in rows(program, "threads") if row["thread"] == 2]
    assert sum(data["thread_waits"]["wait_s"]) == pytest.approx(thread["wait_s"])


def test_the_page_has_the_causes_by_slice(changed):
    """The thread waits in the second slice. 100 ms in the first one, in the same context, have the same proportions."""
    more = ("INSERT INTO sample (process, slice_s, thread, node, samples, wait_samples, python_ns, native_ns, system_ns, wait_ns,"
            " cpu_sq_ns2) VALUES ((SELECT max(id) FROM process), 0, 2, 10, 0, 1, 0, 0, 0, 100000000, 0)")
    data = data_of(changed(*REASONS, more))
    found = {(n, cause): wait_s for n, cause, wait_s in zip(*data["slice_waits"].values())}
    assert found == {(n, cause): pytest.approx(part * s) for n, s in ((1, 0.1), (2, 0.4))
                     for cause, part in (("lock", 0.6), ("file", 0.3), ("sleep", 0.075), ("gil", 0.025))}
    assert data["slices"]["wait_s"] == pytest.approx([0.1, 0.4])
    unknown = data_of(changed(more))["slice_waits"]
    assert unknown == {"slice": [2, 1], "cause": ["unknown"] * 2, "wait_s": pytest.approx([0.4, 0.1])}


def test_the_page_has_what_is_known_of_each_slice(changed):
    """Of causes, and of collections: none is divided by what the other slices had."""
    collections = ("INSERT INTO related (process, slice_s, thread, node, kind, time_ns) VALUES "
                   "((SELECT max(id) FROM process), 1, 1, 10, 3, 20000000), ((SELECT max(id) FROM process), 1, 1, 9, 4, 5000000)")
    data = data_of(changed(*TOLD, collections))
    found = {(n, cause): wait_s for n, cause, wait_s in zip(*data["slice_waits"].values())}
    assert found == {(1, "file"): pytest.approx(0.2), (1, "lock"): pytest.approx(0.1), (2, "lock"): pytest.approx(0.1)}
    assert data["slices"]["gc_s"] == pytest.approx([0, 0.025])


def test_the_page_has_the_tasks_of_the_question(changed):
    program = changed(reason(SLEEP, 400), task("mail", 300), task("", 100))
    assert data_of(program)["tasks"] == columns_of(rows(program, "top all tasks"))


def test_the_page_has_the_collections_of_the_question(changed):
    program = changed(GARBAGE)
    data, answer = data_of(program), rows(program, "top all garbage collection")
    assert data["garbage"] == columns_of(answer) and sum(data["garbage"]["gc_s"]) == pytest.approx(0.25)


def test_page_and_summary_have_the_same_hints(changed):
    program = changed("UPDATE thread SET wait_ns = 1000000000 WHERE is_main",
                      "UPDATE thread SET runnable_ns = 1000000000 WHERE is_main")
    hints, told = data_of(program)["hints"], summary(program)["hints"]
    assert [hint["kind"] for hint in told] == ["waiting", "processors"]
    assert {name: hints[name] for name in told[0]} == columns_of(told) and hints["share"] == [0.5, 0.5]


def test_garbage_that_matters_is_a_hint_with_its_line(changed):
    """It took 0.25 of 1 s; nothing is said of less than 0.2 s."""
    program = changed(GARBAGE)
    hint, = summary(program)["hints"]
    line, = rows(program, "garbage collection")
    assert hint["kind"] == "garbage collection" and (hint["file"], hint["line"]) == (line["file"], line["line"])
    assert hint["text"] == "garbage collection: it took 0.25 of 1.00 s of CPU, 0.25 s of it at app.py:11  fastlib.crunch([3, 1, 2])"
    less = ("UPDATE sample SET native_ns = native_ns / 4 WHERE node IN (SELECT n.id FROM node n"
            " JOIN location l ON l.process = n.process AND l.id = n.location JOIN function u ON u.process = l.process"
            " AND u.id = l.function WHERE u.name = 'gc_collect_main')")
    program = changed(GARBAGE, less)
    assert rows(program, "garbage collection")[0]["gc_s"] == pytest.approx(0.175) and summary(program)["hints"] == []


def test_the_summary_tells_what_was_waited_for_where_it_matters(changed):
    program = changed(*REASONS)
    lines = program("query", "a.db", "summary").text.splitlines()
    line, = [text for text in lines if text.startswith("Threads waited")]
    assert line == "Threads waited: 0.24 s for a lock (app.py:10, held at app.py:6), 0.12 s for a file (app.py:10), 0.03 s asleep (app.py:10)"
    section = summary(program)["sections"]["wait causes"]
    assert section["rows"] == rows(program, "top 10 wait causes")


def test_a_holder_that_is_not_known(changed):
    text = changed(reason(LOCK, 400))("query", "a.db", "summary").text
    assert "Threads waited: 0.40 s for a lock (app.py:10)" in text.splitlines()


@pytest.mark.parametrize("columns, told", [
    (60, "Threads waited: 0.24 s for a lock, 0.12 s for a file, 0.03 …"),
    (80, "Threads waited: 0.24 s for a lock, 0.12 s for a file, 0.03 s asleep")])
def test_without_places_where_the_screen_is_narrow(changed, columns, told):
    text = changed(*REASONS)("query", "a.db", "summary", env=clean_environment(COLUMNS=str(columns))).text
    assert told in text.splitlines()


@pytest.mark.parametrize("reasons", [(), (reason(LOCK, 199), reason(0, 201))])
def test_little_or_unknown_waiting_is_not_spoken_of(changed, reasons):
    program = changed(*reasons)
    assert "Threads waited" not in program("query", "a.db", "summary").text
    assert "wait causes" not in summary(program)["sections"]


@pytest.mark.parametrize("ms, told", [(49, None), (300, "Native threads worked 0.30 s (30 % of the CPU time) for app.py:10 0.30 s")])
def test_what_native_threads_worked_for_a_line_is_told_where_it_matters(changed, ms, told):
    """From a twentieth of the run's CPU time on, which is 1 s; the page has it in any case."""
    program = changed(worked(ms))
    lines = program("query", "a.db", "summary").text.splitlines()
    assert [line for line in lines if line.startswith("Native threads")] == ([told] if told else [])
    assert summary(program)["sections"]["worked for"]["rows"] == rows(program, "worked for")
    data = data_of(program)
    source, strings = data["source"], data["strings"]
    assert page_contract.faults(data) == []
    assert [(strings[source["files"]["path"][file]], line, s) for file, line, s in zip(
        source["lines"]["file"], source["lines"]["line"], source["lines"]["worked_s"]) if s] == [
        (rows(program, "worked for")[0]["file"], 10, pytest.approx(ms / 1000))]


def test_what_was_worked_for_a_library_is_at_the_own_line_that_led_there(changed):
    """Both lines have it, as with their CPU time."""
    program = changed(worked(200), "UPDATE related SET node = (SELECT n.id FROM node n JOIN location l"
                      " ON l.process = n.process AND l.id = n.line_location JOIN function u ON u.process = l.process"
                      " AND u.id = l.function JOIN file f ON f.process = u.process AND f.id = u.file WHERE n.process ="
                      " related.process AND f.is_own = 0 AND n.own_location NOT NULL LIMIT 1)")
    row, = rows(program, "worked for")
    assert row["library"] is not None and row["worked_s"] == pytest.approx(0.2)
    data = data_of(program)
    source, strings = data["source"], data["strings"]
    places = {(strings[source["files"]["path"][file]], line): s for file, line, s in zip(
        source["lines"]["file"], source["lines"]["line"], source["lines"]["worked_s"]) if s}
    assert places == {(row["file"], row["line"]): pytest.approx(0.2), (row["user_file"], row["user_line"]): pytest.approx(0.2)}
