#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What counting Python's blocks costs, and what pieprof says that it costs.

Small loops run in one process, with pieprof's hooks and without them in turn, so that all else is the same: the hooks
are taken out by PyMem_SetAllocator(), and the jumps at CPython's functions by writing what is there in a process that
does not count. "measured" is the difference of the lower quartiles of all turns, in ns for each turn of the loop.
"paused" is the same while counting pauses, as it does for slices of time where the budget is too small: a function of
the executable is called whose address nm knows. "printed" is what the profile of another process says that does nothing
but the loop: "counting", by turns. The medians of several processes.

    bench/counting.py --pieprof build/pieprof --rounds 3
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import commands

HERE = pathlib.Path(__file__).resolve().parent
OFF = ["-q", "--no-time", "--no-redundancy", "--no-copies"]
LOOPS = {  # name: (text, turns of a call)
    "three integers": ("s = 0\n  for i in range(1000, 1000 + n): s += i * i % 7", 4000),
    "floats": ("x = 0.5\n  for _ in range(n): x = 3.7 * x * (1 - x)", 4000),
    "objects": ("\n  for i in range(n): object()", 4000),
    "dictionaries that stay": ("return [{'a': [i], 'b': str(i)} for i in range(n)]", 1000),
    "blocks of 1.3 kB": ("\n  for i in range(n): bytes(1300)", 4000),
    "JSON texts of 50 records": ("\n  for i in range(n): loads(dumps(data))", 100),
    "matches": ("\n  for i in range(n): search('word 123 other 77 ' * 4)", 2000),
}
BEGIN = """import re, sys
from json import dumps, loads
search = re.compile(r'(\\w+)\\s(\\d+)').search
data = [{'id': i, 'name': f'user {i}', 'tags': ['a', 'b', str(i)], 'score': i / 7, 'nested': {'on': True}} for i in range(50)]
"""
CODE = """
import ctypes, json, sys, time
NAMES = ("PyObject_Malloc", "PyObject_Free", "PyMem_Malloc", "PyMem_Free")
PLACES = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in NAMES]
def code():
    return [ctypes.string_at(place, 5) for place in PLACES]
"""
TAKE_TURNS = CODE + """
class Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]
get, put = ctypes.pythonapi.PyMem_GetAllocator, ctypes.pythonapi.PyMem_SetAllocator
get.argtypes = put.argtypes = [ctypes.c_int, ctypes.POINTER(Allocator)]
get.restype = put.restype = None
hooks = [Allocator() for _ in range(3)]
for domain, hook in enumerate(hooks):
    get(domain, ctypes.byref(hook))
plain = [Allocator.from_address(hook.ctx) for hook in hooks]  # a hook's ctx is the allocator below it
code_plain, code_hooks = [bytes.fromhex(word) for word in sys.argv[1].split(",")], code()
MPROTECT, READ_WRITE_EXECUTE = 10, 7
libc = ctypes.CDLL(None)
pause = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.c_bool)(int(sys.argv[4], 16))
def use(allocators, code, is_paused):
    pause(False)
    for place, bytes_there in zip(PLACES, code):
        assert libc.syscall(MPROTECT, ctypes.c_long(place & ~4095), ctypes.c_long(4096), READ_WRITE_EXECUTE) == 0
        ctypes.memmove(place, bytes_there, len(bytes_there))
    for domain, allocator in enumerate(allocators):
        put(domain, ctypes.byref(allocator))
    if is_paused:
        pause(True)
WAYS = (hooks, code_hooks, False), (plain, code_plain, False), (hooks, code_hooks, True)
times = [], [], []
for turn in range(int(sys.argv[3])):
    for way in (0, 1, 2) if turn % 2 else (2, 1, 0):
        use(*WAYS[way])
        made = work(int(sys.argv[2]))
        del made
        begun = time.perf_counter_ns()
        made = work(int(sys.argv[2]))
        del made
        times[way].append(time.perf_counter_ns() - begun)
use(*WAYS[0])
print(json.dumps([sorted(taken)[len(taken) // 4] / int(sys.argv[2]) for taken in times]))
"""
ALONE = "\nfor _ in range(int(sys.argv[2])): work(int(sys.argv[1]))"
TURNS, SECONDS = 150, 0.5


def program(folder, text):
    file = pathlib.Path(folder, "program.py")
    file.write_text(text, encoding="utf-8")
    return file


def output(options, folder, more, text, *words):
    command = [options.pieprof, *OFF, *more, "-o", f"{folder}/x.db", program(folder, text), *words]
    return commands.check(subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                         env=commands.environment())).stdout


def address(options, name):
    """Of an executable that is linked to a fixed place, as those of a static libpython are."""
    symbols = subprocess.run(["nm", options.pieprof], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    return next(line.split()[0] for line in symbols if line.endswith(f" {name}"))


def one(options, folder, loop, n):
    """(plain, measured, paused, printed) ns of a turn."""
    work = f"{BEGIN}def work(n):\n  {loop}\n"
    plain_code = output(options, folder, ["--no-memory"], CODE + "\nprint(*(c.hex() for c in code()), sep=',')").strip()
    turns = output(options, folder, [], work + TAKE_TURNS, plain_code, n, TURNS, address(options, "set_paused"))
    hooks_ns, plain_ns, paused_ns = json.loads(turns)
    os.unlink(f"{folder}/x.db")
    calls = int(SECONDS * 1e9 / plain_ns / n)
    output(options, folder, [], work + ALONE, n, calls)
    query = subprocess.run([options.pieprof, "query", f"{folder}/x.db", "overhead", "--json"], check=True, text=True,
                           stdout=subprocess.PIPE)
    os.unlink(f"{folder}/x.db")
    (counting,) = (row for row in json.loads(query.stdout)["rows"] if row["collector"] == "counting")
    return plain_ns, hooks_ns - plain_ns, paused_ns - plain_ns, counting["cpu_s"] * 1e9 / calls / n


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", choices=LOOPS, help="this loop (may be repeated)")
    options = parser.parse_args()
    print("| loop | a turn without hooks, ns | measured | paused | printed |\n|---|---|---|---|---|")
    for name in options.only or LOOPS:
        with tempfile.TemporaryDirectory() as folder:
            rounds = [one(options, folder, *LOOPS[name]) for _ in range(options.rounds)]
        plain, measured, paused, printed = map(statistics.median, zip(*rounds))
        print(f"| {name} | {plain:.1f} | {measured:.1f} | {paused:.1f} | {printed:.1f} |", flush=True)


if __name__ == "__main__":
    main()
