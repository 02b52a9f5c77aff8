# SPDX-License-Identifier: Apache-2.0
"""What calls that a run itself counted in windows say of its findings: on changed rows of fixture_waste.c."""

import pytest
from conftest import changer, make, rows
from test_calls_for_one import BULK, watches
from test_verdict import INVARIANT, REPEATED, findings

ARRAYS = "numpy.ndarray + numpy.ndarray"


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("windows"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def window(line, callee, calls, call_ns, compared=0, distinct=None, again=0, again_ns=0, singles=0, single_ns=0, bulk_ns=0,
           same=None, is_item=0, once=0, results=None, arg_bytes=0):
    """Of a line of waste.py."""
    distinct = calls if distinct is None else distinct
    same, results = again if same is None else same, distinct if results is None else results
    return ("INSERT INTO windowed SELECT DISTINCT p.process, f.path, "
            f"{line}, '{callee}', {is_item}, 1, {calls}, 0, {compared}, {distinct}, {results}, {once}, 0, {again}, 0, {same}, {singles}, 0, {arg_bytes}, {call_ns}, "
            f"{again_ns}, 0, {single_ns}, {bulk_ns} FROM watch p JOIN file f ON f.process = p.process AND f.path GLOB '*waste.py'")


@pytest.mark.parametrize("windows, severity", [
    ((window(10, ARRAYS, 100, 8e6), window(7, "f", 50, 2e6)), "low"),
    ((window(10, ARRAYS, 99, 8e6),), "high"),  # few operations
    ((window(10, ARRAYS, 100, 4e6), window(7, "f", 50, 6e6)), "high"),  # other calls take more time
    ((window(10, ARRAYS, 100, 8e6), window(7, "f", 50, 2e6, singles=50, single_ns=2e6)), "high"),  # some on single numbers
    ((window(10, "a[i] of numpy.ndarray", 100, 8e6, singles=100, single_ns=8e6),), "high"),
    ((window(19, ARRAYS, 100, 8e6),), "high"),  # in another function
])
def test_a_function_that_works_on_arrays_takes_no_single_elements(changed, windows, severity):
    row = findings(changed(*windows))["load", "waste.py", 6]
    assert row["severity"] == severity
    if severity == "low":
        assert "; but of the operations that were counted in its function, those on arrays took 80 % of the time, and those on " \
            "single elements 0 %" in row["evidence"]


@pytest.mark.parametrize("callee, category, word", [("deepcopy", "API misuse", "pickle"), ("f", INVARIANT, "before the loop")])
def test_deep_copies_that_were_counted_are_made_to_be_changed(changed, callee, category, word):
    found = [one for place, one in findings(changed(*UNWATCHED, window(
        20, callee, 100, 9e6, compared=100, distinct=10, again=90, again_ns=8.1e6))).items() if place[1:] == ("waste.py", 20)]
    assert [(one["category"], word in one["advice"]) for one in found] == [(category, True)]


@pytest.mark.parametrize("known_ns, again, again_ns, severity", [
    (4e6, 90, 3e6, "high"),
    (4e6, 40, 2e6, "low"),  # half of what is known
    (2e6, 90, 2e6, "low"),  # a fifth of the line's time is known
    (4e6, 11, 3e6, "low"),
])
def test_what_can_be_compared_decides(changed, known_ns, again, again_ns, severity):
    """Line 11, whose loads are undecided, calls f() with values and g() with objects."""
    row = findings(changed("UPDATE sample SET native_ns = 10 * native_ns WHERE node = 211", window(11, "f", 100, known_ns, compared=100, distinct=10, again=again, again_ns=again_ns),
                           window(11, "g", 100, 10e6 - known_ns)))["load", "waste.py", 11]
    assert row["severity"] == severity
    if severity == "high":
        assert row["category"] == "loop-invariant computation" != REPEATED
        assert row["evidence"].startswith("of 100 calls of f that were counted, 90 were made before: 10 different; ")


@pytest.mark.parametrize("call_ns, below_ns, own_ns, severity", [
    (1e4, 10, 0, "high"),
    (1e2, 10, 0, "high"),  # short calls, which take the line's time
    (1e2, 2, 8, "low"),  # no call takes more than a fifth of it, whatever counting says
    (1e4, 2, 8, "high"),  # long ones: the time of functions of own code is at other lines
])
def test_a_call_that_costs_nothing_decides_nothing(changed, call_ns, below_ns, own_ns, severity):
    """Line 11 calls len() a hundred times, nearly always with what it had before. Its own bytecode is the node 11, the
    native code below it the node 211."""
    total = "(SELECT sum(python_ns + native_ns + system_ns) FROM sample s WHERE s.node IN (11, 211) AND s.process = sample.process)"
    row = findings(changed(
        f"CREATE TEMP TABLE t AS SELECT max({total}) AS ns FROM sample WHERE node IN (11, 211)",
        "DELETE FROM sample WHERE node = 11",
        f"UPDATE sample SET python_ns = {own_ns} * (SELECT ns FROM t), native_ns = {below_ns} * (SELECT ns FROM t) WHERE node = 211",
        window(11, "len", 100, 100 * call_ns, compared=100, distinct=8, again=92, again_ns=92 * call_ns)))["load", "waste.py", 11]
    assert row["severity"] == severity
    assert (", 92 were made before" in row["evidence"]) == (severity == "high")


@pytest.mark.parametrize("count, bulk_ns, single_ns, severity", [
    (8, 6e6, 0, "low"),
    (8, 0, 0, "low"),  # short arrays: few watches do not say that the calls do little
    (8, 6e6, 2e6, "high"),  # some take single numbers
    (20, 6e6, 0, "low"),
    (20, 4e6, 0, "high"),  # many watches do, where few of the arrays are long
])
def test_watches_do_not_outweigh_arrays_that_were_counted(changed, count, bulk_ns, single_ns, severity):
    """Each of the loads of line 12 looks up what objects are like, as it may be by chance in calls on arrays."""
    row = findings(changed(
        "UPDATE sample SET native_ns = 10 * native_ns WHERE node = 212", "DELETE FROM watch", watches(212, count),
        window(12, ARRAYS, 100, 8e6, bulk_ns=bulk_ns), window(12, "numpy.cos", 20, 2e6, singles=20, single_ns=single_ns),
    ))["load", "waste.py", 12]
    assert (row["category"], row["severity"]) == ("API misuse", severity)
    assert ("; but of the operations that were counted in its function, those on arrays took 80 % of the time" in row["evidence"]) \
        == (severity == "low")


@pytest.mark.parametrize("call_ns, single_ns, severity", [
    (4e6, 0, "high"),
    (6e6, 0, "low"),
    (6e6, 2e6, "high"),  # some take single numbers
])
def test_a_long_call_is_none_of_many_short_ones(changed, call_ns, single_ns, severity):
    """Line 7 calls a solver, which makes the short calls."""
    row = findings(changed(window(7, "solve_ivp", 2, 2 * call_ns, singles=2, single_ns=single_ns)))["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == ("API misuse", severity)
    assert ("; but a call at this line takes 6 ms, so it is the library that makes the short ones" in row["evidence"]) \
        == (severity == "low")


@pytest.mark.parametrize("call_us, once, results, kilobytes, severity", [
    (200, 100, 1, 8, "low"),
    (200, 100, 1, 2, "high"),  # on little data, as draw.line() for each line
    (200, 50, 1, 8, "high"),  # some have the arguments of others
    (200, 100, 100, 8, "high"),  # they return something
    (10, 100, 1, 8, "high"),
])
def test_a_call_for_its_effect_on_much_data_is_none_of_many_short_ones(changed, call_us, once, results, kilobytes, severity):
    """Line 7 calls the step of an optimizer, which makes the short calls."""
    row = findings(changed(window(7, "step", 100, 1e5 * call_us, compared=100, once=once, results=results,
                                  arg_bytes=102400 * kilobytes)))["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == ("API misuse", severity)


@pytest.mark.parametrize("call_us, results, severity", [(100, 1, "low"), (1, 1, "high"), (100, 100, "high")])
def test_a_long_call_for_its_effect_handles_no_number(changed, call_us, results, severity):
    """loss.backward(), whose one operand is a single number; unlike a test that is always true."""
    row = findings(changed(
        watches(207, 50, traits=BULK, length=2),
        window(7, "Tensor.backward", 100, 1e5 * call_us, compared=100, once=100, results=results, singles=100,
               single_ns=1e5 * call_us)))["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == ("API misuse", severity)


@pytest.mark.parametrize("calls, single_ns, severity", [(100, 6e6, "high"), (100, 4e6, "low"), (99, 6e6, "low")])
def test_single_numbers_that_were_counted_decide(changed, calls, single_ns, severity):
    """Half of the loads of line 7 are bulk work, so its watches do not tell that one call could do all of it."""
    row = findings(changed(
        watches(207, 50, traits=BULK, length=2),
        window(7, "numpy.float64 + numpy.float64", calls, 1e7, singles=calls, single_ns=single_ns)))["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == ("API misuse", severity)
    assert ("; of the time that was counted at the line, 60 % went to single elements" in row["evidence"]) == (severity == "high")


@pytest.mark.parametrize("callee, category, severity", [
    ("a[i] of numpy.ndarray", "slice underutilization", "high"),
    ("for x in iterator", "API misuse", "high"),  # of an array
    ("for x in lxml.etree.ElementChildIterator", "API misuse", "low"),
    ("for x in list_iterator", "API misuse", "low"),
])
def test_a_step_of_a_loop_is_no_single_element(changed, callee, category, severity):
    row = findings(changed(
        watches(207, 50, traits=BULK, length=2),
        window(7, callee, 100, 1e7, singles=100, single_ns=1e7, is_item=1)))["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == (category, severity)


@pytest.mark.parametrize("again, category", [(90, INVARIANT), (50, "inefficient algorithm")])
def test_calls_that_were_counted_to_come_again_are_no_inefficient_algorithm(changed, again, category):
    """A part of what line 9 writes was there already."""
    row = findings(changed(window(9, "rfft", 100, 1e7, compared=100, distinct=10, again=again, again_ns=again * 1e5)))["store", "waste.py", 9]
    assert (row["category"], row["severity"]) == (category, "high")


@pytest.mark.parametrize("others, short_ns, severity", [(40, 1e6, "low"), (40, 2e6, "high")])
def test_a_long_call_is_long_whatever_stands_beside_it(changed, others, short_ns, severity):
    """Two calls of a solver, 6 ms each, take nine tenths of the time or less; short calls prepare what they get."""
    row = findings(changed(window(7, "solve_ivp", 2, 12e6), window(7, "numpy.asarray", others, short_ns)))["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == ("API misuse", severity)
    assert ("a call at this line takes 6 ms" in row["evidence"]) == (severity == "low")


ELEMENTS = window(11, "a[i] of numpy.ndarray", 100, 1e4, singles=100, single_ns=1e4, is_item=1, once=90)


@pytest.mark.parametrize("call_ns, same, more, severity", [
    (1e5, 89, (), "high"),  # in a row: it can be computed before the loop
    (1e5, 70, (), "low"),  # a dict of results would cost as much
    (6e5, 70, (), "high"),  # but not of calls that take 6 us
    (1e5, 89, (ELEMENTS,), "low"),  # as the elements of an array are
])
def test_short_calls_for_single_numbers_are_equal_by_nature(changed, call_ns, same, more, severity):
    """Line 11 computes with numbers of which there are ten."""
    row = findings(changed(
        "UPDATE sample SET native_ns = 10 * native_ns WHERE node = 211",
        window(11, "numpy.uint16 / float", 100, call_ns, compared=100, distinct=10, again=90, again_ns=0.9 * call_ns, singles=100,
               same=same), *more))["load", "waste.py", 11]
    assert row["severity"] == severity


@pytest.mark.parametrize("items, category", [(100, "slice underutilization"), (99, "API misuse")])
def test_elements_that_were_counted_name_the_category(changed, items, category):
    """The watches of line 7 were calling and computing. Each number that it handles may come out of an array."""
    row = findings(changed(
        window(7, "numpy.float64 + numpy.float64", 100, 9e6, singles=100, single_ns=9e6),
        window(7, "a[i] of numpy.ndarray", items, 1e6, singles=items, single_ns=1e6, is_item=1)))["load", "waste.py", 7]
    assert (row["category"], row["severity"]) == (category, "high")
    assert ("; of the operations that were counted at the line, at least as many fetched single elements" in row["evidence"]) \
        == (items == 100)


def items(line, of, calls, call_ns, put=False):
    return window(line, f"a[i] {'= x ' if put else ''}of {of}", calls, call_ns, singles=calls, single_ns=call_ns, is_item=1)


@pytest.mark.parametrize("windows, category", [
    ((items(9, "csr_matrix", 100, 1e7, put=True),), "slice underutilization"),
    ((items(9, "csr_matrix", 99, 1e7, put=True),), "inefficient algorithm"),
    ((items(9, "list", 100, 1e7, put=True),), "inefficient algorithm"),
    ((items(9, "csr_matrix", 100, 8e6, put=True), window(9, "rfft", 50, 2e6)), "inefficient algorithm"),
])
def test_single_elements_are_no_inefficient_algorithm(changed, windows, category):
    """What line 9 writes was there in part, by chance."""
    program = changed(*windows)
    row = findings(program)["store", "waste.py", 9]
    assert (row["category"], row["severity"]) == (category, "high")
    assert ("counted at the line, 100 % went to single elements" in row["evidence"]) == (category == "slice underutilization")
    (total,) = rows(program, "select cpu_ns / 1e9 as run_s from x_total where run = (select max(id) from run)")
    assert 0 < row["wasted_share"] == pytest.approx(row["wasted_s"] / total["run_s"])


@pytest.mark.parametrize("of, part, verdict", [
    ("numpy.ndarray", 0.3, ("slice underutilization", "high")),
    ("numpy.ndarray", 0.2, ("undecided", "low")),
    ("list", 0.3, ("undecided", "low")),
])
def test_elements_that_were_counted_need_no_watches(changed, of, part, verdict):
    """The watches of line 11 do not decide."""
    row = findings(changed(
        "UPDATE sample SET native_ns = 10 * native_ns WHERE node = 211", items(11, of, 100, part * 1e7),
        window(11, "numpy.float64 * numpy.float64", 100, (1 - part) * 1e7, singles=100, single_ns=(1 - part) * 1e7),
    ))["load", "waste.py", 11]
    assert (row["category"], row["severity"]) == verdict
    if verdict[1] == "high":
        assert row["wasted_s"] == pytest.approx(row["cpu_s"]) and "many elements with one call" in row["advice"]


@pytest.mark.parametrize("callee, call_ns, item_ns, category", [
    ("numpy.square", 7e6, 1e6, "API misuse"),
    ("numpy.square", 5e6, 1e6, "slice underutilization"),
    ("numpy.square", 7e6, 1.5e6, "slice underutilization"),
    ("numpy.float64 * float", 7e6, 1e6, "slice underutilization"),
])
def test_calls_that_were_counted_name_the_category(changed, callee, call_ns, item_ns, category):
    """The watches of line 6 were at a[i], but its counted time goes to calls for single numbers."""
    rest_ns = 1e7 - call_ns - item_ns
    row = findings(changed(
        window(6, callee, 100, call_ns, singles=100, single_ns=call_ns), items(6, "numpy.ndarray", 90, item_ns),
        window(6, "numpy.float64 + numpy.float64", 100, rest_ns, singles=100, single_ns=rest_ns)))["load", "waste.py", 6]
    assert (row["category"], row["severity"]) == (category, "high")


@pytest.mark.parametrize("calls, call_us, again, severity", [
    (50, 100, 0, "high"),
    (49, 100, 0, "low"),
    (50, 100, 10, "low"),  # a fifth of them comes again
    (50, 160, 0, "low"),  # long calls may do what they cost
    (20, 160, 0, "low"),  # with as many short ones beside them, too
])
def test_many_new_calls_of_python_code_need_few_watches(changed, calls, call_us, again, severity):
    """Three tenths of line 15 are Python code of a library. Seven watches are too few."""
    call_ns = 1e3 * call_us * calls
    beside = () if calls >= 49 else (window(15, "len", 100, 1e4),)
    row = findings(changed("DELETE FROM watch", watches(215, 7), *beside, window(
        15, "predict", calls, call_ns, compared=calls, distinct=calls - again, once=calls - 2 * again, again=again,
        again_ns=call_ns * again / calls)))["load", "waste.py", 15]
    assert (row["category"], row["severity"]) == ("API misuse", severity)
    assert (f"of a library, and {calls} calls were counted, which differ; those of predict take {call_us} us" in row["evidence"]) \
        == (severity == "high")


@pytest.mark.parametrize("calls, once, results, category", [
    (20, 20, 20, "inefficient algorithm"),
    (19, 19, 19, REPEATED),
    (20, 19, 20, REPEATED),  # one came again
    (20, 20, 17, REPEATED),  # other arguments with the same results
])
def test_what_differs_by_value_is_the_same_in_part_only(changed, calls, once, results, category):
    """Watches compare a part of long data: that of the calls of line 19 is the same."""
    row = findings(changed("DELETE FROM watch WHERE first_node = 219 AND memory <> 4", window(
        19, "relabel", calls, 1e7, compared=calls, distinct=once, once=once, results=results)))["store", "waste.py", 19]
    assert (row["category"], row["severity"]) == (category, "high")
    assert ("but all calls that were counted differ by value" in row["evidence"]) == (category != REPEATED)


@pytest.mark.parametrize("counted, category", [
    ((20, 0), "inefficient algorithm"), ((0, 20), "inefficient algorithm"), ((19, 19), REPEATED)])
def test_calls_that_two_kinds_of_windows_saw_may_be_the_same(changed, counted, category):
    rows = [window(19, "relabel", counted[0], 1e7, compared=counted[0], distinct=counted[0], once=counted[0], results=counted[0]),
            called("relabel", counted[1], counted[1], 0, 1e7, 0, line=19)]
    found = findings(changed("DELETE FROM watch WHERE first_node = 219 AND memory <> 4",
                             *(row for row, calls in zip(rows, counted) if calls)))
    assert found["store", "waste.py", 19]["category"] == category


@pytest.mark.parametrize("singles, same, category", [
    (100, 50, "API misuse"),
    (99, 50, REPEATED),  # not all of them take single numbers
    (100, 85, REPEATED),  # the same numbers in a row
])
def test_numbers_that_take_turns_ask_for_one_call_for_all(changed, singles, same, category):
    row = findings(changed(
        "DELETE FROM watch WHERE first_node = 219 AND memory <> 4", "UPDATE watch SET own_operation = own_operation | 16",
        window(19, "norm", 100, 1e7, compared=100, distinct=10, again=90, again_ns=9e6, singles=singles, same=same)))
    row = row["store", "waste.py", 19]
    assert row["severity"] == "high"
    assert row["category"] == category if category == "API misuse" else row["category"] in (REPEATED, INVARIANT)


def passed(kind, calls=100, items=800, carried=None, call_ns=4e6, line=30):
    """Of a line of waste.py without other findings, which takes 2 s."""
    carried = calls if carried is None else carried
    return ("INSERT INTO passed SELECT DISTINCT w.process, f.path, "
            f"{line}, 'f', {kind}, 1, {calls}, {items * calls}, {carried}, {call_ns}, 2e9 FROM watch w JOIN file f ON f.process = w.process "
            "AND f.path GLOB '*waste.py'")


RANGE = window(30, "for x in range_iterator", 90, 1e6)


@pytest.mark.parametrize("row, beside, key", [
    (passed(5), (), ("store", REPEATED, "converted again")),
    (passed(5, calls=49), (), None),
    (passed(5, items=31), (), None),
    (passed(5, carried=89), (), None),
    (passed(5, call_ns=8.1e6), (), None),  # 101 ns for each number: the call does something else, too
    (passed(5), (window(30, "g", 9, 4.1e6),), None),  # another call takes half of the time
    (passed(6, calls=20, items=1024), (), ("load", "API misuse", "multiplied by zero")),
    (passed(6, calls=19, items=1024), (), None),
    (passed(6), (window(30, "g", 9, 9.4e6),), None),
    (passed(8, calls=20, items=4096), (), ("load", "inefficient algorithm", "worked out from zeros")),
    (passed(8, calls=19, items=4096), (), None),
    (passed(9, calls=8), (), ("load", "API misuse", "taken number by number")),
    (passed(9, calls=7), (), None),
    (passed(9, call_ns=0.7e6), (), None),  # 9 ns for each number
    (passed(10, calls=12, items=32, carried=8), (), ("load", "inefficient algorithm", "read again")),
    (passed(10, calls=11, items=32), (), None),
    (passed(10, items=31), (), None),
    (passed(10, carried=59), (), None),  # in half of the choices half of the items are new
    (passed(7, items=2), (RANGE,), ("load", "slice underutilization", "looked up again")),
    (passed(7, calls=99, items=2), (RANGE,), None),
    (passed(7, items=2), (), None),  # the places are no range's
    (passed(7, items=2), (RANGE.replace(", 90, ", ", 89, "),), None),
    (passed(7, items=2, call_ns=1e6), (RANGE, window(30, "g", 9, 1e6)), None),
])
def test_what_libraries_are_handed_without_need(changed, row, beside, key):
    counted = row.split("', ")[1].split(", ")  # kind, loop, calls, items, carried, call_ns
    found = findings(changed(row, window(30, "f", counted[2], counted[5]), *beside))
    rows = [one for place, one in found.items() if place[1:] == ("waste.py", 30) and one["severity"] == "high"]
    assert [(one["kind"], one["category"], one["again"]) for one in rows] == ([key] if key else [])


@pytest.mark.parametrize("kind, part", [(5, 0.8), (7, 1)])
def test_of_numbers_of_slices_the_whole_line_is_wasted(changed, kind, part):
    call_ns = 4e6 if kind == 5 else 3e6
    more = (window(30, "g", 9, 1e6),) if kind == 5 else (RANGE,)
    found = findings(changed(passed(kind, items=2 if kind == 7 else 800, call_ns=call_ns), window(30, "f", 100, call_ns), *more))
    (row,) = [one for place, one in found.items() if place[1:] == ("waste.py", 30)]
    assert row["wasted_s"] == pytest.approx(2 * part)


def called(callee, calls, once, again, call_ns, again_ns, function_ns=2e9, line=30, compared=None, results=None):
    """At line 30 of waste.py, which takes 2 s of its function's."""
    compared, results = calls if compared is None else compared, calls - again if results is None else results
    return ("INSERT INTO called SELECT DISTINCT w.process, f.path, "
            f"{line}, '{callee}', 'work', 3, 1, {calls}, 0, {compared}, {calls - again}, {results}, {once}, 0, {again}, 0, {again}, {call_ns}, "
            f"{again_ns}, 0, 2e9, {function_ns} FROM watch w JOIN file f ON f.process = w.process AND f.path GLOB '*waste.py'")


@pytest.mark.parametrize("rows, is_found", [
    ((called("f", 100, 0, 99, 9e6, 9e6, 2.2e9),), True),
    ((called("f", 100, 0, 99, 9e6, 9e6),), False),  # a loop that does nothing else
    ((called("f", 100, 0, 99, 9e6, 9e6), called("g", 91, 91, 0, 1e5, 0)), True),  # but g() wants it
    ((called("f", 100, 0, 99, 9e6, 9e6), called("g", 90, 90, 0, 1e5, 0)), False),
    ((called("f", 100, 0, 99, 9e6, 9e6), called("g", 91, 91, 0, 9e4, 0)), False),  # which takes too little
    ((called("f", 100, 0, 99, 9e6, 9e6), called("g", 91, 90, 0, 1e5, 0)), False),  # or is not new each time
    ((called("f", 100, 0, 99, 9e6, 9e6), called("list.append", 91, 91, 0, 1e5, 0)), False),
    ((called("f", 100, 0, 99, 9e6, 9e6, 2.2e9), called("g", 0, 0, 0, 0, 0)), False),  # a call that never ended in a window
])
def test_a_loop_that_does_nothing_else_repeats_its_call_on_purpose(changed, rows, is_found):
    found = [one for place, one in findings(changed(*rows)).items() if place[1:] == ("waste.py", 30) and one["severity"] == "high"]
    assert [(one["category"], one["evidence"].startswith("of 100 calls of f that were counted, 99")) for one in found] \
        == ([(INVARIANT, True)] if is_found else [])


@pytest.mark.parametrize("what, row, is_found", [
    ("three of five long ones", called("f", 5, 0, 3, 5e6, 4e6, 2.2e9), True),
    ("two of four", called("f", 4, 0, 2, 5e6, 4e6, 2.2e9), False),
    ("shorter ones", called("f", 5, 0, 3, 4.9e6, 4e6, 2.2e9), False),
    ("known as objects", called("f", 5, 0, 3, 5e6, 4e6, 2.2e9, compared=4), False),
    ("two kinds have one result", called("f", 5, 0, 3, 5e6, 4e6, 2.2e9, results=1), False),
])
def test_few_long_calls_are_enough_where_all_is_known_by_value(changed, what, row, is_found):
    found = [one for place, one in findings(changed(row)).items() if place[1:] == ("waste.py", 30) and one["severity"] == "high"]
    assert [(one["category"], "of 5 calls of f that were counted, 3 were made before" in one["evidence"]) for one in found] \
        == ([(INVARIANT, True)] if is_found else []), what


def of_object(calls, kinds, results, alike, call_us, callee="Shop.rate"):
    """Calls of a method at line 30; its object is known as an object only."""
    return ("INSERT INTO called SELECT DISTINCT w.process, f.path, "
            f"30, '{callee}', 'work', 3, 1, {calls}, 0, 0, {kinds}, {results}, 0, 0, 0, {alike}, 0, {1e3 * calls * call_us}, "
            f"0, {900 * alike * call_us}, 2e9, 2.2e9 FROM watch w JOIN file f ON f.process = w.process AND f.path GLOB '*waste.py'")


@pytest.mark.parametrize("what, row, is_found", [
    ("each kind has one result", of_object(100, 20, 20, 80, 2), True),
    ("half of the kinds share theirs", of_object(100, 20, 10, 80, 2), True),
    ("few of the results can be read", of_object(100, 20, 9, 80, 2), False),
    ("the object changes", of_object(100, 20, 21, 80, 2), False),
    ("too few kinds", of_object(100, 7, 7, 93, 2), False),
    ("a tenth contradicts", of_object(100, 20, 20, 71, 2), False),
    ("few calls", of_object(28, 9, 9, 19, 2), False),
    ("to look it up takes as long", of_object(100, 20, 20, 80, 1.9), False),
    ("more results than a cache keeps", of_object(1000, 257, 257, 743, 2), False),
    ("it calls itself", of_object(100, 20, 20, 80, 2, "work"), False),
    ("two kinds of long calls", of_object(82, 2, 2, 80, 200), True),
    ("shorter ones", of_object(82, 2, 2, 80, 199), False),
    ("one result", of_object(82, 2, 1, 80, 200), False),
    ("one kind, such as a state that is asked for", of_object(81, 1, 1, 80, 200), False),
    ("long calls of many kinds", of_object(100, 20, 10, 80, 200), True),
])
def test_a_method_of_the_same_object_says_by_its_results_that_it_comes_again(changed, what, row, is_found):
    found = [one for place, one in findings(changed(row)).items() if place[1:] == ("waste.py", 30) and one["severity"] == "high"]
    assert [(one["category"], "of Shop.rate that were counted, 80 were made before" in one["evidence"]) for one in found] \
        == ([(REPEATED, True)] if is_found else []), what


@pytest.mark.parametrize("again_ns, is_found", [(4.9e6, True), (4.1e6, False)])
def test_a_function_that_calls_itself_for_what_it_had_worked_out(changed, again_ns, is_found):
    """Each of the two lines takes nearly all of the function's time: one has the verdict. Where what comes again is
    short, the function has kept it."""
    rows = called("work", 100, 5, 90, 9e6, again_ns), called("work", 100, 5, 90, 9e6, again_ns, line=31)
    found = [(one["line"], one["category"], one["severity"]) for one in findings(changed(*rows)).values() if one["line"] in (30, 31)]
    assert found == ([(30, "inefficient algorithm", "high")] if is_found else [])


@pytest.mark.parametrize("file, user_line", [("waste.py", 1), ("core.py", None)])
def test_what_is_called_is_part_of_the_line_that_calls(changed, file, user_line):
    """rotate() is called in line 1 only. Line 19 of it, whose calls come again too, has no verdict of its own. Line 1
    of another file, which calls a function of that name, is not where it was called."""
    counted = ("INSERT INTO called SELECT DISTINCT w.process, f.path, 1, 'rotate', '<module>', 0, 1, 100, 0, 100, 1, 1, 0, 0, 99, 0, 99, "
               f"8e8, 7.9e8, 0, 8e8, 9e9 FROM watch w JOIN file f ON f.process = w.process AND f.path GLOB '*{file}'")
    few = "UPDATE watch SET watches = 1 WHERE first_node = 219"
    found = findings(changed(few, counted, called("g", 100, 0, 99, 9e6, 9e6, 2.2e9, line=19)))
    call, inner = found["store", file, 1], found["store", "waste.py", 19]
    assert (call["severity"], inner["user_line"]) == ("high", user_line)
    if user_line:
        assert (call["first_line"], inner["severity"]) == (19, "low")


# Line 20 has no watches any more, and takes a third of the run.
UNWATCHED = ("DELETE FROM watch WHERE first_node IN (20, 220) OR second_node IN (20, 220)",
             "UPDATE sample SET native_ns = 15 * native_ns WHERE node = 220")


def test_a_line_that_takes_a_quarter_of_the_run_has_a_finding(changed):
    row = findings(changed(*UNWATCHED))["store", "waste.py", 20]
    assert (row["category"], row["severity"], row["wasted_s"]) == ("undecided", "low", 0)
    assert "of the run, and no watched access to memory of native code says more of it" in row["evidence"]


@pytest.mark.parametrize("changes", [
    (UNWATCHED[0], UNWATCHED[1].replace("15", "4")),  # less than that
    UNWATCHED[1:],  # it has another finding
    (*UNWATCHED, "DELETE FROM watch"),  # nothing was watched
])
def test_other_lines_need_evidence(changed, changes):
    for row in findings(changed(*changes)).values():
        assert "no watched access to memory of native code says more of it" not in row["evidence"]


def test_windows_say_what_the_calls_of_such_a_line_are(changed):
    row = findings(changed(*UNWATCHED, window(20, "f", 100, 1e7, compared=100, distinct=10, again=90, again_ns=9e6)))["store", "waste.py", 20]
    assert (row["category"], row["severity"]) == (INVARIANT, "high") and "of 100 calls of f that were counted, 90" in row["evidence"]


@pytest.mark.parametrize("calls, call_ns, again, factor, category", [
    (100, 1e7, 30, 30, "API misuse"),
    (99, 1e7, 30, 30, "undecided"),
    (100, 2.1e7, 30, 30, "undecided"),  # 210 us each
    (100, 1e7, 90, 30, INVARIANT),  # they come again
    (100, 1e7, 30, 0.5, None),  # Python code of the library takes less of the line
])
def test_calls_that_cost_more_than_what_they_do(changed, calls, call_ns, again, factor, category):
    """Line 15 calls Python code of a library, which makes no access that is watched."""
    found = findings(changed(
        "DELETE FROM watch WHERE first_node IN (15, 50, 215) OR second_node IN (15, 50, 215)",
        f"UPDATE sample SET python_ns = {factor} * python_ns WHERE node = 50",
        window(15, "f", calls, call_ns, compared=calls, distinct=calls - again, once=calls - again, again=again,
               again_ns=call_ns * again / calls)))
    row = found.get(("store", "waste.py", 15))
    assert (row and row["category"]) == category
    if category == "API misuse":
        assert row["severity"] == "low" and row["wasted_s_low"] == 0 and row["wasted_s"] == pytest.approx(row["cpu_s"] / 2)
        assert "of 100 calls of f that were counted, 30 were made before, and each takes 100 us" in row["evidence"]
