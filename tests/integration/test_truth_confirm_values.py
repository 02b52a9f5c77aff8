# SPDX-License-Identifier: Apache-2.0
"""pieprof confirm: values that are compared by their content."""

import pytest

from helpers import PYTHON, ROOT, line_of, run
from test_truth_confirm import REPEATED, counted, counts, of, prepared  # noqa: F401  (a fixture)


def has(module):
    return run([PYTHON, "-c", f"import importlib.util as u, sys; sys.exit(not u.find_spec({module!r}))"]).returncode == 0

@counts
def test_long_bytes_are_read_once(prepared):
    """Read at each call, 30 GB would end the comparing."""
    made = prepared("""
        import struct
        block = bytes(range(256)) * 117_000
        for i in range(1000):
            struct.unpack_from("<B", block, i)  # read
    """, {"read": REPEATED})
    done = made.confirm()
    assert done.returncode == 0, done.stderr
    [row] = [row for name, row in counted(made.db)[line_of(made.program, "read")].items() if "unpack_from" in name]
    assert of(row) == (1000, 0, 1000, 1000, 256, 0, 0)


@counts
def test_decimals_are_compared_by_value(prepared):
    markers = ("one", "turns", "others")
    made = prepared("""
        from decimal import Decimal
        rate = Decimal("1.05")
        for i in range(300):
            rate.exp()  # one
            Decimal(i % 7 + 2).sqrt()  # turns
            Decimal(i + 2).ln()  # others
        try:
            Decimal("sNaN").sqrt()  # signals
        except ArithmeticError:
            print("signalled")
    """, dict.fromkeys(markers, REPEATED))
    done = made.confirm()
    assert (done.returncode, done.stdout) == (0, "signalled\n"), done.stderr
    found = {marker: counted(made.db)[line_of(made.program, marker)] for marker in markers}

    def figures(marker, name):
        [row] = [row for callee, row in found[marker].items() if callee.endswith(name)]
        return of(row)

    assert figures("one", "exp") == (300, 0, 300, 1, 1, 299, 0)
    assert figures("turns", "sqrt") == (300, 0, 300, 7, 7, 293, 0)
    assert figures("others", "ln") == (300, 0, 300, 300, 300, 0, 0)


@counts
@pytest.mark.skipif(not has("torch"), reason="no PyTorch")
def test_tensors_are_compared_by_content(prepared):
    markers = ("same", "pieces", "equal", "parameter", "changed", "method", "type", "mine")
    made = prepared("""
        import torch
        x, y = torch.arange(12.0).reshape(3, 4), torch.arange(12.0).reshape(4, 3).T
        weight = torch.nn.Parameter(torch.ones(3))
        for i in range(300):
            torch.cos(x)  # same
            torch.sin(x[:, i % 3])  # pieces
            torch.tan(x if i % 2 else y.contiguous() * 0 + x)  # equal
            torch.exp(weight)  # parameter
            y += 1
            torch.sqrt(y)  # changed
            x.add(2.0)  # method
            torch.arange(3 + i % 2, dtype=torch.float32)  # type
        class Mine(torch.Tensor):
            pass
        torch.cos(torch.ones(2).as_subclass(Mine))  # mine
        torch.isnan(torch.eye(2).to_sparse())  # sparse
    """, dict.fromkeys(markers, REPEATED))
    plain = run([PYTHON, made.program])
    done = made.confirm()
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    found = {marker: counted(made.db)[line_of(made.program, marker)] for marker in markers}

    def figures(marker, name):
        [row] = [row for callee, row in found[marker].items() if callee.endswith(name)]
        return of(row)

    assert figures("same", "cos") == figures("equal", "tan") == figures("parameter", "exp") == (300, 0, 300, 1, 1, 299, 0)
    assert figures("method", "add") == (300, 0, 300, 1, 1, 299, 0)
    assert figures("type", "arange") == (300, 0, 300, 2, 2, 298, 0)
    assert figures("pieces", "sin") == (300, 0, 300, 3, 3, 297, 0)
    assert figures("changed", "sqrt")[:4] == (300, 0, 300, 300)
    assert figures("mine", "cos")[2] == 0


@counts
def test_numpy_is_compared_by_content(prepared):
    made = prepared("""
        import numpy as np
        a, b = np.arange(1000.0), np.arange(1000.0)
        matrix = np.arange(100).reshape(10, 10)
        for i in range(300):
            np.cos(a if i % 2 else b)  # same
        for i in range(300):
            a[0] = i
            np.cos(a)  # changed
        for i in range(300):
            np.sin(np.float64(i % 3))  # scalars
            matrix.T * matrix[:, ::-1]  # views
        for i in range(30):
            np.array([object()]) == None  # objects
    """, {m: REPEATED for m in ("same", "changed", "scalars", "views", "objects")})
    assert made.confirm().returncode == 0
    found = {m: counted(made.db)[line_of(made.program, m)] for m in ("same", "changed", "scalars", "views", "objects")}
    assert of(found["same"]["numpy.cos"]) == (300, 0, 300, 1, 1, 299, 0)
    assert of(found["changed"]["numpy.cos"]) == (300, 0, 300, 300, 300, 0, 0)
    assert of(found["scalars"]["numpy.sin"]) == (300, 0, 300, 3, 3, 297, 0)
    assert of(found["views"]["numpy.ndarray * numpy.ndarray"]) == (300, 0, 300, 1, 1, 299, 0)
    assert found["objects"]["numpy.array"]["compared"] == 0


@counts
def test_rows_are_no_elements(prepared):
    markers = ("put", "fetch", "walk", "set", "get")
    made = prepared("""
        import numpy as np
        table, row = np.zeros((300, 6)), np.arange(6.0)
        for i in range(300):
            table[i] = row  # put
            table[i]  # fetch
            table[i, 0] = 1.0  # set
            table[i, 0]  # get
        for row in table: pass  # walk
    """, dict.fromkeys(markers, REPEATED))
    done = made.confirm()
    assert done.returncode == 0, done.stderr
    found = {marker: counted(made.db)[line_of(made.program, marker)] for marker in markers}
    assert {marker: (row["calls"], row["singles"]) for marker in markers for row in found[marker].values()} == {
        "put": (300, 0), "fetch": (300, 0), "walk": (300, 0), "set": (300, 300), "get": (300, 300)}


@counts
@pytest.mark.skipif(not has("numpy"), reason="no NumPy")
def test_figures_are_those_of_a_copy_that_counts_itself(pieprof):
    """One program of the bench: bench/detection/count.py runs all of them."""
    done = run([PYTHON, ROOT / "bench" / "detection" / "count.py", "--pieprof", pieprof, "--only", "tenant_settings"])
    assert done.returncode == 0 and done.stderr == "1 programs, 0 differences\n", done.stderr
    assert "| loads | 200 (0 raised), 5 / 5 / 195 | the same |" in done.stdout


@counts
def test_a_call_that_is_alike_has_no_time_of_the_calls_in_it(prepared):
    """all() gets a new generator each time, in memory that was another one's. What it draws are calls of new values.
    Another name for all(): the compiler of 3.14 puts a loop in the place of all() of a generator expression."""
    made = prepared("""
        import time

        def far(box, other):
            began = time.process_time_ns()
            while time.process_time_ns() - began < 20_000:
                pass
            return box < other

        found, every = 0, all
        for box in range(200):
            found += every(far(box + 0.5, other) for other in range(1000 * box + 1000, 1000 * box + 1020))  # all
        """, {"all": REPEATED})
    assert made.confirm().returncode == 0
    [rows] = counted(made.db).values()
    outer, inner = rows["all"], rows["far"]
    assert outer["calls"] == 200 and outer["alike"] > 100
    assert (inner["calls"], inner["distinct_args"], inner["again"]) == (4000, 4000, 0)
    assert outer["alike_ns"] <= outer["call_ns"] < 0.5 * inner["call_ns"]


@counts
def test_to_make_an_object_and_to_call_it_are_two_callees(prepared):
    made = prepared("""
        class Curve:
            def __init__(self, rates):
                self.rates = rates

            def __call__(self, years):
                return self.rates[0] * years

        total = 0
        for year in range(60):
            total += Curve((1.5, year % 3))(year)  # curve
        """, {"curve": REPEATED})
    assert made.confirm().returncode == 0
    [rows] = counted(made.db).values()
    assert of(rows["Curve"]) == (60, 0, 60, 3, 3, 57, 0)
    assert (rows["Curve.__call__"]["calls"], rows["Curve.__call__"]["again"]) == (60, 0)


@counts
@pytest.mark.skipif(not has("lxml"), reason="no lxml, whose functions are Cython's")
def test_functions_of_cython_have_their_names_and_are_held_apart(prepared):
    made = prepared("""
        from lxml import etree

        root = etree.fromstring("<day><rate>1.5</rate><rate>2.5</rate></day>")
        found = 0.0
        for i in range(40):
            found += float(root.findtext("rate")) + len(root.findall("rate"))  # cython
        """, {"cython": REPEATED})
    assert made.confirm().returncode == 0
    [rows] = counted(made.db).values()
    named = {name: row["calls"] for name, row in rows.items() if "find" in name}
    assert sorted(named.values()) == [40, 40] and {name.rsplit(".", 1)[-1] for name in named} == {"findtext", "findall"}
