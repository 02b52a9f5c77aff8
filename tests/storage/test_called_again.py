# SPDX-License-Identifier: Apache-2.0
"""Calls of own functions that do all again what they had done: the line that calls has the verdict. On rows of
fixture_waste.c: rotate() takes 0.8 s in its line 19, of which 20 of 20 compared calls returned the same."""

import pytest
from conftest import changer, make
from test_verdict import ARGUMENTS, CHANGED, INVARIANT, REPEATED, RETURNED, SAME, SEEN_BEFORE, STORE, findings

NEW_VALUE = 256
LINES = "20, 21, 22, 220, 221, 222"
ALONE = f"DELETE FROM sample WHERE node IN ({LINES})", f"DELETE FROM watch WHERE first_node IN ({LINES})"
BELOW_13 = "UPDATE node SET parent = 13 WHERE id IN (19, 20, 21, 22)"  # in the for loop of work()


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("called"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def compared(line, watches, outcome=SAME, traits=0):
    return (f"INSERT INTO watch SELECT DISTINCT process, 0, {STORE}, {outcome}, {RETURNED}, {traits}, 0, {200 + line}, {200 + line}, 3, 3, "
            f"{watches}, {8 * watches}, {1e6 * watches}, {1e12 * watches}, 800, 5000, 0, 0 FROM watch")


def calls(program):
    return [(r["line"], r["category"], r["severity"]) for r in findings(program).values()
            if "() does again what it had done" in r["evidence"]]


def test_the_line_that_calls_in_a_loop_has_the_verdict(changed):
    found = findings(changed(*ALONE, BELOW_13))
    call, inner = found["store", "waste.py", 13], found["store", "waste.py", 19]
    assert (call["category"], call["severity"], call["function"]) == (INVARIANT, "high", "work")
    assert call["evidence"].startswith("rotate() does again what it had done: 20 of 20 compared calls in it, or below, had been made "
                                       "before, by the same arguments or with the same long result, and they take 0.8 of its 0.8 s; "
                                       "most of it happens in waste.py:19; the call is in a loop")
    assert [call[k] for k in ("wasted_s", "wasted_s_low", "wasted_s_high", "again_s")] == pytest.approx([0.8, 0.64, 0.96, 0.8])
    assert (call["first_line"], call["user_line"], call["traps"]) == (19, None, None)
    assert (inner["severity"], inner["user_line"]) == ("low", 13) and inner["evidence"].endswith("for the finding of waste.py:13, stores")


def test_a_counted_call_names_the_line_below_it(changed):
    counted = ("INSERT INTO called SELECT DISTINCT w.process, f.path, 13, 'rotate', 'work', 3, 1, 100, 0, 100, 1, 1, 0, 0, 99, 0, 99, "
               "8e8, 7.9e8, 0, 8e8, 2e9 FROM watch w JOIN file f ON f.process = w.process AND f.path GLOB '*waste.py'")
    call = findings(changed(*ALONE, BELOW_13, counted))["store", "waste.py", 13]
    assert call["evidence"].startswith("of 100 calls of rotate that were counted, 99 were made before")
    assert (call["severity"], call["first_line"]) == ("high", 19) and call["first_file"].endswith("waste.py")


@pytest.mark.parametrize("again, category", [(99, INVARIANT), (51, INVARIANT), (30, REPEATED)])
def test_a_call_is_invariant_if_most_of_the_rounds_repeat_it(changed, again, category):
    """What comes again is that of the call before, always."""
    kinds = 100 - again
    counted = ("INSERT INTO called SELECT DISTINCT w.process, f.path, 13, 'rotate', 'work', 3, 1, 100, 0, 100, "
               f"{kinds}, {kinds}, {kinds // 2}, 0, {again}, 0, {again}, 8e8, {again / 100 * 8e8}, 0, 8e8, 2e9 FROM watch w JOIN file f ON f.process = w.process "
               "AND f.path GLOB '*waste.py'")
    of_weight = "UPDATE sample SET native_ns = native_ns / 20, python_ns = python_ns / 20 WHERE node NOT IN (19, 219)"
    changes = (*ALONE, BELOW_13, counted, of_weight, "DELETE FROM watch WHERE first_node = 219")
    call = findings(changed(*changes))["store", "waste.py", 13]
    assert call["evidence"].startswith(f"of 100 calls of rotate that were counted, {again} were made before")
    assert call["category"] == category


def same_call(function_s, callee="rotate", call_s=0.6, again=19):
    """Twenty calls in line 13, which takes 0.8 s."""
    kinds = 20 - again
    return (f"INSERT INTO called SELECT DISTINCT w.process, f.path, 13, '{callee}', 'work', 3, 1, 20, 0, 20, {kinds}, {kinds}, "
            f"{0 if again else 20}, 0, {again}, 0, {again}, {call_s * 1e9}, {call_s * again / 20 * 1e9}, 0, 8e8, {function_s * 1e9} "
            "FROM watch w JOIN file f ON f.process = w.process AND f.path GLOB '*waste.py'")


@pytest.mark.parametrize("rows, is_told", [
    ([same_call(2)], True),
    ([same_call(0.82)], False),  # such as a loop that measures
    ([same_call(0.82), same_call(0.82, "list.append", 0.1, 0)], False),
    ([same_call(0.82), same_call(0.82, "check", 0.1, 0)], True),
])
def test_a_loop_that_only_makes_the_same_call_is_not_told(changed, rows, is_told):
    found = findings(changed(*ALONE, BELOW_13, *rows, "DELETE FROM watch"))
    assert any("of rotate that were counted" in r["evidence"] for r in found.values()) == is_told


def counted(calls, compared, once):
    """Calls of rotate() in line 13, of which none repeats the one before."""
    return ("INSERT INTO called SELECT DISTINCT w.process, f.path, 13, 'rotate', 'work', 3, 1, "
            f"{calls}, 0, {compared}, {calls}, {calls}, {once}, 0, 0, 0, 0, 8e8, 0, 0, 8e8, 2e9 "
            "FROM watch w JOIN file f ON f.process = w.process AND f.path GLOB '*waste.py'")


@pytest.mark.parametrize("row, is_within", [
    (counted(10, 10, 9), True),
    (counted(9, 9, 9), False),  # few calls
    (counted(10, 9, 9), False),  # one has arguments that cannot be read
    (counted(10, 10, 8), False),  # some come again
])
def test_what_each_call_does_again_is_no_call_that_comes_again(changed, row, is_within):
    """All calls of rotate() differ, so it is within each of them that line 19 does the same again."""
    program = changed(*ALONE, BELOW_13, row)
    assert calls(program) == ([] if is_within else [(13, INVARIANT, "high")])
    if is_within:
        inner = findings(program)["store", "waste.py", 19]
        assert (inner["severity"], inner["category"]) == ("high", REPEATED)


def test_without_a_loop_the_calls_are_repeated(changed):
    assert calls(changed(*ALONE)) == [(1, REPEATED, "high")]


def test_a_library_s_line_below_is_evidence_too(changed):
    """crunch() of Fast-Lib runs below line 15 of work(), which is called in line 19."""
    changes = ("UPDATE node SET parent = 19 WHERE id = 15", "DELETE FROM watch WHERE first_node IN (215, 219)",
               compared(15, 20, traits=ARGUMENTS), "DELETE FROM sample WHERE node NOT IN (15, 50, 215, 19, 219)")
    found = findings(changed(*changes))
    assert found["store", "waste.py", 19]["severity"] == "high", found.keys()
    inner = found["store", "core.py", 2]
    assert (inner["severity"], inner["user_line"]) == ("low", 19)


@pytest.mark.parametrize("what, change", [
    ("a fifth of the function is new each time", (BELOW_13, "DELETE FROM watch WHERE first_node IN (220, 221, 222)",
                                                  compared(20, 20), compared(21, 20), compared(22, 20, CHANGED))),
    ("in a loop of the function", (*ALONE, BELOW_13, "UPDATE watch SET own_operation = own_operation | 16 WHERE first_node = 219")),
    ("few comparisons", (*ALONE, BELOW_13, "UPDATE watch SET watches = 1 WHERE first_node = 219")),
    ("equal by chance", (*ALONE, BELOW_13, f"UPDATE watch SET traits = {NEW_VALUE} WHERE first_node = 219")),
    ("two lines call", (BELOW_13.replace("19, 20, 21, 22", "19, 20"), "DELETE FROM watch WHERE first_node IN (220, 221, 222)",
                        compared(20, 20), compared(21, 20), compared(22, 20))),
])
def test_what_is_not_told(changed, what, change):
    assert calls(changed(*change)) == [], what


def test_all_lines_of_the_function_count_together(changed):
    """0.8 s and three times 0.4 s: the last line alone would be too little."""
    change = (BELOW_13, "DELETE FROM watch WHERE first_node IN (219, 220, 221, 222)", compared(19, 1), compared(20, 1), compared(21, 1),
              compared(22, 1))
    assert calls(changed(*change)) == [(13, INVARIANT, "high")]


def test_calls_in_turn_are_the_same_further_out(changed):
    """rotate() calls, in a comprehension of line 22, what takes the time: each call there is another than the last."""
    change = ("INSERT INTO function SELECT process, 900, kind, 'rotate.<locals>.<listcomp>', file, first_line, module FROM function"
              " WHERE name = 'rotate'",
              "INSERT INTO location (process, id, function, line, is_in_loop) SELECT process, 900, 900, 22, 1 FROM location WHERE id = 22",
              "INSERT INTO node SELECT process, 900, 22, 900, 900, 900, NULL, NULL FROM node WHERE id = 22",
              "INSERT INTO function SELECT process, 901, kind, 'turn', file, first_line, module FROM function WHERE name = 'rotate'",
              "INSERT INTO location (process, id, function, line) SELECT process, 901, 901, 20 FROM location WHERE id = 22",
              "UPDATE node SET parent = 900, location = 901, own_location = 901, line_location = 901 WHERE id = 20",
              "UPDATE node SET own_location = 901, line_location = 901 WHERE id IN (120, 220, 320)",
              "UPDATE node SET parent = 13 WHERE id = 22",
              "DELETE FROM sample WHERE node IN (19, 219, 21, 221, 22, 222)", "DELETE FROM watch WHERE first_node IN (219, 220, 221, 222)")
    grown = "UPDATE sample SET native_ns = 4 * native_ns WHERE node = 220"
    assert calls(changed(*change, compared(20, 20, traits=SEEN_BEFORE), grown)) == [(13, INVARIANT, "high")], "seen, but not last"
    assert calls(changed(*change, compared(20, 20), grown)) == [(22, INVARIANT, "high")]

