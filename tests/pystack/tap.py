# SPDX-License-Identifier: Apache-2.0
"""Test functions as lines of TAP on standard output, for the scripts that walk_host runs."""
import sys
import traceback


class Skip(Exception):
    pass


def note(text):
    print("#", text, flush=True)


def run(tests):
    """Runs (name, function) pairs and ends the process."""
    failed = 0
    tests = list(tests)
    print("1..%d" % len(tests), flush=True)
    for number, (name, test) in enumerate(tests, 1):
        verdict, remark = "ok", ""
        try:
            test()
        except Skip as reason:
            remark = " # SKIP %s" % reason
        except Exception:
            verdict = "not ok"
            failed += 1
            for line in traceback.format_exc().splitlines():
                note(line)
        print(verdict, number, name + remark, flush=True)
    sys.exit(failed != 0)


def run_module(namespace):
    run((name, value) for name, value in list(namespace.items()) if name.startswith("test_"))
