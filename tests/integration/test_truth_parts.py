# SPDX-License-Identifier: Apache-2.0
"""Results of which a part stays (truth/redundancy/parts.py): numbers that were kept, and values that recur."""

import pytest

from helpers import TRUTH, has_numpy, line_of, profile

PROGRAM = TRUTH / "redundancy" / "parts.py"
CPU_SECONDS = 3
RETURNED, PARTLY = 4, 2
pytestmark = pytest.mark.skipif(not has_numpy(), reason="no NumPy here")


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    probe = profile(tmp_path_factory.mktemp("probe") / "x.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if probe[0]["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {probe[0]['sampler_note']}")
    return profile(tmp_path_factory.mktemp("parts") / "a.db", PROGRAM, CPU_SECONDS)


@pytest.mark.parametrize("mark, part", [("numbers", 1), ("cells", 0)])
def test_a_part_that_stays(done, mark, part):
    (row,) = done.sql(f"""
        select coalesce(sum(w.watches), 0) as compared, coalesce(sum(iif(w.traits & {PARTLY}, w.watches, 0)), 0) as partly
        from watch w join node n on n.process = w.process and n.id = w.first_node
        join location l on l.process = n.process and l.id = n.own_location
        where w.memory = {RETURNED} and w.outcome <= 2 and l.line = {line_of(PROGRAM, mark)}""")
    print(mark, row)
    if row["compared"] < 2:
        pytest.skip("too few results were compared")
    # A result that is compared with one of some calls before has half of its cells, hardly ever with twelve values.
    by_chance = 0 if part else 0.15
    assert row["partly"] == pytest.approx(part * row["compared"], abs=by_chance * row["compared"])
