# SPDX-License-Identifier: Apache-2.0
"""Time off the CPU is of three kinds: waiting, ready to run without a processor, and throttled by a quota. Each where
it was, and with the CPU time they are the wall time."""

import contextlib
import os
import pathlib
import re
import subprocess

import pytest

from helpers import FIXED_RATES, PYTHON, binary, clean_environment, line_of, profile, query, run, total

DEFECTS = pathlib.Path(__file__).resolve().parent / "defects"
QUOTA = DEFECTS / "quota.py"
THREADS = DEFECTS / "off_the_cpu.py"
# The kernel's figures and ours are read some ms apart on a busy machine.
SLACK_S = 0.05


def cpu_folder():
    """Where this process's group with the CPU controller is, as (folder, is version 2); None: nowhere."""
    with open("/proc/self/cgroup") as file:
        groups = [line.rstrip("\n").split(":", 2) for line in file]
    with open("/proc/self/mountinfo") as file:
        mounts = [line.split() for line in file]
    for version in (1, 2):
        path = next((p for _, names, p in groups if ("cpu" in names.split(",") if version == 1 else names == "")), None)
        for fields in mounts:
            kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
            if path is not None and kind == ("cgroup" if version == 1 else "cgroup2") and (version == 2 or "cpu" in options):
                return pathlib.Path(fields[4] + ("" if path == fields[3] else path)), version == 2
    return None


@pytest.fixture
def quota_group(request):
    """A group with 12 % of a processor, less than a busy machine leaves to each; gone afterwards."""
    found = cpu_folder()
    if not found:
        pytest.skip("no cgroup with the CPU controller is mounted here")
    folder, is_v2 = found
    group = folder / f"pieprof-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no group can be made here: {error}")
    request.addfinalizer(group.rmdir)
    try:
        if is_v2:
            (group / "cpu.max").write_text("12000 100000")
        else:
            (group / "cpu.cfs_period_us").write_text("100000")
            (group / "cpu.cfs_quota_us").write_text("12000")
    except OSError as error:
        pytest.skip(f"no quota can be set here: {error}")
    return group


def throttled_s(group):
    stat = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(stat["throttled_usec"]) / 1e6 if "throttled_usec" in stat else int(stat["throttled_time"]) / 1e9


@contextlib.contextmanager
def busy_processor():
    """One processor on which another process computes, which has begun; its number."""
    processor = min(os.sched_getaffinity(0))
    other = subprocess.Popen([PYTHON, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE,
                             preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
    other.stdout.readline()
    try:
        yield processor
    finally:
        other.kill()
        other.communicate()


def line_row(done, mark, program=QUOTA):
    rows = [r for r in done.lines(program) if r["line"] == line_of(program, mark)]
    assert len(rows) == 1, rows
    return rows[0]


def main_row(done):
    return next(r for r in done.query("threads") if r["is_main"])


def check_sums(rows):
    """Of each thread; those that ended before anybody looked share one row, without kinds."""
    for row in (r for r in rows if r["thread"]):
        parts = row["clock_cpu_s"] + row["wait_s"] + row["runnable_s"] + row["throttled_s"]
        assert parts == pytest.approx(row["wall_s"], abs=0.001), row


def test_a_quota_is_reported_where_it_throttles(tmp_path, quota_group):
    """On one processor: the group's figure, which the truth is taken from, adds up those of all."""
    def enter():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        (quota_group / "cgroup.procs").write_text(str(os.getpid()))

    before = throttled_s(quota_group)
    done = profile(tmp_path / "quota.db", QUOTA, 0.3, quota_group, preexec_fn=enter)
    grown, truth = throttled_s(quota_group) - before, done.truth
    burn, nap, main = line_row(done, "busy"), line_row(done, "nap"), main_row(done)
    if truth["burn_throttled_s"] < 0.3:
        pytest.skip(f"the machine is too busy for a quota to bite: throttled for {grown:.2f} s")
    # of one thread that computes; the group's is more by the start and the end of the process, which the quota
    # stretches
    assert truth["burn_throttled_s"] - 0.1 <= main["throttled_s"] <= grown + 0.1
    assert burn["throttled_s"] == pytest.approx(truth["burn_throttled_s"], rel=0.1, abs=0.1)
    assert burn["runnable_s"] + burn["throttled_s"] == pytest.approx(truth["burn_delay_s"], rel=0.05, abs=SLACK_S)
    # the collection thread, which looks who sleeps, is of the group and throttled too, for a period of 100 ms
    assert nap["wait_s"] == pytest.approx(truth["nap_s"] - truth["nap_delay_s"], abs=0.1)
    assert nap["runnable_s"] + nap["throttled_s"] <= truth["nap_delay_s"] + 0.1  # one period of the quota
    assert burn["wait_s"] <= SLACK_S
    check_sums(done.query("threads"))
    found = done.query("throttled")
    assert (found[0]["file"], found[0]["line"]) == (str(QUOTA), burn["line"])


def test_the_run_queue_is_reported_at_the_line_that_computes(tmp_path):
    with busy_processor() as processor:
        done = profile(tmp_path / "queue.db", QUOTA, 0.8,
                       preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
    truth, burn = done.truth, line_row(done, "busy")
    delay = burn["runnable_s"] + burn["throttled_s"]
    assert truth["burn_delay_s"] > 0.3 * truth["burn_s"], "the other process had its part of the processor"
    assert delay == pytest.approx(truth["burn_delay_s"], rel=0.05, abs=SLACK_S)
    ran_s = burn["cpu_s"] / done.program_share  # the rest is the profiler's own, within its budget
    assert ran_s + delay + burn["wait_s"] == pytest.approx(truth["burn_s"], rel=0.05, abs=SLACK_S)
    check_sums(done.query("threads"))
    assert done.query("runnable")[0]["line"] == burn["line"]


def test_a_program_that_sleeps_waits(tmp_path):
    done = profile(tmp_path / "sleep.db", QUOTA, 0, options=FIXED_RATES)  # a look each 20 ms
    truth, nap = done.truth, line_row(done, "nap")
    assert nap["wait_s"] == pytest.approx(truth["nap_s"] - truth["nap_delay_s"], rel=0.05, abs=0.02)
    assert total(done.lines(QUOTA), "throttled_s") <= truth["nap_delay_s"] + truth["burn_delay_s"]
    assert done.query("waiting")[0]["line"] == nap["line"]


def test_the_kinds_add_up_in_each_thread(tmp_path):
    done = profile(tmp_path / "threads.db", THREADS)
    rows = {r["tid"]: r for r in done.query("top 1000 threads")}
    assert len(rows) >= 7
    check_sums(rows.values())
    for tid, (begun, delay) in done.truth.items():
        row = rows[int(tid)]
        # What it waited before it could be seen, for its first processor, is in no figure of ours; its last word is not
        # the last that it does.
        found = row["runnable_s"] + row["throttled_s"]
        assert 0.9 * (delay - begun) - SLACK_S <= found <= 1.1 * delay + SLACK_S, (row, begun, delay)


def summary(db, *command):
    done = run([binary(), "-o", db, *command], env=clean_environment(COLUMNS="200"))
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_summary_tells_the_main_threads_waiting(tmp_path):
    text = summary(tmp_path / "summary.db", THREADS)
    found = re.search(r": ([\d.]+) s: ([\d.]+) s CPU, ([\d.]+) s waiting(?:, ([\d.]+) s ready to run)?"
                      r"(?:, ([\d.]+) s throttled)?\n", text)
    assert found, text
    wall, *parts = (float(number or 0) for number in found.groups())
    # the process's time begins before its main thread's and ends later
    assert sum(parts) == pytest.approx(wall, abs=0.05 + 0.02 * wall), text
    threads = query(tmp_path / "summary.db", "top 1000 threads")
    main = next(r for r in threads if r["is_main"])
    assert parts[1] == pytest.approx(main["wait_s"], abs=0.006)
    assert total(threads, "wait_s") > wall, "what all threads waited is more than there was"
