# SPDX-License-Identifier: Apache-2.0
"""The sources of the project and what was built from them, for the checks of this folder and of tests/headers.

A check is a function that takes what it looks at and yields breaches as text; its test runs it on the tree and on a
sample that breaks the rule, so that a check which finds nothing any more is found out.
"""
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(os.environ.get("PIEPROF_SOURCE") or pathlib.Path(__file__).parents[2])
BUILD = pathlib.Path(os.environ.get("PIEPROF_BUILD") or ROOT / "build")
CODE_FOLDERS = ("launcher", "runtime", "profiler", "storage", "tests", "bench")
NOT_OURS = ("subprojects/", "web/node_modules/", "build")

COMMENT_OR_LITERAL = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)


def listed():
    """Paths of all files that belong to the project, relative to its root."""
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if "/.git/" not in str(path)]
    return sorted(
        pathlib.Path(name)
        for name in names
        if name and not name.startswith(NOT_OURS) and (ROOT / name).is_file()
    )


def sources(*suffixes, folders=CODE_FOLDERS):
    return [path for path in listed() if path.suffix in suffixes and path.parts[0] in folders]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def code(source):
    """C source without comments and with empty literals; lines keep their numbers."""

    def blank(match):
        found = match[0]
        if found.startswith("/"):
            return " " + "\n" * found.count("\n")
        return found[0] + "\n" * found.count("\n") + found[0]

    return COMMENT_OR_LITERAL.sub(blank, source)


def without_directives(source):
    return DIRECTIVE.sub(lambda match: "\n" * match[0].count("\n"), source)


def line_of(source, offset):
    return source.count("\n", 0, offset) + 1


def nm(paths, *options):
    """{path: [(type, name)]} of many objects by one command; undefined names have type U, weak ones w or v."""
    paths = [str(path) for path in paths]
    output = subprocess.run(["nm", "--print-file-name", *options, *paths], capture_output=True, text=True, check=True).stdout
    found = {path: [] for path in paths}
    for line in output.splitlines():
        path, _, symbol = line.rpartition(":")
        found[path].append(tuple(symbol.split()[-2:]))
    return found


def compile_commands():
    """The compiler's command for each C source of the build: {path relative to the root: (arguments, object file)}."""
    commands = {}
    with open(BUILD / "compile_commands.json", encoding="utf-8") as file:
        for entry in json.load(file):
            directory = pathlib.Path(entry["directory"])
            source = (directory / entry["file"]).resolve()
            if source.is_relative_to(ROOT.resolve()):
                name = source.relative_to(ROOT.resolve())
                commands.setdefault(name, (entry["command"], directory / entry["output"], directory))
    return commands
