# SPDX-License-Identifier: Apache-2.0
"""The stage of scaling: cost and memory over threads, processes, contexts, modules, code made by exec(), and time. The
extra stage "hour" is one long run, which is looked at as it goes on."""

import functools
import os
import pathlib
import subprocess
import tempfile
import time

import measure

COLUMNS = ("python3", "pieprof off", "pieprof all governed")
GOVERNED = COLUMNS[-1]
LIMIT_S = 240  # of one process
HEAD = "import sys, time\nn = int(sys.argv[1])\nbegun = time.perf_counter()\n"
FOOT = "\nprint('{\"wall_s\": %f}' % (time.perf_counter() - begun))\n"
TEXTS = {
    "threads": """import threading
def work():
    for _ in range(10): time.sleep(0.05)
all = [threading.Thread(target=work) for _ in range(n)]
for one in all: one.start()
for one in all: one.join()""",
    "processes": """import subprocess
all = [subprocess.Popen([sys.executable, "-c", "sum(range(2_000_000))"]) for _ in range(n)]
for one in all: one.wait()""",
    # n call paths, the next power of two: the calls are as many for every n.
    "contexts": """CALLS = 24
def a(depth):
    if depth: a(depth - 1); b(depth - 1)
def b(depth):
    if depth: b(depth - 1); a(depth - 1)
depth = (n - 1).bit_length() - 1
for _ in range(1 << CALLS - 1 - depth): a(depth)""",
    # In memory: a disk takes 0.1 to 0.9 s for 2000 files.
    "modules": """import tempfile, pathlib, importlib, os
made = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else ".")
folder = pathlib.Path(made.name)
sys.path.insert(0, str(folder))
for i in range(n): (folder / f"made_{i}.py").write_text(f"def f(x): return x + {i}")
importlib.invalidate_caches()
print(sum(importlib.import_module(f"made_{i}").f(1) for i in range(n)))""",
    "code": """for i in range(n):
    space = {}
    exec(f"def f_{i}(x): return x + {i}", space)
    space[f"f_{i}"](1)""",
    # Some n seconds of objects, texts and numbers.
    "seconds": """import json
data = [{"id": i, "name": f"user {i}", "score": i / 7} for i in range(400)]
for _ in range(n * 700): again = json.loads(json.dumps(data))""",
}
SIZES = {"threads": (1, 10, 100, 500), "processes": (1, 8, 64), "contexts": (10**3, 10**5, 10**6, 10**7), "modules": (10, 200, 2000),
         "code": (10**3, 10**5, 10**6), "seconds": (1, 10, 60)}  # fmt: skip
QUICK = {"threads": (1, 100, 500), "processes": (1, 8, 64), "contexts": (10**3, 10**7), "modules": (10, 200, 2000),
         "code": (10**3, 10**5), "seconds": (1, 6)}  # fmt: skip
TRIAL = {"threads": (1, 20), "processes": (1, 4), "contexts": (10**3,), "modules": (10, 30), "code": (10, 1000), "seconds": (1,)}


def program_of(folder, kind):
    program = pathlib.Path(folder, f"{kind}.py")
    program.write_text(HEAD + TEXTS[kind] + FOOT, encoding="utf-8")
    return program


def one(bench, kind, size):
    names = [name for name in COLUMNS if name in bench.columns.names]
    with tempfile.TemporaryDirectory() as folder:
        program = program_of(folder, kind)
        return {"size": size, "columns": measure.rounds(bench.columns, names, [program, size], bench.of(3, 2, 1), bench.environment,
                                                        limit_s=bench.limit_s(LIMIT_S, LIMIT_S), budget=bench.budget)}  # fmt: skip


def steps(bench):
    sizes = bench.of(SIZES, QUICK, TRIAL)
    return {f"{kind} {size}": functools.partial(one, bench, kind, size) for kind, some in sizes.items() for size in some}


def state(pid, profile):
    """(CPU s, resident MB, MB of the file and of what belongs to it) of a living process."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    ticks, pages = int(words[11]) + int(words[12]), int(words[21])
    written = sum(path.stat().st_size for path in profile.parent.glob(f"{profile.name}*"))
    return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1e6, written / 1e6


def long_run(bench, minutes, looks):
    """[{"s", "cpu_s", "rss_mb", "file_mb"}] of one governed run that is ended after some minutes."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        program, profile = program_of(folder, "seconds"), pathlib.Path(folder, "profile.db")
        words = [*bench.columns.command(GOVERNED, profile.with_suffix(""), program), program, 10**6]
        begun = time.monotonic()
        process = subprocess.Popen([str(word) for word in words], env=bench.environment, stdout=subprocess.DEVNULL)
        try:
            for number in range(1, looks + 1):
                time.sleep(max(0.0, begun + 60 * minutes * number / looks - time.monotonic()))
                cpu_s, rss_mb, file_mb = state(process.pid, profile)
                found.append({"s": time.monotonic() - begun, "cpu_s": cpu_s, "rss_mb": rss_mb, "file_mb": file_mb})
        finally:
            process.kill()
            process.wait()
    return found


def hour_steps(bench):
    return {"an hour": functools.partial(long_run, bench, bench.of(60, 0.5), bench.of(60, 6))}
