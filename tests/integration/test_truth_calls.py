# SPDX-License-Identifier: Apache-2.0
"""Inclusive time of functions that burn known parts of the CPU time; text, JSON and SQL agree."""
import re
import sqlite3

import pytest

from helpers import TRUTH, binary, clean_environment, query, run

SECONDS, ALL = 2.8, 14
TOTALS = {"main": 14, "outer": 7, "middle": 6, "inner": 8, "recursive": 3, "burn": 14}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    done = run([binary(), "-q", "-o", folder / "x.db", TRUTH / "nested.py", SECONDS])
    assert done.returncode == 0, done.stderr
    return folder / "x.db"


def shares(rows, share="total_share"):
    return {row["function"]: row[share] for row in rows}


def test_each_function_has_its_part_of_the_process(db):
    """2800 samples; 3 points are more than 3 sigmas of the largest part."""
    found = shares(query(db, "own functions in nested.py"))
    whole = found["<module>"]
    assert whole == pytest.approx(1, abs=0.05)  # the start of Python is the rest
    for function, parts in TOTALS.items():
        assert found[function] / whole == pytest.approx(parts / ALL, abs=0.03), function


def test_the_main_function_has_the_time_of_the_process(db):
    found = {row["function"]: row["total_s"] for row in query(db, "own functions in nested.py")}
    process = query(db, "processes")[0]["cpu_s"]
    assert found["main"] <= found["<module>"] <= process and found["main"] == pytest.approx(process, rel=0.06)
    outside = "select sum(s.python_ns + s.native_ns + s.system_ns) / 1e9 s from sample s join node n on n.process = s.process" \
              " and n.id = s.node where n.line_location is null"
    roots = query(db, "select sum(total_s) s from v_caller where run = :run and line is null")[0]["s"]
    assert roots + (query(db, outside)[0]["s"] or 0) == pytest.approx(process, rel=1e-6)


def test_callers_have_their_parts(db):
    callers = {row["function"]: row["part_share"] for row in query(db, "callers of inner")}
    assert callers == {"middle": pytest.approx(0.5, abs=0.04), "main": pytest.approx(0.5, abs=0.04)}
    callees = shares(query(db, "callees of outer"), "part_share")
    assert callees["outer.<locals>.<lambda>"] == pytest.approx(6 / 7, abs=0.03) and callees["burn"] == pytest.approx(1 / 7, abs=0.03)
    assert sum(callees.values()) == pytest.approx(1)
    callees = shares(query(db, "callees of recursive"), "part_share")
    assert callees["burn"] == pytest.approx(1, abs=0.02) and "recursive" not in callees


def test_text_json_and_sql_agree(db, tmp_path):
    done = run([binary(), "export", db, "-f", "sqlite", "-o", tmp_path / "x.sqlite"])
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "x.sqlite") as file:
        alone = dict(file.execute("select function, total_s from v_total_function where library is null"))
    asked = {row["function"]: row["total_s"] for row in query(db, "own functions")}
    assert asked == pytest.approx(alone, abs=1e-9)
    text = run([binary(), "report", db], env=clean_environment(COLUMNS="120")).stdout.split("\n\n")[1]
    told = re.findall(r"^ +([\d.]+) +([\d.]+) % +([\d.]+) %.{2}[│├└ ]*(\S+)", text, re.M)
    tree = query(db, "tree")
    assert [(name, float(seconds)) for seconds, _, _, name in told] == [(row["function"], round(row["total_s"], 3)) for row in tree]
    outer = next(row for row in tree if row["function"] == "outer")
    assert outer["total_s"] == pytest.approx(asked["outer"], abs=1e-9)
