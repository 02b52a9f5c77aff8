# SPDX-License-Identifier: Apache-2.0
"""Calls that handle one element or number each, and what helps against them: on rows of fixture_waste.c that are
changed. Watches of line N have the first node 200 + N, and its own Python code the node N; the call in line 15 is that
of crunch(), in the library Fast-Lib: 0.3 s of its Python code and 0.7 s of NumPy, of 1.1 s."""

import pytest
from conftest import changer, make
from test_verdict import (
    ARGUMENTS, CALL, CHANGED, FIRST_SEEN, IN_LOOP, INVARIANT, LOAD, OUTER, REPEATED, RETURNED, SAME, SEEN_BEFORE, STORE, findings,
)

SLICE, MISUSE = "slice underutilization", "API misuse"
ITEM, CALLING = 1, 3
OUT_OF_LOOPS = f"UPDATE watch SET own_operation = own_operation & ~{IN_LOOP}"
OBJECT, BULK = 1, 1


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("calls"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def watches(node, count, outcome=SAME, kind=LOAD, memory=OBJECT, traits=0, length=0, operation=CALLING):
    """A statement that adds them."""
    return ("INSERT INTO watch SELECT id, 9, "
            f"{kind}, {outcome}, {memory}, {traits}, {length}, {node}, {node}, {operation | IN_LOOP}, {CALLING}, {count},"
            f" {8 * count}, {1e6 * count}, {1e12 * count}, {800 * count}, 0, 0, 0 FROM process")


def calls(node, count, outcome, traits):
    """Compared by their arguments."""
    return watches(node, count, outcome, STORE, CALL, ARGUMENTS | traits)


def own_calls(outcome, count=10, traits=FIRST_SEEN):
    """Those of line 15 itself."""
    return calls(15, count, outcome, OUTER | traits)


def nothing_at(line):
    return f"DELETE FROM watch WHERE first_node = {200 + line}"


def library(name):
    return f"UPDATE file SET library = '{name}' WHERE path LIKE '%core.py'"


# Of the loads of line 15, 40 % are 20 us before the end of a call, the others 1 ms.
LONG = [nothing_at(15), watches(215, 20, length=1), watches(215, 30, length=2)]


@pytest.mark.parametrize("name, outcome, severity", [
    ("pandas", CHANGED, "high"),
    ("pandas", SAME, "reuse"),  # the same call again is not one of many
    ("matplotlib", CHANGED, "reuse"),  # it draws in Python code
    ("Fast-Lib", CHANGED, "reuse"),
])
def test_python_code_of_array_libraries_is_what_a_call_costs(changed, name, outcome, severity):
    row = findings(changed(*LONG, library(name), own_calls(outcome)))["load", "waste.py", 15]
    assert row["severity"] == severity
    if severity == "high":
        assert row["category"] == MISUSE and row["wasted_s"] == pytest.approx(1.1)
        assert "27 % of its time is Python code of libraries that work on whole arrays, and 40 % of the loads" in \
            row["evidence"]


def test_calls_that_read_whole_arrays_are_worth_their_python_code(changed):
    program = changed(*LONG, library("pandas"), own_calls(CHANGED), watches(215, 20, traits=BULK, length=2))
    assert findings(program)["load", "waste.py", 15]["severity"] == "reuse"


ONE = "UPDATE function SET name = 'Image.getpixel' WHERE name = 'crunch'"
SAMPLES = "UPDATE sample SET samples = 10 * samples"
PILLOW = "UPDATE file SET library = 'Pillow' WHERE library = 'Fast-Lib'"


@pytest.mark.parametrize("change, category", [
    ((ONE, PILLOW, SAMPLES), SLICE),
    ((ONE.replace("Image.getpixel", "Image.resize"), PILLOW, SAMPLES), MISUSE),
    ((ONE, SAMPLES), MISUSE),
    ((ONE, PILLOW), MISUSE),  # three samples
])
def test_a_library_s_function_for_one_element_is_element_access(changed, change, category):
    row = findings(changed(*change))["load", "waste.py", 15]
    assert (row["category"], row["severity"]) == (category, "high")
    if category == SLICE:
        assert row["evidence"].startswith("for 91 % of its time the line is in Image.getpixel() of Pillow, which takes one element")
        assert (row["wasted_s"], row["wasted_s_low"]) == (pytest.approx(1.1), pytest.approx(0.77))


def calling(name, called):
    """crunch(), the node 50, is `name`, and calls `called`, whose time the native code is: 0.7 s of the line's 1.1."""
    function, location, node = 7001, 7002, 7003
    return [
        f"UPDATE function SET name = '{name}' WHERE name = 'crunch'",
        f"INSERT INTO function SELECT process, {function}, kind, '{called}', file, 9, module FROM function WHERE name = '{name}'",
        f"INSERT INTO location SELECT id, {location}, {function}, 9, NULL, NULL, 0 FROM process",
        f"INSERT INTO node SELECT process, {node}, 50, {location}, {location}, own_location, NULL, NULL FROM node"
        " WHERE id = 50 AND location = 50",
        f"UPDATE node SET parent = {node} WHERE id = 315 AND parent = 50",
        f"UPDATE node SET line_location = {location} WHERE id IN (315, 115, 215) AND line_location = 50",
    ]


@pytest.mark.parametrize("name, package, part", [
    ("Path.contains_point", "matplotlib", 91),
    ("cosine", "scipy", 91),
    ("Path.contains_points", "matplotlib", None),
    ("cosine", "numpy", None),
])
def test_a_library_s_function_for_one_point_or_pair(changed, name, package, part):
    """Only its own time counts, which is that of the native code that it calls."""
    row = findings(changed(f"UPDATE function SET name = '{name}' WHERE name = 'crunch'", library(package), SAMPLES))["load", "waste.py", 15]
    assert (row["category"], row["severity"]) == (MISUSE, "high")
    assert row["evidence"].startswith(f"for {part} % of its time the line is in {name}() of {package}") == (part is not None)


@pytest.mark.parametrize("name, called, package, category", [
    ("Image.getpixel", "Image.load", "Pillow", SLICE),
    ("Image.getpixel", "ImageFile.load", "Pillow", MISUSE),  # decodes the file for the first pixel
    ("DataFrame.iterrows", "Series.__init__", "pandas", SLICE),
    ("vectorize.__call__", "median", "numpy", MISUSE),  # median() is the program's choice: by the watches alone
])
def test_what_a_function_for_one_element_calls_is_its_time(changed, name, called, package, category):
    row = findings(changed(*calling(name, called), library(package), SAMPLES))["load", "waste.py", 15]
    assert row["category"] == category
    assert row["evidence"].startswith(f"for 91 % of its time the line is in {name}() of {package}") == (category == SLICE)


@pytest.mark.parametrize("count, severity", [(4, "high"), (3, "low")])
def test_four_watches_are_enough_where_their_interval_is(changed, count, severity):
    row = findings(changed("DELETE FROM watch", watches(206, count, operation=ITEM)))["load", "waste.py", 6]
    assert (row["category"], row["severity"]) == (SLICE, severity)


@pytest.mark.parametrize("count, library, severity", [(8, "numpy", "high"), (7, "numpy", "low"), (8, "lxml", "low")])
def test_an_element_in_a_function_for_one_element(changed, count, library, severity):
    """Line 6 is in no loop of its function, which is called for each element. There is no telling without own watches,
    nor what takes the place of these in a library that knows no arrays."""
    row = findings(changed(
        "DELETE FROM watch", watches(206, count, operation=ITEM), watches(207, 20), OUT_OF_LOOPS,
        f"UPDATE module SET library = '{library}' WHERE library = 'numpy'"))["load", "waste.py", 6]
    assert (row["category"], row["severity"]) == (SLICE, severity)


@pytest.mark.parametrize("count, severity", [(8, "high"), (7, "low")])
def test_calls_are_misused_by_watches_of_their_own(changed, count, severity):
    row = findings(changed("DELETE FROM watch", watches(206, 20), watches(207, count)))["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == (MISUSE, severity)


@pytest.mark.parametrize("is_alone, category", [(False, SLICE), (True, MISUSE)])
def test_a_line_at_items_and_calling_is_about_what_its_function_does(changed, is_alone, category):
    """Of line 12, two loads of twelve are at an item; most of the others of work() are."""
    nothing = ["DELETE FROM watch"] if is_alone else [nothing_at(line) for line in (7, 11, 12, 15)]
    row = findings(changed(*nothing, watches(212, 2, operation=ITEM), watches(212, 10)))["load", "waste.py", 12]
    assert row["category"] == category


def returned(outcome, count):
    """What line 15 got, by calls with the same arguments."""
    return watches(15, count, outcome, STORE, RETURNED, ARGUMENTS | SEEN_BEFORE)


def test_deep_copies_of_the_same_are_made_to_be_changed(changed):
    same = [nothing_at(15), library("python"), own_calls(SAME, traits=SEEN_BEFORE)]
    row = findings(changed(*same))["store", "waste.py", 15]
    assert (row["category"], row["severity"]) == (INVARIANT, "high")
    copying = "UPDATE function SET name = '_deepcopy_dict' WHERE name = 'crunch'"
    row = findings(changed(*same, copying))["store", "waste.py", 15]
    assert (row["category"], row["severity"]) == (MISUSE, "high") and row["wasted_s"] == pytest.approx(1.1)
    assert "deep copies" in row["evidence"] and "pickle" in row["advice"]
    light = f"UPDATE watch SET weight_ns = 0.1 * weight_ns WHERE first_node = 15 AND outcome = {CHANGED}"
    most = [nothing_at(15), library("python"), returned(SAME, 35), returned(CHANGED, 5), light]
    assert findings(changed(*most))["store", "waste.py", 15]["category"] == INVARIANT
    assert findings(changed(*most, copying))["store", "waste.py", 15]["category"] == MISUSE


def test_what_a_library_computes_again_in_calls_that_differ_cannot_be_kept(changed):
    """The stores of line 8 as the library's."""
    moved = [nothing_at(15), "UPDATE watch SET first_node = 215 WHERE first_node = 208"]
    found = findings(changed(*moved))
    assert found["store", "waste.py", 15]["severity"] == "high"
    found = findings(changed(*moved, own_calls(CHANGED)))
    inner = found["store", "core.py", 2]
    assert (inner["category"], inner["severity"]) == (INVARIANT, "low")
    assert "other arguments each time, so there is no result to keep" in inner["evidence"]
    assert {r["severity"] for key, r in found.items() if key[1:] == ("waste.py", 15)} <= {"low", "reuse"}


@pytest.mark.parametrize("kinds, size, severity", [(8, 256, "high"), (9, 256, "low"), (8, 255, "low")])
def test_a_list_that_a_library_makes_an_array_of_can_be_kept_as_one(changed, kinds, size, severity):
    """The calls of line 15 differ, but crunch() makes the same array in each: half a second of the run."""
    seen = calls(215, kinds, SAME, FIRST_SEEN), calls(215, 30 - kinds, SAME, SEEN_BEFORE)
    found = findings(changed(
        nothing_at(15), *seen, own_calls(CHANGED), f"UPDATE watch SET bytes = {size} * watches WHERE first_node = 215",
        "UPDATE sample SET native_ns = 20 * native_ns WHERE node = 215"))
    inner = found["store", "core.py", 2]
    assert (inner["severity"], inner["user_line"]) == (severity, 15) and inner["category"] in (INVARIANT, REPEATED)
    assert ("there is no result to keep" in inner["evidence"]) == (severity == "low")
    assert inner["rank"] == 1 or severity == "low"


@pytest.mark.parametrize("count, category", [(4, INVARIANT), (3, "inefficient algorithm")])
def test_four_calls_with_the_same_arguments_and_no_other_are_the_same_calls(changed, count, category):
    row = findings(changed(calls(209, count, SAME, SEEN_BEFORE)))["store", "waste.py", 9]
    assert (row["category"], row["severity"]) == (category, "high")


def test_what_is_undecided_ends_with_the_line_whatever_its_arguments_are(changed):
    """Line 11 takes 0.6 s. Another algorithm may do without calls that are all new."""
    for same, end in ((0, 0.72), (4, 0.72)):
        compared = [calls(211, 10 - same, CHANGED, FIRST_SEEN), *([calls(211, same, SAME, SEEN_BEFORE)] if same else [])]
        row = findings(changed(*compared))["load", "waste.py", 11]
        assert (row["category"], row["wasted_s_high"]) == ("undecided", pytest.approx(end, abs=0.01))
