# SPDX-License-Identifier: Apache-2.0
"""--fp-tolerance for the results of calls (truth/redundancy/near.py)."""

import pytest

from helpers import TRUTH, line_of, profile

PROGRAM = TRUTH / "redundancy" / "near.py"
SECONDS = 1
REDUNDANT, CHANGED, RETURNED = 1, 2, 4


def compared(done, mark):
    """outcome -> number of compared results of the line with this mark."""
    return {row["outcome"]: row["n"] for row in done.sql(f"""
        select w.outcome, sum(w.watches) as n from watch w join node n on n.process = w.process and n.id = w.first_node
        join location l on l.process = n.process and l.id = n.line_location
        join function u on u.process = l.process and u.id = l.function join file f on f.process = u.process and f.id = u.file
        where w.memory = {RETURNED} and w.outcome <= {CHANGED} and f.path = '{PROGRAM}'
          and l.line = {line_of(PROGRAM, mark)} group by 1""")}


@pytest.mark.parametrize("options, near", [([], CHANGED), (["--fp-tolerance", "1e-9"], REDUNDANT),
                                           (["--fp-tolerance", "1e-15"], CHANGED)])
def test_results_within_the_tolerance_are_equal(pieprof, tmp_path, options, near):
    done = profile(tmp_path / "x.db", PROGRAM, SECONDS, options=options)
    [row] = done.sql("select sampler, sampler_note from process")
    if row["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {row['sampler_note']}")
    for mark, outcome in (("near", near), ("far", CHANGED)):
        found = compared(done, mark)
        print(options, mark, found)
        assert found.get(outcome, 0) >= 8 and found[outcome] >= 0.9 * sum(found.values()), mark
