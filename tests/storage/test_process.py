# SPDX-License-Identifier: Apache-2.0
"""Every answer for one process of a run: the one that a file of that process alone gives."""

import json

import pytest
from conftest import is_one_line
from test_merge import questions, split, whole  # noqa: F401  (fixtures)

WITH_NUMBERS = ("process", "parent", "depth", "run")


def rows(program, *words):
    done = program("query", *words, "--json")
    assert done.returncode == 0, done.complaint
    return [{k: v for k, v in row.items() if k not in WITH_NUMBERS} for row in json.loads(done.text)["rows"]]


def shifted(found):
    """Without times since the start of the run, which a process alone would count from its own."""
    return [{k: v for k, v in row.items() if k not in ("t_s", "peak_t_s", "slice")} for row in found]


@pytest.mark.parametrize("process, run", [(4, 4), (5, 4), (6, 5)])
def test_every_question_can_be_cut(whole, questions, tmp_path, process, run):  # noqa: F811
    alone = split(whole.db, tmp_path)[process - 1]
    for question in questions:
        if question not in ("environment", "runs", "summary"):
            cut = rows(whole, whole.db, question, "--run", run, "--process", process)
            assert shifted(cut) == shifted(rows(whole, alone, question)), question


def test_a_process_is_named_by_number_or_pid_in_words_or_by_option(whole):  # noqa: F811
    found = [rows(whole, whole.db, *words) for words in (
        ["top 3 memory of process 5 of run 4"], ["top 3 memory of pid 4102 of run 4"],
        ["top 3 memory", "--run", "4", "--process", "4102"], ["top 3 memory of run 4 in keep.py of process 5"])]
    assert found[0] and found[0] == found[1]
    assert found[0] == found[2] and found[3] == [row for row in found[0] if row["file"].endswith("keep.py")]
    assert found[0] != rows(whole, whole.db, "top 3 memory of run 4")
    assert [row["pid"] for row in rows(whole, whole.db, "processes of process 4102 of run 4")] == [4102]


def test_report_and_export_are_cut(whole, tmp_path):  # noqa: F811
    alone = split(whole.db, tmp_path)[3]
    for words in (["report"], ["export", "-f", "collapsed"]):
        cut = whole(*words, whole.db, "--run", "4", "--process", "4101")
        assert cut.returncode == 0 and cut.text
        assert cut.text.replace("Run 4", "Run 1") == whole(*words, alone).text


def test_a_process_that_is_not_there(whole):  # noqa: F811
    for words in (["query", whole.db, "hot lines of process 99"], ["report", whole.db, "--process", "99"],
                  ["export", whole.db, "-f", "collapsed", "--process", "99"]):
        done = whole(*words)
        assert done.returncode == 1 and is_one_line(done.complaint) and "no process 99" in done.complaint
    done = whole("query", whole.db, "hot lines", "--process", "x")
    assert done.returncode == 2 and is_one_line(done.complaint)
