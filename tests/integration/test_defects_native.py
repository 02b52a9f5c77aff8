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
    counts = {r["counter"]: r["value"] for r in run.sql("select name as counter, value from counter")}
    assert counts["native_stack_bridged"] > 0.9 * counts["samples"] - 60, counts


def test_accesses_of_code_without_frame_information_are_watched(tmp_path, kernels):
    """Its loads find what they found before, all of them. Without the symbol's bounds nothing of it was ever watched."""
    program = PROGRAMS / "loads.py"
    run = helpers.profile(tmp_path / "p.db", program, kernels, 1.5, options=["--overhead", "50%"])
    process = run.sql("select sampler, sampler_note from process")[0]
    if process["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {process['sampler_note']}")
    rows = [r for r in run.sql(f"select * from v_redundancy where file = '{program}'") if r["kind"] == "load"]
    assert [r["line"] for r in rows] == [helpers.line_of(program, "loads")], rows
    assert rows[0]["traps"] >= 150, rows
    assert rows[0]["redundant_fraction"] == 1, rows
    assert "kernel_loads" in rows[0]["evidence"], rows
