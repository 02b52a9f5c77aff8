# SPDX-License-Identifier: Apache-2.0
"""Files of other versions of pieprof: those that were released are read, of others one line says what to do, and
nothing in any of them is touched. files/ has one of each version that was released: what a pieprof of that time wrote
of files/program.py."""

import contextlib
import pathlib
import sqlite3

import pytest
from conftest import Program, exported, is_one_line, rows

FILES = pathlib.Path(__file__).parent / "files"
QUESTIONS = ["hot lines", "hot functions", "native functions", "libraries", "memory", "peak", "leaks", "copies", "redundant loads",
             "redundant stores", "pairs", "threads", "processes", "runs", "overhead", "drops", "environment", "call tree",
             "waiting", "memory timeline", "hot lines in program.py"]


SAME_TABLES = 1100  # 11.1 added values of columns only


def version_of(path):
    with contextlib.closing(sqlite3.connect(path)) as file:
        return file.execute("PRAGMA user_version").fetchone()[0]


def with_version(program, folder, version):
    copy = Program(folder)
    copy.db.write_bytes(program.db.read_bytes())
    with contextlib.closing(sqlite3.connect(copy.db)) as file:
        file.execute(f"PRAGMA user_version = {version}")
    return copy


@pytest.fixture(params=["older", "newer"])
def other(request, program, tmp_path):
    copy = with_version(program, tmp_path, 5 if request.param == "older" else 1200)
    copy.word = request.param
    return copy


@pytest.fixture(params=sorted(FILES.glob("*.db")), ids=lambda path: path.stem)
def released(request, tmp_path):
    old = Program(tmp_path)
    old.db.write_bytes(request.param.read_bytes())
    old.version = int(request.param.stem.removeprefix("version-"))
    return old


def test_there_is_a_file_of_each_version_that_is_read(program):
    versions = {int(path.stem.removeprefix("version-")) for path in FILES.glob("*.db")}
    assert versions == {6, 7, 8, 900, 1000, 1100}
    assert all(version_of(FILES / f"version-{version}.db") == version for version in versions)


def test_a_file_of_a_released_version_answers_all_questions(released):
    before = released.db.read_bytes()
    answers = {question: rows(released, question) for question in QUESTIONS}
    assert released.db.read_bytes() == before and sorted(p.name for p in released.folder.iterdir()) == ["a.db"]
    busy, *_ = answers["hot lines"]
    assert busy["function"] == "work" and busy["cpu_share"] > 0.5
    assert [row["function"] for row in answers["hot lines in program.py"]][0] == "work"
    assert sum(row["allocated_bytes"] for row in answers["memory"]) > 10e6
    (process,) = answers["processes"]
    assert process["exit_status"] == 0
    for what in ("report", "runs"):
        assert released(what, "a.db").returncode == 0
    assert released("export", "a.db", "-f", "collapsed").text.count("work") > 0


def test_a_merge_makes_a_file_of_today_of_it(released, program, tmp_path):
    """All answers are the old file's."""
    before = {question: rows(released, question) for question in QUESTIONS}
    assert released("merge", "new.db", "a.db").returncode == 0
    new = Program(tmp_path)
    new.db.write_bytes((tmp_path / "new.db").read_bytes())
    assert version_of(new.db) == version_of(program.db)
    assert {question: rows(new, question) for question in QUESTIONS} == before


def test_a_run_goes_beside_an_older_file(released):
    if released.version == SAME_TABLES:
        pytest.skip("its tables are those of today: it is appended to")
    before = released.db.read_bytes()
    done = released("-q", "-o", "a.db", "-c", "print('ran')")
    assert done.text == "ran\n"
    assert is_one_line(done.complaint) and str(released.folder / "a-2.db") in done.complaint
    assert released.db.read_bytes() == before


def test_a_run_is_appended_to_a_file_with_the_tables_of_today(tmp_path):
    old = Program(tmp_path)
    old.db.write_bytes((FILES / f"version-{SAME_TABLES}.db").read_bytes())
    done = old("-q", "-o", "a.db", "-c", "print('ran')")
    assert (done.text, done.complaint) == ("ran\n", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db"] and len(rows(old, "runs")) == 2


def test_a_newer_minor_version_is_read_and_what_it_adds_is_not_seen(program, tmp_path):
    newer = with_version(program, tmp_path, version_of(program.db) + 1)
    with contextlib.closing(sqlite3.connect(newer.db)) as file:
        file.execute("ALTER TABLE sample ADD COLUMN more INTEGER NOT NULL DEFAULT 3")
        file.execute("CREATE TABLE slice (process INTEGER, id INTEGER, more TEXT)")
        file.commit()
    for question in QUESTIONS[:8]:
        assert rows(newer, question) == rows(program, question)
    done = newer("-q", "-o", "a.db", "-c", "print('ran')")
    assert done.text == "ran\n" and "a-2.db" in done.complaint


def test_views_go_out_with_an_export_and_into_no_file(program, tmp_path):
    with contextlib.closing(sqlite3.connect(program.db)) as file:
        assert file.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'view'").fetchone() == (0,)
    with exported(program, tmp_path) as file:
        names = [name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
        assert len([name for name in names if name.startswith("v_")]) > 20
        for name in names:
            file.execute(f"SELECT * FROM {name} LIMIT 3").fetchall()
        lines = [line for (line,) in file.execute("SELECT line FROM v_line WHERE run = 2 AND file IS NOT NULL ORDER BY rank")]
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert lines == [row["line"] for row in rows(program, "top all hot lines")]
    copy = Program(tmp_path)
    copy.db.write_bytes((tmp_path / "a.sqlite").read_bytes())
    assert rows(copy, "hot lines") == rows(program, "hot lines")


def test_an_export_of_one_run_has_that_run(program, tmp_path):
    assert program("export", "a.db", "-f", "sqlite", "--run", "1", "-o", str(tmp_path / "one.sqlite")).returncode == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "one.sqlite")) as file:
        assert file.execute("SELECT DISTINCT run FROM v_line").fetchall() == [(1,)]
        assert file.execute("SELECT id FROM run").fetchall() == [(1,)]


def test_a_file_of_another_version_is_not_read(other):
    for words in (["query", "a.db", "hot lines"], ["report", "a.db"], ["runs", "a.db"], ["export", "a.db", "-f", "collapsed"]):
        done = other(*words)
        assert done.returncode == 1 and done.text == "" and is_one_line(done.complaint)
        assert other.word in done.complaint and "a.db" in done.complaint


def test_nothing_is_appended_to_a_file_of_another_version(other):
    before = other.db.read_bytes()
    done = other("-q", "-o", "a.db", "-c", "print('ran')")
    assert done.returncode == 0 and done.text == "ran\n" and is_one_line(done.complaint)
    assert "another version" in done.complaint and str(other.folder / "a-2.db") in done.complaint
    assert other.db.read_bytes() == before and sorted(p.name for p in other.folder.iterdir()) == ["a-2.db", "a.db"]
