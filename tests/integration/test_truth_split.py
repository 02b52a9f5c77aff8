# SPDX-License-Identifier: Apache-2.0
"""Python, native and system time of one function whose split is known."""

import pytest

from helpers import FIXED_RATES, TRUTH, binomial_margin, split

COARSE = TRUTH / "split.py"
FINE = TRUTH / "fine_split.py"


def check(profile, program, functions, margin=0.03):
    """Shares of the CPU time of some functions of a program against the program's own clock."""
    truth = profile.truth
    found = split([r for r in profile.functions(program) if r["function"] in functions])
    assert found["cpu"] == pytest.approx(sum(truth["seconds"].values()) * profile.program_share, rel=0.05), found
    share = truth["share"]
    expected = {"python": 1 - share, "native": 0, "system": 0, truth["where"]: share}
    for kind, value in expected.items():
        assert found[kind] / found["cpu"] == pytest.approx(value, abs=margin), (kind, found, truth)


@pytest.mark.parametrize("kind", ["zlib", "hashlib", "ctypes", "ctypes-gil", "builtin", "read"])
def test_split_of_a_loop(profiled, kind):
    # 3000 samples: 3 points are 3.4 sigmas if every sample were a throw; phases of milliseconds make them better.
    check(profiled(COARSE, kind, 40, 3, options=FIXED_RATES), COARSE, ["mix"])


@pytest.mark.parametrize("kind, percent", [("hashlib", 90), ("read", 10)])
def test_split_of_a_lopsided_loop(profiled, kind, percent):
    check(profiled(COARSE, kind, percent, 2.5, options=FIXED_RATES), COARSE, ["mix"])


def test_split_of_a_fine_mixture(profiled):
    profile = profiled(FINE, 4, options=FIXED_RATES)
    check(profile, FINE, ["mixed"])
    alone = split([r for r in profile.functions(FINE) if r["function"] == "alone"])
    assert alone["native"] / alone["cpu"] > 0.97


@pytest.mark.parametrize("clock", ["timer", "itimer"])
@pytest.mark.parametrize("kind", ["hashlib", "read"])
def test_split_on_a_fallback_clock(profiled, clock, kind):
    # These clocks tick with the kernel (4 ms at CONFIG_HZ=250): a quarter of the samples, so a wider margin.
    profile = profiled(COARSE, kind, 40, 3, options=["--clock", clock])
    (run,) = profile.query("runs")
    assert run["clock"] == clock
    samples = sum(r["samples"] for r in profile.functions(COARSE) if r["function"] == "mix")
    assert samples > 3 * 80
    check(profile, COARSE, ["mix"], margin=max(0.03, binomial_margin(0.4, samples)))
