# SPDX-License-Identifier: Apache-2.0
"""Five programs, each with a problem of another kind at a line with the mark "# planted": somebody who reads only the
first screen of the page's view Start, at 1280 x 800, learns which line it is and what to try."""

import json
import pathlib
import re
import subprocess

import pytest
from test_page import PROGRAM, node

PLANTED = pathlib.Path(__file__).with_name("planted")
# What a card says first, and the beginning of what to try.
PROBLEMS = {
    "keys": ("Loop-invariant computation", "Compute it once before the loop"),
    "lock": ("Waits for a lock", "Hold the lock for less"),
    "network": ("Waits for the network", "Ask for several things at once"),
    "peak": ("Most memory at the peak", "Work in pieces"),
    "copies": ("Copies much data", "Put pieces into a list or a bytearray"),
}


def test_the_manual_has_what_start_says():
    manual = (PLANTED.parents[2] / "docs" / "page.md").read_text(encoding="utf-8")
    for program, (what, to_try) in PROBLEMS.items():
        assert re.search(rf"^\| `{program}.py` \| [^|]+ \| {what} \| {to_try} \|$", manual, re.M), program


def place_of(program):
    lines = (PLANTED / f"{program}.py").read_text(encoding="utf-8").splitlines()
    line, = [number for number, text in enumerate(lines, 1) if text.endswith("# planted")]
    return f"{program}.py:{line}"


def profile(program, folder):
    """A run that goes on: the programs wait for different things, so they do not disturb each other much."""
    own = folder / f"{program}.files"
    own.mkdir()
    return subprocess.Popen([PROGRAM, "-q", "-o", folder / f"{program}.db", PLANTED / f"{program}.py", own],
                            stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def screens(tmp_path_factory):
    """{program: what its first screen shows}"""
    if not PROGRAM or "--html" not in subprocess.run([PROGRAM, "report", "--help"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("this build has no page")
    folder = tmp_path_factory.mktemp("start")
    for run in [profile(program, folder) for program in PROBLEMS]:
        assert run.wait(timeout=120) == 0
    pages = [folder / f"{program}.html" for program in PROBLEMS]
    for page in pages:
        subprocess.run([PROGRAM, "report", page.with_suffix(".db"), "--html", page], check=True)
    return dict(zip(PROBLEMS, json.loads(node("test/start.mjs", *map(str, pages)))))


@pytest.mark.parametrize("program", PROBLEMS)
def test_the_first_screen_tells_what_to_change(screens, program):
    what, to_try = PROBLEMS[program]
    if program == "keys" and "not watched" in screens[program]["text"]:
        pytest.skip("redundant work is not watched for here")
    cards = {(card["what"], card["where"]): card["try"] for card in screens[program]["cards"]}
    assert cards.get((what, place_of(program)), "").startswith(to_try), screens[program]
