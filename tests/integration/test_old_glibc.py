# SPDX-License-Identifier: Apache-2.0
"""Where glibc has no _dl_find_object(), native code is named as before: by a table of modules."""

import pathlib
import subprocess

import pytest

import helpers

# 0.6 s in a library that comes, goes and comes again.
PROGRAM = """
import ctypes, sys, time
here = ctypes.CDLL(None)
here.dlsym.restype = ctypes.c_void_p
print(here.dlsym(None, b"_dl_find_object"))

def spin(seconds, call, *words):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        call(*words)

for _ in range(2):
    library = ctypes.CDLL(sys.argv[1])
    spin(0.3, library.object_spin, 1000000)
    here.dlclose(ctypes.c_void_p(library._handle))
"""
LIBRARY = """
unsigned object_spin(unsigned count) {
    unsigned value = 1;
    while (count--)
        value = value * 3 ^ value >> 3;
    return value;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("old")
    (folder / "late.c").write_text(LIBRARY)
    for name, *words in (("late.so", folder / "late.c"), ("absent.so", "-nostdlib", pathlib.Path(__file__).with_name("absent.S"))):
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", folder / name, *words], check=True, timeout=60)
    (folder / "program.py").write_text(PROGRAM)
    return folder


def test_native_functions_have_their_names(folder):
    db = folder / "run.db"
    done = helpers.run([helpers.binary(), "-q", "-o", db, folder / "program.py", folder / "late.so"],
                       env=helpers.clean_environment(LD_PRELOAD=folder / "absent.so"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")
    seconds = {row["function"]: row["native_s"] for row in helpers.query(db, "top 50 native functions")}
    assert 0.5 < seconds["object_spin"] < 0.7
