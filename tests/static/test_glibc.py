# SPDX-License-Identifier: Apache-2.0
"""Nothing that we call came to glibc after 2.28, so a wheel linked with an older C library runs there."""
import re
import subprocess

import pytest
import tree

NEWEST = (2, 28)
# Of libc_nonshared.a before 2.33, or led elsewhere by profiler/base/old_libc.c.
OTHERWISE = {"stat", "stat64", "fstat", "fstat64", "lstat", "lstat64", "fstatat", "fstatat64", "mknod", "mknodat",
             "pthread_mutex_clocklock"}
SYMBOL = re.compile(r"(\*UND\*)?\s+[0-9a-f]{16}\s+\(?GLIBC_(\d+)\.(\d+)(?:\.\d+)?\)?\s+(?:0x\w\w )?(\w+)$", re.M)


def symbols(path, is_undefined):
    """(name, version) of a file's dynamic symbols."""
    text = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
    return [(name, (int(major), int(minor))) for undefined, major, minor, name in SYMBOL.findall(text)
            if bool(undefined) == is_undefined]


def wanted(objects):
    """Names that objects leave to others."""
    text = subprocess.run(["nm", "-u", *objects], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ +U (\w+)$", text, re.M))


def libraries(path):
    text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S*/(?:libc|libm)\.so\.6) ", text)


def too_new(needed, provided):
    """Symbols that glibc has in no version up to NEWEST."""
    oldest = {}
    for name, version in provided:
        oldest[name] = min(version, oldest.get(name, version))
    for name, version in needed:
        if name not in OTHERWISE and min(version, oldest.get(name, version)) > NEWEST:
            yield f"{name} of glibc {version[0]}.{version[1]}"


def test_the_core_and_the_program_need_nothing_newer():
    cores = sorted(tree.BUILD.glob("libpieprof-3.*.so"))
    if not cores:
        pytest.skip("no core was built")
    provided = [symbol for library in libraries(cores[0]) for symbol in symbols(library, False)]
    program = wanted(tree.BUILD.glob("pieprof.p/*.o"))
    needed = symbols(cores[0], True) + [symbol for symbol in provided if symbol[0] in program]
    assert len(provided) > 2000 and len(needed) > 250
    assert list(too_new(needed, provided)) == []


def test_what_is_newer_is_found():
    provided = [("pthread_once", (2, 34)), ("pthread_once", (2, 2)), ("_dl_find_object", (2, 35)), ("stat", (2, 33))]
    needed = [("pthread_once", (2, 34)), ("_dl_find_object", (2, 35)), ("stat", (2, 33)), ("gone", (2, 30))]
    assert list(too_new(needed, provided)) == ["_dl_find_object of glibc 2.35", "gone of glibc 2.30"]
