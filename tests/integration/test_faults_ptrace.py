# SPDX-License-Identifier: Apache-2.0
"""Debug registers by ptrace: the program meets neither the helper nor its traps, and nothing outlives it."""

import pathlib

import pytest

from helpers import FAULTS, PYTHON, ROOT, run
from test_faults_programs import no_core, outcome
from test_faults_watch import DENSE, ENDS, counters, needs_breakpoints  # noqa: F401  (a fixture of this module too)

BY_PTRACE = [*DENSE, "--breakpoints", "ptrace"]
BEGIN = f"import ctypes, os, signal, sys, threading, time; sys.path.insert(0, {str(FAULTS)!r})\nimport watch_work\n"

# Each says what it saw; the same as under python3.
PROGRAMS = {
    "waits for any child": """
children, stop = [], threading.Event()
signal.signal(signal.SIGCHLD, lambda *_: children.append(1))
def wait():
    while not stop.is_set():
        try:
            assert os.waitpid(-1, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            pass
        time.sleep(0.0001)
waiter = threading.Thread(target=wait); waiter.start()
print(watch_work.element_loop(20), len(children))
stop.set(); waiter.join()
print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1]), len(children))
""",
    "signals its group": """
seen = []
print(watch_work.element_loop(15))
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
def send():
    for _ in range(300):
        before = len(seen)
        os.killpg(0, signal.SIGUSR1)
        while len(seen) == before:
            time.sleep(0.0001)
sender = threading.Thread(target=send); sender.start()
print(watch_work.element_loop(20))
while sender.is_alive():  # a signal just before a wait without an end would not end it
    sender.join(0.01)
print(len(seen), flush=True)
os.kill(0, signal.SIGTERM)
time.sleep(10)
""",
    "masks in handlers": """
libc = ctypes.CDLL(None, use_errno=True)
class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ulong * 16), ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]
ran = []
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: ran.append(watch_work.element_loop(1, 10, 200)))
action, back = Action(ctypes.cast(handler, ctypes.c_void_p).value), Action()
libc.sigfillset(ctypes.byref(action.mask))
assert libc.sigaction(signal.SIGUSR1, ctypes.byref(action), None) == 0
assert libc.sigaction(signal.SIGUSR1, None, ctypes.byref(back)) == 0
print(hex(back.mask[0]), back.handler == action.handler)
for _ in range(30):
    watch_work.element_loop(1)
    os.kill(os.getpid(), signal.SIGUSR1)
print(len(ran), len(set(ran)), watch_work.element_loop(3))
""",
    "starts threads and children": """
def work():
    for _ in range(40):
        watch_work.element_loop(1, 10, 200)
        thread = threading.Thread(target=watch_work.element_loop, args=(1, 5, 100)); thread.start(); thread.join()
        child = os.fork()
        if child == 0:
            os._exit(int(watch_work.element_loop(1, 5, 100)) % 100)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
codes = []
work(); print(len(codes), set(codes), watch_work.element_loop(3))
""",
    "becomes another user": """
print(watch_work.element_loop(15))
if os.getuid() == 0:
    os.setuid(12345)
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
start = time.monotonic()
print(watch_work.element_loop(15), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), time.monotonic() - start < 30)
""",
    "makes a PID namespace": """
print(watch_work.element_loop(10))
libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(0x20000000), ctypes.get_errno())
print(watch_work.element_loop(10), flush=True)
child = os.fork()
if child == 0:
    os._exit(watch_work.element_loop(1, 5, 100) > 0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(watch_work.element_loop(5))
""",
}


@pytest.fixture(scope="module", autouse=True)
def needs_ptrace(pieprof, tmp_path_factory):
    """Skips with the profiler's own reason."""
    db = tmp_path_factory.mktemp("probe") / "x.db"
    assert run([pieprof, *BY_PTRACE, "-o", db, "-c", "pass"]).returncode == 0
    one = run([pieprof, "query", db, "select sampler || ': ' || coalesce(sampler_note, '') from process"]).stdout
    if "none: " in one:
        pytest.skip(one)


def left(marker):
    """Processes with this in their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(marker).encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            pass
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_under_python(pieprof, tmp_path, name):
    program, db = tmp_path / "x.py", tmp_path / "x.db"
    program.write_text(BEGIN + PROGRAMS[name])
    expected = outcome(["setsid", "-w", PYTHON], program, tmp_path / "python3", preexec=no_core)
    found = outcome(["setsid", "-w", pieprof, *BY_PTRACE, "-o", str(db)], program, tmp_path / "pieprof", preexec=no_core)
    assert found == expected and left(db) == []
    assert expected[0] == (-15 if name == "signals its group" else 0) and "Traceback" not in expected[2], expected
    assert counters(db).get("watches", 0) >= 1, counters(db)


@pytest.mark.parametrize("how", ENDS)
def test_no_process_is_left(pieprof, tmp_path, how):
    db = tmp_path / "x.db"
    outcome([pieprof, *BY_PTRACE, "-o", str(db)], FAULTS / "watch_ends.py", tmp_path / "run", after=[how], preexec=no_core)
    assert left(db) == []


def test_killed_at_any_moment(pieprof, tmp_path):
    """SIGKILL, twenty times, while watches begin and end."""
    program = tmp_path / "x.py"
    program.write_text(BEGIN + "threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), 9)).start()\n"
                       "while True: watch_work.element_loop(1)\n")
    for n in range(20):
        db = tmp_path / f"{n}.db"
        code, _, _ = outcome([pieprof, *BY_PTRACE, "-o", str(db)], program, tmp_path / f"run{n}", after=[str(0.2 + n / 97)],
                             preexec=no_core)
        assert code == -9 and left(db) == []


def test_container(pieprof, tmp_path):
    """As engines run it by default: watched only if asked for, and the run says how."""
    inside = [ROOT / "packaging" / "without-perf-events", pieprof, "-q", "-o"]
    program = tmp_path / "x.py"
    program.write_text(BEGIN + "watch_work.element_loop(int(sys.argv[1]))")
    notes = {}
    # at the kernel's tick one sample in fifty begins a watch
    for options, rounds in (((), 20), (("--breakpoints", "any"), 120)):
        db = tmp_path / f"{len(options)}.db"
        assert run([*inside, db, *options, program, rounds]).returncode == 0
        notes[options] = run([pieprof, "query", db, "select sampler || ': ' || sampler_note from process"]).stdout
        assert bool(counters(db).get("watches", 0)) == bool(options)
    assert "--breakpoints any" in notes[()] and "set by ptrace" in notes["--breakpoints", "any"], notes
