# SPDX-License-Identifier: Apache-2.0
"""What CPython says of its own allocators, when asked for their name or their table of small blocks, is what it says
without hooks of ours. Memory is sampled in all runs."""

import re

import pytest

from helpers import FORM, PYTHON, binary, clean_environment, run

# PYTHONMALLOC, and what a release build of CPython then calls its allocators
NAMES = {
    None: "pymalloc",
    "default": "pymalloc",
    "pymalloc": "pymalloc",
    "malloc": "malloc",
    "debug": "pymalloc_debug",
    "pymalloc_debug": "pymalloc_debug",
    "malloc_debug": "malloc_debug",
}
ASK = """
import ctypes, sys, tracemalloc
ask = ctypes.pythonapi._PyMem_GetCurrentAllocatorName
ask.restype = ctypes.c_char_p
def name():
    print(ask(), flush=True)
"""


@pytest.fixture
def both(tmp_path):
    """What python3 and we print for a program: [(stdout, stderr), (stdout, stderr)]"""

    def ask(argv, **environment):
        env = clean_environment(**environment)
        texts = []
        for first in ([PYTHON], [binary(), "--memory", "--quiet", "--output", tmp_path / "profile.db"]):
            done = run([*first, *argv], env=env)
            if first == [PYTHON] and done.returncode < 0:  # 3.12.1 prints its last table of blocks into a crash
                pytest.skip(f"{PYTHON} itself ends with {done.returncode}")
            assert done.returncode == 0, done.stderr
            texts.append((done.stdout, done.stderr))
        return texts

    return ask


def shape(text):
    """The lines of CPython's tables without their numbers, and each once."""
    lines = (re.sub(r"\s+", " ", re.sub(r"[\d,]+", "N", line)).strip() for line in text.splitlines())
    return sorted(set(lines))


def is_static_guest():
    """A static interpreter that has taken us in asks its own functions (docs/design/46-guest.md)."""
    return FORM == "guest" and "libpython" not in run(["ldd", PYTHON]).stdout


needs_own_name = pytest.mark.skipif(is_static_guest(), reason="a static interpreter asks its own function for the name")


def calls_come_to_us():
    """Whether libpython's own calls reach the program's functions: not in a shared one that was bound as a whole."""
    if is_static_guest():
        return False
    library = re.search(r"libpython\S+ => (\S+)", run(["ldd", binary()]).stdout)
    return not library or "_PyObject_DebugMallocStats" in run(["readelf", "-rW", library[1]]).stdout


@needs_own_name
@pytest.mark.parametrize("setting", NAMES, ids=str)
def test_the_name_is_the_one_that_was_asked_for(both, setting):
    (expected, _), (got, _) = both(["-c", ASK + "name()"], PYTHONMALLOC=setting)
    assert got == expected
    assert got == f"b'{NAMES[setting]}'\n"


@needs_own_name
@pytest.mark.parametrize("options", (["-X", "dev"], ["-E"], ["-I", "-S"]), ids=" ".join)
def test_options_of_python_choose_too(both, options):
    (expected, _), (got, _) = both([*options, "-c", ASK + "name()"], PYTHONMALLOC="malloc")
    assert got == expected != "None\n"


@needs_own_name
def test_an_allocator_of_the_program_has_no_name(both):
    program = ASK + "name()\ntracemalloc.start()\nname()\ntracemalloc.stop()\nname()\n"
    (expected, _), (got, _) = both(["-c", program])
    assert got == expected == "b'pymalloc'\nNone\nb'pymalloc'\n"


@pytest.mark.parametrize("setting", NAMES, ids=str)
def test_the_table_of_small_blocks_is_printed(both, setting):
    program = "import sys; x = [[] for i in range(100_000)]; sys._debugmallocstats()"
    (_, expected), (_, got) = both(["-c", program], PYTHONMALLOC=setting)
    assert shape(got) == shape(expected)
    assert ("arena map counts" in got) == NAMES[setting].startswith("pymalloc")


def test_blocks_in_the_table_are_those_of_the_program(both):
    """100 000 tuples of one size: the class that has most of the blocks in use has as many as under python3."""
    program = "import sys; x = [tuple([i, i, i]) for i in range(100_000)]; sys._debugmallocstats()"
    taken = []
    for _, text in both(["-c", program]):
        rows = [[int(word) for word in line.split()] for line in text.splitlines() if re.fullmatch(r"[\d ]+", line)]
        taken.append(max(row[3] for row in rows if len(row) == 5))
    assert min(taken) >= 100_000 and abs(taken[0] - taken[1]) < 5000


def test_the_table_at_new_arenas_and_at_the_end(both):
    if not calls_come_to_us():
        pytest.skip("this libpython calls its own functions directly")
    program = "x = [[] for i in range(100_000)]"
    (_, expected), (_, got) = both(["-c", program], PYTHONMALLOCSTATS="1")
    assert shape(got) == shape(expected)
    tables = [text.count("Small block threshold") for text in (expected, got)]
    assert tables[0] > 3 and abs(tables[0] - tables[1]) <= 2  # our arenas begin at a pool's boundary: one more fits


def test_the_table_while_tracemalloc_is_on(both):
    program = "import sys, tracemalloc; tracemalloc.start(); sys._debugmallocstats(); tracemalloc.stop()"
    (_, expected), (_, got) = both(["-c", program])
    assert shape(got) == shape(expected)
    assert "arena map counts" not in got
