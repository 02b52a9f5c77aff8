# SPDX-License-Identifier: Apache-2.0
"""Programs that do awkward things while their memory accesses are watched: the same output and end as under python3,
and watching went on. Each in all ways to debug registers: with the descriptors hidden, in the program's own table, and
by ptrace, beside perf events and where a container's seccomp filter refuses those."""

import resource

import pytest

from helpers import FAULTS, PYTHON, ROOT, check_file, profile, query, run
from test_faults_programs import no_core, outcome

# Linux before 6.9 has no pidfd of a thread; refusing pidfd_getfd is the same to the profiler.
WAYS = {"hidden": [], "own-table": [PYTHON, FAULTS / "refuse.py", "ENOSYS", "pidfd_getfd"], "ptrace": [],
        "container": [ROOT / "packaging" / "without-perf-events"]}
OPTIONS = {"ptrace": ["--breakpoints", "ptrace"], "container": ["--breakpoints", "any"]}
WITH_ARGUMENTS = ("watch_work", "watch_ends", "watch_descriptors")
PROGRAMS = sorted(p.stem for p in FAULTS.glob("watch_*.py") if p.stem not in WITH_ARGUMENTS)
# Many watches in a short time.
DENSE = ["-q", "--rate", "4000", "--overhead", "95%"]
ENDS = {"exit": 3, "_exit": 4, "abort": -6, "kill": -15, "last": 0}


@pytest.fixture(scope="module", autouse=True)
def needs_breakpoints(pieprof, tmp_path_factory):
    """Skips with the profiler's own reason where accesses cannot be watched, and without NumPy."""
    if run([PYTHON, "-c", "import numpy"]).returncode:
        pytest.skip("needs NumPy")
    one = profile(tmp_path_factory.mktemp("probe") / "x.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if one[0]["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {one[0]['sampler_note']}")


def least(way, watches):
    """In a container samples come at the kernel's tick: short programs may have none that begins a watch. A register
    that is set by ptrace takes the collection thread's turn: 99 to 110 watches where others began 200 to 280."""
    return {"container": (watches >= 100) * watches // 10, "ptrace": watches // 4}.get(way, watches)


EXPECTED = {}


def under_python(tmp_path, program, arguments, preexec):
    """The outcome under python3, which is run once for all ways to debug registers."""
    key = program, arguments, preexec.__name__
    if key not in EXPECTED:
        EXPECTED[key] = outcome([PYTHON], program, tmp_path / "python3", after=arguments, preexec=preexec)
    return EXPECTED[key]


def both(pieprof, tmp_path, way, program, *arguments, preexec=no_core):
    """The outcomes under python3 and under pieprof, and the file of the latter."""
    db = tmp_path / "x.db"
    prefix = [*map(str, WAYS[way]), pieprof, *DENSE, *OPTIONS.get(way, []), "-o", str(db)]
    expected = under_python(tmp_path, program, arguments, preexec)
    return expected, outcome(prefix, program, tmp_path / "pieprof", after=arguments, preexec=preexec), db


def counters(db):
    return {r["name"]: r["n"] for r in query(db, "select name, sum(value) as n from counter group by name")}


def expect_watching(db, watches=5):
    """The file is sound and has watches, so that the test was about what it says."""
    runs = check_file(db)
    found = counters(db)
    assert found.get("watches", 0) >= watches, found
    return runs, found


def watches_below(db, *functions):
    """How many watches began in these functions of the first process, or in what they called."""
    names = ", ".join(f"'{name}'" for name in functions)
    rows = query(db, f"""
        WITH RECURSIVE up (process, node, watches) AS (
          SELECT process, first_node, watches FROM watch WHERE process = (SELECT min(id) FROM process)
          UNION ALL
          SELECT up.process, n.parent, up.watches FROM up JOIN node n ON n.process = up.process AND n.id = up.node)
        SELECT u.name AS function, sum(up.watches) AS watches FROM up
        JOIN node n ON n.process = up.process AND n.id = up.node
        JOIN location l ON l.process = n.process AND l.id = n.location
        JOIN function u ON u.process = l.process AND u.id = l.function
        WHERE u.name IN ({names}) GROUP BY 1""")
    return {**dict.fromkeys(functions, 0), **{r["function"]: r["watches"] for r in rows}}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_under_python(pieprof, tmp_path, name, way):
    expected, found, db = both(pieprof, tmp_path, way, FAULTS / f"{name}.py")
    assert found == expected
    assert expected[0] == (-5 if name in ("watch_sigtrap_default", "watch_sigtrap_breakpoint") else 0), expected
    runs, _ = expect_watching(db, least(way, 5))
    assert len(runs) == 1


def test_watches_left_over_slow_no_copies(pieprof, tmp_path):
    """Where an armed register makes string instructions 30 times slower, a program that turns to plain Python's copies
    is soon rid of those that nobody touches any more."""
    program = tmp_path / "x.py"
    program.write_text("""
import json, time, numpy
def copies():
    start = time.thread_time()
    for _ in range(30000):
        bytearray(source)
    return time.thread_time() - start
source = bytes(40000)
before = [copies() for _ in range(5)]
array, at, after = numpy.arange(4e6), 0, []
for _ in range(6):
    end = time.thread_time() + 0.4
    while time.thread_time() < end:
        array[at:at + 50000].sum()
        at = (at + 50000) % 3900000
    after.append(copies())
print(json.dumps([before, after]))
""")
    before, after = profile(tmp_path / "x.db", program).truth
    assert counters(tmp_path / "x.db")["watches"] > 10
    assert sum(after) < 5 * sum(before), (before, after)  # 1.0 to 1.5; some 20 without the rest


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ENDS)
def test_end_while_others_are_watched(pieprof, tmp_path, how, way):
    expected, found, db = both(pieprof, tmp_path, way, FAULTS / "watch_ends.py", how)
    assert found == expected and expected[0] == ENDS[how]
    if how != "abort":
        check_file(db)


@pytest.mark.parametrize("way", WAYS)
def test_descriptors(pieprof, tmp_path, way):
    """Closed, counted, limited; where ours are hidden the program also finds the very numbers it would have."""
    look = [] if way == "own-table" else ["look"]
    expected, found, db = both(pieprof, tmp_path, way, FAULTS / "watch_descriptors.py", *look)
    assert found == expected and expected[0] == 0
    expect_watching(db, least(way, 5))


@pytest.mark.parametrize("way", WAYS)
def test_few_descriptors_from_the_start(pieprof, tmp_path, way):
    def limited():
        no_core()
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))

    look = [] if way == "own-table" else ["look"]
    expected, found, db = both(pieprof, tmp_path, way, FAULTS / "watch_descriptors.py", *look, preexec=limited)
    assert found == expected and expected[0] == 0
    check_file(db)


@pytest.mark.parametrize("way", WAYS)
def test_parent_goes_on_watching_after_forks(pieprof, tmp_path, way):
    """Children have profiles of their own, and the parent's watches are none the worse for their end. It works for a
    time and not for a number of rounds: samples come by time, and a fast machine would have too few of them."""
    program = tmp_path / "x.py"
    cpu_s = 1.5 if way == "container" else 0.35
    program.write_text(f"import os, sys, time; sys.path.insert(0, {str(FAULTS)!r})\nimport watch_work\n"
                       "def work(cpu_s):\n"
                       "    end_s = time.thread_time() + cpu_s\n"
                       "    while time.thread_time() < end_s: watch_work.element_loop(1, 300, 500)\n"
                       f"def before(): work({cpu_s})\n"
                       f"def after(): work({2 * cpu_s})\n"
                       "before()\n"
                       "for _ in range(20):\n"
                       "    child = os.fork()\n"
                       "    if child == 0: os._exit(int(watch_work.element_loop(1, 20, 300)) == 0)\n"
                       "    os.waitpid(child, 0)\n"
                       "after()\n")
    db = tmp_path / "x.db"
    assert outcome([*map(str, WAYS[way]), pieprof, *DENSE, *OPTIONS.get(way, []), "-o", str(db)], program, tmp_path / "run") == (0, "", "")
    expect_watching(db, least(way, 100))
    watches = watches_below(db, "before", "after")
    assert (watches["before"] > 20 and watches["after"] > 10) or way == "container", watches  # a decided line has few more


def test_breakpoints_are_refused(pieprof, tmp_path):
    """perf_event_open refused as in a container: no watching, and all else as ever; the run says what is missing."""
    refuse = [PYTHON, str(FAULTS / "refuse.py"), "EPERM", "perf_event_open"]
    expected = outcome([PYTHON], FAULTS / "watch_threads.py", tmp_path / "python3")
    found = outcome([*refuse, pieprof, "-q", "-o", str(tmp_path / "x.db")], FAULTS / "watch_threads.py", tmp_path / "run")
    assert found == expected
    (one,) = check_file(tmp_path / "x.db")
    # By the CPU time, of which fast machines need less; threads this short miss most of their samples.
    assert one["samples"] > 1000 * one["cpu_s"] / 10 > 5
    assert counters(tmp_path / "x.db").get("watch_traps", 0) == 0
    (process,) = query(tmp_path / "x.db", "select sampler, sampler_note from process")
    assert process["sampler"] == "none" and "perf_event" in process["sampler_note"], process


def test_refused_in_the_middle(pieprof, tmp_path):
    """The program itself gives up perf_event_open (a sandbox that closes): the profile ends before, and says so."""
    program = tmp_path / "x.py"
    program.write_text(f"import errno, sys, threading; sys.path.insert(0, {str(FAULTS)!r})\n"
                       "import watch_work\n"
                       "sys.argv[1:] = ['EPERM', 'perf_event_open,pidfd_getfd', sys.executable, '-c', '']\n"
                       "import os; os.execvp = lambda *command: None\n"
                       "print(watch_work.element_loop(10))\n"
                       "import refuse\n"
                       "print(watch_work.element_loop(10))\n"
                       "threads = [threading.Thread(target=watch_work.element_loop, args=(3,)) for _ in range(10)]\n"
                       "[t.start() for t in threads]; [t.join() for t in threads]\n"
                       "print('done')\n")
    expected, found, db = both(pieprof, tmp_path, "hidden", program)
    assert found[:2] == expected[:2] and expected[0] == 0
    assert found[2].count("\n") == 1 and "seccomp filter" in found[2]
    expect_watching(db)
