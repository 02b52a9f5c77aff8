# SPDX-License-Identifier: Apache-2.0
"""The merged call path: exact in Python frames, with other libraries' frames in between at their right places."""

import collections

import pytest

from helpers import TRUTH, profile

PROGRAM = TRUTH / "callbacks.py"
SECONDS = 0.15

# Scenarios in which C code calls back, between these two Python functions. The interpreter's own is left out.
THROUGH_C = {
    "scenario_sorted_key": ("scenario_sorted_key", "double"),
    "scenario_sorted_lt": ("scenario_sorted_lt", "Key.__lt__"),
    "scenario_map": ("scenario_map", "double"),
    "scenario_filter": ("scenario_filter.<locals>.<listcomp>", "double"),
    "scenario_reduce": ("scenario_reduce", "double"),
    "scenario_ctypes_callback": ("scenario_ctypes_callback", "scenario_ctypes_callback.<locals>.<lambda>"),
    "scenario_exec": ("scenario_exec", "<module>"),
}


@pytest.fixture(scope="module")
def callbacks(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("callbacks") / "paths.db", PROGRAM, SECONDS)


@pytest.fixture(scope="module")
def burning(callbacks):
    """The samples that landed in burn(), by Python path without burn itself."""
    found = collections.defaultdict(list)
    for sample in callbacks.samples():
        if sample.samples and any(f.function == "burn" for f in sample.frames if f.is_python):
            path = sample.python_path
            depth = [name for name, _ in path].index("burn")
            found[path[:depth]].append(sample)
    return found


def scenario_paths(callbacks):
    return {name: {tuple(tuple(f) for f in p["path"]): p["cpu_s"] for p in paths}
            for name, paths in callbacks.truth["scenarios"].items()}


def test_every_path_is_one_that_ran(callbacks, burning):
    known = {path for paths in scenario_paths(callbacks).values() for path in paths}
    wrong = {path: sum(s.samples for s in samples) for path, samples in burning.items() if path not in known}
    assert not wrong


def test_every_scenario_has_its_paths_and_its_time(callbacks, burning):
    for name, paths in scenario_paths(callbacks).items():
        for path, cpu_s in paths.items():
            found = sum(s.cpu_s for s in burning.get(path, []))
            # cpu_s / 1 ms samples; 4 sigmas of a Poisson count and one sample at each end
            margin = 4 * (cpu_s * 1e-3) ** 0.5 + 2e-3
            assert found == pytest.approx(cpu_s * callbacks.program_share, abs=margin), (name, path)


def test_burn_calls_nothing_in_python(burning):
    below = [s.python_path for path, samples in burning.items() for s in samples if s.python_path[:-1] != path]
    assert not below


def test_hardly_a_sample_is_without_its_path(callbacks, burning):
    """Where the interpreter is changing its frames the path is unknown; that is a window of a few instructions."""
    burned = sum(cpu_s for paths in scenario_paths(callbacks).values() for cpu_s in paths.values())
    found = sum(s.cpu_s for samples in burning.values() for s in samples)
    assert found == pytest.approx(burned * callbacks.program_share, rel=0.02)


@pytest.mark.parametrize("name", sorted(THROUGH_C))
def test_foreign_frames_lie_between(burning, name):
    caller, callee = THROUGH_C[name]
    checked = 0
    for samples in burning.values():
        for sample in samples:
            functions = [f.function if f.is_python else None for f in sample.frames]
            if name not in functions:
                continue
            if caller not in functions:  # from 3.12 on a comprehension is part of its function
                caller = name
            first, second = functions.index(caller), functions.index(callee, functions.index(caller) + 1)
            between = sample.frames[first + 1:second]
            assert not any(f.is_python for f in between), sample.frames
            assert bool(between) == (name == "scenario_ctypes_callback"), sample.frames
            checked += sample.samples
    assert checked > 10


def test_the_c_library_is_named_between(burning):
    modules = {f.module.rsplit("/", 1)[-1] for samples in burning.values() for s in samples for f in s.frames
               if not f.is_python and f.module and "scenario_ctypes_callback" in [n for n, _ in s.python_path]}
    assert any(m.startswith("libc.so") for m in modules) and any(m.startswith("libffi") for m in modules), modules


def test_no_evaluation_loop_between_python_frames(callbacks):
    """Python-to-Python calls have no native frame between them, and an evaluation loop is never shown."""
    for sample in callbacks.samples():
        names = [f.function or "" for f in sample.frames if not f.is_python]
        assert not any("_PyEval_EvalFrame" in n for n in names), sample.frames
        functions = [f.function if f.is_python else None for f in sample.frames]
        for caller, callee in [("main", "scenario_call"), ("scenario_call", "double")]:
            if caller in functions and callee in functions:
                assert functions.index(callee) == functions.index(caller) + 1, sample.frames
