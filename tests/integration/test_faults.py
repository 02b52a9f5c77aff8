# SPDX-License-Identifier: Apache-2.0
"""What befalls the profiler itself: it is killed, its disk is full, its folder is closed, the kernel refuses it."""

import contextlib
import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import time

import pytest

from helpers import FAULTS, PYTHON, TRUTH, accounts, check_file, clean_environment, is_made, profile, query, run

FLUSH_S = 1.0  # "everything up to at most a second ago"
SLACK_S = 0.35  # of a loaded machine: the flush itself takes time


def killed_run(pieprof, db, moment):
    """Kills a busy run after `moment` seconds; returns (its CPU time, the time of day) as it last said, or None."""
    with subprocess.Popen([pieprof, "-q", "-o", str(db), str(FAULTS / "progress.py")], stdout=subprocess.PIPE,
                          env=clean_environment()) as process:
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        said = process.stdout.read().split(b"\n")
    assert process.returncode == -signal.SIGKILL
    complete = [line.split() for line in said[:-1]]
    return tuple(map(float, complete[-1])) if complete else None


def test_kill_9_at_any_moment(pieprof, tmp_path, request):
    """The file opens, is sound, and lacks at most the last second; later runs go into it."""
    moments = random.Random(11)
    count = request.config.getoption("--kills")
    db = tmp_path / "x.db"
    with_file = 0
    for number in range(count):
        moment = moments.uniform(0, 0.15) if number % 4 == 0 else moments.uniform(0, 2.5)
        before = with_file
        said = killed_run(pieprof, db, moment)
        if not is_made(db):
            assert said is None or said[0] < FLUSH_S + SLACK_S
            continue
        runs = check_file(db)
        with_file = len(runs)
        assert with_file - before in (0, 1)
        if said is None or with_file == before:
            assert said is None or said[0] < FLUSH_S + SLACK_S
            continue
        assert runs[-1]["cause"] is None
        missing = said[0] - (runs[-1]["cpu_s"] or 0)
        assert missing < FLUSH_S + SLACK_S, f"killed after {moment:.3f} s: {missing:.3f} s of CPU time are missing"
    assert with_file > count / 2
    profile(db, TRUTH / "short.py", 0.02)
    assert len(check_file(db)) == with_file + 1


@contextlib.contextmanager
def small_disk(folder, size, *options):
    """A file system of its own at `folder`; skips where that is not allowed."""
    folder.mkdir()
    mounted = run(["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "none", folder])
    if mounted.returncode:
        pytest.skip(f"needs root and mount: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        assert run(["umount", folder]).returncode == 0


FILL = """
import os, sys, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
burn(1.6)
try:
    with open(sys.argv[1], "wb", 0) as file:
        while file.write(bytes(4096)) == 4096:
            pass
except OSError as error:
    print(error)
exec("\\n".join(f"def f{n}():\\n    burn(0.004)" for n in range(400)))
for n in range(400):
    globals()[f"f{n}"]()
print("the end")
"""


def test_disk_that_fills_up(pieprof, tmp_path):
    """The program goes on to its end; what was flushed before can be read; the user learns of it."""
    program = tmp_path / "fill.py"
    program.write_text(FILL)
    with small_disk(tmp_path / "disk", "2m") as disk:
        db = disk / "x.db"
        done = run([pieprof, "-o", db, program, disk / "filler"])
        assert done.returncode == 0
        assert done.stdout == "[Errno 28] No space left on device\nthe end\n"
        assert re.search(r"space|full", done.stderr), done.stderr
        assert "Traceback" not in done.stderr
        (one,) = query(db, "runs")  # while the disk is still full
        assert one["cpu_s"] > 1.6 - FLUSH_S - SLACK_S
        (disk / "filler").unlink()
        check_file(db)


def test_disk_full_from_the_start(pieprof, tmp_path):
    with small_disk(tmp_path / "disk", "64k") as disk:
        with contextlib.suppress(OSError), open(disk / "filler", "wb", 0) as file:
            while file.write(bytes(4096)):
                pass
        done = run([pieprof, "-o", disk / "x.db", "-c", "print('ran')"])
        assert (done.returncode, done.stdout) in [(125, ""), (0, "ran\n")]
        assert re.search(r"space|full", done.stderr), done.stderr


GROW = """
import time
exec("\\n".join(f"def f{n}():\\n    end = time.thread_time() + 0.003\\n    while time.thread_time() < end: pass"
               for n in range(500)))
for n in range(500):
    globals()[f"f{n}"]()
print("the end")
"""


@pytest.mark.parametrize("limit", [4 << 10, 32 << 10, 128 << 10, 192 << 10])
def test_file_size_limit(pieprof, tmp_path, limit):
    """`ulimit -f`: the kernel signals who writes too much; the program must not be the one that dies of it."""
    db = tmp_path / "x.db"
    program = tmp_path / "grow.py"
    program.write_text(GROW)
    done = run([pieprof, "-o", db, program], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert (done.returncode, done.stdout) in [(0, "the end\n"), (125, "")], done
    assert done.returncode == 0 or done.stderr.count("\n") == 1
    if done.returncode == 0:
        check_file(db)


def refused_output(pieprof, path, tmp_path, **more):
    """Runs with an output that cannot be written: one line, 125, and the program has not begun."""
    started = tmp_path / "started"
    done = run([pieprof, "-o", path, "-c", f"open({str(started)!r}, 'w')"], **more)
    assert done.returncode == 125, done
    assert done.stdout == "" and not started.exists()
    assert done.stderr.count("\n") == 1 and os.path.basename(str(path)) in done.stderr, done.stderr
    return done.stderr


def test_read_only_folder(pieprof, tmp_path):
    with small_disk(tmp_path / "disk", "1m") as disk:
        assert run(["mount", "-o", "remount,ro", disk]).returncode == 0
        assert "read-only" in refused_output(pieprof, disk / "x.db", tmp_path).lower()


def test_read_only_file(pieprof, tmp_path):
    """A profile that can be read and not added to."""
    with small_disk(tmp_path / "disk", "4m") as disk:
        profile(disk / "x.db", "-c", "pass")
        assert run(["mount", "-o", "remount,ro", disk]).returncode == 0
        refused_output(pieprof, disk / "x.db", tmp_path)
        assert len(query(disk / "x.db", "runs")) == 1


@pytest.mark.parametrize("path", ["missing/x.db", ".", "/proc/x.db", "/dev/null/x.db"])
def test_impossible_output(pieprof, tmp_path, path):
    refused_output(pieprof, tmp_path / path, tmp_path)


def test_folder_of_another_user(pieprof, python_for_all, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o755)
    try:
        done = run([pieprof, "-o", closed / "x.db", "-c", "print('ran')"], user=65534, group=65534, extra_groups=[])
    except PermissionError:
        pytest.skip("the build folder is closed to other users")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (125, "", 1), done


@pytest.mark.parametrize("calls, clocks", [
    ("perf_event_open", {"timer"}), ("perf_event_open,timer_create", {"itimer"}),
    ("perf_event_open,timer_create,setitimer", {"none"})])
@pytest.mark.parametrize("error", ["EPERM", "EACCES", "ENOSYS"])
def test_refused_system_calls(pieprof, tmp_path, calls, clocks, error):
    """What a container's seccomp profile takes away is replaced by the next clock, and the run says so."""
    db = tmp_path / "x.db"
    refuse = [PYTHON, FAULTS / "refuse.py", error, calls]
    done = run([*refuse, pieprof, "-o", db, TRUTH / "short.py", "0.5"])
    assert done.returncode == 0, done
    (one,) = check_file(db)
    assert one["clock"] in clocks and one["clock_note"]
    if clocks == {"none"}:
        assert one["cpu_s"] is None  # not measured is not 0
    else:  # these timers expire at ticks of the kernel, of which a busy machine gives the program few
        assert one["cpu_s"] == pytest.approx(0.5, abs=0.1) and one["samples"] > 30
    assert one["clock"] == "none" or one["clock"] in done.stderr  # the summary says which clock was used


@pytest.mark.parametrize("calls", ["process_vm_readv", "memfd_create", "unshare"])
def test_other_refused_system_calls(pieprof, tmp_path, calls):
    """Conveniences that a sandbox may lack change nothing for the program."""
    db = tmp_path / "x.db"
    done = run([PYTHON, FAULTS / "refuse.py", "EPERM", calls, pieprof, "-q", "-o", db, TRUTH / "short.py", "0.3"])
    assert done.returncode == 0 and done.stderr == "", done
    (one,) = check_file(db)
    assert one["samples"] > 100


def test_clock_that_is_insisted_on(pieprof, tmp_path):
    """--clock perf where it is refused: the next best clock, and the run says why."""
    db = tmp_path / "x.db"
    refuse = [PYTHON, FAULTS / "refuse.py", "EPERM", "perf_event_open"]
    done = run([*refuse, pieprof, "-q", "--clock", "perf", "-o", db, "-c", "print('ran')"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", ""), done
    (one,) = check_file(db)
    assert one["clock"] == "timer" and "perf_event_open" in one["clock_note"]


def test_no_clock(pieprof, tmp_path):
    """--clock none measures no CPU time, and says null, not 0."""
    done = profile(tmp_path / "x.db", TRUTH / "short.py", 0.2, options=["--clock", "none"])
    (one,) = check_file(done.db)
    assert one["clock"] == "none" and one["cpu_s"] is None
    assert all(row["cpu_s"] is None for row in done.lines())


def test_two_runs_into_one_file(pieprof, tmp_path):
    """Two programs at once append to the same file; neither loses its samples."""
    db = tmp_path / "x.db"
    command = [pieprof, "-q", "-o", str(db), str(TRUTH / "short.py"), "1.5"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=clean_environment()) for _ in range(3)]
    told = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(check_file(db)) == 3
    rows = accounts(db)
    for row in rows:
        assert row["program_s"] + row["own_s"] == pytest.approx(row["clock_s"], rel=0.03), row
    assert sorted(row["clock_s"] for row in rows) == pytest.approx(sorted(one["thread_s"] for one in told), rel=0.03)


def test_lock_that_is_given_back_costs_no_time(pieprof, tmp_path):
    """Another process writes for longer than a flush waits: what could not be written then is written later."""
    db = tmp_path / "x.db"
    text = "import time\nwhile time.thread_time() < 4: pass\n"
    running = subprocess.Popen([pieprof, "-q", "-o", str(db), "-c", text], stderr=subprocess.PIPE, text=True,
                               env=clean_environment())
    while not is_made(db):
        time.sleep(0.05)
    lock = sqlite3.connect(db, isolation_level=None, timeout=10)
    lock.execute("BEGIN IMMEDIATE")
    time.sleep(2.5)
    lock.execute("ROLLBACK")
    lock.close()
    assert (running.communicate(timeout=60)[1], running.returncode) == ("", 0)
    check_file(db)
    (found,) = accounts(db)
    assert found["cause"] == "exit" and found["clock_s"] == pytest.approx(4, rel=0.05), found
    assert found["program_s"] + found["own_s"] == pytest.approx(found["clock_s"], rel=0.03), found


def test_file_removed_or_locked_while_running(pieprof, tmp_path):
    """Somebody deletes the profile, or holds a lock on it: the program goes on."""
    db = tmp_path / "x.db"
    text = ("import os, sqlite3, sys, time\n"
            "def burn(s):\n    end = time.thread_time() + s\n    while time.thread_time() < end: pass\n"
            "burn(1.3)\n"
            "if sys.argv[1] == 'remove': os.remove(sys.argv[2])\n"
            "else:\n    lock = sqlite3.connect(sys.argv[2], isolation_level=None); lock.execute('BEGIN EXCLUSIVE')\n"
            "burn(1.5)\nprint('the end')\n")
    for how in ("remove", "lock"):
        begun = time.monotonic()
        done = run([pieprof, "-o", db, "-c", text, how, db])
        assert (done.returncode, done.stdout) == (0, "the end\n"), done
        assert time.monotonic() - begun < 20
        if how == "lock":
            check_file(db)
