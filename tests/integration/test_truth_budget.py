# SPDX-License-Identifier: Apache-2.0
"""--overhead limits what each collector costs, in every program. Shares of CPU time and counts, which a busy machine
does not change: what a sample costs there is in both sides of each comparison."""

import os

import pytest

from helpers import FIXED_RATES, TRUTH, Profile, binary, line_of, profile, run

PROGRAM, SLEEPER = TRUTH / "budget.py", TRUTH / "budget_sleeps.py"
SHORT_THREADS = """
import threading, time
while time.process_time() < 1:
    thread = threading.Thread(target=sum, args=(range(20_000),))
    thread.start()
    thread.join()
print(time.process_time())
"""
# Two threads that take turns some thousand times a second.
TURNS = """
import threading, time
locks = [threading.Lock(), threading.Lock()]
locks[1].acquire()
def play(mine, other):
    while time.process_time() < 2:
        mine.acquire()
        sum(range(5_000))
        other.release()
threads = [threading.Thread(target=play, args=two, daemon=True) for two in (locks, locks[::-1])]
for thread in threads:
    thread.start()
while time.process_time() < 2:
    time.sleep(0.1)
"""
SECONDS = {0.01: 2.5, 0.05: 4.5}
LONGEST_S = {0.01: 0.020, 0.05: 0.010}  # mean periods, at --rate 1khz


@pytest.fixture(scope="module", params=sorted(LONGEST_S))
def budget(request):
    return request.param


@pytest.fixture(scope="module")
def governed(pieprof, budget, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("budget") / "x.db", PROGRAM, SECONDS[budget], options=["--overhead", f"{budget:.0%}"])


def shares(done):
    return {row["collector"]: row["measured_share"] for row in done.query("overhead")}


def mean_period_s(done):
    (run,) = done.query("runs")
    return run["cpu_s"] / run["samples"]


def last_second(done):
    """The last whole slice."""
    return [row for row in done.query("slices") if row["wall_s"] == 1][-1]


def test_samples_keep_to_their_part_or_are_as_few_as_they_may_be(governed, budget):
    row = last_second(governed)
    (spent,) = governed.sql(f"select cpu_ns from spent where collector = 'time' and slice_s = {row['t_s']}")
    found = spent["cpu_ns"] / 1e9 / row["cpu_s"], row["cpu_s"] / row["samples"]
    assert found[0] <= 0.5 * budget + 0.01 or found[1] >= 0.8 * LONGEST_S[budget], found


def test_watches_keep_to_their_part(governed, budget):
    """They have no floor: nothing is watched where nothing may be spent."""
    assert shares(governed)["redundancy"] <= 0.8 * budget + 0.005


def test_start_and_end_are_no_part_of_the_rest(governed):
    found = shares(governed)
    assert found["start"] > 0 and found["end"] > 0
    assert set(found) >= {"collection thread", "writing", "time", "memory", "counting", "caches"}


def test_fixed_rates_are_fixed(pieprof, tmp_path):
    done = profile(tmp_path / "x.db", PROGRAM, 1, options=FIXED_RATES)
    assert mean_period_s(done) < 0.0018


def test_a_program_that_sleeps_is_hardly_looked_at(pieprof, tmp_path):
    """Of a hundred ticks in two seconds nine of ten see that nothing has run. What is waited is known all the same."""
    done = profile(tmp_path / "x.db", SLEEPER)
    (ticks,) = done.sql("select sum(value) as n from counter where name = 'ticks'")
    assert ticks["n"] <= 60
    waited = {row["line"]: row["wait_s"] for row in done.lines(SLEEPER)}
    for mark, seconds in done.truth.items():
        assert waited[line_of(SLEEPER, mark)] == pytest.approx(seconds, abs=0.1), mark  # a look each 80 ms


def test_threads_too_short_for_a_sample_are_part_of_the_program(pieprof, tmp_path):
    """The overhead is a share of their time, too. The program's clock has both."""
    program = tmp_path / "short_threads.py"
    program.write_text(SHORT_THREADS, encoding="utf-8")
    done = profile(tmp_path / "x.db", program)
    (run,) = done.query("runs")
    whole_s = float(done.completed.stdout)
    assert run["cpu_s"] < 0.7 * whole_s  # what lines have
    assert run["overhead_s"] / run["overhead_share"] == pytest.approx(whole_s - run["overhead_s"], rel=0.2)


def test_threads_that_take_turns_do_not_pay_a_fifth_for_it(pieprof, tmp_path):
    """A switch of a thread with a near clock costs 12 us in a virtual machine, and 2 with one that is 12 ms away."""
    program = tmp_path / "turns.py"
    program.write_text(TURNS, encoding="utf-8")
    done = profile(tmp_path / "x.db", program, options=["--overhead", "5%"])
    (process,) = done.sql("select clock from process")
    if process["clock"] != "perf":
        pytest.skip("switches cost nothing with this clock")
    row = last_second(done)
    assert row["cpu_s"] / row["samples"] >= 0.009
    assert shares(done)["switches"] <= 0.12


BURNS = "import time\nwhile time.process_time() < 0.9: sum(range(500))"
CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURNS!r}], check=True)\n" + BURNS
# How far samples are apart on average, at --rate 1khz: at free rates, and in a second under 2 % that are asked for.
FREE_S, ASKED_S = 0.0018, 0.003


def process_periods_s(done):
    return [row["cpu_s"] / row["samples"] for row in done.sql("select cpu_s, samples from v_process order by process")]


def free_cpu_s(done):
    """What the file says of the time that the budget does not limit."""
    return [row["value"] for row in done.sql("select value from environment where key = 'overhead_free_cpu_s'")]


@pytest.mark.parametrize("options, env, free, is_near", [
    ((), {}, ["2"], True),
    (FIXED_RATES, {}, [], True),
    (("--overhead", "2%"), {}, ["0"], False),
    ((), {"PIEPROF_OVERHEAD": "2%"}, ["0"], False),
], ids=["default", "fixed", "option", "variable"])
def test_a_budget_that_is_asked_for_is_kept_from_the_start(pieprof, tmp_path, options, env, free, is_near):
    """In the program and in its child. Without one, rates are free for longer than both run."""
    done = profile(tmp_path / "x.db", "-c", CHILD, options=options, env={**os.environ, **env})
    assert free_cpu_s(done) == free
    periods = process_periods_s(done)
    assert len(periods) == 2
    for period_s in periods:
        assert period_s < FREE_S if is_near else period_s > ASKED_S, periods


@pytest.mark.parametrize("options, text", [
    ((), "budget 5 % after 2 s;"), (("--overhead", "5%"), "budget 5 % from the start;"),
], ids=["default", "asked"])
def test_the_summary_says_from_when_on(pieprof, tmp_path, options, text):
    done = run([binary(), "-o", tmp_path / "x.db", *options, "-c", BURNS.replace("0.9", "1.3")])
    assert done.returncode == 0 and text in done.stderr, done.stderr


def test_lines_that_were_not_looked_for_are_told(pieprof, tmp_path):
    """Debug information of libraries waits where the user named a budget, and a run of half a second is over before."""
    pytest.importorskip("numpy")
    work = "import numpy, time\na = numpy.arange(1e5)\nwhile time.process_time() < 0.5: a.sort()"
    told = []
    for options in ((), ("--overhead", "5%")):
        done = run([binary(), "-o", tmp_path / f"{len(options)}.db", *options, "-c", work])
        assert done.returncode == 0, done.stderr
        told.append("Native lines: not looked for in" in done.stderr)
    assert told == [False, True]


def test_a_run_too_short_for_a_verdict_says_so(pieprof, tmp_path):
    """At 0.5 % no access is watched in half a second. Where nothing was asked for, the reason is another one."""
    told = {}
    for options in ((), ("--overhead", "0.5%")):
        command = [binary(), "-o", tmp_path / f"{len(options)}.db", *options, "-c", BURNS.replace("0.9", "0.5")]
        done = run(command)
        assert done.returncode == 0, done.stderr
        told[options] = "too short for a verdict within --overhead 0.5%" in " ".join(done.stderr.split())
        (sampler,) = Profile(tmp_path / f"{len(options)}.db", done).sql("select sampler from process")
    if sampler["sampler"] == "none":
        pytest.skip("accesses cannot be watched here")
    assert told == {(): False, ("--overhead", "0.5%"): True}
