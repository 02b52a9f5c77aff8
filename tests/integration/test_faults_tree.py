# SPDX-License-Identifier: Apache-2.0
"""What happens around the process tree: children by every way, limits, other users, other roots, the file goes away.

Each program does and ends exactly as under python3, with everything on; what is lost is said in one line."""

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import stat
import subprocess
import tempfile
import time

import pytest

from helpers import FAULTS, PYTHON, check_file, clean_environment, query, run

TREE = FAULTS / "tree"
NOBODY = 65534
PID = re.compile(r"\(pid=\d+\)")  # in the warning of 3.12 and later about fork() and threads
LONELY = 65432  # has no processes but those of one test: the kernel counts them by user


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def outcome(prefix, program, *arguments, preexec=no_core, **more):
    done = run([*prefix, TREE / f"{program}.py", *arguments], preexec_fn=preexec, **more)
    return done.returncode, done.stdout, PID.sub("(pid)", done.stderr)


def both(pieprof, db, program, *arguments, options=("-q",), **more):
    """The outcomes under python3 and under pieprof."""
    expected = outcome([PYTHON], program, *arguments, **more)
    if "can't fork at interpreter shutdown" in expected[2]:
        pytest.skip(f"{PYTHON} does not fork while it ends")  # 3.12
    return expected, outcome([pieprof, *options, "-o", db], program, *arguments, **more)


def processes(db):
    check_file(db)
    return query(db, "select run, pid, parent_pid, cause, exit_status, cpu_s, samples from v_process order by process")


def causes(db):
    """How many processes ended how."""
    rows = processes(db)
    assert {row["run"] for row in rows} == {1}
    found = [row["cause"] for row in rows]
    return {cause: found.count(cause) for cause in set(found)}


def drops(db):
    return {row["counter"]: row["drops"] for row in query(db, "select counter, sum(drops) as drops from v_drop group by 1")}


# What processes there were, by how they ended.
WHOLE = {
    "waves": {"_exit": 1000, "exit": 1},
    "dumpable": {"_exit": 1, "exit": 1},
    "exec_often": {"exec": 51},
    "spawned": {"exit": 12},
    "fork_at_exit": {"exit": 4},
    "fork_and_allocate": {"_exit": 25, "exit": 1},
    "prefork": {"_exit": 8, "exit": 1, "killed": 4},
    "closed_in_the_middle": {"_exit": 6, "exit": 7},
}


@pytest.mark.parametrize("program", WHOLE)
def test_every_process_is_in_the_file(pieprof, tmp_path, program):
    expected, found = both(pieprof, tmp_path / "x.db", program)
    assert found == expected
    assert causes(tmp_path / "x.db") == WHOLE[program]
    assert "forks_unprofiled" not in drops(tmp_path / "x.db")


def test_processes_that_write_at_once(pieprof, tmp_path):
    """What 64 processes count adds up to what they say they did."""
    db = tmp_path / "x.db"
    status, out, err = outcome([pieprof, "-q", "-o", db], "crowd")
    assert (status, err) == (0, "")
    *said, statuses = out.splitlines()
    assert json.loads(statuses) == [0] * 64 and len(said) == 64
    rounds, cpu_s = (sum(map(number, part)) for number, part in zip((int, float), zip(*(line.split() for line in said))))
    assert causes(db) == {"_exit": 32, "exit": 33}
    (found,) = query(db, "select count(*) as loops, sum(iterations) as rounds from v_learned_loop")
    assert found == {"loops": 64, "rounds": rounds}
    (heap,) = query(db, "select sum(allocated_bytes) as bytes from v_heap")
    assert heap["bytes"] >= rounds * 3_000_000
    (clocks,) = query(db, "select sum(clock_cpu_s) as cpu_s from v_thread")
    assert clocks["cpu_s"] > cpu_s  # each thread's own clock: what came after the program's last word is more


def test_executors(pieprof, tmp_path):
    """Each start method has two workers and one that ends at once; the server of forks ends after the program."""
    db = tmp_path / "x.db"
    expected, found = both(pieprof, db, "executors")
    assert found == expected and expected[0] == 0 and expected[1].count("BrokenProcessPool") == 4
    is_forked = run([PYTHON, "-c", "import multiprocessing; print(multiprocessing.get_start_method())"]).stdout == "fork\n"
    wait_for(lambda: None not in causes(db))
    # The program, the server, resource trackers and those that spawn begins end by themselves, forked ones by _exit().
    rows = processes(db)
    assert {row["cause"] for row in rows} == {"exit", "_exit"}
    assert len(rows) == 3 * len("fork spawn forkserver default".split()) + 3, rows
    assert [row["exit_status"] for row in rows].count(7) == 4
    assert len(query(db, "select 1 from v_process where depth = 2")) == (3 if is_forked else 6)


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def ended(db, pid):
    return [row for row in processes(db) if row["pid"] == pid and row["cause"]]


def test_daemon_that_closes_everything(pieprof, tmp_path):
    """It outlives the run's first process; its rows and its child's come into the file later."""
    db, told = tmp_path / "x.db", tmp_path / "told"
    assert outcome([pieprof, "-q", "-o", db], "daemon", told) == (3, "started\n", "")
    wait_for(lambda: told.exists() and told.read_text().endswith("\n"))
    pid, cpu_s, status = told.read_text().split()
    assert status == str(6 << 8)
    wait_for(lambda: ended(db, int(pid)))
    (row,) = ended(db, int(pid))
    assert row["cause"] == "exit" and row["cpu_s"] == pytest.approx(float(cpu_s), abs=0.15)
    assert causes(db) == {"exit": 2, "_exit": 2}


def test_parent_that_is_killed_first(pieprof, tmp_path):
    db, told = tmp_path / "x.db", tmp_path / "told"
    assert outcome([pieprof, "-q", "-o", db], "parent_first", told) == (-9, "", "")
    wait_for(lambda: told.exists() and told.read_text().endswith("grandchild\n"))
    pid, cpu_s, status, _ = told.read_text().split()
    assert status == "0"
    wait_for(lambda: ended(db, int(pid)))
    (row,) = ended(db, int(pid))
    assert row["cause"] == "exit" and row["cpu_s"] == pytest.approx(float(cpu_s), abs=0.15)
    wait_for(lambda: None not in causes(db))
    assert causes(db) == {"gone": 1, "exit": 2}


def lines_of_ours(text):
    return [line for line in text.splitlines() if line.startswith("pieprof: ")]


@pytest.mark.parametrize("limit", [64, 8])
def test_few_descriptors_in_the_tree(pieprof, tmp_path, limit):
    """8 are too few for a pipe to a child, under python3 as well (3.13 needs fewer)."""
    expected, found = both(pieprof, tmp_path / "x.db", "limits", "RLIMIT_NOFILE", str(limit))
    assert found == expected
    has_children = expected[1].count("CompletedProcess") == 2
    assert has_children or limit == 8
    assert causes(tmp_path / "x.db") == ({"exit": 3, "_exit": 2} if has_children else {"exit": 1, "_exit": 1})


def test_file_size_that_the_program_limits(pieprof, tmp_path):
    """With SIGXFSZ's own meaning again, which is death: neither it nor a child dies of what the profiler writes or
    reads."""
    expected, found = both(pieprof, tmp_path / "x.db", "limits", "RLIMIT_FSIZE", "4096", options=())
    assert found[:2] == expected[:2] and expected[0] == 0
    assert "incomplete: File too large" in lines_of_ours(found[2])[0], found[2]
    check_file(tmp_path / "x.db")


def test_reader_of_stderr_who_has_gone(pieprof, tmp_path):
    """The summary goes nowhere; SIGPIPE, with its own meaning again, does not end the program."""
    read, write = os.pipe()
    os.close(read)
    argv = [pieprof, "-o", str(tmp_path / "x.db"), "-c",
            "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL); raise SystemExit(4)"]
    done = subprocess.run(argv, stderr=write, stdout=subprocess.PIPE, timeout=60, env=clean_environment(), check=False)
    os.close(write)
    assert done.returncode == 4
    assert causes(tmp_path / "x.db") == {"exit": 1}


@pytest.mark.parametrize("how", ["move", "remove all", "folder"])
def test_profile_that_is_taken_away(pieprof, tmp_path, how):
    """It is said once, and no process of the run makes a new file where the old one was."""
    folder = tmp_path / "folder"
    folder.mkdir()
    expected, found = both(pieprof, folder / "x.db", "loses_file", str(folder / "x.db"), how, options=())
    assert found[:2] == expected[:2] and expected[2] == ""
    (line,) = found[2].splitlines()
    assert "is not there any more" in line
    # Between the writes of a run whose processes fork, its log stays beside the file.
    left = {path.name: path for path in tmp_path.rglob("x.db*") if not path.name.endswith(("-wal", "-shm"))}
    assert set(left) == ({"x.db.moved"} if how == "move" else {"x.db"} if how == "folder" else set())
    for path in left.values():
        assert causes(path) == {None: 1, "_exit": 1, "exit": 1}


def test_program_that_changes_its_root(pieprof, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root to change the root")
    (tmp_path / "root").mkdir()
    expected, found = both(pieprof, tmp_path / "x.db", "own_root", tmp_path / "root", options=())
    assert found[:2] == expected[:2] and expected[2] == ""
    (line,) = found[2].splitlines()
    assert "is not there any more" in line
    assert causes(tmp_path / "x.db") == {None: 1}


@pytest.mark.parametrize("forks", [False, True])
def test_program_that_becomes_another_user(pieprof, python_for_all, tmp_path, forks):
    """What it has open it still writes. After a fork the file would have to be opened anew, and cannot be: that is
    said."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    words = ["forks"] if forks else []
    expected, found = both(pieprof, folder / "x.db", "other_user", *words)
    assert found[:2] == expected[:2] and expected[:1] == (0,)
    (row,) = processes(folder / "x.db")
    if forks:
        assert found[2].count("\n") == 1 and "incomplete: Permission denied" in found[2]
        assert row["cause"] is None
    else:
        assert found[2] == "" and row["cause"] == "exit"
        assert row["cpu_s"] > 0.6


@pytest.mark.parametrize("mask", [0o077, 0o777])
def test_umask(pieprof, tmp_path, mask):
    """Files that nobody may open, not even who made them: for root they are open."""
    if os.geteuid() != 0 and mask == 0o777:
        pytest.skip("such a file can be opened by root only")

    def preexec():
        no_core()
        os.umask(mask)

    expected, found = both(pieprof, tmp_path / "x.db", "fork_at_exit", preexec=preexec)
    assert found == expected
    assert causes(tmp_path / "x.db") == {"exit": 4}
    assert stat.S_IMODE((tmp_path / "x.db").stat().st_mode) == 0o600 & ~mask


def as_nobody(user=NOBODY, **limits):
    def become():
        no_core()
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(user)
    return become


@pytest.fixture
def open_folder():
    """A folder that other users can reach, with what they need of this tree and of the program."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield folder


@pytest.fixture
def copied(pieprof, python_for_all, open_folder):
    """Copies of the program and of the test programs that nobody can read."""
    shutil.copytree(TREE, os.path.join(open_folder, "tree"))
    return shutil.copy(pieprof, os.path.join(open_folder, "pieprof"))


def test_no_more_threads(copied, open_folder):
    """`ulimit -u 1` leaves no room for the collection thread: no profile, one line."""
    words = [os.path.join(open_folder, "tree", "limits.py"), "RLIMIT_CORE", "0"]
    more = {"preexec_fn": as_nobody(user=LONELY, RLIMIT_NPROC=1), "cwd": open_folder}
    expected = run([PYTHON, *words], **more)
    found = run([copied, "-o", "x.db", *words], **more)
    line, _, rest = found.stderr.partition("\n")
    assert (found.returncode, found.stdout, rest) == (expected.returncode, expected.stdout, expected.stderr)
    assert line.startswith("pieprof: warning: cannot profile")


def test_process_that_nobody_may_look_into(copied, open_folder):
    """PR_SET_DUMPABLE 0 for an ordinary user, to whom its own /proc is closed then."""
    words = [os.path.join(open_folder, "tree", "dumpable.py")]
    more = {"preexec_fn": as_nobody(), "cwd": open_folder}
    expected = run([PYTHON, *words], **more)
    found = run([copied, "-q", "-o", "x.db", *words], **more)
    assert (found.returncode, found.stdout, found.stderr) == (expected.returncode, expected.stdout, expected.stderr)
    assert causes(os.path.join(open_folder, "x.db")) == {"_exit": 1, "exit": 1}


@pytest.fixture
def bare_root(pieprof, tmp_path):
    """A root with the system's programs and libraries, without /proc, /dev and /sys."""
    if not os.path.realpath(PYTHON).startswith("/usr/"):
        pytest.skip(f"{PYTHON} is none of the system's programs")
    root = tmp_path / "bare"
    with contextlib.ExitStack() as mounts:
        for name in ("usr", "lib", "lib64"):
            if not os.path.isdir(f"/{name}"):
                continue
            (root / name).mkdir(parents=True)
            done = run(["mount", "--bind", f"/{name}", root / name])
            if done.returncode:
                pytest.skip(f"needs root and mount: {done.stderr.strip()}")
            mounts.callback(run, ["umount", root / name])
        for path in (pathlib.Path(pieprof), *pathlib.Path(pieprof).parent.glob("libpieprof-3.*.so")):
            shutil.copy(path, root / path.name)
        os.symlink("pieprof", root / "python3")
        shutil.copytree(TREE, root / "tree")
        yield root


@pytest.mark.parametrize("begin", [["/pieprof", "-q", "-o", "/x.db"], ["/python3"]])
def test_root_without_proc(bare_root, begin):
    env = clean_environment(**({"PIEPROF_OUTPUT": "/x.db"} if begin == ["/python3"] else {}))
    expected = run(["chroot", bare_root, PYTHON, "/tree/fork_at_exit.py"])
    found = run(["chroot", bare_root, *begin, "/tree/fork_at_exit.py"], env=env)
    assert (found.returncode, found.stdout, found.stderr) == (expected.returncode, expected.stdout, expected.stderr)
    assert expected.returncode == 0
    assert causes(bare_root / "x.db") == {"exit": 4}


def test_set_id_programs_take_none_of_our_variables(copied, open_folder):
    """AT_SECURE: neither where to write nor what to be comes from who calls."""
    os.chown(copied, NOBODY, NOBODY)
    os.chmod(copied, 0o755 | stat.S_ISUID)
    os.rename(copied, os.path.join(open_folder, "python3"))
    env = clean_environment(PIEPROF="1", PIEPROF_OUTPUT="there.db", PIEPROF_OPTS="-o there.db --allocator=jemalloc",
                            _PIEPROF_CHILD=f"/usr/bin/python3 1 '-o {open_folder}/there.db' -", _PIEPROF_RUN="1:1")
    done = run(["./python3", "-c", "import os; print(os.geteuid(), [name for name in os.environ if 'PIEPROF_' in name])"],
               env=env, cwd=open_folder, user=NOBODY - 1)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.startswith(f"{NOBODY} ")
    assert not os.path.exists(os.path.join(open_folder, "there.db"))


def test_workers_of_another_user(pieprof, python_for_all, tmp_path):
    """What they did is not in a file that they may not write, only that they were; master and workers go on all the
    same."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    expected, found = both(pieprof, folder / "x.db", "workers", "0")
    assert found == expected and expected[0] == 0
    assert causes(folder / "x.db") == {"exit": 5}
    assert drops(folder / "x.db") == {"flushes_failed": 2}
