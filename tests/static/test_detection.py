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


def test_time_that_true_lines_share_counts_once(tmp_path):
    """Line 5 is called by line 4 for 6 of 8 s, and by line 9 for 2; the run takes 10 s. Of the calls, those of line 4
    are the same again."""
    path = tmp_path / "program.py"
    path.write_text(WASTEFUL + "x = 2  # waste: load\n")  # lines 4 and 5
    nodes = [(1, None, 4, 4, 0), (2, 1, 5, 5, 6), (3, None, 9, 9, 2), (4, 3, 5, 5, 2)]
    rows = {
        contexts.NODES: [dict(zip(("id", "parent", "location", "own_location", "cpu_s"), row), process=1) for row in nodes],
        contexts.SAMPLES: [{"process": 1, "node": row[0], "cpu_ns": row[4] * 1e9} for row in nodes],
        contexts.PLACES: [{"process": 1, "id": line, "line": line, "path": f"/a/{path.name}"} for line in (4, 5, 9)],
    }
    where = contexts.Contexts(rows.get)
    found = [finding(4, cpu_s=6.0, wasted_s=6.0, wasted_share=0.6), finding(5, cpu_s=8.0, wasted_s=6.4, wasted_share=0.64)]
    program = catalogue.read(path)
    assert judge.judge(program, found).wasted_share == pytest.approx(1.24)
    assert judge.judge(program, found, where).wasted_share == pytest.approx(0.64)
    apart = [found[0], finding(5, cpu_s=8.0, wasted_s=8.0, wasted_share=0.8)]  # all of line 5: 2 s are below line 9
    assert judge.judge(program, apart, where).wasted_share == pytest.approx(0.8)
    own = [finding(4, cpu_s=0.0, wasted_s=1.0, wasted_share=0.1), found[1]]  # what line 4 does itself is not shared
    assert judge.judge(program, own, where).wasted_share == pytest.approx(0.74)


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
