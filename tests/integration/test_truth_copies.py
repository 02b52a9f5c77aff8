# SPDX-License-Identifier: Apache-2.0
"""Copies of known volume (truth/memory/copies.py and its neighbours)."""

import pytest

from helpers import TRUTH, line_of, profile

HERE = TRUTH / "memory"
COPIES, MIXED, LOOPS = HERE / "copies.py", HERE / "mixed_copies.py", HERE / "loops.py"
LARGE = ["slice", "bytearray", "bytes + bytes", "copy", "assign", "concatenate", "tobytes", "pickle"]
SMALL = ["small slice", "join bytes", "join", "repeat", "repeat words"]


def rows_of(done, program):
    """line -> the rows of "copies" about it."""
    found = {}
    for row in done.query("top 100000 copies"):
        if row["file"] == str(program):
            found.setdefault(row["line"], []).append(row)
    return found


@pytest.fixture(scope="module")
def runs(pieprof, tmp_path_factory):
    folder = tmp_path_factory.mktemp("copies")
    return {kind: profile(folder / f"{kind}.db", COPIES, kind, amount)
            for kind, amount in {"fast": 0.4, "small": 0.4, "paced": 15, "threads": 20}.items()}


@pytest.mark.parametrize("mark", [*LARGE, *SMALL])
def test_copy_volume_of_a_line(runs, mark):
    """Within 5 %, of own lines: np.concatenate() copies in a Python function of NumPy's.

    A line copies for 0.4 s in one go, some hundred samples long, so that chance is only in where its first and its last
    sample fall."""
    done = runs["small" if mark in SMALL else "fast"]
    line = line_of(COPIES, mark)
    (row,) = done.sql(f"select * from v_own_memory where file = '{COPIES}' and line = {line}")
    print(mark, row["copy_bytes"] / done.truth[mark], rows_of(done, COPIES).get(line))
    assert row["copy_bytes"] == pytest.approx(done.truth[mark], rel=0.05)


def test_what_a_thread_copies_behind_its_last_sample_is_its_line_s(runs):
    """A thread has few samples here or one. Bytes before the first are that one's, so all are this line's."""
    done = runs["threads"]
    (row,) = rows_of(done, COPIES)[line_of(COPIES, "thread")]
    assert row["bytes"] == pytest.approx(done.truth["thread"], rel=0.01)


@pytest.mark.parametrize("kind, marks", [("fast", LARGE), ("small", SMALL)])
def test_lines_have_all_that_was_copied(runs, kind, marks):
    """Also at the end of the process: what is behind the last sample is its line's."""
    done = runs[kind]
    (total,) = done.sql("select sum(bytes) as bytes from v_copy")
    assert total["bytes"] == pytest.approx(sum(done.truth[mark] for mark in marks), rel=0.01)


@pytest.mark.parametrize("mark", [mark for mark in LARGE if mark not in ("concatenate", "pickle")])
def test_copies_that_are_large_and_few_are_counted(runs, mark):
    """On these lines there are no others."""
    (row,) = rows_of(runs["paced"], COPIES)[line_of(COPIES, mark)]
    assert row["estimate"] == "counted"
    assert row["bytes"] == row["bytes_low"] == row["bytes_high"]
    assert row["bytes"] == pytest.approx(runs["paced"].truth[mark], rel=0.005)


@pytest.mark.parametrize("mark", SMALL)
def test_small_copies_are_said_to_be_sampled(runs, mark):
    (row,) = rows_of(runs["small"], COPIES)[line_of(COPIES, mark)]
    assert row["estimate"] == "sampled"
    assert row["bytes_low"] <= runs["small"].truth[mark] <= row["bytes_high"]


def test_copies_of_two_lines_by_turns(profiled):
    """Which line a sample meets is chance: n samples are right within 4 / sqrt(n)."""
    done = profiled(MIXED, 2_000_000)
    rows = rows_of(done, MIXED)
    found = {mark: rows[line_of(MIXED, mark)][0] for mark in done.truth}
    for mark, row in found.items():
        print(mark, row["bytes"] / done.truth[mark], row["samples"])
        assert row["samples"] >= 50
        assert row["bytes"] == pytest.approx(done.truth[mark], rel=4 / row["samples"] ** 0.5)
    assert sum(r["bytes"] for r in found.values()) == pytest.approx(sum(done.truth.values()), rel=0.05)


def test_a_rate_is_the_volume_by_the_time(runs):
    (run,) = runs["fast"].query("runs")
    for rows in rows_of(runs["fast"], COPIES).values():
        for row in rows:
            assert row["bytes_per_s"] == pytest.approx(row["bytes"] / run["wall_s"], rel=0.05)


@pytest.fixture(scope="module")
def loops(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("loops") / "x.db", LOOPS, 1)


@pytest.mark.parametrize("mark", ["transposed", "strided", "cast"])
def test_copy_loops_of_numpy_are_estimated(loops, mark):
    """No memcpy() is called: an estimate from samples of time, labelled so, within a factor of three."""
    rows = [r for r in rows_of(loops, LOOPS).get(line_of(LOOPS, mark), []) if r["estimate"] == "loop"]
    print(mark, loops.truth[mark], rows)
    assert len(rows) == 1
    assert loops.truth[mark] / 3 < rows[0]["bytes"] < loops.truth[mark] * 3
