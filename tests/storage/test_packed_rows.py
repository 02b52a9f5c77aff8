# SPDX-License-Identifier: Apache-2.0
"""Rows of finished slices are packed as docs/file.md says, and whoever asks for them finds all: held against a decoder
of its own."""

import contextlib
import sqlite3

import packed
import pytest
from conftest import Program, exported, rows

TABLES = sorted(packed.TABLES)


PROGRAM = """
import time

kept = []


def work(rounds):
    return sum(i * i % 7 for i in range(rounds))


end = time.monotonic() + 3.5
while time.monotonic() < end:
    work(20_000)
    kept.append(bytearray(bytes(2_000_000)))
    del kept[:-3]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Some seconds of a program that computes, allocates and copies."""
    profile = Program(tmp_path_factory.mktemp("packed"))
    (profile.folder / "app.py").write_text(PROGRAM)
    assert profile("-q", "-o", "a.db", "app.py").returncode == 0
    return profile


def as_set(found):
    """Of rows as dicts, without an order of rows or columns."""
    return sorted(tuple(sorted(row.items())) for row in found)


def truth(db, table):
    with contextlib.closing(sqlite3.connect(db)) as file:
        return as_set(packed.rows_of(file, table))


def test_the_profile_has_rows_of_both_sorts(whole):
    with contextlib.closing(sqlite3.connect(whole.db)) as file:
        for table in TABLES:
            assert file.execute(f"SELECT count(*) > 0 FROM {table}").fetchone() == (1,)
            assert file.execute("SELECT count(*) > 0 FROM packed WHERE kind = ?", packed.TABLES[table][:1]).fetchone() == (1,)


@pytest.mark.parametrize("table", TABLES)
def test_a_query_sees_all_rows(whole, table):
    """To the digit, which the answer's own reals are not."""
    squares = packed.TABLES[table][3]
    text = f"select *, printf('%!.17g', {squares}) as exact from"
    expected = truth(whole.db, table)
    for source in (table, f"{table.upper()} where process in (select id from process) and slice_s >= 0"):
        found = [{**row, squares: float(row["exact"])} for row in rows(whole, f"{text} {source}")]
        assert as_set([{name: value for name, value in row.items() if name != "exact"} for row in found]) == expected


@pytest.mark.parametrize("table", TABLES)
def test_an_export_has_plain_rows(whole, tmp_path, table):
    with exported(whole, tmp_path) as file:
        assert file.execute("SELECT count(*) FROM packed").fetchone() == (0,)
    assert truth(tmp_path / "a.sqlite", table) == truth(whole.db, table)


def test_a_merge_takes_them_as_they_are(whole, tmp_path):
    assert whole("merge", tmp_path / "b.db", "a.db").returncode == 0
    for table in TABLES:
        assert truth(tmp_path / "b.db", table) == truth(whole.db, table)
    with contextlib.closing(sqlite3.connect(whole.db)) as file, contextlib.closing(sqlite3.connect(tmp_path / "b.db")) as merged:
        every = "SELECT slice_s, kind, block, rows FROM packed ORDER BY 1, 2, 3, 4"
        assert merged.execute(every).fetchall() == file.execute(every).fetchall()


@pytest.mark.parametrize("question", ["hot lines", "slices", "copies", "threads", "hot lines in app.py", "hot lines in the last 2 s",
                                      "hot functions in the last 2 s", "select sum(samples) n from sample",
                                      "select * from v_slice order by run, slice, t_s"])
def test_answers_are_those_of_plain_rows(whole, tmp_path, question):
    """As an export has them."""
    assert whole("export", "a.db", "-f", "sqlite", "-o", tmp_path / "a.db").returncode == 0
    plain = Program(tmp_path)
    for options in ([], ["--process", "1"]):
        assert rows(plain, question, *options) == rows(whole, question, *options)


@pytest.mark.parametrize("data", [b"", b"\2", b"\1\0", b"\1" + b"\xff" * 40, None, "text"])
def test_damage_is_reported_in_a_line(whole, tmp_path, data):
    copy = Program(tmp_path)
    copy.db.write_bytes(whole.db.read_bytes())
    with contextlib.closing(sqlite3.connect(copy.db)) as file:
        if data is None:
            file.execute("UPDATE packed SET block = -1 WHERE kind = 1")
        else:
            file.execute("UPDATE packed SET rows = ? WHERE kind = 1", (data,))
        file.commit()
    for words in (["query", "a.db", "hot lines"], ["query", "a.db", "select * from sample"], ["export", "a.db", "-f", "collapsed"]):
        done = copy(*words)
        assert done.returncode == 1 and "a.db is damaged: packed rows of sample" in done.complaint
        assert done.complaint.count("\n") == 1
