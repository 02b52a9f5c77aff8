# SPDX-License-Identifier: Apache-2.0
"""--overhead limits what each collector costs, in every program. Shares of CPU time and counts, which a busy machine
does not change: what a sample costs there is in both sides of each comparison."""

import pytest

from helpers import FIXED_RATES, TRUTH, line_of, profile

PROGRAM, SLEEPER = TRUTH / "budget.py", TRUTH / "budget_sleeps.py"
SHORT_THREADS = """
import threading, time
while time.process_time() < 1:
    thread = threading.Thread(target=sum, args=(range(20_000),))
    thread.start()
    thread.join()
print(time.process_time())
"""
SECONDS = {0.01: 2.5, 0.05: 4.5}  # the first 0.4 and 2 s of CPU time are without a limit
LONGEST_S = {0.01: 0.010, 0.05: 0.005}  # mean periods, at --rate 1khz


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
