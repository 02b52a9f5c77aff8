# SPDX-License-Identifier: Apache-2.0
"""Native code that is hard to tell: libraries at the place of others, and code without call frame information."""

import collections
import os
import shutil

import helpers
import pytest

PROGRAMS = helpers.ROOT / "tests" / "integration" / "defects" / "native"
CC = shutil.which(os.environ.get("CC", "cc"))
pytestmark = pytest.mark.skipif(not CC, reason="no C compiler")


def build(output, *arguments):
    done = helpers.run([CC, "-shared", "-fPIC", *arguments, "-o", output])
    assert done.returncode == 0, done.stderr


def python_includes():
    found = helpers.run([helpers.PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]).stdout.strip()
    if not os.path.exists(found + "/Python.h"):
        pytest.skip(f"no Python.h in {found}")
    return found


def skip_without_watches(run):
    process = run.sql("select sampler, sampler_note from process")[0]
    if process["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {process['sampler_note']}")


def by_leaf(samples):
    sums = collections.Counter()
    for sample in samples:
        sums[sample.frames[-1].function] += sample.cpu_s
    return sums


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("work_alpha", "work_beta", "work_gamma"):
        build(folder / f"lib{name}.so", "-O1", "-DNAME=" + name, PROGRAMS / "library.c")
        build(folder / f"lib{name}_bare.so", "-O1", "-DNAME=" + name + "_bare", "-Wl,--build-id=none",
              PROGRAMS / "library.c")
    return folder


# As long as several looks of the collection thread, and shorter than one, so that it may never see a library.
@pytest.mark.parametrize("rounds, stretch_s", [(1, 0.5), (60, 0.006)])
@pytest.mark.parametrize("suffix", ["", "_bare"])
def test_a_library_at_the_place_of_another_has_its_own_name(tmp_path, libraries, rounds, stretch_s, suffix):
    names = ["work_" + name + suffix for name in ("alpha", "beta", "gamma")]
    run = helpers.profile(tmp_path / "p.db", PROGRAMS / "unloading.py", libraries, rounds, stretch_s, *names)
    truth = run.truth
    if not truth["places"]:
        pytest.skip("the loader found another place for each")
    sums = by_leaf(run.samples())
    for name in names:
        # Of short stretches, calls of ctypes and of the clock take some.
        assert sums[name] > 0.7 * truth["cpu_s"][name], sums
        share = sums[name] / sum(sums[n] for n in names)
        assert share == pytest.approx(truth["cpu_s"][name] / sum(truth["cpu_s"].values()), abs=0.06), sums


def test_contexts_of_what_comes_back_are_the_same(tmp_path, libraries):
    nodes = []
    for rounds in (20, 80):
        run = helpers.profile(tmp_path / f"{rounds}.db", PROGRAMS / "unloading.py", libraries, rounds, 0.004,
                              "work_alpha", "work_beta", options=["-r", "2khz"])
        nodes.append(len({s.frames for s in run.samples() if s.frames[-1].function in ("work_alpha", "work_beta")}))
    assert nodes[1] <= nodes[0] + 2, nodes


def test_code_made_at_the_place_of_a_library_has_not_its_name(tmp_path, libraries):
    """Nor has the library the time of what lay there before."""
    run = helpers.profile(tmp_path / "p.db", PROGRAMS / "generated_place.py", libraries / "libwork_alpha.so",
                          "work_alpha", 0.4)
    truth = run.truth
    if not truth["one_place"]:
        pytest.skip("the loader found another place the second time")
    sums = collections.Counter()
    for sample in run.samples():
        if sample.frames[-1].function == "work_alpha" or not sample.frames[-1].module:
            sums[sample.frames[-1].function] += sample.native_s
    # Calls of ctypes and of the clock take some.
    assert 0.7 * sum(truth["library_s"]) < sums["work_alpha"] <= sum(truth["library_s"]) + 0.02, sums
    assert 0.7 * truth["generated_s"] < sums[None] <= truth["generated_s"] + 0.02, sums


def test_watches_begin_while_libraries_come_and_go(tmp_path, libraries, kernels):
    """Each unload made all that was decoded be decoded anew: 4 watches in 925 samples."""
    program = PROGRAMS / "loads_while_unloading.py"
    run = helpers.profile(tmp_path / "p.db", program, kernels, libraries / "libwork_alpha.so", 1.5,
                          options=["--overhead", "50%"])
    skip_without_watches(run)
    assert run.truth["unloads"] > 1000, run.truth
    traps = {(r["line"], r["kind"]): (r["traps"], r["redundant_fraction"])
             for r in run.sql(f"select * from v_redundancy where file = '{program}'")}
    count, fraction = traps[helpers.line_of(program, "loads"), "load"]
    assert count > 80 and fraction == 1, traps


def counters(run):
    return {r["counter"]: r["value"] for r in run.sql("select name as counter, value from counter")}


def test_code_that_is_patched_is_decoded_anew(tmp_path):
    """As a load, which it was, a store was watched for a value that does not change within the call: 482 watches
    came to nothing."""
    build(tmp_path / "patched.so", PROGRAMS / "patched.S")
    program = PROGRAMS / "patched.py"
    run = helpers.profile(tmp_path / "p.db", program, tmp_path / "patched.so", 0.7, options=["--overhead", "50%"])
    skip_without_watches(run)
    # Accesses, and not calls, which are compared by their arguments.
    rows = {(r["line"], r["kind"]): r["traps"] for r in run.sql(
        "select line, kind, sum(traps) as traps from v_pair where memory not in ('call', 'returned')"
        f" and file = '{program}' group by line, kind")}
    loads, stores = helpers.line_of(program, "loads"), helpers.line_of(program, "stores")
    assert rows[stores, "store"] > 100, rows
    assert rows[loads, "load"] > 100, rows
    # ctypes itself stores something for each call.
    assert rows.get((loads, "store"), 0) <= 0.05 * rows[loads, "load"], rows
    assert counters(run).get("watch_changed_within_call", 0) <= 20, counters(run)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    build(folder / "kernels.so", "-O2", "-I" + python_includes(), PROGRAMS / "kernels.S", PROGRAMS / "kernels_module.c")
    return folder


@pytest.mark.parametrize("kernel, way", [("leaf", ""), ("rbp", ""), ("rbp", "ctypes"), ("frame", ""), ("own_stack", "ctypes")])
def test_code_without_frame_information_is_native_time_of_its_line(tmp_path, kernels, kernel, way):
    run = helpers.profile(tmp_path / "p.db", PROGRAMS / "blind.py", kernels, kernel, 0.4, *([way] if way else []))
    leaf = "own_stack_loop" if kernel == "own_stack" else "kernel_" + kernel
    here = [s for s in run.samples() if s.frames[-1].function == leaf]
    cpu_s = helpers.math.fsum(s.cpu_s for s in here)
    assert cpu_s > 0.9 * run.truth["cpu_s"] - 0.1
    assert helpers.math.fsum(s.python_s for s in here) == 0
    assert {os.path.basename(s.frames[-1].module) for s in here} == {"kernels.so"}
    lines = collections.Counter()
    for sample in here:
        callers = [f for f in sample.frames if f.is_python]
        lines[callers[-1].function if callers else None] += sample.cpu_s
        assert not sample.frames[-1].is_python
    assert lines["work"] > 0.99 * cpu_s, lines
    line = max(run.lines(str(PROGRAMS / "blind.py")), key=lambda row: row["cpu_s"])
    assert line["native_s"] >= 0.97 * (line["cpu_s"] - line["system_s"]), line


def test_the_functions_between_are_known_where_there_is_frame_information(tmp_path, kernels):
    run = helpers.profile(tmp_path / "p.db", PROGRAMS / "blind.py", kernels, "rbp", 0.6)
    here = [s for s in run.samples() if s.frames[-1].function == "kernel_rbp"]
    complete = [s for s in here if [f.function for f in s.frames[-3:]] == ["rbp", "between", "kernel_rbp"]]
    assert sum(s.samples for s in complete) > 0.98 * sum(s.samples for s in here)


def test_what_was_found_on_the_stack_is_counted(tmp_path, kernels):
    run = helpers.profile(tmp_path / "p.db", PROGRAMS / "blind.py", kernels, "leaf", 0.5)
    counts = counters(run)
    assert counts["native_stack_bridged"] > 0.9 * counts["samples"] - 60, counts


# Without a symbol as well, all that is known are the instructions that samples saw.
@pytest.mark.parametrize("flags", [[], ["-s"]])
def test_accesses_of_code_without_frame_information_are_watched(tmp_path, flags):
    """Its loads find what they found before, all of them. Nothing of it was ever watched."""
    program = PROGRAMS / "loads.py"
    build(tmp_path / "kernels.so", "-O2", *flags, "-I" + python_includes(), PROGRAMS / "kernels.S",
          PROGRAMS / "kernels_module.c")
    run = helpers.profile(tmp_path / "p.db", program, tmp_path, 1.5, options=["--overhead", "50%"])
    skip_without_watches(run)
    rows = [r for r in run.sql(f"select * from v_redundancy where file = '{program}'") if r["kind"] == "load"]
    assert [r["line"] for r in rows] == [helpers.line_of(program, "loads")], rows
    assert rows[0]["traps"] >= 150, rows
    assert rows[0]["redundant_fraction"] == 1, rows
    assert ("kernel_loads" in rows[0]["evidence"]) == (not flags), rows
    kinds = {r["kind"] for r in run.sql(f"select * from v_redundancy where file = '{program}'")}
    assert kinds == {"load"}, kinds
