# SPDX-License-Identifier: Apache-2.0
"""Hints of the summary, the report and the JSON, where the evidence is plain and only there: fixture.c's program has a
main thread with 2 s of wall time, 1 s of CPU time and no wait."""

import json

import pytest
from conftest import changer

WAITS = "UPDATE thread SET wait_ns = {main} WHERE is_main"
AT_MAIN_10 = ("INSERT INTO sample (process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns, system_ns,"
              " wait_ns, runnable_ns, throttled_ns, cpu_sq_ns2) VALUES (1, 9, 2, 1, 0, 9, 0, 0, 0, 900000000, 0, 0, 0)")
LOADER = "UPDATE function SET name = '_SingleProcessDataLoaderIter.__next__' WHERE name = 'main'"
IMPORTS = ("UPDATE file SET path = '<frozen importlib._bootstrap>', is_own = 0, library = 'python'"
           " WHERE id = (SELECT file FROM function WHERE name = 'crunch')",
           "UPDATE function SET name = '_find_and_load' WHERE name = 'crunch'")


@pytest.fixture(scope="module")
def changed(program, tmp_path_factory):
    return changer(program, tmp_path_factory.mktemp("hints"))


def hints(program):
    answer = json.loads(program("query", "a.db", "summary", "--json", "--run", "1").text)
    for text in program("query", "a.db", "summary", "--run", "1").text, program("report", "a.db", "--run", "1").text:
        assert all(hint["text"] in " ".join(text.split()).replace("  ", " ") or "  " in hint["text"] for hint in answer["hints"])
    return [(hint["kind"], hint["text"], hint["line"]) for hint in answer["hints"]]


def test_nothing_is_said_where_nothing_is_plain(changed):
    assert hints(changed("SELECT 1")) == []
    assert hints(changed(WAITS.format(main=700000000))) == []


def test_a_program_that_waits(changed):
    assert hints(changed(WAITS.format(main=1000000000), AT_MAIN_10)) == [
        ("waiting", "mostly waiting: the main thread waited 1.00 of 2.00 s, 0.90 s of it at app.py:10  work(10)", 10)]
    assert hints(changed(WAITS.format(main=2000000000))) == [
        ("waiting", "mostly waiting: the main thread waited 2.00 of 2.00 s", None)]


def test_a_program_that_waits_for_its_input(changed):
    assert hints(changed(WAITS.format(main=1000000000), AT_MAIN_10, LOADER)) == [
        ("input bound", "input bound: the main thread waited 1 of 2 s for the DataLoader", 10)]


def test_threads_without_a_processor(changed):
    ready = "UPDATE thread SET runnable_ns = 1000000000, throttled_ns = 500000000 WHERE is_main"
    assert hints(changed(ready)) == [
        ("throttled", "throttled: a CPU quota stopped the threads for 0.50 s beside 1.00 s of CPU", None),
        ("processors", "too few processors: threads were ready to run for 1.00 s without one, and ran for 1.00 s", None)]


def test_a_program_that_mostly_imports(changed):
    more = "UPDATE sample SET native_ns = native_ns + 200000000 WHERE node = 8"
    found = hints(changed(*IMPORTS, more))
    assert [kind for kind, _, _ in found] == ["imports"] and found[0][1].startswith("start-up: imports took 0.5")


def test_waiting_is_told_before_anything_else(changed):
    text = changed(WAITS.format(main=1000000000), AT_MAIN_10)("query", "a.db", "summary", "--run", "1").text
    assert text.split("\n\n")[1].startswith("mostly waiting")
