# SPDX-License-Identifier: Apache-2.0
"""Each fuzzer finds nothing in ten seconds, begun with its corpus; what one has found is kept there."""
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
FUZZERS = sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.c"))
SECONDS = 10
# A transaction of the writer's may take 20 s. Loads of call frame information may fault, and are caught. Text of an
# option that is given twice lives as long as the process.
MORE = {"appends": ("-timeout=30",), "eh_frame": ("-handle_segv=0", "-handle_bus=0"), "options": ("-detect_leaks=0",)}
ASAN = {"eh_frame": "handle_segv=0:handle_sigbus=0", "options": "detect_leaks=0"}


@pytest.mark.parametrize("name", FUZZERS)
def test_nothing_is_found(name, tmp_path):
    program = pathlib.Path(os.environ["PIEPROF_BUILD"]) / "tests" / "fuzz" / f"fuzz_{name}"
    found = tmp_path / "found"
    found.mkdir()
    command = [program, found, HERE / "corpus" / name, f"-max_total_time={SECONDS}", "-timeout=10", "-rss_limit_mb=2048",
               f"-artifact_prefix={tmp_path}/", *MORE.get(name, ())]
    env = dict(os.environ, ASAN_OPTIONS=ASAN.get(name, ""))
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    print([line for line in done.stderr.splitlines() if line.startswith(("Done", "#"))][-1:])
    assert done.returncode == 0, done.stderr[-3000:]


def test_each_fuzzer_has_a_corpus():
    assert FUZZERS and all(any((HERE / "corpus" / name).iterdir()) for name in FUZZERS)
