# SPDX-License-Identifier: Apache-2.0
"""Questions about memory, on the known program of fixture_memory.c and on databases whose truth is computed beside."""

import contextlib
import os
import pathlib
import random
import re
import resource
import sqlite3

import hypothesis
import pytest
from conftest import Program, changer, clean_environment, exported, make, rows
from hypothesis import strategies

SOURCE = pathlib.Path(os.environ.get("PIEPROF_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
MB = 1000000
Z2 = 1.959963984540054**2
AMOUNTS = ["allocated_bytes", "peak_bytes", "average_bytes", "growth_bytes"]


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """Run 1 measured no memory, run 2 is that of fixture_memory.c."""
    return make(tmp_path_factory.mktemp("memory"), 1, 0, 1)


@pytest.fixture
def changed(memory, tmp_path):
    """A copy of it, changed by SQL."""
    return changer(memory, tmp_path)


def is_interval(low, total, high, square):
    """Below, 1.96 standard errors of the sum; above, of the total that ends there. `square`: sum of squared weights."""
    return low == pytest.approx(max(0, total - (Z2 * square) ** 0.5)) and (
        high - total == pytest.approx((Z2 * square * (high / total if total else 1)) ** 0.5, rel=1e-6, abs=1e-6 * total))


def place(row, prefix=""):
    return row[f"{prefix}file"] and row[f"{prefix}file"].rpartition("/")[2], row[f"{prefix}line"]


def test_who_allocates(memory):
    found = rows(memory, "memory")
    assert [(r["rank"], *place(r), r["function"], r["samples"]) for r in found] == [
        (1, "keep.py", 7, "load", 1), (2, "core.py", 2, "crunch", 50), (3, "keep.py", 3, "keep", 35),
        (4, "(native threads: _native)", None, None, 2)]
    assert [[r[name] / MB for name in AMOUNTS] for r in found] == [
        [400, 400, 40, 0], [105, 22, 3, 3], [35, 14 + 7 + 2, 10 + 5 + 1, 31], [3, 0, 0.3, 3]]
    assert [r["python_share"] for r in found] == [0, pytest.approx(5 / 105), 1, 0]
    assert [(r["library"], *place(r, "user_")) for r in found] == [
        (None, None, None), ("Fast-Lib", "keep.py", 8), (None, None, None), (None, None, None)]


def test_amounts_have_intervals(memory):
    """Squared weights in MB x MB; what stands for itself has none."""
    squares = [(0, 0), (2.5 + 250, 1 + 50), (20 + 10 + 5, 14 + 7 + 2)]
    for row, (allocated, peak) in zip(rows(memory, "memory"), squares):
        for name, square in ("allocated", allocated), ("peak", peak):
            assert is_interval(*(row[name + part] for part in ("_low", "_bytes", "_high")), square * MB**2)


def test_an_interval_does_not_go_below_nothing(changed):
    [row] = rows(changed("UPDATE allocation SET allocated_sq_bytes2 = 1e18"), "top 1 memory in core.py")
    assert row["allocated_low"] == 0 and row["allocated_high"] > 2 * row["allocated_bytes"]


def test_what_was_there_at_the_peak(memory, changed):
    assert [(r["rank"], *place(r), r["peak_bytes"] / MB) for r in rows(memory, "peak")] == [
        (1, "keep.py", 7, 400), (2, "keep.py", 3, 23), (3, "core.py", 2, 22),
        (4, "(not sampled)", None, 456 + 4 - 445)]
    assert [place(r) for r in rows(changed("UPDATE allocation SET peak_native_bytes = 0"), "peak")] == [
        ("(not sampled)", None), ("keep.py", 3), ("core.py", 2)]


@pytest.mark.parametrize("question", ["peak", "peak by function"])
@pytest.mark.parametrize("statements, rest", [
    ((), ("(not sampled)", 15 * MB)),
    (("UPDATE allocation SET peak_native_bytes = 1000001 WHERE node IN (11, 12)",), ("(not sampled)", 15 * MB - 1000001)),
    (("UPDATE heap SET peak_native_bytes = 5 WHERE process = 2",), ("(too much in samples)", 15 * MB - 430 * MB + 5)),
    (("UPDATE heap SET peak_native_bytes = peak_native_bytes - 15000000 WHERE process = 2",), None),
])
def test_the_rows_of_the_peak_add_up_to_it(changed, question, statements, rest):
    program = changed(*statements)
    found = rows(program, question)
    assert sum(r["peak_bytes"] for r in found) == sum(r["peak_bytes"] for r in rows(program, "heap"))
    assert [(r["file"], r["peak_bytes"]) for r in found if r["file"] in ("(not sampled)", "(too much in samples)")] == [rest] * bool(rest)


def test_what_has_no_line_has_a_name(changed):
    """A thread that runs a library, one of which nothing is known, and the interpreter before the first line."""
    program = changed(
        "INSERT INTO allocation SELECT 2, 11, 0, 1, 0, 7000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
        "INSERT INTO node (process, id, parent, location) VALUES (2, 98, NULL, 8)",
        "INSERT INTO allocation SELECT 2, 98, 0, 1, 5000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0")
    found = {r["file"]: r["allocated_bytes"] for r in rows(program, "memory") if r["line"] is None}
    assert found == {"(native threads: _native)": 3 * MB, "(native threads)": 7 * MB, "(before the first line)": 5 * MB}


def test_functions(memory):
    lines = [("load", 5, 400, 400), ("crunch", 1, 105, 22), ("keep", 2, 25, 16), ("keep.<listcomp>", 3, 10, 7)]
    for question, by in ("memory by function", 2), ("peak by function", 3):
        found = [(r["function"], r["line"], r["allocated_bytes"] / MB, r["peak_bytes"] / MB) for r in rows(memory, question)
                 if r["function"]]
        assert found == sorted(lines, key=lambda row: -row[by])
    assert [r["function"] for r in rows(memory, "memory by function in core.py")] == ["crunch"]


def test_own_lines_have_what_libraries_allocate_and_copy_for_them(memory):
    found = rows(memory, "own memory")
    assert [(*place(r), r["function"], r["allocated_bytes"] / MB, r["peak_bytes"] / MB, r["growth_bytes"] / MB,
             r["copy_bytes"] / MB) for r in found] == [
        ("keep.py", 7, "load", 400, 400, 0, 950), ("keep.py", 8, "load", 105, 22, 3, 105), ("keep.py", 3, "keep", 35, 23, 31, 30)]


def test_the_part_that_allocated_most_names_the_caller(changed):
    """Line 2 of the library is called from line 8, and now from line 3 too, which had more at the peak."""
    program = changed(
        "INSERT INTO node (process, id, parent, location, line_location, own_location) SELECT process, 99, 2, 5, 5, 2"
        " FROM node WHERE process = 2 AND id = 2",
        "INSERT INTO allocation SELECT 2, 99, 0, 1, 50000000, 0, 0, 0, 0, 50000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0")
    [allocated], [peak] = (rows(program, f"{question} in core.py") for question in ("memory", "peak"))
    assert place(allocated, "user_") == ("keep.py", 8) and place(peak, "user_") == ("keep.py", 3)
    for row in allocated, peak:
        assert (row["allocated_bytes"], row["peak_bytes"]) == (155 * MB, 72 * MB)


def test_leaks(memory):
    [leak] = rows(memory, "leaks")
    assert (leak["rank"], *place(leak), leak["function"]) == (1, "keep.py", 3, "keep")
    assert (leak["mallocs"], leak["frees"]) == (35, 0) and leak["score"] == pytest.approx(1 - 1 / 37)
    assert leak["leaked_bytes"] == 30 * MB and leak["rate_bytes_per_s"] == pytest.approx(3 * MB)
    assert leak["holder"] == "list of bytes -> module __main__.cache"
    assert (leak["library"], leak["user_file"], leak["user_line"]) == (None, None, None)


@pytest.mark.parametrize("mallocs, frees, is_told", [(19, 0, True), (18, 0, False), (40, 0, True), (40, 1, True), (40, 2, False), (0, 0, False)])
def test_the_score_is_scalenes(changed, mallocs, frees, is_told):
    """1 - (frees + 1) / (mallocs - frees + 2), of both processes."""
    found = rows(changed(f"UPDATE allocation SET mallocs = 0, frees = 0 WHERE node = 8",
                         f"UPDATE allocation SET mallocs = {mallocs}, frees = {frees} WHERE node = 2 AND process = 2",
                         f"UPDATE allocation SET mallocs = 0, frees = 0 WHERE node = 2 AND process = 3"), "leaks")
    assert len(found) == is_told
    score = 1 - (frees + 1) / (mallocs - frees + 2)
    assert (score > 0.95) == is_told
    if found:
        assert found[0]["score"] == pytest.approx(score) and found[0]["mallocs"] == mallocs


START, SECOND = 1700000000 * 10**9, 10**9


def heap_curve(*points):
    values = ", ".join(f"(2, {START + int(second * SECOND)}, {int(value * MB)}, 0, NULL, NULL)" for second, value in points)
    return "DELETE FROM footprint WHERE process = 2", f"INSERT INTO footprint VALUES {values}"


def kept(*parts, process=2):
    """What line 3 keeps, by the eighths in which it was allocated; nodes 2 and 8 are its, the second one has none."""
    columns = ", ".join(f"kept_{n} = {value}" for n, value in enumerate(parts, 1))
    nothing = ", ".join(f"kept_{n} = 0" for n in range(1, 9))
    return (f"UPDATE allocation SET {nothing} WHERE process = {process} AND node IN (2, 8)",
            f"UPDATE allocation SET {columns} WHERE process = {process} AND node = 2")


@pytest.mark.parametrize("parts, is_told", [
    ((3, 3, 3, 3, 3, 3, 3, 3), True),
    ((24, 0, 0, 0, 0, 0, 0, 0), False),      # filled at once, and stays so
    ((8, 8, 8, 0, 0, 0, 0, 0), False),
    ((5, 5, 5, 5, 5, 1, 0, 0), False),       # full after two thirds
    ((20, 1, 1, 1, 1, 1, 1, 1), True),       # on a base: 2 of 30 MB in the last two eighths
    ((23, 1, 1, 1, 1, 1, 0.7, 0.7), False),  # 1.4 of them
    ((0, 0, 0, 0, 0, 0, 0, 24), False),      # a single event near the end,
    ((0, 0, 0, 0, 0, 0, 12, 12), False),
    ((0, 0, 1, 1, 1, 1, 8, 8), False),       # beside a little
    ((0, 0, 0, 0, 8, 0, 8, 8), True),        # from the middle on
    ((0, 0, 8, 0, 8, 0, 8, 0), True),        # in bursts
    ((0, 0, 0, 12, 0, 0, 0, 12), True),
    ((0, 0, 0, 0, 0, 0, 0, 0), False),
])
def test_a_leaking_line_grows_all_the_time_and_to_the_end(changed, parts, is_told):
    assert len(rows(changed(*kept(*(int(part * MB) for part in parts))), "leaks")) == is_told


def of_another_size(mallocs, frees, live, parts):
    """Line 3 has blocks of size class 5 too; those of class 0 have 35 mallocs of two processes, 30 MB here and no
    frees."""
    values = ", ".join(str(int(part * MB)) for part in parts)
    return (f"INSERT INTO allocation VALUES (2, 2, 5, {mallocs}, 0, {live * MB}, 0, {live * MB}, 0, 0, 0, 0, 0, {mallocs}, {frees}, "
            f"{values}, {START}, 0, 0, 0)")


EVENLY = (3, 3, 3, 3, 3, 3, 3, 3)


@pytest.mark.parametrize("parts, other, leaked", [
    (EVENLY, (60, 45, 20, (0, 0, 0, 0, 0, 5, 5, 5)), 30),                           # the other size comes and goes
    (EVENLY, (4, 1, 20, (0, 0, 0, 0, 0, 5, 5, 5)), 30),                             # also where few of it were sampled
    (EVENLY, (0, 0, 20, (0, 0, 0, 0, 0, 0, 0, 0)), 30),  # temporaries that are there at the end
    (EVENLY, (20, 0, 10, (1, 1, 1, 1, 1, 1, 1, 1)), 40),                            # both leak
    (EVENLY, (3, 0, 2, (0, 0, 1, 0, 0, 0, 0, 0)), 32),                              # too few to tell them from a leak
    (EVENLY, (40, 0, 20, (10, 10, 0, 0, 0, 0, 0, 0)), 30),                          # a table that is full
    ((24, 0, 0, 0, 0, 0, 0, 0), (24, 0, 3, (.3, .3, .3, .3, .3, .3, .3, .3)), 3),   # a large one, beside a small leak
    ((4, 4, 4, 4, 4, 4, 0, 0), (24, 0, 8, (0, 0, 0, 0, 0, 0, 4, 4)), 38),           # blocks become larger
    ((8, 8, 8, 0, 0, 0, 0, 0), (8, 1, 3, (0, 0, 0, 0, 0, 0, 1, 2)), None),          # a table that is full, and a window
    ((8, 8, 8, 0, 0, 0, 0, 0), (0, 0, 9, (0, 0, 0, 0, 0, 0, 0, 0)), None),          # and temporaries
])
def test_sizes_are_judged_apart(changed, parts, other, leaked):
    program = changed(*kept(*(part * MB for part in parts)), of_another_size(*other))
    found = rows(program, "leaks")
    assert [(*place(r), r["leaked_bytes"] / MB) for r in found] == ([("keep.py", 3, leaked)] if leaked else [])
    assert rows(program, "growth")[0]["growth_bytes"] == (31 + other[2]) * MB, "of all sizes"


def test_the_holder_is_that_of_the_sizes_that_leak(changed):
    table = *kept(24 * MB, 0, 0, 0, 0, 0, 0, 0), of_another_size(24, 0, 3, (.3, .3, .3, .3, .3, .3, .3, .3))
    [leak] = rows(changed(*table), "leaks")
    assert leak["holder"] is None, "only the table's is known"
    [leak] = rows(changed(*table, "INSERT INTO holder VALUES (2, 2, 5, 'dict -> module __main__.seen')"), "leaks")
    assert leak["holder"] == "dict -> module __main__.seen"


def test_the_rate_is_over_the_time_since_the_first_sample(changed):
    program = changed(f"UPDATE allocation SET first_ns = {START + 4 * SECOND} WHERE process = 2")
    [leak] = rows(program, "leaks")
    assert leak["rate_bytes_per_s"] == pytest.approx(5 * MB)


@pytest.mark.parametrize("points, is_told", [
    ([(0, 50), (10, 100)], True),
    ([(0, 100), (10, 100)], False),
    ([(0, 0), (3, 100), (10, 100)], False),
    ([(0, 0), (3, 98.9), (8, 98.9), (9, 100), (10, 100)], True),    # 1.1 % from the first third on
    ([(0, 0), (3, 99.1), (8, 99.1), (9, 100), (10, 100)], False),   # 0.9 %
    ([(0, 0), (3.4, 40), (3.5, 500), (3.6, 41), (8.9, 80), (9.1, 900), (9.5, 85), (10, 1000)], True),
    ([(0, 40), (3.4, 40), (3.8, 500), (4.2, 40), (9.2, 40.2), (9.5, 900), (10, 900)], False), # comes and goes
    ([(0, 40), (3.8, 500), (9.2, 700), (9.5, 41), (10, 900)], False),
    ([(0, 300), (10, 100)], False),
])
def test_where_a_line_leaks_the_process_grows(changed, points, is_told):
    assert len(rows(changed(*heap_curve(*points)), "leaks")) == is_told


def test_a_leak_of_two_processes_is_one_line(changed):
    """The child grows too now: 1 MB in its four seconds, the first sample a second after its start."""
    program = changed(
        *kept(0, 0, 150000, 150000, 150000, 150000, 150000, 150000, process=3),
        f"UPDATE footprint SET python_bytes = 9000000 WHERE process = 3 AND t_ns = {START + 6 * SECOND}")
    [leak] = rows(program, "leaks")
    assert leak["leaked_bytes"] == 31 * MB and leak["rate_bytes_per_s"] == pytest.approx(3 * MB + MB / 3)
    assert leak["holder"] == "list of bytes -> module __main__.cache"
    [leak] = rows(changed("DELETE FROM holder WHERE process = 2"), "leaks")
    assert leak["holder"] is None, "the child, whose holder is known, does not leak"


def test_growth_is_what_is_there_and_was_not(memory):
    """By line of own code, with the interval; a leak or not."""
    found = rows(memory, "growth")
    assert [(r["rank"], *place(r), r["growth_bytes"] / MB, r["kept_bytes"] / MB, r["allocated_bytes"] / MB) for r in found] == [
        (1, "keep.py", 3, 31, 27, 35), (2, "keep.py", 8, 3, 1, 105)]
    assert is_interval(*(found[0][name] for name in ("growth_low", "growth_bytes", "growth_high")), (14 + 7 + 2) * MB**2)
    assert found[0]["rate_bytes_per_s"] == pytest.approx(3 * MB + MB / 3)
    assert found[0]["score"] == pytest.approx(1 - 1 / 37)
    assert found[1]["growth_low"] == 0
    assert (found[1]["library"], found[1]["function"]) == (None, "load")


def test_growth_needs_no_leak(changed):
    program = changed("UPDATE allocation SET mallocs = 0, frees = 0")
    assert rows(program, "leaks") == [] and [place(r) for r in rows(program, "what grew most")] == [("keep.py", 3), ("keep.py", 8)]


def test_copies(memory):
    found = rows(memory, "copies")
    assert [(r["rank"], *place(r), r["bytes"] / MB, r["bytes_per_s"] / MB, r["estimate"], r["samples"]) for r in found] == [
        (1, "keep.py", 7, 900, 90, "sampled", 12), (2, "core.py", 2, 105, 10.5, "sampled", 6), (3, "keep.py", 7, 50, 5, "loop", 5),
        (4, "keep.py", 3, 30, 1 + 5, "sampled", 2)]
    for row, square in zip(found, [1000, 400 + 25, 500, 100]):
        assert is_interval(row["bytes_low"], row["bytes"], row["bytes_high"], square * MB**2)
    assert (found[1]["library"], *place(found[1], "user_")) == ("Fast-Lib", "keep.py", 8)
    assert [(r["function"], r["bytes"] / MB) for r in rows(memory, "copies by function")] == [
        ("load", 900), ("crunch", 105), ("load", 50), ("keep", 30)]


def test_counted_copies_are_known_to_the_byte(changed):
    found = rows(changed("DELETE FROM copy WHERE estimate <> 1"), "copies")
    assert [(*place(r), r["estimate"], r["bytes"] / MB) for r in found] == [
        ("keep.py", 7, "counted", 800), ("core.py", 2, "counted", 60), ("keep.py", 3, "counted", 20)]
    assert all(r["bytes_low"] == r["bytes"] == r["bytes_high"] for r in found)


def test_copy_pairs_tell_who_copied_for_whom(memory):
    assert [(r["rank"], r["library"], r["caller"], r["bytes"] / MB, r["bytes_per_s"] / MB, r["samples"], r["estimate"])
            for r in rows(memory, "copy pairs")] == [
        (1, "numpy", "your code", 900, 90, 12, "sampled"),
        (2, "numpy", "Fast-Lib", 60, 6, 1, "counted"),       # through the interpreter, which is nobody's caller
        (3, "numpy", "your code", 50, 5, 5, "loop"),
        (4, "Fast-Lib", "your code", 40, 4, 4, "sampled"),   # from its own Python code
        (5, "python", "your code", 30, 6, 2, "sampled"),
        (6, "python", "Fast-Lib", 5, 0.5, 1, "sampled"),
        (7, "Fast-Lib", None, 2, 0.2, 1, "sampled")]         # in a thread of its own


def test_the_footprint_over_time(memory):
    found = rows(memory, "memory timeline")
    parent = [r for r in found if r["pid"] == 4101]
    assert [(r["t_s"], r["python_bytes"] / MB, r["native_bytes"] / MB, r["rss_bytes"] / MB) for r in parent] == [
        (s, 5 + 3 * s, 430 if s == 7 else 10, 480 if s >= 7 else 40 + s) for s in range(11)]
    assert all(r["heap_bytes"] == r["python_bytes"] + r["native_bytes"] for r in found)
    assert {r["t_s"]: place(r) for r in found if r["file"]} == {3: ("keep.py", 3), 7: ("keep.py", 7)}
    assert [(r["pid"], r["t_s"], r["heap_bytes"] / MB, r["rss_bytes"]) for r in found[11:]] == [
        (4102, 3, 4, None), (4102, 6, 3, None)]


def test_a_lines_memory_over_time(memory):
    found = rows(memory, "memory timeline of keep.py:3")
    assert [(r["pid"], r["t_s"], r["live_bytes"] / MB) for r in found] == [
        *((4101, s, 3 * s) for s in range(11)), (4102, 3, 1), (4102, 5, 1), (4102, 6, 1)]
    assert rows(memory, "line timeline in keep.py:8")[0]["live_bytes"] == 3 * MB
    every = rows(memory, "memory timeline in keep.py")
    assert {r["line"] for r in every} == {3, 7, 8}
    assert [(r["t_s"], r["live_bytes"] / MB) for r in every if r["line"] == 7] == [(7, 400), (8, 0)]


def test_totals_of_processes(memory):
    parent, child = rows(memory, "heap")
    assert [parent[name] / MB for name in ("peak_bytes", "peak_python_bytes", "peak_native_bytes", "rss_peak_bytes", "allocated_bytes",
                                           "freed_bytes", "profiler_bytes")] == [456, 26, 430, 480, 580, 535, 7]
    assert (parent["peak_t_s"], parent["threshold_bytes"], parent["allocator"], parent["note"]) == (7, 10485767, "glibc", None)
    assert (child["pid"], child["peak_bytes"], child["rss_peak_bytes"], child["peak_t_s"]) == (4102, 4 * MB, None, 3)
    assert child["note"] == "huge pages are not measured: the kernel has no counter"
    assert [(r["peak_bytes"], r["rss_peak_bytes"]) for r in rows(memory, "processes")] == [(456 * MB, 480 * MB), (4 * MB, None)]
    assert [(r["peak_bytes"], r["rss_peak_bytes"]) for r in rows(memory, "runs")] == [(None, None), (456 * MB, 480 * MB)]


QUESTIONS = ["memory", "memory by function", "peak", "peak by function", "own memory", "leaks", "growth", "copies",
             "copies by function", "copy pairs", "memory timeline", "heap"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_run_without_memory_has_no_rows(memory, question):
    assert rows(memory, question, "--run", "1") == []
    assert memory("query", "a.db", question, "--run", "1").text == "nothing found\n"


def test_a_place_without_memory_has_no_rows(memory):
    assert memory("query", "a.db", "memory timeline in app.py", "--run", "1").text == "nothing found in app.py\n"


def test_what_was_not_measured_is_null(changed):
    without_copies = changed("DELETE FROM copy")
    assert {r["copy_bytes"] for r in rows(without_copies, "own memory")} == {None}
    nothing_copied = changed("DELETE FROM copy", "INSERT INTO overhead VALUES (2, 'copies', 1, 1)")
    assert {r["copy_bytes"] for r in rows(nothing_copied, "own memory")} == {0}
    without_memory = changed("DELETE FROM allocation", "DELETE FROM heap")
    for row in rows(without_memory, "own memory"):
        assert row["copy_bytes"] >= 0
        assert (row["allocated_bytes"], row["peak_bytes"], row["growth_bytes"], row["python_share"]) == (None, None, None, None)
    only_copies = rows(changed("DELETE FROM allocation"), "own memory")
    assert {(r["allocated_bytes"], r["python_share"]) for r in only_copies} == {(0, None)}


@pytest.mark.parametrize("question, same", [
    ("memory usage", "memory"), ("allocations", "memory"), ("show me the memory lines", "memory"), ("memory per function", "memory functions"),
    ("peak memory", "peak"), ("memory leaks", "leaks"), ("leak", "leaks"), ("what grew most", "growth"), ("memory growth", "growth"), ("copy volume", "copies"), ("timeline", "memory timeline"),
    ("footprint of keep.py:3", "line timeline of keep.py:3"), ("memory processes", "heap"), ("top 1 leaks in keep.py", "top 1 leaks"),
    ("copies in keep.py:3", "copies in keep.py line 3"), ("all memory", "memory")])
def test_other_words_for_it(memory, question, same):
    assert rows(memory, question) == rows(memory, same) != []


def test_questions_can_be_narrowed(memory):
    assert [place(r) for r in rows(memory, "memory in keep.py")] == [("keep.py", 7), ("keep.py", 8), ("keep.py", 3)]
    assert [r["rank"] for r in rows(memory, "peak of keep.py:3")] == [1]
    assert rows(memory, "leaks in keep.py:7") == [] != rows(memory, "leaks in keep.py:3")
    assert len(rows(memory, "top 2 copies")) == 2
    assert memory("query", "a.db", "heap in keep.py").returncode == 1
    assert [r["function"] for r in rows(memory, "memory by function in keep.py:3")] == ["keep", "keep.<listcomp>"]


def test_people_read_megabytes(memory):
    env = clean_environment(COLUMNS="300")
    text = memory("query", "a.db", "memory", env=env).text
    assert re.search(r"keep\.py +7 load +400 MB +400 MB +40\.0 MB +0 B +0\.0 % ", text)
    assert re.search(r"core\.py +2 crunch +105 MB +22\.0 MB .* Fast-Lib .* 73\.9 MB +141 MB +8\.00 MB +41\.1 MB$", text, re.M)
    assert "3.00 MB/s" in memory("query", "a.db", "leaks", env=env).text
    assert "500 kB/s" in memory("query", "a.db", "copy pairs", env=env).text
    assert "10.5 MB" in memory("query", "a.db", "heap", env=env).text
    assert "10485767" in memory("query", "a.db", "heap", "--csv").text


@pytest.mark.parametrize("columns", [60, 80, 100, 132])
@pytest.mark.parametrize("question", QUESTIONS)
def test_tables_keep_to_the_width(memory, question, columns):
    done = memory("query", "a.db", question, env=clean_environment(COLUMNS=str(columns)))
    lines = [line for line in done.text.splitlines() if "did not fit" not in line]
    assert done.returncode == 0 and len(lines) == len(rows(memory, question)) + (lines != ["nothing found"]) or lines == ["nothing found"]
    if columns >= 80:
        assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("view", ["v_memory", "v_memory_function", "v_peak", "v_peak_function", "v_own_memory", "v_leak", "v_growth", "v_copy",
                                  "v_copy_function", "v_copy_pair", "v_memory_timeline", "v_line_timeline", "v_heap"])
def test_the_views_can_be_read_by_other_programs(memory, tmp_path, view):
    with exported(memory, tmp_path) as file:
        file.row_factory = sqlite3.Row
        theirs = [dict(row) for row in file.execute(f"SELECT * FROM {view} WHERE run = 2")]
    ours = rows(memory, f"SELECT * FROM {view} WHERE run = :run")
    assert len(ours) == len(theirs) > 0 and list(ours[0])[0] == "run"
    for our, their in zip(ours, theirs):
        assert our == {key: pytest.approx(value) if isinstance(value, float) else value for key, value in their.items()}


# The report.

def test_the_report_has_columns_of_memory(memory):
    lines = memory("report", "a.db").text.splitlines()
    head = next(line for line in lines if line.endswith("line  source"))
    assert head.split() == ["CPU", "s", "share", "py", "nat", "alloc", "peak", "copied", "line", "source"]
    found = {int(m[5]): m.groups()[:4] for m in (re.match(r"   (\d\.\d+) .* % +(\S+) +(\S+) +(\S+) +(\d+)  ", line) for line in lines) if m}
    assert found == {3: ("0.100", "35.0M", "23.0M", "30.0M"), 7: ("0.300", "400M", "400M", "950M"), 8: ("0.500", "105M", "22.0M", "105M")}
    for line in lines:
        if re.match(r" {49} +\d+  ", line):
            assert len(head) - len("  source") == re.match(r" {49} +\d+", line).end()


def test_lines_that_only_allocate_are_in_the_report(changed):
    text = changed("DELETE FROM sample")("report", "a.db").text
    assert re.search(r"^ +400M +400M +950M +7  ", text, re.M) and "keep.py  0.000 s" in text


@pytest.mark.parametrize("columns, shown", [(60, []), (80, ["peak"]), (100, ["peak"]), (112, ["alloc", "peak"]), (140, ["alloc", "peak", "copied"])])
def test_the_report_leaves_room_for_the_source(memory, columns, shown):
    text = memory("report", "a.db", env=clean_environment(COLUMNS=str(columns))).text
    head = next(line for line in text.splitlines() if line.endswith("line  source"))
    assert [word for word in head.split() if word in ("alloc", "peak", "copied")] == shown
    if columns >= 80:
        assert max(map(len, text.splitlines()[2:])) <= columns


def test_libraries_have_their_memory_too(memory):
    text = memory("report", "a.db", "--all").text.split("core.py")[1]
    assert re.search(r" 105M +22\.0M +105M +2  +return _native\.sort", text)


def test_the_report_draws_the_footprint(memory):
    text = memory("report", "a.db", env=clean_environment(COLUMNS="100")).text
    told = " ".join(text.split("\n\n")[2].split())
    assert told.startswith("Memory: process 4101, peak 456 MB (Python 6 %) at 7.0 s, resident 480 MB; 580 MB allocated in all; "
                           "the profiler's own 7.00 MB; malloc() is glibc's heap ")
    heap, rss = re.search(r"^  heap      ([▁-█]+)  456 MB\n  resident  ([▁-█]+)  480 MB\n +0\.0 s +10\.0 s$", text, re.M).groups()
    assert len(heap) == len(rss) == 60
    assert {i * 10 // 60 for i, block in enumerate(heap) if block == "█"} == {6, 7}
    assert heap[:35] == "▁" * 35 and rss[43:] == "█" * 17


def test_the_report_tells_leaks_at_length(memory, changed):
    block = """
Leaks
1. src/keep.py:3 in keep
   cache.append([bytes(n) for i in range(n)])
   leaks    3.00 MB/s, 30.0 MB by the end; score 0.97, 0 of 35 sampled allocations were freed
   held by  list of bytes -> module __main__.cache
"""
    assert block in memory("report", "a.db").text
    assert "held by" not in changed("DELETE FROM holder")("report", "a.db").text


def test_a_report_without_memory_says_nothing_of_it(memory):
    text = memory("report", "a.db", "--run", "1").text
    assert "Memory" not in text and "eak" not in text and "py   nat   sys  wait s    line  source" in text


def test_texts_of_the_file_do_not_steer_the_terminal(changed):
    program = changed("UPDATE holder SET text = 'a' || char(27) || '[31m'", "UPDATE heap SET note = char(27) || '[2J'",
                      "UPDATE function SET name = 'f' || char(27) WHERE process = 2")
    for words in ["report", "a.db"], ["query", "a.db", "leaks"], ["query", "a.db", "heap"]:
        done = program(*words)
        assert done.returncode == 0 and "\x1b" not in done.text and "\ufffd" in done.text


# Any database.

COUNTS = strategies.integers(0, 50)
BYTES = strategies.one_of(strategies.integers(0, 1000), strategies.integers(0, 10**13))
ALLOCATIONS = strategies.lists(strategies.tuples(
    strategies.integers(1, 2), strategies.integers(1, 12), COUNTS, BYTES, BYTES, BYTES, BYTES, COUNTS, COUNTS),
    max_size=24, unique_by=lambda row: row[:2])
COPIES = strategies.lists(strategies.tuples(strategies.integers(1, 2), strategies.integers(1, 12), strategies.integers(1, 3), COUNTS, BYTES),
                          max_size=40, unique_by=lambda row: row[:3])
LINE_OF = {1: ("keep.py", 10), 2: ("keep.py", 3), 3: ("keep.py", 7), 4: ("keep.py", 7), 5: ("keep.py", 8), 6: ("core.py", 2),
           7: ("core.py", 2), 8: ("keep.py", 3), 9: ("core.py", 2), 10: ("core.py", 2), 11: ("(native threads)", None),
           12: ("(native threads: _native)", None)}
OWN_OF = {**LINE_OF, **{node: ("keep.py", 8) for node in (6, 7, 9, 10)}, 11: (None, None), 12: (None, None)}
SECONDS = {1: 10, 2: 4}


@hypothesis.settings(max_examples=60, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(ALLOCATIONS, COPIES)
def test_sums_are_those_of_the_rows(memory, tmp_path_factory, allocations, copies):
    """process, node, samples, python, native, live, peak, mallocs, frees; process, node, estimate, samples, bytes"""
    file = sqlite3.connect(":memory:")
    with exported(memory, tmp_path_factory.mktemp("sums")) as source:
        source.backup(file)
    file.create_function("sqrt", 1, lambda value: value if value is None else value**0.5)
    file.execute("DELETE FROM allocation")
    file.execute("DELETE FROM copy")
    file.executemany("INSERT INTO allocation VALUES (? + 1, ?, 3, ?, ?, ?, 4, ?, 0, ?, 0, 9, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
                     [(*row[:7], 2.0 * row[5], *row[7:]) for row in allocations])
    file.executemany("INSERT INTO copy VALUES (? + 1, 0, ?, ?, ?, ?, 1)", copies)

    def ask(columns, view):
        return {tuple(row[:-1]): row[-1] for row in file.execute(
            f"SELECT replace(file, rtrim(file, replace(file, '/', '')), ''), line, {columns} FROM {view} WHERE run = 2")}

    def total(found, keys):
        return {key: [sum(values) for values in zip(*(value for k, value in zip(keys, found) if k == key))] for key in set(keys)}

    lines = total([(r[3] + r[4], r[3], r[5], r[6], r[5] * 2.0 / SECONDS[r[0]], r[2], 1) for r in allocations],
                  [LINE_OF[r[1]] for r in allocations])
    for name, column in ("allocated_bytes", 0), ("growth_bytes", 2), ("peak_bytes", 3), ("average_bytes", 4), ("samples", 5):
        assert ask(name, "v_memory") == pytest.approx({line: sums[column] for line, sums in lines.items()})
    for line, share in ask("python_share", "v_memory").items():
        assert share == (pytest.approx(lines[line][1] / lines[line][0]) if lines[line][0] else None)
    lows, highs = ask("allocated_low", "v_memory"), ask("allocated_high", "v_memory")
    assert all(is_interval(lows[line], sums[0], highs[line], 4 * sums[6]) for line, sums in lines.items())
    rest = 460 * MB - sum(sums[3] for sums in lines.values())
    named = {("(not sampled)" if rest > 0 else "(too much in samples)", None): rest} if rest else {}
    assert ask("peak_bytes", "v_peak") == {**{line: sums[3] for line, sums in lines.items() if sums[3] > 0}, **named}
    for view, by in ("v_memory", "allocated_bytes"), ("v_peak", "peak_bytes"), ("v_copy", "bytes"):
        ranked = file.execute(f"SELECT rank, {by} FROM {view} WHERE run = 2 ORDER BY rank").fetchall()
        assert [rank for rank, _ in ranked] == [*range(1, len(ranked) + 1)]
        assert [value for _, value in ranked] == sorted((value for _, value in ranked), reverse=True)

    own = total([(r[3] + r[4], 0) for r in allocations] + [(0, r[4]) for r in copies],
                [OWN_OF[r[1]] for r in allocations] + [OWN_OF[r[1]] for r in copies])
    own = {line: sums for line, sums in own.items() if line[0]}
    assert ask("allocated_bytes", "v_own_memory") == {line: sums[0] for line, sums in own.items()}
    assert ask("copy_bytes", "v_own_memory") == {line: sums[1] if copies else None for line, sums in own.items()}

    found = {row[:2] + row[3:4]: row[2] for row in file.execute(
        "SELECT replace(file, rtrim(file, replace(file, '/', '')), ''), line, bytes, estimate = 'loop' FROM v_copy WHERE run = 2")}
    sums = total([(r[4],) for r in copies], [(*(LINE_OF[r[1]] if r[1] < 11 else (None, None)), int(r[2] == 3)) for r in copies])
    assert found == {line: value for line, [value] in sums.items()}
    pairs = file.execute("SELECT total(bytes), total(samples) FROM v_copy_pair WHERE run = 2").fetchone()
    assert pairs == (pytest.approx(sum(r[4] for r in copies)), sum(r[3] for r in copies))
    file.close()


# Many contexts.

def write_many(path, nodes, runs):
    """Runs of 10 000 contexts, 30 deep and more, with allocations, copies, curves and holders."""
    choose = random.Random(1)
    with contextlib.closing(sqlite3.connect(path)) as file:
        for run in range(10, 10 + runs):
            file.execute("INSERT INTO run VALUES (?1, ?2, 'x', 0.05, 'run ' || ?1)", (run, START))
            file.execute("INSERT INTO process (id, run, pid, started_ns, seen_ns, clock, sampler) VALUES (?1, ?1, 1, ?2, ?3, 'perf', 'none')",
                         (run, START, START + 100 * SECOND))
            file.execute("INSERT INTO heap VALUES (?, ?, 1, 1, 1, 1, 1, 1, 1, 1, 1, 'glibc', NULL)", (run, START))
            file.executemany("INSERT INTO file VALUES (?, ?, ?, ?, ?)",
                             [(run, i, f"/f{i}.py", i % 2, None if i % 2 else f"lib{i}") for i in range(1, 51)])
            file.executemany("INSERT INTO module VALUES (?, ?, ?, NULL, ?)", [(run, i, f"/m{i}.so", f"mod{i}") for i in range(1, 21)])
            file.executemany("INSERT INTO function VALUES (?, ?, ?, ?, ?, ?, ?)",
                             [(run, i, 1, f"f{i}", i % 50 + 1, i, None) if i < 1000 else (run, i, 2, f"n{i}", None, None, i % 20 + 1)
                              for i in range(1, 2000)])
            file.executemany("INSERT INTO location (process, id, function, line) VALUES (?, ?, ?, ?)",
                             [(run, i, i % 999 + 1 if i <= 3000 else 1000 + i % 1000, i) for i in range(1, 6001)])
            places = {0: (None, None)}
            for node in range(1, nodes + 1):
                parent = max(0, node - choose.randint(1, 300))
                location = choose.randint(1, 6000)
                line, own = places[parent]
                if location <= 3000:
                    line, own = location, location if (location % 999 + 1) % 50 % 2 == 0 else own
                places[node] = line, own
                file.execute("INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)", (run, node, parent or None, location, line, own))
            file.executemany("INSERT INTO allocation VALUES (?, ?, ?, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, ?, 0, 1, 1, 1, 1, 1, 1, 1, 1, ?, 0, 0, 0)",
                             [(run, node, size, 30 * (node % 4 == 0), START) for node in places if node for size in (0, 4)])
            file.executemany("INSERT INTO copy VALUES (?, 0, ?, ?, 1, 9, 9)", [(run, node, node % 3 + 1) for node in places if node])
            file.executemany("INSERT INTO line_footprint VALUES (?, ?, ?, ?)",
                             [(run, i * 7, START + t * SECOND, t) for i in range(1, 65) for t in range(100)])
            file.executemany("INSERT INTO footprint VALUES (?, ?, ?, 9, 9, NULL)", [(run, START + t * SECOND, t) for t in range(100)])
            file.executemany("INSERT INTO holder VALUES (?, ?, 0, 'x')", [(run, node) for node in range(1, 65)])
        file.commit()


def test_ten_thousand_contexts_take_less_than_a_second(memory, tmp_path):
    """By the reader's own CPU time, so that what else runs here does not count; other runs cost nothing but to open
    them."""
    program = Program(tmp_path)
    program.db.write_bytes(memory.db.read_bytes())
    write_many(program.db, 10000, 3)
    for question in QUESTIONS:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = rows(program, question)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert after.ru_utime - before.ru_utime < 1, question
        assert found
    assert sum(r["bytes"] for r in rows(program, "SELECT bytes FROM v_copy WHERE run = :run")) == 90000
    assert sum(r["bytes"] for r in rows(program, "SELECT bytes FROM v_copy_pair WHERE run = :run")) == 90000


def readme_query():
    """The joined query that the README shows, as a shell would hand it over."""
    text = (SOURCE / "README.md").read_text()
    return re.search(r'^pieprof query run\.db "(select o\.file.*?)"$', text, re.M | re.S)[1]


def test_the_joined_query_of_the_readme(memory, changed):
    """Line 7 has 33 % of the CPU time and 950 of 1087 MB, line 8 9.7 % of the copies; line 3 has 11 % and 2.8 %."""
    assert [(*place(r), r["copy_bytes"] / MB) for r in rows(memory, readme_query())] == [("keep.py", 7, 950)]
    more = rows(changed("UPDATE copy SET bytes = 4 * bytes WHERE node IN (2, 7)"), readme_query())
    assert [place(r) for r in more] == [("keep.py", 7), ("keep.py", 8)]
    assert rows(changed("UPDATE sample SET native_ns = 0 WHERE node = 4"), readme_query()) == []
