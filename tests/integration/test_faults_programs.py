# SPDX-License-Identifier: Apache-2.0
"""Programs that end badly or look closely at their process: the same status and output as under python3."""

import itertools
import os
import re
import resource
import subprocess

import pytest

from helpers import FAULTS, PYTHON, accounts, check_file, clean_environment

PROGRAMS = sorted(p.stem for p in (FAULTS / "same").glob("*.py"))
FLAGS = {"segv": ["-X", "faulthandler"], "environment": ["-E", "-X", "one=1", "-W", "default"]}
CAUSES = {"os_exit": "_exit", "os_exit_in_thread": "_exit", "sys_exit_text": "exit", "daemon_threads": "exit",
          "exec_in_thread": "exec"}


def normalised(text):
    """Without what differs between any two runs, addresses and thread ids, and without what 3.14 says of the C stack:
    its frames and how many fit. pieprof's own are there: 1 KB at the beginning of a thread, and its handler's."""
    text = re.sub(r"(C stack trace .*:\n)(?:  .*\n)+", r"\1", text)
    text = re.sub(r"repeated \d+ more times(?=(?s:.*)\(used \d+ kB\))|\(used \d+ kB\)", "...", text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x...", text)


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def outcome(prefix, program, folder, flags=(), preexec=no_core, after=()):
    folder.mkdir()
    done = subprocess.run([*prefix, *flags, str(program), *after], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, cwd=folder, env=clean_environment(PYTHONDONTWRITEBYTECODE="1"), preexec_fn=preexec)
    return done.returncode, done.stdout, normalised(done.stderr)


def both(pieprof, tmp_path, program, **more):
    """The outcomes under python3 and under pieprof, and the file of the latter."""
    db = tmp_path / "x.db"
    expected = outcome([PYTHON], program, tmp_path / "python3", **more)
    return expected, outcome([pieprof, "-q", "-o", str(db)], program, tmp_path / "pieprof", **more), db


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_under_python(pieprof, tmp_path, name):
    expected, found, db = both(pieprof, tmp_path, FAULTS / "same" / f"{name}.py", flags=FLAGS.get(name, ()))
    assert found == expected
    runs = check_file(db)
    assert len(runs) == 1
    if name in CAUSES:
        assert runs[0]["cause"] == CAUSES[name] and runs[0]["samples"] > 0
    if runs[0]["cause"] == "exit":
        assert runs[0]["exit_status"] == expected[0]


# Without SIGPROF of its own beside itimer's: at most one waits, so one that comes at the same instant is lost.
@pytest.mark.parametrize("name, clock", [
    *itertools.product(["signal_suspend", "signal_masked_trap", "signal_every", "syscalls_under_alarms"],
                       ["perf", "perf-user", "timer"]),
    ("signal_masked_trap", "itimer"), ("syscalls_under_alarms", "itimer")])
def test_signals_beside_each_clock(pieprof, tmp_path, name, clock):
    """Whichever signal the profiler takes, the program's own of that number are its own."""
    program = FAULTS / "same" / f"{name}.py"
    expected = outcome([PYTHON], program, tmp_path / "python3")
    prefix = [pieprof, "-q", "--clock", clock, "--rate", "4000", "-o", str(tmp_path / "x.db")]
    assert outcome(prefix, program, tmp_path / "pieprof") == expected
    check_file(tmp_path / "x.db")


def test_sampling_survives_closed_descriptors(pieprof, tmp_path):
    """os.closerange closes nothing that the profiler needs: samples go on to the end."""
    program = tmp_path / "x.py"
    program.write_text("import os, time\nos.closerange(3, 4096)\nwhile time.thread_time() < 1:\n    pass\n")
    db = tmp_path / "x.db"
    assert outcome([pieprof, "-q", "-o", str(db)], program, tmp_path / "run") == (0, "", "")
    check_file(db)
    (row,) = accounts(db)
    assert row["cause"] == "exit" and row["clock_s"] == pytest.approx(1, rel=0.1), row
    assert row["program_s"] + row["own_s"] == pytest.approx(row["clock_s"], rel=0.03), row


@pytest.mark.parametrize("closed", ["0", "1", "2", "01", "012"])
def test_standard_streams_closed_from_the_start(pieprof, tmp_path, closed):
    """The database is never taken for a standard stream, and the program finds the same free numbers."""
    program = tmp_path / "x.py"
    program.write_text("import os, sys, time\n"
                       "print('to stdout'); print('to stderr', file=sys.stderr)\n"
                       "fds = [os.open('/dev/null', os.O_RDWR) for _ in range(4)]\n"
                       "while time.thread_time() < 0.2: pass\n"
                       "open('seen', 'w').write(repr((fds, sys.stdin and 1, sys.stdout and 1, sys.stderr and 1)))\n")

    def close():
        no_core()
        for digit in closed:
            os.close(int(digit))

    expected, found, db = both(pieprof, tmp_path, program, preexec=close)
    assert found == expected
    assert (tmp_path / "pieprof" / "seen").read_text() == (tmp_path / "python3" / "seen").read_text()
    (run,) = check_file(db)
    assert run["samples"] > 0


def with_core():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def test_core_is_dumped_as_without_profiler(pieprof, tmp_path):
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
        pattern = file.read().strip()
    if not re.fullmatch(r"[\w.%]+", pattern):
        pytest.skip(f"cores go elsewhere on this machine: {pattern}")
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        pytest.skip("cores are forbidden here (ulimit -Hc is 0)")
    expected, found, _ = both(pieprof, tmp_path, FAULTS / "same" / "segv.py", preexec=with_core)
    assert found == expected and expected[0] < 0
    usual = [p.stat().st_blocks * 512 for p in (tmp_path / "python3").iterdir()]
    cores = [p.stat().st_blocks * 512 for p in (tmp_path / "pieprof").iterdir()]
    assert len(usual) == len(cores) == 1
    assert cores[0] < usual[0] + (64 << 20)  # what the profiler keeps for itself is not dumped at length


@pytest.mark.parametrize("limit", [16, 8])
def test_few_descriptors(pieprof, tmp_path, limit):
    """Under `ulimit -n` the program can open as many files as under python3, and still has a profile."""
    program = tmp_path / "x.py"
    program.write_text("import os, time\nfds = []\ntry:\n    while True:\n        fds.append(os.open('/dev/null', 0))\n"
                       "except OSError as error:\n    print(len(fds), error)\n"
                       "while time.thread_time() < 0.3:\n    pass\ntime.sleep(1.2)\n")

    def limited():
        no_core()
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    expected, found, db = both(pieprof, tmp_path, program, preexec=limited)
    assert found == expected and expected[0] == 0
    (run,) = check_file(db)
    assert run["samples"] > 0
