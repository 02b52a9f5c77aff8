# SPDX-License-Identifier: Apache-2.0
"""`pieprof export`: each format is read by the tool that it is for, and has the costs that SQL has."""

import gzip
import itertools
import json
import re
import shutil
import xml.etree.ElementTree

import exports
import hypothesis
import pytest
from conftest import changer, is_one_line, make, rows
from hypothesis import strategies

HERE = "select id from run order by id desc limit 1"


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """The program of fixture_memory.c: two processes that allocate and copy."""
    return make(tmp_path_factory.mktemp("memory"), 0, 0, 1)


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("waste"), 0, 1)


def export(program, folder, which, *options):
    path = folder / f"x.{which}"
    done = program("export", "a.db", "-f", which, "-o", path, *options)
    if "was built without" in done.complaint:
        pytest.skip(done.complaint)
    assert done.returncode == 0 and done.complaint == "" and done.text == "", done.complaint
    return path


def by_function(program, value, table, node="node"):
    """{function: cost} of the innermost frames of the last run."""
    found = rows(program, f"select u.name, sum({value}) as cost from process p join {table} s on s.process = p.id "
                          f"join node n on n.process = s.process and n.id = s.{node} "
                          "join location l on l.process = n.process and l.id = n.location "
                          "join function u on u.process = l.process and u.id = l.function "
                          f"where p.run = ({HERE}) group by u.name")
    return exports.summed((row["name"] or "?", round(row["cost"] or 0)) for row in found)


CPU = "s.python_ns + s.native_ns + s.system_ns"


@pytest.mark.parametrize("which", exports.READERS)
def test_each_format_has_the_costs_of_each_function(program, memory, waste, tmp_path, which):
    for profile in program, memory, waste:
        truth = by_function(profile, CPU, "sample")
        assert exports.READERS[which](export(profile, tmp_path, which, "--all")) == truth
        total = rows(profile, f"select cpu_s from v_run where run = ({HERE})")[0]["cpu_s"]
        assert sum(truth.values()) == pytest.approx(total * 1e9, abs=1)


@pytest.mark.parametrize("metric, value, table, node, total", [
    ("wait", "s.wait_ns", "sample", "node", "sum(wait_s) * 1e9 from v_process"),
    ("native", "s.native_ns", "sample", "node", "sum(native_s) * 1e9 from v_function"),
    ("samples", "s.samples", "sample", "node", "sum(samples) from v_process"),
    ("allocated", "s.allocated_python_bytes + s.allocated_native_bytes", "allocation", "node",
     "sum(allocated_bytes) from v_memory"),
    ("live", "s.live_bytes", "allocation", "node", "sum(growth_bytes) from v_memory"),
    ("peak", "s.peak_python_bytes + s.peak_native_bytes", "allocation", "node", None),
    ("copied", "s.bytes", "copy", "node", "sum(bytes) from v_copy"),
    ("wasted", "s.wasted_ns", "x_pair", "first_node", "sum(wasted_s) * 1e9 from v_pair"),
])  # fmt: skip
def test_each_metric_has_its_costs(program, memory, waste, tmp_path, metric, value, table, node, total):
    profile = program if metric == "wait" else waste if metric == "wasted" else memory
    truth = by_function(profile, value, table, node)
    path = export(profile, tmp_path, "json", "--all", "--metric", metric)
    file = json.loads(path.read_text())
    names = [file["frames"][frame]["function"] for frame in file["nodes"]["frame"]]
    assert truth and exports.summed(zip(names, file["self"][metric], strict=True)) == truth
    if total:
        said = rows(profile, f"select {total} where run = ({HERE})")[0]
        assert sum(truth.values()) == pytest.approx(list(said.values())[0], abs=1)
    if metric == "wasted":
        assert exports.pprof(export(profile, tmp_path, "pprof", "--all", "--metric", metric), metric) == truth


def test_collapsed_and_speedscope_have_any_metric_and_frames_of_threads(program, memory, tmp_path):
    text = export(program, tmp_path, "collapsed", "--metric", "wait", "--threads").read_text()
    assert re.fullmatch(r"process 4001 \(python3 \S+/app\.py --size 10\);worker:\?\[31m \(4002\);main \(app\.py:9\) 400000\n", text)
    text = export(memory, tmp_path, "collapsed", "--metric", "copied", "--threads").read_text()
    sums = exports.summed((re.match(r"process (\d+)", line)[1], int(line.rpartition(" ")[2])) for line in text.splitlines())
    truth = rows(memory, "select p.pid, sum(c.bytes) as bytes from process p join copy c on c.process = p.id group by p.pid")
    assert sums == {str(row["pid"]): row["bytes"] for row in truth}
    file = json.loads(export(program, tmp_path, "speedscope", "--threads").read_text())
    assert [profile["name"] for profile in file["profiles"]] == ["all threads"]
    names = [frame["name"] for frame in file["shared"]["frames"]]
    assert all(names[stack[0]].startswith("process 4001 (") and names[stack[1]] == "MainThread (4001)"
               for stack in file["profiles"][0]["samples"])
    file = json.loads(export(memory, tmp_path, "speedscope", "--metric", "peak").read_text())
    assert {profile["unit"] for profile in file["profiles"]} == {"bytes"}
    assert sum(sum(profile["weights"]) for profile in file["profiles"]) == sum(
        row["peak_bytes"] for row in rows(memory, "select sum(peak_python_bytes + peak_native_bytes) as peak_bytes from allocation"))


def test_pprof_has_labels_lines_and_modules(program, tmp_path):
    path = export(program, tmp_path, "pprof")
    assert exports.pprof(path, "cpu", "-tagfocus=pid=4001:4001", "-tagfocus=thread=MainThread") == by_function(program, CPU, "sample")
    lines = exports.pprof(path, "cpu", "-lines")
    assert {name.rpartition("/")[2]: cost for name, cost in lines.items() if "app.py" in name} == {
        "app.py:5": 50_000_000, "app.py:6": 600_000_000, "app.py:10": 50_000_000}
    assert exports.pprof(path, "wait") == {"main": 400_000_000}
    assert gzip.decompress(path.read_bytes()).count(b"_native.so") == 1


def test_callgrind_has_what_calls_cost(program, tmp_path):
    if not shutil.which("callgrind_annotate"):
        pytest.skip("there is no callgrind_annotate here (Debian: valgrind)")
    text = exports.run_tool("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--show-percs=no", "--show=cpu",
                            "--auto=no", export(program, tmp_path, "callgrind"))
    costs = {re.sub(r" \[.*", "", name.rpartition(":")[2]): int(cost.replace(",", ""))
             for cost, name in re.findall(r"^ *([\d,]+)  (.*)$", text, re.M)}
    assert {name: costs[name] for name in ("<module>", "main", "work", "crunch", "sort")} == {
        "<module>": 10**9, "main": 10**9, "work": 65 * 10**7, "crunch": 3 * 10**8, "sort": 25 * 10**7}


def test_recursion_counts_once(program, tmp_path):
    """work calls main again, which calls itself: no function costs more than the run."""
    change = changer(program, tmp_path)
    copy = change("UPDATE node SET parent = 5 WHERE id = 3", "UPDATE node SET location = 2 WHERE id = 6")
    stats = exports.pstats.Stats(str(export(copy, tmp_path, "pstats")), stream=exports.io.StringIO()).stats
    totals = {key[2]: figures[3] for key, figures in stats.items()}
    assert totals["main"] == totals["<module>"] == pytest.approx(1.0)
    assert totals["work"] == pytest.approx(0.95) and max(totals.values()) == pytest.approx(1.0)


def test_firefox_has_markers_counters_and_tracks(program, memory, waste, tmp_path):
    file = json.loads(export(memory, tmp_path, "firefox", "--metric", "allocated").read_text())
    exports.check_firefox(file)
    peak, = exports.markers([thread for thread in file["threads"] if thread["pid"] == "4101"][0], "peak")
    assert peak[2] == {"type": "peak", "bytes": 456_000_000}
    counter = next(counter for counter in file["counters"] if counter["pid"] == "4101")
    truth = rows(memory, "select f.python_bytes + f.native_bytes as bytes from footprint f join process p on p.id = f.process "
                         "where p.pid = 4101 order by t_ns")
    sums = [sum(counter["samples"]["count"][: i + 1]) for i in range(counter["samples"]["length"])]
    assert sums == [row["bytes"] for row in truth] and max(sums) == 456_000_000
    file = json.loads(export(waste, tmp_path, "firefox").read_text())
    findings = rows(waste, f"select file || ':' || line as place from v_redundancy where run = ({HERE}) and severity = 'high' order by rank")
    assert findings and [data["place"] for _, _, data in exports.markers(file["threads"][0], "finding")] == [
        row["place"] for row in findings]
    file = json.loads(export(program, tmp_path, "firefox", "--metric", "wait").read_text())
    assert [(thread["name"], thread["tid"], thread["isMainThread"]) for thread in file["threads"]] == [("worker;\x1b[31m", 4002, False)]


def collected(slice_s, thread, generation, ms):
    return ("INSERT INTO related (process, slice_s, thread, node, kind, time_ns) VALUES "
            f"((SELECT max(id) FROM process), {slice_s}, {thread}, 10, {2 + generation}, {ms * 1000000})")


def test_firefox_marks_collections_of_garbage_by_thread_and_generation(program, tmp_path):
    copy = changer(program, tmp_path)(collected(0, 1, 2, 30), collected(0, 1, 0, 5), collected(1, 1, 2, 40))
    file = json.loads(export(copy, tmp_path, "firefox").read_text())
    exports.check_firefox(file)
    thread, = file["threads"]
    assert [(start, end - start, data["generation"]) for start, end, data in exports.markers(thread, "gc")] == [
        (0, 5, 0), (5, 30, 2), (1000, 40, 2)]
    file = json.loads(export(copy, tmp_path, "firefox", "--metric", "wait").read_text())
    assert [thread["tid"] for thread in file["threads"]] == [4002] and not exports.markers(file["threads"][0], "gc")


@pytest.mark.parametrize("same", [False, True])
def test_firefox_marks_phases_in_which_one_line_takes_most(program, tmp_path, same):
    """Slices with one costliest line of own code are one phase."""
    def spent(slice_s, which):
        return ("INSERT OR REPLACE INTO sample (process, slice_s, thread, node, samples, wait_samples, python_ns, native_ns, system_ns, wait_ns,"
                f" cpu_sq_ns2) SELECT process, {slice_s}, 1, id, 9, 0, 900000000, 0, 0, 0, 9e16 FROM node WHERE process ="
                f" (SELECT max(id) FROM process) AND own_location NOT NULL ORDER BY own_location {which}, id LIMIT 1")

    copy = changer(program, tmp_path)(spent(0, "ASC"), spent(1, "ASC" if same else "DESC"))
    slices = [row for row in rows(copy, "slices") if row["file"]]
    phases = [[*group] for _, group in itertools.groupby(slices, lambda row: (row["file"], row["line"]))]
    thread = json.loads(export(copy, tmp_path, "firefox").read_text())["threads"][0]
    assert [(data["place"], start, pytest.approx(end)) for start, end, data in exports.markers(thread, "phase")] == [
        (f"{group[0]['file']}:{group[0]['line']}", 1e3 * group[0]["t_s"], 1e3 * (group[-1]["t_s"] + group[-1]["wall_s"]))
        for group in phases]
    assert len(slices) == 2 and len(phases) == (1 if same else 2)


@pytest.mark.parametrize("options", [(), ("--threads",), ("--metric", "wait"), ("--metric", "allocated"), ("--all",)])
def test_speedscope_files_are_as_its_schema_says(program, memory, tmp_path, options):
    profile = memory if "allocated" in options else program
    exports.check_speedscope(json.loads(export(profile, tmp_path, "speedscope", *options).read_text()))


def test_speedscope_opens_its_own_files_and_others(program, tmp_path):
    """The program itself, in a browser: each has the costs of the functions."""
    names = {"x.speedscope.json": "speedscope", "x.txt": "collapsed", "x.pb.gz": "pprof", "x.trace.json": "perfetto",
             "x.callgrind": "callgrind"}
    files = [export(program, tmp_path, which, "--all").rename(tmp_path / name) for name, which in names.items()]
    truth = by_function(program, CPU, "sample")
    for name, found in exports.open_in_speedscope(files).items():
        assert found == {function: cost for function, cost in truth.items() if cost}, name


def test_what_the_schema_of_speedscope_forbids_is_found(program, tmp_path):
    file = json.loads(export(program, tmp_path, "speedscope").read_text())
    file["profiles"][0]["unit"] = "weeks"
    with pytest.raises(exports.jsonschema().ValidationError):
        exports.check_speedscope(file)


def test_a_trace_has_slices_counters_and_names(program, memory, tmp_path):
    events = json.loads(export(program, tmp_path, "perfetto").read_text())["traceEvents"]
    roots = [(event["ts"], round(event["dur"], 3)) for event in events if event["ph"] == "X" and event["name"].startswith("<module>")]
    assert roots == [(0, 350_000), (1_000_000, 650_000)]
    assert {event["args"]["name"] for event in events if event["name"] == "thread_name"} == {
        "MainThread (4001)", "worker;\x1b[31m (4002)"}
    events = json.loads(export(memory, tmp_path, "perfetto").read_text())["traceEvents"]
    live = [event["args"] for event in events if event["name"] == "live bytes"]
    assert max(sum(point.values()) for point in live) == 456_000_000
    assert [event["args"] for event in events if event["ph"] == "i" and event["pid"] == 4101] == [{"live bytes": 456_000_000}]


def test_events_of_a_trace_lie_within_each_other_as_doubles(program, tmp_path):
    """Also where no time is a round number, and neighbours do not meet: speedscope would begin one within the other."""
    copy = changer(program, tmp_path)("UPDATE sample SET python_ns = python_ns + 1234567 * (node + 3 * slice_s) + 1")
    path = export(copy, tmp_path, "perfetto", "--all")
    assert exports.perfetto(path) == by_function(copy, CPU, "sample")
    events = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    ends = {(event["tid"], event["ts"] + event["dur"]) for event in events}
    assert len(events) > 10 and not ends & {(event["tid"], event["ts"]) for event in events}


SVG = "{http://www.w3.org/2000/svg}"


def test_a_flame_graph_is_as_wide_as_its_costs(program, tmp_path):
    root = xml.etree.ElementTree.parse(export(program, tmp_path, "svg")).getroot()
    boxes = {group.find(f"{SVG}title").text: group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g")}
    widths = {exports.plain(title.rpartition(" (")[0]): float(box.get("width")) for title, box in boxes.items()}
    assert widths == {"<module>": 1200, "main": 1200, "work": 780, "crunch": 360, "sort": 300, "compare": 180}
    heights = [float(boxes[next(title for title in boxes if title.startswith(name))].get("y")) for name in ("<module>", "main", "work")]
    assert heights == sorted(heights)
    assert not list(root.iter(f"{SVG}script")) and "http" not in export(program, tmp_path, "svg").read_text().replace(SVG[1:-1], "")


def test_markdown_has_the_costliest_functions(program, tmp_path):
    lines = export(program, tmp_path, "md").read_text().splitlines()
    assert lines[0] == "Run 2, CPU time: 1.000 s"
    assert lines[4] == "| 0.650 s | 65.0 % | 0.650 s | `work (app.py:3)` |" and len(lines) == 10


@pytest.mark.parametrize("name, which", [
    ("x.pb.gz", "pprof"), ("x.json", "json"), ("x.speedscope.json", "speedscope"), ("x.firefox.json", "firefox"),
    ("x.trace.json", "perfetto"), ("x.callgrind", "callgrind"), ("x.pstats", "pstats"), ("x.svg", "svg"), ("x.csv", "csv"),
    ("x.MD", "md"), ("x.folded", "collapsed"),
])  # fmt: skip
def test_the_name_of_the_file_chooses_the_format(program, tmp_path, name, which):
    expected = export(program, tmp_path, which).read_bytes()
    assert program("export", "a.db", "-o", tmp_path / name).returncode == 0
    assert (tmp_path / name).read_bytes() == expected


@pytest.mark.parametrize("words, status, hint", [
    (["-f", "speedscop"], 2, "did you mean speedscope?"),
    (["-f", "svg", "--metric", "cup"], 2, "unknown metric cup; choose one of cpu,"),
    (["-f", "svg", "--metric", "allocated"], 1, "run 2 did not measure allocated bytes"),
    (["-f", "json", "--metric", "throttled"], 1, "run 2 has no time throttled by a CPU quota to export"),
    (["-f", "pstats", "--metric", "wait"], 2, "leave out --metric"),
    (["-f", "csv", "--threads"], 2, "leave out --threads"),
    (["-f", "perfetto", "--metric", "allocated"], 1, "choose --metric cpu or wait"),
    (["-f", "callgrind", "-o", "/proc/none/x"], 1, "cannot write /proc/none/x"),
])  # fmt: skip
def test_what_cannot_be_exported_is_said_in_one_line(program, words, status, hint):
    done = program("export", "a.db", *words)
    assert done.returncode == status and done.text == ""
    assert is_one_line(done.complaint) and hint in done.complaint


HOSTILE = ["</script><svg onload=alert(1)>", 'a"b,c\r\nd', "x" * 70_000, "(1) a;b|c`d\\", "\ufffe &amp; ]]>", "\x1b[31m"]


def with_names(program, folder, names):
    """A copy of the profile whose functions have these names, as bytes."""
    folder.mkdir(exist_ok=True)
    return changer(program, folder)(
        *(f"UPDATE function SET name = CAST(x'{name.hex()}' AS TEXT) WHERE id = {i + 1}" for i, name in enumerate(names)))


def test_hostile_names_survive_in_every_format(program, tmp_path):
    copy = with_names(program, tmp_path / "copy", [name.encode() for name in HOSTILE])
    for which in "json", "csv", "firefox":
        assert set(HOSTILE) <= exports.names_in(export(copy, tmp_path, which, "--all"), which)
    for which in "collapsed", "speedscope", "perfetto", "pstats", "callgrind", "pprof":
        assert sum(exports.READERS[which](export(copy, tmp_path, which, "--all")).values()) == 10**9
    root = xml.etree.ElementTree.parse(export(copy, tmp_path, "svg")).getroot()
    assert {element.tag for element in root.iter()} == {SVG + tag for tag in ("svg", "style", "rect", "text", "g", "title")}
    assert len(export(copy, tmp_path, "md").read_text().splitlines()) == 10


NAME = strategies.one_of(strategies.text(max_size=20).map(lambda text: text.encode("utf-8", "ignore")), strategies.binary(max_size=8))
NAMES = strategies.lists(NAME.map(lambda name: name.replace(b"\0", b"0")), min_size=6, max_size=6)


@hypothesis.settings(max_examples=8, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(NAMES)
def test_any_name_leaves_the_costs_as_they_are(program, tmp_path, names):
    copy = with_names(program, tmp_path / "copy", names)
    for which in "json", "csv", "firefox", "speedscope", "perfetto", "pstats":
        assert sum(exports.READERS[which](export(copy, tmp_path, which)).values()) == 10**9
    xml.etree.ElementTree.parse(export(copy, tmp_path, "svg"))
