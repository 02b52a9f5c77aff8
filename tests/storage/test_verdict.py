# SPDX-License-Identifier: Apache-2.0
"""Which finding of a line is its verdict, and which category and severity it gets: on rows of fixture_waste.c that are
changed. Watches of line N have the first node 200 + N; the call in line 15 is that of a library, Fast-Lib."""

import os

import pytest
from conftest import changer, make, rows

LOAD, STORE = 1, 2
SAME, CHANGED = 1, 2
RETURNED, CALL = 4, 5
SEEN_BEFORE, FIRST_SEEN, ARGUMENTS, OUTER, SAMPLED = 4, 8, 16, 512, 2048
ATTRIBUTE, IN_LOOP = 6, 16
INVARIANT, REPEATED = "loop-invariant computation", "repeated native calls"


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("verdict"), 1, 2)


@pytest.fixture
def changed(waste, tmp_path):
    return changer(waste, tmp_path)


def findings(program):
    """(kind, file, line) -> finding"""
    return {(r["kind"], os.path.basename(r["file"]), r["line"]): r for r in rows(program, "top 1000 redundancy")}


def more_watches(line, watches, outcome=CHANGED, memory=None, traits=None):
    """This number of watches like those of the line that found the same."""
    memory, traits = ("memory" if memory is None else memory), ("traits" if traits is None else traits)
    return (f"INSERT INTO watch SELECT process, slice_s, kind, {outcome}, {memory}, {traits}, max(length), first_node,"
            f" second_node, own_operation, inner_operation, {watches}, {8 * watches}, {1e6 * watches},"
            f" {1e12 * watches}, {800 * watches}, {5000 * watches}, 0, 0 FROM watch WHERE first_node = {200 + line} AND outcome = {SAME}"
            " GROUP BY process")


# Line 8 gets the loads of line 7, so that it has two findings of weight.
BOTH_KINDS = "UPDATE watch SET first_node = 208 WHERE first_node = 207"


def test_a_line_is_high_once(changed):
    no_bulk_work = ("DELETE FROM watch WHERE first_node IN (207, 208) AND kind = 1"
                    " AND (outcome <> 1 OR traits & 1 OR memory = 3)")
    found = findings(changed(no_bulk_work, BOTH_KINDS))
    first, second = found["store", "waste.py", 8], found["load", "waste.py", 8]
    assert (first["category"], first["severity"]) == (INVARIANT, "high")
    assert "; also loads: API misuse, " in first["evidence"]
    assert (second["category"], second["severity"]) == ("API misuse", "low")
    assert second["evidence"].endswith("; evidence for the finding of waste.py:8, stores")
    assert second["rank"] > max(r["rank"] for r in found.values() if r["severity"] == "high")


def test_work_that_is_not_needed_comes_before_many_small_calls(changed):
    """Line 9 gets the loads of line 6. Both of its findings take the whole line."""
    found = findings(changed("UPDATE watch SET first_node = 209 WHERE first_node = 206"))
    loads, stores = found["load", "waste.py", 9], found["store", "waste.py", 9]
    assert (loads["category"], stores["category"]) == ("slice underutilization", "inefficient algorithm")
    assert (loads["severity"], stores["severity"]) == ("low", "high") and loads["wasted_s"] == stores["wasted_s"]


def test_what_a_library_does_is_evidence_for_the_line_that_led_there(waste):
    found = findings(waste)
    own, inner = found["load", "waste.py", 15], found["load", "core.py", 2]
    assert own["severity"] == "high"
    assert own["evidence"].endswith("; it happens in core.py:2 of Fast-Lib: slice underutilization")
    assert inner["severity"] == "low" and inner["evidence"].endswith("; evidence for the finding of waste.py:15, loads")


def test_a_library_s_line_is_the_verdict_where_the_own_line_has_none(changed):
    found = findings(changed(f"UPDATE watch SET own_operation = {ATTRIBUTE | IN_LOOP} WHERE first_node = 215"))
    own, inner = found["load", "waste.py", 15], found["load", "core.py", 2]
    assert (own["category"], own["severity"], inner["severity"]) == ("undecided", "low", "high")
    assert "evidence for" not in own["evidence"] + inner["evidence"]


def test_a_line_that_is_confirmed_is_high_once(changed, waste):
    file = findings(waste)["store", "waste.py", 8]["file"]
    found = findings(changed(
        BOTH_KINDS,
        "INSERT INTO counted (process, file, line, callee, is_item, is_whole, has_more, calls, raised, compared,"
        " distinct_args, distinct_results, again, alike, singles, call_ns, again_ns, alike_ns, single_ns, run_ns)"
        f" SELECT max(id), '{file}', 8, 'exp', 0, 1, 0, 1000, 0, 1000, 1, 1, 999, 0, 0, 2e9, 1.9e9, 0, 0, 3e9"
        " FROM process"))
    line = [found[kind, "waste.py", 8] for kind in ("load", "store")]
    line.sort(key=lambda row: row["rank"])
    assert [r["severity"] for r in line] == ["high", "low"]
    assert [r["verdict"] for r in line] == ["confirmed", None], "the calls were counted once"
    assert line[0]["facts"].startswith("exp: 1 000 calls") and line[0]["gain_s"] > 0
    assert (line[1]["facts"], line[1]["gain_s"]) == (None, None)


def functions(program):
    return {(r["kind"], r["function"]): r for r in rows(program, "redundancy by function")}


def test_a_function_is_high_once(waste, changed):
    """Both loads and stores of work() have lines that are high; crunch() is the library code below one of them."""
    found = functions(waste)
    assert {key for key, row in found.items() if row["severity"] == "high"} == {("load", "work"), ("store", "rotate")}
    assert found["store", "work"]["evidence"].endswith("; the function's verdict is that of its loads")
    assert found["load", "crunch"]["evidence"].endswith("; evidence for the finding of waste.py:15, loads")
    assert "verdict" not in found["load", "work"]["evidence"] + found["load", "rotate"]["evidence"]
    alone = functions(changed(f"UPDATE watch SET own_operation = {ATTRIBUTE | IN_LOOP} WHERE first_node = 215"))
    assert alone["load", "crunch"]["severity"] == "high"


# Calls of line 19, all with a result that the line had got before.
IN_A_LOOP = f"UPDATE watch SET own_operation = own_operation | {IN_LOOP} WHERE first_node = 219"


def traits(bits):
    return f"UPDATE watch SET traits = {bits} WHERE first_node = 219 AND memory = {RETURNED}"


@pytest.mark.parametrize("bits, more, category", [
    (0, [], INVARIANT),
    (ARGUMENTS, [], INVARIANT),
    (ARGUMENTS | FIRST_SEEN, [more_watches(19, 7, SAME, RETURNED, ARGUMENTS | SEEN_BEFORE)], REPEATED),
    (ARGUMENTS | FIRST_SEEN, [more_watches(19, 6, SAME, RETURNED, ARGUMENTS | SEEN_BEFORE)], INVARIANT),
    (ARGUMENTS | FIRST_SEEN, [more_watches(19, 3, CHANGED, RETURNED, ARGUMENTS | FIRST_SEEN)], REPEATED),
])
def test_calls_in_a_loop_with_ever_new_arguments_are_not_invariant(changed, bits, more, category):
    row = findings(changed(IN_A_LOOP, traits(bits), *more))["store", "waste.py", 19]
    assert (row["category"], row["severity"]) == (category, "high")
    assert ("come again" in row["evidence"]) == (category == REPEATED)


def test_what_never_comes_back_is_the_same_in_all_rounds_of_a_loop_that_begins_anew(changed):
    row = findings(changed(IN_A_LOOP, traits(ARGUMENTS | FIRST_SEEN)))["store", "waste.py", 19]
    assert (row["category"], row["severity"]) == (INVARIANT, "high")
    assert "arguments that had changed did not come back" in row["evidence"]


def test_calls_with_other_arguments_each_time_repeat_nothing(changed):
    """Two thirds of the results are the same, as far as one can tell, but no call was made again."""
    other = more_watches(19, 10, memory=CALL, traits=ARGUMENTS | FIRST_SEEN)
    row = findings(changed(other))["store", "waste.py", 19]
    assert (row["category"], row["severity"]) == ("undecided", "low")
    assert "other arguments" in row["evidence"]
    again = more_watches(19, 10, memory=CALL, traits=ARGUMENTS | FIRST_SEEN, outcome=SAME)
    row = findings(changed(again))["store", "waste.py", 19]
    assert (row["category"], row["severity"]) == (REPEATED, "high")


def test_what_a_library_looks_up_again_is_no_call_of_the_line(changed):
    """Half of the calls that the library makes for line 15 return the same: that is a finding of the library."""
    calls = (f"UPDATE watch SET kind = {STORE}, memory = {RETURNED}, inner_operation = own_operation"
             " WHERE first_node = 215")
    found = findings(changed(calls, more_watches(15, 44)))
    own, inner = found["store", "waste.py", 15], found["store", "core.py", 2]
    assert own["redundant_fraction"] == pytest.approx(45 / 89) == inner["redundant_fraction"]
    assert own["category"] == "undecided" and inner["category"] == INVARIANT
    assert (own["severity"], inner["severity"]) == ("low", "low")  # 4 % of the run
    almost_all = findings(changed(calls, more_watches(15, 2)))
    assert almost_all["store", "waste.py", 15]["category"] == INVARIANT


@pytest.mark.parametrize("same, severity", [(230, "low"), (300, "high")])
def test_a_long_run_is_judged_like_a_short_one(changed, same, severity):
    """What is 23 % of thousands of re-reads is certainly more than a fifth, but no more waste than in a short run."""
    half = f"weight_ns = {same // 2}e6, weight_sq_ns2 = {same // 2}e12, watches = {same // 2}"
    program = changed(f"UPDATE watch SET {half} WHERE first_node = 207", more_watches(7, 1000 - same),
                      "UPDATE sample SET native_ns = 1000 * native_ns WHERE node = 207")
    row = findings(program)["load", "waste.py", 7]
    assert row["redundant_fraction"] == pytest.approx(same / 1000, abs=0.01) and row["wasted_share"] > 0.05
    assert row["fraction_low"] > 0.2 and (row["category"], row["severity"]) == ("API misuse", severity)
    (work,) = [r for r in rows(program, "redundancy by function") if (r["function"], r["kind"]) == ("work", "load")]
    assert work["severity"] == severity


@pytest.mark.parametrize("library, severity", [
    ("numpy", "high"), ("Pillow", "high"), ("jaxlib", "high"), ("python", "low"), ("lxml", "low"),
    ("libsqlite3.so.0.8.6", "low"),
])
def test_only_calls_of_libraries_for_arrays_are_misused(changed, library, severity):
    """Line 15's calls read fields of objects again; none takes the place of many where the library knows no arrays."""
    program = changed(f"UPDATE module SET library = '{library}' WHERE library = 'numpy'")
    row = findings(program)["load", "waste.py", 15]
    assert (row["category"], row["severity"]) == ("API misuse", severity)
    assert ("may have no call for many" in row["evidence"]) == (severity == "low")


@pytest.mark.parametrize("length, category, severity", [(1, "API misuse", "high"), (2, "undecided", "reuse")])
def test_calls_that_end_within_30_us_are_short(changed, length, category, severity):
    """Those of torch and pandas take longer than 15 us, with the traps that measure them. Calls with as much time in
    their last 30 us as before are long."""
    row = findings(changed(f"UPDATE watch SET length = {length} WHERE first_node = 207"))["load", "waste.py", 7]
    assert (row["category"], row["severity"], row["short_share"]) == (category, severity, 2 - length)


def test_a_few_long_calls_do_not_make_short_ones_long(changed):
    """A third of the time is in calls of 1 ms: by the last 15 us of calls, two thirds are short."""
    row = findings(changed(more_watches(7, 25).replace("max(length)", "2")))["load", "waste.py", 7]
    assert row["short_share"] == pytest.approx(50 / 75)


def test_the_same_call_again_is_saved_whole(changed):
    """What was written to recycled memory differs, though the calls were the same."""
    other = more_stores(40, memory=0).replace(f", {SAME}, 0", f", {CHANGED}, 0")
    row = store(changed(other, more_stores(10, memory=CALL, traits=ARGUMENTS)))
    assert (row["category"], row["severity"]) == (INVARIANT, "high")
    assert row["wasted_s"] == pytest.approx(2.0) and row["again_s"] == pytest.approx(2.0 * 58 / 100)
    assert row["wasted_s_high"] == pytest.approx(2.4)


# --- Are equal values a coincidence? ---

WEAK, NEW_VALUE = 128, 256
BY_CHANCE = "; but few different values were equal, so this may be a coincidence"


def store(program, line=8):
    return findings(program)["store", "waste.py", line]


def more_stores(watches, **like):
    return more_watches(8, watches, SAME, **like).replace("GROUP BY", f"AND kind = {STORE} GROUP BY")


def marked(trait, line=8):
    """The equal stores of the line have this trait."""
    return f"UPDATE watch SET traits = traits | {trait} WHERE first_node = {200 + line} AND outcome = {SAME}"


def test_values_that_are_equal_by_nature_are_never_high(changed, waste):
    assert store(waste)["severity"] == "high" and BY_CHANCE not in store(waste)["evidence"]
    found = store(changed(marked(WEAK)))
    assert found["severity"] == "low" and BY_CHANCE in found["evidence"]
    assert found["redundant_fraction"] == store(waste)["redundant_fraction"]


@pytest.mark.parametrize("values, severity", [(7, "low"), (8, "high")])
def test_eight_different_values_are_evidence(changed, values, severity):
    found = store(changed(marked(WEAK), more_stores(values, traits=NEW_VALUE)))
    assert found["severity"] == severity
    assert (BY_CHANCE in found["evidence"]) == (severity == "low")


def test_the_same_arguments_are_evidence(changed):
    found = store(changed(marked(WEAK), more_stores(1, memory=CALL, traits=ARGUMENTS)))
    assert found["severity"] == "high"


@pytest.mark.parametrize("calls, severity", [(7, "low"), (8, "high")])
def test_the_same_long_arguments_are_evidence(changed, calls, severity):
    """They were looked at in part, and the results not at all, so they tell no waste by themselves."""
    found = store(changed(marked(WEAK), more_stores(calls, memory=CALL, traits=ARGUMENTS | SAMPLED | WEAK)))
    assert (found["severity"], found["category"], found["traps"]) == (severity, INVARIANT, 50)
    assert (BY_CHANCE in found["evidence"]) == (severity == "low")
    assert f"{calls} of {calls} compared calls" in found["evidence"] and "as far as these were read" in found["evidence"]


@pytest.mark.parametrize("kinds, more, severity", [(8, 12, "high"), (7, 13, "low"), (8, 11, "low")])
def test_many_different_calls_that_come_again_are_no_coincidence(changed, kinds, more, severity):
    """Their results are short, but all of 20 calls came again, and the arguments of eight differ."""
    calls = [more_stores(count, memory=CALL, traits=WEAK | ARGUMENTS | seen)
             for count, seen in ((kinds, FIRST_SEEN), (more, SEEN_BEFORE))]
    found = store(changed(marked(WEAK), *calls))
    assert found["severity"] == severity
    assert (BY_CHANCE in found["evidence"]) == (severity == "low")


@pytest.mark.parametrize("values, severity", [(17, "low"), (18, "high")])
def test_a_part_that_is_equal_is_none_if_its_values_are_few(changed, values, severity):
    """As truth values in recycled memory. 35 of 50 stores of line 9 were equal."""
    few = f"UPDATE watch SET traits = traits | {NEW_VALUE}, watches = {values} WHERE first_node = 209 AND outcome = {SAME}"
    same = f"INSERT INTO watch SELECT process, slice_s + 1, kind, outcome, memory, traits - {NEW_VALUE} + {WEAK}, length, first_node, second_node, own_operation, inner_operation, {35 - values}, bytes, weight_ns, weight_sq_ns2, length_ns, gap_ns, 0, 0 FROM watch WHERE first_node = 209 AND outcome = {SAME}"
    found = store(changed(few, same), 9)
    assert (found["category"], found["severity"]) == ("inefficient algorithm", severity)
    assert ("; but these are few different values, such as truth values" in found["evidence"]) == (severity == "low")


def test_the_length_of_a_run_is_no_evidence(changed):
    longer = f"UPDATE watch SET watches = watches * 100 WHERE first_node = 208 AND outcome = {SAME}"
    assert store(changed(marked(WEAK), longer))["severity"] == "low"


def test_results_that_are_equal_by_nature_name_no_category(changed):
    """Those of the calls in line 7, whose loads are short calls."""
    returned = more_watches(7, 40, SAME, memory=RETURNED, traits=0).replace("slice_s, kind", f"slice_s, {STORE}")
    for trait, category in ((0, INVARIANT), (WEAK, "API misuse")):
        found = findings(changed(returned, f"UPDATE watch SET traits = traits | {trait} WHERE first_node = 207 AND kind = {STORE}"))
        assert found["load", "waste.py", 7]["category"] == category, trait
