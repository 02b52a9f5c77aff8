# SPDX-License-Identifier: Apache-2.0
"""Inclusive time, callers, callees and the compact tree, on the known profile of fixture.c and on made-up recursion."""

import json
import re

import pytest
from conftest import changer, clean_environment, exported, rows

VIEWS = ["v_total_function", "v_total_line", "v_caller", "v_callee"]


def near(value):
    return pytest.approx(value, abs=1e-9)


def totals(program, question):
    return {row["function"]: (row["total_s"], row["self_s"], row["wait_s"]) for row in rows(program, question)}


def test_functions_have_all_that_ran_below_them(program):
    """Thread 2 waits in main, below native code that starts it."""
    expected = {"<module>": (near(1), 0, 0), "main": (near(1), near(0.05), near(0.4)), "work": (near(0.65), near(0.65), 0)}
    assert totals(program, "own functions") == expected
    assert totals(program, "total functions") == {**expected, "crunch": (near(0.3), near(0.3), 0)}
    hot = {row["function"]: row["cpu_s"] for row in rows(program, "hot functions")}
    assert {name: own for name, (_, own, _) in totals(program, "total functions").items() if name in hot} == hot


def test_lines_have_all_that_ran_below_them(program):
    found = {(row["function"], row["line"]): (row["total_s"], row["self_s"]) for row in rows(program, "total lines")}
    assert found == {("<module>", 13): (near(1), 0), ("main", 10): (near(0.7), near(0.05)), ("main", 11): (near(0.3), 0),
                     ("work", 6): (near(0.6), near(0.6)), ("work", 5): (near(0.05), near(0.05)), ("crunch", 2): (near(0.3), near(0.3))}
    assert not [row for row in rows(program, "own total lines") if row["function"] == "crunch"]


def test_callers_and_callees_are_parts_of_a_function(program):
    callers = [(row["function"], row["line"], row["total_s"], row["part_share"], row["wait_s"])
               for row in rows(program, "callers of main")]
    assert callers == [("<module>", 13, near(1), near(1), 0), ("(nothing)", None, 0, 0, near(0.4))]
    callees = [(row["function"], row["kind"], row["total_s"], row["part_share"]) for row in rows(program, "callees of main")]
    assert callees == [("work", "python", near(0.65), near(0.65)), ("crunch", "python", near(0.3), near(0.3)),
                       ("(its own code)", "self", near(0.05), near(0.05))]
    callees = [(row["function"], row["kind"], row["library"], row["total_s"]) for row in rows(program, "callees of crunch")]
    assert callees == [("sort", "native", "Fast-Lib", near(0.25)), ("(its own code)", "self", None, near(0.05))]


# main -> a (10) -> b (20) -> a (30) -> a (40), with a sample of 100 ms at each; then b alone from main (50).
RECURSION = (
    "DELETE FROM sample", "DELETE FROM packed", "DELETE FROM node WHERE id > 2",
    "UPDATE function SET name = 'a' WHERE name = 'work'", "UPDATE function SET name = 'b', kind = 1 WHERE name = 'crunch'",
    *(f"INSERT INTO node (process, id, parent, location, line_location, own_location) VALUES (1, {node}, {parent}, {place}, {place}, {place})"
      for node, parent, place in ((10, 2, 4), (20, 10, 6), (30, 20, 4), (40, 30, 5), (50, 2, 6))),
    *(f"INSERT INTO sample (process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns, system_ns, wait_ns,"
      f" runnable_ns, throttled_ns, cpu_sq_ns2) VALUES (1, 0, {node}, 1, 100, 0, 100000000, 0, 0, 0, 0, 0, 1e14)"
      for node in (10, 20, 30, 40, 50)))


@pytest.fixture(scope="module")
def recursion(program, tmp_path_factory):
    return changer(program, tmp_path_factory.mktemp("recursion"))(*RECURSION)


def test_recursion_counts_once(recursion):
    found = {row["function"]: (row["total_s"], row["self_s"]) for row in rows(recursion, "total functions", "--run", "1")}
    assert found == {"<module>": (near(0.5), 0), "main": (near(0.5), 0), "a": (near(0.4), near(0.3)), "b": (near(0.4), near(0.2))}
    lines = {row["line"]: row["total_s"] for row in rows(recursion, "total lines", "--run", "1") if row["function"] == "a"}
    assert lines == {5: near(0.4), 6: near(0.1)}


def parts(recursion, question):
    return {(row["function"], row["line"]): row["total_s"] for row in rows(recursion, question, "--run", "1")}


def test_of_recursion_the_outermost_is_called_and_the_innermost_calls(recursion):
    """So callers and callees each add up to the function."""
    assert parts(recursion, "callers of a") == {("main", 10): near(0.4)}
    assert parts(recursion, "callers of b") == {("a", 5): near(0.3), ("main", 10): near(0.1)}
    assert parts(recursion, "callees of a") == {("(its own code)", None): near(0.3), ("b", 1): near(0.1)}
    assert parts(recursion, "callees of b") == {("a", 3): near(0.2), ("(its own code)", None): near(0.2)}
    for question in "callers of a", "callers of b", "callees of a", "callees of b":
        assert sum(parts(recursion, question).values()) == near(0.4)


def test_the_tree_has_a_recursive_function_once_below_another(recursion):
    found = [(row["depth"], row["function"], row["total_s"], row["self_s"]) for row in rows(recursion, "tree", "--run", "1")]
    assert found == [(1, "<module>", near(0.5), 0), (2, "main", near(0.5), 0), (3, "a", near(0.4), near(0.1)),
                     (4, "b", near(0.3), near(0.1)), (5, "a", near(0.2), near(0.2)),
                     (3, "b", near(0.1), near(0.1))]


@pytest.mark.parametrize("view", VIEWS)
def test_other_programs_find_the_same_by_sql_alone(program, recursion, tmp_path, view):
    """The view is written in SQL, and the reader has a table instead of it."""
    for profile in program, recursion:
        with exported(profile, tmp_path) as file:
            cursor = file.execute(f"select * from {view} order by run, rank")
            names = [column[0] for column in cursor.description]
            alone = [dict(zip(names, row)) for row in cursor]
        asked = rows(profile, f"select * from {view} order by run, rank")
        assert asked == [{name: near(value) if isinstance(value, float) else value for name, value in row.items()} for row in alone]


def cpu_of(row):
    """By lines of own code that were at work, the table has what took processor time."""
    waits = ("samples", "wait_ns", "runnable_ns", "throttled_ns") if row["kind"] >= 5 else ()
    return {name: 0 if name in waits else value for name, value in row.items()}


SUMS = "select * from x_call_time where process = {} order by kind, function, location, other"


def test_other_programs_find_the_same_sums_by_sql_alone(program, recursion, tmp_path):
    for profile in program, recursion:
        with exported(profile, tmp_path) as file:
            cursor = file.execute(SUMS.format(1))
            names = [column[0] for column in cursor.description]
            alone = [dict(zip(names, row)) for row in cursor]
        asked = rows(profile, SUMS.format(1))
        assert [cpu_of(row) for row in alone if any(cpu_of(row)[name] for name in names[5:])] == [cpu_of(row) for row in asked]
    assert {row["kind"] for row in rows(program, SUMS.format(1))} == {1, 2, 3, 4, 5, 6}


def test_a_place_chooses_rows_and_a_thread_what_is_measured(program):
    assert set(totals(program, "total functions in app.py")) == {"<module>", "main", "work"}
    assert totals(program, "total functions in Fast-Lib") == {"crunch": (near(0.3), near(0.3), 0)}
    assert set(totals(program, "total functions of thread 2")) == {"main"}
    assert totals(program, "total functions in slice 1")["work"] == (near(0.35), near(0.35), 0)


def test_libraries_are_folded_in_the_compact_tree(program):
    found = [(row["depth"], row["function"], row["line"], row["library"], row["total_s"], row["parent_share"]) for row in rows(program, "tree")]
    assert found == [(1, "<module>", 13, None, near(1), near(1)), (2, "main", 10, None, near(1), near(1)),
                     (3, "work", 6, None, near(0.65), near(0.65)), (3, "crunch", 2, "Fast-Lib", near(0.3), near(0.3)),
                     (1, "main", 10, None, 0, 0)]
    assert [row["function"] for row in rows(program, "top 3 tree")] == ["<module>", "main", "work"]


TREE = r"^ +([\d.]+) +([\d.]+) % +([\d.]+) %(?: +[\d.]+)?  (?:[│├└ ]*)(\S+)(?: (\[\S+\]))?(?:  (\S+:\d+))?(?:  (.*))?$"


def test_the_report_begins_with_the_tree(program):
    """Text, JSON and SQL agree."""
    text = program("report", "a.db", env=clean_environment(COLUMNS="120")).text
    head, tree, *_ = text.split("\n\n")
    assert tree.startswith("Where the time goes\n   CPU s ")
    told = [match.groups() for match in re.finditer(TREE, tree, re.M)]
    asked = rows(program, "tree")
    assert [(float(line[0]), line[3]) for line in told] == [(round(row["total_s"], 3), row["function"]) for row in asked]
    assert [float(line[2]) for line in told] == [near(round(100 * row["parent_share"], 1)) for row in asked]
    assert told[2][5:] == ("app.py:6", "total += i * i") and told[3][4] == "[Fast-Lib]"
    assert rows(program, "select function, total_s from own_tree where run = :run order by id") == [
        {"function": row["function"], "total_s": row["total_s"]} for row in asked]
    assert program("query", "a.db", "tree", env=clean_environment(COLUMNS="120")).text in text


def test_a_tree_keeps_to_the_width_of_the_terminal(program):
    for columns in 60, 80, 100:
        lines = program("query", "a.db", "tree", env=clean_environment(COLUMNS=str(columns))).text.splitlines()
        assert max(map(len, lines)) <= columns


def test_csv_and_json_have_the_same_rows(program):
    for question in "own functions", "callers of main", "callees of main", "tree":
        text = program("query", "a.db", question, "--csv").stdout.decode()
        assert len(text.splitlines()) == 1 + len(rows(program, question))


def test_a_hostile_tree_ends(program, tmp_path):
    """Nodes that are their own ancestors, parents that are not there, sums beyond all bounds."""
    change = changer(program, tmp_path)
    odd = change("UPDATE node SET parent = 4 WHERE id = 2", "UPDATE node SET parent = 99999 WHERE id = 3",
                 "UPDATE sample SET python_ns = 9223372036854775807 WHERE node = 6")
    for question in "total functions", "total lines", "callers of main", "callees of main", "tree":
        done = odd("query", "a.db", question, "--json")
        assert done.returncode == 0 or done.complaint.count("\n") == 1
        assert done.returncode == 1 or json.loads(done.text)["rows"] is not None
