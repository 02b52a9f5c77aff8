# SPDX-License-Identifier: Apache-2.0
"""`pieprof report`, `runs` and `export` on the known profile of fixture.c."""

import contextlib
import json
import re
import sqlite3

import pytest
from conftest import clean_environment, is_one_line, make


def test_the_report_shows_each_line_with_its_cost(program):
    done = program("report", "a.db")
    assert done.returncode == 0 and done.complaint == ""
    lines = done.text.split("app.py  ")[1].splitlines()
    costs = {line.split("  ")[-1].strip(): line for line in lines}
    assert re.match(r" +0\.600 +60\.0 % +100 % +0 % +0 % +0\.00 +6  +total", next(line for line in lines if "total +=" in line))
    assert re.match(r" +0\.300 +30\.0 % +17 % +58 % +25 %", next(line for line in lines if "fastlib.crunch" in line))
    assert "Fast-Lib 0.30 s" in done.text
    assert "return total" in costs and not re.match(r" *\d\.\d", costs["return total"])
    assert [line for line in lines if line.endswith("  Fast-Lib")]
    assert "core.py" not in done.text


def test_all_unfolds_the_libraries(program):
    text = program("report", "a.db", "--all").text
    assert "core.py  Fast-Lib, 0.300 s" in text and "return _native.sort(xs)" in text


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    """The program of fixture_waste.c, whose lines have a finding of each kind."""
    return make(tmp_path_factory.mktemp("waste"), 1, 1)


def findings_of(waste):
    return json.loads(waste("query", "a.db", "all redundancy", "--json").text)["rows"]


def unwrapped(text):
    """Findings one to a line: what is broken over lines goes on behind blanks."""
    return re.sub(r"\n +", " ", text)


LOW_SHOWN = 5


def test_the_report_tells_findings_high_ones_first(waste):
    text = waste("report", "a.db").text
    high, low = text.split("\nRedundant loads and stores")[1:]
    told = [re.findall(r"^\d+\. (\S+?):(\d+)", part, re.M) for part in (high, low.split("\nsrc/waste.py  ")[0])]
    for severity, places in zip(("high", "low"), told):
        expected = [(row["file"], str(row["line"])) for row in findings_of(waste) if row["severity"] == severity]
        expected = expected[:LOW_SHOWN] if severity == "low" else expected
        assert places == [(file.removeprefix(f"{waste.folder}/"), line) for file, line in expected] and places


def test_each_finding_has_its_figures_evidence_and_advice(waste):
    text = unwrapped(waste("report", "a.db").text)
    low = 0
    for row in findings_of(waste):
        low += row["severity"] == "low"
        if row["severity"] == "reuse" or low > LOW_SHOWN:
            assert row["evidence"] not in text
            continue
        figures = f'{row["wasted_s"]:.2f} s ({row["wasted_s_low"]:.2f} to {row["wasted_s_high"]:.2f}), {100 * row["wasted_share"]:.1f} % of'
        block = next(part for part in re.split(r"\n(?=\d+\. |\n)", text) if row["evidence"] in part and figures in part)
        assert row["advice"] in block and row["category"] in block
        assert f'of the {row["kind"]}s redundant ({row["traps"]} trap' in block and "taskclock" in block
        is_pair_of_two = (row["first_file"], row["first_line"]) != (row["file"], row["line"])
        assert ("paired with" in block) == is_pair_of_two
    assert "paired with src/waste.py:6: total += a[i]" in text


def test_lines_with_a_high_finding_are_marked(waste, tmp_path):
    """A library's line is, where the line that led there has no finding of weight itself."""
    text = waste("report", "a.db", "--all").text
    marked = {int(line) for line in re.findall(r"^[ \d.%-]*? (\d+)! ", text, re.M)}
    high = [row for row in findings_of(waste) if row["severity"] == "high"]
    assert marked == {row["line"] for row in high} and 6 in marked and 10 not in marked
    assert "2      return [x for x in xs]" in text and not any(row["library"] for row in high)
    db = tmp_path / "a.db"
    db.write_bytes(waste.db.read_bytes())
    with contextlib.closing(sqlite3.connect(db)) as file:  # the own line is at an attribute in a loop: undecided
        file.execute("UPDATE watch SET own_operation = 22 WHERE first_node = 215")
        file.commit()
    assert "2!     return [x for x in xs]" in waste("report", db, "--all").text


def test_of_the_low_ones_a_few_are_enough(waste, tmp_path):
    db = tmp_path / "a.db"
    db.write_bytes(waste.db.read_bytes())
    with contextlib.closing(sqlite3.connect(db)) as file:  # one line so costly that no other has weight
        file.execute("UPDATE sample SET native_ns = native_ns * 1000 WHERE node = (SELECT max(node) FROM sample)")
        file.commit()
    short, long = (waste("report", db, *words).text for words in ((), ("--all",)))
    assert len(re.findall(r"^\d+\. ", long, re.M)) > len(re.findall(r"^\d+\. ", short, re.M)) >= 5
    assert re.search(r"^\d more: --all shows them$", short, re.M) and "more: --all" not in long


def test_a_report_without_findings_says_nothing_of_them(program):
    assert "edundant" not in program("report", "a.db").text


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_findings_keep_to_the_width_of_the_terminal(waste, columns):
    env = clean_environment(COLUMNS=str(columns))
    for question in "redundancy", "redundant loads", "all redundant stores", "redundancy by function":
        lines = waste("query", "a.db", question, env=env).text.splitlines()
        assert max(map(len, lines)) <= columns and any("try  " in line for line in lines)
    findings = waste("report", "a.db", env=env).text.split("\nsrc/waste.py  ")[0].splitlines()
    assert max(map(len, findings[2:])) <= columns


def test_a_table_of_findings_has_what_matters(waste):
    done = waste("query", "a.db", "redundant loads", env=clean_environment(COLUMNS="120"))
    head, *rest = done.text.split("\n\n")[0].splitlines()
    assert head.split() == ["#", "severity", "wasted", "s", "redundant", "line", "category"]
    asked = [row for row in findings_of(waste) if row["kind"] == "load"]
    assert len(rest) == len(asked)
    for line, row in zip(rest, asked):
        severity, share, seconds, place = re.match(r" *\d+ (\w+) +([\d.]+) % +([\d.]+) +\d+ ± \d+ % (\S+)", line).groups()
        assert severity == row["severity"] and share == f'{100 * row["wasted_share"]:.1f}'
        assert seconds == f'{row["wasted_s"]:.3f}' and place == f'{row["file"].removeprefix(str(waste.folder) + "/")}:{row["line"]}'
        assert line.endswith(row["category"])
    assert "kind" in waste("query", "a.db", "redundancy").text.splitlines()[0]


def test_the_first_findings_are_printed_in_full(waste):
    told = re.findall(r"^(\d+)\. (\S+)", waste("query", "a.db", "redundancy").text, re.M)
    assert [number for number, _ in told] == ["1", "2", "3", "4", "5"]
    told = re.findall(r"^\d+\. (\S+)", waste("query", "a.db", "top 2 redundancy").text, re.M)
    assert told == ["src/waste.py:6", "src/waste.py:8"]
    everything = unwrapped(waste("query", "a.db", "top 20 redundancy").text)
    for row in findings_of(waste):
        assert (row["evidence"] in everything) == (row["severity"] != "reuse")


def test_functions_name_their_worst_line(waste):
    text = waste("query", "a.db", "redundancy by function").text
    assert "function" in text.splitlines()[0]
    assert re.search(r"^\d+\. src/waste.py:18 in rotate\n   worst line  19: return np.array", text, re.M)


def test_a_pair_is_reported_with_both_paths(waste):
    text = waste("query", "a.db", "pairs of waste.py:7", env=clean_environment(COLUMNS="100")).text
    first = text.split("\n\n")[0].splitlines()
    assert first.pop(0) == "In file waste.py:7"
    assert first[0] == "1. src/waste.py:7 in work" and first[1] == "   total += np.cos(b)"
    assert re.match(r"wasted +0\.\d\d s, \d\.\d % of the run, looked up again; 100 ± \d+ % of the loads redundant \(40 traps, taskclock\)", " ".join(map(str.strip, first[2:4])))
    rules = [i for i, line in enumerate(first) if line.startswith("   ----- ")]
    assert "first load" in first[rules[0]] and "second load" in first[rules[1]]
    one, other = first[rules[0] + 1 : rules[1]], first[rules[1] + 1 :]
    assert [line.split()[0] for line in one][:4] == ["check_bounds", "get_pointer", "view_item", "ufunc_generic_vectorcall"]
    assert all("numpy" in line for line in one[:4]) and re.search(r"0x[0-9a-f]+$", one[0])
    assert re.fullmatch(r"   total \+= np\.cos\(b\) +src/waste\.py:7", one[4])
    assert re.fullmatch(r"   return np\.array\(\[np\.cos\(angle\), np\.sin\(angle\)\]\) +src/waste\.py:19", other[4])
    assert one[5].split() == other[5].split() == "import numpy as np src/waste.py:1".split() and len(one) == len(other) == 6


def test_five_pairs_are_shown_unless_more_are_asked_for(waste):
    few = waste("query", "a.db", "pairs in waste.py").text
    assert len(re.findall(r"^\d+\. ", few, re.M)) == 5 and re.search(r'^5 of \d+: "top all pairs in waste.py" tells the rest$', few, re.M)
    every = waste("query", "a.db", "all pairs in waste.py").text
    assert len(re.findall(r"^\d+\. ", every, re.M)) == len(json.loads(waste("query", "a.db", "all pairs in waste.py", "--json").text)["rows"])
    assert waste("query", "a.db", "pairs of waste.py:17").text == "nothing found in waste.py:17\n"


def test_paths_are_arrays_in_json_and_text_in_csv(waste):
    for row in json.loads(waste("query", "a.db", "pairs", "--json").text)["rows"]:
        for path in row["first_path"], row["second_path"]:
            assert path[0]["function"] == "<module>" and path[0]["kind"] == "python"
            assert all(set(frame) == {"kind", "function", "file", "line", "library", "offset"} for frame in path)
    rows = json.loads(waste("query", "a.db", """select '[1]' as a_path, '[1' as b_path, '{"a": 1}' as c_path, '[1]' as d""",
                            "--json").text)["rows"]
    assert rows == [{"a_path": [1], "b_path": "[1", "c_path": '{"a": 1}', "d": "[1]"}]
    assert '"[{""kind' in waste("query", "a.db", "top 1 pairs", "--csv").text


def test_the_report_of_an_older_run(program):
    assert program("report", "a.db", "--run", "1").text.startswith("Run 1: ")
    assert program("report", "a.db").text.startswith("Run 2: ")
    assert program("report", "a.db", "--run", "7").returncode == 1


def test_runs_lists_the_runs(program):
    done = program("runs", "a.db", "--json")
    assert [row["run"] for row in json.loads(done.text)["rows"]] == [1, 2]
    assert program("runs", "a.db", "b.db").returncode == 2


COLLAPSED = {
    "<module> (app.py:1);main (app.py:9)": 50000,
    "<module> (app.py:1);main (app.py:9);work (app.py:3)": 650000,
    "<module> (app.py:1);main (app.py:9);crunch (core.py:1)": 50000,
    "<module> (app.py:1);main (app.py:9);crunch (core.py:1);sort (_native.so)": 100000,
    "<module> (app.py:1);main (app.py:9);crunch (core.py:1);sort (_native.so);compare (_native.so)": 150000,
}


def test_collapsed_has_each_stack_once_in_microseconds(program):
    done = program("export", "a.db", "-f", "collapsed")
    stacks = [line.rpartition(" ") for line in done.text.splitlines()]
    assert {stack: int(weight) for stack, _, weight in stacks} == COLLAPSED
    assert len(stacks) == len(COLLAPSED)


def check_speedscope(file):
    """What https://www.speedscope.app/file-format-schema.json requires of sampled profiles."""
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(file) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    for frame in file["shared"]["frames"]:
        assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}
        assert isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 1), int)
    for profile in file["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert profile["type"] == "sampled" and profile["unit"] == "seconds" and profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"]) > 0
        assert sum(profile["weights"]) == pytest.approx(profile["endValue"])
        for stack in profile["samples"]:
            assert stack and all(0 <= frame < len(file["shared"]["frames"]) for frame in stack)


def test_speedscope_is_one_profile_for_each_thread_with_cpu_time(program, tmp_path):
    out = tmp_path / "x.speedscope.json"
    assert program("export", "a.db", "-o", out).returncode == 0
    file = json.loads(out.read_text())
    check_speedscope(file)
    assert [profile["name"] for profile in file["profiles"]] == ["MainThread (process 4001, thread 4001)"]
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    stacks = {";".join(frames[i] for i in stack): round(weight * 1e6)
              for stack, weight in zip(file["profiles"][0]["samples"], file["profiles"][0]["weights"])}
    assert stacks == COLLAPSED


@pytest.mark.parametrize("words, status, hint", [
    (["a.db"], 2, "collapsed, speedscope"),
    (["a.db", "-f", "pdf"], 2, "collapsed, speedscope"),
    (["a.db", "-o", "x.pdf"], 2, "collapsed, speedscope"),
    (["a.db", "-f", "collapsed", "-o", "a.db"], 1, "itself"),
    (["a.db", "-f", "collapsed", "-o", "no/such/x.txt"], 1, "no/such"),
    (["a.db", "-f", "collapsed", "--run", "9"], 1, "1 to 2"),
    (["a.db", "-f"], 2, "usage"),
    (["no.db", "-f", "collapsed"], 1, "no.db"),
])
def test_what_is_wrong_with_an_export_is_said_in_one_line(program, words, status, hint):
    done = program("export", *words)
    assert done.returncode == status and done.text == ""
    assert is_one_line(done.complaint) and hint in done.complaint


def test_a_failed_export_leaves_the_old_file(program, tmp_path):
    out = tmp_path / "x.txt"
    out.write_text("old")
    empty = tmp_path / "empty.db"
    empty.write_bytes(program.db.read_bytes())
    with contextlib.closing(sqlite3.connect(empty)) as file:
        file.execute("DELETE FROM sample")
        file.execute("DELETE FROM packed")
        file.commit()
    assert program("export", empty, "-f", "collapsed", "-o", out).returncode == 1
    assert out.read_text() == "old" and list(tmp_path.glob("x.txt.*")) == []
