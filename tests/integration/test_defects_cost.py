# SPDX-License-Identifier: Apache-2.0
"""The cost of profiling is shown, all of it, and is none of the program's time: held against the same program without
profiling."""

import json
import math
import os
import pathlib
import re
import statistics

import pytest

from helpers import PYTHON, TRUTH, binary, binomial_margin, clean_environment, run, split

OFF = ["-q", "--no-time", "--no-redundancy", "--no-memory", "--no-copies"]
ROUNDS = 7

LOOP = "s = 0\nfor i in range(3_000_000): s += i * i % 7\n"
BLOCKS = """
class Point:
    def __init__(self, i): self.place, self.names = [i] * 70, {"x": i}
for i in range(150_000): Point(i)
"""


def cpu_of(argv, stderr):
    """CPU seconds of one process, which the kernel counts when it has ended."""
    with open(stderr, "wb") as out:
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 2), (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
        pid = os.posix_spawn(argv[0], [str(a) for a in argv], clean_environment(), file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
    assert status == 0, stderr.read_text()
    return usage.ru_utime + usage.ru_stime


def printed(text):
    """What a summary says of the overhead, in either form."""
    found = re.search(r"overhead (?:\+(?P<ms>\d+) ms|(?P<share>[\d.]+) % \((?P<s>[\d.]+) s\)(?:, (?P<rest>[\d.]+) % without start and end)?)", text)
    assert found, text
    return found


def printed_s(text):
    found = printed(text)
    return float(found["ms"]) / 1000 if found["ms"] else float(found["s"])


# Each hand-over switches, and a clock costs at each switch.
HAND_OVER = (pathlib.Path(__file__).resolve().parent / "defects" / "hand_over.py").read_text()


@pytest.mark.parametrize("text", ["pass", LOOP, BLOCKS, HAND_OVER], ids=["nothing", "loop", "blocks", "hand_over"])
def test_printed_overhead_is_the_measured_one(pieprof, tmp_path, text):
    """Pairs of runs, one after the other: the median difference is what profiling costs. 10 ms or 1.5 points of the
    program is what may be wrong; how far the pairs scatter on this machine comes on top."""
    program, stderr = tmp_path / "program.py", tmp_path / "stderr"
    program.write_text(text)
    extra, told, base = [], [], []
    for i in range(ROUNDS):
        base.append(cpu_of([binary(), *OFF, "-o", tmp_path / f"off{i}.db", program], stderr))
        extra.append(cpu_of([binary(), "-o", tmp_path / f"on{i}.db", program], stderr) - base[-1])
        told.append(printed_s(stderr.read_text()))
    scatter = statistics.stdev(e - t for e, t in zip(extra, told)) / math.sqrt(ROUNDS)
    margin = 0.01 + 0.015 * statistics.median(base) + 3 * scatter
    wrong = statistics.median(t - e for e, t in zip(extra, told))
    assert abs(wrong) <= margin, f"{wrong * 1e3:.1f} ms of {margin * 1e3:.1f}: {extra}, told {told}"


def test_a_short_run_tells_milliseconds_and_a_long_one_a_share(pieprof, tmp_path):
    for seconds, pattern in ((0.05, r"; overhead \+\d+ ms; clock"), (1.3, r"; overhead [\d.]+ % \([\d.]+ s\), [\d.]+ % without start and end, budget 5 % after 2 s; clock")):
        done = run([binary(), "-o", tmp_path / "x.db", "-c", f"import time\nwhile time.thread_time() < {seconds}: pass"])
        assert done.returncode == 0 and re.search(pattern, done.stderr), done.stderr


def test_the_printed_overhead_is_that_of_the_file_and_the_end(pieprof, tmp_path):
    """Only the end is not whole in the file: the rest is, and is told apart."""
    done = run([binary(), "-o", tmp_path / "x.db", "-c", "import time\nwhile time.thread_time() < 1.3: pass"])
    rows = {question: json.loads(run([pieprof, "query", tmp_path / "x.db", question, "--json"]).stdout)["rows"]
            for question in ("runs", "overhead")}
    parts = {row["collector"]: row["cpu_s"] for row in rows["overhead"]}
    cpu_s, file_s, fixed_s = rows["runs"][0]["cpu_s"], sum(parts.values()), parts["start"] + parts["end"]
    found = printed(done.stderr)
    assert float(found["rest"]) / 100 * cpu_s == pytest.approx(file_s - fixed_s, abs=0.001 * cpu_s)
    assert file_s - 0.005 <= float(found["s"])
    assert float(found["share"]) / 100 * cpu_s == pytest.approx(float(found["s"]), abs=0.0051 + 0.001 * cpu_s)


def test_parts_of_the_overhead_are_in_the_file(profiled, tmp_path):
    """The sum of the parts is the figure of the run, and a start is more than nothing and less than the process
    took."""
    profile = profiled(TRUTH / "short.py", 0.3)
    parts = {row["collector"]: row["cpu_s"] for row in profile.query("overhead")}
    assert {"time", "memory", "copies", "counting", "caches", "switches", "start", "end", "collection thread",
            "writing"} <= set(parts)
    (one,) = profile.query("runs")
    assert one["overhead_s"] == pytest.approx(sum(parts.values()), abs=1e-6)
    assert one["overhead_share"] == pytest.approx(one["overhead_s"] / one["cpu_s"], rel=1e-6)
    assert 0.0005 < parts["start"] < 0.2 and 0.001 < parts["collection thread"] < 1


@pytest.mark.parametrize("options", [[], ["--sampler", "none"], ["--clock", "perf-user"]], ids=["default", "no-sampler", "perf-user"])
def test_kernel_time_is_the_programs(profiled, tmp_path, options):
    """A tenth of it reads /dev/zero, by its own clock under the system's python3."""
    program = TRUTH / "split.py"
    plain = run([PYTHON, program, "read", 10, 1.5])
    assert plain.returncode == 0, plain.stderr
    truth = json.loads(plain.stdout.splitlines()[-1])["share"]
    profile = profiled(program, "read", 10, 2.5, options=options)
    found = split([r for r in profile.functions(program) if r["function"] == "mix"])
    share = found["system"] / found["cpu"]
    assert abs(share - truth) <= 0.01 + binomial_margin(truth, found["samples"]), (share, truth)

