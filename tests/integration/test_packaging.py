# SPDX-License-Identifier: Apache-2.0
"""packaging/: what the container kit says is so."""

import json
import os

import pytest

import helpers

seccomp = pytest.importorskip("seccomp", reason="python3-seccomp is not installed")
PROFILE = helpers.ROOT / "packaging" / "seccomp.json"

# What an engine does with a profile, before it starts the program.
ENTER = """
import json, os, sys, seccomp
profile = json.load(open(sys.argv[1]))
assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
compare = {"SCMP_CMP_EQ": seccomp.EQ, "SCMP_CMP_NE": seccomp.NE, "SCMP_CMP_MASKED_EQ": seccomp.MASKED_EQ}
found = seccomp.SyscallFilter(seccomp.ERRNO(profile["defaultErrnoRet"]))
for rule in profile["syscalls"]:
    action = seccomp.ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else seccomp.ERRNO(rule["errnoRet"])
    tests = [seccomp.Arg(t["index"], compare[t["op"]], t["value"], t["valueTwo"]) for t in rule.get("args", [])]
    for name in rule["names"]:
        if name not in sys.argv[2].split(","):
            found.add_rule(action, name, *tests)
found.load()
os.execv(sys.argv[3], sys.argv[3:])
"""


def inside(*command, without=""):
    """Runs a command under the profile, without some of the calls that it allows."""
    return helpers.run(["/usr/bin/python3", "-c", ENTER, PROFILE, without, *command])


def test_calls_are_listed_once():
    rules = json.loads(PROFILE.read_text())["syscalls"]
    names = [n for r in rules for n in r["names"] if "args" not in r]
    assert len(names) == len(set(names)) > 250 and names[:2] == ["perf_event_open", "pidfd_getfd"]


def test_the_profiler_has_what_it_has_outside(pieprof, tmp_path):
    code, asked = "sum(i * i for i in range(300000))", "select clock, sampler from v_run"
    for db, run in ("outside.db", helpers.run), ("inside.db", lambda argv: inside(*argv)):
        done = run([pieprof, "-q", "-o", tmp_path / db, "-c", code])
        assert (done.returncode, done.stderr) == (0, "")
    assert helpers.query(tmp_path / "inside.db", asked) == helpers.query(tmp_path / "outside.db", asked)
    done = inside(pieprof, "-q", "-o", tmp_path / "less.db", "-c", code, without="perf_event_open")
    assert done.returncode == 0
    assert helpers.query(tmp_path / "less.db", asked) == [{"clock": "timer", "sampler": "none"}]


def test_programs_run_and_walls_hold():
    code = """
import ctypes, errno, multiprocessing, os, socket, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
def refused(call, *arguments):
    assert call(*arguments) == -1
    return errno.errorcode[ctypes.get_errno()]
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(pool.map(abs, [-1, -2]), subprocess.check_output(["/bin/echo", "x"]))
    thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
    socket.create_server(("127.0.0.1", 0)).close()
    try:
        socket.socket(socket.AF_VSOCK)
    except OSError as error:
        print(errno.errorcode[error.errno])
    print(refused(libc.unshare, 0x10000000), refused(libc.mount, b"x", b"/", b"tmpfs", 0, None),
          refused(libc.syscall, 56, 0x10000000 | 17, 0, 0, 0, 0), refused(libc.syscall, 435, 0, 0))
"""
    done = inside(helpers.PYTHON, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[:4] == ["[1, 2] b'x\\n'", "thread", "EPERM", "EPERM EPERM EPERM ENOSYS"]


def test_without_perf_events():
    code = "import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(298, 0, 0, -1, -1, 0), ctypes.get_errno())"
    done = helpers.run([helpers.ROOT / "packaging" / "without-perf-events", helpers.PYTHON, "-c", code])
    assert (done.stdout, done.stderr) == ("-1 1\n", ""), os.uname()
