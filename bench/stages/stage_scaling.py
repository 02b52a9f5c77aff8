# SPDX-License-Identifier: Apache-2.0
"""The stage of scaling: cost and memory over threads, processes, contexts, modules and code made by exec()."""

import functools
import pathlib
import tempfile

import measure

COLUMNS = ("python3", "pieprof off", "pieprof all governed")
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
    "contexts": """import random
draw = random.Random(1)
def a(path): return b(path[1:]) if path and path[0] else c(path[1:]) if path else sum(range(200))
def b(path): return a(path[1:]) if path and path[0] else c(path[1:]) if path else sum(range(200))
def c(path): return b(path[1:]) if path and path[0] else a(path[1:]) if path else sum(range(200))
bits = n.bit_length()
for i in range(n): a([i >> k & 1 for k in range(bits)])""",
    "modules": """import tempfile, pathlib, importlib
folder = pathlib.Path(tempfile.mkdtemp(dir="."))
sys.path.insert(0, str(folder))
for i in range(n): (folder / f"made_{i}.py").write_text(f"def f(x): return x + {i}")
importlib.invalidate_caches()
print(sum(importlib.import_module(f"made_{i}").f(1) for i in range(n)))""",
    "code": """for i in range(n):
    space = {}
    exec(f"def f_{i}(x): return x + {i}", space)
    space[f"f_{i}"](1)""",
}
# The sizes of the issue where they fit into two hours: contexts to 10 million and code to a million take longer.
SIZES = {"threads": (1, 10, 100, 500), "processes": (1, 8, 64), "contexts": (1000, 100_000, 1_000_000),
         "modules": (10, 200, 2000), "code": (1000, 30_000, 300_000)}  # fmt: skip
QUICK = {"threads": (1, 100), "processes": (1, 8), "contexts": (1000, 30_000), "modules": (10, 200), "code": (1000, 10_000)}


def one(bench, kind, size):
    names = [name for name in COLUMNS if name in bench.columns.names]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, f"{kind}.py")
        program.write_text(HEAD + TEXTS[kind] + FOOT, encoding="utf-8")
        return {"size": size, "columns": measure.rounds(bench.columns, names, [program, size], bench.of(3, 1), bench.environment)}


def steps(bench):
    sizes = QUICK if bench.is_quick else SIZES
    return {f"{kind} {size}": functools.partial(one, bench, kind, size) for kind, some in sizes.items() for size in some}
