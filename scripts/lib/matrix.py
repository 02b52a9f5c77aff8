# SPDX-License-Identifier: Apache-2.0
"""The driver behind scripts/matrix: one build and one run of suites for each Python."""
import argparse
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import builds  # noqa: E402
import free_threaded  # noqa: E402
import meson_tests  # noqa: E402
import roots  # noqa: E402

VERSION = re.compile(r"3\.\d+t?$")
QUICK = ("pystack", "launcher", "truth")
VERDICTS = ("passed", "failed", "skipped")
JOBS = 2  # at a time: tests of time share the machine


def say(*words):
    print(*words, flush=True)


def version_of(python):
    """"3.11", and "" for what is no CPython."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2]) if sys.implementation.name == 'cpython' else 0"
    done = subprocess.run([python, "-I", "-S", "-c", ask], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def here():
    """{"3.11": its path} of this machine."""
    system = "/usr/bin/python3"
    return {**builds.other_pythons(), version_of(system): system}


def build_for(version, python):
    return builds.Build(f"matrix-{version}", f"for {python}", "gcc", (f"-Dpython={python}",), is_partial=True)


def tests_of(suite, tests):
    """The names of meson's tests that make a suite."""
    if suite == "pystack":
        return [name for name, _ in tests if name.startswith("pystack-")]
    if suite == "unit":
        return [name for name, has in tests if "unit" in has]
    return [name for name, _ in tests if name == suite]


def default_suites(tests):
    return ["pystack", *(name for name, has in tests if "integration" in has)]


def targets(folder, names):
    """What ninja has to make for these tests."""
    made = {target["id"]: target["filename"] for target in meson_tests.introspect(folder, "targets")}
    return sorted({os.path.relpath(path, folder) for test in meson_tests.introspect(folder, "tests") if test["name"] in names
                   for target in test["depends"] for path in made[target]})  # fmt: skip


def results_file(version):
    return os.path.join(builds.ROOT, "build-test", f"matrix-{version}", "matrix.json")


def kept(version):
    """{suite: {verdict: count}} of the last runs."""
    try:
        with open(results_file(version), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def keep(version, suite, counts):
    everything = {**kept(version), suite: counts}
    with open(results_file(version), "w", encoding="utf-8") as file:
        json.dump(everything, file, indent=1)


def run_suite(build, version, suite, names):
    start = time.monotonic()
    found = list(meson_tests.run(build, names, JOBS))
    counts = {verdict: sum(result.count(verdict) for result in found) for verdict in VERDICTS}
    seconds = time.monotonic() - start
    say(f"{version}  {suite:<22}", ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS), f"({seconds:.0f} s)")
    for result in found:
        for case in result.cases:
            if case.verdict == "failed":
                say(f"      FAILED {case.name or result.name} {case.note}".rstrip())
    keep(version, suite, counts)
    return counts["failed"]


def run_here(version, python, suites):
    """Builds for one interpreter of this machine, runs the suites; returns how many test cases failed."""
    build = build_for(version, python)
    wrong = builds.configure(build)
    tests = [] if wrong else meson_tests.load(build.folder)
    chosen = {suite: tests_of(suite, tests) for suite in suites or default_suites(tests)}
    unknown = [suite for suite, names in chosen.items() if tests and not names]
    if unknown:
        sys.exit(f"matrix: there is no suite '{unknown[0]}'")
    names = {name for of_suite in chosen.values() for name in of_suite}
    wrong = wrong or builds.make(build, ["pieprof", *targets(build.folder, names)], len(os.sched_getaffinity(0)))
    if wrong:
        say(f"{version}  build                  0 passed, 1 failed, 0 skipped\n{wrong}")
        return 1
    return sum(run_suite(build, version, suite, chosen[suite]) for suite in chosen)


def run_in_root(version, suites):
    """The same in a root of the Debian that has it."""
    lacking = roots.lacking() or roots.prepare(roots.SUITES[version], [version])
    if lacking:
        say(f"{version}  skipped: {lacking.splitlines()[-1]}")
        return 0
    words = [f"{roots.SOURCES}/scripts/matrix", version, *suites]
    return subprocess.run(roots.command(roots.SUITES[version], words), check=False).returncode


def run_free_threaded(version, suites):
    """The same with one that is built first."""
    wrong = free_threaded.make(version)
    if wrong:
        say(f"{version}  skipped: {wrong}")
        return 0
    return run_here(version, free_threaded.program(version), suites)


def where(version, found):
    if version in found:
        return found[version]
    if version in free_threaded.VERSIONS:
        return free_threaded.program(version) if free_threaded.is_made(version) else "built from the source of Debian's package"
    if version in roots.SUITES:
        return f"python{version} in a root of Debian {roots.SUITES[version]}"
    return "not here, and no Debian has it that can be reached"


def table(versions):
    """Rows for docs/compatibility.md: of each suite, how many test cases passed, failed and were skipped."""
    runs = {version: kept(version) for version in versions if kept(version)}
    suites = list(dict.fromkeys(suite for run in runs.values() for suite in run))
    say("| suite |", " | ".join(runs), "|")
    say("|---|" + "---|" * len(runs))
    for suite in suites:
        cells = [" / ".join(str(run[suite][verdict]) for verdict in VERDICTS) if suite in run else "" for run in runs.values()]
        say(f"| {suite} |", " | ".join(cells), "|")


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/matrix")
    for option in ("--quick", "--list", "--table"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("words", nargs="*", metavar="VERSION|SUITE")
    words = parser.parse_args()
    known = (*builds.EMBEDDABLE, *free_threaded.VERSIONS)
    words.versions = [word for word in words.words if VERSION.match(word)] or list(known)
    words.suites = [word for word in words.words if not VERSION.match(word)] or (list(QUICK) if words.quick else [])
    for version in words.versions:
        if version not in known:
            parser.error(f"unknown version {version}: I know {', '.join(known)}")
    return words


def main():
    words = arguments()
    found = here()
    if words.table:
        table(words.versions)
        return 0
    failed = 0
    for version in words.versions:
        if words.list:
            say(f"{version}  {where(version, found)}")
        elif version in found:
            failed += run_here(version, found[version], words.suites)
        elif version in free_threaded.VERSIONS:
            failed += run_free_threaded(version, words.suites)
        elif version in roots.SUITES:
            failed += run_in_root(version, words.suites)
        else:
            say(f"{version}  skipped: {where(version, found)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
