# SPDX-License-Identifier: Apache-2.0
"""The builds that scripts/test makes, and what runs in each."""
import glob
import os
import re
import shutil
import subprocess
from dataclasses import dataclass

import headers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = ("3.14", "3.15")  # no released Debian has these
EMBEDDABLE = ("3.11", "3.12", "3.13", "3.14", "3.15")
COMMAND_CHARACTERS = 200  # a build may have a hundred targets
PROGRESS = re.compile(r"\[\d+/\d+\] ")
TSAN_PROBE = "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n"


@dataclass(frozen=True)
class Build:
    name: str
    what: str
    compiler: str
    options: tuple = ()
    suites: tuple = ()  # meson suites; none: only builds
    without: tuple = ()
    is_matrix: bool = False  # only when named, or as `matrix`
    headers: str = ""  # a version of Python of which only the development files are had: nothing that it makes runs
    is_partial: bool = False  # makes only what its suites run; warnings, of which more are false there, are no errors

    @property
    def folder(self):
        return os.path.join(ROOT, "build-test", self.name)

    @property
    def development_files(self):
        return os.path.join(self.folder, "python")

    def fetch(self):
        """Gets what it needs from elsewhere; returns "" or why that is not to be had."""
        return headers.fetch(self.development_files, self.headers) if self.headers else ""

    def setup(self):
        """The options of `meson setup`, and what the environment has beside the compiler's name."""
        if not self.headers:
            return ["-Dtests=enabled", *self.options], {"CFLAGS": "", "LDFLAGS": ""}
        python = headers.stand_in(self.development_files, self.headers)
        include = os.path.join(self.development_files, "usr", "include")
        # The library needs functions that this C library lacks.
        return ["-Dtests=disabled", f"-Dpython={python}", *self.options], {"CFLAGS": f"-isystem {include}",
                                                                           "LDFLAGS": "-Wl,--allow-shlib-undefined"}  # fmt: skip


def other_pythons():
    """{"3.12": its path}: interpreters beside the one of the system that lie on the PATH or in pyenv's folder.

    By the name python3 where there is one: pieprof is that for the programs that it runs."""
    found = {}
    own = os.path.realpath("/usr/bin/python3")
    for version in EMBEDDABLE:
        folders = [os.path.dirname(path) for path in glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python3"))]
        for folder in [*os.environ.get("PATH", "").split(os.pathsep), *sorted(folders)]:
            path = os.path.join(folder, f"python{version}")
            if "/shims" not in folder and os.access(path, os.X_OK) and os.path.realpath(path) != own:
                plain = os.path.join(folder, "python3")
                found.setdefault(version, plain if os.path.realpath(plain) == os.path.realpath(path) else path)
    return found


BUILDS = {
    build.name: build
    for build in (
        Build("gcc", "all suites", "gcc"),
        # Clang warns before it optimizes.
        Build("clang", "no warnings with the second compiler", "clang", ("-Doptimization=0", "-Ddebug=false")),
        # All is compiled, and warned of, by the two above: these need what runs in them, and two thirds of the time.
        Build("asan", "under AddressSanitizer and UndefinedBehaviorSanitizer", "gcc",
              ("-Db_sanitize=address,undefined", "-Doptimization=1"), ("unit", "fault"), ("no-asan",), is_partial=True),
        Build("tsan", "under ThreadSanitizer", "gcc", ("-Db_sanitize=thread", "-Doptimization=1"), ("tsan",), is_partial=True),
        Build("bare", "without optional libraries", "gcc", ("-Doptional=disabled",), ("unit",), is_matrix=True),
        Build("lto", "-O3 and link-time optimization", "gcc", ("-Doptimization=3", "-Db_lto=true"), ("unit", "fault"),
              is_matrix=True),
        Build("fuzz", "fuzzers", "clang", ("-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dfuzz=enabled"), ("fuzz",),
              is_matrix=True),
        *(Build(f"python{version}", f"for {path}", "gcc", (f"-Dpython={path}",), ("unit", "fault", "integration"), is_matrix=True)
          for version, path in other_pythons().items()),
        *(Build(f"headers-{version}", f"compiles for Python {version} and links, without one that runs", "gcc",
                is_matrix=True, headers=version) for version in HEADERS),
    )
}  # fmt: skip


def run(command, log, env=None):
    log.write("$ " + " ".join(command)[:COMMAND_CHARACTERS] + "\n")
    log.flush()
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, check=False).returncode


def configure(build):
    """Also what is configured, where the description has changed; returns "" or the end of the output."""
    os.makedirs(build.folder, exist_ok=True)
    options, more = build.setup()
    command = ["meson", "setup", build.folder, ROOT, f"-Dwerror={str(not build.is_partial).lower()}", *options]
    if os.path.exists(os.path.join(build.folder, "build.ninja")):
        command = ["ninja", "-C", build.folder, "build.ninja"]
    path = os.path.join(build.folder, "configure.log")
    with open(path, "w", encoding="utf-8") as log:
        failed = run(command, log, dict(os.environ, CC=build.compiler, **more))
    return end_of(path) if failed else ""


def make(build, targets, jobs):
    """Compiles; returns "" or the end of the output of what failed."""
    path = os.path.join(build.folder, "build.log")
    with open(path, "w", encoding="utf-8") as log:
        failed = run(["ninja", "-C", build.folder, "-j", str(jobs), *targets], log)
    return end_of(path) if failed else ""


def end_of(path):
    """From the first failure on, or the last lines: a failed configuration speaks there."""
    with open(path, encoding="utf-8", errors="replace") as log:
        lines = log.read().splitlines()
    said = [line for line in lines if not PROGRESS.match(line)]
    first = next((n for n, line in enumerate(said) if line.startswith("FAILED:")), max(0, len(said) - 40))
    return "\n".join(said[max(0, first - 15) : first + 60])


def tsan_wrapper(folder):
    """How to start a program of the ThreadSanitizer build here: a command to put before it, or None if there is no way.

    The older run-time library cannot live with a kernel that randomises mmap by more than 28 bits. With 28 bits it
    starts, but now and then a program with many threads ends with the library's status and without a word. So
    addresses are not randomised where that may be asked for.
    """
    os.makedirs(folder, exist_ok=True)
    probe = os.path.join(folder, "probe")
    compiled = subprocess.run(["gcc", "-fsanitize=thread", "-x", "c", "-", "-o", probe],
                              input=TSAN_PROBE.encode(), stderr=subprocess.DEVNULL, check=False)
    if compiled.returncode:
        return None
    for wrapper in ([shutil.which("setarch") or "setarch", "-R"], []):
        try:
            if not subprocess.run([*wrapper, probe], capture_output=True, check=False).returncode:
                return wrapper
        except OSError:
            pass
    return None
