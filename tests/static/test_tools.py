# SPDX-License-Identifier: Apache-2.0
"""Checks that other programs make: clang-format for C, shellcheck for the scripts, py_compile for Python."""
import re
import shutil
import subprocess

import pytest
import tree

WRONG_PLACE = re.compile(r"^(.+?):\d+:\d+: error: code should be clang-formatted", re.M)
CLANG_FORMAT = "clang-format-19"  # the same on Debian 12 and 13; other versions disagree with it about details


def tool(name):
    path = shutil.which(name)
    if not path:
        pytest.skip(f"{name} is not installed")
    return path


def wrongly_formatted(paths):
    """The files that clang-format would change."""
    command = [tool(CLANG_FORMAT), "--dry-run", "-Werror", f"--style=file:{tree.ROOT / '.clang-format'}", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wrong = sorted(set(WRONG_PLACE.findall(done.stderr)))
    return wrong or ([done.stderr] if done.returncode else [])


def shell_scripts():
    for path in tree.listed():
        first = tree.text(path).split("\n", 1)[0] if not path.suffix or path.suffix == ".sh" else ""
        if first.startswith(("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash", "# shellcheck shell=")):
            yield tree.ROOT / path


def script_faults(paths):
    command = [tool("shellcheck"), "-x", *paths]
    return subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True, check=False).stdout


def test_c_is_formatted():
    paths = [tree.ROOT / path for path in tree.sources(".c", ".h")]
    wrong = wrongly_formatted(paths)
    assert paths and not wrong, "run scripts/format for these: " + " ".join(wrong)


def test_scripts_pass_shellcheck():
    paths = list(shell_scripts())
    assert paths and script_faults(paths) == ""


def test_python_compiles():
    paths = [path for path in tree.listed() if path.suffix == ".py"]
    assert paths
    for path in paths:
        compile(tree.text(path), str(path), "exec")


def test_wrong_format_is_found(tmp_path):
    source = tmp_path / "probe.c"
    source.write_text("int  f( void ){return 1;}\n", encoding="utf-8")
    assert wrongly_formatted([source]) == [str(source)]


def test_a_faulty_script_is_found(tmp_path):
    script = tmp_path / "probe"
    script.write_text("#!/bin/sh\nfor x in `ls`; do rm $x; done\n", encoding="utf-8")
    assert "SC2006" in script_faults([script])


FREE_THREADED = """#!/usr/bin/python3 -IS
import sys, sysconfig
sysconfig.get_config_var = {"Py_GIL_DISABLED": 1}.get
sys.argv = ["-", *(word for word in sys.argv[1:] if word not in ("-I", "-S", "-"))]
exec(sys.stdin.read())
"""


def test_a_free_threaded_python_is_refused_in_one_line(tmp_path):
    python = tmp_path / "python3.14t"
    python.write_text(FREE_THREADED, encoding="utf-8")
    python.chmod(0o755)
    command = [tree.ROOT / "scripts" / "python-link", python, "auto"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("pieprof has no support for free-threaded Python 3.11")
