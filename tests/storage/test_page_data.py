# SPDX-License-Identifier: Apache-2.0
"""The data of a page: as the contract with web/ says, with the numbers that questions give, and small enough whatever
the profile is. make_page has a template of its own, so no npm is needed."""

import contextlib
import json
import re
import shutil
import sqlite3
import subprocess

import large_profile
import page_contract
import pytest
from conftest import BUILD, clean_environment, make, rows

LIMIT = 3_000_000
HEAD, TAIL = '<script type="application/json">', "</script>"
QUESTIONS = {
    "findings": "redundancy", "pairs": "pairs", "functions": "hot functions", "native_functions": "native functions",
    "libraries": "libraries", "memory": "memory", "peak": "peak", "growth": "growth", "leaks": "leaks",
    "copies": "copies", "needless_copies": "needless copies", "copy_pairs": "copy pairs", "heap": "heap",
    "loops": "traced loops", "loop_calls": "traced calls", "processes": "processes", "threads": "threads",
    "waits": "wait causes", "garbage": "garbage collection", "overhead": "overhead",
    "overhead_slices": "overhead over time", "drops": "drops", "environment": "environment", "slices": "slices",
}
TREE = {"python_s": "python_ns", "native_s": "native_ns", "system_s": "system_ns", "wait_s": "wait_ns",
        "runnable_s": "runnable_ns", "throttled_s": "throttled_ns", "samples": "samples"}


def page_of(program, *template):
    done = subprocess.run([BUILD / "tests/storage/make_page", program.db, *template], capture_output=True,
                          env=clean_environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def data_of(program):
    return json.loads(page_of(program))


@pytest.fixture(scope="module", params=["time", "waste", "memory", "traced"])
def known(request, tmp_path_factory):
    """A profile of each fixture, and its page's data."""
    what = {"time": (1,), "waste": (0, 1), "memory": (0, 0, 1), "traced": (0, 0, 0, 1)}[request.param]
    program = make(tmp_path_factory.mktemp(request.param), *what)
    return program, data_of(program)


def total(column):
    return sum(column or [])


def test_the_data_is_as_the_contract_says(known):
    assert page_contract.faults(known[1]) == []


@pytest.mark.parametrize("change, fault", [
    (lambda data: data.pop("run"), "lacks ['run']"),
    (lambda data: data["run"].update(wall_s="2 s"), "data.run.wall_s: '2 s'"),
    (lambda data: data["findings"].update(more=[]), "has ['more']"),
    (lambda data: data["threads"]["name"].append("more"), "columns differ in length"),
    (lambda data: data["tree"]["nodes"]["parent"].append(None), "is no number"),
])
def test_what_is_not_as_the_contract_says_is_found(known, change, fault):
    data = json.loads(json.dumps(known[1]))
    change(data)
    assert any(fault in found for found in page_contract.faults(data))


MADE = """
import { build } from "esbuild";
const { outputFiles } = await build({ entryPoints: ["test/made.ts"], bundle: true, write: false, format: "esm" });
const { made, bare } = await import("data:text/javascript;base64," + Buffer.from(outputFiles[0].text).toString("base64"));
console.log(JSON.stringify([made(), bare()]));
"""


def test_the_data_that_tests_of_the_page_make_up_is_as_the_contract_says():
    """Else the page is tested with columns that no program writes."""
    web = page_contract.CONTRACT.parents[1]
    if not shutil.which("node") or not (web / "node_modules" / "esbuild").is_dir():
        pytest.skip("npm ci has not been run in web/")
    done = subprocess.run(["node", "--input-type=module", "-e", MADE], cwd=web, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [page_contract.faults(data) for data in json.loads(done.stdout)] == [[], []]


def test_tables_are_the_answers_to_questions(known):
    program, data = known
    for table, question in QUESTIONS.items():
        answer = rows(program, f"top all {question}" if "rank" in data[table] else question)
        columns = {name: [row[name] for row in answer] for name in (answer[0] if answer else {})}
        assert {name: data[table][name] for name in columns} == columns, table
        assert table not in data["cut"]
    run, = rows(program, "runs")
    assert {name: data["run"][name] for name in run} == run


def test_the_tree_and_its_slices_add_up_to_the_run(known):
    """Each context's cost is in one node and one cell."""
    program, data = known
    run, = rows(program, "runs")
    nodes, cells = data["tree"]["nodes"], data["time"]["cells"]
    for column, metric in TREE.items():
        factor = 1 if column == "samples" else 1e9
        assert total(nodes[metric]) == pytest.approx((run[column] or 0) * factor, abs=1), metric
        assert total(cells[metric]) == total(nodes[metric]), metric
    for metric, sql in (("allocated_bytes", "sum(allocated_python_bytes + allocated_native_bytes)"),
                        ("peak_bytes", "sum(peak_python_bytes + peak_native_bytes)"), ("live_bytes", "sum(live_bytes)")):
        row, = rows(program, f"select coalesce({sql}, 0) as total from allocation")
        assert total(nodes[metric]) == row["total"], metric
    row, = rows(program, "select coalesce(sum(bytes), 0) as total from copy")
    assert total(nodes["copied_bytes"]) == row["total"] == total(cells["copied_bytes"])


def test_what_fixes_save_is_that_of_the_summary(known):
    """By context, and not as a sum of findings: a library's line and the own line that led to it are the same waste."""
    program, data = known
    told = re.search(r"lines together: .* \(([\d.]+) s, ", program("query", "a.db", "summary").text)
    assert total(data["tree"]["nodes"]["wasted_ns"]) / 1e9 == pytest.approx(float(told[1]) if told else 0, abs=0.005)
    assert (told is not None) == any(row["severity"] == "high" for row in rows(program, "redundancy"))


def test_lines_of_which_nothing_is_decided_are_those_of_the_summary(tmp_path):
    """Line 8 has no watch, and takes a quarter of the run. Where something is high, none is named."""
    program = make(tmp_path, 0, 1)
    assert data_of(program)["undecided_lines"]["line"] == []
    with contextlib.closing(sqlite3.connect(program.db)) as file:
        file.executescript("DELETE FROM watch WHERE first_node NOT IN (210, 212, 214);"
                           "UPDATE sample SET native_ns = 200000000, python_ns = 0;"
                           "UPDATE sample SET native_ns = 2000000000 WHERE node = 208")
    lines = data_of(program)["undecided_lines"]
    ranks = [row["rank"] for row in rows(program, "redundancy") if row["line"] == 8]
    assert lines["line"] == [8] and lines["share"] == [pytest.approx(0.262, abs=0.001)] and lines["count_finding"] == [min(ranks)]
    told = " ".join(program("query", "a.db", "summary").text.split())
    assert f"waste.py:8 takes 26 % of the run, {lines['known'][0]}: count its calls with" in told and lines["what_to_do"][0] in told


def test_a_node_is_its_whole_path(known):
    """Each path of functions has the cost that the call tree has for it, where that shows it."""
    program, data = known
    tree, strings, nodes = data["tree"], data["strings"], data["tree"]["nodes"]

    def path(node):
        if node == 0:
            return ()
        function = tree["frames"]["function"][nodes["frame"][node]]
        name = tree["functions"]["name"][function]
        return (*path(nodes["parent"][node]), None if name is None else strings[name])

    costs = {}
    for node in range(1, len(nodes["parent"])):
        assert nodes["parent"][node] < node and nodes["hidden"][node] == 0
        spent = sum(total([nodes[metric][node]] if nodes[metric] else []) for metric in ("python_ns", "native_ns", "system_ns"))
        costs[path(node)] = costs.get(path(node), 0) + spent
    above = []
    for row in rows(program, "call tree"):
        above[row["depth"] - 1:] = [row["function"]]
        assert costs[tuple(above)] == pytest.approx(1e9 * row["self_s"], abs=1)


def test_slices_are_those_of_the_question(known):
    data = known[1]
    cells, slices = data["time"]["cells"], data["slices"]
    for i, number in enumerate(slices["slice"]):
        spent = sum(cells[metric][at] for metric in ("python_ns", "native_ns", "system_ns") if cells[metric]
                    for at, of in enumerate(cells["slice"]) if of == number)
        assert spent == pytest.approx(1e9 * (slices["cpu_s"][i] or 0), abs=1)
        assert slices["t_s"][i] == pytest.approx(data["time"]["first_t_s"] * 0 + (number - 1) * data["time"]["width_s"])


def test_cells_of_a_thread_are_its_time(known):
    data = known[1]
    cells, threads = data["time"]["cells"], data["threads"]
    for i, cpu_s in enumerate(threads["cpu_s"]):
        spent = sum(cells[metric][at] for metric in ("python_ns", "native_ns", "system_ns") if cells[metric]
                    for at, of in enumerate(cells["thread"]) if of == i)
        assert spent == pytest.approx(1e9 * (cpu_s or 0), abs=1)


def source_lines(data):
    """{(path, is own, line): {column: value}}"""
    source, strings = data["source"], data["strings"]
    lines, files = source["lines"], source["files"]
    return {(strings[files["path"][lines["file"][i]]], files["library"][lines["file"][i]] is None, line):
            {name: column[i] for name, column in lines.items()} for i, line in enumerate(lines["line"])}


def test_lines_of_the_source_cost_what_questions_say(known):
    program, data = known
    found = source_lines(data)
    for row in rows(program, "top all own lines"):
        line = found[row["file"], True, row["line"]]
        for column in ("python_s", "native_s", "system_s", "wait_s", "samples", "library_cpu_s"):
            assert line[column] == pytest.approx(row[column]), (row, column)
    for row in rows(program, "top all hot lines"):
        if row["library"] is not None:
            assert found[row["file"], False, row["line"]]["python_s"] == pytest.approx(row["python_s"])
    for row in rows(program, "top all own memory"):
        line = found[row["file"], True, row["line"]]
        for column, name in (("allocated_bytes",) * 2, ("peak_bytes",) * 2, ("growth_bytes",) * 2, ("copied_bytes", "copy_bytes")):
            assert line[column] == pytest.approx(row[name])
    findings = data["findings"]
    for i, severity in enumerate(findings["severity"]):
        if severity != "reuse" and findings["file"][i]:
            line = found[findings["file"][i], findings["library"][i] is None, findings["line"][i]]
            assert line["finding"] <= i and findings["line"][line["finding"]] == findings["line"][i]


def test_files_have_the_sums_of_their_lines_and_their_texts(known):
    program, data = known
    source, strings = data["source"], data["strings"]
    sums = [0.0] * len(source["files"]["path"])
    for i, file in enumerate(source["lines"]["file"]):
        sums[file] += sum(source["lines"][name][i] or 0 for name in ("python_s", "native_s", "system_s"))
    assert [cpu_s or 0 for cpu_s in source["files"]["cpu_s"]] == pytest.approx(sums)
    order = list(zip(source["lines"]["file"], source["lines"]["line"]))
    assert order == sorted(order)
    texts = {(row["file"], row["line"]): row["text"] for row in rows(program, "select file, line, text from v_source")}
    shown = {(strings[source["files"]["path"][file]], line): text for file, line, text in zip(*source["text"].values())}
    files = {strings[path] for path in source["files"]["path"]}
    assert shown == {place: text for place, text in texts.items() if place[0] in files}


HOSTILE = ["</script><script>alert(1)</script>", "<!-- <script", "\u2028\u2029", "\x01\x1b]0;x\x07", "]]>", "a" * 100_000]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A profile whose names, paths, texts and command line would end a script element."""
    program = make(tmp_path_factory.mktemp("hostile"), 1)
    with contextlib.closing(sqlite3.connect(program.db)) as file:
        for number, name in enumerate(HOSTILE):
            file.execute("UPDATE function SET name = ? WHERE id % 6 = ?", (name, number))
            file.execute("UPDATE file SET path = ? WHERE id % 6 = ?", (f"/{number}/{name}", number))
            file.execute("UPDATE source_line SET text = ? WHERE line % 6 = ?", (name, number))
            file.execute("UPDATE OR IGNORE source SET path = ? WHERE id % 6 = ?", (f"/{number}/{name}", number))
        file.execute("UPDATE process SET argv = ?", (json.dumps(HOSTILE),))
        file.execute("UPDATE thread SET name = CAST(x'ff3c2f7363726970743efe' AS TEXT)")
        file.commit()
    return program


def test_hostile_names_stay_text(hostile):
    page = page_of(hostile, HEAD, TAIL).decode("utf-8")
    assert page.startswith(HEAD) and page.endswith(TAIL)
    inner = page[len(HEAD):-len(TAIL)]
    assert "<" not in inner and "\u2028" not in inner and "\u2029" not in inner
    data = json.loads(inner)
    assert page_contract.faults(data) == []
    assert {name for name in HOSTILE if len(name) < 1000} & set(data["strings"])
    assert max(len(text) for text in data["strings"]) == 1001
    assert "\ufffd</script>\ufffd" in data["threads"]["name"]


def test_a_very_deep_call_is_shown(tmp_path):
    """Ten thousand levels: no way to the root is recursive."""
    program = make(tmp_path, 1)
    with contextlib.closing(sqlite3.connect(program.db)) as file:
        location, = file.execute("SELECT location FROM node WHERE line_location NOT NULL LIMIT 1").fetchone()
        file.executemany("INSERT INTO node (process, id, parent, location) VALUES (1, ?, ?, ?)",
                         ((1000 + i, 999 + i if i else None, location) for i in range(10_000)))
        file.execute("INSERT INTO sample (process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns,"
                     " system_ns, wait_ns, cpu_sq_ns2) VALUES (1, 0, 10999, 1, 1, 0, 5000000, 0, 0, 0, 25e12)")
        file.commit()
    data = data_of(program)
    assert page_contract.faults(data) == []
    node = data["tree"]["nodes"]["python_ns"].index(5_000_000)
    depth = 0
    while node:
        node, depth = data["tree"]["nodes"]["parent"][node], depth + 1
    assert depth == 10_000


def test_cells_of_too_many_processes_are_those_of_the_run(tmp_path):
    """300 processes with 64 slices each are more cells than there may be, of the root alone."""
    program = make(tmp_path, 1)
    with contextlib.closing(sqlite3.connect(program.db)) as file:
        for table, key in (("process", "id"), ("thread", "process"), ("file", "process"), ("function", "process"),
                           ("location", "process"), ("node", "process")):
            names = [name for _, name, *_ in file.execute(f"PRAGMA table_info({table})")]
            values = ", ".join("1000 + i" if name == key else name for name in names)
            file.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
                         f" INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} JOIN n WHERE {key} = 1")
        file.execute("WITH RECURSIVE s (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 63)"
                     " INSERT INTO sample (process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns,"
                     " system_ns, wait_ns, cpu_sq_ns2) SELECT process, i, min(id), 1, 1, 0, 1000003, 0, 0, 0, 1e12"
                     " FROM node JOIN s WHERE process > 1000 GROUP BY process, i")
        file.execute("UPDATE process SET slice_width_s = 1, ended_ns = started_ns + 64000000000,"
                     " seen_ns = started_ns + 64000000000")
        file.commit()
    data = data_of(program)
    assert page_contract.faults(data) == []
    cells, nodes = data["time"]["cells"], data["tree"]["nodes"]
    assert data["time"]["nodes"] == 1 and set(cells["node"]) == {0}
    assert set(cells["thread"]) == {-1} and set(cells["process"]) == {0} and len(cells["slice"]) == 64
    assert total(cells["python_ns"]) == total(nodes["python_ns"]) > 300 * 64 * 1_000_003 - 1


def test_long_texts_leave_room_for_the_rest(tmp_path):
    """Texts that are escaped take six times their length, and a curve may have one at each point."""
    program = make(tmp_path, 0, 0, 1)
    with contextlib.closing(sqlite3.connect(program.db)) as file:
        process, = file.execute("SELECT process FROM footprint").fetchone()
        for i in range(1500):
            at = 5000 + i
            file.execute("INSERT INTO file (process, id, path, is_own) VALUES (?, ?, ?, 1)", (process, at, f"/{i}/" + "<" * 2000))
            file.execute("INSERT INTO function (process, id, kind, name, file, first_line) VALUES (?, ?, 1, 'f', ?, 1)",
                         (process, at, at))
            file.execute("INSERT INTO location (process, id, function, line) VALUES (?, ?, ?, 1)", (process, at, at))
            file.execute("INSERT INTO node (process, id, parent, location, line_location, own_location)"
                         " VALUES (?, ?, NULL, ?, ?, ?)", (process, at, at, at, at))
            file.execute("INSERT INTO footprint (process, t_ns, python_bytes, native_bytes, node) VALUES (?, ?, 1, 1, ?)",
                         (process, at, at))
        file.commit()
    page = page_of(program, HEAD, TAIL)
    data = json.loads(page[len(HEAD):-len(TAIL)])
    assert len(page) <= LIMIT and page_contract.faults(data) == []
    assert data["cut"]["memory_timeline"]["rows_total"] > 1500 and data["tree"]["nodes"]["parent"]


CONTEXTS = 25_000
TEMPLATE = TAIL + "x" * 100_000  # one argument of a command has at most 128 kB


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """5000 files, more contexts and lines than fit, 64 slices; and the CPU time."""
    program = make(tmp_path_factory.mktemp("large"), 1)
    before, = rows(program, "runs")
    added = large_profile.enlarge(program.db, contexts=CONTEXTS)
    page = page_of(program, HEAD, TEMPLATE)
    return program, page, json.loads(page[len(HEAD):-len(TEMPLATE)]), before["cpu_s"] + added / 1e9


def test_a_large_profile_fits_and_says_what_was_cut(large):
    _, page, data, _ = large
    assert len(page) <= LIMIT and page_contract.faults(data) == []
    nodes, cut = data["tree"]["nodes"], data["cut"]
    shown = sum(hidden == 0 for hidden in nodes["hidden"])
    assert cut["tree"]["rows"] == shown and cut["tree"]["rows_total"] == shown + sum(nodes["hidden"]) > CONTEXTS
    lines, text = data["source"]["lines"], data["source"]["text"]
    assert cut["source.lines"]["rows"] == len(lines["line"]) and cut["source.text"]["rows"] == len(text["line"])
    assert cut["source.files"] == {"rows": len(data["source"]["files"]["path"]), "rows_total": 5002,
                                   "order": cut["source.files"]["order"]}


def test_a_large_profile_still_adds_up(large):
    _, _, data, cpu_s = large
    nodes, cells = data["tree"]["nodes"], data["time"]["cells"]
    for columns in (nodes, cells):
        assert sum(total(columns[metric]) for metric in ("python_ns", "native_ns", "system_ns")) == pytest.approx(1e9 * cpu_s)
    assert max(cells["node"]) < data["time"]["nodes"] <= len(nodes["parent"])
    assert set(cells["slice"]) == set(range(1, large_profile.SLICES + 1))


def test_the_most_important_rows_stay(large):
    """What was cut has less than what is there, and no line with costs lacks its text while a line without has it."""
    program, _, data, _ = large
    found = source_lines(data)
    kept = min(sum(line[name] or 0 for name in ("python_s", "native_s", "system_s")) for line in found.values())
    for row in rows(program, "top 2000 own lines"):
        assert (row["file"], True, row["line"]) in found or row["cpu_s"] <= kept + 0.02
    nodes = data["tree"]["nodes"]
    whole = [sum((nodes[metric] or [0] * len(nodes["parent"]))[i] for metric in ("python_ns", "native_ns", "system_ns"))
             for i in range(len(nodes["parent"]))]
    for i in range(len(whole) - 1, 0, -1):
        whole[nodes["parent"][i]] += whole[i]
    assert whole[0] == max(whole)
