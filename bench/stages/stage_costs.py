# SPDX-License-Identifier: Apache-2.0
"""The stages of cost: whole processes of one program under every column."""

import functools
import os

import columns as columns_
import measure

PYTHON = ("asyncio_io", "asyncio_mixed", "mdp", "docutils", "pprint", "raytrace", "sympy", "fannkuch", "xml", "tree")
# Where pyperformance is not installed: programs of bench/programs of a similar kind.
STAND_INS = {"asyncio_io": "asyncio_pingpong", "pprint": "pprint_alloc", "raytrace": "nbody", "fannkuch": "fib", "tree": "generators"}
# program: the module that it needs, beside pyperformance
NEEDS = {"docutils": "docutils", "sympy": "sympy"}
NATIVE = {"numpy_mixed": "numpy", "pandas_groups": "pandas", "sklearn_fit": "sklearn", "torch_steps": "torch",
          "polars_groups": "polars", "pil_filters": "PIL", "orjson_codec": "orjson", "sqlite_zlib": "sqlite3"}  # fmt: skip
QUICK_PYTHON, QUICK_NATIVE = ("asyncio_mixed", "raytrace", "sympy", "xml"), ("numpy_mixed", "pandas_groups", "sqlite_zlib")
QUICK_S, QUICK_LIMIT_S = 0.4, 20  # of work; of one process
SHORT = ("raytrace", "sympy", "fannkuch", "xml", *NATIVE)  # the others have no such small part of work
LONG = ("raytrace", "pprint", "numpy_mixed")
LONG_COLUMNS = ("python3", "pieprof off", "pieprof all fixed", "pieprof all governed", "py-spy")
USUAL_S = 2.5  # of each program at scale 1, about


def modules(name):
    """What a program needs."""
    return ("pyperformance", *([NEEDS[name]] if name in NEEDS else [])) if name in PYTHON else (NATIVE[name],)


def words(bench, name, seconds):
    """The program's file and arguments, or None where the package that it needs is absent."""
    folder, scale = bench.root / "bench/programs", seconds / USUAL_S
    if name in PYTHON:
        if not any(bench.columns.lacks(module, True) for module in modules(name)):
            return [folder / "pyperformance_one.py", scale, 0, name]
        name = STAND_INS.get(name)
    elif bench.columns.lacks(*modules(name), True):
        name = None
    return [folder / f"{name}.py", scale] if name else None


def environment(bench, name):
    """Scalene profiles torch wherever it can be imported, for several times the cost of the program. So only a program
    that uses torch can import it."""
    if NATIVE.get(name) == "torch":
        return bench.environment
    packages = [str(bench.root / "bench/stages/hidden"), bench.environment.get("PYTHONPATH")]
    return {**bench.environment, "PYTHONPATH": os.pathsep.join(filter(None, packages))}


def one(bench, name, seconds, count, names):
    found = words(bench, name, seconds)
    if found is None:
        return {"absent": f"{' or '.join(modules(name))} is not installed"}
    limit_s = bench.limit_s(measure.LIMIT_S + 10 * seconds, QUICK_LIMIT_S)
    costs = measure.rounds(bench.columns, names, found, count, environment(bench, name), limit_s=limit_s, budget=bench.budget)
    return {"program": found[0].stem, "seconds": seconds, "columns": costs}


def steps(bench, programs, seconds, count, names=None):
    names = [name for name in bench.columns.names if names is None or name in names]
    return {name: functools.partial(one, bench, name, seconds, count, names) for name in programs}


def python(bench):
    return steps(bench, bench.of(PYTHON, QUICK_PYTHON, ("xml",)), bench.of(1.2, QUICK_S, 0.1), bench.of(5, 3, 1))


def native(bench):
    return steps(bench, bench.of(tuple(NATIVE), QUICK_NATIVE, ("sqlite_zlib",)), bench.of(1.2, QUICK_S, 0.1), bench.of(5, 3, 1))


def short(bench):
    return steps(bench, bench.of(SHORT, ("raytrace", "numpy_mixed"), ("numpy_mixed",)), bench.of(0.2, 0.2, 0.05), bench.of(5, 2, 1))


def long(bench):
    """Nothing in the quick form."""
    return steps(bench, bench.of(LONG, (), ("numpy_mixed",)), bench.of(60, 60, 1), 1, LONG_COLUMNS)


def collectors(bench):
    """By turns of a tenth of a second, all columns at once (see ../commands.py): finer than whole processes, and only
    for columns that leave standard input alone."""
    others = {*columns_.PEERS, *columns_.BASELINES.values()}
    names = [name for name in bench.columns.names if name not in others]
    programs = bench.of(("fib", "pprint_alloc", "asyncio_pingpong", "json_codec", "regex", "sqlite_zlib"), ("pprint_alloc",))
    return {name: functools.partial(bench.turns, name, names) for name in programs}
