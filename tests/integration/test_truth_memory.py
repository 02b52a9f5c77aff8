# SPDX-License-Identifier: Apache-2.0
"""Memory of programs that know what they allocate (truth/memory): by line, Python and native apart, and at the peak."""

import concurrent.futures
import math
import os

import pytest

from helpers import TRUTH, line_of, profile

HERE = TRUTH / "memory"
TOUCHED, SHARES, TEETH, AMONG, RAW = (HERE / f"{name}.py" for name in ("touched", "shares", "teeth", "among", "asked_of_raw"))
COUNTS = {"turns": 1_000_000, "small": 600_000, "medium": 100_000, "large": 500, "kept": 12_000}
SHAPES = ("ramp", "small", "spikes", "threads")


def at_mark(done, question, program, mark):
    """The row of the marked line, None if the answer has none."""
    line = line_of(program, mark)
    rows = [r for r in done.query("top 100000 " + question) if (r["file"], r["line"]) == (str(program), line)]
    assert len(rows) <= 1
    return rows[0] if rows else None


def test_a_large_array_is_seen_among_many_that_are_dropped(pieprof, tmp_path):
    """np.zeros() has its memory from calloc(), which maps fresh pages: each array is in the figures, none by chance."""
    done = profile(tmp_path / "x.db", AMONG)
    for question in "memory", "peak", "growth":
        row = at_mark(done, question, AMONG, "KEPT")
        assert row["growth_bytes"] == pytest.approx(done.truth["kept_bytes"], rel=0.001)
        assert question == "growth" or row["samples"] == 4
    churn = at_mark(done, "memory", AMONG, "CHURN")
    assert churn["allocated_low"] <= done.truth["churn_bytes"] * 1.001 and churn["allocated_high"] >= done.truth["churn_bytes"]


def profile_all(folder, commands, **more):
    """key -> Profile, two at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda key: profile(folder / f"{key}.db", *commands[key], **more), commands)
        return dict(zip(commands, done))


def test_memory_of_raw_is_the_callers(pieprof, tmp_path):
    """What a library asks of Python's RAW domain is native, what the interpreter asks of it is Python's."""
    done = profile(tmp_path / "x.db", RAW)
    for mark, share in ("NATIVE", 0), ("PYTHON", 1):
        row = at_mark(done, "memory", RAW, mark)
        assert row["allocated_bytes"] == pytest.approx(done.truth["bytes"], rel=0.005)
        assert row["python_share"] == pytest.approx(share, abs=0.005)


@pytest.fixture(scope="module")
def touched(pieprof, tmp_path_factory):
    """Started by a process that has more itself: what that has is not the program's."""
    folder = tmp_path_factory.mktemp("touched")
    ballast = b"x" * 300_000_000  # noqa: F841
    return profile_all(folder, {percent: (TOUCHED, percent) for percent in range(0, 101, 10)})


@pytest.mark.parametrize("percent", range(0, 101, 10))
def test_an_array_is_as_large_as_it_is_however_little_of_it_is_touched(touched, percent):
    """Scalene's Figure 6: what is allocated, not what is resident. 0.5 % is for the allocator's own rounding."""
    done = touched[percent]
    row = at_mark(done, "memory", TOUCHED, "ARRAY")
    size = done.truth["bytes"]
    assert row["allocated_bytes"] == pytest.approx(size, rel=0.005)
    assert row["peak_bytes"] == pytest.approx(size, rel=0.005)
    assert row["python_share"] < 0.005
    (heap,) = done.query("heap")
    assert heap["peak_native_bytes"] >= size
    assert heap["peak_native_bytes"] < size + 200e6  # OpenBLAS maps 128 MB when it is imported


@pytest.mark.parametrize("percent", range(0, 101, 10))
def test_resident_memory_is_what_was_touched(touched, percent):
    """Beside it, what the kernel says; it knows the program's peak, and the profiler works for 16 MB on at most. Each
    CPU keeps up to 32 pages of each of three kinds to itself before they are in the sum."""
    (heap,) = touched[percent].query("heap")
    resident = touched[percent].truth["resident_bytes"]
    unsure = 3 * 32 * 4096 * os.cpu_count()
    print(resident, heap["rss_peak_bytes"], unsure)
    assert resident - 1e6 - unsure <= heap["rss_peak_bytes"] <= resident + 16e6 + unsure


@pytest.fixture(scope="module")
def shares(pieprof, tmp_path_factory):
    return profile_all(tmp_path_factory.mktemp("shares"), {name: (SHARES, name, count) for name, count in COUNTS.items()})


@pytest.mark.parametrize("name, mark", [("turns", "OBJECTS"), ("turns", "BUFFERS"), ("small", "SMALL"),
                                        ("medium", "MEDIUM"), ("large", "LARGE"), ("kept", "KEPT")])
def test_python_and_native_shares_of_a_line(shares, name, mark):
    """Each of the two is counted for itself: which line allocates a kind's next sample is chance, and what lies behind
    the last one is in no sum."""
    python, native = shares[name].truth[mark]
    row = at_mark(shares[name], "memory", SHARES, mark)
    print(mark, row, "truth", python / (python + native), python + native)
    assert row["python_share"] == pytest.approx(python / (python + native), abs=0.02)
    kind = max((0, 1), key=lambda kind: shares[name].truth[mark][kind])
    part = shares[name].truth[mark][kind] / sum(of_line[kind] for of_line in shares[name].truth.values())
    chance = 4 * math.sqrt((1 - part) / row["samples"]) + 2 / row["samples"]
    assert row["allocated_bytes"] == pytest.approx(python + native, rel=0.02 + chance)


@pytest.mark.parametrize("name", COUNTS)
def test_python_and_native_shares_of_the_program(shares, name):
    done = shares[name]
    rows = [r for r in done.query("top 100000 memory") if r["file"] == str(SHARES)]
    python, native = (sum(parts) for parts in zip(*done.truth.values()))
    found = sum(r["allocated_bytes"] * r["python_share"] for r in rows)
    everything = sum(r["allocated_bytes"] for r in rows)
    assert found / everything == pytest.approx(python / (python + native), abs=0.02)
    assert everything == pytest.approx(python + native, rel=0.03)


@pytest.mark.parametrize("name", COUNTS)
def test_nothing_is_counted_twice_or_left_out(shares, shares_of_nothing, name):
    """Sums are counted, not sampled: what the program allocates is what it has more than when it does nothing."""
    python, native = (sum(parts) for parts in zip(*shares[name].truth.values()))
    (heap,), (base,) = shares[name].query("heap"), shares_of_nothing.query("heap")
    assert heap["allocated_bytes"] - base["allocated_bytes"] == pytest.approx(python + native, rel=0.01)
    if name != "kept":
        left = heap["allocated_bytes"] - heap["freed_bytes"] - (base["allocated_bytes"] - base["freed_bytes"])
        assert left == pytest.approx(0, abs=0.005 * (python + native))


@pytest.fixture(scope="module")
def shares_of_nothing(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("nothing") / "x.db", SHARES, "kept", 0)


def test_python_and_native_shares_of_the_peak(shares, shares_of_nothing):
    """What the program keeps is its peak."""
    python, native = shares["kept"].truth["KEPT"]
    (heap,), (base,) = shares["kept"].query("heap"), shares_of_nothing.query("heap")
    for kind, truth in (("python", python), ("native", native)):
        found = heap[f"peak_{kind}_bytes"] - base[f"peak_{kind}_bytes"]
        print(kind, found, truth)
        assert found == pytest.approx(truth, abs=0.02 * truth + heap["threshold_bytes"])
    row = at_mark(shares["kept"], "peak", SHARES, "KEPT")
    assert row["peak_bytes"] == pytest.approx(python + native, rel=0.03)


@pytest.fixture(scope="module")
def teeth(pieprof, tmp_path_factory):
    """Each sawtooth, and the same program without one."""
    folder = tmp_path_factory.mktemp("teeth")
    return profile_all(folder, {f"{shape} {scale}": (TEETH, shape, scale) for shape in SHAPES for scale in (1, 0)})


def maxima(values, fall):
    """The greatest values before each fall by so much."""
    found, low, high, is_rising = [], values[0], values[0], True
    for value in values:
        low, high = min(low, value), max(high, value)
        if is_rising and value < high - fall:
            found.append(high)
            low, is_rising = value, False
        elif not is_rising and value > low + fall:
            high, is_rising = value, True
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_peak_of_a_sawtooth(teeth, shape):
    """Within one threshold; the interpreter's own part is that of the program without teeth.

    Each thread keeps to itself up to half a threshold before it adds to the sum."""
    done, without = teeth[f"{shape} 1"], teeth[f"{shape} 0"]
    (heap,), (base,) = done.query("heap"), without.query("heap")
    truth = sum(done.truth.values())
    assert 65536 <= heap["threshold_bytes"] < 16e6
    print(shape, heap["peak_bytes"] - base["peak_bytes"] - truth, "of", heap["threshold_bytes"])
    margin = heap["threshold_bytes"] * (2.5 if shape == "threads" else 1)
    assert heap["peak_bytes"] - base["peak_bytes"] == pytest.approx(truth, abs=margin)


@pytest.mark.parametrize("shape", SHAPES)
def test_who_is_alive_at_the_peak(teeth, shape):
    done = teeth[f"{shape} 1"]
    (heap,) = done.query("heap")
    for mark, truth in done.truth.items():
        row = at_mark(done, "peak", TEETH, mark)
        found = row["peak_bytes"] if row else 0
        # A sampled block stands for what was allocated since the one before: n of them are right within 1 / sqrt(n).
        chance = 4 * truth / math.sqrt(row["samples"]) if row and mark == "TOOTH" and shape != "spikes" else 0
        print(shape, mark, found, "for", truth)
        assert found == pytest.approx(truth, abs=heap["threshold_bytes"] + 0.01 * truth + chance), mark


@pytest.mark.parametrize("threshold", ["1m", "32m"])
def test_peak_with_a_threshold_of_its_own(teeth, tmp_path, threshold):
    without = teeth["ramp 0"]
    done = profile(tmp_path / "x.db", TEETH, "ramp", 1, options=["--memory-threshold", threshold])
    (heap,), (base,) = done.query("heap"), without.query("heap")
    wanted = int(threshold[:-1]) << 20
    assert wanted / 1.1 <= heap["threshold_bytes"] <= wanted * 1.1
    assert heap["peak_bytes"] - base["peak_bytes"] == pytest.approx(sum(done.truth.values()), abs=1.1 * wanted)


def test_the_timeline_has_the_teeth(teeth):
    """Each maximum over what the interpreter has, and the curve of resident memory beside it."""
    done = teeth["ramp 1"]
    rows = done.query("top 100000 memory timeline")
    (heap,), (base,) = done.query("heap"), teeth["ramp 0"].query("heap")
    assert len(rows) <= 100  # as in the paper, §5
    assert rows == sorted(rows, key=lambda r: r["t_s"])
    assert all(r["heap_bytes"] == r["python_bytes"] + r["native_bytes"] for r in rows)
    found = [top - base["peak_bytes"] for top in maxima([r["heap_bytes"] for r in rows], fall=20e6)]
    print([f"{top / 1e6:.1f}" for top in found])
    truth = [mb << 20 for mb in (50, 90, 130, 110)]  # EARLY, and the teeth on their base
    assert found[:4] == [pytest.approx(t, abs=2 * heap["threshold_bytes"]) for t in truth]
    assert max(r["rss_bytes"] or 0 for r in rows) > 100e6
