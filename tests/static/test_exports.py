# SPDX-License-Identifier: Apache-2.0
"""The program exports what CPython exports, what it takes over from the C library on purpose, and nothing else."""
import pathlib
import re
import subprocess

import pytest
import tree

ALLOWED = pathlib.Path(__file__).with_name("exported-names.txt")
CPYTHON = re.compile(r"^_?_?Py")
LINKER = {"_init", "_fini", "_start", "_edata", "_end", "__bss_start", "__data_start", "data_start", "_IO_stdin_used"}


def exported(program):
    output = subprocess.run(["nm", "-D", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    # nm(1): absolute and indirect names are the linker's versions; copies of a library's data carry its version.
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if line.split()[-2] not in "Aa" and "@" not in line}


def unexpected(names, allowed):
    return sorted(name for name in names if not CPYTHON.match(name) and name not in allowed | LINKER)


def allowed_names():
    lines = ALLOWED.read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def program():
    path = tree.BUILD / "pieprof"
    assert path.exists(), f"no program in {tree.BUILD}"
    return path


def test_nothing_is_exported_by_accident():
    assert unexpected(exported(program()), allowed_names()) == []


def test_every_name_in_the_list_is_exported():
    assert sorted(allowed_names() - exported(program())) == []


def test_the_core_takes_over_the_same_and_the_entry():
    """With CPython's own answers, where they come before a shared libpython (runtime/memory/pymem_answers.h)."""
    (core,) = tree.BUILD.glob("libpieprof-3.*.so")
    names = {name for name in exported(core) if not CPYTHON.match(name)}
    assert names == allowed_names() | {"__libc_start_main"}


def test_the_core_needs_no_libpython():
    (core,) = tree.BUILD.glob("libpieprof-3.*.so")
    needed = subprocess.run(["readelf", "-d", core], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in needed and "python" not in needed


def test_the_python_api_is_exported():
    """Extension modules find it in the program, or in the shared libpython that the program needs."""
    needed = subprocess.run(["readelf", "-d", program()], capture_output=True, text=True, check=True).stdout
    if "libpython" in needed:
        pytest.skip("linked to the shared libpython, which exports it")
    assert {"PyList_New", "Py_BytesMain", "_Py_NoneStruct"} <= exported(program())


def test_an_accidental_export_is_found(tmp_path):
    library = tmp_path / "library.so"
    source = b"int pie_leak(void) { return 1; }\nint malloc_(void) { return 2; }\nint PyList_New(void) { return 3; }\n"
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source, check=True)
    assert unexpected(exported(library), {"malloc_"}) == ["pie_leak"]
