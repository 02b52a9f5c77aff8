# SPDX-License-Identifier: Apache-2.0
"""Death by a signal that leaves no core: the profile is whole, and the program and its parent see nothing of that."""

import random
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from helpers import FAULTS, PYTHON, accounts, check_file, clean_environment, is_made, profile, query, run

DEADLY = ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGTERM", "SIGVTALRM", "SIGIO", "SIGPWR"]
LAST_S = 0.1  # of CPU time that may be missing: what was measured since the program last said how far it is, and a tick
FLUSH_S = 1.35  # what SIGKILL may cost, on a loaded machine


def progress(pieprof, db, moment, name, is_heard=False):
    """Ends a busy run after `moment` seconds, or so long after it has said something; returns its status and the CPU
    time that it last said, or None."""
    with subprocess.Popen([pieprof, "-q", "-o", str(db), str(FAULTS / "progress.py")], stdout=subprocess.PIPE,
                          env=clean_environment()) as process:
        first = process.stdout.readline() if is_heard else b""
        time.sleep(moment)
        process.send_signal(getattr(signal, name))
        said = (first + process.stdout.read()).split(b"\n")
    return process.returncode, float(said[-2].split()[0]) if len(said) > 1 else None


def clock_s(db):
    """What the threads' CPU clocks showed when they were looked at last: the program's own time, and the profiler's on
    them, some hundredths of it, which the program cannot tell from its own."""
    return query(db, "select coalesce(sum(clock_cpu_s), 0) as s from v_thread")[0]["s"]


@pytest.mark.parametrize("name", DEADLY)
def test_end_is_written(pieprof, tmp_path, name):
    """The young process has not written anything by itself yet: its first flush comes after a quarter of a second."""
    number = getattr(signal, name)
    for moment in (0.1, 0.8):
        db = tmp_path / f"{moment}.db"
        status, said = progress(pieprof, db, moment, name, is_heard=True)
        assert status == -number and said is not None
        (one,) = check_file(db)
        assert (one["cause"], one["exit_status"]) == ("signal", 128 + number)
        assert abs(said - clock_s(db)) < LAST_S


def test_kills_at_any_moment(pieprof, tmp_path, request):
    """The file opens and is sound. SIGKILL costs at most the last second, SIGTERM and SIGHUP a few milliseconds."""
    moments = random.Random(23)
    lost = {"SIGKILL": [], "SIGTERM": [], "SIGHUP": []}
    without = 0
    for number in range(request.config.getoption("--kills")):
        name = list(lost)[number % 3]
        db = tmp_path / f"{number}.db"
        moment = moments.uniform(0, 0.15) if number % 4 == 0 else moments.uniform(0, 2.2)
        status, said = progress(pieprof, db, moment, name)
        assert status == -getattr(signal, name)
        runs = check_file(db) if is_made(db) else []
        if not runs:  # killed before it was made; the program had said nothing or nearly so
            without += 1
            assert said is None or (name == "SIGKILL" and said < FLUSH_S), (name, moment, said)
            continue
        if said is None:
            continue
        lost[name].append(said - clock_s(db))
        if name != "SIGKILL":
            assert (runs[0]["cause"], runs[0]["exit_status"]) == ("signal", 128 - status), (moment, said)
    for name, values in lost.items():
        print(f"{name}: {len(values)} runs, at most {max(values, default=0):.3f} s of CPU time are missing")
        assert max(values, default=0) < (FLUSH_S if name == "SIGKILL" else LAST_S), (name, sorted(values))
    print(f"{without} runs ended before there was a file")
    assert without < request.config.getoption("--kills") / 2


# Each prints what it sees and may die of it: the same under python3.
PROGRAMS = {
    "dispositions": """
for s in signal.Signals: print(s.name, signal.getsignal(s))""",
    "set and reset": """
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
    print(signal.signal(s, print), signal.getsignal(s), signal.signal(s, signal.SIG_IGN), signal.signal(s, signal.SIG_DFL))
    print(signal.getsignal(s))
os.kill(os.getpid(), signal.SIGHUP)
print("alive")""",
    "the C library": """
import ctypes
c = ctypes.CDLL(None)
for f in (c.signal, c.bsd_signal, c.sysv_signal, c.sigset):
    f.restype = ctypes.c_void_p; f.argtypes = [ctypes.c_int, ctypes.c_void_p]
    print(f(15, 1), f(15, None), f(15, None))
c.sigaction.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]
new = (0).to_bytes(8, "little") + (1 << 5).to_bytes(8, "little") + bytes(112) + (0x10000000).to_bytes(8, "little") + bytes(16)
old = ctypes.create_string_buffer(152)
print(c.sigaction(15, new, old), c.sigaction(15, None, old), old.raw[:16].hex(), old.raw[136:140].hex())""",
    "own kill": "os.kill(os.getpid(), signal.SIGTERM); print('alive')",
    "raise": "signal.raise_signal(signal.SIGUSR2); print('alive')",
    "group": "os.setpgrp(); os.killpg(0, signal.SIGTERM); print('alive')",
    "kill of a thread": """
import threading, time
def end():
    os.kill(os.getpid(), signal.SIGTERM)
    print("alive")
t = threading.Thread(target=end); t.start(); t.join(); time.sleep(1); print("alive")""",
    "exit of another thread": """
import threading, time
def end():
    time.sleep(0.2)
    os._exit(3)
threading.Thread(target=end).start()
os.kill(os.getpid(), signal.SIGTERM)""",
    "pipe": """
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
r, w = os.pipe(); os.close(r); print("before"); os.write(w, b"x"); print("alive")""",
    "alarm": "signal.alarm(1); signal.pause(); print('alive')",
    "interrupt": "os.kill(os.getpid(), signal.SIGINT)",
    "interrupt by default": "signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGINT); print('alive')",
    "blocked": """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGHUP])
os.kill(os.getpid(), signal.SIGTERM); os.kill(os.getpid(), signal.SIGHUP)
print(signal.sigpending(), signal.sigwait([signal.SIGTERM]), signal.sigpending())
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])
print("alive")""",
    "restored by a handler": """
def handler(number, frame):
    print("handler"); signal.signal(number, signal.SIG_DFL); os.kill(os.getpid(), number)
signal.signal(signal.SIGTERM, handler); os.kill(os.getpid(), signal.SIGTERM); print('alive')""",
    "interrupted calls": """
import select, time
seen = []
signal.signal(signal.SIGALRM, lambda *a: seen.append(1) if len(seen) < 20 else 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
r, w = os.pipe()
try: os.read(r, 1)
except ZeroDivisionError: signal.setitimer(signal.ITIMER_REAL, 0); print(len(seen))""",
    "children": """
import subprocess
show = ["grep", "-E", "Sig(Blk|Ign|Cgt|Pnd)", "/proc/self/status"]
for more in ({}, {"restore_signals": False}, {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}):
    print(subprocess.run(show, capture_output=True, text=True, **more).stdout)
pid = os.posix_spawn("/bin/grep", show, os.environ, setsigdef=[signal.SIGPIPE])
print(os.waitpid(pid, 0)[1], os.system(" ".join(show)))
for act in (lambda: None, lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)):
    if not (pid := os.fork()):
        act(); signal.pause()
    os.kill(pid, signal.SIGTERM); print(os.waitpid(pid, 0)[1])
if not (pid := os.fork()): os.execvp("sleep", ["sleep", "10"])
os.kill(pid, signal.SIGTERM); print(os.waitpid(pid, 0)[1])
pid = os.posix_spawnp("sleep", ["sleep", "10"], os.environ); os.kill(pid, signal.SIGHUP); print(os.waitid(os.P_PID, pid, os.WEXITED).si_status)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_sees_no_difference(pieprof, tmp_path, name):
    text = "import os, signal, sys\nsys.stdout.reconfigure(line_buffering=True)\n" + PROGRAMS[name]
    (tmp_path / "p.py").write_text(text)
    plain = run([PYTHON, "-B", tmp_path / "p.py"])
    done = run([pieprof, "-q", "-o", tmp_path / "x.db", tmp_path / "p.py"])
    assert "alive" not in plain.stdout
    assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, plain.stderr, plain.returncode)
    (one,) = check_file(tmp_path / "x.db")
    if done.returncode < 0:
        assert (one["cause"], one["exit_status"]) == ("signal", 128 - done.returncode)


POOL = """
import json, multiprocessing, sys, time
def keep(barrier):
    work.barrier = barrier
def work(seconds):
    work.barrier.wait()  # one for each worker
    while time.thread_time() < seconds: pass
    return time.thread_time()
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(2, keep, [multiprocessing.Barrier(2)]) as pool:
        print(json.dumps(pool.map(work, [1.1, 1.1], chunksize=1)))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_a_pool_are_whole(pieprof, tmp_path, method):
    """`with Pool()` ends its workers by SIGTERM, most of a second after their last flush."""
    (tmp_path / "pool.py").write_text(POOL)
    done = profile(tmp_path / "x.db", tmp_path / "pool.py", method)
    check_file(done.db)
    workers = [row for row in accounts(done.db) if row["program_s"] and row["program_s"] > 0.5]
    assert len(workers) == 2
    for worker in workers:  # one that saw the end of its queue first is not killed
        assert (worker["cause"], worker["exit_status"]) in [("signal", 143), ("_exit", 0), ("exit", 0)], worker
        assert worker["clock_s"] == pytest.approx(1.1, rel=0.06)  # with its start
        assert worker["program_s"] + worker["own_s"] == pytest.approx(worker["clock_s"], rel=0.03), worker
    if method == "spawn":  # whose workers do not see it
        assert any(worker["cause"] == "signal" for worker in workers), workers


def test_ignored_stays_ignored(pieprof, tmp_path):
    """As under nohup(1)."""
    text = ("import os, signal; print(signal.getsignal(signal.SIGHUP)); os.kill(os.getpid(), signal.SIGHUP)\n"
            "print(open('/proc/self/status').read().split('SigIgn:')[1].split()[0])")
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    plain = run([PYTHON, "-c", text], preexec_fn=ignore)
    done = run([pieprof, "-q", "-o", tmp_path / "x.db", "-c", text], preexec_fn=ignore)
    assert plain.returncode == 0 and (done.stdout, done.returncode) == (plain.stdout, 0)


@pytest.mark.parametrize("signals, least_s, most_s", [(["SIGTERM"], 0.3, 1.5), (["SIGTERM", "SIGHUP"], 0, 0.3)])
def test_wait_is_bounded(pieprof, tmp_path, signals, least_s, most_s):
    """Somebody holds a lock on the file: half a second, and a second signal ends at once. The first is what it dies
    of."""
    db = tmp_path / "x.db"
    with subprocess.Popen([pieprof, "-q", "-o", str(db), str(FAULTS / "progress.py")], stdout=subprocess.DEVNULL,
                          env=clean_environment()) as process:
        time.sleep(0.5)
        while not is_made(db):
            time.sleep(0.05)
        lock = sqlite3.connect(db, isolation_level=None, timeout=10)
        lock.execute("BEGIN IMMEDIATE")
        for name in signals:
            begun = time.monotonic()
            process.send_signal(getattr(signal, name))
            time.sleep(0.1)
        process.wait(timeout=30)
        spent = time.monotonic() - begun
        lock.close()
    assert process.returncode == -signal.SIGTERM
    assert least_s < spent < most_s, spent
    check_file(db)


def test_first_process_of_a_container(pieprof, tmp_path):
    """The kernel spares it signals that have the default; it goes on, and is profiled to its end."""
    unshare = [shutil.which("unshare") or "unshare", "--pid", "--fork", "--mount-proc"]
    if run([*unshare, "true"]).returncode:
        pytest.skip("needs leave to make a process namespace")
    text = "import os, signal\nprint(os.getpid())\nfor s in (15, 1): os.kill(1, s)\nx = sum(range(10**7))\nprint('the end')"
    done = run([*unshare, pieprof, "-q", "-o", tmp_path / "x.db", "-c", text])
    assert (done.stdout, done.returncode) == ("1\nthe end\n", 0), done
    (one,) = check_file(tmp_path / "x.db")
    assert (one["cause"], one["exit_status"]) == ("exit", 0) and one["cpu_s"] > 0.05


INT1 = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\\xf1\\xc3")
print("before", flush=True)
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
print("after")
"""

KERNELS_TRAP = """
import ctypes, os, signal, struct, sys, threading

TRAPPED = []
if sys.argv[1] == "handled":
    signal.signal(signal.SIGTRAP, lambda *_: TRAPPED.append(1))

def send(code):
    info = struct.pack("iii", signal.SIGTRAP, 0, code).ljust(128, b"\\0")
    return ctypes.CDLL(None).syscall(297, os.getpid(), threading.get_native_id(), signal.SIGTRAP, info)  # rt_tgsigqueueinfo

for code in map(int, sys.argv[2:]):
    assert send(code) == 0
    sum(i * i for i in range(300_000))  # samples are taken after it as well
print("alive", len(TRAPPED))
"""


def test_a_hit_whose_reason_the_kernel_lost_harms_nobody(pieprof, tmp_path):
    """TRAP_BRKPT (1) without an int1 before it, and TRAP_HWBKPT (4): neither ends the program nor reaches its handler.
    Anything else does what it does under python3: TRAP_TRACE (2), an event of the program's own (6), sent by a program
    (-1)."""
    program = tmp_path / "trap.py"
    program.write_text(KERNELS_TRAP)
    for disposition in ("default", "handled"):
        done = profile(tmp_path / "a.db", program, disposition, "1", "4", "1")
        assert done.completed.stdout == "alive 0\n"
        assert done.sql("select value from counter where name = 'watch_stray_traps'")[0]["value"] >= 3
    for code in ("2", "6", "-1"):
        for disposition in ("default", "handled"):
            expected = run([PYTHON, program, disposition, code])
            ended = run([pieprof, "-q", "-o", tmp_path / "b.db", program, disposition, code])
            assert (ended.returncode, ended.stdout) == (expected.returncode, expected.stdout)


def test_an_int1_of_the_program_ends_it(pieprof, tmp_path):
    program = tmp_path / "int1.py"
    program.write_text(INT1)
    expected = run([PYTHON, program])
    ended = run([pieprof, "-q", "-o", tmp_path / "x.db", program])
    assert (expected.returncode, ended.returncode, ended.stdout) == (-5, -5, expected.stdout)
