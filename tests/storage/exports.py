# SPDX-License-Identifier: Apache-2.0
"""Readers of the exports: {function: cost of its own}, as the tool that a format is for, or its description, has it."""

import collections
import csv
import io
import json
import marshal
import os
import pathlib
import pstats
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(os.environ.get("PIEPROF_SOURCE") or pathlib.Path(__file__).parents[2])
SPEEDSCOPE_SCHEMA = ROOT / "web" / "node_modules" / "speedscope" / "dist" / "release" / "file-format-schema.json"
GO_PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/go/bin", "/usr/lib/go/bin"])


def plain(name):
    """A frame's name without its place."""
    return re.sub(r" \([^()]*\)$", "", name)


def summed(pairs):
    sums = collections.Counter()
    for name, cost in pairs:
        sums[name] += cost
    return {name: cost for name, cost in sums.items() if cost}


def collapsed(path):
    lines = [line.rpartition(" ") for line in path.read_text().splitlines()]
    return summed((plain(stack.split(";")[-1]), int(weight) * 1000) for stack, _, weight in lines)


def speedscope(path):
    file = json.loads(path.read_text())
    names = [plain(frame["name"]) for frame in file["shared"]["frames"]]
    return summed((names[stack[-1]], round(weight * 1e9)) for profile in file["profiles"]
                  for stack, weight in zip(profile["samples"], profile["weights"]))


def jsonschema():
    return pytest.importorskip("jsonschema", reason="there is no jsonschema here (Debian: python3-jsonschema)")


def check_speedscope(file):
    """Against the schema that speedscope itself ships."""
    validator = jsonschema().Draft7Validator
    if not SPEEDSCOPE_SCHEMA.is_file():
        pytest.skip("npm ci has not been run in web/, which brings speedscope's schema")
    validator(json.loads(SPEEDSCOPE_SCHEMA.read_text(encoding="utf-8"))).validate(file)


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "": 1e3}  # collapsed stacks have microseconds and no unit


def open_in_speedscope(paths):
    """{name of the file: {function: cost of its own}}"""
    if not shutil.which("node"):
        pytest.skip("there is no node here")
    done = subprocess.run(["node", ROOT / "web" / "test" / "speedscope.mjs", *paths], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == 77:
        pytest.skip(done.stdout.partition("SKIP ")[2].strip())
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [file for file in told if "error" in file], told
    number = re.compile(r"([\d.,]+)(ns|µs|ms|s|) ")
    costs = {file["file"]: [(plain(name), number.match(cost)) for name, _, cost in file["functions"]] for file in told}
    # callgrind has numbers without a unit: nanoseconds. Those of collapsed stacks are microseconds.
    units = {file: UNITS | {"": 1} if file.endswith(".callgrind") else UNITS for file in costs}
    return {file: summed((name, round(float(cost[1].replace(",", "")) * units[file][cost[2]])) for name, cost in rows)
            for file, rows in costs.items()}


def run_tool(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("tagfocus:")]  # how it took an option
    assert done.returncode == 0 and not complaints, done.stderr
    return done.stdout


def pprof(path, metric="cpu", *options):
    go = shutil.which("go", path=GO_PLACES)
    if not go:
        pytest.skip("there is no go here, whose pprof reads this format (Debian: golang-go)")
    text = run_tool(go, "tool", "pprof", "-top", "-nodecount=0", "-nodefraction=0", "-unit=ns", f"-sample_index={metric}",
                    *options, path)
    rows = re.findall(r"^ *([\d.]+)(?:ns)? +[\d.]+% +[\d.]+% +[\d.]+(?:ns)? +[\d.]+%  (.*)$", text.partition("cum%\n")[2], re.M)
    return summed((name.removesuffix(" (inline)"), int(float(cost))) for cost, name in rows)


def callgrind(path):
    if not shutil.which("callgrind_annotate"):
        pytest.skip("there is no callgrind_annotate here (Debian: valgrind)")
    text = run_tool("callgrind_annotate", "--threshold=100", "--show-percs=no", "--show=cpu", "--auto=no", path)
    rows = re.findall(r"^ *([\d,]+)  (.*)$", text, re.M)
    return summed((re.sub(r" \[.*", "", name.rpartition(":")[2]), int(cost.replace(",", "")))
                  for cost, name in rows if name != "PROGRAM TOTALS")


def python_pstats(path):
    stats = pstats.Stats(str(path), stream=io.StringIO())
    stats.sort_stats("cumulative").print_stats().print_callers()
    return summed((plain(name), round(seconds * 1e9)) for (_, _, name), (_, _, seconds, _, _) in stats.stats.items())


def check_trace(file):
    """The Trace Event Format: phases with what they need, and events of a thread that lie within each other."""
    assert set(file) == {"displayTimeUnit", "otherData", "traceEvents"} and file["displayTimeUnit"] == "ms"
    for event in file["traceEvents"]:
        assert event["ph"] in "XMCi" and isinstance(event["name"], str)
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        assert (event["ph"] == "M") == ("ts" not in event) and (event["ph"] == "X") == ("dur" in event)
        assert event["ph"] != "M" or event["name"] in ("process_name", "thread_name") and event["args"]["name"]
        assert event["ph"] != "C" or all(isinstance(value, int) for value in event["args"].values())


def perfetto(path):
    file = json.loads(path.read_text())
    check_trace(file)
    costs, ways = [], collections.defaultdict(list)
    for event in (event for event in file["traceEvents"] if event["ph"] == "X"):
        way = ways[event["pid"], event["tid"]]
        until = event["ts"] + event["dur"]
        start, end = round(event["ts"] * 1e3), round((event["ts"] + event["dur"]) * 1e3)
        while way and way[-1][1] <= start:
            way.pop()
        if way:
            assert way[-1][0] <= start and end <= way[-1][1]
            assert until <= way[-1][3], "as doubles"
            costs.append((way[-1][2], start - end))
        costs.append((plain(event["name"]), end - start))
        way.append((start, end, plain(event["name"]), until))
    return summed(costs)


COLUMNS = {
    "samples": {"stack", "time", "weight", "threadCPUDelta"},
    "stackTable": {"frame", "prefix", "category", "subcategory"},
    "frameTable": {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID",
                   "implementation", "line", "column"},
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"},
    "resourceTable": {"lib", "name", "host", "type"},
    "nativeSymbols": {"libIndex", "address", "name", "functionSize"},
    "markers": {"data", "name", "startTime", "endTime", "phase", "category"},
}  # fmt: skip
THREAD = {"name", "processName", "processType", "isMainThread", "pid", "tid", "pausedRanges", "processStartupTime",
          "processShutdownTime", "registerTime", "unregisterTime", "stringArray", *COLUMNS}  # fmt: skip


def check_indexes(values, limit, also=()):
    assert all(value in also or isinstance(value, int) and 0 <= value < limit for value in values)


def check_firefox_thread(thread, file):
    """Each table has its columns, all of its length, and each index an entry."""
    tables = {name: thread[name] for name in COLUMNS}
    assert set(thread) == THREAD and isinstance(thread["pid"], str)
    for name, columns in COLUMNS.items():
        table = tables[name]
        assert columns - {"threadCPUDelta"} <= set(table) - {"length", "weightType"} <= columns
        assert all(len(table[column]) == table["length"] for column in set(table) - {"length", "weightType"})
    lengths = {name: table["length"] for name, table in tables.items()}
    strings, stacks = len(thread["stringArray"]), tables["stackTable"]
    check_indexes(tables["samples"]["stack"], lengths["stackTable"], (None,))
    check_indexes(stacks["frame"], lengths["frameTable"])
    assert all(prefix is None or 0 <= prefix < at for at, prefix in enumerate(stacks["prefix"]))
    check_indexes(stacks["category"] + tables["frameTable"]["category"], len(file["meta"]["categories"]))
    check_indexes(tables["frameTable"]["func"], lengths["funcTable"])
    check_indexes(tables["funcTable"]["name"] + tables["resourceTable"]["name"] + tables["markers"]["name"], strings)
    check_indexes(tables["funcTable"]["fileName"], strings, (None,))
    check_indexes(tables["funcTable"]["resource"], lengths["resourceTable"], (-1,))
    check_indexes(tables["resourceTable"]["lib"], len(file["libs"]))
    times = tables["samples"]["time"]
    assert times == sorted(times) and tables["samples"]["weightType"] in ("tracing-ms", "bytes", "samples")
    schemas = {schema["name"] for schema in file["meta"]["markerSchema"]}
    assert all(data["type"] in schemas for data in tables["markers"]["data"])


def check_firefox(file):
    """The processed profile format of the Firefox Profiler, version 48, as its types and its changelog describe it."""
    assert set(file) == {"meta", "libs", "threads", "counters"} and file["meta"]["preprocessedProfileVersion"] == 48
    assert {"interval", "startTime", "product", "stackwalk", "version", "markerSchema", "categories"} <= set(file["meta"])
    assert [c["color"] for c in file["meta"]["categories"]].count("grey") == 1
    for thread in file["threads"]:
        check_firefox_thread(thread, file)
    for counter in file["counters"]:
        assert set(counter) == {"name", "category", "description", "pid", "mainThreadIndex", "samples"}
        assert file["threads"][counter["mainThreadIndex"]]["pid"] == counter["pid"]
        assert len(counter["samples"]["time"]) == len(counter["samples"]["count"]) == counter["samples"]["length"]


def markers(thread, kind):
    """(start, end, data) of a thread's markers of that kind, in milliseconds."""
    table = thread["markers"]
    return [marker for marker in zip(table["startTime"], table["endTime"], table["data"]) if marker[2]["type"] == kind]


def firefox(path):
    file = json.loads(path.read_text())
    check_firefox(file)
    costs = []
    for thread in file["threads"]:
        samples, stacks, frames, functions = (thread[t] for t in ("samples", "stackTable", "frameTable", "funcTable"))
        scale = 1e6 if samples["weightType"] == "tracing-ms" else 1
        for stack, weight in zip(samples["stack"], samples["weight"]):
            name = "" if stack is None else thread["stringArray"][functions["name"][frames["func"][stacks["frame"][stack]]]]
            costs.append((name, round(weight * scale)))
    return summed(costs)


def comma_separated(path):
    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))
    return summed((row["function"] or "?", round(float(row["cpu_self_s"]) * 1e9)) for row in rows)


def tree(path):
    file = json.loads(path.read_text())
    assert all(parent is None or parent < at for at, parent in enumerate(file["nodes"]["parent"]))
    assert file["nodes"]["count"] == len(file["nodes"]["parent"]) == len(file["nodes"]["frame"])
    names = [file["frames"][frame]["function"] or "?" for frame in file["nodes"]["frame"]]
    return summed(zip(names, file["self"]["cpu"], strict=True))


READERS = {"collapsed": collapsed, "speedscope": speedscope, "pprof": pprof, "callgrind": callgrind, "pstats": python_pstats,
           "perfetto": perfetto, "firefox": firefox, "csv": comma_separated, "json": tree}  # fmt: skip


def names_in(path, which):
    """All names of functions in an export, by readers that keep whatever a name has."""
    if which == "json":
        return {frame["function"] for frame in json.loads(path.read_text())["frames"]}
    if which == "csv":
        return {row["function"] for row in csv.DictReader(io.StringIO(path.read_bytes().decode(), newline=""))}
    if which == "firefox":
        return {text for thread in json.loads(path.read_text())["threads"] for text in thread["stringArray"]}
    return {name for _, _, name in marshal.loads(path.read_bytes())}
