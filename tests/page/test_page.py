# SPDX-License-Identifier: Apache-2.0
"""The page of `report --html`: web/test has its tests, in the page's own language. They need node and what `npm ci`
puts into web/node_modules. Those in a browser need Chromium too."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(os.environ.get("PIEPROF_SOURCE") or pathlib.Path(__file__).parents[2])
WEB = ROOT / "web"
PROGRAM = os.environ.get("PIEPROF")
SKIPPED = 77  # the exit status of browser.mjs
TIMEOUT_S = 500
# It waits, allocates, and works in two threads: each view has something to show.
WORK = """
import hashlib, threading, time
def work(data, kept=[]):
    for _ in range(40):
        kept.append(bytes(data))
        hashlib.sha256(data * 50).digest()
thread = threading.Thread(target=work, args=(b"x" * 20000,))
thread.start()
work(b"y" * 20000)
time.sleep(0.2)
thread.join()
"""


def node(*words):
    if not shutil.which("node"):
        pytest.skip("there is no node")
    if not (WEB / "node_modules" / "preact").is_dir():
        pytest.skip("npm ci has not been run in web/")
    done = subprocess.run(["node", *words], cwd=WEB, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.partition("SKIP ")[2].strip())
    assert done.returncode == 0, "\n".join(line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("ok"))
    return done.stdout


def test_functions():
    told = node("test/unit.mjs")
    assert int(re.search(r"pass (\d+)", told)[1]) >= 32


@pytest.mark.parametrize("words", [["--noEmit"]])
def test_types(words):
    node("node_modules/typescript/bin/tsc", *words)


def test_in_a_browser(tmp_path):
    """Also a page of this very program, where it makes pages."""
    pages = []
    if PROGRAM and "--html" in subprocess.run([PROGRAM, "report", "--help"], capture_output=True, text=True, check=False).stdout:
        profile, page = tmp_path / "p.db", tmp_path / "p.html"
        subprocess.run([PROGRAM, "-q", "-o", profile, "-c", WORK], check=True)
        subprocess.run([PROGRAM, "report", profile, "--html", page], check=True)
        pages = [str(page)]
    told = node("test/browser.mjs", *pages)
    assert told.count("\nok ") + told.startswith("ok ") >= 30 + 2 * len(pages)
