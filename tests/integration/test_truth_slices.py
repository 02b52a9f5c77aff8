# SPDX-License-Identifier: Apache-2.0
"""A program of three phases of known length and content is reported by slices of time."""

import datetime

import pytest

from helpers import TRUTH, line_of, profile, total

PHASES = TRUTH / "phases.py"
PARTS = ("cpu_s", "wait_s", "runnable_s", "samples", "allocated_bytes", "copy_bytes")


@pytest.fixture(scope="module")
def phases(tmp_path_factory):
    return profile(tmp_path_factory.mktemp("phases") / "p.db", PHASES, 3)


def between(phase, margin_s=1):
    """Words for the phase without its first and last second: slices begin at whole seconds of the process's age."""
    return "between " + " and ".join(
        datetime.datetime.fromtimestamp(s, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        for s in (phase["from_s"] + margin_s, phase["to_s"] - margin_s))


def test_slices_add_up_to_the_run(phases):
    slices, (run,) = phases.query("slices"), phases.query("runs")
    for what in ("cpu_s", "samples"):
        assert total(slices, what) == pytest.approx(run[what], abs=1e-6), what
    for what in ("wait_s", "runnable_s"):  # what threads did before they were first seen, and at their end, is in none
        assert 0.98 * run[what] - 0.05 <= total(slices, what) <= run[what] + 1e-6, what
    for what, table in (("allocated_bytes", "sum(allocated_python_bytes + allocated_native_bytes) n from allocation"),
                        ("copy_bytes", "sum(bytes) n from copy")):
        (row,) = phases.sql(f"select {table}")
        assert total(slices, what) == row["n"], what
    assert 9 <= len(slices) <= 12
    assert [row["slice"] for row in slices] == list(range(1, len(slices) + 1))


def test_each_phase_is_recognized_by_its_slices(phases):
    truth = phases.truth
    lines = {name: phases.query(f"top all hot lines {between(truth[name])}") for name in truth}
    hot = {name: max(rows, key=lambda row: row["cpu_s"] + row["wait_s"]) for name, rows in lines.items() if rows}
    assert hot["busy"]["function"] == "busy" and hot["busy"]["file"] == str(PHASES)
    assert (hot["idle"]["file"], hot["idle"]["line"]) == (str(PHASES), line_of(PHASES, "idle"))
    assert {row["function"] for row in lines["busy"] if row["cpu_s"] > 0.01} == {"busy"}
    # a second or two of each: none of the others' time is in it
    assert hot["idle"]["wait_s"] == pytest.approx(total(lines["idle"], "wait_s"), abs=0.01)
    assert total(lines["idle"], "cpu_s") < 0.02
    assert 0.9 <= hot["idle"]["wait_s"] <= 3.1


def test_copies_are_where_they_were_made(phases):
    truth = phases.truth
    (row,) = phases.query(f"copies in phases.py {between(truth['copies'])}")
    assert row["line"] == line_of(PHASES, "copy")
    whole = sum(row["bytes"] for row in phases.query("top all copies in phases.py"))
    assert whole == pytest.approx(truth["copies"]["result"], rel=0.02)
    assert phases.query(f"copies in phases.py {between(truth['busy'])}") == []
    assert 0.2 * whole < row["bytes"] < 0.9 * whole


def test_a_phase_is_as_long_as_it_was(phases):
    """By slices, to one of them."""
    slices, truth = phases.query("slices"), phases.truth
    (process,) = phases.sql("select started_ns from process")
    for name, is_in in (("busy", lambda row: row["cpu_s"] + row["runnable_s"] > 0.5),
                        ("idle", lambda row: row["wait_s"] > 0.97 * row["wall_s"])):
        found = [row for row in slices if is_in(row)]
        begin_s = process["started_ns"] / 1e9 + found[0]["t_s"]
        assert begin_s == pytest.approx(truth[name]["from_s"], abs=1.1), name
        assert total(found, "wall_s") == pytest.approx(truth[name]["to_s"] - truth[name]["from_s"], abs=1.1), name
