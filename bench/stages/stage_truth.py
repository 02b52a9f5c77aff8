# SPDX-License-Identifier: Apache-2.0
"""The stage of truth: what is known of a program beside what each profiler says of it. What pieprof says comes from
samples, so a short run is repeated, and its row has all that was said beside the mean."""

import functools
import json
import pathlib
import pstats
import re
import statistics
import subprocess
import tempfile

import columns
import measure

OFF = "pieprof off"
SHARES, QUICK_SHARES = (5, 25, 50, 75, 95), (25, 75)
BIAS_ROUNDS, LEAK_ROUNDS = (15, 3, 1), (60, 9, 1)  # of the whole form, the quick one and a trial
BLOCK = 512 * 2**20
MEMORY = "data = bytearray(512 * 2**20)\nprint('{\"wall_s\": 0}')\n"
LEAK = """kept = []
def leaks():
    kept.append(bytearray(1 << 20))
def clean():
    return len(bytearray(1 << 20))
for _ in range(64):
    leaks()
    clean()
print('{"wall_s": 0}')
"""
SPLIT = """import hashlib, sys, time
def python(s):
    end, x = time.process_time() + s, 1
    while time.process_time() < end:
        for _ in range(20_000): x = (x * 75 + 74) % 65537
def native(s):
    end = time.process_time() + s
    while time.process_time() < end: hashlib.sha256(bytes(20_000_000)).digest()
seconds = float(sys.argv[1])
python(seconds / 2), native(seconds / 2)
print('{"wall_s": 0}')
"""
# Two functions that do equal work, one through a helper (Scalene, section 6.2), in chunks that alternate. The number of
# chunks is fixed, so a profiler that slows calls down shifts the shares.
BIAS = """import json, sys, time
calls, direct = int(sys.argv[1]), int(sys.argv[2])
def helper(x):
    return (x * 75 + 74) % 65537
def calling():
    x = 1
    for _ in range(100_000): x = helper(x)
def inlined():
    x = 1
    for _ in range(100_000): x = (x * 75 + 74) % 65537
spent = {calling: 0.0, inlined: 0.0}
for i in range(calls + direct):
    work = calling if (i + 1) * calls // (calls + direct) > i * calls // (calls + direct) else inlined
    begun = time.thread_time()
    work()
    spent[work] += time.thread_time() - begun
print(json.dumps({"share": spent[calling] / sum(spent.values())}))
"""
FUNCTIONS = ("helper", "calling", "inlined")


def asked(bench, profile, question):
    done = subprocess.run([bench.columns.pieprof, "query", profile, question, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["rows"]


def of_pieprof(bench, profile):
    rows = asked(bench, profile, "all functions")
    return {row["function"]: row["cpu_s"] for row in rows if row["function"] in FUNCTIONS}


def of_cprofile(_, profile):
    """Its own time of each function."""
    found = pstats.Stats(str(profile)).stats
    return {name: row[2] for (_, _, name), row in found.items() if name in FUNCTIONS}


def of_stacks(text):
    """Stacks in lines, "frame;frame;frame number", of py-spy and austin: by the innermost known function."""
    sums = {}
    for line in text.splitlines():
        stack, _, number = line.rpartition(" ")
        known = [name for frame in stack.split(";") for name in FUNCTIONS if re.search(rf"\b{name}\b", frame)]
        if known and number.lstrip("-").isdigit():
            sums[known[-1]] = sums.get(known[-1], 0) + int(number)
    return sums


def of_stack_file(_, profile):
    return of_stacks(profile.read_text(encoding="utf-8", errors="replace"))


def share(seconds):
    """The calling function's, with its helper."""
    calling = seconds.get("calling", 0) + seconds.get("helper", 0)
    return calling / (calling + seconds.get("inlined", 0)) if calling else None


# column: (suffix of its file, how to read it)
READERS = {"pieprof all governed": (".db", of_pieprof), "pieprof all fixed": (".db", of_pieprof), "cProfile": ("", of_cprofile),
           "py-spy": ("", of_stack_file), "austin": ("", of_stack_file)}  # fmt: skip


def one_share(bench, name, folder, words):
    """(what the program measured of itself, what the column's file says) of one run, None for what is not there."""
    out = pathlib.Path(folder, "profile")
    command = [*bench.columns.command(name, out, words[0]), *words]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=bench.environment, cwd=folder,
                          check=False)  # fmt: skip
    printed = measure.last_figures(done.stdout, "share")
    suffix, read = READERS.get(name, ("", None))
    file = out.with_name(out.name + suffix)
    return printed and printed["share"], share(read(bench, file)) if read and file.exists() else None


def said(points):
    """A row of several runs: the mean, since a bias is one of the mean, and each."""
    return {"points": statistics.fmean(points), "each": points}


def one_bias(bench, folder, words, names):
    """{column: told less true, in points, or None} of one round."""
    true = {name: one_share(bench, name, folder, words)[0] for name in {OFF if name in columns.PIEPROF else columns.BASELINE for name in names}}
    found = {}
    for name in names:
        told, base = one_share(bench, name, folder, words)[1], true[OFF if name in columns.PIEPROF else columns.BASELINE]
        found[name] = 100 * (told - base) if told and base else None
        for path in pathlib.Path(folder).glob("profile*"):
            path.unlink()
    return found


def function_bias(bench, percent):
    """{column: told less true, in points}. True is the share without a profiler: of pieprof's interpreter for pieprof,
    of python3 for peers. percent is that of the chunks. Peers have one round."""
    chunks = bench.of(300, 150, 20)
    names = [name for name in bench.columns.names if name in READERS]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program.py")
        program.write_text(BIAS, encoding="utf-8")
        words = [program, chunks * percent // 100, chunks - chunks * percent // 100]
        rounds = [one_bias(bench, folder, words, names)]
        ours = [name for name in names if name in columns.PIEPROF]
        rounds += [one_bias(bench, folder, words, ours) for _ in range(bench.of(*BIAS_ROUNDS) - 1)]
    found = {}
    for name in names:
        points = [one[name] for one in rounds if one.get(name) is not None]
        found[name] = said(points) if points else {"failed": "has no share of the function"}
    return found


def profiled(bench, text, arguments, read):
    """What read says of a pieprof profile of the text."""
    with tempfile.TemporaryDirectory() as folder:
        program, profile = pathlib.Path(folder, "program.py"), pathlib.Path(folder, "p.db")
        program.write_text(text, encoding="utf-8")
        subprocess.run([bench.columns.pieprof, "-q", "-o", profile, program, *arguments], env=bench.environment, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        return read(profile)


def split(bench):
    """Half of the time in Python, half in native code."""
    def read(profile):
        row = asked(bench, profile, "summary")[0]
        return {"pieprof all governed": {"points": 100 * row["python_s"] / (row["python_s"] + row["native_s"] + row["system_s"]) - 50}}
    return profiled(bench, SPLIT, [str(bench.of(4, 2))], read)


def memory(bench):
    """One block of 512 MB at one line."""
    def read(profile):
        row = asked(bench, profile, "memory")[0]
        return {"pieprof all governed": {"points": 100 * (row["peak_bytes"] / BLOCK - 1)}}
    return profiled(bench, MEMORY, [], read)


def leaks(bench):
    """64 MB kept at line 3, as much freed at line 5: the growth that each line is said to have, in points of 64 MB. A
    run takes some 20 ms, in which few of the blocks are sampled."""
    def read(profile):
        grown = {row["line"]: row["growth_bytes"] for row in asked(bench, profile, "all memory")}
        return 100 * (grown.get(3, 0) / 2**26 - 1), 100 * grown.get(5, 0) / 2**26

    rounds = [profiled(bench, LEAK, [], read) for _ in range(bench.of(*LEAK_ROUNDS))]
    clean = statistics.fmean(points for _, points in rounds)
    return {"pieprof all governed": {**said([points for points, _ in rounds]), "clean_points": clean}}


def steps(bench):
    shares = bench.of(SHARES, QUICK_SHARES, QUICK_SHARES[:1])
    found = {f"function bias, {percent} %": functools.partial(function_bias, bench, percent) for percent in shares}
    return {**found, "split": functools.partial(split, bench), "512 MB": functools.partial(memory, bench),
            "leaks": functools.partial(leaks, bench)}  # fmt: skip
