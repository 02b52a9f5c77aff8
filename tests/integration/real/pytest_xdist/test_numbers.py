# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import pytest


@pytest.mark.parametrize("n", range(40))
def test_sum(n):
    assert sum(range(n * 1000)) == n * 1000 * (n * 1000 - 1) // 2


def test_fails():
    assert sum(range(10)) == 44


@pytest.mark.skip(reason="not today")
def test_skipped():
    pass


def test_a_child():
    assert subprocess.check_output([sys.executable, "-c", "print(sum(range(10)))"]) == b"45\n"
