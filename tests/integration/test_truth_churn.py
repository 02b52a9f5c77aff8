# SPDX-License-Identifier: Apache-2.0
"""Code objects that die while they are sampled: no frame bears the name of another function."""

import functools
import re

import pytest

from helpers import FIXED_RATES, TRUTH, profile

PROGRAM = TRUTH / "churn.py"
BODY = range(2, 6)  # lines of the method's body after the line of its class


def is_right(function, file, line):
    number = re.fullmatch(r"<churn-(\d{6})>", file).group(1)
    first = 1 + int(number) % 97
    if function == f"C_{number}.f_{number}":
        return line - first in {1, *BODY}
    if function == f"C_{number}":
        return line is None or line - first in {0, 1}  # None: the first instruction, from 3.14 on
    return function == "<module>" and line in {None, first}  # None: a module's first instruction has no line


@pytest.fixture(scope="module")
def churn(pieprof, tmp_path_factory):
    """A function: seconds and a number of threads -> the Profile."""
    return functools.cache(lambda *words: profile(tmp_path_factory.mktemp("churn") / "x.db", PROGRAM, *words, options=["-r", "5khz", *FIXED_RATES]))


@pytest.mark.parametrize("seconds, threads", [(4, 1), (1.5, 4)])
def test_functions_that_are_dropped_keep_their_names(churn, seconds, threads):
    done = churn(seconds, threads)
    truth = done.truth
    assert truth["functions"] > 1000
    right, wrong, numbers, cpu_s, all_s = 0, [], set(), 0, 0
    for sample in done.samples():
        churned = [f for f in sample.frames if f.is_python and f.file.startswith("<churn-")]
        bad = [f for f in churned if not is_right(f.function, f.file, f.line)]
        # Nothing is called by these functions, and one() runs one of them at a time.
        bad += churned[1:] if len({f.file for f in churned}) > 1 else []
        wrong += bad
        right += bool(churned and not bad) * sample.samples
        numbers |= {f.file for f in churned}
        cpu_s += sample.cpu_s if churned else 0
        all_s += sample.cpu_s
    assert not wrong
    # At 5 kHz nearly each is hit; a processor that is shared has fewer samples, each of more time.
    assert len(numbers) > truth["functions"] / 4 and right > 2000
    # Compiling takes the rest: a half, more or less, by the processor. The profiler's own time at this rate, a quarter
    # of all, is in the program's figures and not in the profile's; a few points of it fall unevenly on the two halves.
    assert abs(cpu_s / all_s - truth["functions_s"] / truth["cpu_s"]) < 0.05, (cpu_s, all_s, truth)


def test_functions_outside_bear_no_churned_name(churn):
    strangers = churn(4, 1).sql("""select function, file from v_line
        where function glob '*[CF]_[0-9][0-9][0-9][0-9][0-9][0-9]*' and file not glob '<churn-*>'""")
    assert strangers == []
