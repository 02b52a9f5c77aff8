# SPDX-License-Identifier: Apache-2.0
"""CPU time by thread, and waiting, which is no CPU time."""

import functools

import pytest

from helpers import TRUTH, line_of, profile, total

THREADS = TRUTH / "threads.py"
WAITING = TRUTH / "waiting.py"
WAITING_S = 1.5


@pytest.fixture(scope="module")
def four(pieprof, tmp_path_factory):
    """A function: a kind of work -> the Profile of four threads of it."""
    return functools.cache(lambda kind: profile(tmp_path_factory.mktemp("four") / "x.db", THREADS, kind, 4))


@pytest.fixture(scope="module")
def waiting(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("waiting") / "x.db", WAITING, WAITING_S)


@pytest.mark.parametrize("kind", ["python", "native"])
def test_shares_of_four_threads(four, kind):
    done = four(kind)
    truth = done.truth["threads"]
    rows = {r["tid"]: r for r in done.query("threads")}
    measured = {name: rows[t["tid"]] for name, t in truth.items()}
    together = total(measured.values(), "cpu_s")
    true_together = sum(t["cpu_s"] for t in truth.values())
    assert together == pytest.approx(true_together * done.program_share, rel=0.05)
    for name, t in truth.items():
        assert measured[name]["cpu_s"] / together == pytest.approx(t["cpu_s"] / true_together, abs=0.03), name
        assert measured[name]["clock_cpu_s"] == pytest.approx(t["cpu_s"], abs=0.02), name


def test_each_function_is_sampled_in_its_own_thread(four):
    done = four("native")
    names = set(done.truth["threads"])
    threads = {}
    for sample in done.samples():
        for name in names & {f.function for f in sample.frames if f.is_python}:
            threads.setdefault(name, set()).add(sample.thread)
    tids = {r["thread"]: r["tid"] for r in done.query("threads")}
    assert {name: {tids[t] for t in found} for name, found in threads.items()} == {
        name: {t["tid"]} for name, t in done.truth["threads"].items()}


def test_waiting_lines(waiting):
    rows = waiting.lines()
    for mark, seconds in waiting.truth["waited"].items():
        # The line itself, and lines of the standard library that wait on its behalf (Popen.wait).
        place = str(WAITING), line_of(WAITING, mark)
        found = [r for r in rows if place in ((r["file"], r["line"]), (r["user_file"], r["user_line"]))]
        # What it took beyond what it waited for: after each wake, on a busy machine, the wait for a processor.
        off = sum(total(found, kind) for kind in ("wait_s", "runnable_s", "throttled_s"))
        assert off == pytest.approx(seconds, rel=0.05), mark
        assert total(found, "cpu_s") < 0.05 * seconds, mark


def test_a_sleeping_thread_waits_and_uses_no_cpu(waiting):
    rows = {r["tid"]: r for r in waiting.query("threads")}
    for name in ("sleeper", "locked"):
        row = rows[waiting.truth["tids"][name]]
        assert row["cpu_s"] < 0.02
        assert row["wait_s"] + row["runnable_s"] + row["throttled_s"] == pytest.approx(2 * WAITING_S, rel=0.05)
