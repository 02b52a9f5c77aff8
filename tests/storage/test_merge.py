# SPDX-License-Identifier: Apache-2.0
"""`pieprof merge`: what was one file, taken apart by process and merged again, answers every question as before."""

import contextlib
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from conftest import BUILD, PIEPROF, Program, clean_environment, is_one_line

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMORY_MAX_BYTES = 100_000_000
SMALL_FILES = 1000


@contextlib.contextmanager
def opened(path):
    file = sqlite3.connect(path)
    try:
        with file:
            yield file
    finally:
        file.close()


def tables_of_processes(file):
    return [name for (name,) in file.execute(
        "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'process'")]


def processes(path):
    with opened(path) as file:
        return file.execute("SELECT id, run FROM process ORDER BY id").fetchall()


def keep_only(path, process, run):
    """As the process would have written it into a file of its own: it is the first there, and knows no parent."""
    with opened(path) as file:
        for table in tables_of_processes(file):
            file.execute(f"DELETE FROM {table} WHERE process <> ?", (process,))
            file.execute(f"UPDATE {table} SET process = 1")
        file.execute("DELETE FROM process WHERE id <> ?", (process,))
        file.execute("UPDATE process SET id = 1, run = 1, parent = NULL")
        file.execute("DELETE FROM source_line WHERE source IN (SELECT id FROM source WHERE run <> ?)", (run,))
        for table, column in (("source", "run"), ("environment", "run"), ("run", "id")):
            file.execute(f"DELETE FROM {table} WHERE {column} <> ?", (run,))
            file.execute(f"UPDATE {table} SET {column} = 1")
        file.execute("UPDATE run SET started_ns = (SELECT started_ns FROM process)")
    with opened(path) as file:
        file.execute("VACUUM")


def split(whole, folder):
    """One file for each process."""
    parts = []
    for process, run in processes(whole):
        part = folder / f"part.{process}.db"
        part.write_bytes(whole.read_bytes())
        keep_only(part, process, run)
        parts.append(part)
    return parts


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Five runs of four programs, two of them with a child."""
    folder = tmp_path_factory.mktemp("merge")
    made = [BUILD / "tests/storage/make_fixture", folder / "a.db", folder / "src", "2", "1", "1", "1"]
    subprocess.run(made, check=True)
    return Program(folder)


@pytest.fixture(scope="module")
def questions():
    """All but those that need a place."""
    text = (ROOT / "storage/ask/questions.c").read_text()
    names = [line.split('"')[1] for line in text.splitlines() if line.lstrip().startswith("{.name = ")]
    assert len(names) > 25 and {"hot lines", "leaks", "redundancy", "pairs", "learned calls", "processes"} <= set(names)
    return [name for name in names if name not in ("callers", "callees", "source")]


def answers(program, db, questions):
    """By (run, question), without the SQL, in which the file's name does not stand."""
    found = {}
    for run in sorted({run for _, run in processes(db)}):
        for question in questions:
            done = program("query", db, question, "--json", "--run", run)
            assert done.returncode == 0, (question, done.complaint)
            found[run, question] = json.loads(done.text)["rows"]
    return found


@pytest.fixture(scope="module")
def expected(whole, questions):
    return answers(whole, whole.db, questions)


def test_what_was_taken_apart_answers_as_before(whole, questions, expected, tmp_path):
    parts = split(whole.db, tmp_path)
    assert len(parts) == 7
    done = whole("merge", tmp_path / "out.db", *parts)
    assert done.returncode == 0 and done.complaint == "" and done.text.endswith("out.db: 5 runs, 7 processes\n")
    before, after = expected, answers(whole, tmp_path / "out.db", questions)
    assert before.keys() == after.keys() and len(before) == 5 * len(questions)
    for key, rows in before.items():
        assert after[key] == rows, key
    assert sum(bool(rows) for rows in before.values()) > 60


def test_the_order_of_the_inputs_does_not_matter_within_a_run(whole, questions, tmp_path):
    parts = split(whole.db, tmp_path)[3:5]
    assert whole("merge", tmp_path / "one.db", *parts).returncode == 0
    assert whole("merge", tmp_path / "two.db", *reversed(parts)).returncode == 0
    assert answers(whole, tmp_path / "one.db", questions) == answers(whole, tmp_path / "two.db", questions)


def test_every_table_has_its_rows_again(whole, tmp_path):
    """Also those that no question asks for; a table that neither belongs to a process nor is known here fails."""
    assert whole("merge", tmp_path / "out.db", *split(whole.db, tmp_path)).returncode == 0
    with opened(whole.db) as before, opened(tmp_path / "out.db") as after:
        names = [name for (name,) in before.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"
                                                    " AND name NOT LIKE 'sqlite_%'")]
        shared = {"run", "process", "environment", "source", "source_line"}
        assert set(names) == shared | set(tables_of_processes(before))
        for name in names:
            rows = before.execute(f"SELECT * FROM {name}").fetchall()
            if name not in ("source", "source_line"):  # numbered as they came
                assert sorted(after.execute(f"SELECT * FROM {name}").fetchall(), key=repr) == sorted(rows, key=repr), name
            assert after.execute(f"SELECT count(*) FROM {name}").fetchone() == (len(rows),), name
        text = "SELECT s.run, s.path, l.line, l.text FROM source s JOIN source_line l ON l.source = s.id ORDER BY 1, 2, 3"
        assert after.execute(text).fetchall() == before.execute(text).fetchall()
        assert after.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        assert after.execute("PRAGMA foreign_key_check").fetchall() == []


def test_inputs_stay_as_they_are(whole, tmp_path):
    """Also one whose log was never put into it: its writer was killed."""
    parts = split(whole.db, tmp_path)
    writer = sqlite3.connect(parts[0], isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE process SET cause = 'in the log'")
    for suffix in ("", "-wal"):
        (tmp_path / f"killed.db{suffix}").write_bytes((tmp_path / f"{parts[0].name}{suffix}").read_bytes())
    writer.close()
    inputs = [tmp_path / "killed.db", *parts[1:]]
    kept = {path: path.read_bytes() for path in (*inputs, tmp_path / "killed.db-wal")}
    assert whole("merge", tmp_path / "out.db", *inputs).returncode == 0
    assert {path: path.read_bytes() for path in kept} == kept
    with opened(tmp_path / "out.db") as out:
        assert out.execute("SELECT count(*) FROM process WHERE cause = 'in the log'").fetchone() == (1,)


def test_a_run_is_added_to_a_file_that_is_there(whole, questions, expected, tmp_path):
    parts = split(whole.db, tmp_path)
    out = tmp_path / "out.db"
    for part in parts:
        assert whole("merge", out, part).returncode == 0
    assert answers(whole, out, questions) == expected


def test_what_came_twice_is_taken_once(whole, questions, expected, tmp_path):
    parts = split(whole.db, tmp_path)
    done = whole("merge", tmp_path / "out.db", *parts, *parts[:3])
    assert done.returncode == 0 and "3 that came twice taken once" in done.text
    assert answers(whole, tmp_path / "out.db", questions) == expected


def test_of_a_process_that_came_twice_the_later_state_is_taken(whole, tmp_path):
    part = split(whole.db, tmp_path)[0]
    early = tmp_path / "early.db"
    early.write_bytes(part.read_bytes())
    with opened(early) as file:
        file.execute("UPDATE process SET seen_ns = seen_ns - 1, ended_ns = NULL, cause = NULL")
        file.execute("DELETE FROM sample")
    for order in ([early, part], [part, early]):
        out = tmp_path / f"{order[0].stem}.out"
        assert whole("merge", out, *order).returncode == 0
        with opened(out) as file:
            assert file.execute("SELECT cause FROM process").fetchall() == [("exit",)]
            assert file.execute("SELECT count(*) > 0 FROM sample").fetchone() == (1,)


def test_parents_are_those_of_the_same_machine_and_time(whole, tmp_path):
    """Of a pid that was used again the last one before the child; never one of another machine."""
    part = split(whole.db, tmp_path)[0]
    rows = {  # name: (pid, parent_pid, host, start, id of its parent afterwards)
        "root": (10, 1, "a", 0, None), "old": (20, 10, "a", 1, 1), "again": (20, 10, "a", 5, 1),
        "other machine": (20, 1, "b", 6, None), "child": (30, 20, "a", 7, 3), "far child": (30, 20, "b", 8, 4)}
    files = []
    for name, (pid, parent, host, start, _) in rows.items():
        path = tmp_path / f"{name}.db"
        path.write_bytes(part.read_bytes())
        with opened(path) as file:
            file.execute("UPDATE process SET pid = ?, parent_pid = ?, host = ?, started_ns = ?", (pid, parent, host, start))
        files.append(path)
    random.Random(1).shuffle(files)
    assert whole("merge", tmp_path / "out.db", *files).returncode == 0
    with opened(tmp_path / "out.db") as out:
        assert out.execute("SELECT pid, parent_pid, host, started_ns, parent FROM process ORDER BY id").fetchall() == \
            list(rows.values())


def spoil_version(path):
    with opened(path) as file:
        file.execute("PRAGMA user_version = 1200")


def spoil_bytes(path):
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * (size - 8192))


SPOILERS = {"newer": spoil_version, "damaged": spoil_bytes, "no profile": lambda p: p.write_text("hello " * 100),
            "empty": lambda p: p.write_bytes(b""), "missing": lambda p: p.unlink()}


@pytest.mark.parametrize("kind", SPOILERS)
def test_a_bad_input_is_named_and_nothing_is_written(whole, tmp_path, kind):
    parts = split(whole.db, tmp_path)[:3]
    SPOILERS[kind](parts[1])
    there = sorted(p.name for p in tmp_path.iterdir())
    done = whole("merge", tmp_path / "out.db", *parts)
    assert done.returncode == 2 and done.text == "" and is_one_line(done.complaint) and parts[1].name in done.complaint
    assert sorted(p.name for p in tmp_path.iterdir()) == there
    (tmp_path / "old.db").write_bytes(whole.db.read_bytes())
    assert whole("merge", tmp_path / "old.db", *parts).returncode == 2
    assert (tmp_path / "old.db").read_bytes() == whole.db.read_bytes()


@pytest.mark.parametrize("kind", SPOILERS)
def test_bad_inputs_can_be_skipped(whole, tmp_path, kind):
    parts = split(whole.db, tmp_path)[:3]
    SPOILERS[kind](parts[1])
    done = whole("merge", "--skip-bad", tmp_path / "out.db", *parts)
    assert done.returncode == 0 and is_one_line(done.complaint) and parts[1].name in done.complaint
    assert done.text.endswith("2 runs, 2 processes, 1 bad input skipped\n")


def test_nothing_but_bad_inputs_is_no_merge(whole, tmp_path):
    (tmp_path / "bad.db").write_text("hello")
    done = whole("merge", "--skip-bad", tmp_path / "out.db", tmp_path / "bad.db")
    assert done.returncode == 2 and "nothing to merge" in done.complaint and not (tmp_path / "out.db").exists()


def test_words_that_are_missing(program, tmp_path):
    for words in (["merge"], ["merge", "out.db"], ["merge", "--what", "out.db", "a.db"]):
        done = program(*words)
        assert done.returncode == 2 and is_one_line(done.complaint) and "merge OUT IN" in done.complaint
    assert not (program.folder / "out.db").exists()


def test_a_file_in_use_is_not_replaced(whole, tmp_path):
    part = split(whole.db, tmp_path)[0]
    out = tmp_path / "used.db"
    out.write_bytes(whole.db.read_bytes())
    writer = sqlite3.connect(out, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE process SET seen_ns = seen_ns + 1")
    done = whole("merge", out, part)
    writer.close()
    assert done.returncode == 2 and "being written" in done.complaint and is_one_line(done.complaint)
    assert len(processes(out)) == 7


# Opens a profile, writes one number to two tables in one transaction, and closes it, which takes the log into the file.
WRITING = """
import itertools, sqlite3, sys
for number in itertools.count():
    file = sqlite3.connect(sys.argv[1])
    with file:
        file.execute("UPDATE counter SET value = ? WHERE name = 'written'", (number,))
        file.execute("UPDATE environment SET value = ? WHERE key = 'written'", (number,))
    file.close()
"""


def test_an_input_that_is_written_to_is_of_one_moment(whole, tmp_path):
    """Between an opening and the next there is no log, so it looks like a file that nobody writes."""
    path = split(whole.db, tmp_path)[0]
    with opened(path) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.executemany("INSERT INTO holder VALUES (1, ?, 7, ?)", [(10000 + i, "x" * 40) for i in range(20000)])
        file.execute("INSERT INTO counter VALUES (1, 'written', -1, 0)")
        file.execute("INSERT INTO environment VALUES (1, 'written', -1)")
    with subprocess.Popen([sys.executable, "-c", WRITING, path]) as writing:
        found = []
        for i in range(60):
            done = whole("merge", tmp_path / f"{i}.db", path)
            assert (done.returncode, done.complaint) == (0, "")
            with opened(tmp_path / f"{i}.db") as out:
                found.append((out.execute("SELECT value FROM counter WHERE name = 'written'").fetchone()[0],
                              int(out.execute("SELECT value FROM environment WHERE key = 'written'").fetchone()[0])))
        assert writing.poll() is None
        writing.kill()
    assert [pair for pair in found if pair[0] != pair[1]] == []
    assert len(set(found)) > 30


@pytest.fixture(scope="module")
def small_files(whole, tmp_path_factory):
    """Ranks of one run."""
    folder = tmp_path_factory.mktemp("ranks")
    part = split(whole.db, folder)[0]
    image, files = part.read_bytes(), []
    for rank in range(SMALL_FILES):
        path = folder / f"rank.{rank}.db"
        path.write_bytes(image)
        file = sqlite3.connect(path)
        file.execute("PRAGMA synchronous = OFF")
        file.execute("UPDATE process SET pid = 100000 + ?1, parent_pid = iif(?1 = 0, 1, 100000),"
                     " started_ns = started_ns + ?1", (rank,))
        file.commit()
        file.close()
        files.append(path)
    return files


# A program's peak of memory begins with that of the process that it was started from: here not pytest's, which is
# large.
IN_A_SMALL_PROCESS = """
import os, sys
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_thousand_files_in_bounded_memory(small_files, tmp_path):
    out = tmp_path / "out.db"
    done = subprocess.run([sys.executable, "-S", "-E", "-c", IN_A_SMALL_PROCESS, PIEPROF, "merge", out, *small_files],
                          capture_output=True, text=True, env=clean_environment(), check=True)
    told, peak = done.stdout.splitlines()
    assert told == f"{out}: 1 run, {SMALL_FILES} processes"
    assert int(peak) * 1024 < MEMORY_MAX_BYTES
    with opened(small_files[0]) as one, opened(out) as all_of_them:
        total = "SELECT sum(python_ns), sum(samples), sum(wait_ns), count(*) FROM sample"
        assert all_of_them.execute(total).fetchone() == tuple(SMALL_FILES * x for x in one.execute(total).fetchone())
        assert all_of_them.execute("SELECT count(*), count(DISTINCT parent) FROM process WHERE parent = 1").fetchone() == \
            (SMALL_FILES - 1, 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.db"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_merge_leaves_nothing(small_files, tmp_path, number):
    program = subprocess.Popen([PIEPROF, "merge", tmp_path / "out.db", *small_files], stderr=subprocess.PIPE,
                               env=clean_environment())
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("*.tmp")) and time.monotonic() < deadline and program.poll() is None:
        time.sleep(0.002)
    program.send_signal(number)
    told = program.communicate(timeout=30)[1].decode()
    assert program.returncode == 128 + number and is_one_line(told) and "interrupted" in told
    assert list(tmp_path.iterdir()) == []


KILLS = 100  # at a moment of its own each: a window of 5 % of the time is missed once in 170 runs


def test_a_killed_merge_of_an_older_file_has_changed_nothing(tmp_path):
    """Killed at any moment: the file is the older one to the byte, or the whole of today's."""
    files = ROOT / "tests/storage/files"
    old, out, delay = (files / "version-8.db").read_bytes(), tmp_path / "out.db", random.Random(8)
    merge = [PIEPROF, "merge", out, files / "version-900.db"]
    out.write_bytes(old)
    begun_s = time.monotonic()
    first = subprocess.run(merge, capture_output=True, text=True, env=clean_environment(), check=True)
    takes_s = time.monotonic() - begun_s
    for _ in range(KILLS):
        out.write_bytes(old)
        with subprocess.Popen(merge, stdout=subprocess.DEVNULL, env=clean_environment()) as merging:
            time.sleep(delay.uniform(0, takes_s))
            merging.kill()
        if out.read_bytes() != old:
            with opened(out) as file:
                assert file.execute("PRAGMA quick_check").fetchone() == ("ok",)
                assert file.execute("SELECT count(*) FROM run").fetchone() == (2,)
    # What was killed while its result grew has left that behind.
    assert len(list(tmp_path.glob(".pieprof-*.tmp"))) >= KILLS // 10
    out.write_bytes(old)
    again = subprocess.run(merge, capture_output=True, text=True, env=clean_environment(), check=True)
    assert (again.stdout, again.stderr) == (first.stdout, "") and first.stdout.startswith(f"{out}: 2 runs, ")
