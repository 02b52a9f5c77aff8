# SPDX-License-Identifier: Apache-2.0
"""Function bias (Scalene, section 6.2): a function that calls is not charged more or less than one that does not."""

import functools

import pytest

from helpers import FIXED_RATES, TRUTH, profile, total

PROGRAM = TRUTH / "function_bias.py"
SECONDS = 2.5  # 2500 samples; both functions run in chunks of several samples, so 2 points are more than 4 sigmas


@pytest.fixture(scope="module")
def bias(pieprof, tmp_path_factory):
    """A function: a percentage -> the Profile of the program whose calling function has so much of the time."""
    return functools.cache(lambda percent: profile(tmp_path_factory.mktemp("bias") / "x.db", PROGRAM, percent, SECONDS, options=FIXED_RATES))


# A bias would be the greater, the more is called: the ends and the middle show it.
@pytest.mark.parametrize("percent", [5, 25, 50, 75, 95])
def test_share_of_a_calling_function(bias, percent):
    done = bias(percent)
    rows = done.functions(PROGRAM)
    calling = total([r for r in rows if r["function"] in ("calling", "helper")], "cpu_s")
    inlined = total([r for r in rows if r["function"] == "inlined"], "cpu_s")
    assert calling + inlined == pytest.approx(
        sum(done.truth["seconds"].values()) * done.program_share, rel=0.05)
    assert calling / (calling + inlined) == pytest.approx(done.truth["share"], abs=0.02)


def test_helper_is_charged_to_its_caller_in_the_tree(bias):
    paths = {}
    for sample in bias(50).samples():
        names = [name for name, _ in sample.python_path]
        if names and names[-1] in ("helper", "calling", "inlined"):
            paths[tuple(names)] = paths.get(tuple(names), 0) + sample.samples
    assert set(paths) == {("<module>", "main", "calling"), ("<module>", "main", "calling", "helper"),
                          ("<module>", "main", "inlined")}
