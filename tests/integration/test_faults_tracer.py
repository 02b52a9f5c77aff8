# SPDX-License-Identifier: Apache-2.0
"""A debugger is attached in the middle, and goes away again, while memory accesses are watched."""

import subprocess
import sys

import pytest

from helpers import FAULTS, PYTHON, check_file, clean_environment
from test_faults_programs import no_core
from test_faults_watch import DENSE, counters, needs_breakpoints, watches_below  # noqa: F401  (a fixture of this module too)

# Three parts of 1.2, 1.6 and 1.6 s; the debugger comes in the first second of the second and stays for one.
PROGRAM = f"""
import sys
sys.path.insert(0, {str(FAULTS)!r})
import threading, time, watch_work
def part(seconds):
    until, results = time.monotonic() + seconds, []
    def work():
        while time.monotonic() < until:
            total = watch_work.element_loop(2)
        results.append(total)
    thread = threading.Thread(target=work)
    thread.start()
    work()
    thread.join()
    return results
def before(): return part(1.2)
def during(): return part(1.6)
def after(): return part(1.6)
print(before(), flush=True)
print(during())
print(after())
sys.exit(7)
"""


@pytest.fixture(scope="module")
def expected():
    """What it prints under python3."""
    done = subprocess.run([PYTHON, "-c", PROGRAM], capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 7
    return done.stdout


@pytest.mark.parametrize("way", ["perf", "ptrace"])
@pytest.mark.parametrize("mode", ["pass", "swallow", "registers"])
def test_debugger_attached_in_the_middle(pieprof, tmp_path, expected, mode, way):
    """Whatever it does with our signals and registers, the program comes to its own end, and watching goes on."""
    program, db = tmp_path / "x.py", tmp_path / "x.db"
    program.write_text(PROGRAM)
    with subprocess.Popen([pieprof, *DENSE, "--breakpoints", way, "-o", str(db), str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=clean_environment(), preexec_fn=no_core) as process:
        begun = process.stdout.readline()
        tracer = subprocess.run([sys.executable, FAULTS / "tracer.py", str(process.pid), "1", mode], capture_output=True,
                                text=True, timeout=60, check=False)
        stdout, stderr = process.communicate(timeout=60)
    if tracer.returncode == 77:
        pytest.skip(f"no debugger may attach here, and none is attached: {tracer.stdout}")
    assert tracer.returncode == 0, tracer
    assert (process.returncode, begun + stdout, stderr) == (7, expected, ""), tracer.stdout
    runs = check_file(db)
    assert len(runs) == 1 and runs[0]["exit_status"] == 7
    watches = watches_below(db, "before", "after")
    # The program has one line, which is decided after a few watches and then has few more: 8 to 43 were seen.
    assert min(watches.values()) >= 4, (watches, counters(db), tracer.stdout)
