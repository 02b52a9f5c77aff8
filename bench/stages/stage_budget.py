# SPDX-License-Identifier: Apache-2.0
"""The stage of the budget: is it kept (../budget_kept.py), and is the printed overhead true (../overhead_truth.py)?"""

import functools
import pathlib
import tempfile

import budget_kept
import measure
import overhead_truth

BUDGETS, QUICK_BUDGETS = (1, 2, 5, 10), (1, 5)  # percent
SECONDS, QUICK_SECONDS = (1, 3), (2,)
QUICK_KEPT, QUICK_TRUE = ("loop", "numpy"), ("loop", "json_codec")
MARGIN = 1  # point


def with_libraries(bench):
    """The interpreter for which scripts/bench --install puts libraries beside the system's."""
    return bench.columns.extra / "bin/python"


def real(bench):
    """The programs with large libraries that can run here."""
    options = budget_kept.arguments(["--real", "--python", str(with_libraries(bench))])
    return tuple(budget_kept.chosen(options)) if with_libraries(bench).exists() else ()


def kept(bench, program):
    """[{"budget", "seconds", "without", "with"}] in percent of CPU time: without start and end, and with them."""
    is_real = program in budget_kept.REAL
    python = ["--python", str(with_libraries(bench))] if is_real else []
    found, options = [], budget_kept.arguments(["--pieprof", str(bench.columns.pieprof), *python])
    text = budget_kept.REAL[program][1] if is_real else budget_kept.PROGRAMS[program]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "program.py")
        file.write_text(text + budget_kept.CLOCK, encoding="utf-8")
        for _ in measure.while_time(bench.of(3, 1), bench.budget):
            for seconds in bench.of(SECONDS, QUICK_SECONDS, (0.5,)):
                for budget in bench.of(BUDGETS, QUICK_BUDGETS):
                    without, whole, *_ = budget_kept.shares(options, file, budget, seconds, pathlib.Path(folder))
                    found.append({"budget": budget, "seconds": seconds, "without": without, "with": whole})
    return found


def true(bench, program):
    """What is printed beside what is measured, seconds; wrong_s with its interval."""
    names = ("bare_s", "measured_s", "printed_s", "wrong_s", "low_s", "high_s")
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder, "program.py")
        text.write_text(overhead_truth.TEXTS.get(program, ""), encoding="utf-8")
        is_text = program in overhead_truth.TEXTS
        words = [text] if is_text else [bench.root / "bench/programs" / f"{program}.py", 0.1]
        run = overhead_truth.one_by_one if is_text else overhead_truth.in_turns
        options = overhead_truth.arguments(["--pieprof", str(bench.columns.pieprof), "--python", str(bench.columns.python),
                                            "--rounds", str(bench.of(20, 8, 2))])
        return dict(zip(names, overhead_truth.measure(options, words, run)))


def steps(bench):
    all_true = (*overhead_truth.TEXTS, *overhead_truth.PROGRAMS)
    all_kept = (*budget_kept.PROGRAMS, *(real(bench) if bench.of(True, False) else ()))
    return {**{f"kept: {name}": functools.partial(kept, bench, name) for name in bench.of(all_kept, QUICK_KEPT, QUICK_KEPT[:1])},
            **{f"true: {name}": functools.partial(true, bench, name) for name in bench.of(all_true, QUICK_TRUE, QUICK_TRUE[:1])}}  # fmt: skip
