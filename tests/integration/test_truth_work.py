# SPDX-License-Identifier: Apache-2.0
"""What built-in types and C modules of the standard library do for a line (truth/redundancy/work.py): told where a
better call does the same, and not where none does."""

import pytest

from helpers import TRUTH, line_of, profile

WORK = TRUTH / "redundancy/work.py"
SECONDS = 0.2
SLICE, MISUSE, ALGORITHM = "slice underutilization", "API misuse", "inefficient algorithm"
WASTEFUL = {  # line: function, category, kind, what is done again, a word of the advice, its part of the function's time
    "joined": ("joined", ALGORITHM, "store", "copied again", "append", 0.95),
    "chosen": ("chosen", ALGORITHM, "load", "read again", "heap", 0.75),
    "patterns": ("patterns", ALGORITHM, "load", "read again", "alternatives", 0.95),
    "skipped": ("skipped", MISUSE, "load", "read again", "slices", 0.9),
    "first field": ("fields", SLICE, "load", "looked up again", "iter_unpack", 0.45),
    "second field": ("fields", SLICE, "load", "looked up again", "iter_unpack", 0.45),
    "reader": ("reader", MISUSE, "load", "looked up again", "all lines", None),
    "counted": ("counted", SLICE, "load", "looked up again", "count()", 0.95),
    "summed": ("summed", SLICE, "load", "looked up again", "sum()", 0.55),
    "greatest": ("summed", SLICE, "load", "looked up again", "max()", 0.38),
    "filled": ("filled", SLICE, "store", "set one by one", "bytes([x])", 0.95),
    "sieve": ("sieve", SLICE, "store", "set one by one", "a[i:j:step]", 0.9),
    "copied": ("copied", SLICE, "store", "set one by one", "a[i:j] = b[k:l]", 0.95),
}
RUNS = ("joined", "chosen", "reader"), ("patterns", "skipped", "fields"), ("counted", "summed"), ("filled", "sieve", "copied")
CLEAN = {
    "appended": "appended", "made anew": "made_anew", "two lists": "two_lists", "few patterns": "few_patterns",
    "from the start": "from_the_start", "whole records": "whole_records", "one field": "one_field",
    "one reader": "one_reader", "recurrence": "recurrence", "runs": "runs", "a limit that is counted up": "record",
    "called": "called", "a dict": "a_dict", "short": "short", "written": "written",
    "sums": "sums", "worked out": "worked_out", "set sometimes": "set_sometimes", "filled dict": "filled_dict",
    "short fill": "short_fill",
}


@pytest.fixture(scope="module")
def wasteful(pieprof, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wasteful")
    return {name: done for i, names in enumerate(RUNS) for done in [profile(folder / f"{i}.db", WORK, SECONDS, *names)]
            for name in names}


@pytest.fixture(scope="module")
def clean(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("clean") / "x.db", WORK, SECONDS, *CLEAN.values())


def of_line(done, name):
    return [row for row in done.query("top 1000 redundancy") if (row["file"], row["line"]) == (str(WORK), line_of(WORK, name))]


@pytest.mark.parametrize("name", WASTEFUL)
def test_it_is_told(wasteful, name):
    function, category, kind, again, advice, part = WASTEFUL[name]
    (row,) = [row for row in of_line(wasteful[function], name) if row["severity"] == "high"]
    print(row["evidence"], row["wasted_s"], row["cpu_s"])
    assert (row["category"], row["kind"], row["again"]) == (category, kind, again) and advice in row["advice"]
    assert row["wasted_s_low"] < row["wasted_s"] < row["wasted_s_high"]
    if part:
        assert row["wasted_s"] == pytest.approx(part * SECONDS, rel=0.4)


@pytest.mark.parametrize("name", CLEAN)
def test_what_is_needed_is_not_told(clean, name):
    assert [(row["evidence"], row["wasted_s"]) for row in of_line(clean, name) if row["severity"] == "high"] == []
