# SPDX-License-Identifier: Apache-2.0
"""The README begins with a summary. It and the page on redundancy follow one finding from the summary to its fix. The
commands are run, and print the quoted lines, with other figures."""

import os
import re
import shlex

import pytest

from helpers import PYTHON, ROOT, clean_environment, profile, run

SHORT = ("README.md", "## One finding, from the summary to the fix")
WHOLE = ("docs/redundancy.md", "## From the summary to the fix")
SCRIPT = "examples/tagged_notes.py"
SCALE = "0.5"
CHANGES = " on average"  # the period, if it is not always the same
NUMBER = re.compile(r"\d+(?:[. ]+\d+)*")
VERSION = run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).stdout.strip()


def blocks(story, kind):
    page, heading = story
    section = (ROOT / page).read_text().split(f"\n{heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"^```{kind}\n(.*?)^```$", section, re.M | re.S)


def quoted(story):
    """{command: the lines that it prints}"""
    [text] = [block for block in blocks(story, "") if block.startswith("$ ")]
    parts = [part.split("\n", 1) for part in re.split(r"^\$ ", text, flags=re.M)[1:]]
    return {command: [line for line in unwrapped(lines).splitlines() if line.strip(" …")] for command, lines in parts}


def unwrapped(text):
    """Lines that were broken to fit are whole again."""
    return re.sub(r"\n {4}(?=\S)", " ", text)


def pattern(line):
    """Of a line that is quoted: any figures, and anything for what was left out."""
    words = re.sub(" +", " +", re.escape(NUMBER.sub("0", line)).replace(r"\ ", " "))
    return re.compile(words.replace("0", NUMBER.pattern).replace("…", ".*"), re.M)


def fixed(source):
    [diff] = blocks(WHOLE, "diff")
    before, after = ("".join(f"{line[1:]}\n" for line in diff.splitlines() if line[:1] in (" ", sign)) for sign in "-+")
    assert source.count(before) == 1 and before != after
    return source.replace(before, after)


@pytest.fixture
def needs_breakpoints(pieprof, tmp_path):
    one = profile(tmp_path / "probe.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if one[0]["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {one[0]['sampler_note']}")


def summary():
    """(command, the lines that it prints): the first example of the README, and the answer to a question about it."""
    page = (ROOT / "README.md").read_text()
    first, second = (re.search(rf"^\$ (pieprof {name} .*)\n((?:[^$`].*\n|\n)+)", page, re.M) for name in ("-o", "query"))
    return [(part[1], [line for line in unwrapped(part[2]).splitlines() if line.strip(" …")]) for part in (first, second)]


@pytest.mark.skipif(VERSION != "3.11", reason=f"what Python 3.11 and its NumPy print is quoted, this one is {VERSION}")
def test_the_first_example_prints_what_is_quoted(needs_breakpoints, pieprof, tmp_path):
    os.symlink(ROOT / "examples", tmp_path / "examples")
    for command, lines in summary():
        words = [pieprof, *shlex.split(command)[1:]]  # as it stands there: half as long, one run in three decides nothing
        done = run(words, cwd=tmp_path, env=clean_environment(COLUMNS="160", OPENBLAS_NUM_THREADS="1"))
        assert done.returncode == 0, done.stderr
        printed = unwrapped(done.stdout + done.stderr).replace(CHANGES, "")
        printed = re.sub(r"lost: [^;\n]*; ", "", printed)
        assert [line for line in lines if not pattern(line.replace(CHANGES, "")).search(printed)] == [], printed


@pytest.mark.skipif(VERSION != "3.11", reason=f"calls are counted with Python 3.11, this one is {VERSION}")
def test_the_commands_print_what_is_quoted(needs_breakpoints, pieprof, tmp_path):
    os.symlink(ROOT / "examples", tmp_path / "examples")
    short, whole = quoted(SHORT), quoted(WHOLE)
    assert [shlex.split(command)[:2] for command in whole] == [["pieprof", "-o"], ["pieprof", "confirm"]]
    assert list(short) == list(whole) and all(short.values()) and all(len(lines) >= 3 for lines in whole.values())
    for command, lines in whole.items():
        words = [pieprof, *shlex.split(command)[1:], *([SCALE] if command.endswith(SCRIPT) else [])]
        done = run(words, cwd=tmp_path, env=clean_environment(COLUMNS="100"))
        assert done.returncode == 0, done.stderr
        printed = unwrapped(done.stdout + done.stderr).replace(f"{SCRIPT} {SCALE}", SCRIPT)
        assert [line for line in lines + short[command] if not pattern(line).search(printed)] == [], printed


def test_the_fix_computes_the_same(tmp_path):
    source = (ROOT / SCRIPT).read_text()
    (tmp_path / "fixed.py").write_text(fixed(source))
    first, second = (run([PYTHON, script, "0.02"]) for script in (ROOT / SCRIPT, tmp_path / "fixed.py"))
    assert first.returncode == second.returncode == 0 and first.stdout == second.stdout != ""
