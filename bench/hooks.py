#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the hooks of memory and copies cost in instructions, as callgrind counts them: on each call of malloc() and
free(), of memcpy() and of Python's small blocks, and on whole programs that allocate all the time. Each figure is the
difference of a longer and a shorter run of the same kind, so start-up is in none.

Of a program the main thread counts, less what its samples of memory and copies take: these come at a rate of the wall
clock, and under callgrind everything else is some fifty times slower.

    bench/hooks.py --pieprof build/pieprof
    bench/hooks.py --part programs --only asyncio_pingpong
"""

import argparse
import pathlib
import sys
import tempfile

import commands

ROOT = pathlib.Path(__file__).resolve().parents[1]
OFF = ["-q", "--no-time", "--no-redundancy", "--no-memory", "--no-copies"]
# column: pieprof's options; the others are off
COLUMNS = {"off": OFF, "memory": [*OFF, "--memory"], "memory, copies": [*OFF, "--memory", "--copies"]}
SAMPLES = ("pie_heap_allocated_slowly", "pie_heap_freeing_slowly", "pie_copy_slowly")
WAYS = ("plain", "off", "on")
CALLS = (("pairs", 16), ("pairs", 1024), ("copies", 8), ("copies", 4096))
CALL_COUNTS = (2000, 22_000)
# Each adds numbers beyond the small ones: one block comes, another goes. Lists and tuples have kept ones of their own.
BLOCKS = {
    "a number of 32 bytes comes and goes": ("x = 1 << 40\nfor _ in range(n): x + 1", 1),
    "64 objects of 48 bytes come, then go": ("class A: __slots__ = ('a', 'b')\nfor _ in range(n // 64): [A() for _ in range(64)]", 1),
    "a block of 600 bytes comes and goes": ("for _ in range(n): bytes(600)", 1),
}
BLOCK_COUNTS = (20_000, 120_000)
PROGRAMS = ("asyncio_pingpong", "pprint_alloc", "deep", "regex", "generators", "json_codec", "mdp", "sympy")
SCALES = (0.003, 0.01)
PACKAGED = {"mdp": (0.0, 0.0), "sympy": (0.02, 0.17)}  # of pyperformance; mdp does at least all of its work


def packages():
    """Where scripts/bench --install has put pyperformance; None: it has not."""
    found = sorted(ROOT.glob("build-bench/lib/python3*/site-packages/pyperformance"))
    return found[0].parent if found else None


def difference(words, arguments, per=1):
    """Instructions of the longer less those of the shorter run."""
    def one(command):
        with tempfile.TemporaryDirectory() as folder:
            output = ["-o", f"{folder}/x.db"] if "-q" in command else []
            found = commands.functions([command[0], *output, *command[1:]], folder, packages=packages())
        return found[""][1] - sum(found.get(name, (0, 0))[1] for name in SAMPLES)

    short, long = (one([*words, *some]) for some in arguments)
    return (long - short) / per


def call_rows(bench):
    each = CALL_COUNTS[1] - CALL_COUNTS[0]
    for kind, size in CALLS:
        yield f"{kind} of {size} bytes", [difference([bench, "--once", way, kind, size], [[n] for n in CALL_COUNTS], each)
                                          for way in WAYS]


def block_rows(choices):
    each = BLOCK_COUNTS[1] - BLOCK_COUNTS[0]
    for name, (text, _) in BLOCKS.items():
        whole = f"import sys\ndef work(n):\n" + "".join(f"    {line}\n" for line in text.split("\n")) + "work(int(sys.argv[1]))"
        yield name, [difference([*words, "-c", whole], [[n] for n in BLOCK_COUNTS], each) for words in choices.values()]


def program_words(name):
    folder = ROOT / "bench/programs"
    if name in PACKAGED:
        return [[folder / "pyperformance_one.py", scale, 0, name] for scale in PACKAGED[name]]
    return [[folder / f"{name}.py", scale] for scale in SCALES]


def program_rows(choices, only):
    for name in only:
        found = [difference(words, program_words(name)) for words in choices.values()]
        yield name, [found[0] / 1e6, *(some / found[0] for some in found[1:])]


def table(title, columns, rows, form):
    print(f"\n| {title} |", " | ".join(columns), "|\n|---|" + "---|" * len(columns), flush=True)
    for name, values in rows:
        print(f"| {name} |", " | ".join(form(i, value) for i, value in enumerate(values)), "|", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", type=pathlib.Path, default=ROOT / "build/pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--part", action="append", choices=("calls", "blocks", "programs"), help="this part (may be repeated)")
    parser.add_argument("--only", metavar="NAME", action="append", choices=PROGRAMS, help="this program (may be repeated)")
    return parser.parse_args()


def main():
    options = arguments()
    pieprof = options.pieprof.resolve()
    parts = options.part or ("calls", "blocks", "programs")
    choices = {"python3": [options.python], **{name: [pieprof, *words] for name, words in COLUMNS.items()}}
    known = [name for name in PROGRAMS if packages() or name not in PACKAGED]
    if "calls" in parts:
        bench = pieprof.parent / "bench/heap_bench"
        table("instructions of a call", WAYS, call_rows(bench), lambda _, value: f"{value:.1f}")
    if "blocks" in parts:
        table("instructions of a turn", choices, block_rows(choices), lambda _, value: f"{value:.1f}")
    if "programs" in parts:
        table("million instructions, ratios", choices, program_rows(choices, options.only or known),
              lambda i, value: f"{value:.3f}" if i else f"{value:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
