# SPDX-License-Identifier: Apache-2.0
"""Questions about learned loops, and the report of them, on the known program of fixture_traced.c."""

import csv
import io
import re
import sqlite3

import pytest
from conftest import changer, clean_environment, exported, make, rows

FIGURES = ["share", "share_low", "share_high", "calls", "mean_s", "p50_s", "p95_s", "p99_s", "decided_after"]
OWN = "(the loop's own code)"
SMALL = ["one", "two", "three", "four", "five", "m.six", "m.\x1bseven", "m.eight", "m.nine", "m.ten"]
SHARES = [0.018, 0.016, 0.014, 0.012, 0.010, 0.009, 0.008, 0.006, 0.004, 0.002]


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """Run 1 traced nothing, run 2 is that of fixture_traced.c."""
    return make(tmp_path_factory.mktemp("traced"), 1, 0, 0, 1)


@pytest.fixture
def changed(traced, tmp_path):
    """A copy of it, changed by SQL."""
    return changer(traced, tmp_path)


def near(*values):
    return [value if value is None else pytest.approx(value) for value in values]


def test_the_columns_are_those_of_the_contract(traced):
    assert list(rows(traced, "learned calls")[0])[:13] == ["rank", "file", "line", "function", *FIGURES]


def test_calls_are_reported_loop_by_loop_the_costliest_first(traced):
    found = rows(traced, "learned calls")
    assert {row["file"] for row in found} == {str(traced.folder / "src/parse.py")}
    assert [(r["rank"], r["line"], r["function"], r["loop_line"], r["pid"]) for r in found] == [
        (1, 8, "tokenize", 7, 5001), (2, 9, "json.dumps", 7, 5001), (3, 7, OWN, 7, 5001),
        *((4 + i, 10 if i < 5 else 11, name, 7, 5001) for i, name in enumerate(SMALL)),
        (14, 15, "parse", 14, 5001), (15, 14, OWN, 14, 5001), (16, 8, "tokenize", 7, 5002)]


def test_figures_are_those_that_were_written(traced):
    found = rows(traced, "learned calls")
    figures = [[row[name] for name in FIGURES] for row in found]
    assert figures[0] == near(.621, .583, .649, 10000, 57.753e-6, 55e-6, 81.2e-6, 120e-6, 41)
    assert figures[1] == near(.2, .18, .23, 10000, 18.6e-6, 18e-6, 22e-6, 1.2e-3, 38)
    assert figures[2] == near(.08, .07, .1, None, None, None, None, None, None)
    for i, share in enumerate(SHARES):
        assert figures[3 + i] == near(share, share / 2, 2 * share, 10000, 93e-6 * share, 90e-6 * share, 120e-6 * share,
                                      150e-6 * share, 21 + i)
    assert figures[13] == near(.9, 0, 1, 1, .45, .45, .45, .45, None)
    assert sum(row["share"] for row in found[:13]) == pytest.approx(1)


def test_what_is_known_beside_them(traced):
    found = rows(traced, "learned calls")
    assert [r["state"] for r in found] == ["kept", "dropped", None, *10 * ["dropped"], "undecided", None, "undecided"]
    assert [r["kind"] for r in found] == ["python", "python", "body", *5 * ["python"], *5 * ["native"], "python", "body", "python"]
    assert [r["observed_calls"] for r in found] == [300, 38, None, *10 * [30], 1, None, 0]
    assert found[0]["total_s"] == pytest.approx(.621 * .93) and found[0]["variance_s2"] == pytest.approx(1.5e-10)
    names = ["loop_function", "iterations", "observed_iterations", "body_s", "policy", "confidence", "note"]
    assert [found[0][name] for name in names] == ["parse", 10000, 300, .93, "racing", .95, None]
    assert [found[13][name] for name in names] == ["load", 1, 1, .5, "successive rejects", .99,
                                                   "what C code calls by itself is not seen: 2 of 3 calls of map() are in it"]


def test_what_was_not_timed_is_null(traced):
    """A single call has no variance; the child timed none."""
    found = rows(traced, "learned calls")
    assert found[13]["variance_s2"] is None and found[13]["mean_s"] == .45
    assert [found[15][name] for name in ("calls", "observed_calls", "mean_s", "variance_s2", "p50_s", "p95_s", "p99_s")] == [
        0, 0, None, None, None, None, None]


def test_loops(traced):
    found = rows(traced, "learned loops")
    assert [(r["rank"], r["line"], r["function"], r["iterations"], r["observed_iterations"], r["entries"], r["body_s"],
             r["decided_after"], r["call_sites"], r["pid"]) for r in found] == [
        (1, 7, "parse", 10000, 300, 4, .93, 41, 12, 5001), (2, 14, "load", 1, 1, 1, .5, None, 1, 5001),
        (3, 7, "parse", 50, 0, 1, .01, None, 1, 5002)]


@pytest.mark.parametrize("sql, decided_after", [
    ("UPDATE learned_call SET decided_after = 77 WHERE call = 12", 77),
    ("UPDATE learned_call SET state = 1, decided_after = NULL WHERE call = 12", None),
    ("UPDATE learned_call SET state = 1, decided_after = NULL, calls = 0 WHERE call = 12", 41),   # never called
    ("DELETE FROM learned_call WHERE call > 0", None),
])
def test_a_loop_is_decided_when_all_of_its_calls_are(changed, sql, decided_after):
    assert rows(changed(sql), "learned loops")[0]["decided_after"] == decided_after


def test_a_callee_without_a_name_is_not_the_loops_own_code(changed):
    [row] = rows(changed("UPDATE learned_call SET callee = NULL WHERE call = 2"), "top 1 learned calls of parse.py:9")
    assert (row["function"], row["kind"], row["calls"]) == (None, "python", 10000)


def test_questions_can_be_narrowed(traced):
    assert [r["function"] for r in rows(traced, "top 2 learned calls")] == ["tokenize", "json.dumps"]
    assert [(r["rank"], r["function"]) for r in rows(traced, "learned calls of parse.py:9")] == [(1, "json.dumps")]
    assert [r["line"] for r in rows(traced, "learned calls in parse.py:14")] == [15, 14]
    assert len(rows(traced, "learned calls of parse.py:7")) == 14 and len(rows(traced, "learned calls in src/parse.py")) == 16
    assert [r["function"] for r in rows(traced, "learned loops of parse.py:14")] == ["load"]
    assert [r["function"] for r in rows(traced, "learned calls in function tokenize")] == ["tokenize"] * 2
    assert "parse.py" in traced("query", "a.db", "learned calls in pasre.py").complaint
    assert traced("query", "a.db", "learned calls by function").returncode == 1


@pytest.mark.parametrize("question, same", [("learned", "learned calls"), ("traced calls", "learned calls"),
                                            ("traced loops", "learned loops"), ("show me the learned call sites", "learned calls"),
                                            ("loop calls", "learned calls"), ("loops", "learned loops"),
                                            ("all learned calls", "learned calls")])
def test_other_words_for_it(traced, question, same):
    assert rows(traced, question) == rows(traced, same) != []


@pytest.mark.parametrize("question", ["learned calls", "learned loops"])
def test_where_nothing_was_traced_it_is_said_how_to(traced, question):
    assert rows(traced, question, "--run", "1") == []
    text = traced("query", "a.db", question, "--run", "1").text
    assert text.startswith("nothing found; ") and text.count("\n") == 1
    assert "pieprof --learn FILE:LINE" in text and "for x in pieprof.loop(" in text


@pytest.mark.parametrize("question", ["learned calls", "learned loops"])
def test_csv_has_the_same_values_as_json(traced, question):
    parsed = list(csv.DictReader(io.StringIO(traced("query", "a.db", question, "--csv").text, newline="")))
    expected = rows(traced, question)
    assert len(parsed) == len(expected) > 0
    for text, row in zip(parsed, expected):
        assert list(text) == list(row)
        for key, value in row.items():
            assert text[key] == ("" if value is None else value) if not isinstance(value, (int, float)) else \
                float(text[key]) == pytest.approx(value)


@pytest.mark.parametrize("view", ["v_learned", "v_learned_loop"])
def test_the_views_can_be_read_by_other_programs(traced, tmp_path, view):
    with exported(traced, tmp_path) as file:
        file.row_factory = sqlite3.Row
        theirs = [dict(row) for row in file.execute(f"SELECT * FROM {view} WHERE run = 2")]
    ours = rows(traced, f"SELECT * FROM {view} WHERE run = :run")
    assert len(ours) == len(theirs) > 0 and list(ours[0])[0] == "run"
    for our, their in zip(ours, theirs):
        assert our == {key: pytest.approx(value) if isinstance(value, float) else value for key, value in their.items()}


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
@pytest.mark.parametrize("question", ["learned calls", "learned loops"])
def test_tables_keep_to_the_width(traced, question, columns):
    done = traced("query", "a.db", question, env=clean_environment(COLUMNS=str(columns)))
    lines = [line for line in done.text.splitlines() if "did not fit" not in line]
    assert done.returncode == 0 and len(lines) == len(rows(traced, question)) + 1 and "\x1b" not in done.text
    if columns >= 80:
        assert max(map(len, lines)) <= columns


def test_people_read_microseconds(traced):
    text = traced("query", "a.db", "learned calls", env=clean_environment(COLUMNS="900")).text
    assert re.search(r"tokenize +62\.1 % +58\.3 % +64\.9 % +10000 +57\.8 us +55\.0 us +81\.2 us +120 us +41 kept", text)
    assert re.search(r"own code\) +8\.0 % +7\.0 % +10\.0 %( +-){7} ", text)


# The report.

def report(program, *options, columns=100):
    return program("report", "a.db", *options, env=clean_environment(COLUMNS=str(columns), LC_ALL="C.UTF-8")).text


def test_the_report_tells_each_loop_and_its_calls(traced):
    text = report(traced)
    assert """
Loop src/parse.py:7 in parse of process 5001: 930 ms in the body, entered 4 times; sure at 95 %
  after 41 of 10000 iterations
  for line in lines:
       share call                  at              calls    mean     p95     p99
62.1 ± 3.8 % tokenize              src/parse.py:8  10000 57.8 us 81.2 us  120 us
20.0 ± 3.0 % json.dumps            src/parse.py:9  10000 18.6 us 22.0 us 1.20 ms
 8.0 ± 2.0 % (the loop's own code) src/parse.py:7      -       -       -       -
 1.8 ± 1.8 % one                   src/parse.py:10 10000 1.67 us 2.16 us 2.70 us
""" in text
    assert """
3 more: --all shows them

Loop src/parse.py:14 in load of process 5001: 500 ms in the body; not sure at 99 % after 1 of 1
  iteration
  for path in paths:
  what C code calls by itself is not seen: 2 of 3 calls of map() are in it
        share call                  at              calls   mean    p95    p99
90.0 ± 90.0 % parse                 src/parse.py:15     1 450 ms 450 ms 450 ms
""" in text
    assert text.count("\nLoop ") == 3 and "m.eight" not in text and "\x1b" not in text


def test_all_shows_every_call(traced):
    text = report(traced, "--all")
    assert "m.eight" in text and "m.ten" in text and "more" not in text


def test_of_many_loops_the_costliest_are_reported(changed):
    program = changed("INSERT INTO learned_loop SELECT 3, 1 + value, '/x.py', 1, 'f', 'racing', 0.95, 1, 2, 2, 0.001, NULL"
                      " FROM (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3)")
    text = report(program)
    assert text.count("\nLoop ") == 5 and "\n\n1 more traced loop: --all shows it\n" in text
    assert report(program, "--all").count("\nLoop ") == 6


def test_one_process_is_not_named(changed):
    text = report(changed("DELETE FROM learned_loop WHERE process = 3"))
    assert "\nLoop " in text and "of process" not in text


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_report_keeps_to_the_width(traced, columns):
    lines = report(traced, columns=columns).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("Loop "))
    if columns >= 60:
        assert max(len(line) for line in lines[first:]) <= max(columns, 80)
    for line in lines[first:]:
        if columns >= 60 and re.match(r" *\d+\.\d ± ", line):
            assert len(line) <= columns


def test_where_nothing_was_traced_the_report_says_nothing(traced):
    text = report(traced, "--run", "1")
    assert "\nLoop" not in text and "traced loop" not in text


@pytest.mark.parametrize("sql", [
    "UPDATE learned_call SET share = 9e999, share_low = -9e999, mean_s = 9e999, p95_s = -1e308, calls = -9223372036854775808",
    "UPDATE learned_call SET share = 'much', calls = x'00ff', mean_s = 'long', state = 77, call = -call, callee = x'ff00'",
    "UPDATE learned_loop SET body_s = -1e308, confidence = 9e999, iterations = -1, entries = 9223372036854775807",
    "UPDATE learned_loop SET body_s = 'x', confidence = x'00', line = 'y', function = char(27) || '[31m' || char(10), file = x'fe'",
    "UPDATE learned_loop SET file = '', function = '', note = char(10) || char(8238), policy = 7",
    "DELETE FROM learned_loop", "DELETE FROM learned_call", "DELETE FROM process"])
def test_hostile_rows_end_in_an_answer_or_a_message(changed, sql):
    program = changed(sql)
    for words in (["report", "a.db"], ["report", "a.db", "--all"], ["query", "a.db", "learned calls"],
                  ["query", "a.db", "learned loops"], ["query", "a.db", "learned calls", "--json"]):
        done = program(*words, env=clean_environment(COLUMNS="80"))
        assert done.returncode in (0, 1) and "\x1b" not in done.text
        assert "\u202e" not in done.text or "--json" in words
        assert done.complaint.count("\n") == done.returncode
