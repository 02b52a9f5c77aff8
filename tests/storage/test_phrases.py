# SPDX-License-Identifier: Apache-2.0
"""What people type is answered as the best question for it, or refused in one line that says what to ask instead."""

import json
import pathlib
import re

import pytest
from conftest import changer, is_one_line

LINES = (pathlib.Path(__file__).with_name("phrases.txt")).read_text().splitlines()
PHRASES = [line.split(" -> ") for line in LINES if not line.startswith("#")]


@pytest.fixture(scope="module")
def sales(program, tmp_path_factory):
    """The profile of fixture.c with other names."""
    change = changer(program, tmp_path_factory.mktemp("phrases"))
    return change("DELETE FROM source", *(
        f"UPDATE {table} SET {column} = replace({column}, '{old}', '{new}')" for table, column, old, new in (
            ("file", "path", "app.py", "sales.py"), ("function", "name", "work", "customer_totals"),
            ("function", "name", "crunch", "discount"), ("file", "library", "Fast-Lib", "pandas"),
            ("module", "library", "Fast-Lib", "pandas"))))


def statement(sales, question):
    done = sales("query", "a.db", question, "--json")
    assert done.returncode == 0, done.complaint
    return json.loads(done.text)["sql"]


@pytest.mark.parametrize("phrase, meaning", PHRASES)
def test_a_phrase_means_what_people_mean(sales, phrase, meaning):
    if meaning.startswith("! "):
        done = sales("query", "a.db", phrase)
        assert done.returncode == 1 and done.text == "" and is_one_line(done.complaint)
        assert meaning[2:] in done.complaint
    elif meaning.startswith("select "):
        assert statement(sales, phrase).lower().startswith(meaning)
    else:
        assert statement(sales, phrase) == statement(sales, meaning)


@pytest.mark.parametrize("phrase, nearest", [
    ("hot liens", '"hot lines"'), ("memroy", '"memory"'), ("wiating", '"waiting"'),
    ("redundent loads", '"redundant loads"'), ("system time", '"hot lines by system", "native functions by system"'),
    ("asyncio tasks", None), ("p99", '"learned calls", "slices"'), ("numpy", '"summary"'),
    ("parallelism", '"threads", "runnable"'), ("dead stores", '"redundant stores", "redundant loads"'),
    ("wall clock", '"waiting", "threads"'), ("backtrace", '"call tree", "tree"'), ("page faults", '"heap"'),
    ("how long does discount take", '"total functions", "hot lines in F"'), ("idle threads", '"waiting", "threads"'),
    ("hot lines excluding pandas", '"own lines"'), ("vectorize", '"redundancy", "hot lines by python"'),
    ("context switches", '"runnable", "wait causes"'), ("why is discount slow", '"hot lines in F"'), ("rss", '"heap"'),
    ("slow function", None), ("leeks", '"leaks"'), ("qqqq", '"summary", "hot lines" or "help"')])
def test_an_unknown_phrase_names_three_that_are_near(sales, phrase, nearest):
    done = sales("query", "a.db", phrase)
    assert (done.returncode == 0) == (nearest is None)
    assert nearest is None or (nearest in done.complaint and done.complaint.count('"') == 8)


def test_what_is_named_instead_is_answered(sales):
    """Of each subject that storage/ask/topics.c knows; FILE and F stand for names."""
    source = (pathlib.Path(__file__).parents[2] / "storage/ask/topics.c").read_text()
    named = {phrase for three in re.findall(r'^     ?\{"[^"]*",\s*\{([^}]*)\}', source, re.M) for phrase in re.findall(r'"([^"]*)"', three)}
    assert len(named) >= 20
    for phrase in sorted(named):
        asked = re.sub(r"\bFILE$", "sales.py", re.sub(r"\bF$", "discount", phrase))
        done = sales("query", "a.db", asked, "--json")
        assert done.returncode == 0, done.complaint


def test_the_order_that_was_asked_for(sales):
    """Thread 2 only waits."""
    answer = json.loads(sales("query", "a.db", "threads by wait", "--json").text)
    assert [row["wait_s"] for row in answer["rows"]] == [0.4, 0]
    answer = json.loads(sales("query", "a.db", "threads", "--json").text)
    assert [row["wait_s"] for row in answer["rows"]] == [0, 0.4]
    lines = json.loads(sales("query", "a.db", "hot lines by wait", "--json").text)["rows"]
    assert (lines[0]["rank"], lines[0]["line"], lines[0]["wait_s"]) == (1, 10, 0.4)
    assert '"leaks" cannot be ordered' in sales("query", "a.db", "leaks by wait").complaint


def test_help_lists_the_questions_and_schema_what_sql_reads(sales):
    questions = json.loads(sales("query", "a.db", "help", "--json").text)["rows"]
    assert {"question": "own functions", "view": "v_total_function"}.items() <= next(
        row for row in questions if row["question"] == "own functions").items()
    views = {row["question"]: row["view"] for row in questions}
    assert views["hot lines"] == "v_line" and views["tree"] == "own_tree" and views["help"] is None
    tables = {row["name"]: row for row in json.loads(sales("query", "a.db", "schema", "--json").text)["rows"]}
    assert tables["v_caller"]["type"] == "view" and "callee_file" in tables["v_caller"]["columns"].split(", ")
    assert tables["node"] == {"name": "node", "type": "table", "columns": tables["node"]["columns"]}
    assert "entry_function" in tables["node"]["columns"].split(", ")


def test_views_are_not_in_the_file(sales):
    done = sales("query", "a.db", "SELECT name FROM sqlite_master WHERE type='view'")
    assert done.text == 'nothing found; "schema" lists the views and tables\n'


def test_a_question_that_needs_a_place_says_so(sales):
    assert 'callers of which function? "callers of NAME"' in sales("query", "a.db", "callers").complaint


def test_one_call_has_what_an_agent_needs(sales):
    """Its sections are the answers to their questions."""
    answer = json.loads(sales("query", "a.db", "summary", "--json").text)
    assert (answer["rows"][0]["cpu_s"], answer["rows_total"]) == (1, 1)
    assert {"findings", "own lines", "own functions", "tree", "memory", "peak", "leaks", "copies", "processes", "threads",
            "overhead", "drops", "garbage collection", "environment"} <= set(answer["sections"])
    for section in answer["sections"].values():
        alone = json.loads(sales("query", "a.db", section["query"], "--json").text)
        assert section == {key: alone[key] for key in ("query", "sql", "rows", "rows_total")}
    assert [row["line"] for row in answer["sections"]["own lines"]["rows"]][:2] == [6, 11]


def test_the_summary_for_people_is_the_screen_of_the_end(sales):
    text = sales("query", "a.db", "why is it slow").text
    assert text.startswith("pieprof: python3 ") and "sales.py:6" in text and "Next: pieprof report" in text
    assert sales("query", "a.db", "summary", "--csv").text.startswith("run,started,command")
