# SPDX-License-Identifier: Apache-2.0
"""Allocators below the exported malloc(), and memory that runs out: the program sees what it sees under python3."""

import os
import re
import resource
import subprocess

import pytest

from helpers import FAULTS, FORM, PYTHON, check_file, clean_environment, python_minor

# Mostly memory that malloc() serves: small blocks come from Python's own pools.
WORK = """
import json, hashlib, zlib
def work():
    kept = [bytearray(n) for n in range(600, 6000, 7)]
    table = {str(n): [n] * 100 for n in range(800)}
    text = json.dumps(table)
    packed = zlib.compress(text.encode() * 3)
    again = json.loads(text)
    del kept[::2]
    kept += [bytes(70000)] * 9 + [bytearray(200000) for _ in range(9)]
    return hashlib.sha256(packed + b"".join(kept)).hexdigest(), len(again)
"""
ALL_WELL = WORK + "print(work())\n"
# It crashes by itself where it gets no memory: Python's own SHA-256 takes its place.
WITHOUT_OPENSSL = "import sys\nsys.modules['_hashlib'] = None\n"

# Each part of the work either succeeds or raises MemoryError; the sequence of both is what must not change.
FAILING = """
import ctypes, sys
fail_every = ctypes.CDLL(None).fail_every
def tries(n, attempt):
    made, said, rounds = [], ["-"] * 200, range(200)
    fail_every(n)
    for i in rounds:
        try:
            made.append(attempt(i, made))
            said[i] = "+"
        except MemoryError:
            pass
    fail_every(0)
    return "".join(said)
def grow(i, made):
    return bytearray(1000 + i)
def text(i, made):
    return "x" * (2000 + i)
def larger(i, made):
    if made and made[-1] and len(made[-1]) < 100000:
        made[-1].extend(bytes(3000))
        return None
    return bytearray(700)
for n in map(int, sys.argv[1:]):
    for attempt in grow, text, larger:
        print(n, attempt.__name__, tries(n, attempt))
"""


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def library_path(name):
    path = subprocess.run(["gcc", "-print-file-name=" + name], capture_output=True, text=True, check=True).stdout.strip()
    return path if os.path.isabs(path) else None


def outcome(argv, environment=None, preexec=no_core):
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                          errors="replace", preexec_fn=preexec,
                          env=clean_environment(PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0", **environment or {}))
    return done.returncode, done.stdout, done.stderr


def both(pieprof, tmp_path, program, *arguments, **more):
    """The outcomes under python3 and under pieprof."""
    path = tmp_path / "program.py"
    path.write_text(program)
    expected = outcome([PYTHON, path, *arguments], **more)
    return expected, outcome([pieprof, "-q", "-o", tmp_path / "x.db", path, *arguments], **more)


def built(folder, source, name, *flags):
    path = folder / name
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "-fno-builtin", "-D_GNU_SOURCE", *flags, "-o", path, FAULTS / source], check=True)
    return path


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    return built(tmp_path_factory.mktemp("failing"), "memory_fails.c", "failing.so")


@pytest.fixture(scope="module")
def failing_in_part(tmp_path_factory):
    return built(tmp_path_factory.mktemp("failing"), "memory_fails.c", "partial.so", "-DPARTIAL")


def extension(folder):
    ask = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'), sysconfig.get_path('include'))"
    suffix, include = subprocess.run([PYTHON, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    built(folder, "memory_extension.c", "memory_extension" + suffix, "-fsanitize=address", "-I" + include)


def sanitizer():
    path = library_path("libasan.so")
    if not path:
        pytest.skip("no libasan")
    if FORM == "guest":
        pytest.skip("AddressSanitizer's library must be preloaded first, and so must the core: such a run is refused (test_guest.py)")
    # CPython's own leaks are not the question.
    return {"LD_PRELOAD": path, "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.mark.parametrize("environment", [{}, {"LD_BIND_NOW": "1"}, {"PYTHONMALLOC": "malloc"}, {"MALLOC_CHECK_": "3"},
                                         {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3"},
                                         {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.mmap_threshold=4096"},
                                         {"MALLOC_PERTURB_": "85"}], ids=str)  # fmt: skip
def test_allocators_of_the_c_library(pieprof, tmp_path, environment):
    expected, found = both(pieprof, tmp_path, ALL_WELL, environment=environment)
    assert expected[0] == 0 and found == expected
    check_file(tmp_path / "x.db")


def test_jemalloc(pieprof, tmp_path):
    """A preloaded allocator stays the process's."""
    program = ALL_WELL + "import ctypes\nprint(hasattr(ctypes.CDLL(None), 'mallctl'), 'jemalloc' in open('/proc/self/maps').read())\n"
    expected, found = both(pieprof, tmp_path, program, environment={"LD_PRELOAD": "libjemalloc.so.2"})
    if "True True" not in expected[1]:
        pytest.skip("no libjemalloc.so.2")
    assert expected[0] == 0 and found == expected
    check_file(tmp_path / "x.db")


def test_extension_built_with_a_sanitizer(pieprof, tmp_path):
    """AddressSanitizer has the allocator; pieprof leaves it alone."""
    extension(tmp_path)
    program = ALL_WELL + "import memory_extension\nprint([memory_extension.sum(n) for n in range(1, 3000)][-1])\n"
    expected, found = both(pieprof, tmp_path, program, environment=sanitizer())
    assert expected[0] == 0, expected
    assert found == expected
    check_file(tmp_path / "x.db")


def test_sanitizer_still_finds_errors(pieprof, tmp_path):
    extension(tmp_path)
    expected, found = both(pieprof, tmp_path, "import memory_extension\nmemory_extension.overrun(100)\n",
                           environment=sanitizer())  # fmt: skip
    # GCC 13 and later say "after", those before "to the right of".
    found_at = expected[2].replace("0 bytes", "1 bytes").replace("bytes after", "bytes to the right")
    assert "heap-buffer-overflow" in expected[2] and "1 bytes to the right" in found_at
    assert found[0] == expected[0] and "heap-buffer-overflow" in found[2]
    assert "in overrun" in found[2]


LIMITED = WORK + """
import sys
def attempt(size):
    try:
        return len(bytearray(size))
    except MemoryError:
        return "MemoryError"
print(work(), [attempt(size << 20) for size in (1, 10, 5000, 3)])
try:
    kept = []
    while True:
        kept.append(bytearray(9 << 20))
except MemoryError:
    del kept
    print("full", work())
"""


@pytest.mark.parametrize("limit_mb", [1500, 3000])
def test_limit_of_address_space(pieprof, tmp_path, limit_mb):
    """`ulimit -v`: MemoryError where python3 raises it, and the program can go on."""
    limit = limit_mb << 20

    def preexec():
        no_core()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    expected, found = both(pieprof, tmp_path, LIMITED, preexec=preexec)
    assert expected[0] == 0 and found == expected
    check_file(tmp_path / "x.db")


@pytest.mark.parametrize("every", [(1, 2, 3), (5, 7, 10), (31, 100)], ids=str)
def test_every_nth_call_fails(pieprof, tmp_path, failing, every):
    """In the program's thread, from a certain call on: the same ones succeed and raise."""
    expected, found = both(pieprof, tmp_path, FAILING, *every, environment={"LD_PRELOAD": str(failing)})
    assert expected[0] == 0 and "-" in expected[1] and found == expected
    check_file(tmp_path / "x.db")


def test_every_nth_call_fails_in_part(pieprof, tmp_path, failing_in_part):
    """A library that replaces only some functions is not counted, and works."""
    expected, found = both(pieprof, tmp_path, FAILING, 3, 7, environment={"LD_PRELOAD": str(failing_in_part)})
    assert expected[0] == 0 and "-" in expected[1] and found == expected


def sound(status, errors):
    """Nobody crashed: Python gives up by itself where it has to, with SIGABRT if it cannot even begin. In some places
    it does crash by itself: PyThreadState_New() uses what it did not get. So does 3.12, which waits for locks that it
    did not get: for whatever lies on its stack in their place."""
    own = r"_?Py\w+|sem_wait" if python_minor() == 12 else r"_?Py\w+"
    return (status >= 0 or status == -6 and "Fatal Python error" in errors or
            status == -11 and re.search(rf"^crashed in ({own})$", errors, re.M))


def test_calls_fail_from_the_start(pieprof, tmp_path, failing):
    """Of all threads, ours included. Where the profile cannot be opened the program does not begin."""
    program = tmp_path / "program.py"
    program.write_text(WITHOUT_OPENSSL + ALL_WELL)
    well = outcome([PYTHON, program])[1]
    command = [pieprof, "-q", "-o", tmp_path / "x.db", program]
    assert outcome(command)[:2] == (0, well)
    seen = set()
    for every in (1, 2, 5, 30, 307, 3001, 30011, 100003, 300007):
        for after in (0, 100, 2000, 20000, 70001):
            environment = {"LD_PRELOAD": str(failing), "FAIL_EVERY": str(every), "FAIL_AFTER": str(after)}
            status, said, errors = outcome(command, environment=environment)
            case = (every, after, status, said, errors)
            assert sound(status, errors), case
            assert status != 125 or said == "" and errors.startswith("pieprof: ") and errors.count("\n") == 1, case
            assert status != 0 or said == well, case
            seen.add(status)
    assert seen >= {0, 125}
    check_file(tmp_path / "x.db")


@pytest.mark.parametrize("every", [5, 8, 20])
@pytest.mark.parametrize("after", [50, 70, 100])
def test_the_runtime_begins_without_memory(pieprof, tmp_path, failing, every, after):
    """Python 3.12 begins without locks that it got no memory for. It gives up with a message, and so it does here."""
    program = tmp_path / "program.py"
    program.write_text("print(1)\n")
    environment = {"LD_PRELOAD": str(failing), "FAIL_EVERY": str(every), "FAIL_AFTER": str(after)}
    status, _, errors = outcome([pieprof, "-q", "-o", tmp_path / "x.db", program], environment=environment)
    assert sound(status, errors), (status, errors)


def test_assertion_of_the_program(pieprof, tmp_path):
    """It is the C library's, although a failed one of the library that reads debug information is not."""
    program = "import ctypes\nctypes.CDLL(None)['__assert_fail'](b'x > 0', b'f.c', 7, b'g')\n"
    expected, found = both(pieprof, tmp_path, program)
    assert expected == (-6, "", "python3: f.c:7: g: Assertion `x > 0' failed.\n")
    name = "python3" if FORM == "guest" else "pieprof"  # a guest's program is the interpreter itself
    assert found == (-6, "", expected[2].replace("python3", name))
    check_file(tmp_path / "x.db")


# Two flushes pass; then it ends while calls still fail.
BUSY = WITHOUT_OPENSSL + WORK + """
import ctypes, os, sys, threading, time
fail = ctypes.CDLL(None).fail_every_in_all_threads
os.write(1, b"begun\\n")
def busy():
    while time.monotonic() < end:
        try:
            work()
        except MemoryError:
            pass
end = time.monotonic() + 2.5
threads = [threading.Thread(target=busy) for _ in range(2)]
for thread in threads:
    thread.start()
fail(int(sys.argv[1]))
for thread in threads:
    while thread.is_alive():
        try:
            thread.join()
        except MemoryError:
            pass
os.write(1, b"over\\n")
"""


@pytest.mark.parametrize("every", [2, 3, 10, 101, 1009, 20011])
def test_calls_fail_while_it_runs(pieprof, tmp_path, failing, every):
    expected, found = both(pieprof, tmp_path, BUSY, every, environment={"LD_PRELOAD": str(failing)})
    assert expected[1] == "begun\nover\n" and found[1] == expected[1]
    assert sound(found[0], found[2]), found
    check_file(tmp_path / "x.db")
