# SPDX-License-Identifier: Apache-2.0
"""The file that a run is appended to may have been made by an enemy, and lies in any folder: the program ends as it
does under python3, at once, the file stays as it is, and the profile goes into one beside it."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import time

import pytest

from helpers import FORM, PYTHON, ROOT, TRUTH, clean_environment, profile, python_minor, query, run

DEFECTS = ROOT / "tests" / "integration" / "defects"

PROGRAM = """
import os, subprocess, sys
if os.fork() == 0:
    os._exit(3)
os.wait()
subprocess.run([sys.executable, "-c", "pass"])
print("ran", flush=True)
raise SystemExit(7)
"""
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
HEAVY = "length(replace(hex(zeroblob(20000000)), '00', hex(zeroblob(20))))"


@pytest.fixture(scope="module")
def sound(pieprof, tmp_path_factory):
    """A sound profile, in one file without a log beside it."""
    db = tmp_path_factory.mktemp("sound") / "pieprof.db"
    profile(db, TRUTH / "short.py", 0.2)
    assert not os.path.exists(f"{db}-wal")
    return db


def tables(file):
    return [name for name, in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]


def change(db, *statements):
    with contextlib.closing(sqlite3.connect(db)) as file:
        for statement in statements:
            file.execute(statement)
        file.commit()


def rewrite_schema(db, old, new, journal="WAL"):
    """Changes the text of the schema behind SQLite's back."""
    with contextlib.closing(sqlite3.connect(db)) as file:
        file.execute("PRAGMA writable_schema = ON")
        changed = file.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE instr(sql, ?)", (old, new, old)).rowcount
        assert changed == 1
        file.execute(f"PRAGMA schema_version = {file.execute('PRAGMA schema_version').fetchone()[0] + 1}")
        file.commit()


def trigger_everywhere(db, when):
    with contextlib.closing(sqlite3.connect(db)) as file:
        for table in tables(file):
            file.execute(f"CREATE TRIGGER t_{table} {when} INSERT ON {table} BEGIN {ENDLESS}; END")


def trigger_in_place_of_tables(db):
    with contextlib.closing(sqlite3.connect(db)) as file:
        names = ", ".join(c[1] for c in file.execute("PRAGMA table_info(run)"))
        file.execute("DROP TABLE run")
        file.execute(f"CREATE TABLE real_run ({names})")
        file.execute(f"CREATE VIEW run AS SELECT {names} FROM real_run")
        file.execute(f"CREATE TRIGGER t INSTEAD OF INSERT ON run BEGIN {ENDLESS}; END")


def damage(db, table):
    """Noise on the page at which a table or index begins."""
    with contextlib.closing(sqlite3.connect(db)) as file:
        (page,), (size,) = (file.execute(sql).fetchone() for sql in (
            f"SELECT rootpage FROM sqlite_schema WHERE name = '{table}'", "PRAGMA page_size"))
    with open(db, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(range(1, 251)) * 4)


def log_of_an_enemy(db):
    """A log that was never put into the file brings a trigger along."""
    with contextlib.closing(sqlite3.connect(db)) as file:
        file.execute("PRAGMA wal_autocheckpoint = 0")
        file.execute(f"CREATE TRIGGER t AFTER INSERT ON run BEGIN {ENDLESS}; END")
        file.commit()
        shutil.copy(f"{db}-wal", f"{db}-kept")
        shutil.copy(db, f"{db}-before")
    os.replace(f"{db}-before", db)
    os.replace(f"{db}-kept", f"{db}-wal")


def virtual_table(db):
    change(db, "DROP TABLE sample", "CREATE VIRTUAL TABLE sample USING fts5(a, b)")


def other_program(db):
    os.remove(db)
    change(db, "CREATE TABLE precious (data)", "INSERT INTO precious VALUES (1)", "PRAGMA application_id = 7")


def huge(db):
    change(db, "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END")
    os.truncate(db, 1 << 40)


HOSTILE = {
    "triggers after each insert": lambda db: trigger_everywhere(db, "AFTER"),
    "triggers before each insert": lambda db: trigger_everywhere(db, "BEFORE"),
    "a trigger on an update": lambda db: change(db, f"CREATE TRIGGER t AFTER UPDATE ON process BEGIN {ENDLESS}; END"),
    "a view in place of a table": trigger_in_place_of_tables,
    "a generated column": lambda db: change(db, f"ALTER TABLE sample ADD COLUMN more AS ({HEAVY})"),
    "a constraint": lambda db: rewrite_schema(db, "samples INTEGER,\nthreads",
                                              f"samples INTEGER CHECK ({HEAVY} > 0),\nthreads"),
    "a default": lambda db: change(db, "ALTER TABLE process ADD COLUMN more DEFAULT 5"),
    "another constraint": lambda db: rewrite_schema(db, "started_ns INTEGER NOT NULL,\npieprof",
                                                    "started_ns INTEGER CHECK (started_ns < 0),\npieprof"),
    "an index on an expression": lambda db: change(db, f"CREATE INDEX i ON run ({HEAVY.replace('20000000', 'started_ns % 5')})"),
    "a partial index": lambda db: change(db, f"CREATE INDEX i ON sample (node) WHERE {HEAVY.replace('20000000', 'thread')} < 5"),
    "a unique index": lambda db: change(db, "CREATE UNIQUE INDEX i ON run (pieprof_version)"),
    "a virtual table": virtual_table,
    "a damaged table": lambda db: damage(db, "sample"),
    "a damaged index": lambda db: damage(db, "process_run"),
    "another program's": other_program,
    "another application": lambda db: change(db, "PRAGMA application_id = 1"),
    "an older version": lambda db: change(db, "PRAGMA user_version = 1"),
    "no database": lambda db: db.write_bytes(b"not a database\n" * 1000),
    "half a database": lambda db: os.truncate(db, os.path.getsize(db) // 8192 * 4096),
    "a log of an enemy": log_of_an_enemy,
    "a huge file": huge,
}
BESIDE = {
    "a FIFO": lambda db: (db.unlink(), os.mkfifo(db)),
    "a folder": lambda db: (db.unlink(), db.mkdir()),
    "a link to itself": lambda db: (db.unlink(), db.symlink_to(db)),
    "a journal that is a FIFO": lambda db: os.mkfifo(f"{db}-journal"),
    "a log that is a FIFO": lambda db: os.mkfifo(f"{db}-wal"),
    "a log that is a link": lambda db: os.symlink(db.parent / "victim", f"{db}-wal"),
    "a huge log": lambda db: (open(f"{db}-wal", "w").close(), os.truncate(f"{db}-wal", 1 << 40)),
}


def contents(folder):
    """Of all regular files but those with holes, and what the others are."""
    return {p.name: p.read_bytes() if p.is_file() and not p.is_symlink() and p.stat().st_size < 1 << 30 else p.lstat().st_mode
            for p in folder.iterdir() if not p.name.endswith("-shm")}


@pytest.mark.parametrize("name", [*HOSTILE, *BESIDE])
def test_a_hostile_file_is_left_alone_and_the_profile_goes_beside_it(pieprof, sound, tmp_path, name):
    db = tmp_path / "pieprof.db"
    shutil.copy(sound, db)
    (HOSTILE | BESIDE)[name](db)
    before = contents(tmp_path)
    for number in range(1, 3 if name in ("triggers after each insert", "a FIFO") else 2):  # a second run goes to the same file
        began = time.monotonic()
        done = run([pieprof, "-c", PROGRAM], cwd=tmp_path, timeout=60)
        assert (done.returncode, done.stdout) == (7, "ran\n"), done
        assert time.monotonic() - began < 30
        told = [line for line in done.stderr.splitlines() if "left alone" in line]
        assert len(told) == 1 and f"{db} " in told[0] and str(tmp_path / "pieprof-2.db") in told[0], done.stderr
        assert "pieprof-2.db" in done.stderr.splitlines()[-1]
        # A fork before the file is open is counted instead.
        found = query(tmp_path / "pieprof-2.db", "select count(*) + coalesce((select sum(value) from counter where name ="
                      " 'forks_unprofiled'), 0) n, count(distinct run) runs from process")
        assert found == [{"n": 3 * number, "runs": number}]
    after = contents(tmp_path)
    assert {k: v for k, v in after.items() if not k.startswith("pieprof-2.db")} == before


@pytest.mark.parametrize("name", ["triggers after each insert", "a log of an enemy", "a log that is a FIFO"])
def test_merging_leaves_a_hostile_file_alone(pieprof, sound, tmp_path, name):
    db = tmp_path / "out.db"
    shutil.copy(sound, db)
    shutil.copy(sound, tmp_path / "good.db")
    (HOSTILE | BESIDE)[name](db)
    before = contents(tmp_path)
    done = run([pieprof, "merge", db, tmp_path / "good.db"], timeout=60)
    if name == "triggers after each insert":  # the result is a new file, which has none of them
        assert done.returncode == 0 and query(db, "select count(*) n from run") == [{"n": 1}]
        with contextlib.closing(sqlite3.connect(db)) as file:
            assert file.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'").fetchone() == (0,)
    elif name == "a log that is a FIFO":
        assert done.returncode != 0 and contents(tmp_path) == before and "out.db" in done.stderr, done
    else:
        assert done.returncode == 0 and query(db, "select count(*) n from run") == [{"n": 1}]


def test_a_sound_file_is_appended_to(pieprof, sound, tmp_path):
    db = tmp_path / "pieprof.db"
    shutil.copy(sound, db)
    change(db, "CREATE TABLE notes (text)", "CREATE VIEW mine AS SELECT * FROM notes")  # a user's own do no harm
    done = run([pieprof, "-c", PROGRAM], cwd=tmp_path)
    assert done.returncode == 7 and "left alone" not in done.stderr
    assert query(db, "select count(*) n from run") == [{"n": 2}] and sorted(p.name for p in tmp_path.iterdir()) == ["pieprof.db"]


@pytest.mark.parametrize("mode, clock", [("main", "perf"), ("main", "timer"), ("syscall", "perf"), ("all", "perf"), ("all", "itimer"),
                                         ("thread", "perf"), ("thread", "timer"), ("thread", "itimer"), ("listener", "perf"), ("child", "perf"),
                                         ("library", "perf"), ("wide prctl", "perf"), ("wide seccomp", "perf")])
def test_a_seccomp_filter_of_the_programs_own_meets_no_call_of_ours(pieprof, tmp_path, mode, clock):
    if mode == "library" and run([PYTHON, "-c", "import seccomp"]).returncode:
        pytest.skip("python3-seccomp is not installed")
    program, db = DEFECTS / "seccomp_filter.py", tmp_path / "a.db"
    plain = run([PYTHON, program, mode])
    if plain.returncode != 7:
        pytest.skip(f"no seccomp filter can be set here: {plain.stderr[-200:]}")
    done = run([pieprof, "-o", db, "--clock", clock, program, mode], timeout=60)
    if "clock" in done.stderr and done.returncode == 2:
        pytest.skip(f"no clock {clock} here")
    assert (done.returncode, done.stdout) == (7, plain.stdout), done
    processes = query(db, "select pid, cause, exit_status status from process order by id")
    counted = query(db, "select sum(value) n from counter where name = 'threads_under_a_seccomp_filter'")
    if mode in ("thread", "listener") and clock != "itimer":  # the others are profiled on
        assert [p["cause"] for p in processes] == ["exit"] and counted == [{"n": 3}]
        seen, = query(db, "select sum(python_ns + native_ns + system_ns) * 1.0 / t.cpu_ns share from sample s join thread t on"
                      " t.process = s.process and t.id = s.thread where t.is_main")
        assert 0.8 < seen["share"] < 1.05
    else:
        assert counted == [{"n": 1}] and [p["cause"] for p in processes] == ["exit"] * (mode == "child") + ["seccomp"]
    assert "threads_under_a_seccomp_filter" in done.stderr


REFUSE = ROOT / "tests" / "integration" / "faults" / "refuse.py"
UNDER_FILTER = """
import os, signal, sys, threading
thread = threading.Thread(target=print, args=("ran",))
thread.start()
thread.join()
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print(signal.sigpending(), signal.getsignal(signal.SIGCHLD), signal.pthread_sigmask(signal.SIG_BLOCK, []))
sys.exit(3)
"""


def block_sigchld():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})


@pytest.fixture
def python_name(pieprof, tmp_path):
    """A python3 that is pieprof."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(pieprof)
    return tmp_path / "bin" / "python3"


@pytest.mark.parametrize("outcome, calls", [
    ("KILL", "perf_event_open"), ("KILL", "timer_create"), ("KILL", "rt_tgsigqueueinfo"), ("KILL", "close_range"),
    ("KILL", "fdatasync"), ("KILL", "prctl"), ("KILL", "wait4,sigaltstack"), ("KILL", "pidfd_getfd"), ("KILL", "rt_sigreturn"),
    ("KILL_THREAD", "perf_event_open"), ("TRAP", "perf_event_open,timer_create"), ("TRAP", "clone3")])
def test_a_filter_that_was_there_before_meets_no_call_of_ours(pieprof, python_name, tmp_path, outcome, calls):
    """A service's SystemCallFilter=, or what executes Python in a sandbox of its own making."""
    refuse = [PYTHON, REFUSE, outcome, calls]
    is_pythons = calls in ("clone3", "wait4,sigaltstack") or calls == "prctl" and python_minor() >= 14  # names of threads
    program = "print('ran'); raise SystemExit(3)" if is_pythons else UNDER_FILTER
    bare = run([*refuse, PYTHON, "-c", program], preexec_fn=block_sigchld)
    if "no seccomp filter" in bare.stderr:
        pytest.skip(bare.stderr)
    assert bare.returncode == 3
    env = clean_environment(PIEPROF="1", PIEPROF_OUTPUT=str(tmp_path / "a.db"))
    for command in [pieprof, "-o", tmp_path / "a.db"], [python_name]:
        done = run([*refuse, *command, "-c", program], preexec_fn=block_sigchld, env=env)
        assert (done.returncode, done.stdout) == (3, bare.stdout), done
        assert done.stderr == f"pieprof: warning: the seccomp filter here ends processes that call {calls.split(',')[0]};" \
                              " running unprofiled\n"
        assert not [p for p in tmp_path.iterdir() if p.name != "bin"]


def test_a_filter_that_ends_nothing_of_ours_leaves_the_profile(pieprof, tmp_path):
    """And the trial leaves neither a child nor its signal, which a parent may have blocked."""
    refuse = [PYTHON, REFUSE, "KILL", "memfd_create"]
    bare = run([*refuse, PYTHON, "-c", UNDER_FILTER], preexec_fn=block_sigchld)
    if "no seccomp filter" in bare.stderr:
        pytest.skip(bare.stderr)
    done = run([*refuse, pieprof, "-q", "-o", tmp_path / "a.db", "-c", UNDER_FILTER], preexec_fn=block_sigchld)
    assert (done.returncode, done.stdout, done.stderr) == (3, bare.stdout, ""), done
    assert query(tmp_path / "a.db", "select cause, exit_status from process") == [{"cause": "exit", "exit_status": 3}]


WAITS_FOR_A_SOCKET = """
import _socket, threading
one, other = _socket.socketpair()
threading.Timer(0.4, other.send, [b"x"]).start()
print(one.recv(1))
"""


def test_a_filter_ends_nobody_whose_socket_could_be_asked(pieprof, tmp_path):
    refuse = [PYTHON, REFUSE, "KILL", "getpeername,getsockname"]
    if "no seccomp filter" in (bare := run([*refuse, PYTHON, "-c", WAITS_FOR_A_SOCKET])).stderr:
        pytest.skip(bare.stderr)
    done = run([*refuse, pieprof, "-q", "-o", tmp_path / "a.db", "-c", WAITS_FOR_A_SOCKET])
    assert (bare.returncode, done.returncode, done.stdout) == (0, 0, bare.stdout), done
    longest = query(tmp_path / "a.db", "select cause, resource from v_wait where line = 5 order by rank limit 1")
    assert longest == [{"cause": "socket", "resource": None}]


ALLOW = """
import os, seccomp, sys
made = seccomp.SyscallFilter(seccomp.KILL_PROCESS)
for name in sys.argv[1].split(","):
    made.add_rule(seccomp.ALLOW, name)
made.load()
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize("wanted", ["0", "1"])
def test_what_only_python3_may_do_is_all_that_an_unprofiled_program_does(python_name, tmp_path, wanted):
    """An allow-list made of what the program does under python3, and of what a child is made and waited for with."""
    if run([PYTHON, "-c", "import seccomp"]).returncode:
        pytest.skip("python3-seccomp is not installed")
    program = UNDER_FILTER.replace("thread = ", "import subprocess; subprocess.run(['/bin/true']); os.getcwd(); thread = ")
    if run(["strace", "-f", "-o", tmp_path / "calls", PYTHON, "-c", program]).returncode != 3:
        pytest.skip("strace does not work here")
    calls = set(re.findall(r"^\d+ +([a-z]\w+)\(", (tmp_path / "calls").read_text(), re.M)) | {"clone", "wait4", "rt_sigreturn"}
    allow = [PYTHON, "-c", ALLOW, ",".join(sorted(calls))]
    bare = run([*allow, PYTHON, "-c", program])
    if bare.returncode != 3:
        pytest.skip(f"not even python3 lives with it: {bare}")
    done = run([*allow, python_name, "-c", program], env=clean_environment(PIEPROF=wanted))
    assert (done.returncode, done.stdout) == (3, bare.stdout), done
    assert done.stderr == ("" if wanted == "0" else
                           "pieprof: warning: the seccomp filter here ends processes that call prctl; running unprofiled\n")


def test_probes_for_seccomp_and_filters_that_are_refused_change_nothing(pieprof, tmp_path):
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*a):
    return libc.syscall(*a), ctypes.get_errno()
print(call(317, 1, 1, None), call(317, 2, 0, None), call(317, 99, 0, None), libc.prctl(22, 2, None), libc.prctl(21), call(317, 0, 5, 0))
print(call(20000), call(39)[0] == os.getpid(), call(72, 0, 1), call(318, ctypes.create_string_buffer(8), 8, 0))
print(call(9, 0, 4096, 3, 0x22, -1, 0)[0] != -1)
"""
    plain = run([PYTHON, "-c", code])
    done = run([pieprof, "-q", "-o", tmp_path / "a.db", "-c", code])
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, ""), done
    assert query(tmp_path / "a.db", "select cause from process") == [{"cause": "exit"}]


def test_a_thread_under_a_filter_hands_its_signal_mask_on(pieprof, tmp_path):
    """SIGTRAP is one of the profiler's: what the program believes of it is kept by thread."""
    code = """
import ctypes, signal, struct, threading
libc, seen = ctypes.CDLL(None), []
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
def blocked():
    seen.append(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
def filtered():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTRAP, signal.SIGUSR1})
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
    inner = threading.Thread(target=blocked)
    inner.start(), inner.join(), blocked()
outer = threading.Thread(target=filtered)
outer.start(), outer.join(), blocked()
print(seen)
"""
    plain = run([PYTHON, "-c", code])
    if plain.returncode:
        pytest.skip(f"no seccomp filter can be set here: {plain.stderr[-200:]}")
    done = run([pieprof, "-q", "-o", tmp_path / "a.db", "-c", code])
    assert (done.returncode, done.stdout) == (0, plain.stdout), done


@pytest.mark.parametrize("clock", ["itimer", "timer"])
def test_no_wait_ends_with_eintr(pieprof, tmp_path, clock):
    done = run([pieprof, "-q", "-o", tmp_path / "a.db", "--clock", clock, DEFECTS / "interrupted_waits.py"])
    interrupted, calls = (int(word) for word in done.stdout.split(" of "))
    assert done.returncode == 0 and calls > 300 and interrupted == 0, done


def test_a_sigprof_of_the_programs_own_reaches_its_handler_once(pieprof, tmp_path):
    """The collection thread takes ticks of the process's timer, but none of the program's signals."""
    code = """
import os, signal, threading, time
seen = []
signal.signal(signal.SIGPROF, lambda *_: seen.append(threading.current_thread() is threading.main_thread()))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
os.kill(os.getpid(), signal.SIGPROF)
time.sleep(0.3)
waits = signal.SIGPROF in signal.sigpending(), len(seen)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
time.sleep(0.1)
print(waits, seen)
"""
    plain = run([PYTHON, "-c", code])
    done = run([pieprof, "-q", "-o", tmp_path / "a.db", "--clock", "itimer", "-c", code])
    assert (done.returncode, done.stdout) == (0, plain.stdout) == (0, "(True, 0) [True]\n"), done


def test_an_update_of_the_interpreter_is_reported(pieprof, tmp_path):
    """In a mount namespace of its own the system's python3 is another build."""
    if FORM == "guest":
        pytest.skip("no copy of the interpreter is in it that an update makes old")
    probe = json.loads(run([pieprof, "doctor", "--json"]).stdout)
    libpython = next(p for p in probe["probes"] if p["id"] == "libpython")
    if not libpython["detail"].startswith("static"):
        pytest.skip("a shared libpython does not age")
    assert "another build" not in libpython["detail"] and "another build" not in run([pieprof, "-o", tmp_path / "a.db", "-c", ""]).stderr
    real, updated = os.path.realpath(PYTHON), tmp_path / "updated"
    image = bytearray(pathlib.Path(real).read_bytes())
    at = image.find(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0")
    if at < 0 or at > 4000:
        pytest.skip(f"{real} has no build-id")
    image[at + 16] ^= 1
    updated.write_bytes(image)
    updated.chmod(0o755)
    inside = ["unshare", "-rm", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh", updated, real]
    if run([*inside, "true"]).returncode:
        pytest.skip("no mount namespace can be made here")
    done = run([*inside, pieprof, "-q", "-o", tmp_path / "b.db", "-c", "print('ran')"])
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "ran\n", 1) and "another build" in done.stderr, done
    assert "another build" in run([*inside, pieprof, "doctor"]).stdout
    assert run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "venv"]).returncode == 0
    installed = run([*inside, pieprof, "install", tmp_path / "venv"])
    assert installed.returncode == 0 and installed.stderr.count("another build") == 1, installed
    plain = run([*inside, pieprof, "-o", tmp_path / "c.db", "-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])"])
    assert plain.stderr.count("another build") == 1  # children say nothing
