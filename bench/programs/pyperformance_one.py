# SPDX-License-Identifier: Apache-2.0
"""`pyperformance_one.py SCALE 0 NAME`: a benchmark of the package pyperformance, which must be there, timed as the
other programs here are. A stand-in for pyperf's Runner takes the benchmark and runs it in this process."""

import argparse
import asyncio
import importlib.util
import pathlib
import runpy
import sys
import time
import types

from harness import run

# name: (folder of the benchmark, its arguments, repeats that take about 2.5 seconds)
BENCHMARKS = {
    "asyncio_io": ("bm_async_tree", ["io"], 2),
    "asyncio_mixed": ("bm_async_tree", ["cpu_io_mixed"], 3),
    "tree": ("bm_async_tree", ["none"], 5),
    "mdp": ("bm_mdp", [], 1),
    "docutils": ("bm_docutils", [], 1),
    "pprint": ("bm_pprint", [], 2),
    "raytrace": ("bm_raytrace", [], 6),
    "sympy": ("bm_sympy", ["sum"], 12),
    "fannkuch": ("bm_fannkuch", [], 4),
    "xml": ("bm_xml_etree", ["parse"], 15),
}


class Taken(Exception):
    """The benchmark has handed over its work."""


class Runner:
    """The part of pyperf.Runner that these benchmarks use."""

    def __init__(self, *_, **__):
        self.argparser, self.metadata, self.args = argparse.ArgumentParser(), {}, None

    def parse_args(self, args=None):
        self.args = self.argparser.parse_known_args(args)[0]
        return self.args

    def bench_func(self, name, function, *arguments, **_):
        raise Taken(lambda count: [function(*arguments) for _ in range(count)][-1])

    def bench_time_func(self, name, function, *arguments, **_):
        raise Taken(lambda count: function(count, *arguments))

    def bench_async_func(self, name, function, *arguments, **_):
        raise Taken(lambda count: [asyncio.run(function(*arguments)) for _ in range(count)][-1])


def benchmark(name):
    """(work, repeats)"""
    folder, arguments, repeats = BENCHMARKS[name]
    package = importlib.util.find_spec("pyperformance").submodule_search_locations[0]
    path = pathlib.Path(package, "data-files", "benchmarks", folder, "run_benchmark.py")
    sys.modules["pyperf"] = types.SimpleNamespace(Runner=Runner, perf_counter=time.perf_counter)
    words, sys.argv = sys.argv, [str(path), *arguments]
    try:
        runpy.run_path(str(path), run_name="__main__")
    except Taken as taken:
        return taken.args[0], repeats
    finally:
        sys.argv = words
    raise SystemExit(f"{path} has measured nothing")


if __name__ == "__main__":
    run(*benchmark(sys.argv[3]))
