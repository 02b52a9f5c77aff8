# SPDX-License-Identifier: Apache-2.0
"""Lines that copy all that was there with each call, and those that look like it (truth/memory/growing.py)."""

import re

import pytest

from helpers import PYTHON, TRUTH, binary, has_numpy, line_of, profile, run

PROGRAM = TRUTH / "memory/growing.py"
GROW = ["append", "stack", "join", "attribute"]
DO_NOT = ["variable", "at_random", "to_and_fro", "rounds", "amortised", "cache", "once", "reads", "rebuilt", "short"]
SAYS = re.compile(r"each call copies all that was there and adds a little: (\S+) ([GM]B) in about (\d+) copies, so")

pytestmark = pytest.mark.skipif(not has_numpy(), reason=f"{PYTHON} has no NumPy")


@pytest.fixture(scope="module")
def runs(pieprof, tmp_path_factory):
    folder = tmp_path_factory.mktemp("growing")
    return {name: profile(folder / f"{name}.db", PROGRAM, name) for name in GROW + DO_NOT}


def growing(done):
    return [row for row in done.query("redundancy") if "copies all that was there" in row["evidence"]]


@pytest.mark.parametrize("name", GROW)
def test_a_line_that_copies_all_that_was_there_is_named_with_its_order(runs, name):
    """Bytes within a tenth: the first blocks are too small to be seen to grow. Calls within three tenths: few samples
    stand for the many small ones."""
    (row,) = growing(runs[name])
    assert (row["file"], row["line"]) == (str(PROGRAM), line_of(PROGRAM, name))
    assert (row["kind"], row["category"], row["severity"]) == ("store", "inefficient algorithm", "high")
    amount, unit, calls = SAYS.match(row["evidence"]).groups()
    true_calls, true_bytes = runs[name].truth["calls"], runs[name].truth["bytes"]
    print(row["evidence"], true_calls, true_bytes)
    assert float(amount) * {"GB": 1e9, "MB": 1e6}[unit] == pytest.approx(true_bytes, rel=0.1)
    assert int(calls) == pytest.approx(true_calls, rel=0.3)
    assert row["wasted_s_low"] < row["wasted_s"] <= row["wasted_s_high"] and row["wasted_share"] > 0.1
    assert row["redundant_fraction"] is None and row["traps"] is None, "no watch told it"


@pytest.mark.parametrize("name", GROW)
def test_it_is_its_line_s_only_verdict(runs, name):
    own = [row for row in runs[name].query("redundancy") if (row["file"], row["line"]) == (str(PROGRAM), line_of(PROGRAM, name))]
    assert [row["kind"] for row in own if row["severity"] == "high"] == ["store"]


def test_it_leads_the_summary_where_nothing_was_watched(tmp_path):
    """Only native code of libraries is watched, and += on bytes is the interpreter's."""
    done = run([binary(), "-o", "x.db", PROGRAM, "join"], cwd=tmp_path)
    first = next(text for text in done.stderr.splitlines() if " of the run wasted: " in text)
    assert first.startswith(f"growing.py:{line_of(PROGRAM, 'join')}: ") and "inefficient algorithm" in first
    assert re.search(r"\(\d+\.\d+ s(, \d+\.\d+ s)? copied again\)$", first) and 'b"".join' in done.stderr


@pytest.mark.parametrize("name", DO_NOT)
def test_what_looks_like_it_is_not_told(runs, name):
    assert growing(runs[name]) == []


def test_a_period_says_nothing_of_growth(runs):
    """The order of sizes is that of the whole run."""
    rows = runs["join"].query("redundancy in the last 10 s")
    assert all("copies all that was there" not in row["evidence"] for row in rows)
