# SPDX-License-Identifier: Apache-2.0
"""Copies by NumPy's own loops (truth/memory/copy_loops.py): their volume is known, other work is no copy.

What was measured with NumPy 1.24 and 2.4, on a machine whose two cores were busy: of large arrays 0.92 to 1.07 of the
truth (0.99 to 1.03 mostly), of small ones 0.4 to 2.1, where chance and a neighbour on the same core make the
difference. On an EPYC whose speed changes, `page_taken` was 0.26 to 0.38: the copies were faster than the timed loop.
"""

import os
import re

import pytest

from helpers import TRUTH, profile

PROGRAM = TRUTH / "memory" / "copy_loops.py"
LARGE = ["strided", "transposed", "transposed_f4", "narrowed", "widened", "floats_of_integers", "short_integers", "swapped",
         "taken", "fancy", "fancy_columns", "scattered", "into_columns", "chosen", "planes"]
SMALL = ["small_strided", "small_transposed", "small_cast", "page_strided", "page_cast", "page_taken", "sheet_transposed",
         "half_mb_strided", "half_mb_cast"]
OTHERS = ["added", "multiplied", "sine", "sorted_", "argsorted", "summed", "running_sum", "compared", "absolute", "negated",
          "clipped", "counted", "copied"]
LINES = {found[1]: number for number, text in enumerate(PROGRAM.read_text().splitlines(), 1)
         if (found := re.search(r"# (\w+)$", text))}
ROWS = """
    SELECT coalesce(user_line, line) AS line, sum(bytes) AS bytes, sum(samples) AS samples FROM v_copy
    WHERE estimate = 'loop' AND coalesce(user_file, file) = '{}' GROUP BY 1"""


def of_lines(done):
    rows = {row["line"]: row for row in done.sql(ROWS.format(PROGRAM))}
    return {mark: rows.get(line, {"bytes": 0, "samples": 0}) for mark, line in LINES.items()}


# The second takes as long again: the slow suite has it.
ALONE = [(0.5, ["--no-memory", "--no-redundancy"])] if os.environ.get("PIEPROF_COPIES_ALONE") else []


@pytest.fixture(scope="module", params=[(0.7, []), *ALONE], ids=["all", "copies"][:1 + len(ALONE)])
def measured(request, pieprof, tmp_path_factory):
    """Allocations tell where a native call ends; without them it is guessed. Watching brings its own decoder."""
    seconds, options = request.param
    done = profile(tmp_path_factory.mktemp("loops") / "x.db", PROGRAM, seconds, options=options, timeout=300)
    return done, of_lines(done)


@pytest.mark.parametrize("mark", LARGE)
def test_copies_of_large_arrays(measured, mark):
    done, rows = measured
    stored, _cpu_s = done.truth[mark]
    print(mark, rows[mark]["bytes"] / stored, rows[mark])
    assert rows[mark]["bytes"] == pytest.approx(stored, rel=0.25)


def test_calls_for_three_elements(measured):
    """NumPy calls its loop for each pixel: half of the samples fall in front of it or beside it."""
    done, rows = measured
    stored, _cpu_s = done.truth["flipped_pixels"]
    print(rows["flipped_pixels"]["bytes"] / stored, rows["flipped_pixels"])
    assert stored / 2 < rows["flipped_pixels"]["bytes"] < stored * 1.5


@pytest.mark.parametrize("mark", SMALL)
def test_copies_of_small_arrays(measured, mark):
    """Two samples never fall into one call: the speed is a timed loop's, and few samples fall on a copy."""
    done, rows = measured
    stored, _cpu_s = done.truth[mark]
    chance = 1 + 3 / max(rows[mark]["samples"], 1) ** 0.5
    print(mark, rows[mark]["bytes"] / stored, rows[mark])
    assert stored / 4 / chance < rows[mark]["bytes"] < stored * 2.5 * chance


@pytest.mark.parametrize("mark", OTHERS)
def test_arithmetic_and_sorting_are_no_copies(measured, mark):
    """Nor is what goes through memcpy(): it is counted there."""
    done, rows = measured
    _stored, cpu_s = done.truth[mark]
    assert rows[mark]["samples"] <= 0.02 * cpu_s * 1000 + 3, rows[mark]


def test_a_product_of_matrices_packs_them(measured):
    """OpenBLAS copies blocks of its operands into an order of its own: little of the time."""
    done, rows = measured
    assert rows["product"]["samples"] <= 0.1 * done.truth["product"][1] * 1000


def test_nothing_without_copies(profiled):
    done = profiled(PROGRAM, 0.3, "strided", options=["--no-copies"])
    assert done.sql("SELECT * FROM v_copy WHERE estimate = 'loop'") == []
