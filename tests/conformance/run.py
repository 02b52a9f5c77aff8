#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests as a judge: each chosen file is run by this program while it profiles itself, and its verdict has
to be python3's. A file that passes is not run by python3 too (it takes as long), but with --all.

usage: run.py [--all] [--timeout SECONDS] [--keep FOLDER] [--tap] [FILE ...]

FILE may be a package or a pattern, for all files that it stands for: test_asyncio, 'test_multiprocessing_*'.

Either runs `-m test` in the same way and in a fresh folder; this program through a link called python3 with PIEPROF=1,
so that every process that a test starts is profiled too. With PIEPROF_FORM=guest the interpreter itself runs, with the
core preloaded; PIEPROF_PYTHON names another one than /usr/bin/python3. A verdict is what CPython's runner says of a
file: passed, failed, skipped and why. Where the verdicts differ, the tests inside the file that python3 passes and this
program does not are named. Ends with 0 when nothing differs, 1 when something does, 77 (skipped) when the tests are
not installed, 125 when the program is missing.

They are run under `timeout -s INT`: a shell's background job ignores SIGINT, and with it every process that it starts,
where test_signal and others then fail for any Python.
"""

import argparse
import fnmatch
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
sys.dont_write_bytecode = True

import helpers  # noqa: E402  (needs the path above)

CHOSEN = ("test_cmd_line test_signal test_threading test_faulthandler test_subprocess test_sys test_site test_venv "
          "test_asyncio.test_unix_events test_asyncio.test_subprocess").split()
FAILED_TEST = re.compile(r"^(?:FAIL|ERROR): (\S+ \(\S+\))", re.M)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="test files (default: ten that matter most)")
    parser.add_argument("--all", action="store_true", help="all test files there are (about an hour)")
    parser.add_argument("--timeout", type=int, default=500, metavar="SECONDS", help="for each file (default 500)")
    parser.add_argument("--tap", action="store_true", help="report in TAP, which meson understands")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the full output and the profiles there")
    return parser.parse_args()


def python(*words, **more):
    return helpers.run([helpers.PYTHON, *words], **more)


def missing():
    """Why the tests cannot be run here, or None."""
    if python("-c", "import test.regrtest, test.test_sys").returncode != 0:
        version = python("-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
        return f"CPython's tests are not installed: apt-get install libpython{version}-testsuite"
    return None


def all_files():
    listed = python("-m", "test", "--list-tests")
    return [line for line in listed.stdout.split() if line.startswith("test")]


def chosen_files(words):
    """Those that the words stand for, each once; ends with one line where there is none."""
    there, chosen = all_files(), []
    for word in words:
        found = [file for file in there if fnmatch.fnmatchcase(short := file.removeprefix("test."), word)
                 or short.startswith(word + ".")]  # fmt: skip
        # A file of a package that this Python's runner lists as a whole.
        if not found and "test_" in word.partition(".")[2]:
            found = [word] if word.partition(".")[0] in there else []
        if not found:
            sys.exit(f"run.py: this Python has no test file '{word}'")
        chosen += found
    return list(dict.fromkeys(chosen))


def verdict(status, output):
    """What CPython's runner says of one file, in a word."""
    for pattern, word in (
        (r"^\S+ skipped -- (.*)$", "skipped"),
        (r"^\S+ skipped \(resource denied\)", "skipped"),
        (r"^\d+ tests? skipped:", "skipped"),
        (r"^All 1 tests? OK\.|^1 test OK\.|^Result: SUCCESS", "passed"),
        (r"^Timeout \(", "timed out"),
    ):
        if re.search(pattern, output, re.M):
            return word
    return f"failed (status {status})"


def run_one(file, name, python, folder, timeout, environment):
    """Runs one test file by the words `python`; returns (verdict, names of failed tests)."""
    work = folder / name / file
    work.mkdir(parents=True)
    argv = ["/usr/bin/timeout", "-s", "INT", "-k", "60", str(timeout + 120), *python, "-m", "test", "-W",
            "--timeout", str(timeout), "--tempdir", str(work), file]
    env = helpers.clean_environment(LC_ALL="C.UTF-8", PIEPROF_OPTS=None, PIEPROF_CORES=None, **environment)
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env=env, cwd=work)
    (folder / f"{file}.{name}.txt").write_text(done.stdout)
    return verdict(done.returncode, done.stdout), sorted(set(FAILED_TEST.findall(done.stdout)))


class Report:
    """What people read, or TAP: one line for each file, and which of its tests differ."""

    def __init__(self, tap):
        self.tap = tap
        self.count = 0

    def file(self, same, name, text, details):
        self.count += 1
        line = f"{'ok' if same else 'not ok'} {self.count} {name}: {text}" if self.tap else f"{name}: {text}"
        print("\n".join([line, *((f"# {d}" if self.tap else f"    {d}") for d in details)]), flush=True)

    def skipped(self, name, why):
        self.count += 1
        print(f"ok {self.count} {name} # SKIP {why}" if self.tap else f"{name}: skipped: {why}", flush=True)

    def end(self, different):
        text = f"{self.count} files, {len(different)} different{': ' if different else ''}{' '.join(different)}"
        print(f"1..{self.count}" if self.tap else text)


def profiled(db, link):
    """How a profiled Python is called: the words before its arguments, and what its environment has more."""
    if helpers.FORM == "guest":
        return [helpers.binary(), "-q", "--guest", "--python", helpers.PYTHON, "-o", str(db)], {}
    return [str(link)], {"PIEPROF": "1", "PIEPROF_OUTPUT": str(db)}


def compare(file, link, folder, options, report):
    """Returns whether the two agree on a file."""
    python, environment = profiled(folder / f"{file}.db", link)
    got, failed_here = run_one(file, "pieprof", python, folder, options.timeout, environment)
    if got == "passed" and not options.all:
        report.file(True, file, got, [])
        return True
    expected, failed_there = run_one(file, "python3", [helpers.PYTHON], folder, options.timeout, {})
    if expected in ("timed out", "skipped"):
        report.skipped(file, f"{expected} under python3 itself on this machine")
        return True
    same = expected == got and set(failed_here) <= set(failed_there)
    details = [f"{name} fails under pieprof only" for name in failed_here if name not in failed_there]
    report.file(same, file, got if same else f"python3 {expected}, pieprof {got}", details)
    return same


def others_reach(path):
    """Whether other users may pass all folders on the way."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in pathlib.Path(path).resolve().parents)


def run_all(options, folder):
    link = folder / "bin" / "python3"
    link.parent.mkdir(parents=True)
    if not others_reach(helpers.PYTHON):
        link.parent.chmod(0o700)  # test_user sees that it cannot execute either of them
    link.symlink_to(helpers.binary())
    files = all_files() if options.all else chosen_files(options.files or CHOSEN)
    report = Report(options.tap)
    different = [file for file in files if not compare(file, link, folder, options, report)]
    report.end(different)
    return 1 if different and not options.tap else 0


def main():
    options = arguments()
    os.environ.pop("MALLOC_PERTURB_", None)  # meson's; CPython's tests measure times
    if not os.access(helpers.binary(), os.X_OK):
        print(f"no program at {helpers.binary()}: build it, or say where it is with PIEPROF_BINARY", file=sys.stderr)
        return 125
    reason = missing()
    if reason:
        print(f"1..0 # SKIP {reason}" if options.tap else f"skipped: {reason}")
        return 0 if options.tap else 77
    if options.keep:
        return run_all(options, pathlib.Path(options.keep).resolve())
    with tempfile.TemporaryDirectory(prefix="pieprof-conformance-", ignore_cleanup_errors=True) as folder:
        return run_all(options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
