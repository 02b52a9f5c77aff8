# SPDX-License-Identifier: Apache-2.0
"""Counted windows see what libraries are handed without need, and lists that are searched in turn."""

import pytest

from helpers import PYTHON, TRUTH, has_numpy, line_of, profile, python_abi, run

PROGRAM = TRUTH / "redundancy" / "handed.py"
CPU_SECONDS = {"zeros": 2.0, "systems": 2.0, "full": 2.0}  # others 1: a product takes 2 ms, and 20 must be counted
pytestmark = [pytest.mark.skipif(python_abi().endswith("t"), reason="no windows without the GIL"),
              pytest.mark.skipif(not has_numpy(), reason=f"{PYTHON} has no NumPy")]
PARTS = ("lists", "arrays", "other_lists", "zeros", "own_dot", "positive", "turns", "numbers", "unpacked", "pairs", "records",
         "silent", "systems", "full")
HAS_TORCH = run([PYTHON, "-c", "import torch"]).returncode == 0


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    """Each part alone, as windows cost little of a run."""
    folder = tmp_path_factory.mktemp("handed")
    return {part: profile(folder / f"{part}.db", PROGRAM, CPU_SECONDS.get(part, 1.0), part, options=("--overhead", "0"))
            for part in PARTS + (("tensors", "stacked", "mixed") if HAS_TORCH else ())}


def row_of(done, mark, table="passed", kind="1"):
    rows = done[mark].sql(f"select * from {table} where line = {line_of(PROGRAM, mark)} and {kind} order by call_ns desc")
    print(mark, rows)
    return rows[0] if rows else None


def high(done, mark):
    return [row for row in done[mark].sql(f"select * from v_redundancy where line = {line_of(PROGRAM, mark)}")
            if row["severity"] == "high"]


def test_lists_of_which_arrays_are_made_again(done):
    row = row_of(done, "lists")
    assert row["kind"] == 5 and row["calls"] >= 50
    assert row["items"] == 800 * row["calls"] and row["carried"] == row["calls"] - 1
    (found,) = high(done, "lists")
    assert (found["category"], found["again"]) == ("repeated native calls", "converted again")
    assert "numpy.array" in found["advice"]


@pytest.mark.parametrize("mark", ["arrays", "other_lists"])
def test_arrays_and_other_lists(done, mark):
    row = row_of(done, mark)
    assert (row is None) if mark == "arrays" else (row["calls"] >= 50 and row["carried"] == 0)
    assert not [found for found in high(done, mark) if found["again"] == "converted again"]


def test_products_with_arrays_of_zeros(done):
    row = row_of(done, "zeros")
    assert row["kind"] == 6 and row["calls"] >= 20 and row["items"] == 160000 * row["calls"]
    (found,) = high(done, "zeros")
    assert (found["category"], found["again"]) == ("API misuse", "multiplied by zero")


def test_systems_that_are_zero_nearly_everywhere(done):
    row = row_of(done, "systems")
    assert row["kind"] == 8 and row["calls"] >= 20 and row["items"] == 40000 * row["calls"]
    (found,) = high(done, "systems")
    assert (found["category"], found["again"]) == ("inefficient algorithm", "worked out from zeros")
    assert "solve_banded" in found["advice"]


def test_a_full_system_is_solved_as_one(done):
    assert row_of(done, "full", "windowed", "callee like '%solve'")["calls"] >= 20
    assert row_of(done, "full") is None
    assert not [found for found in high(done, "full") if found["again"] == "worked out from zeros"]


@pytest.mark.skipif(not HAS_TORCH, reason=f"{PYTHON} has no PyTorch")
def test_lists_of_arrays_that_are_taken_number_by_number(done):
    row = row_of(done, "tensors")
    assert row["kind"] == 9 and row["calls"] >= 20 and row["items"] == 800 * row["calls"]
    (found,) = high(done, "tensors")
    assert (found["category"], found["again"]) == ("API misuse", "taken number by number")
    assert "numpy.stack" in found["advice"]
    for mark in "stacked", "mixed":
        assert row_of(done, mark, "windowed", "callee = 'torch.tensor'")["calls"] >= 20
        assert row_of(done, mark) is None


def test_an_own_function_of_that_name_is_no_product(done):
    assert row_of(done, "own_dot", "windowed", "callee = 'dot'")["calls"] >= 20
    assert row_of(done, "own_dot") is None


def test_half_of_an_array_may_be_zero(done):
    assert row_of(done, "positive", "windowed", "callee like '%@%'")["calls"] >= 20
    assert row_of(done, "positive") is None
    assert not [found for found in high(done, "positive") if found["again"] == "multiplied by zero"]


def test_lists_that_are_searched_in_turn(done):
    row = row_of(done, "turns")
    assert row["kind"] == 1 and 0.99 * row["calls"] <= row["carried"] <= row["calls"] - 3
    (found,) = high(done, "turns")
    assert found["category"] == "inefficient algorithm" and found["again"] == "read again"


def test_numbers_of_slices(done):
    row = row_of(done, "numbers", kind="kind = 7")
    assert row["carried"] == row["calls"] and row["calls"] >= 100 and row["items"] == 2 * row["calls"]
    (found,) = high(done, "numbers")
    assert found["category"] == "slice underutilization" and "numpy.frombuffer" in found["advice"]


def test_numbers_that_are_unpacked(done):
    row = row_of(done, "unpacked", kind="kind = 7")
    assert row["carried"] == row["calls"] and row["calls"] >= 100 and row["items"] == 2 * row["calls"]
    assert row_of(done, "pairs", "windowed", "callee like '%unpack'")["calls"] >= 100
    assert row_of(done, "pairs", kind="kind = 7") is None


def test_records_that_say_how_long_they_are(done):
    assert row_of(done, "records", kind="kind = 7")["calls"] >= 100
    assert not [found for found in high(done, "records") if found["category"] == "slice underutilization"]


def test_a_window_without_calls_ends_when_it_has_cost_enough(done):
    """While a window is open, the calls of Python functions take longer, whether they are counted or not."""
    [row] = done["silent"].sql("select cpu_ns from overhead where collector = 'counted windows'")
    assert 0 < row["cpu_ns"] < 40e6
