# SPDX-License-Identifier: Apache-2.0
"""Runs chosen tests of one build through meson and gives their results as they come."""
import glob
import json
import os
import subprocess
import time

import builds
import results

SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:halt_on_error=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "LSAN_OPTIONS": "print_suppressions=0:suppressions=" + os.path.join(builds.ROOT, "scripts", "lib", "lsan.supp"),
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}
REPORTS = "tsan-report"  # of ThreadSanitizer, one file a process: once a program ended with its status and said nothing
NO_TSAN = "ThreadSanitizer does not run on this machine (too much address space randomisation?)"
MARKS = ("quiet", "alone")  # suites that say how much company a test bears


def introspect(folder, what):
    with open(os.path.join(folder, "meson-info", f"intro-{what}.json"), encoding="utf-8") as file:
        return json.load(file)


def suites_of(test):
    return {suite.split(":", 1)[-1] for suite in test["suite"]}


def load(folder):
    """[(name, suites)] of all tests of a build."""
    return [(test["name"], suites_of(test)) for test in introspect(folder, "tests")]


def targets(folder, suites, without):
    """What ninja has to make for the tests in one of the suites that are in none of `without`."""
    made = {target["id"]: target["filename"] for target in introspect(folder, "targets")}
    return sorted({os.path.relpath(path, folder) for test in introspect(folder, "tests")
                   if suites_of(test) & set(suites) and not suites_of(test) & set(without)
                   for target in test["depends"] for path in made[target]})  # fmt: skip


def choose(tests, suites, without, mark):
    """The names of the tests in one of the suites (none: any), in none of `without`, that bear the mark (None: no
    mark)."""
    marked = {mark} if mark else set()
    return [name for name, has in tests
            if (not suites or has & set(suites)) and not has & set(without) and has & set(MARKS) == marked]


def run(build, names, jobs):
    """Yields a results.Result for each of these tests, which run `jobs` at a time."""
    wrapper = builds.tsan_wrapper(build.folder) if build.name == "tsan" and names else []
    if wrapper is None:
        yield results.Result("tsan", 0.0, [results.Case("", "skipped", NO_TSAN)])
        return
    if not names:
        return
    command = ["meson", "test", "-C", build.folder, "--no-rebuild", "--quiet", f"--num-processes={jobs}"]
    command += [f"--wrapper={' '.join(wrapper)}"] if wrapper else []
    command += [f"--timeout-multiplier={6 if build.options else 2}", *names]
    name = "testlog-" + os.path.basename(wrapper[0]) if wrapper else "testlog"  # as meson names it
    log = os.path.join(build.folder, "meson-logs", name + ".json")
    if os.path.exists(log):
        os.unlink(log)
    reports = os.path.join(build.folder, REPORTS)
    read_reports(reports)
    count = 0
    said = os.path.join(build.folder, "meson-test.log")
    with open(said, "w", encoding="utf-8") as output:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   env={**os.environ, **sanitizer_env(reports)})  # fmt: skip
    for result in follow(running, log):
        count += 1
        if result.count("failed"):
            result.output += read_reports(reports)
        yield result
    if count < len(names):
        with open(said, encoding="utf-8", errors="replace") as output:
            case = results.Case(f"{len(names) - count} of {len(names)} programs have no result", "failed")
            yield results.Result("meson test", 0.0, [case], output.read())


def sanitizer_env(reports):
    return {**SANITIZER_ENV, "TSAN_OPTIONS": f"{SANITIZER_ENV['TSAN_OPTIONS']}:log_path={os.path.abspath(reports)}"}


def read_reports(reports):
    """What ThreadSanitizer wrote since it was last asked; the files are removed."""
    text = ""
    for path in sorted(glob.glob(glob.escape(reports) + ".*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            text += file.read()
        os.unlink(path)
    return text


def follow(running, path):
    """The results as meson writes them, a line each, until it has ended."""
    log, rest, ended = None, b"", False
    while not ended:
        ended = running.poll() is not None
        if log is None and os.path.exists(path):
            log = open(path, "rb")
        if log:
            *lines, rest = (rest + log.read()).split(b"\n")
            yield from results.read_lines(line.decode("utf-8", "replace") for line in lines)
        if not ended:
            time.sleep(0.3)
    if log:
        log.close()
