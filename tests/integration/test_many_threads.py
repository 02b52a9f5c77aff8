# SPDX-License-Identifier: Apache-2.0
"""Five hundred threads: each is profiled, or counted where it could not be."""

import pytest

from helpers import TRUTH, line_of, total

THREADS = TRUTH / "many_threads.py"
N = 500


def drops(profile):
    return {r["counter"]: r["drops"] for r in profile.query("drops") if r["drops"]}


@pytest.mark.parametrize("kind", ["at_once", "in_turn"])
def test_all_are_profiled_or_counted(profiled, kind):
    profile = profiled(THREADS, kind, N, 0.004)
    truth = profile.truth["cpu_s"]
    rows = [r for r in profile.query("threads") if not r["is_main"]]
    assert len(rows) + drops(profile).get("no_thread_slot", 0) == N
    clocked = sorted(r["clock_cpu_s"] for r in rows)
    if kind == "at_once":  # else the kernel may use a number again
        assert {str(r["tid"]) for r in rows} == set(truth)
        for r in rows:
            assert r["clock_cpu_s"] == pytest.approx(truth[str(r["tid"])], abs=0.01), r
    assert clocked[0] >= 0.004
    sampled = [r for r in rows if r["samples"]]
    assert len(sampled) >= 0.9 * N - drops(profile).get("threads_without_clock", 0), drops(profile)
    # What a thread does after its last sample is booked there. A handler's own time is taken out.
    assert 0.9 * profile.program_share * total(sampled, "clock_cpu_s") < total(sampled, "cpu_s")
    assert total(sampled, "cpu_s") < 1.02 * total(sampled, "clock_cpu_s")


@pytest.mark.parametrize("budget", ["5%", "1%"])
def test_the_waiting_of_all_is_counted(profiled, budget):
    """Though each is looked at in some ticks only: a wait that begins between two looks has half of the time between
    them, and the wait before it, which lasts as long here, has the other half. With many threads, a half is 0.1 to
    0.2 s, so a wait that follows a short one would be too short by that. Until its first look a thread waits nowhere.
    """
    profile = profiled("--overhead", budget, THREADS, "asleep", N, 2)
    truth = sum(profile.truth["asleep_s"].values())
    place = str(THREADS), line_of(THREADS, "asleep")
    # By its own clock a thread sleeps until it has a processor again, for which all five hundred queue.
    found = [r for r in profile.lines() if (r["file"], r["line"]) == place]
    asleep_s = sum(total(found, kind) for kind in ("wait_s", "runnable_s", "throttled_s"))
    assert asleep_s == pytest.approx(truth, rel=0.05)
    assert sum(r["wait_s"] > 0.8 * 2 for r in profile.query("threads")) == N + 1
