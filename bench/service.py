#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a profile stay small while a service makes code without end? Runs service_program.py under python3 and under
pieprof and prints what pieprof had resident (the difference), the file's size over time, and whether what is hot at the
end has its name."""

import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(__file__).with_name("service_program.py")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieprof", required=True)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--options", default="", help="for pieprof: --max-size=64m")
    return parser.parse_args()


def most_while(process, db):
    """The most bytes that the file had, and its log."""
    most = {db: 0, f"{db}-wal": 0}
    while process.poll() is None:
        for path in most:
            if os.path.exists(path):
                most[path] = max(most[path], os.path.getsize(path))
        time.sleep(1)
    return tuple(most.values())


def run_both(options, db):
    plain = json.loads(subprocess.run([options.python, PROGRAM, str(min(options.seconds, 30))], check=True, text=True,
                                      stdout=subprocess.PIPE).stdout)
    with subprocess.Popen([options.pieprof, "-q", "-o", db, *options.options.split(), PROGRAM, str(options.seconds)], text=True,
                          stdout=subprocess.PIPE) as process:
        most = most_while(process, db)
        profiled = json.loads(process.stdout.read())
    return plain, profiled, most


def counted(db):
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as file:
        return dict(file.execute("SELECT name, value FROM counter WHERE name IN ('context_turns', 'contexts_folded', 'samples')"))


def hot_now(options, db):
    done = subprocess.run([options.pieprof, "query", db, f"top 3 hot functions in the last {options.seconds / 20:.0f} s", "--json"],
                          check=True, text=True, stdout=subprocess.PIPE)
    return [(row["function"], row["file"], round(row["cpu_share"], 3)) for row in json.loads(done.stdout)["rows"]]


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        db = os.path.join(folder, "service.db")
        plain, profiled, (most_file, most_log) = run_both(options, db)
        steady = max(plain["rss_bytes"].values())
        ours = {int(s): b - steady for s, b in profiled["rss_bytes"].items()}
        print(f"{profiled['compiled']} functions compiled in {options.seconds:.0f} s; {counted(db)}")
        print(f"resident beyond python3's {steady / 1e6:.1f} MB: "
              + ", ".join(f"{b / 1e6:.1f} at {s} s" for s, b in ours.items() if s % max(10, options.seconds // 100 * 10) == 0)
              + f"; most {max(ours.values()) / 1e6:.1f} MB")
        print(f"file: most {most_file / 1e6:.1f} MB, its log {most_log / 1e6:.1f} MB; at the end {os.path.getsize(db) / 1e6:.1f} MB")
        print(f"hot in the last {options.seconds / 20:.0f} s: {hot_now(options, db)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
