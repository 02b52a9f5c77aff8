# SPDX-License-Identifier: Apache-2.0
"""Questions about a part of a run's time. The fixture's first flush is its first slice, the second flush its second."""

import json

import pytest
from conftest import changer, clean_environment, is_one_line, make, rows


def test_slices_add_up_to_the_run(program):
    first, second = rows(program, "slices")
    (run, _) = rows(program, "runs")
    for what in ("cpu_s", "python_s", "native_s", "system_s", "wait_s", "samples"):
        assert first[what] + second[what] == pytest.approx(run[what], abs=1e-12), what
    assert (first["slice"], first["t_s"], first["wall_s"], first["started"]) == (1, 0, 1, "2023-11-14T22:13:20.000Z")
    assert (first["samples"], second["samples"]) == (350, 601)
    assert first["cpu_s"] == pytest.approx(0.35) and first["line"] == 6 and first["file"].endswith("/app.py")


@pytest.mark.parametrize("period", ["in slice 1", "between 0.1s and 0.9s", "until 1s",
                                    "between 2023-11-14T22:13:20Z and 2023-11-14T22:13:21Z", "between 22:13:20 and 22:13:21"])
def test_a_period_has_what_was_measured_in_it(program, period):
    done = program("query", "a.db", f"hot lines {period}", "--json", env=clean_environment(TZ="UTC"))
    answer = json.loads(done.text)
    assert [(row["line"], row["samples"]) for row in answer["rows"]] == [(6, 300), (5, 50)], period
    assert [row["cpu_share"] for row in answer["rows"]] == pytest.approx([300 / 350, 50 / 350])
    assert answer["period"] == {"from": "2023-11-14T22:13:20.000Z", "to": "2023-11-14T22:13:21.000Z"}


def test_the_last_second_is_the_second_slice(program):
    whole = {row["line"]: row["samples"] for row in rows(program, "hot lines in app.py")}
    first = {row["line"]: row["samples"] for row in rows(program, "hot lines in app.py in slice 1")}
    last = {row["line"]: row["samples"] for row in rows(program, "hot lines in app.py in the last second")}
    assert set(first) < set(whole)
    assert {line: first.get(line, 0) + last.get(line, 0) for line in whole} == whole
    # a share is that of the period, also where the question is narrowed to a place
    assert sum(row["cpu_share"] for row in rows(program, "hot lines in app.py in slice 1")) == pytest.approx(1)


def test_a_slice_that_has_hardly_begun_is_in_the_last_second(program, tmp_path):
    copy = changer(program, tmp_path)("UPDATE process SET ended_ns = started_ns + 1100000000, seen_ns = started_ns + 1100000000")
    for period in ("in the last 0.4 s", "since 0.7s", "between 0.7s and 1h"):
        assert sum(row["samples"] for row in rows(copy, f"threads {period}")) == 601, period
    assert sum(row["samples"] for row in rows(copy, "threads in the last 2 s")) == 951


@pytest.mark.parametrize("question, key", [("hot lines", "line"), ("hot functions", "function"), ("libraries", "library"),
                                           ("threads", "thread"), ("native functions", "function")])
def test_periods_of_all_questions_of_time_add_up(program, question, key):
    whole = {row[key]: row["samples"] for row in rows(program, f"top all {question}") if row["samples"]}
    parts = [{row[key]: row["samples"] for row in rows(program, f"top all {question} in slice {n}")} for n in (1, 2)]
    assert {k: sum(part.get(k, 0) for part in parts) for k in whole} == whole


def test_waiting_of_a_thread_is_that_of_the_period(program):
    assert [row["wait_s"] for row in rows(program, "threads in slice 1")] == [0]
    assert rows(program, "threads in slice 2 in thread 2")[0]["wait_s"] == pytest.approx(0.4)
    (row,) = [row for row in rows(program, "waiting in the last second")]
    assert row["wait_s"] == pytest.approx(0.4)
    assert rows(program, "waiting until 1s") == []


def test_the_tree_of_a_period(program):
    (main, *_) = rows(program, "call tree in slice 1")
    assert main["samples"] == 0 or main["total_s"] == pytest.approx(0.35)
    assert sum(row["self_s"] for row in rows(program, "top all call tree in slice 1")) == pytest.approx(0.35)


def test_the_table_says_which_time_it_is(program):
    done = program("query", "a.db", "hot lines in slice 1", env=clean_environment(TZ="UTC"))
    assert done.text.splitlines()[0] == "2023-11-14 22:13:20 to 22:13:21"
    done = program("query", "a.db", "hot lines in app.py in slice 1", env=clean_environment(TZ="UTC"))
    assert done.text.splitlines()[0] == "2023-11-14 22:13:20 to 22:13:21, in file app.py"


@pytest.mark.parametrize("question, part", [
    ("hot lines in slice 3", 'there is no slice 3: "slices" lists 1 to'),
    ("hot lines since 10 s", "nothing of the run lies in that time"),
    ("hot lines since noon", '"noon" is no point in time'),
    ("leaks in the last second", '"leaks" cannot be narrowed to a period of time'),
    ("peak in slice 1", '"peak" cannot be narrowed to a period of time'),
    ("runs in slice 1", '"runs" cannot be narrowed to a period of time'),
])
def test_what_cannot_be_answered_is_said(program, question, part):
    done = program("query", "a.db", question)
    assert done.returncode != 0 and is_one_line(done.complaint) and part in done.complaint


def test_redundancy_of_a_period_is_that_of_its_watches(tmp_path):
    """All of the fixture's watches end in its first second."""
    program = make(tmp_path, 0, 1)
    for question in ("redundancy", "pairs"):
        assert len(rows(program, f"top all {question} in slice 1")) == len(rows(program, f"top all {question}")) > 0


def test_memory_of_a_period_is_what_was_allocated_in_it(tmp_path):
    program = make(tmp_path, 0, 0, 1)
    assert rows(program, "copies in slice 1") != []
    for row in rows(program, "memory in slice 1"):
        assert row["peak_bytes"] is None and row["growth_bytes"] is None
