#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What questions and the page of a profile take, and whether two pieprofs answer alike.

Asks for all rows of each question, of each view without a run, and for the page; prints CPU seconds. With --before
another pieprof takes turns with this one, and answers that differ by a byte are named; the status is then 1. Profiles
are copied before they are read. With --large CONTEXTS each copy gets that many contexts in 5000 files first, with
--proportioned CONTEXTS in as many files and lines as a program of that size has (tests/tools/large_profile.py). --first
asks as a person does: without "all", and in text."""

import argparse
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/tools"))
import large_profile  # noqa: E402

NEEDS_X = {"callers of X", "callees of X", "source of X"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="+", type=pathlib.Path)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof", type=pathlib.Path)
    parser.add_argument("--before", metavar="PIEPROF", type=pathlib.Path)
    parser.add_argument("--large", metavar="CONTEXTS", type=int, help="make the copies large first")
    parser.add_argument("--proportioned", metavar="CONTEXTS", type=int, help="the same, with fewer lines and packed samples")
    parser.add_argument("--first", action="store_true", help="nothing but the questions, and no more than they show")
    parser.add_argument("--in", dest="places", metavar="WORDS", action="append", default=[],
                        help="ask each question of a part, too, such as \"in app.py\" or \"of thread 1\"")
    parser.add_argument("--only", metavar="REGEX", help="nothing but what has such a name")
    parser.add_argument("--slow", metavar="SECONDS", type=float, default=0.05, help="name what takes longer (0.05)")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, default=600, help="for each answer (600)")
    return parser.parse_args()


def asked(pieprof, db, places, only_first):
    """{name: words behind the program} of all that can be asked of a profile."""
    listed = subprocess.run([pieprof, "query", db, "help", "--json"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r'"question": ?"([^"]*)"', listed)
    if only_first:
        return {name: ["query", db, name] for name in names if name not in NEEDS_X}
    found = {name: ["query", db, name if name == "help" else f"all {name}", "--json"]
             for name in names if name not in NEEDS_X}
    found |= {f"{name} {place}": ["query", db, f"all {name} {place}", "--json"]
              for name in names for place in places if name not in NEEDS_X}
    views = sorted(set(re.findall(r'"(v_\w+)"', subprocess.run([pieprof, "query", db, "schema", "--json"], check=True,
                                                                capture_output=True, text=True).stdout)))
    found |= {f"{view} of all runs": ["query", db, f"select * from {view}", "--json"] for view in views}
    found["the page"] = ["report", db, "--html", db.with_suffix(".html")]
    return found


def answer(pieprof, words, timeout):
    """What it printed, and the CPU seconds. The page without the time at which it was made."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([str(word) for word in [pieprof, *words, *(["--timeout", timeout] if words[0] == "query" else [])]],
                              capture_output=True, timeout=timeout)
        printed = done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        printed = b"not within the time"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if words[0] == "report" and words[-1].exists():
        printed += re.sub(rb'"made": ?"[^"]*"', b"", words[-1].read_bytes())
        words[-1].unlink()
    return printed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(options, db):
    """How many answers differ."""
    programs = [program for program in (options.before, options.pieprof) if program]
    sums, differing = [0.0] * len(programs), 0
    for name, words in asked(options.pieprof, db, options.places, options.first).items():
        if options.only and not re.search(options.only, name):
            continue
        answers, seconds = zip(*(answer(program, words, options.timeout) for program in programs))
        sums = [a + b for a, b in zip(sums, seconds)]
        differs = len(set(answers)) > 1
        differing += differs
        if differs or max(seconds) >= options.slow:
            print(f"  {name}: {' -> '.join(f'{s:.2f}' for s in seconds)} s{', DIFFERS' if differs else ''}", flush=True)
    print(f"  all: {' -> '.join(f'{s:.2f}' for s in sums)} s; {differing} differ", flush=True)
    return differing


def main():
    options = arguments()
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for profile in options.profiles:
            db = pathlib.Path(folder) / "profile.db"
            shutil.copyfile(profile, db)
            if options.large:
                large_profile.enlarge(db, contexts=options.large)
            if options.proportioned:
                large_profile.proportioned(db, options.proportioned)
            with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as file:
                contexts, = file.execute("SELECT count(*) FROM node").fetchone()
            print(f"{profile.name}: {contexts} contexts", flush=True)
            differing += compare(options, db)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
