# SPDX-License-Identifier: Apache-2.0
"""Large libraries, Debian's packages, import and work under all collectors as they do without; skipped if not
installed."""

import pytest

from helpers import PYTHON, TRUTH, check_file, run

HERE = TRUTH / "memory" / "libraries"
PROGRAMS = sorted(path.stem.removeprefix("use_") for path in HERE.glob("use_*.py"))
ALL_COLLECTORS = ["--time", "--memory", "--copies", "--redundancy"]
NEEDS = {"sklearn": "python3-sklearn", "torch": "python3-torch", "pandas": "python3-pandas", "lxml": "python3-lxml",
         "matplotlib": "python3-matplotlib", "pil": "python3-pil"}


@pytest.mark.parametrize("options", [ALL_COLLECTORS, [*ALL_COLLECTORS, "--allocator=jemalloc"]],
                         ids=["system", "jemalloc"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_library_works_as_without(profiled, name, options):
    program = HERE / f"use_{name}.py"
    plain = run([PYTHON, program], timeout=300)
    if plain.returncode == 77:
        pytest.skip(f"needs {NEEDS[name]}: {plain.stdout.strip()}")
    assert plain.returncode == 0, plain.stderr
    done = profiled(program, options=options, timeout=300)
    assert done.completed.stdout == plain.stdout
    (one,) = check_file(done.db)
    assert one["cause"] == "exit" and one["exit_status"] == 0
    (heap,) = [h for h in done.query("heap") if h["pid"] == done.query("processes")[0]["pid"]]
    print(heap)
    assert heap["peak_bytes"] > 10e6 and heap["note"] is None
