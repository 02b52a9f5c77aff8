# SPDX-License-Identifier: Apache-2.0
"""`pieprof query`: the machine-readable contract and the forms of its answers, on the known profile of fixture.c."""

import csv
import io
import json
import math
import os
import pty
import re
import sqlite3
import subprocess

import hypothesis
import pytest
from conftest import PIEPROF, changer, clean_environment, exported, is_one_line
from hypothesis import strategies

COST = ["cpu_s", "python_s", "native_s", "system_s", "wait_s", "cpu_share", "samples", "cpu_s_low", "cpu_s_high"]
CONTRACT = {
    "hot lines": ["rank", "file", "line", "function", *COST],
    "hot functions": ["rank", "file", "line", "function", *COST],
    "native functions": ["rank", "function", "library", "cpu_s", "cpu_share", "samples"],
    "threads": ["tid", "name", "cpu_s", "wait_s"],
    "processes": ["pid", "parent_pid", "cpu_s"],
    "runs": ["run", "started", "cpu_s"],
    "overhead": ["collector", "budget_share", "measured_share", "rate", "drops"],
    "drops": ["counter", "drops"],
    "call tree": ["depth", "function", "total_s", "self_s"],
    "tree": ["depth", "function", "file", "line", "total_s", "total_share", "parent_share", "self_s"],
    "own functions": ["rank", "file", "line", "function", "total_s", "total_share", "self_s", "wait_s"],
}
VIEWS = ["v_line", "v_function", "v_thread", "v_process", "v_run", "v_overhead", "v_drop", "v_total_function",
         "v_total_line", "v_caller", "v_callee"]


def ask(program, question, *options):
    done = program("query", "a.db", question, "--json", *options)
    assert done.returncode == 0, done.complaint
    answer = json.loads(done.text)
    assert answer["schema"] == 1 and answer["query"] == question
    return answer


def rows(program, question, *options):
    return ask(program, question, *options)["rows"]


def near(value):
    return pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("phrase", CONTRACT)
def test_the_columns_are_those_of_the_contract(program, phrase):
    found = rows(program, phrase)
    assert found
    for row in found:
        assert [key for key in row if key in CONTRACT[phrase]] == CONTRACT[phrase]


def test_hot_lines_tell_what_was_written(program):
    app, core = str(program.folder / "src/app.py"), "fastlib/core.py"
    found = rows(program, "hot lines")
    assert [(r["rank"], r["line"], r["function"], r["samples"]) for r in found] == [
        (1, 6, "work", 600), (2, 2, "crunch", 300), (3, 10, "main", 1), (4, 5, "work", 50)]
    hottest, library = found[:2]
    assert hottest["file"] == app and hottest["cpu_s"] == near(0.6) and hottest["cpu_share"] == near(0.6)
    assert (hottest["library"], hottest["user_file"], hottest["user_line"]) == (None, None, None)
    assert library["file"].endswith(core) and library["library"] == "Fast-Lib"
    assert (library["user_file"], library["user_line"]) == (app, 11)
    assert [library[k] for k in ("python_s", "native_s", "system_s")] == [near(0.05), near(0.175), near(0.075)]
    assert found[2]["wait_s"] == near(0.4) and found[2]["cpu_s"] == near(0.05)
    for row in found:
        assert row["cpu_s_low"] < row["cpu_s"] < row["cpu_s_high"]
    assert sum(r["cpu_share"] for r in found) == near(1)


def test_other_subjects_tell_what_was_written(program):
    assert [(r["function"], r["cpu_s"]) for r in rows(program, "hot functions")] == [
        ("work", near(0.65)), ("crunch", near(0.3)), ("main", near(0.05))]
    assert [(r["function"], r["library"], r["cpu_s"]) for r in rows(program, "native functions")] == [
        ("compare", "Fast-Lib", near(0.15)), ("sort", "Fast-Lib", near(0.1))]
    assert [(r["is_main"], r["cpu_s"], r["wait_s"]) for r in rows(program, "threads")] == [
        (1, near(1), 0), (0, 0, near(0.4))]
    assert [(r["counter"], r["drops"]) for r in rows(program, "drops")] == [("ring_full", 7)]
    assert {r["collector"]: r["measured_share"] for r in rows(program, "overhead")} == {
        "time": near(0.01), "collection thread": near(0.02)}
    assert [(r["function"], r["cpu_s"], r["library"]) for r in rows(program, "own lines")] == [
        ("work", near(0.6), None), ("main", near(0.3), "Fast-Lib"), ("main", near(0.05), None), ("work", near(0.05), None)]
    assert {r["key"]: r["value"] for r in rows(program, "environment")} == {
        "package:Fast-Lib": "1.2", "python_version": "3.11.2"}


def test_the_call_tree_is_in_the_order_of_reading(program):
    def tree(question):
        return [(r["depth"], r["kind"], r["function"], r["total_s"]) for r in rows(program, question)]

    main = [
        (1, "python", "<module>", near(1)), (2, "python", "main", near(1)), (3, "python", "work", near(0.65)),
        (3, "python", "crunch", near(0.3)), (4, "native", "sort", near(0.25)), (5, "native", "compare", near(0.15))]
    assert tree("call tree") == [*main, (1, "python", "main", 0)]
    assert tree("all call tree") == [*main, (1, "native", "start_thread", 0), (2, "python", "main", 0)]


def test_runs_are_distinguished(program):
    assert [r["run"] for r in rows(program, "runs")] == [1, 2]
    assert ask(program, "hot lines")["run"] == 2
    assert ask(program, "hot lines of run 1")["run"] == 1
    assert ask(program, "hot lines", "--run", "1")["run"] == 1
    assert rows(program, "hot lines of run 1") == rows(program, "hot lines of run 2")


def test_a_question_can_be_narrowed(program):
    assert len(rows(program, "top 2 hot lines")) == 2
    assert {r["line"] for r in rows(program, "hot lines in app.py")} == {5, 6, 10, 11}
    assert [r["rank"] for r in rows(program, "hot lines in core.py")] == [1]
    assert [(r["rank"], r["function"], r["line"]) for r in rows(program, "hot lines by function in src/app.py")] == [
        (1, "work", 3), (2, "main", 9)]


def test_the_statement_that_is_printed_gives_the_same_rows(program):
    for phrase in CONTRACT:
        answer = ask(program, phrase)
        assert answer["sql"].startswith("SELECT ") and rows(program, answer["sql"]) == answer["rows"]


@pytest.mark.parametrize("view", VIEWS)
def test_the_views_can_be_read_by_other_programs(program, tmp_path, view):
    """The views need nothing that only pieprof has."""
    with exported(program, tmp_path) as file:
        file.row_factory = sqlite3.Row
        theirs = [dict(r) for r in file.execute(f"SELECT * FROM {view} WHERE run = 2")]
    ours = rows(program, f"SELECT * FROM {view} WHERE run = :run")
    assert len(ours) == len(theirs) > 0
    for our, their in zip(ours, theirs):
        assert our == {k: pytest.approx(v) if isinstance(v, float) else v for k, v in their.items()}


@pytest.mark.parametrize("phrase", CONTRACT)
def test_csv_has_the_same_values_as_json(program, phrase):
    done = program("query", "a.db", phrase, "--csv")
    assert done.returncode == 0
    assert done.stdout.count(b"\r\n") == len(re.findall(rb"\n", done.stdout))
    parsed = list(csv.DictReader(io.StringIO(done.text, newline="")))
    expected = rows(program, phrase)
    assert len(parsed) == len(expected)
    for text, row in zip(parsed, expected):
        assert list(text) == list(row)
        for key, value in row.items():
            if value is None:
                assert text[key] == ""
            elif isinstance(value, str):
                assert text[key] == value
            else:
                assert float(text[key]) == pytest.approx(value)


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 132, 200])
@pytest.mark.parametrize("phrase", CONTRACT)
def test_a_table_keeps_to_the_width_of_the_terminal(program, phrase, columns):
    done = program("query", "a.db", phrase, env=clean_environment(COLUMNS=str(columns)))
    assert done.returncode == 0 and done.complaint == ""
    table = [line for line in done.text.splitlines() if "did not fit" not in line]
    assert len(table) == len(rows(program, phrase)) + 1
    assert "\x1b" not in done.text
    if columns >= 80:
        assert max(map(len, table)) <= columns


def test_columns_of_nothing_are_left_out_of_answers(program):
    """Not of SQL, where they were asked for."""
    head = program("query", "a.db", "hot lines").text.splitlines()[0].split()
    assert "wait_s" in head and not {"runnable_s", "throttled_s"} & set(head)
    head = program("query", "a.db", "select * from v_line").text.splitlines()[0].split()
    assert {"wait_s", "runnable_s", "throttled_s"} <= set(head)


def test_rows_of_few_samples_are_only_counted(program, tmp_path):
    """But for the first, and those that wait."""
    few = changer(program, tmp_path)("UPDATE packed SET kind = 9", "UPDATE sample SET samples = 1")
    rest = json.loads(few("query", "a.db", "hot lines", "--json").text)
    table = few("query", "a.db", "hot lines").text.splitlines()
    kept = [row for row in rest["rows"] if row["rank"] == 1 or row["samples"] >= 5 or row["wait_s"] >= 0.01]
    assert len(kept) < rest["rows_total"]
    assert len(table) == 1 + len(kept) + 1 and table[-1].startswith(f"{len(kept)} of {rest['rows_total']}: ")
    assert len(few("query", "a.db", "all hot lines").text.splitlines()) == 1 + rest["rows_total"]


def test_colours_are_for_terminals_that_want_them(program):
    def on_terminal(**env):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            pytest.skip(f"no pseudo-terminals here: {error}")
        with subprocess.Popen([PIEPROF, "query", "a.db", "threads"], cwd=program.folder, stdout=theirs,
                              env=clean_environment(TERM="xterm", **env)):
            os.close(theirs)
            text = b""
            while True:
                try:
                    text += os.read(ours, 65536)
                except OSError:  # EIO: the other side is closed
                    break
        os.close(ours)
        return text

    assert b"\x1b[" in on_terminal()
    assert b"\x1b[" not in on_terminal(NO_COLOR="1")
    assert "\x1b" not in program("query", "a.db", "threads").text
    assert "\x1b" in program("query", "a.db", "threads", env=clean_environment(FORCE_COLOR="1")).text


def test_control_characters_of_the_program_do_not_reach_the_terminal(program):
    """A thread of the fixture is called "worker;ESC[31m"."""
    assert "\x1b" not in program("query", "a.db", "threads").text
    assert rows(program, "threads")[1]["name"] == "worker;\x1b[31m"


def test_a_pipe_that_closes_is_no_complaint(program):
    done = subprocess.run(f"'{PIEPROF}' query a.db 'with recursive n(i) as (select 1 union all select i + 1 from n "
                          "where i < 200000) select * from n' --csv | head -n 1", shell=True, cwd=program.folder,
                          capture_output=True, env=clean_environment())
    assert done.stdout == b"i\r\n" and done.stderr == b""


def test_output_that_cannot_be_written_is_a_failure(program):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PIEPROF, "query", "a.db", "threads"], cwd=program.folder, stdout=full,
                              stderr=subprocess.PIPE, env=clean_environment())
    assert done.returncode == 1 and is_one_line(done.stderr.decode())


@pytest.mark.parametrize("words, status, hint", [
    (["a.db"], 2, "usage"),
    (["a.db", "hot liens"], 1, '"hot lines"'),
    (["a.db", "nativ function"], 1, '"native functions"'),
    (["a.db", "qqqq"], 1, '"summary"'),
    (["a.db", "hot lines of run 9"], 1, "1 to 2"),
    (["a.db", "hot lines in pp.py"], 1, "app.py"),
    (["a.db", "copies in wrok"], 1, "work"),
    (["a.db", "hot lines in function app.py"], 1, "function"),
    (["a.db", "drops in app.py"], 1, "cannot be narrowed"),
    (["a.db", "copies in thread 1"], 1, "cannot be narrowed to a thread"),
    (["a.db", "threads by function"], 1, "function"),
    (["a.db", "top 0 threads"], 1, "0"),
    (["a.db", "select nonsense from v_line"], 1, "nonsense"),
    (["a.db", "delete from run"], 1, "only reading"),
    (["a.db", "select load_extension('x')"], 1, "only reading"),
    (["a.db", "threads", "--jsno"], 2, "--jsno"),
    (["a.db", "threads", "--run", "x"], 2, "x"),
    (["a.db", "threads", "--timeout", "-1"], 2, "--timeout"),
    (["no.db", "threads"], 1, "no.db"),
    (["/dev/null", "threads"], 1, "/dev/null"),
    (["src", "threads"], 1, "directory"),
    (["src/app.py", "threads"], 1, "not a profile"),
])
def test_what_is_wrong_is_said_in_one_line(program, words, status, hint):
    done = program("query", *words)
    assert done.returncode == status and done.text == ""
    assert is_one_line(done.complaint) and hint in done.complaint


def test_runs_take_a_file_for_a_file(program):
    done = program("runs", "runs")
    assert (done.returncode, done.complaint) == (1, "pieprof: cannot open ./runs: No such file or directory\n")
    assert program("runs", "a.db").text == program("query", "a.db", "runs").text


def test_an_endless_query_ends_at_its_time_limit(program):
    done = program("query", "a.db", "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n",
                   "--timeout", "0.3", timeout=20)
    assert done.returncode == 1 and "0.3 s" in done.complaint and is_one_line(done.complaint)


def test_words_need_no_quotes_and_the_usual_file_no_name(program):
    copy = program.folder / "usual"
    copy.mkdir(exist_ok=True)
    (copy / "pieprof.db").write_bytes(program.db.read_bytes())
    done = subprocess.run([PIEPROF, "query", "top", "1", "hot", "lines", "--json"], cwd=copy, capture_output=True,
                          env=clean_environment())
    assert json.loads(done.stdout)["query"] == "top 1 hot lines"


def test_reading_leaves_no_files_behind(program):
    rows(program, "hot lines")
    assert not list(program.folder.glob("a.db-*"))


WORDS = strategies.sampled_from(["top", "10", "-1", "hot", "lines", "functions", "in", "of", "run", "1", "3", "by", "function",
                                 "foo.py", "'", '"', "all", "threads", "native", "call", "tree", "", "file", "from", "é", "%s"])
QUESTIONS = strategies.one_of(
    strategies.lists(WORDS, max_size=8).map(" ".join),
    strategies.text(strategies.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=60),
    strategies.lists(strategies.sampled_from(["select", "*", "from", "v_line", "where", "run", "=", "1", ";", "(", ")", "--",
                                              "count(*)", "'x'", "union", "all", "order by", "limit", ":run", "call_tree"]),
                     max_size=10).map(lambda words: "select " + " ".join(words)))


@hypothesis.settings(max_examples=150, deadline=None,
                     suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(QUESTIONS)
def test_any_question_is_answered_or_refused_in_one_line(program, question):
    hypothesis.assume(not question.startswith("-"))
    done = program("query", "a.db", question, "--json", "--timeout", "5")
    if done.returncode == 0:
        answer = json.loads(done.text)
        assert set(answer) - {"in"} == {"schema", "run", "query", "sql", "rows", "rows_total"}
        assert answer["query"] == question
        for row in answer["rows"]:
            assert all(not isinstance(v, float) or math.isfinite(v) for v in row.values())
    else:
        assert done.returncode in (1, 2) and is_one_line(done.complaint)
        assert f"pieprof: {json.loads(done.text)['error']}\n" == done.complaint
