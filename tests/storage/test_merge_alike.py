# SPDX-License-Identifier: Apache-2.0
"""Inputs of a merge that are small and alike take turns in one attached file (storage/merge/scratch.h).

The result is the same as that of files that are attached one by one, as those with a journal beside them are."""

import pathlib
import shutil
import sqlite3
import subprocess

import pytest
from conftest import BUILD, PIEPROF, clean_environment

FILES = pathlib.Path(__file__).resolve().parent / "files"
VERSIONS = ("version-6.db", "version-900.db")


def opened(path):
    return sqlite3.connect(path, isolation_level=None)


def change(path, *statements):
    file = opened(path)
    for statement in statements:
        file.execute(statement)
    file.close()


def change_schema(path, *statements):
    """Behind SQLite's back: the number of the schema's version stays."""
    file = opened(path)
    number, = file.execute("PRAGMA schema_version").fetchone()
    file.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        file.execute(statement)
    file.execute(f"PRAGMA schema_version = {number}")
    file.close()


def cut(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)


def write_at(path, place, data):
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(data)


def enlarge(path):
    change(path, "CREATE TABLE more (x)", "INSERT INTO more VALUES (zeroblob(5000000))", "DROP TABLE more")


def swap_tables(path):
    roots = {name: f"(SELECT r FROM temp.roots WHERE name = '{name}')" for name in ("allocated", "copy")}
    change_schema(path, "CREATE TEMP TABLE roots AS SELECT name, rootpage AS r FROM sqlite_schema",
                  f"UPDATE sqlite_schema SET rootpage = {roots['copy']} WHERE name = 'allocated'",
                  f"UPDATE sqlite_schema SET rootpage = {roots['allocated']} WHERE name = 'copy'")


def rename_column(path):
    change_schema(path, "UPDATE sqlite_schema SET sql = replace(sql, 'host TEXT', 'x TEXT') WHERE name = 'process'")


def spoil_table(path):
    file = opened(path)
    root, = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'node'").fetchone()
    size, = file.execute("PRAGMA page_size").fetchone()
    file.close()
    write_at(path, (root - 1) * size, b"\xa5" * 64)


def clear_value(path):
    """A value that a table must have; the table's own text forbids it."""
    with_rule, without = "'samples INTEGER NOT NULL,'", "'samples INTEGER         ,'"
    text = "UPDATE sqlite_schema SET sql = replace(sql, {}, {}) WHERE name = 'sample'"
    change_schema(path, text.format(with_rule, without))
    change(path, "UPDATE sample SET samples = NULL")
    change_schema(path, text.format(without, with_rule))


CHANGES = {
    "nothing": lambda path: None,
    "other pages": lambda path: change(path, "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 4096", "VACUUM"),
    "other roots": lambda path: change(path, "PRAGMA journal_mode = DELETE", "VACUUM"),
    "another encoding": lambda path: write_at(path, 56, b"\0\0\0\2"),
    "a guest": lambda path: change(path, "CREATE TRIGGER t AFTER INSERT ON sample BEGIN DELETE FROM node; END"),
    "a view": lambda path: change(path, "CREATE VIEW v AS SELECT * FROM sample"),
    "an index less": lambda path: change_schema(path, "DELETE FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL"),
    "tables swapped": swap_tables,
    "a column renamed": rename_column,
    "a newer version": lambda path: change(path, "PRAGMA user_version = 9900"),
    "a newer minor version": lambda path: change(path, "PRAGMA user_version = %d" % (
        opened(path).execute("PRAGMA user_version").fetchone()[0] + 1)),
    "another program's": lambda path: change(path, "PRAGMA application_id = 1"),
    "a large one": enlarge,
    "the end missing": lambda path: cut(path, path.stat().st_size - 700),
    "pages missing": lambda path: cut(path, path.stat().st_size - 8192),
    "a damaged table": spoil_table,
    "a missing value": clear_value,
    "a damaged schema": lambda path: write_at(path, 100, b"\xa5" * 64),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files as processes write them, of different runs."""
    folder = tmp_path_factory.mktemp("alike")
    paths = []
    for number in range(6):
        path = folder / f"made.{number}.db"
        runs = ["1"] * (1 + number % 2)
        subprocess.run([BUILD / "tests/storage/make_fixture", path, folder / "src", *runs], check=True)
        change(path, f"UPDATE run SET identity = id || '-{number}'", f"UPDATE process SET pid = pid + {number}")
        paths.append(path)
    return paths


def merged(folder, paths):
    """(status, what is said, the result's tables)"""
    out = folder / "out.db"
    done = subprocess.run([PIEPROF, "merge", "--skip-bad", out, *paths], capture_output=True, text=True,
                          env=clean_environment(), check=False)
    tables = []
    if out.exists():
        file = opened(out)
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = list(file.iterdump())
        file.close()
        out.unlink()
    return done.returncode, done.stdout, done.stderr, tables


def merged_in_both_ways(folder, paths):
    there = sorted(folder.iterdir())
    found = merged(folder, paths)
    assert sorted(folder.iterdir()) == there
    for path in paths:
        path.with_name(path.name + "-journal").touch()
    one_by_one = merged(folder, paths)
    for path in paths:
        path.with_name(path.name + "-journal").unlink()
    assert found == one_by_one
    return found


@pytest.mark.parametrize("what", CHANGES)
def test_an_input_that_differs_is_taken_for_what_it_is(made, tmp_path, what):
    paths = [shutil.copy(path, tmp_path / path.name) for path in made]
    for number in (1, 2):
        CHANGES[what](paths[number])
    status, _, _, tables = merged_in_both_ways(tmp_path, paths)
    assert status == 0 and tables
    assert merged_in_both_ways(tmp_path, [paths[1], paths[0], *paths[2:]])[0] == 0


def test_older_files_between_them_are_brought_up_to_date(made, tmp_path):
    old = [shutil.copy(FILES / name, tmp_path / name) for name in VERSIONS]
    new = [shutil.copy(path, tmp_path / path.name) for path in made]
    status, said, _, _ = merged_in_both_ways(tmp_path, [new[0], old[0], new[1], new[2], old[1], new[3]])
    assert status == 0 and "skipped" not in said


def test_files_that_are_alike_are_read_in_one_place(made, tmp_path):
    """Not attached one by one: SQLite opens none of them."""
    trace = tmp_path / "trace"
    if not shutil.which("strace"):
        pytest.skip("no strace")
    subprocess.run(["strace", "-f", "-e", "trace=openat", "-o", trace, PIEPROF, "merge", tmp_path / "out.db", *made],
                   check=True, capture_output=True, env=clean_environment())
    lines = [line for line in trace.read_text().splitlines() if "made." in line]
    assert len(lines) == 2 * len(made) and all("O_RDONLY|O_NOCTTY|O_NONBLOCK" in line for line in lines)
