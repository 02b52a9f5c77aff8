# SPDX-License-Identifier: Apache-2.0
"""Files that are no profile, half a profile, or one made by an enemy: a clear error, never a crash or a hang."""

import contextlib
import json
import os
import random
import shutil
import sqlite3

import pytest

from helpers import TRUTH, profile, query, run

COMMANDS = [["query", "DB", "hot lines"], ["query", "DB", "call tree"], ["query", "DB", "runs", "--json"],
            ["query", "DB", "own functions"], ["query", "DB", "callees of main"], ["query", "DB", "summary", "--json"],
            ["query", "DB", "select * from v_line"], ["report", "DB"], ["runs", "DB"]]


@pytest.fixture(scope="module")
def good(pieprof, tmp_path_factory):
    """A small sound profile, in one file without a write-ahead log beside it."""
    db = tmp_path_factory.mktemp("good") / "good.db"
    profile(db, TRUTH / "short.py", 0.2)
    with contextlib.closing(sqlite3.connect(db)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        file.execute("PRAGMA journal_mode=DELETE")
    return db


@pytest.fixture
def copy(good, tmp_path):
    return shutil.copy(good, tmp_path / "copy.db")


def change(db, *statements):
    with contextlib.closing(sqlite3.connect(db)) as file:
        for statement in statements:
            file.execute(statement)
        file.commit()


def read_with(pieprof, command, db, timeout=30):
    """Runs one reading command. However the file is, it ends by itself, and an error is one line of text."""
    done = run([pieprof, *[str(db) if word == "DB" else word for word in command]], timeout=timeout)
    assert done.returncode in (0, 1, 2, 125), (command, done.returncode, done.stderr)
    if done.returncode:
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("pieprof"), done.stderr
    return done


def all_refuse(pieprof, db, *words):
    """Every reading command says the same kind of thing: what is wrong with which file. A new run goes beside it."""
    for command in COMMANDS:
        done = read_with(pieprof, command, db)
        assert done.returncode != 0, (command, done)
        assert (json.loads(done.stdout)["error"] in done.stderr) if "--json" in command else done.stdout == "", (command, done)
        assert os.path.basename(db) in done.stderr and any(w in done.stderr for w in words), done.stderr
    before = open(db, "rb").read() if os.path.isfile(db) else None
    done = run([pieprof, "-q", "-o", db, "-c", "print('ran')"])
    if before is None:
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (125, "", 1), done
        return
    beside = "-2".join(os.path.splitext(db))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "ran\n", 1), done
    assert "left alone" in done.stderr and f" {beside}\n" in done.stderr
    assert open(db, "rb").read() == before and len(query(beside, "runs")) == 1


@pytest.mark.parametrize("content", [b"not a database\n" * 100, b"\0" * 8192, b"SQLite format 3\0", b"SQLite format 3\0" +
                                     bytes(range(256)) * 40], ids=["text", "zeros", "magic", "magic-and-noise"])
def test_no_database(pieprof, tmp_path, content):
    db = tmp_path / "strange.db"
    db.write_bytes(content)
    all_refuse(pieprof, db, "database", "profile")


def test_a_database_of_somebody_else(pieprof, tmp_path):
    db = tmp_path / "other.db"
    change(db, "CREATE TABLE precious (data)", "INSERT INTO precious VALUES (1)")
    all_refuse(pieprof, db, "pieprof", "profile")


def test_a_newer_version(pieprof, copy):
    change(copy, "PRAGMA user_version = 1200")
    all_refuse(pieprof, copy, "newer", "version")


def test_missing_file(pieprof, tmp_path):
    for command in COMMANDS:
        done = read_with(pieprof, command, tmp_path / "missing.db")
        assert done.returncode != 0 and "missing.db" in done.stderr
    assert not (tmp_path / "missing.db").exists()


def test_empty_file_is_a_fresh_profile(pieprof, tmp_path):
    """What mktemp leaves can be written to, and holds nothing to read before."""
    db = tmp_path / "empty.db"
    db.touch()
    assert read_with(pieprof, ["query", "DB", "runs"], db).returncode != 0
    assert run([pieprof, "-q", "-o", db, "-c", "pass"]).returncode == 0
    assert read_with(pieprof, ["query", "DB", "runs"], db).returncode == 0


def test_folders_and_devices(pieprof, tmp_path):
    for path in (tmp_path, "/dev/null", "/proc/self/maps"):
        for command in COMMANDS:
            assert read_with(pieprof, command, path).returncode != 0


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_truncated(pieprof, good, tmp_path, share):
    db = tmp_path / "half.db"
    data = good.read_bytes()
    db.write_bytes(data[:int(len(data) * share)])
    for command in COMMANDS:
        read_with(pieprof, command, db)
    done = run([pieprof, "-q", "-o", db, "-c", "print('ran')"])
    assert done.returncode in (0, 125)
    assert done.stdout == ("ran\n" if done.returncode == 0 else ""), done


def test_flipped_bytes(pieprof, good, tmp_path):
    """Random damage, the same in every test run: the reader may fail, and fails in words."""
    noise = random.Random(5)
    db = tmp_path / "damaged.db"
    data = good.read_bytes()
    for number in range(40):
        damaged = bytearray(data)
        for _ in range(2 ** (number % 8)):
            damaged[noise.randrange(len(damaged))] = noise.randrange(256)
        db.write_bytes(damaged)
        read_with(pieprof, COMMANDS[number % len(COMMANDS)], db)
        if number % 8 == 0:
            done = run([pieprof, "-q", "-o", db, "-c", "print('ran')"])
            assert (done.returncode, done.stdout) in [(0, "ran\n"), (125, "")], done
        for extra in ("-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(f"{db}{extra}")


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
HOSTILE = {
    # Under the names of the reader's own views, which come first.
    "endless view": [f"CREATE VIEW v_line AS {ENDLESS} SELECT count(*) AS run FROM n",
                     f"CREATE VIEW v_run AS {ENDLESS} SELECT count(*) AS run FROM n"],
    "view that reads files": ["CREATE VIEW v_line AS SELECT readfile('/etc/passwd') AS run"],
    "view that loads code": ["CREATE VIEW v_run AS SELECT load_extension('/tmp/x') AS run"],
    "view in place of a table": ["DROP TABLE counter", f"CREATE VIEW counter AS {ENDLESS} SELECT i AS process, 'x' AS name,"
                                 " 1 AS value, 0 AS is_drop FROM n"],
    "computed column": ["ALTER TABLE overhead RENAME TO real", f"CREATE TABLE overhead (process, collector, cpu_ns AS "
                        f"(zeroblob(900000000)), rate_hz)", "INSERT INTO overhead SELECT process, collector, rate_hz FROM real"],
    "column too many": [f"ALTER TABLE sample ADD COLUMN more AS (zeroblob(900000000))"],
    "parents in a ring": ["UPDATE node SET parent = id"],
    "parents in a long ring": ["UPDATE node SET parent = coalesce((SELECT min(id) FROM node m WHERE m.id > node.id), 1)"],
    "callers in a ring": ["UPDATE location SET caller = id"],
    "missing tables": ["DROP TABLE node"],
    "renamed columns": ["ALTER TABLE environment RENAME COLUMN value TO worth"],
    "wrong types": ["UPDATE process SET pid = 'x', period_ns = 'often', argv = 'not json', clock = x'00ff'",
                    "UPDATE function SET name = x'ff00fe', first_line = 'one'", "UPDATE file SET path = x'8080'"],
    "huge numbers": ["UPDATE sample SET python_ns = 9223372036854775807, samples = -9223372036854775808"],
    "negative times": ["UPDATE sample SET python_ns = -python_ns, cpu_sq_ns2 = -1e308"],
    "terminal escapes": ["UPDATE function SET name = char(27) || ']0;owned' || char(7) || char(10) || name"],
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile(pieprof, copy, name):
    with contextlib.suppress(sqlite3.OperationalError):
        change(copy, *HOSTILE[name])
    for command in COMMANDS:
        done = read_with(pieprof, command, copy, timeout=60)
        assert "root:" not in done.stdout
        if name == "terminal escapes":
            assert "\x1b]0" not in done.stdout and "\x07" not in done.stdout


@pytest.mark.parametrize("body", ["DELETE FROM run", "INSERT INTO sample SELECT * FROM sample",
                                  "SELECT load_extension('/tmp/x')", "UPDATE run SET started_ns = 0"])
def test_triggers_of_a_hostile_file_do_not_hurt_a_new_run(pieprof, copy, body):
    change(copy, *(f"CREATE TRIGGER t_{table} AFTER INSERT ON {table} BEGIN {body}; END"
                   for table in ("run", "process", "node", "sample")))
    done = run([pieprof, "-q", "-o", copy, "-c", "print('ran')"], timeout=30)
    assert (done.returncode, done.stdout) in [(0, "ran\n"), (125, "")], done


def test_huge_file(pieprof, copy):
    """A file of a terabyte that is mostly holes."""
    with contextlib.suppress(OSError):
        os.truncate(copy, 1 << 40)
    for command in COMMANDS:
        read_with(pieprof, command, copy, timeout=60)
