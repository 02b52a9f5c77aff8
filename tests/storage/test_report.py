# SPDX-License-Identifier: Apache-2.0
"""`pieprof report`, `runs` and `export` on the known profile of fixture.c."""

import contextlib
import json
import re
import sqlite3

import pytest
from conftest import is_one_line


def test_the_report_shows_each_line_with_its_cost(program):
    done = program("report", "a.db")
    assert done.returncode == 0 and done.complaint == ""
    lines = done.text.splitlines()
    costs = {line.split("  ")[-1].strip(): line for line in lines}
    assert re.match(r" +0\.600 +60\.0 % +100 % +0 % +0 % +0\.00 +6  +total", next(line for line in lines if "total +=" in line))
    assert re.match(r" +0\.300 +30\.0 % +17 % +58 % +25 %", next(line for line in lines if "fastlib.crunch" in line))
    assert "Fast-Lib 0.30 s" in done.text
    assert "return total" in costs and not re.match(r" *\d\.\d", costs["return total"])
    assert [line for line in lines if line.endswith("  Fast-Lib")]
    assert "core.py" not in done.text


def test_all_unfolds_the_libraries(program):
    text = program("report", "a.db", "--all").text
    assert "core.py  Fast-Lib, 0.300 s" in text and "return _native.sort(xs)" in text


def test_the_report_of_an_older_run(program):
    assert program("report", "a.db", "--run", "1").text.startswith("Run 1: ")
    assert program("report", "a.db").text.startswith("Run 2: ")
    assert program("report", "a.db", "--run", "7").returncode == 1


def test_runs_lists_the_runs(program):
    done = program("runs", "a.db", "--json")
    assert [row["run"] for row in json.loads(done.text)["rows"]] == [1, 2]
    assert program("runs", "a.db", "b.db").returncode == 2


COLLAPSED = {
    "<module> (app.py:1);main (app.py:9)": 50000,
    "<module> (app.py:1);main (app.py:9);work (app.py:3)": 650000,
    "<module> (app.py:1);main (app.py:9);crunch (core.py:1)": 50000,
    "<module> (app.py:1);main (app.py:9);crunch (core.py:1);sort (_native.so)": 100000,
    "<module> (app.py:1);main (app.py:9);crunch (core.py:1);sort (_native.so);compare (_native.so)": 150000,
}


def test_collapsed_has_each_stack_once_in_microseconds(program):
    done = program("export", "a.db", "-f", "collapsed")
    stacks = [line.rpartition(" ") for line in done.text.splitlines()]
    assert {stack: int(weight) for stack, _, weight in stacks} == COLLAPSED
    assert len(stacks) == len(COLLAPSED)


def check_speedscope(file):
    """What https://www.speedscope.app/file-format-schema.json requires of sampled profiles."""
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(file) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    for frame in file["shared"]["frames"]:
        assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}
        assert isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 1), int)
    for profile in file["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert profile["type"] == "sampled" and profile["unit"] == "seconds" and profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"]) > 0
        assert sum(profile["weights"]) == pytest.approx(profile["endValue"])
        for stack in profile["samples"]:
            assert stack and all(0 <= frame < len(file["shared"]["frames"]) for frame in stack)


def test_speedscope_is_one_profile_for_each_thread_with_cpu_time(program, tmp_path):
    out = tmp_path / "x.speedscope.json"
    assert program("export", "a.db", "-o", out).returncode == 0
    file = json.loads(out.read_text())
    check_speedscope(file)
    assert [profile["name"] for profile in file["profiles"]] == ["MainThread (process 4001, thread 4001)"]
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    stacks = {";".join(frames[i] for i in stack): round(weight * 1e6)
              for stack, weight in zip(file["profiles"][0]["samples"], file["profiles"][0]["weights"])}
    assert stacks == COLLAPSED


@pytest.mark.parametrize("words, status, hint", [
    (["a.db"], 2, "collapsed, speedscope"),
    (["a.db", "-f", "pdf"], 2, "collapsed, speedscope"),
    (["a.db", "-o", "x.pdf"], 2, "collapsed, speedscope"),
    (["a.db", "-f", "collapsed", "-o", "a.db"], 1, "itself"),
    (["a.db", "-f", "collapsed", "-o", "no/such/x.txt"], 1, "no/such"),
    (["a.db", "-f", "collapsed", "--run", "9"], 1, "1 to 2"),
    (["a.db", "-f"], 2, "usage"),
    (["no.db", "-f", "collapsed"], 1, "no.db"),
])
def test_what_is_wrong_with_an_export_is_said_in_one_line(program, words, status, hint):
    done = program("export", *words)
    assert done.returncode == status and done.text == ""
    assert is_one_line(done.complaint) and hint in done.complaint


def test_a_failed_export_leaves_the_old_file(program, tmp_path):
    out = tmp_path / "x.txt"
    out.write_text("old")
    empty = tmp_path / "empty.db"
    empty.write_bytes(program.db.read_bytes())
    with contextlib.closing(sqlite3.connect(empty)) as file:
        file.execute("DELETE FROM sample")
        file.commit()
    assert program("export", empty, "-f", "collapsed", "-o", out).returncode == 1
    assert out.read_text() == "old" and list(tmp_path.glob("x.txt.*")) == []
