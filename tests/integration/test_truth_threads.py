# SPDX-License-Identifier: Apache-2.0
"""CPU time by thread, and waiting, which is no CPU time."""

import pytest

from helpers import TRUTH, line_of, total

THREADS = TRUTH / "threads.py"
WAITING = TRUTH / "waiting.py"


@pytest.mark.parametrize("kind", ["python", "native"])
def test_shares_of_four_threads(profiled, kind):
    profile = profiled(THREADS, kind, 4)
    truth = profile.truth["threads"]
    rows = {r["tid"]: r for r in profile.query("threads")}
    measured = {name: rows[t["tid"]] for name, t in truth.items()}
    together = total(measured.values(), "cpu_s")
    true_together = sum(t["cpu_s"] for t in truth.values())
    assert together == pytest.approx(true_together * profile.program_share, rel=0.05)
    for name, t in truth.items():
        assert measured[name]["cpu_s"] / together == pytest.approx(t["cpu_s"] / true_together, abs=0.03), name
        assert measured[name]["clock_cpu_s"] == pytest.approx(t["cpu_s"], abs=0.02), name


def test_each_function_is_sampled_in_its_own_thread(profiled):
    profile = profiled(THREADS, "native", 2)
    names = set(profile.truth["threads"])
    threads = {}
    for sample in profile.samples():
        for name in names & {f.function for f in sample.frames if f.is_python}:
            threads.setdefault(name, set()).add(sample.thread)
    tids = {r["thread"]: r["tid"] for r in profile.query("threads")}
    assert {name: {tids[t] for t in found} for name, found in threads.items()} == {
        name: {t["tid"]} for name, t in profile.truth["threads"].items()}


def test_waiting_lines(profiled):
    profile = profiled(WAITING, 1.5)
    rows = profile.lines()
    for mark, seconds in profile.truth["waited"].items():
        # The line itself, and lines of the standard library that wait on its behalf (Popen.wait).
        place = str(WAITING), line_of(WAITING, mark)
        found = [r for r in rows if place in ((r["file"], r["line"]), (r["user_file"], r["user_line"]))]
        # What it took beyond what it waited for: after each wake, on a busy machine, the wait for a processor.
        off = sum(total(found, kind) for kind in ("wait_s", "runnable_s", "throttled_s"))
        assert off == pytest.approx(seconds, rel=0.05), mark
        assert total(found, "cpu_s") < 0.05 * seconds, mark


def test_a_sleeping_thread_waits_and_uses_no_cpu(profiled):
    profile = profiled(WAITING, 1)
    rows = {r["tid"]: r for r in profile.query("threads")}
    for name in ("sleeper", "locked"):
        row = rows[profile.truth["tids"][name]]
        assert row["cpu_s"] < 0.02
        assert row["wait_s"] + row["runnable_s"] + row["throttled_s"] == pytest.approx(2, rel=0.05)
