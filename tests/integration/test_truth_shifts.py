# SPDX-License-Identifier: Apache-2.0
"""Lines that move all items with each call, and those that look like it (truth/memory/shifting.py)."""

import re

import pytest

from helpers import TRUTH, binary, line_of, profile, run

PROGRAM = TRUTH / "memory/shifting.py"
SHIFT = ["pop", "delete", "put"]
DO_NOT = ["few", "end", "deque", "halves", "merge"]
SAYS = re.compile(r"each call moves all items behind those that it adds or removes: (\S+) GB in all, in (\S+) of the line's (\S+) s$")


@pytest.fixture(scope="module")
def runs(pieprof, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shifting")
    return {name: profile(folder / f"{name}.db", PROGRAM, name) for name in SHIFT + DO_NOT}


def shifts(done):
    return [row for row in done.query("redundancy") if "moves all items" in row["evidence"]]


@pytest.mark.parametrize("name", SHIFT)
def test_a_line_that_moves_all_items_is_named_with_the_bytes(runs, name):
    """Bytes within a fifth, as copies are sampled. Nearly all of the line's time is that of its moves."""
    (row,) = shifts(runs[name])
    assert (row["file"], row["line"]) == (str(PROGRAM), line_of(PROGRAM, name))
    assert (row["kind"], row["category"], row["severity"]) == ("store", "inefficient algorithm", "high")
    gigabytes, moves_s, line_s = map(float, SAYS.match(row["evidence"]).groups())
    assert gigabytes * 1e9 == pytest.approx(runs[name].truth["bytes"], rel=0.2)
    assert 0.5 * line_s < moves_s <= line_s and row["wasted_s"] == pytest.approx(moves_s, rel=0.01)
    assert row["wasted_s_low"] < row["wasted_s"] < row["wasted_s_high"]
    assert "deque" in row["advice"] and row["again"] == "moved again"


def test_it_leads_the_summary(tmp_path):
    done = run([binary(), "-o", "x.db", PROGRAM, "pop"], cwd=tmp_path)
    first = next(text for text in done.stderr.splitlines() if " of the run wasted: " in text)
    assert first.startswith(f"shifting.py:{line_of(PROGRAM, 'pop')}: ") and "inefficient algorithm" in first
    assert re.search(r"\(\d+\.\d+ s moved again\)$", first)


@pytest.mark.parametrize("name", DO_NOT)
def test_what_looks_like_it_is_not_told(runs, name):
    assert shifts(runs[name]) == []
