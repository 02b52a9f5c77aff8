# SPDX-License-Identifier: Apache-2.0
"""The driver behind scripts/test.

All builds are made first. Then the tests of all of them run side by side, more at a time than there are processors,
since many of them wait; then those that are marked `quiet`, as many as there are processors; then those marked
`alone`."""
import argparse
import concurrent.futures
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import builds  # noqa: E402
import meson_tests  # noqa: E402
import results  # noqa: E402

SUITES = ("unit", "headers", "fault", "static", "integration", "defects", "conformance", "hw", "slow", "fuzz")
ONLY_WHEN_NAMED = ("slow",)
QUICK = ("unit", "headers", "static", "fault", "quick")
LONG_S = 30 * 60
LINES_OF_A_FAILURE, LINES_AT_THE_END = 80, 30


class Step:
    """One build, and what is run in it."""

    def __init__(self, build, suites, without):
        self.build, self.suites, self.without = build, suites, without
        self.results = []

    @property
    def targets(self):
        """What ninja makes."""
        if self.build.headers:
            return ["pieprof"]
        if self.build.is_partial:
            return meson_tests.targets(self.build.folder, self.suites, self.without)
        return ["all", "meson-test-prereq"]

    def chosen(self, mark):
        has_tests = self.build.suites or self.build.name == "gcc"
        if not has_tests or any(result.count("failed") for result in self.results[:1]):  # it was not built
            return []
        return meson_tests.choose(meson_tests.load(self.build.folder), self.suites, self.without, mark)


def plan(words, quick):
    """The steps for the suites and builds that were named."""
    suites = [word for word in words if word in SUITES]
    without = tuple(suite for suite in ONLY_WHEN_NAMED if suite not in suites)
    steps = []
    for build in builds.BUILDS.values():
        if build.name == "gcc" and (not words or suites or "gcc" in words):
            steps.append(Step(build, QUICK if quick and not suites else tuple(suites), without))
        elif build.name in words or (build.is_matrix and "matrix" in words) or not (words or quick or build.is_matrix):
            steps.append(Step(build, build.suites, (*build.without, *without)))
    return steps


def say(*words):
    print(*words, flush=True)


def compile_steps(steps, jobs):
    """One after the other, each on all processors, while the next ones are configured, which uses one."""

    def configure(build):
        lacking = build.fetch()
        return lacking, "" if lacking else builds.configure(build)

    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as pool:
        start = time.monotonic()
        for step, configured in [(step, pool.submit(configure, step.build)) for step in steps]:
            say(f"{step.build.name}: {step.build.what}")
            lacking, output = configured.result()
            output = output or ("" if lacking else builds.make(step.build, step.targets, jobs))
            result = results.Result(f"build with {step.build.name}", time.monotonic() - start, output=output)
            result.cases = [results.Case("", "skipped" if lacking else "failed" if output else "passed", lacking)]
            step.results.append(result)
            report(step.build, result)
            start = time.monotonic()


def report(build, result):
    """One line for a program, a line for each case that did not pass at once, the output where one failed."""
    counts = ", ".join(f"{result.count(v)} {v}" for v in ("passed", "failed", "skipped") if result.count(v))
    lines = [f"  {build.name}: {result.name}: {counts} ({result.seconds:.1f} s)"]
    for case in result.cases:
        if case.verdict == "skipped":
            lines.append(f"      skipped {case.name}: {case.note}".replace(" :", ":"))
        elif "(missed at first" in case.name:
            lines.append(f"      {case.verdict} {case.name}")
        elif case.verdict == "failed":
            lines.append(f"      FAILED {case.name} {case.note}".rstrip())
    if result.count("failed"):
        lines.extend("      | " + line for line in result.told(LINES_OF_A_FAILURE))
    say("\n".join(lines))


def tell_failures(build, result):
    """Once more at the end, where a reader of a long log looks first."""
    failed = [case for case in result.cases if case.verdict == "failed"]
    for case in failed:
        say(f"{build.name}: {result.name}: FAILED {case.name} {case.note}".rstrip())
    if failed:
        say("\n".join("      | " + line for line in result.told(LINES_AT_THE_END)))


def run_phase(steps, mark, jobs):
    """The tests of all builds that bear the mark, `jobs` of each build at a time; with a mark one build after the
    other."""
    lock = threading.Lock()

    def run_step(step):
        for result in meson_tests.run(step.build, step.chosen(mark), jobs):
            with lock:
                report(step.build, result)
                step.results.append(result)

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max_workers=1 if mark else len(steps)) as pool:
        for done in [pool.submit(run_step, step) for step in steps]:
            done.result()
    say(f"{mark or 'side by side'}: {time.monotonic() - start:.0f} s")


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/test")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    words = parser.parse_args()
    known = (*SUITES, *builds.BUILDS, "matrix")
    for word in words.suites:
        if word not in known:
            parser.error(f"unknown suite '{word}': I know {', '.join(known)}")
    return words


def main():
    words = arguments()
    start = time.monotonic()
    jobs = len(os.sched_getaffinity(0))
    steps = plan(words.suites, words.quick)
    compile_steps(steps, jobs)
    for mark, at_once in ((None, jobs + 2), ("quiet", jobs), ("alone", 1)):
        run_phase(steps, mark, at_once)
    took = time.monotonic() - start
    for step in steps:
        say(f"{step.build.name}: {results.summary(step.results)}")
    say(f"all in {took:.0f} s")
    for step in steps:
        for result in step.results:
            tell_failures(step.build, result)
    if took > LONG_S:
        say(f"warning: this is longer than the {LONG_S // 60} minutes that the tests may take")
    everything = [result for step in steps for result in step.results]
    say(results.summary(everything))
    return 1 if any(result.count("failed") for result in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
