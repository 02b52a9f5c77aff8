# SPDX-License-Identifier: Apache-2.0
"""The driver behind scripts/test."""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import builds  # noqa: E402
import meson_tests  # noqa: E402
import results  # noqa: E402

SUITES = ("unit", "headers", "fault", "static", "integration", "conformance", "hw", "slow")
ONLY_WHEN_NAMED = ("slow",)
NOT_QUICK = ONLY_WHEN_NAMED + ("conformance",)
LONG_S = 25 * 60


def plan(words, quick):
    """What to do: (build, suites to run or () for all, suites to leave out) for each build."""
    suites = [word for word in words if word in SUITES]
    steps = []
    for build in builds.BUILDS.values():
        if build.name == "gcc" and (not words or suites or "gcc" in words):
            without = tuple(suite for suite in (NOT_QUICK if quick else ONLY_WHEN_NAMED) if suite not in suites)
            steps.append((build, tuple(suites), without))
        elif build.name in words or not (words or quick):
            steps.append((build, build.suites, build.without))
    return steps


def say(*words):
    print(*words, flush=True)


def compile_step(build, jobs):
    start = time.monotonic()
    output = builds.make(build, jobs)
    result = results.Result(f"build with {build.name}", time.monotonic() - start, output=output)
    result.cases = [results.Case("", "failed" if output else "passed")]
    return result


def report(build, result):
    """One line for a program, a line for each case that did not pass at once, the output where one failed."""
    counts = ", ".join(f"{result.count(v)} {v}" for v in ("passed", "failed", "skipped") if result.count(v))
    say(f"  {build.name}: {result.name}: {counts} ({result.seconds:.1f} s)")
    for case in result.cases:
        if case.verdict == "skipped":
            say(f"      skipped {case.name}: {case.note}".replace(" :", ":"))
        elif "(missed at first)" in case.name:
            say(f"      {case.verdict} {case.name}")
        elif case.verdict == "failed":
            say(f"      FAILED {case.name} {case.note}".rstrip())
    if result.count("failed"):
        say("      | " + "\n      | ".join(result.output.strip().splitlines()[-80:]))


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/test")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    words = parser.parse_args()
    known = SUITES + tuple(builds.BUILDS)
    for word in words.suites:
        if word not in known:
            parser.error(f"unknown suite '{word}': I know {', '.join(known)}")
    return words


def main():
    words = arguments()
    start = time.monotonic()
    jobs = len(os.sched_getaffinity(0))
    everything = []
    for build, suites, without in plan(words.suites, words.quick):
        say(f"{build.name}: {build.what}")
        begin = time.monotonic()
        step = [compile_step(build, jobs)]
        report(build, step[0])
        if without:
            say(f"{build.name}: without {', '.join(without)}")
        if not step[0].count("failed") and (build.suites or build.name == "gcc"):
            for result in meson_tests.run(build, suites, without):
                report(build, result)
                step.append(result)
        say(f"{build.name}: {results.summary(step)} in {time.monotonic() - begin:.0f} s")
        everything += step
    took = time.monotonic() - start
    say(f"all in {took:.0f} s")
    if took > LONG_S:
        say(f"warning: this is longer than the {LONG_S // 60} minutes that the tests may take")
    say(results.summary(everything))
    return 1 if any(result.count("failed") for result in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
