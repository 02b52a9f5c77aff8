# SPDX-License-Identifier: Apache-2.0
"""-Dlibpython=none: plain ninja makes the core and all that needs no libpython, and links nothing that needs one."""
import json
import os
import pathlib
import subprocess

import tree


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


def test_a_plain_build_of_the_core_links_no_program_that_calls_python(tmp_path):
    python = os.environ.get("PIEPROF_PYTHON", "/usr/bin/python3")
    run("meson", "setup", tmp_path, tree.ROOT, f"-Dpython={python}", "-Dlibpython=none", "-Dpage=disabled")
    used = run("ninja", "-C", tmp_path, "-t", "inputs", "all").splitlines()
    assert any(name.startswith("libpieprof-3.") and name.endswith("core.c.o") for name in used)
    commands = json.loads((tmp_path / "compile_commands.json").read_text(encoding="utf-8"))
    sources = {command["output"]: pathlib.Path(tmp_path, command["file"]) for command in commands}
    # Objects of a program lie in a folder of its name, those of a library in that of a lib*.
    programs = [name for name in used if name in sources and not pathlib.Path(name).parent.name.startswith("lib")]
    assert [name for name in programs if "<Python.h>" in sources[name].read_text(encoding="utf-8")] == []
