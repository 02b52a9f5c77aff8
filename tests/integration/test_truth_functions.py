# SPDX-License-Identifier: Apache-2.0
"""Function bias (Scalene, section 6.2): a function that calls is not charged more or less than one that does not."""

import pytest

from helpers import TRUTH, total

PROGRAM = TRUTH / "function_bias.py"
SECONDS = 2.5  # 2500 samples; both functions run in chunks of several samples, so 2 points are more than 4 sigmas


@pytest.mark.parametrize("percent", [5, 15, 25, 35, 45, 55, 65, 75, 85, 95])
def test_share_of_a_calling_function(profiled, percent):
    profile = profiled(PROGRAM, percent, SECONDS)
    rows = profile.functions(PROGRAM)
    calling = total([r for r in rows if r["function"] in ("calling", "helper")], "cpu_s")
    inlined = total([r for r in rows if r["function"] == "inlined"], "cpu_s")
    assert calling + inlined == pytest.approx(
        sum(profile.truth["seconds"].values()) * profile.program_share, rel=0.05)
    assert calling / (calling + inlined) == pytest.approx(profile.truth["share"], abs=0.02)


def test_helper_is_charged_to_its_caller_in_the_tree(profiled):
    profile = profiled(PROGRAM, 50, SECONDS)
    paths = {}
    for sample in profile.samples():
        names = [name for name, _ in sample.python_path]
        if names and names[-1] in ("helper", "calling", "inlined"):
            paths[tuple(names)] = paths.get(tuple(names), 0) + sample.samples
    assert set(paths) == {("<module>", "main", "calling"), ("<module>", "main", "calling", "helper"),
                          ("<module>", "main", "inlined")}
