# SPDX-License-Identifier: Apache-2.0
"""Stacks that are switched within one thread: each sample has the frames of the greenlet that ran, and no other's."""

import pytest

import helpers
from helpers import TRUTH, total

GREENLETS = TRUTH / "greenlets.py"
GEVENT = """
import gevent, hashlib
def work(n):
    x = hashlib.sha256(str(n).encode())
    for i in range(300):
        x.update(x.digest())
        if i % 50 == 0:
            gevent.sleep(0)
    gevent.sleep(0.01)
    return x.hexdigest()
print(gevent.__version__, [g.get() for g in [gevent.spawn(work, n) for n in range(200)]][-1])
"""


def has(module):
    return helpers.run([helpers.PYTHON, "-c", "import " + module]).returncode == 0


def test_samples_have_the_frames_of_their_greenlet(profiled):
    if not has("greenlet"):
        pytest.skip("greenlet is not installed")
    profile = profiled(GREENLETS, 3)
    paths = {"shallow": ("shallow",), "deep": ("deep",) * 21, "in_c": ("in_c", "key")}
    cpu = dict.fromkeys(paths, 0)
    for sample in profile.samples():
        names = tuple(f.function for f in sample.frames if f.is_python and f.file == str(GREENLETS))
        if "burn" not in names:
            continue
        # A greenlet has no frames of main(), which switched to it, and none of the others'.
        (kind,) = [k for k, path in paths.items() if names == (*path, "burn")]
        cpu[kind] += sample.cpu_s
    truth = profile.truth["cpu_s"]
    for kind, seconds in truth.items():
        assert cpu[kind] == pytest.approx(seconds * profile.program_share, rel=0.1), kind
    drops = {r["counter"]: r["drops"] for r in profile.query("drops")}
    assert drops.get("python_chain_invalid", 0) < 0.01 * total(profile.query("threads"), "samples"), drops


def test_gevent_has_the_same_result(profiled):
    if not has("gevent"):
        pytest.skip("gevent is not installed")
    plain = helpers.run([helpers.PYTHON, "-c", GEVENT])
    assert plain.returncode == 0, plain.stderr
    assert profiled("-c", GEVENT).completed.stdout == plain.stdout
