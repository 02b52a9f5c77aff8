# SPDX-License-Identifier: Apache-2.0
"""A program that runs in step with the sampling clock (truth/lockstep.py): samples at even distances would always meet
the same of its two functions."""

import pytest

from helpers import FIXED_RATES, TRUTH, profile, total

PROGRAM = TRUTH / "lockstep.py"
SECONDS = 2


# The measured share, the true one, and the standard deviation of the first.
def share_of_first(folder, cycle_us, options, seconds=SECONDS):
    done = profile(folder / "x.db", PROGRAM, cycle_us, seconds, options=options)
    rows = done.functions(PROGRAM)
    cpu_s = {name: total([row for row in rows if row["function"] == name], "cpu_s") for name in ("first", "second")}
    width_s = max(row["cpu_s_high"] - row["cpu_s_low"] for row in rows if row["function"] in cpu_s)
    return cpu_s["first"] / sum(cpu_s.values()), done.truth["share"], width_s / 3.92 / sum(cpu_s.values())


# Periods change ten times a second. A cycle of half a period is as much in step as one of a whole.
@pytest.mark.parametrize("clock, cycle_us", [("perf", 500), ("perf", 1000), ("perf-user", 1000)])
def test_share_in_step_with_the_clock(pieprof, tmp_path, clock, cycle_us):
    probe = profile(tmp_path / "probe.db", "-c", "pass", options=["--clock", clock]).sql("select clock from process")[0]
    if probe["clock"] != clock:
        pytest.skip(f"there is no clock {clock} here")
    measured, truth, _ = share_of_first(tmp_path, cycle_us, ["--clock", clock, *FIXED_RATES])
    assert measured == pytest.approx(truth, abs=0.05)


def test_share_within_the_budget(pieprof, tmp_path):
    """Longer periods, near ones among them: a sample stands for the time since the last one all the same. They are few:
    four standard deviations, by the intervals of the answer, are far less than a program in step would be wrong by."""
    measured, truth, deviation = share_of_first(tmp_path, 1000, ["--overhead", "1%"], 4)
    assert measured == pytest.approx(truth, abs=max(0.05, 4 * deviation))
