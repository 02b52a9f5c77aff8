# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of one build through meson and gives their results as they come."""
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
NO_TSAN = "ThreadSanitizer does not run on this machine (too much address space randomisation?)"


def run(build, suites, without):
    """Yields a results.Result for each test program of the suites (none: all) that is in none of `without`."""
    wrapper = builds.tsan_wrapper(build.folder) if build.name == "tsan" else []
    if wrapper is None:
        yield results.Result("tsan", 0.0, [results.Case("", "skipped", NO_TSAN)])
        return
    command = ["meson", "test", "-C", build.folder, "--no-rebuild", "--quiet"]
    command += [f"--suite={suite}" for suite in suites] + [f"--no-suite={suite}" for suite in without]
    expected = len(list_tests(command))
    if not expected:
        return
    command += [f"--wrapper={' '.join(wrapper)}"] if wrapper else []
    command += ["--timeout-multiplier=3"] if build.options else []
    log = os.path.join(build.folder, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    count = 0
    said = os.path.join(build.folder, "meson-test.log")
    with open(said, "w", encoding="utf-8") as output:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   env={**os.environ, **SANITIZER_ENV})  # fmt: skip
    for result in follow(running, log):
        count += 1
        yield result
    if count < expected:
        with open(said, encoding="utf-8", errors="replace") as output:
            case = results.Case(f"{expected - count} of {expected} programs have no result", "failed")
            yield results.Result("meson test", 0.0, [case], output.read())


def list_tests(command):
    listed = subprocess.run([*command, "--list"], capture_output=True, text=True, check=False).stdout
    return [line for line in listed.splitlines() if line.strip() and not line.startswith("ninja:")]


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
