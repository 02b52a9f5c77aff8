# SPDX-License-Identifier: Apache-2.0
"""How often the collection thread looks at the threads: 50 times a second, and 20 while they only compute."""

from helpers import profile

COMPUTE = "import time\nuntil = time.monotonic() + 2\nwhile time.monotonic() < until: sum(range(1000))\n"
WAIT = "import time\nuntil = time.monotonic() + 2\nwhile time.monotonic() < until: time.sleep(0.003)\n"


def ticks_in_1_s(done):
    (row,) = done.sql("select sum(c.value) / (select max(wall_ns) / 1e9 from thread) as rate from counter c where c.name = 'ticks'")
    return row["rate"]


def test_ticks_are_fewer_while_a_program_only_computes(tmp_path):
    """Five ticks of 20 ms come first, and now and then one finds something."""
    calm = ticks_in_1_s(profile(tmp_path / "compute.db", "-c", COMPUTE))
    busy = ticks_in_1_s(profile(tmp_path / "wait.db", "-c", WAIT))
    print(f"{calm:.0f} in 1 s while it computes, {busy:.0f} while it waits")
    assert calm <= 33 and 1.2 * calm <= busy <= 60  # a busy machine delays both
