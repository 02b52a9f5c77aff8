# SPDX-License-Identifier: Apache-2.0
"""The screen that ends a profiled program."""

import pathlib
import re
import subprocess
import sys

import pytest
from conftest import PIEPROF, changer, clean_environment, make

PROGRAM = """
import json, threading, time

def busy(seconds):
    end = time.thread_time() + seconds
    total = 0
    while time.thread_time() < end:
        for i in range(1000):
            total += i * i  # the costly line
    return json.dumps(total)

threads = [threading.Thread(target=busy, args=(0.02,), name=f"worker {i}") for i in range(8)]
for thread in threads:
    thread.start()
busy(0.2)
time.sleep(0.1)
print("done")
"""


def run(folder, *options, **env):
    (folder / "busy.py").write_text(PROGRAM)
    return subprocess.run([PIEPROF, "-o", "x.db", *options, "busy.py"], cwd=folder, capture_output=True, text=True, timeout=60,
                          env=clean_environment(**env))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return run(tmp_path_factory.mktemp("summary"), COLUMNS="100")


def test_it_is_one_screen_on_standard_error(done):
    lines = done.stderr.splitlines()
    assert done.stdout == "done\n" and done.returncode == 0
    assert 8 <= len(lines) <= 25 and "\x1b" not in done.stderr
    assert max(map(len, (line for line in lines if "clock" not in line and "Threads" not in line))) <= 110


def test_the_costliest_line_comes_first_with_its_source(done):
    rows = [line for line in done.stderr.splitlines() if re.match(r" +\d+\.\d{3} ", line)]
    assert "busy.py:9" in rows[0] and "total += i * i" in rows[0]
    shares = [float(re.match(r" +[\d.]+ +([\d.]+) %", row)[1]) for row in rows]
    assert shares == sorted(shares, reverse=True) and shares[0] > 50


def test_it_tells_threads_samples_overhead_clock_and_what_to_do_next(done):
    assert re.search(r"^Threads: .* more$", done.stderr, re.M)
    assert re.search(r"\d+ samples of .*; overhead (\+\d+ ms|[\d.]+ % \([^)]+\), budget 5 %); clock: \w", done.stderr)
    assert done.stderr.splitlines()[-1] == "Profile: x.db, run 1. Next: pieprof report x.db"


FORKS = """
import os, time

child = os.fork()
end = time.thread_time() + 0.1
while time.thread_time() < end:
    pass
os.write(1, b"%d\\n" % os.getpid())  # at once: both processes write
if child == 0:
    os._exit(0)
os.wait()
"""


def test_threads_of_several_processes_say_whose_they_are(tmp_path):
    (tmp_path / "forks.py").write_text(FORKS)
    done = subprocess.run([PIEPROF, "-o", "x.db", "forks.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          env=clean_environment())
    pids = set(done.stdout.split())
    [threads] = re.findall(r"^Threads: .*", done.stderr, re.M)
    assert len(pids) == 2 and set(re.findall(r"MainThread \(process (\d+)\) \d", threads)) == pids


def test_a_program_from_standard_input_is_called_so(tmp_path):
    done = subprocess.run([PIEPROF, "-o", "x.db"], cwd=tmp_path, input="print(sum(range(1000000)))", capture_output=True,
                          text=True, timeout=60, env=clean_environment())
    assert done.stdout == "499999500000\n" and "pieprof: (standard input): " in done.stderr


def test_quiet_means_quiet(tmp_path):
    assert run(tmp_path, "-q").stderr == ""


def test_a_program_without_own_lines_gets_a_summary(tmp_path):
    done = subprocess.run([PIEPROF, "-o", "x.db", "-c", "pass"], cwd=tmp_path, capture_output=True, text=True,
                          env=clean_environment())
    assert done.returncode == 0 and "Profile: x.db, run 1." in done.stderr


def test_colours_only_where_they_are_wanted(tmp_path):
    assert "\x1b" in run(tmp_path, FORCE_COLOR="1").stderr
    assert "\x1b" not in run(tmp_path, FORCE_COLOR="1", NO_COLOR="1").stderr


REFUSE = pathlib.Path(__file__).resolve().parents[1] / "integration/faults/refuse.py"


NOTHING = r"(No work of weight was found that is done again|Too little was compared to tell what is done again) \(\d+ comparisons?\)\."


def test_it_says_what_watching_has_found_or_why_it_could_not(done):
    """This program has no waste to speak of. What is said of that is a paragraph of its own."""
    paragraphs = done.stderr.split("\n\n")
    found = [text for text in paragraphs if re.fullmatch(NOTHING, text)]
    refused = [text for text in paragraphs if "redundant loads and stores are not watched for" in " ".join(text.split())]
    assert len(found) + len(refused) == 1 and "of the run wasted" not in done.stderr


def test_where_breakpoints_are_refused_the_summary_says_so_and_what_to_do(tmp_path):
    (tmp_path / "busy.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, REFUSE, "EPERM", "perf_event_open", PIEPROF, "-o", "x.db", "busy.py"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60, env=clean_environment(COLUMNS="80"))
    assert done.returncode == 0 and done.stdout == "done\n"
    told = " ".join(done.stderr.split())
    assert "redundant loads and stores are not watched for; to mend it: " in told and "done again" not in told
    assert len(done.stderr.splitlines()) <= 25 and "busy.py:9" in done.stderr


@pytest.mark.parametrize("options", [["--no-redundancy"], ["--sampler", "none"]])
def test_what_was_not_asked_for_is_not_spoken_of(tmp_path, options):
    assert not re.search("edundan|done again", run(tmp_path, *options).stderr)


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    """The first run of fixture_waste.c, which also copies 1 GB at a line that is no finding."""
    change = changer(make(tmp_path_factory.mktemp("waste"), 0, 1), tmp_path_factory.mktemp("copying"))
    return change("INSERT INTO copy (process, node, estimate, samples, bytes, sq_bytes2)"
                  " SELECT process, id, 1, 9, 1000000000, 0 FROM node WHERE own_location NOT NULL ORDER BY process, id LIMIT 1")


def test_what_a_fix_saves_comes_before_what_is_copied(waste):
    lines = waste("query", "a.db", "summary", "--run", 1).text.splitlines()
    wasted = next(i for i, line in enumerate(lines) if "of the run wasted" in line)
    copies = next(i for i, line in enumerate(lines) if ": copies 1.00 GB" in line)
    assert lines[wasted - 1] == "" and wasted < copies and all(lines[wasted:copies])


@pytest.mark.parametrize("columns, library", [(80, False), (120, True)])
def test_the_source_has_the_room_of_its_library(waste, tmp_path, columns, library):
    """A line of 60 characters: [numpy 1.80 s] is behind it where both are whole."""
    source = "total += a[i] if a[i] > 0 else -a[i]  # as long as a source is"
    assert len(source) == 62
    copy = changer(waste, tmp_path)(f"UPDATE source_line SET text = '    {source}' WHERE line = 6")
    text = copy("query", "a.db", "summary", "--run", 1, env=clean_environment(COLUMNS=str(columns))).text
    line, = (line for line in text.splitlines() if " waste.py:6  " in line)
    assert ("[numpy" in line) == library and len(line) <= columns and len(line.partition("waste.py:6  ")[2]) >= 38
