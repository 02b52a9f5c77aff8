# SPDX-License-Identifier: Apache-2.0
"""What is seen of a run while it runs: pieprof top of a process, and the line of --progress."""

import os
import re
import signal
import subprocess
import time

import pytest
from helpers import clean_environment, is_made, query, run
from terminal import Terminal

SPINS = "import time\nend = time.monotonic() + {}\nwhile time.monotonic() < end:\n    pass\n"
THREADS = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), name='sleeper', daemon=True).start()\n" + SPINS
# Lines, parts of lines, a prompt, a child's output, and a fork: all that a program may do with its terminal.
PRINTS = """
import os, sys, time
for i in range(40):
    print("line", i, "x" * (i % 50))
    if i % 7 == 0:
        print("part ", end="", flush=True)
    end = time.monotonic() + 0.06
    while time.monotonic() < end:
        pass
print("name? ", end="", flush=True)
time.sleep(1.2)
print("none")
sys.stdout.flush()
if os.fork() == 0:
    os._exit(0)
os.wait()
os.system("echo a child")
time.sleep(1.1)
print("the end")
"""
LINE = re.compile(r"pieprof: (\d+) s, (\d+) samples, ([\d.]+) MB resident, overhead ([\d.]+) (s|%)")
# The sequences of the line: its region and row between a save and a restore of the cursor, and two that cancel out.
OURS = re.compile("\x1b7.*?\x1b8|\x1bD\x1bM")


@pytest.fixture
def started():
    """A function that starts a command on a terminal."""
    opened = []

    def start(*argv, env=None, **more):
        opened.append(Terminal(argv, env or clean_environment(), **more))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def figures(line):
    """What stands before the words of the header's third line."""
    return float(re.search(r"(\d+) samples", line)[1]), float(re.search(r"RSS ([\d.]+) MB", line)[1])


def test_top_follows_a_process_until_it_ends(pieprof, started, tmp_path):
    process = subprocess.Popen([pieprof, "-q", "-o", tmp_path / "x.db", "-c", THREADS.format(6)], env=clean_environment())
    try:
        while not is_made(tmp_path / "x.db"):
            time.sleep(0.01)
        terminal = started(pieprof, "top", str(process.pid), columns=120)
        lines = terminal.until(lambda text: "running" in text and "100 " not in text.splitlines()[2] and "<module>" in text)
        before = figures(lines[2])
        lines = terminal.until(lambda text: figures(text.splitlines()[2])[0] > before[0] + 200)
        assert 5 < figures(lines[2])[1] < 200
        lines = terminal.type("t", lambda text: "sleeper" in text)
        terminal.type("p", lambda text: "PAUSED" in text)
        assert process.wait(30) == 0
        time.sleep(1.2)
        assert terminal.read(0.1) and "PAUSED" in terminal.text
        (told,) = query(tmp_path / "x.db", "select * from v_run where run = :run")
        # A screen comes in pieces.
        lines = terminal.type("p", lambda text: "ended" in text and f"{told['samples']} samples" in text)
        assert lines[0].endswith(f"ended  {told['wall_s']:.2f} s") and lines[2].startswith(f"{told['samples']} samples")
        os.write(terminal.fd, b"q")
        assert terminal.end() == 0
    finally:
        process.kill()
        process.wait()


def test_top_says_that_a_process_was_killed(pieprof, tmp_path):
    process = subprocess.Popen([pieprof, "-q", "-o", tmp_path / "x.db", "-c", SPINS.format(60)], env=clean_environment())
    while not is_made(tmp_path / "x.db"):
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert re.search(r"  gone  \d+\.\d\d s$", run([pieprof, "top", tmp_path / "x.db", "--once"]).stdout.splitlines()[0])


def test_top_says_that_a_process_is_not_profiled(pieprof):
    done = run([pieprof, "top", os.getpid()])
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"process {os.getpid()} writes no profile that can be read from here: pieprof does not profile it" in done.stderr


def test_the_line_never_meets_the_output(pieprof, started, tmp_path):
    (tmp_path / "p.py").write_text(PRINTS)
    plain = run(["/usr/bin/python3", tmp_path / "p.py"]).stdout.splitlines()
    terminal = started(pieprof, "-q", "--progress", "-o", tmp_path / "x.db", tmp_path / "p.py", lines=20)
    lines = terminal.until(lambda text: LINE.search(text) and "line 30" in text)
    assert LINE.fullmatch(lines[-1]) and not any(LINE.search(line) for line in lines[:-1])
    lines = terminal.until(lambda text: "name?" in text and text.splitlines()[-1].startswith("pieprof: 3 s"))
    assert (terminal.screen.cursor.x, lines[terminal.screen.cursor.y]) == (6, "name?")
    assert terminal.end() == 0
    raw = terminal.raw.decode()
    assert OURS.sub("", raw).replace("\r", "").splitlines() == plain
    assert [line for line in terminal.lines if line] == [line.rstrip() for line in plain[-len([x for x in terminal.lines if x]):]]
    assert terminal.screen.margins is None and terminal.lines[-1] == ""
    said = [[float(figure) for figure in found.groups()[:4]] for found in LINE.finditer(raw)]
    assert 4 <= len(said) <= 8 and [figure[:2] for figure in said] == sorted(figure[:2] for figure in said)
    (told,) = query(tmp_path / "x.db", "select samples, overhead_s from v_run where run = :run")
    assert said[0][1] < said[-1][1] <= told["samples"] and said[-1][1] > 0.8 * told["samples"] - 100
    assert said[-1][3] <= told["overhead_s"] + 0.01 or raw.count("%")


@pytest.mark.parametrize("how", ["summary", "signal", "hangs up"])
def test_nothing_of_the_line_is_left(pieprof, started, tmp_path, how):
    words = [] if how == "summary" else ["-q"]
    seconds = 2 if how == "summary" else 60
    terminal = started(pieprof, "--progress", "--overhead", "0", *words, "-o", tmp_path / "x.db", "-c", SPINS.format(seconds), columns=100)
    terminal.until(lambda text: LINE.search(text))
    if how != "summary":
        os.kill(terminal.pid, signal.SIGTERM if how == "signal" else signal.SIGHUP)
    terminal.end()
    assert not LINE.search(terminal.text) and terminal.screen.margins is None
    assert ("samples of 1 ms" in terminal.text) == (how == "summary")


def test_a_terminal_that_has_keys_without_lines_is_left_alone(pieprof, started, tmp_path):
    """As under an editor, a pager or a prompt."""
    text = "import tty\ntty.setcbreak(0)\n" + SPINS.format(1.6)
    terminal = started(pieprof, "-q", "--progress", "-o", tmp_path / "x.db", "-c", text)
    assert terminal.end() == 0 and terminal.raw == b""


def test_a_terminal_that_cannot_do_it_has_no_line(pieprof, started, tmp_path):
    terminal = started(pieprof, "-q", "--progress", "-o", tmp_path / "x.db", "-c", SPINS.format(1.5), term="dumb")
    assert terminal.end() == 0 and terminal.raw == b""


def test_without_a_terminal_only_verbose_prints_lines(pieprof, tmp_path):
    """Every ten seconds; to a pipe, and to a file in which the program writes too. All at once."""
    text = "import sys, time\nfor i in range(11):\n    print('tick', i, file=sys.stderr, flush=True)\n    time.sleep(1)\n"
    file = open(tmp_path / "error.txt", "w+")  # noqa: SIM115  (without O_APPEND: its position is shared)
    runs = [subprocess.Popen([pieprof, "-q", option, "-o", tmp_path / f"{i}.db", "-c", text], env=clean_environment(),
                             stderr=error, text=True)
            for i, (option, error) in enumerate([("-v", subprocess.PIPE), ("-v", file), ("--progress", subprocess.PIPE)])]
    said = [each.communicate(timeout=60)[1] for each in runs]
    file.seek(0)
    ticks = [f"tick {i}" for i in range(11)]
    for lines in (said[0].splitlines(), file.read().splitlines()):
        found = [line for line in lines if LINE.fullmatch(line)]
        assert len(found) == 1 and 10 <= int(LINE.fullmatch(found[0])[1]) <= 11
        assert [line for line in lines if not line.startswith("pieprof: ")] == ticks
    assert said[2].splitlines() == ticks and "\x1b" not in said[0]
    file.close()
