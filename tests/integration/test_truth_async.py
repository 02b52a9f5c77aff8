# SPDX-License-Identifier: Apache-2.0
"""Programs that run in an event loop: what the loop waits is its tasks' time, at the lines where they are suspended."""

import functools

import pytest

import helpers
from helpers import FIXED_RATES, TRUTH, line_of, profile, total

TASKS = TRUTH / "asyncio_tasks.py"
SLACK_S = 0.05  # on a machine so busy that its tasks hardly wait


@pytest.fixture
def profiled(profiled):
    """All looks, at 20 ms: where a wait begins and ends is known as well as that."""
    return functools.partial(profiled, options=FIXED_RATES)


@pytest.fixture(scope="module", params=["asyncio", "uvloop"])
def loop(request):
    """The kind of event loop that a program is told to run."""
    if request.param == "uvloop" and helpers.run([helpers.PYTHON, "-c", "import uvloop"]).returncode != 0:
        pytest.skip(f"{helpers.PYTHON} has no uvloop")
    return request.param


@pytest.fixture(scope="module")
def kinds(pieprof, loop, tmp_path_factory):
    """Tasks of three kinds, for some seconds."""
    seconds = 4 if loop == "asyncio" else 2
    return profile(tmp_path_factory.mktemp("kinds") / "x.db", TASKS, "kinds", seconds, loop, options=FIXED_RATES)


def innermost_own(sample):
    """The innermost frame of the program itself."""
    return next((f for f in reversed(sample.frames) if f.is_python and f.file == str(TASKS)), None)


def waits(samples):
    found = {}
    for sample in samples:
        frame = innermost_own(sample)
        if frame and sample.wait_s:
            found[frame.line] = found.get(frame.line, 0) + sample.wait_s
    return found


def test_tasks_share_what_the_loop_waits(kinds):
    truth = kinds.truth["waited"]
    measured = waits(kinds.samples())
    assert len(truth) == 3
    for mark, seconds in truth.items():
        assert measured[line_of(TASKS, mark)] == pytest.approx(seconds, rel=0.05, abs=SLACK_S), mark
    own = {r["line"]: r["wait_s"] for r in kinds.query("top 1000 own lines") if r["file"] == str(TASKS)}
    for mark, seconds in truth.items():
        assert own[line_of(TASKS, mark)] == pytest.approx(seconds, rel=0.05, abs=SLACK_S), mark


def test_waiting_is_divided_and_not_multiplied(kinds):
    (thread,) = kinds.query("threads")
    waited = total(kinds.lines(), "wait_s")
    # Before it was looked at for the first time it has waited nowhere; seldom more than some ms.
    assert thread["wait_s"] - 0.2 <= waited <= 1.02 * thread["wait_s"]
    assert thread["wait_s"] < thread["wall_s"]


def test_contexts_are_chains_of_coroutines(kinds):
    chains = {}
    for sample in kinds.samples():
        names = tuple(f.function for f in sample.frames if f.is_python)
        if sample.wait_s and names[-1] == "sleep":
            chains[names] = chains.get(names, 0) + sample.wait_s
    assert set(chains) == {("main", "brief", "sleep"), ("main", "nested", "sleep_within", "sleep"),
                           ("main", "waiter", "consumer", "items", "sleep")}


def test_running_steps_have_the_chain_of_coroutines_on_top_of_the_loop(kinds, loop):
    runner = {"asyncio": "Handle._run", "uvloop": "Runner.run"}[loop]  # uvloop's own frames are native
    chains = {"brief": ("brief", "burn"), "nested": ("nested", "burn_within", "burn"), "consumer": ("consumer", "burn")}
    cpu = dict.fromkeys(chains, 0)
    for sample in kinds.samples():
        names = tuple(f.function for f in sample.frames if f.is_python)
        if "burn" not in names:
            continue
        assert runner in names and (loop == "uvloop" or names[names.index(runner) - 1] == "BaseEventLoop._run_once"), names
        task = names[names.index(runner) + 1:names.index("burn") + 1]
        (kind,) = [k for k, chain in chains.items() if chain == task]
        cpu[kind] += sample.cpu_s
    for kind, seconds in kinds.truth["burned"].items():
        assert cpu[kind] == pytest.approx(seconds * kinds.program_share, rel=0.15, abs=0.02), kind
    assert sum(cpu.values()) == pytest.approx(
        sum(kinds.truth["burned"].values()) * kinds.program_share, rel=0.1)


def test_loops_of_two_threads_have_their_own_tasks(profiled):
    done = profiled(TASKS, "threads", 1.5)
    samples = done.samples()
    threads = {mark: {s.thread for s in samples if s.wait_s and innermost_own(s)
                      and innermost_own(s).line == line_of(TASKS, mark)} for mark in done.truth["waited"]}
    assert all(len(t) == 1 for t in threads.values()) and threads["in-main"] != threads["in-thread"]
    for mark, seconds in done.truth["waited"].items():
        assert waits(samples)[line_of(TASKS, mark)] == pytest.approx(seconds, rel=0.05, abs=SLACK_S), mark


def test_a_loop_without_tasks_waits_where_it_waits(profiled):
    done = profiled(TASKS, "callbacks", 1)
    samples = [s for s in done.samples() if s.wait_s > 0.5]
    assert len(samples) == 1 and samples[0].python_path[-1][0] == "EpollSelector.select"
    assert innermost_own(samples[0]).line == line_of(TASKS, "no-tasks")
    assert samples[0].wait_s == pytest.approx(1, rel=0.1)


def test_tasks_of_gather_and_groups_are_below_those_that_wait_for_them(tmp_path, loop):
    """Each way waits for as long; a task in many is looked at with the one that waits for it."""
    profile = helpers.profile(tmp_path / "p.db", TRUTH / "asyncio_groups.py", 0.6, loop, options=FIXED_RATES)
    chains = {}
    for sample in profile.samples():
        names = tuple(f.function for f in sample.frames if f.is_python)
        if sample.wait_s and names[-1] == "sleep":
            chains[names] = chains.get(names, 0) + sample.wait_s
    asked = helpers.run([helpers.PYTHON, "-c", "import asyncio; print(hasattr(asyncio.TaskGroup, '_aexit'))"]).stdout
    group = ("TaskGroup.__aexit__", "TaskGroup._aexit") if asked == "True\n" else ("TaskGroup.__aexit__",)
    expected = {("main", "groups", *group, "leaf_of_group", "sleep"),
                ("main", "waits", "wait", "_wait", "leaf_of_wait", "sleep"),
                ("main", "awaits", "leaf_of_task", "sleep"), ("main", "gathers", "leaf_of_gather", "sleep")}
    assert set(chains) == expected
    for chain in expected:
        assert chains[chain] == pytest.approx(profile.truth["waited_s"], abs=0.1), chains


NAMES = TRUTH / "asyncio_names.py"
LOOKS_S = 0.04  # between looks of 20 ms, at both ends of a wait


def waited_by_name(profile):
    found = {}
    for row in profile.query("top 1000 tasks"):
        if not row["wait_s"]:
            continue
        assert (row["coroutine"], row["file"], row["line"], row["cause"]) == (
            "nap", str(NAMES), line_of(NAMES, "asyncio.sleep"), "sleep"), row
        found[row["task"]] = found.get(row["task"], 0) + row["wait_s"]
    return found


def test_tasks_have_the_names_that_the_program_gave_them(profiled):
    profile = profiled(NAMES, "few")
    found = waited_by_name(profile)
    hostile, = set(found) - {"long", None}
    assert hostile == "</script><b>\x1b[31m\u202e'\ufffd" + "é" * 20 + "…"
    lasted = {None if name == "none" else name if name == "long" else hostile: s for name, s in profile.truth.items()}
    short_s = min(lasted.values())
    # three tasks share the time of the short ones, and the rest is the long one's
    truth = {None: short_s / 3, hostile: short_s / 3, "long": lasted["long"] - 2 * short_s / 3}
    assert found == {name: pytest.approx(s, rel=0.05, abs=LOOKS_S) for name, s in truth.items()}


def test_names_are_bounded_and_the_rest_share_one(profiled):
    profile = profiled(NAMES, "many")
    found = waited_by_name(profile)
    names = {r["task"] for r in profile.query("top 2000 tasks")} - {None}  # a task may only have been seen to run
    # On a busy machine fewer of the 400 are seen; how many names are kept is in tests/profiler/time/test_tasks.c.
    assert 128 < len(names) <= 256
    assert {name.split()[0] for name in found} <= {"task", "(other)"}
    (line,) = [r for r in profile.query("top 1000 own lines") if r["line"] == line_of(NAMES, "asyncio.sleep")]
    assert sum(found.values()) == pytest.approx(line["wait_s"])


def test_names_of_other_kinds(profiled):
    profile = profiled(NAMES, "kinds")
    found = waited_by_name(profile)
    third_s = profile.truth["all"] / 3
    assert found == {name: pytest.approx(third_s, rel=0.1, abs=LOOKS_S) for name in ("set later", "7", "Task-of mine")}


CPU = TRUTH / "asyncio_cpu.py"


@pytest.fixture(scope="module")
def steps(pieprof, loop, tmp_path_factory):
    """Two loops whose tasks take turns at burning CPU time."""
    return profile(tmp_path_factory.mktemp("steps") / "x.db", CPU, loop, options=FIXED_RATES)


def cpu_by_name(profile):
    found = {}
    for row in profile.query("top 1000 tasks"):
        assert row["cause"] is None or not row["cpu_s"], row
        name = row["task"] or row["coroutine"]
        found[name] = found.get(name, 0) + (row["cpu_s"] or 0)
    return found


def test_cpu_time_belongs_to_the_names_of_tasks(steps):
    """Not that of callbacks. Tasks of the class in Python cannot be read, and from 3.14 on nobody sees that they run.
    What the tasks did beside burning, and the loops for them, is in it too."""
    truth = {name: seconds * steps.program_share for name, seconds in steps.truth.items() if name != "callback"}
    truth["work"] = truth.pop("unnamed")
    of_python = truth.pop("python")
    if helpers.python_minor() < 14:
        truth[None] = of_python
    found = cpu_by_name(steps)
    assert set(found) <= {*truth, "a", "b", None} and found.get("a", 0) + found.get("b", 0) < 0.02
    whole, burned = sum(found.values()), sum(truth.values())
    shares = {name: pytest.approx(seconds / burned, abs=0.02) for name, seconds in truth.items()}
    assert {name: found[name] / whole for name in truth} == shares
    assert whole == pytest.approx(burned, rel=0.15)


def test_cpu_time_of_tasks_is_below_their_own_coroutine(steps):
    """Steps of which the stack does not show it are few: the interpreter begins or ends them."""
    rows = [r for r in steps.query("top 1000 tasks") if r["task"]]
    work = sum(r["cpu_s"] for r in rows if (r["coroutine"], r["coroutine_line"]) == ("work", line_of(CPU, "work")))
    assert work == pytest.approx(sum(r["cpu_s"] for r in rows), rel=0.05)
    assert sum(r["cpu_share"] for r in steps.query("top 1000 tasks")) == pytest.approx(1)
