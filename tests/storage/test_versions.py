# SPDX-License-Identifier: Apache-2.0
"""Files of other versions of pieprof: one line says what to do, and nothing in them is touched."""

import sqlite3

import pytest
from conftest import Program, is_one_line


@pytest.fixture(params=["older", "newer"])
def other(request, program, tmp_path):
    copy = Program(tmp_path)
    copy.db.write_bytes(program.db.read_bytes())
    with sqlite3.connect(copy.db) as file:
        (version,) = file.execute("PRAGMA user_version").fetchone()
        file.execute(f"PRAGMA user_version = {version + (1 if request.param == 'newer' else -1)}")
    file.close()
    copy.word = request.param
    return copy


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
