# SPDX-License-Identifier: Apache-2.0
"""The program is Python: what it prints and how it ends is python3's, to the byte, while it is being profiled.

Three ways to call it. "name" starts it under python3's own argv[0], so that nothing may differ. "link" starts it as a
link called python3 in some folder, held against a link to the real one in the same place. "pieprof" is the command
itself with its own options, which runs as the python3 found on the PATH.
"""

import difflib
import functools
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

import command_lines
import helpers


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("cmd")


def normal(text):
    """Without addresses, and without the figures of -X importtime."""
    text = re.sub(rb"0x[0-9a-f]+", b"0xX", text)
    return re.sub(rb"import time: +\d+ \| +\d+", b"import time:", text)


def run(argv, case, place, executable=None, **more):
    """Runs one case in a fresh folder and returns (status, stdout, stderr)."""
    _, args, stdin, env = case
    work = place / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    command_lines.write_files(work)
    # python3 takes no notice of them, and a program that shows its environment shows them under both.
    wanted = {"PIEPROF": "1", "PIEPROF_OUTPUT": str(place / "profile.db")}
    environment = helpers.clean_environment(**{**wanted, **env, **more})
    done = subprocess.run([*map(str, argv), *args], executable=executable, input=stdin or b"", capture_output=True,
                          cwd=work, env=environment, timeout=120)
    return done.returncode, normal(done.stdout), normal(done.stderr)


@functools.lru_cache(maxsize=None)
def reference(name, place, path):
    """What the real interpreter does when it is called as path."""
    return run([path], BY_NAME[name], place)


BY_NAME = {case[0]: case for case in command_lines.CASES}


def assert_same(expected, got):
    labels = "status", "stdout", "stderr"
    report = []
    for label, a, b in zip(labels, expected, got):
        if isinstance(a, int):
            report += [f"{label}: python3 {a}, pieprof {b}"] if a != b else []
        elif a != b:
            lines = difflib.unified_diff(a.decode(errors="replace").splitlines(),
                                         b.decode(errors="replace").splitlines(), "python3", "pieprof", n=0)
            report += [f"{label}:", *list(lines)[:20]]
    assert not report, "\n".join(report)


def test_there_are_enough_cases():
    assert len(BY_NAME) == len(command_lines.CASES) >= 66


@pytest.mark.parametrize("name", BY_NAME)
def test_under_the_name_of_the_real_one(name, pieprof, place):
    link = place / "bin" / "python3"
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(pieprof)
    got = run([helpers.PYTHON], BY_NAME[name], place, executable=str(link))
    assert_same(reference(name, place, helpers.PYTHON), got)


def both_links(name, pieprof, place, folder, **more):
    """What a link called python3 does in one folder: one to the real interpreter, one to pieprof.

    Without a Python of its own, pieprof executes the real one under its own path, which is what that one says then."""
    link = place / folder / "python3"
    link.parent.mkdir(exist_ok=True)

    def outcome(target):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        return run([link], BY_NAME[name], place, **more)

    expected = outcome(helpers.PYTHON) if helpers.has_own_python() else run([helpers.PYTHON], BY_NAME[name], place, **more)
    return expected, outcome(pieprof)


# It says where the file is that the link points to.
SEES_THE_FILE = {"module-sysconfig"}


@pytest.mark.parametrize("name", [n for n in BY_NAME if n not in SEES_THE_FILE])
def test_as_a_link_called_python3(name, pieprof, place):
    assert_same(*both_links(name, pieprof, place, "other"))


@pytest.mark.parametrize("name", BY_NAME)
def test_as_pieprof(name, pieprof, place):
    got = run([pieprof, "-q", "--"], BY_NAME[name], place)
    assert_same(reference(name, place, helpers.PYTHON), got)


@pytest.mark.parametrize("name", ["who", "children", "script", "sigint", "exception"])
def test_as_a_link_called_python3_unprofiled(name, pieprof, place):
    assert_same(*both_links(name, pieprof, place, "off", PIEPROF=None, PIEPROF_OUTPUT=None))


class Terminal:
    """A program on a pseudo-terminal, spoken to a line at a time."""

    def __init__(self, argv, executable, env):
        self.transcript = b""
        try:
            self.pid, self.fd = pty.fork()
        except OSError as error:
            pytest.skip(f"no pseudo-terminals here: {error}")
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.execve(executable, argv, env)

    def read_until(self, text, seconds=30):
        start, end = len(self.transcript), time.monotonic() + seconds
        while text not in self.transcript[start:]:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {text!r} within {seconds} s in {self.transcript!r}"
            try:
                got = os.read(self.fd, 4096)
            except OSError:  # the other side is gone
                got = b""
            if not got:
                break
            self.transcript += got

    def say(self, line, until=b">>> "):
        os.write(self.fd, line)
        self.read_until(until)

    def end(self):
        self.read_until(b"never said")
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return self.transcript, status


def interactive_session(argv, executable, **more):
    env = helpers.clean_environment(TERM="dumb", HOME="/nonexistent", INPUTRC="/dev/null", **more)
    terminal = Terminal(argv, executable, env)
    terminal.read_until(b">>> ")
    terminal.say(b"1+1\n")
    terminal.say(b"import sys; sys.ps1.strip(), 'readline' in sys.modules, sys.argv\n")
    terminal.say(b"def f(x):\n", until=b"... ")
    terminal.say(b"  return x * 2\n", until=b"... ")
    terminal.say(b"\n")
    terminal.say(b"f(21)\n")
    terminal.say(b"1/0\n")
    terminal.say(b"print('now', flush=True); import time; time.sleep(30)\n", until=b"now\r\n")
    time.sleep(0.3)  # until it sleeps
    terminal.say(b"\x03")
    os.write(terminal.fd, b"\x04")
    return terminal.end()


def test_the_interactive_session_reads_the_same(pieprof, place):
    expected = interactive_session([helpers.PYTHON], helpers.PYTHON)
    assert b"KeyboardInterrupt" in expected[0] and b"42" in expected[0]
    link = place / "repl" / "python3"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(pieprof)
    db = str(place / "repl.db")
    assert interactive_session([helpers.PYTHON], str(link), PIEPROF="1", PIEPROF_OUTPUT=db) == expected
    assert interactive_session([pieprof, "-q", "-o", db, "-"], pieprof)[1] == expected[1]
