# SPDX-License-Identifier: Apache-2.0
"""Threads that come and go: none is lost, none stays behind, and none costs more than it is worth."""

import json
import pathlib
import resource

import pytest

from helpers import FIXED_RATES, PYTHON, Profile, accounts, binary, run, total

DEFECTS = pathlib.Path(__file__).resolve().parent / "defects"
SHORT = DEFECTS / "short_threads.py"


def counters(profile):
    return {r["name"]: r["value"] for r in profile.sql("select name, value from counter")}


def limit_address_space():
    resource.setrlimit(resource.RLIMIT_AS, (4000000 * 1024, 4000000 * 1024))


@pytest.fixture(scope="module")
def churned(tmp_path_factory):
    """Ten thousand short threads where there is room for some hundred, then one that is worth a sample."""
    db = tmp_path_factory.mktemp("churned") / "x.db"
    done = run([binary(), "-q", "-o", db, SHORT, 500, 1], preexec_fn=limit_address_space, timeout=300)
    assert done.returncode == 0, done.stderr
    return Profile(db, done)


def test_all_threads_are_in_the_profile_and_all_have_ended(churned):
    assert "no_thread_slot" not in counters(churned)
    rows = churned.query("threads")
    assert sum(r["threads"] for r in rows) == churned.truth["threads"] + 1
    assert churned.query("runs")[0]["threads"] == churned.truth["threads"] + 1
    lost = churned.sql("select id from thread where ended_ns is null and not is_main")
    assert lost == []  # before: one in forty


def test_the_thread_that_comes_last_is_profiled(churned):
    (last,) = [r for r in churned.query("threads") if r["name"] == "last"]
    assert last["clock_cpu_s"] == pytest.approx(1, abs=0.05)
    (account,) = accounts(churned.db)
    assert last["cpu_s"] < 1.02 * last["clock_cpu_s"]  # what signals take of it is none of the thread's time
    assert last["cpu_s"] + account["own_s"] > 0.97 * last["clock_cpu_s"]
    worker = [r for r in churned.functions(SHORT) if r["function"] == "late_worker"]
    assert total(worker, "cpu_s") > 0.95 * last["cpu_s"]


def test_short_threads_share_a_row(churned):
    """Those that live for a tenth of a millisecond; a loaded machine makes some of them old."""
    (short,) = [r for r in churned.query("threads") if r["thread"] == 0]
    assert short["threads"] > 0.8 * churned.truth["threads"]
    assert short["name"] == "(short threads)" and short["tid"] is None and short["samples"] == 0
    assert 10e-6 < short["clock_cpu_s"] / short["threads"] < 1e-3


def test_threads_that_ended_take_no_memory(churned):
    resident = churned.truth["resident_mb"]
    assert resident[3] - resident[0] < 3  # MB for 7500 threads; before: 10


def paired_ratios(script, rounds, db, *arguments):
    """CPU time under pieprof, of what python3 takes before and after. The least of them is that with least company."""
    ratios, bare = [], json.loads(run([PYTHON, script, *arguments]).stdout)["us"]
    for nth in range(rounds):
        us = json.loads(run([binary(), "-q", "-o", f"{db}{nth}", script, *arguments]).stdout)["us"]
        before, bare = bare, json.loads(run([PYTHON, script, *arguments]).stdout)["us"]
        ratios.append(us / (before + bare) * 2)
    print("ratios", [round(r, 2) for r in ratios])
    return ratios


def test_a_short_thread_costs_less_than_twice_its_own(tmp_path):
    """CPU time of the whole process, the collection thread's too, for one thread; before: four to five times."""
    ratios = paired_ratios(SHORT, 5, tmp_path / "x.db", 100)
    assert min(ratios) < 2.2  # goal: 2; 1.66 on a loaded machine, 5.4 before


def test_a_thread_that_is_switched_all_the_time_is_sampled_seldom(tmp_path, profiled):
    """Each switch costs as much as a signal while the clock's period ends before the kernel's tick does. Before: 5.8
    times."""
    profile = profiled(DEFECTS / "hand_over.py")
    if profile.query("runs")[0]["clock"] != "perf":
        pytest.skip("no other clock is changed")
    threads, (run,) = profile.query("threads"), profile.query("runs")
    (switches_s,) = (r["cpu_s"] for r in profile.query("overhead") if r["collector"] == "switches")
    clock_s = sum(r["clock_cpu_s"] for r in threads)
    assert 0.03 * clock_s < switches_s < clock_s, (threads, run)
    ratios = paired_ratios(DEFECTS / "hand_over.py", 3, tmp_path / "x.db")
    assert min(ratios) < 4  # 2.3 to 5.3 on a loaded machine


def test_a_thread_leaves_nothing_in_the_footprint(profiled):
    """Before: 72 bytes, the profiler's own."""
    profile = profiled(DEFECTS / "thread_growth.py", 3000)
    points = profile.sql("select t_ns, native_bytes from footprint order by t_ns")
    before = [p["native_bytes"] for p in points if p["t_ns"] <= profile.truth["before_ns"]][-1]
    idle = max(p["t_ns"] for p in points) - 250_000_000
    after = [p["native_bytes"] for p in points if profile.truth["before_ns"] < p["t_ns"]
             and p["t_ns"] > idle][0]
    assert abs(after - before) < 3000 * 8
    assert abs(profile.truth["grown"]) < 3000 * 64  # it is the truth: the C library has kept next to nothing


def test_threads_that_vanish_are_buried(profiled):
    profile = profiled(DEFECTS / "threads_that_vanish.py", 5, 3)
    assert profile.truth["gone"] == 5
    rows = [r for r in profile.sql("select * from thread where not is_main")]
    assert len(rows) == 5 and all(r["ended_ns"] is not None for r in rows)
    assert all(r["wall_ns"] < 2.9e9 for r in rows)
    assert sum(r["cpu_ns"] for r in rows) / 1e9 == pytest.approx(profile.truth["cpu_s"], rel=0.15)


@pytest.mark.parametrize("descriptors", [1024, 64])
def test_threads_without_locked_memory_have_a_clock(tmp_path, descriptors):
    """Their events have no rings; where descriptors are short too, nothing could keep the event, and they have
    timers."""
    db = tmp_path / "x.db"
    done = run([PYTHON, DEFECTS / "refuse_rings.py", binary(), "-q", "-o", db, "--no-redundancy", *FIXED_RATES,
                DEFECTS / "halves.py", 40],
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)))
    if "no seccomp filter" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    profile = Profile(db, done)
    if profile.query("runs")[0]["clock"] != "perf":
        pytest.skip("no ring is wanted by this machine's clock")
    told = counters(profile)
    print(told)
    assert "threads_without_clock" not in told
    if descriptors == 64:
        # How many of the few descriptors are those whose rings are refused depends on which threads come first.
        assert told.get("threads_without_perf_ring", 0) < 15 and told["threads_with_timer_for_perf"] >= 5
    else:
        assert 20 <= told["threads_without_perf_ring"] <= 40 and "threads_with_timer_for_perf" not in told
    threads = [r for r in profile.query("threads") if not r["is_main"]]
    assert len(threads) == 40 and all(r["samples"] >= 5 for r in threads)
    assert total(threads, "cpu_s") == pytest.approx(total(threads, "clock_cpu_s"), rel=0.1)
    share = total(threads, "system_s") / total(threads, "cpu_s")
    truth = profile.truth["system_s"] / (profile.truth["system_s"] + profile.truth["user_s"])
    assert share == pytest.approx(truth, abs=0.1)
