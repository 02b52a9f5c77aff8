# SPDX-License-Identifier: Apache-2.0
"""The programs of bench/detection: three sets without a common name, and marks that agree with each program's head."""
import json
import sqlite3
import subprocess
import sys
import types

import pytest
import tree

sys.path.insert(0, str(tree.ROOT / "bench" / "detection"))
import catalogue
import contexts
import count
import judge
import run

CLEAN = '"""Sums."""\n'
WASTEFUL = '"""Sums."""\nCATEGORY = "API misuse"\nKIND = "load"\nx = 1  # waste: load\n'


@pytest.mark.parametrize("name", catalogue.SETS)
def test_a_set_is_sound(name):
    programs = catalogue.programs(chosen=name)
    assert {program.is_clean for program in programs} == {False, True} or (name != "tuned" and not programs)
    assert len(programs) == len({program.name for program in programs})


@pytest.mark.parametrize("name", set(catalogue.SETS) - {"tuned"})
def test_only_chooses_within_one_set(name):
    if not catalogue.programs(chosen=name):
        pytest.skip(f"the programs of {name}/ are all in programs/, and there are no new ones yet")
    first = catalogue.programs(chosen=name)[0].name
    assert [program.name for program in catalogue.programs([first], name)] == [first]
    with pytest.raises(ValueError, match="no such program in the set tuned"):
        catalogue.programs([first])


def test_an_empty_set_is_called_so(monkeypatch, tmp_path):
    monkeypatch.setitem(catalogue.SETS, "apart", tmp_path)
    monkeypatch.setattr(sys, "argv", ["run.py", "--set", "apart"])
    with pytest.raises(SystemExit, match="^run.py: the set apart is empty: "):
        run.main()


@pytest.mark.parametrize("other", ("tuned", "unseen"))
def test_a_name_in_two_sets_is_found(tmp_path, other):
    sets = {name: tmp_path / name for name in catalogue.SETS}
    for name, folder in sets.items():
        folder.mkdir()
        (folder / "harness.py").write_text(CLEAN)
        (folder / f"clean_{name}.py").write_text(CLEAN)
    catalogue.check_names(sets)
    (sets["apart"] / f"clean_{other}.py").write_text(CLEAN)
    with pytest.raises(ValueError, match=f"in two sets: clean_{other}$"):
        catalogue.check_names(sets)


@pytest.mark.parametrize("text", [
    WASTEFUL.replace("API misuse", "another"),
    WASTEFUL.replace('KIND = "load"', 'KIND = "store"'),
    WASTEFUL.replace("  # waste: load", ""),
    CLEAN + "x = 1  # waste: load\n",
])
def test_a_program_whose_marks_do_not_agree_is_found(tmp_path, text):
    path = tmp_path / "program.py"
    for sound in (CLEAN, WASTEFUL):
        path.write_text(sound)
        catalogue.read(path)
    path.write_text(text)
    with pytest.raises(ValueError, match="do not agree"):
        catalogue.read(path)


def finding(line, **more):
    found = {"file": "/x/program.py", "line": line, "user_file": None, "user_line": None, "category": "API misuse",
             "severity": "high", "kind": "load", "wasted_s": 2.0, "wasted_share": 0.5, "wasted_s_low": 1.0,
             "wasted_s_high": 3.0, "redundant_fraction": 1.0, "rank": 1, "verdict": None, "function": "work",
             "gain_most_s": None}
    return found | more


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(WASTEFUL)
    return catalogue.read(path)


def test_a_line_below_another_one_is_a_part_of_it(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(WASTEFUL + "y = 2  # waste: load\n")
    found = [finding(4, wasted_share=0.6), finding(5, wasted_share=0.3, user_file="/x/program.py", user_line=4)]
    assert judge.judge(catalogue.read(path), found).wasted_share == 0.6
    assert judge.judge(catalogue.read(path), [found[0], finding(5, wasted_share=0.3)]).wasted_share == pytest.approx(0.9)


class Profile:
    """Line 5 is called by line 4 for 6 of 8 s, and by line 9 for 2; the run takes 10 s. Another run has the same
    lines."""

    TABLES = """
        CREATE TABLE process (id, run); CREATE TABLE x_total (run, cpu_ns); CREATE TABLE file (process, id, path);
        CREATE TABLE function (process, id, file, kind); CREATE TABLE location (process, id, function, line);
        CREATE TABLE node (process, id, parent, location, own_location); CREATE TABLE x_sample (run, process, node, cpu_ns);
        INSERT INTO process VALUES (1, 1), (2, 2); INSERT INTO x_total VALUES (1, 10e9), (2, 50e9);
        INSERT INTO file SELECT id, 7, '/x/program.py' FROM process; INSERT INTO function SELECT id, 8, 7, 1 FROM process;
        INSERT INTO location SELECT p.id, l.*, 8, l.* FROM process p, (VALUES (4), (5), (9)) l;
        INSERT INTO node SELECT p.id, n.* FROM process p, (VALUES (1, NULL, 4, 4), (2, 1, 5, 5), (3, NULL, 9, 9), (4, 3, 5, 5)) n;
        INSERT INTO x_sample VALUES (1, 1, 2, 3e9), (1, 1, 2, 3e9), (1, 1, 3, 2e9), (1, 1, 4, 2e9), (2, 2, 2, 50e9);
    """

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.row_factory = sqlite3.Row
        self.db.executescript(self.TABLES)

    def query(self, question):
        return [dict(row) for row in self.db.execute(question, {"run": 1})]

    def contexts(self, lines):
        """{node: seconds}"""
        return {row["node"]: pytest.approx(row["wasted_s"])
                for row in self.query(contexts.question(lines, "SELECT * FROM wasted_context"))}


@pytest.fixture
def profile():
    profile = Profile()
    yield profile
    profile.db.close()


def line_4(wasted_s, cpu_s=6.0):
    return finding(4, cpu_s=cpu_s, wasted_s=wasted_s, wasted_share=wasted_s / 10, wasted_s_low=0.5 * wasted_s, wasted_s_high=wasted_s + 1)


def line_5(wasted_s):
    return finding(5, cpu_s=8.0, wasted_s=wasted_s, wasted_share=wasted_s / 10, wasted_s_low=0.5 * wasted_s, wasted_s_high=wasted_s + 1)


@pytest.mark.parametrize("lines, once, by_context", [
    # all calls of line 4 come again: of line 5, what is not below line 4 is more
    ((line_4(6.0), line_5(6.4)), 6.4, {2: 6.0, 4: 0.4}),
    ((line_4(6.0), line_5(8.0)), 8.0, {2: 6.0, 4: 2.0}),
    # the waste of line 5 may be that of line 4, but no less than its own
    ((line_4(1.2), line_5(6.4)), 6.4, {2: 4.8, 4: 1.6}),
    ((line_4(5.4), line_5(1.6)), 5.4, {2: 5.4}),
    # what line 4 does itself is not shared; it has no sample
    ((line_4(1.0, 0.0), line_5(6.4)), 7.4, {2: 4.8, 4: 1.6}),
    ((line_5(6.4),), 6.4, {2: 4.8, 4: 1.6}),
])
def test_time_that_lines_share_counts_once(profile, lines, once, by_context):
    (row,) = profile.query(contexts.question(lines, "SELECT * FROM wasted_together"))
    assert (row["all_lines"], row["all_s"], row["run_s"]) == (len(lines), pytest.approx(once), 10.0)
    assert row["is_shared"] == (once < 0.99 * sum(line["wasted_s"] for line in lines))
    assert row["all_s_low"] <= row["all_s"] <= row["all_s_high"] <= row["run_s"]
    assert profile.contexts(lines) == by_context


def test_no_line_has_no_row(profile):
    question = contexts.question([line_4(6.0)], "SELECT * FROM wasted_together").replace("VALUES (1", "SELECT * FROM (VALUES (1").replace(
        "),\n", ") WHERE false),\n", 1)
    assert profile.query(question) == []


def test_time_that_true_lines_share_counts_once(tmp_path, profile):
    path = tmp_path / "program.py"
    path.write_text(WASTEFUL + "x = 2  # waste: load\n")  # lines 4 and 5
    program, found = catalogue.read(path), [line_4(6.0), line_5(6.4)]
    assert judge.judge(program, found).wasted_share == pytest.approx(1.24)
    verdict = judge.judge(program, found, contexts.Contexts(profile.query))
    # at most: all of line 4 and of what else is below line 5, each with a second more
    assert (verdict.wasted_share, verdict.wasted_interval) == (pytest.approx(0.64), (pytest.approx(0.32), pytest.approx(0.885)))


@pytest.mark.parametrize("line, other, is_path", [(4, 5, True), (5, 4, True), (9, 5, False), (4, 9, False), (4, 4, True)])
def test_lines_are_of_one_path_where_one_calls_most_of_the_other(profile, line, other, is_path):
    """All of line 4's time is line 5's, of which a quarter is below line 9; half of line 9's is its own."""
    found = contexts.Contexts(profile.query)
    assert found.are_of_one_path(("program.py", line), {("program.py", other)}) == is_path


@pytest.mark.parametrize("changes, share", [
    ({}, 0.5), ({"severity": "low"}, 0.0), ({"category": "repeated native calls"}, 0.0), ({"category": "slice underutilization"}, 0.5),
    ({"file": "/x/library.py"}, 0.0), ({"line": 9}, 0.0)])
def test_waste_is_named_on_the_call_path_too(program, profile, changes, share):
    """Line 4 is the true one; line 5 is called by it alone."""
    profile.db.execute("DELETE FROM x_sample WHERE node = 4")
    verdict = judge.judge(program, [finding(5, cpu_s=6.0) | changes], contexts.Contexts(profile.query))
    assert (verdict.path_share, verdict.rank) == (share, None)
    assert judge.is_named(verdict, 2.0) == (share > 0)
    assert not judge.is_named(verdict, 1.2), "a figure three times as large as the saving"


@pytest.mark.parametrize("category, is_right, is_defensible", [
    ("API misuse", True, True), ("slice underutilization", False, True), ("repeated native calls", False, False),
    ("undecided", False, False)])
def test_a_category_with_the_same_advice_is_defensible(program, category, is_right, is_defensible):
    verdict = judge.judge(program, [finding(4, category=category)])
    assert (verdict.is_category_right, verdict.is_category_defensible) == (is_right, is_defensible)


def test_a_bound_is_that_of_the_true_line_as_a_part_of_the_run(program):
    counted = {"verdict": "confirmed", "gain_most_s": 3.0}
    verdict = judge.judge(program, [finding(9, verdict="refuted", gain_most_s=4.0), finding(4, **counted),
                                    finding(4, kind="store", **counted)])
    assert (verdict.proof, verdict.bound_share) == ("confirmed", 0.75)
    assert judge.is_bound_kept(verdict, 4.0) and not judge.is_bound_kept(verdict, 5.0)
    assert not judge.is_bound_kept(judge.judge(program, [finding(4)]), 4.0)


def test_a_bound_is_one_of_a_function(program):
    counted = {"verdict": "confirmed", "gain_most_s": 1.0}
    found = [finding(4, **counted), finding(4, kind="store", **counted)]
    assert judge.judge(program, found).bound_share == 0.25
    assert judge.judge(program, [*found, finding(4, function="turn", **counted)]).bound_share == 0.5
    assert judge.judge(program, [finding(4, verdict="confirmed")]).bound_share is None  # none was printed
    assert judge.judge(program, [*found, finding(4, function="turn", verdict="confirmed")]).bound_share is None


def row(name, *figures, kind="call", is_compared=True):
    return count.Row(4, name, kind, count.Figures(*figures), is_compared)


@pytest.mark.parametrize("confirmed, copied, is_same", [
    (row("loads", 9, 0, 3, 3, 6), row("loads", 9, 0, 3, 3, 6), True),
    (row("loads", 9, 0, 3, 3, 6), row("loads", 9, 0, 4, 3, 6), False),
    (row("loads", 9, 0, 3, 3, 6), row("loads", 8, 0, 3, 3, 6), False),
    (row("loads", 9, 1, 3, 3, 6), row("loads", 9, 0, 3, 3, 6), False),
    (row("Frame", 9, 0, 9, 0, 0), row("Frame", 9, 0, 9, 8, 0), True),
    (row("Frame", 9, 0, 9, 1, 0), row("Frame", 9, 0, 9, 8, 0), False),
    (row("draw", 9, 0, 1, 1, 0, is_compared=False), row("draw", 9, 0, 3, 3, 6), True),
    (row("draw", 9, 0, 1, 1, 7, is_compared=False), row("draw", 9, 0, 3, 3, 6), False),
    (row("a[i]", 9, 0, 3, 3, 6, kind="item"), row("a[i]", 9, 0, 1, 3, 0, kind="item"), True),
    (row("a[i]", 9, 0, 3, 3, 6, kind="item"), row("a[i]", 9, 0, 3, 3, 6), False),
])  # fmt: skip
def test_a_figure_that_differs_is_found(program, confirmed, copied, is_same):
    pairs = count.paired([confirmed], [copied])
    assert all(count.table_row(program, *pair)[1] for pair in pairs) == is_same


def test_what_only_one_of_them_counted_is_a_difference(program):
    one = row("loads", 9, 0, 3, 3, 6)
    for pairs in count.paired([one], []), count.paired([], [one]):
        [pair] = pairs
        assert count.table_row(program, *pair)[1] is False


EVALUATED = """
x = 5
def shown(n):
    y = n
    return eval("x + y"), eval("x * n", {"x": x}, {"n": n % 2}), locals()["y"]
print([shown(n) for n in range(4)])
"""


def test_a_copy_counts_what_is_evaluated_elsewhere_and_leaves_what_means_its_place(tmp_path):
    path = tmp_path / "evaluated.py"
    path.write_text(EVALUATED)
    command = [sys.executable, tree.ROOT / "bench" / "detection" / "counted_copy.py", path, "5"]
    out, counted = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert out == "[(5, 0, 0), (6, 5, 1), (7, 0, 2), (8, 5, 3)]"
    # name, kind, calls, raised, distinct arguments, distinct results, again
    assert ["eval", "call", 4, 0, 2, 2, 2] in json.loads(counted)["5"]


def test_a_line_of_another_file_is_not_the_programs(program, tmp_path, monkeypatch):
    """The run that takes the findings has a few of its own."""
    class Runner:
        pieprof, for_pieprof, words = "pieprof", dict, lambda *_: []

        def execute(self, command, *_):
            with sqlite3.connect(command[2]) as file:
                file.execute("CREATE TABLE counted (file, line, callee, is_item, calls, raised, compared, distinct_args,"
                             " distinct_results, again, alike)")
                file.executemany("INSERT INTO counted VALUES (?, ?, ?, 0, 9, 0, 9, 3, 3, 6, 0)",
                                 [(str(program.path), 4, "loads"), ("<frozen importlib._bootstrap>", 4, "posix.stat")])
            return types.SimpleNamespace(out="{}")

    monkeypatch.setattr(count.planted, "plant", lambda *_: None)
    (tmp_path / "base").touch()
    rows, _ = count.by_confirm(Runner(), program, tmp_path / "base", tmp_path)
    assert rows == [row("loads", 9, 0, 3, 3, 6)]


def test_a_sample_is_the_first_program_and_each_third_after_it(tmp_path):
    names = [one.name for one in catalogue.programs() if one.is_clean]
    command = [sys.executable, tree.ROOT / "bench" / "detection" / "run.py", "--no-profile", "--no-fix", "--every", "3"]
    command += [word for name in names[:7] for word in ("--only", name)]
    done = subprocess.run([*command, "--json", tmp_path / "json"], capture_output=True, text=True, check=True)
    assert [one["program"] for one in json.loads((tmp_path / "json").read_text())] == names[:7:3], done.stderr
