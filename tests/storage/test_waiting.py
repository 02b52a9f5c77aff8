# SPDX-License-Identifier: Apache-2.0
"""Why lines wait, on the known program of fixture.c: thread 2 waits for 400 ms in main:10 (node 10)."""

import json

import pytest
from conftest import changer, make, rows

UNKNOWN, GIL, LOCK, SOCKET, PIPE, FILE, TERMINAL, POLL, SLEEP, CHILD, GPU, DISK, SIGNAL, OTHER = range(14)
NAMES = ["unknown", "gil", "lock", "socket", "pipe", "file", "terminal", "poll", "sleep", "child", "gpu", "disk", "signal",
         "other"]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return make(tmp_path_factory.mktemp("waiting"), 1)


@pytest.fixture
def changed(one, tmp_path):
    return changer(one, tmp_path)


def reason(cause, ms, resource="", peer=0, holds_gil=0, is_rest=0):
    return ("INSERT INTO wait (process, thread, node, cause, resource, peer, holds_gil, wait_ns, looks, is_rest) VALUES "
            f"((SELECT max(id) FROM process), 2, 10, {cause}, '{resource}', {peer}, {holds_gil}, {ms * 1000000}, 1,"
            f" {is_rest})")


def causes(program, question="wait causes"):
    return {(r["cause"], r["resource"]): r for r in rows(program, question)}


def test_without_reasons_the_cause_is_not_known(one):
    (row,) = rows(one, "wait causes")
    assert (row["rank"], row["line"], row["function"], row["cause"], row["resource"]) == (1, 10, "main", "unknown", None)
    assert row["wait_s"] == pytest.approx(0.4) and row["wait_share"] == 1 and row["holds_gil"] == 0


def test_each_cause_has_its_name_and_the_sum_is_the_line_s(changed):
    program = changed(*(reason(cause, 20 + cause) for cause in range(14)), reason(SLEEP, 400 - 371, holds_gil=1))
    found = rows(program, "top 20 wait causes")
    assert sum(r["wait_s"] for r in found) == pytest.approx(0.4) == pytest.approx(rows(program, "waiting")[0]["wait_s"])
    assert {r["cause"]: r["wait_s"] for r in found if not r["holds_gil"]} == pytest.approx(
        {name: (20 + cause) / 1000 for cause, name in enumerate(NAMES)})
    (held,) = [r for r in found if r["holds_gil"]]
    assert (held["cause"], held["wait_s"]) == ("sleep", pytest.approx(0.029))
    assert [r["rank"] for r in found] == list(range(1, 16)) and sum(r["wait_share"] for r in found) == pytest.approx(1)


def test_a_resource_and_a_holder_are_told(changed):
    found = causes(changed(reason(FILE, 100, "/a/file"), reason(LOCK, 300, "", 5)))
    assert found["file", "/a/file"]["wait_s"] == pytest.approx(0.1)
    lock = found["lock", None]
    assert (lock["holder_line"], lock["holder_function"], lock["holder_file"]) == (6, "work", lock["file"])
    assert lock["wait_s"] == pytest.approx(0.3) and found["file", "/a/file"]["holder_line"] is None


@pytest.mark.parametrize("place, rows_left", [("in thread MainThread", 0), ("in app.py", 2), ("in app.py:10", 2), ("in core.py", 0)])
def test_a_part_of_the_program(changed, place, rows_left):
    program = changed(reason(FILE, 100, "/a/file"), reason(LOCK, 300))
    assert len(rows(program, f"wait causes {place}")) == rows_left


@pytest.mark.parametrize("period, waited_s", [("in slice 1", 0), ("since 1s", 0.4)])
def test_a_part_of_the_time_has_the_proportions_of_the_whole(changed, period, waited_s):
    """What was said to be waiting and taken back is in the sum."""
    found = rows(changed(reason(FILE, 110, "/a/file"), reason(FILE, -10), reason(LOCK, 300)), f"wait causes {period}")
    assert sum(r["wait_s"] for r in found) == pytest.approx(waited_s)
    if waited_s:
        assert max(found, key=lambda r: r["wait_s"])["wait_s"] == pytest.approx(0.3)


def in_slice(cause, ms, slice_s):
    return ("INSERT INTO related (process, slice_s, thread, node, kind, time_ns) VALUES "
            f"((SELECT max(id) FROM process), {slice_s}, 2, 10, {16 + cause}, {ms * 1000000})")


# As the writer has it: FILE came first, in two places; 100 ms of the lock in each of the first two slices.
TOLD = (reason(FILE, 150, "/a", is_rest=1), reason(FILE, 50, "/b", is_rest=1), reason(LOCK, 200), in_slice(LOCK, 100, 0),
        in_slice(LOCK, 100, 1),
        "INSERT INTO sample SELECT process, 0, node, thread, 0, 1, 0, 0, 0, 300000000, 0, 0, 0 FROM sample"
        " WHERE thread = 2 AND node = 10",
        "UPDATE sample SET wait_ns = 100000000 WHERE thread = 2 AND node = 10 AND slice_s > 0")


@pytest.mark.parametrize("period, file_a_s, file_b_s, lock_s",
                         [("", 0.15, 0.05, 0.2), ("in slice 1", 0.15, 0.05, 0.1), ("in slice 2", 0, 0, 0.1)])
def test_causes_by_slice_are_what_they_were(changed, period, file_a_s, file_b_s, lock_s):
    found = causes(changed(*TOLD), f"wait causes {period}")
    waited = [found.get(key, {"wait_s": 0})["wait_s"] for key in (("file", "/a"), ("file", "/b"), ("lock", None))]
    assert waited == pytest.approx([file_a_s, file_b_s, lock_s])


def task(name, ms, cause=SLEEP):
    quoted = name.replace("'", "''")
    return ("INSERT INTO task (process, thread, node, coroutine, cause, name, wait_ns) VALUES "
            f"((SELECT max(id) FROM process), 2, 10, 10, {cause}, '{quoted}', {ms * 1000000})")


HOSTILE = "</script><img src=x>\x1b[31m\u202e'"


def test_tasks_have_their_names(changed):
    program = changed(reason(SLEEP, 300), reason(LOCK, 100), task("mail", 200), task("mail", 100, LOCK), task("", 75),
                      task(HOSTILE, 25))
    found = rows(program, "tasks")
    assert [(r["rank"], r["task"], r["coroutine"], r["line"], r["cause"], r["wait_s"]) for r in found] == [
        (1, "mail", "main", 10, "sleep", pytest.approx(0.2)), (2, "mail", "main", 10, "lock", pytest.approx(0.1)),
        (3, None, "main", 10, "sleep", pytest.approx(0.075)), (4, HOSTILE, "main", 10, "sleep", pytest.approx(0.025))]
    assert [r["wait_share"] for r in found] == pytest.approx([0.5, 0.25, 0.1875, 0.0625])
    text = program("query", "a.db", "tasks").text
    assert "\x1b" not in text and "\u202e" not in text and "</script><img src=x>" in text
    assert sum(r["wait_s"] for r in rows(program, "tasks since 1s")) == pytest.approx(0.4)
    assert rows(program, "tasks in slice 1") == [] == rows(program, "tasks in core.py")


def ran(name, ms, coroutine=2):
    """In node 5, which has 600 ms, half of them in slice 1."""
    return ("INSERT INTO task (process, thread, node, coroutine, cause, name, wait_ns, cpu_ns) VALUES "
            f"((SELECT max(id) FROM process), 1, 5, {coroutine}, -1, '{name}', 0, {ms * 1000000})")


def test_tasks_have_their_cpu_time(changed):
    """Theirs is that of the contexts in which they ran, and none of the waiting."""
    program = changed(reason(SLEEP, 400), task("mail", 400), ran("mail", 225), ran("", 45), ran("post", 30, coroutine=0))
    found = {(r["task"], r["cause"]): r for r in rows(program, "tasks")}
    assert {key: (r["wait_s"], r["cpu_s"]) for key, r in found.items()} == {
        ("mail", "sleep"): (pytest.approx(0.4), 0), ("mail", None): (0, pytest.approx(0.45)),
        (None, None): (0, pytest.approx(0.09)), ("post", None): (0, pytest.approx(0.06))}
    assert {key[0]: r["cpu_share"] for key, r in found.items() if not key[1]} == pytest.approx({"mail": 0.75, None: 0.15, "post": 0.1})
    assert [r["task"] for r in rows(program, "tasks")] == ["mail", "mail", None, "post"]
    assert sum(r["cpu_s"] for r in rows(program, "tasks in slice 1")) == pytest.approx(0.3)
    assert found["post", None]["coroutine"] is None and found["mail", None]["coroutine"] is not None
    summary = json.loads(program("query", "a.db", "summary", "--json").text)
    assert summary["sections"]["tasks"]["rows"] == rows(program, "tasks")


def test_a_process_waited_what_its_threads_did(changed):
    """Also where nobody had looked yet, of which no context knows."""
    program = changed("UPDATE thread SET wait_ns = 450000000, runnable_ns = 30000000, throttled_ns = 20000000"
                      " WHERE id = 2")
    (process,), threads = rows(program, "processes"), rows(program, "threads")
    (run,) = rows(program, "runs")
    for part, seconds in {"wait_s": 0.45, "runnable_s": 0.03, "throttled_s": 0.02}.items():
        assert process[part] == pytest.approx(seconds) == sum(r[part] or 0 for r in threads) == run[part], part


@pytest.mark.parametrize("phrase", ["why does it wait", "what does it wait for", "waiting causes", "why does it wait in app.py"])
def test_the_words_of_people(one, phrase):
    assert [r["cause"] for r in rows(one, phrase)] == ["unknown"]


def worked(ms, slice_s=0):
    return ("INSERT INTO related (process, slice_s, thread, node, kind, time_ns) VALUES "
            f"((SELECT max(id) FROM process), {slice_s}, 2, 10, 1, {ms * 1000000})")


def test_what_was_worked_for_a_line_is_in_no_other_figure_of_it(one, changed):
    before = rows(one, "all hot lines")
    program = changed(worked(200), worked(100, 1))
    after = rows(program, "all hot lines")
    assert [{**row, "worked_s": 0} for row in after] == before
    assert {row["line"]: row["worked_s"] for row in after if row["worked_s"]} == {10: pytest.approx(0.3)}
    (row,) = rows(program, "worked for")
    cpu_s = sum(r["cpu_s"] for r in rows(program, "threads"))
    assert (row["rank"], row["line"], row["function"], row["worked_s"]) == (1, 10, "main", pytest.approx(0.3))
    assert row["worked_share"] == pytest.approx(0.3 / cpu_s)


@pytest.mark.parametrize("place, worked_s", [("in thread MainThread", 0), ("in app.py:10", 0.3), ("in core.py", 0),
                                             ("in slice 1", 0.2), ("since 1s", 0.1)])
def test_what_was_worked_in_a_part_of_the_program(changed, place, worked_s):
    program = changed(worked(200), worked(100, 1))
    assert sum(r["worked_s"] for r in rows(program, f"worked for {place}")) == pytest.approx(worked_s)
