# SPDX-License-Identifier: Apache-2.0
"""Verdicts on clean programs that were reported as wasteful."""

import pytest

import helpers

PROGRAM = helpers.ROOT / "tests" / "integration" / "defects" / "native_bookkeeping.py"


@pytest.mark.parametrize("what", ["hash", "sql"])
def test_a_librarys_own_memory_says_nothing_about_its_calls(profiled, what):
    profile = profiled(PROGRAM, what, options=["--no-memory", "--overhead", "20%"])
    process = profile.sql("select sampler, sampler_note from process")[0]
    if process["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {process['sampler_note']}")
    watches = profile.sql("select sum(watches) as n from watch")[0]["n"]
    if (watches or 0) < 20:
        pytest.skip(f"too few watches on this machine to say anything ({watches})")
    assert [row for row in profile.query("top all redundancy") if row["severity"] == "high"] == []
