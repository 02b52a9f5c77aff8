# SPDX-License-Identifier: Apache-2.0
"""A Python without the GIL: time is told as with it, and what is off says so."""

import functools

import pytest

import helpers
from helpers import FIXED_RATES, PYTHON, TRUTH, line_of, profile, total

PARALLEL = TRUTH / "parallel.py"
KINDS = {"count": "python", "generated": "python", "hashed": "native", "read": "system"}
OFF = ("this Python runs without the GIL: redundant loads and stores are not watched for, memory is not counted, loops are "
       "not traced")


@pytest.fixture(autouse=True)
def without_gil():
    if not helpers.python_abi().endswith("t"):
        pytest.skip(f"{PYTHON} has the GIL: scripts/matrix 3.14t makes one without")


@pytest.fixture(scope="module")
def parallel(pieprof, tmp_path_factory):
    """A function: the Profile of four threads that ran side by side; by default at fixed rates."""
    return functools.cache(
        lambda options=FIXED_RATES: profile(tmp_path_factory.mktemp("parallel") / "x.db", PARALLEL, 3, options=options, timeout=300))


def phases(truth):
    """CPU seconds of each phase in all threads."""
    return {name: sum(t["seconds"][name] for t in truth["threads"].values()) for name in KINDS}


def test_the_program_runs_side_by_side(parallel):
    truth = parallel().truth
    assert truth["gil"] is False


def test_threads_have_their_time(parallel):
    done = parallel()
    truth, rows = done.truth["threads"], {r["tid"]: r for r in done.query("threads")}
    together, true_together = total((rows[t["tid"]] for t in truth.values()), "cpu_s"), sum(t["cpu_s"] for t in truth.values())
    assert together == pytest.approx(true_together * done.program_share, rel=0.05)
    for name, t in truth.items():
        row = rows[t["tid"]]
        assert row["name"] == name
        assert row["cpu_s"] / together == pytest.approx(t["cpu_s"] / true_together, abs=0.03), name
        assert row["clock_cpu_s"] == pytest.approx(t["cpu_s"], abs=0.02), name


def check_split(done):
    truth = phases(done.truth)
    found = helpers.split([r for r in done.functions(PARALLEL) if r["function"] in ("count", "items", "hashed", "read")])
    for kind in ("python", "native", "system"):
        share = sum(s for name, s in truth.items() if KINDS[name] == kind) / sum(truth.values())
        assert found[kind] / found["cpu"] == pytest.approx(share, abs=0.04), (kind, found, truth)


def test_time_is_split(parallel):
    check_split(parallel())


def test_lines_are_those_of_each_threads_copy(parallel):
    done = parallel()
    truth, rows = phases(done.truth), done.lines(PARALLEL)
    cpu = {mark: total((r for r in rows if r["line"] == line_of(PARALLEL, mark)), "cpu_s")
           for mark in ("once", "three times", "generated", "hashed", "read")}
    together = sum(truth.values()) * done.program_share
    # The head of the loop has a part of the time.
    of_function = total((r for r in done.functions(PARALLEL) if r["function"] == "count"), "cpu_s")
    assert of_function == pytest.approx(truth["count"] * done.program_share, rel=0.05)
    assert cpu["once"] / (cpu["once"] + cpu["three times"]) == pytest.approx(0.25, abs=0.03)
    assert cpu["once"] + cpu["three times"] > 0.6 * of_function
    for name in ("hashed", "read"):
        assert cpu[name] / together == pytest.approx(truth[name] / sum(truth.values()), abs=0.03), name
    assert cpu["generated"] > 0.6 * truth["generated"] * done.program_share


def test_every_thread_has_every_line(parallel):
    done = parallel()
    of_thread = {}
    for sample in done.samples():
        for frame in sample.frames:
            if frame.is_python and frame.file == str(PARALLEL):
                of_thread.setdefault(sample.thread, {}).setdefault(frame.line, 0)
                of_thread[sample.thread][frame.line] += sample.samples
    tids = {r["thread"]: r["tid"] for r in done.query("threads")}
    wanted = {line_of(PARALLEL, mark) for mark in ("once", "three times", "generated", "hashed", "read")}
    threads = {tids[thread]: lines for thread, lines in of_thread.items()}
    for name, t in done.truth["threads"].items():
        assert wanted <= set(threads[t["tid"]]), name


def test_samples_are_whole(parallel):
    """All samples of the threads lead to the program's outermost function."""
    done = parallel()
    tids = {r["thread"]: r["tid"] for r in done.query("threads")}
    ours = {t["tid"] for t in done.truth["threads"].values()}
    samples = [s for s in done.samples() if tids[s.thread] in ours and s.samples]
    whole = sum(s.samples for s in samples if any(f.is_python and f.function == "work" for f in s.frames))
    assert whole / sum(s.samples for s in samples) > 0.98


def test_no_thread_waits_for_the_gil(parallel):
    causes = {r["cause"] for r in parallel().sql("select * from v_wait")}
    assert "gil" not in causes


def test_what_is_off_says_so(pieprof, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("x = 1\nfor i in range(3_000_000):\n    x = (x * 75 + 74) % 65537\n", encoding="utf-8")
    db = tmp_path / "x.db"
    done = helpers.run([pieprof, "-o", db, program])
    assert done.returncode == 0
    said = " ".join((done.stdout + done.stderr).split())
    assert said.count(OFF) == 1, said
    [row] = helpers.query(db, "select sampler, sampler_note from process")
    assert row["sampler"] == "none" and row["sampler_note"].startswith(OFF)
    assert helpers.query(db, "select * from heap") == []


def test_a_loop_that_asks_is_left_alone(pieprof, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys, pieprof\nprint(sum(pieprof.loop([1, 2, 3])), sys._is_gil_enabled())\n", encoding="utf-8")
    done = profile(tmp_path / "x.db", program, options=("--learn", f"{program}:2"))
    assert done.completed.stdout == "6 False\n"
    assert done.completed.stderr == "pieprof: warning: --learn: loops are not traced in a Python without the GIL\n"


def test_the_same_answer_with_the_gil_back(pieprof, tmp_path):
    env = helpers.clean_environment(PYTHON_GIL="1")
    done = profile(tmp_path / "x.db", PARALLEL, 2, options=FIXED_RATES, env=env, timeout=300)
    assert done.truth["gil"] is True
    truth, rows = done.truth["threads"], {r["tid"]: r for r in done.query("threads")}
    for name, t in truth.items():
        assert rows[t["tid"]]["clock_cpu_s"] == pytest.approx(t["cpu_s"], abs=0.02), name


@pytest.mark.parametrize("copies", ["0", "1"])
def test_with_and_without_copies_of_the_bytecode(pieprof, tmp_path, copies):
    env = helpers.clean_environment(PYTHON_TLBC=copies)
    done = profile(tmp_path / "x.db", PARALLEL, 2, options=FIXED_RATES, env=env, timeout=300)
    check_split(done)
