# SPDX-License-Identifier: Apache-2.0
"""Redundant accesses of a library whose share of redundancy is known (truth/redundancy/mix.c)."""

import os
import re
import shutil
import subprocess

import pytest

from helpers import PYTHON, ROOT, TRUTH, binomial_margin, clean_environment, line_of, profile, run

HERE = TRUTH / "redundancy"
RUNS = int(os.environ.get("PIEPROF_REDUNDANCY_RUNS", "10"))
SECONDS = 2
SHARES = (20, 50, 80)


@pytest.fixture(scope="module", autouse=True)
def needs_breakpoints(pieprof, tmp_path_factory):
    """Skips with the reason that the profiler itself gives where memory accesses cannot be watched."""
    one = profile(tmp_path_factory.mktemp("probe") / "x.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if one[0]["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {one[0]['sampler_note']}")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The folder of the extension module mix, built for the Python under test."""
    compiler = shutil.which("cc")
    include, suffix = run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('include'));"
                           "print(sysconfig.get_config_var('EXT_SUFFIX'))"]).stdout.split()
    if not compiler or not os.path.exists(os.path.join(include, "Python.h")):
        pytest.skip("needs a C compiler and Python.h")
    folder = tmp_path_factory.mktemp("mix")
    subprocess.run([compiler, "-O2", "-g", "-shared", "-fPIC", f"-I{include}", str(HERE / "mix.c"), "-o",
                    str(folder / ("mix" + suffix))], check=True)
    return folder


def clean_lines(done, program):
    """Rows like those of v_redundancy for lines of which all traps were clean: no finding names these. A dozen traps
    of a line that is redundant to 20 % are that, now and then. The interval is the findings' own (Wilson's, by weights)
    at 0."""
    rows = done.sql(f"""
        select l.line, iif(w.kind = 1, 'load', 'store') as kind, sum(w.watches) as traps, sum(w.weight_ns) as weight_ns,
          sum(w.weight_sq_ns2) as weight_sq_ns2, max(w.outcome = 1) as is_told
        from watch w join node n on n.process = w.process and n.id = w.first_node
        join location l on l.process = n.process and l.id = n.line_location
        join function u on u.process = l.process and u.id = l.function join file f on f.process = u.process and f.id = u.file
        where w.outcome <= 2 and f.path = '{program}' group by 1, 2""")
    for row in rows:
        if not row["is_told"]:
            h = 1.96 ** 2 * row["weight_sq_ns2"] / row["weight_ns"] ** 2
            yield {**row, "redundant_fraction": 0.0, "fraction_low": 0.0, "fraction_high": h / (1 + h)}


def fractions(done):
    """(kind, percent) -> the row of v_redundancy of the line that the program marks so."""
    program = HERE / "mixes.py"
    lines = {line_of(program, f"{kind} {p}"): (kind, p) for kind in ("load", "store") for p in SHARES}
    rows = done.sql(f"select * from v_redundancy where file = '{program}'")
    return {lines[r["line"]]: r for r in [*rows, *clean_lines(done, program)]
            if r["line"] in lines and lines[r["line"]][0] == r["kind"]}


# Less is watched by ptrace, with a container's clock; at the usual price next to nothing on a busy machine.
OPTIONS = {"perf": [], "ptrace": ["--breakpoints", "ptrace", "--clock", "timer", "--overhead", "50%"]}
LONGER = {"perf": 1, "ptrace": 3}
FEWER = {"perf": 1, "ptrace": 1 if RUNS >= 100 else 2}  # only who sets the registers is another: the estimates are the same ones


@pytest.fixture(scope="module", params=OPTIONS)
def way(request, tmp_path_factory):
    """Who sets debug registers."""
    one = profile(tmp_path_factory.mktemp("way") / "x.db", "-c", "pass", options=OPTIONS[request.param]).sql(
        "select sampler, sampler_note from process")
    if one[0]["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here by {request.param}: {one[0]['sampler_note']}")
    return request.param


@pytest.fixture(scope="module")
def runs_of_mixes(library, way, tmp_path_factory):
    """Some runs: for each the exact shares by percent, and the rows of fractions()."""
    found = []
    for number in range(RUNS // FEWER[way]):
        done = profile(tmp_path_factory.mktemp("mixes") / f"{number}.db", HERE / "mixes.py", library, SECONDS * LONGER[way],
                       options=OPTIONS[way])
        found.append((done.truth["shares"], fractions(done)))
        done.db.unlink()
    return found


def least_of(trials, share, chance=1e-4):
    """The least number of successes, but for one time in 10 000 (exact binomial)."""
    probability, total = (1 - share) ** trials, 0.0
    for successes in range(trials + 1):
        total += probability
        if total > chance:
            return successes
        probability *= (trials - successes) / (successes + 1) * share / (1 - share)
    return trials


def hits(runs_of_mixes, key):
    """In how many runs the interval of a fraction holds the truth."""
    assert all(key in rows for _, rows in runs_of_mixes), f"nothing is reported of {key} in a run"
    return sum(rows[key]["fraction_low"] <= shares[str(key[1])] <= rows[key]["fraction_high"]
               for shares, rows in runs_of_mixes)


def test_fractions_are_in_their_own_intervals(runs_of_mixes):
    """95 % intervals: the truth is inside in 93 of 100 and more, or in as many as fewer runs can show.

    The six fractions of a run are estimates of their own. For one of them alone chance may take more: an exact 95 %
    interval fails to hold the truth in 8 of 100 runs or more every eighth time."""
    found = {(kind, percent): hits(runs_of_mixes, (kind, percent)) for kind in ("load", "store") for percent in SHARES}
    runs = len(runs_of_mixes)
    print(f"of {runs} runs the truth is inside in", found)
    assert min(found.values()) >= least_of(runs, 0.95), found
    trials = runs * len(found)
    needed = 0.93 * trials if runs >= 100 else least_of(trials, 0.95)
    assert sum(found.values()) >= needed, found


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("percent", SHARES)
def test_all_runs_together_are_right(runs_of_mixes, kind, percent):
    """No bias: the mean of the runs lies within four standard errors, in which each run counts as what it saw."""
    rows = [(shares[str(percent)], found[kind, percent]) for shares, found in runs_of_mixes]
    traps = sum(row["traps"] for _, row in rows)
    mean = sum(row["redundant_fraction"] * row["traps"] for _, row in rows) / traps
    print(f"{kind} {percent}: {mean:.4f} for {rows[0][0]:.4f} from {traps} traps")
    assert traps >= 5 * len(runs_of_mixes)
    # weights differ: n watches count as a third of n and more
    assert mean == pytest.approx(rows[0][0], abs=binomial_margin(rows[0][0], traps / 3)), f"{traps} traps"


def test_intervals_are_no_excuse(runs_of_mixes):
    """They are as wide as their number of traps makes them, not wider than twice that."""
    for shares, rows in runs_of_mixes:
        for (_, percent), row in rows.items():
            width = row["fraction_high"] - row["fraction_low"]
            assert width <= 4 * binomial_margin(shares[str(percent)], row["traps"], sigmas=1.96) + 4 / row["traps"]


def test_accumulating_in_one_call_is_no_waste(library, profiled):
    """Millions of accesses to one word, none of them across two calls, cost a few traps a watch."""
    program = HERE / "accumulator.py"
    done = profiled(program, library, SECONDS)
    line = line_of(program, "accumulates")
    rows = done.sql(f"select * from v_redundancy where file = '{program}' and line = {line}")
    said = [r for r in rows if r["severity"] != "reuse"]  # the costliest line is named, whatever is known of it
    assert [(r["category"], r["severity"], r["wasted_s"]) for r in said] in ([], [("undecided", "low", 0.0)])
    counters = {r["name"]: r["value"] for r in done.sql("select name, value from counter")}
    (at_line,) = [r for r in done.lines(program) if r["line"] == line]
    assert at_line["native_s"] > 0.8 * SECONDS
    assert counters.get("watches", 0) >= 10, "nothing was watched"
    assert counters["watch_traps"] < 4 * counters["samples"]
    assert counters["watch_traps"] < done.truth["calls"] * done.truth["additions"] / 1000


def test_results_are_compared_across_many_other_calls(library, profiled):
    """Waiting for the place costs no trap for each of the others: there are sixty of them between two of its calls."""
    program = HERE / "results.py"
    done = profiled(program, library, SECONDS, options=["--overhead", "30%"])  # as many watches as in a longer run
    (row,) = done.sql(f"select * from v_redundancy where file = '{program}' and line = {line_of(program, 'computes')} "
                      "and kind = 'store'")
    watches = done.sql("select outcome, sum(watches) as n from watch where memory = 4 group by outcome")
    ended = {r["outcome"]: r["n"] for r in watches}
    print(row["redundant_fraction"], "for", done.truth["share"], "from", row["traps"], "traps;", ended)
    assert row["traps"] >= 30 and "calls returned" in row["evidence"]
    assert ended[1] + ended[2] >= 0.9 * sum(ended.values())  # few were lost to the others
    assert row["redundant_fraction"] == pytest.approx(
        done.truth["share"], abs=binomial_margin(done.truth["share"], row["traps"] / 3))
    counters = {r["name"]: r["value"] for r in done.sql("select name, value from counter")}
    assert counters["watch_traps"] < 15 * counters["watches"]


def test_the_element_loop_of_the_examples_is_the_first_thing_one_reads(pieprof, tmp_path):
    script = ROOT / "examples" / "element_loop.py"
    if run([PYTHON, "-c", "import numpy"]).returncode:
        pytest.skip("numpy is not installed")
    [line] = [i for i, text in enumerate(script.read_text().splitlines(), 1) if text.strip().startswith("result[row, column] +=")]
    expected = re.compile(rf"element_loop\.py:{line}: \d+ % of the run wasted: slice underutilization \(")
    told = []
    for nth in range(3):  # where others work too, what is left of a call is often measured too long: one run in three says "reuse"
        told.append(run([pieprof, "-o", f"{nth}.db", script, "1.2"], cwd=tmp_path, env=clean_environment(COLUMNS="100")).stderr)
        if expected.match(told[-1].split("\n\n")[1]):  # behind the paragraph of time and memory
            return
    pytest.fail("\n".join(told))
