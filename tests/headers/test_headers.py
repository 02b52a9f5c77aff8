# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone, with gcc and with clang, as C17 and with the flags of the sources beside it."""
import os
import pathlib
import shlex
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "static"))
import tree  # noqa: E402

HEADERS = tree.sources(".h")
# What belongs to one compilation, and what gcc alone understands.
ONE_WORD = {"-c", "-MD", "-fno-fat-lto-objects"}
TWO_WORDS = {"-o", "-MQ", "-MF"}


def flags_beside(header, commands):
    """The flags of the nearest source, which is one of the same folder if there is one; without the file names."""

    def distance(source):
        return -len(os.path.commonpath([source.parent, header.parent])), str(source)

    command, _, directory = commands[min(commands, key=distance)]
    flags, skip = [], True  # the first word is the compiler
    for word in shlex.split(command):
        if skip or word in TWO_WORDS:
            skip = not skip
        elif word not in ONE_WORD and not word.endswith(".c"):
            flags.append(word)
    return flags, directory


def compile_alone(compiler, header, flags, directory):
    """Compiles nothing but the header; returns what the compiler says."""
    command = [compiler, *flags, "-Werror", "-Wno-unused-function", "-Wno-unused-const-variable",
               "-fsyntax-only", "-x", "c", "-"]  # fmt: skip
    done = subprocess.run(command, input=f'#include "{header}"\n', cwd=directory,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0 or done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def commands():
    return tree.compile_commands()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("header", HEADERS, ids=str)
def test_header_compiles_alone(compiler, header, commands):
    assert compile_alone(compiler, tree.ROOT / header, *flags_beside(header, commands)) == ""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_header_that_needs_another_is_found(compiler, commands, tmp_path):
    header = tmp_path / "probe.h"
    header.write_text("#pragma once\nstruct probe { uint64_t value; };\n", encoding="utf-8")
    flags, directory = flags_beside(HEADERS[0], commands)
    assert "uint64_t" in compile_alone(compiler, header, flags, directory)
