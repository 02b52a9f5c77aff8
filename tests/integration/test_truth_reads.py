# SPDX-License-Identifier: Apache-2.0
"""Lists that are searched where a set would do (truth/redundancy/searches.py), calls whose argument grows
(truth/redundancy/prefixes.py), and lines that look like them."""

import re

import pytest

from helpers import FIXED_RATES, PYTHON, TRUTH, binary, has_numpy, line_of, profile, run

SEARCHES, PREFIXES = TRUTH / "redundancy/searches.py", TRUTH / "redundancy/prefixes.py"
ITEMS = re.compile(r"each test reads up to (\d+) items of one list(, which grows)?")
BYTES = re.compile(r"each call reads all that was there again: its argument grew to ([0-9.]+) kB, and began as before in (\d+) of "
                   r"(\d+) comparisons")
COUNTED = re.compile(r"of (\d+) searches that were counted, (\d+) met a list of those just before, of (\d+) items on average")
CHOSEN = re.compile(r"of (\d+) calls that were counted, (\d+) chose among the items of the call before, of which a few had changed, "
                    r"(\d+) on average")
SORTS = re.compile(r"each call sorts all that was sorted again: the list grew to (\d+) items, with the items of before in (\d+) "
                   r"of (\d+) comparisons")
SEARCHED = ["grows", "long", "index"]
NOT_SEARCHED = ["short", "set", "made anew", "once each", "front", "no key"]
GROWING = ["digest", "product", "maximum", "arrange"]
NOT_GROWING = ["update", "append", "lists", "at random", "another", "windows", "new weights"]
needs_numpy = pytest.mark.skipif(not has_numpy(), reason=f"{PYTHON} has no NumPy")


@pytest.fixture(scope="module")
def searches(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("searches") / "x.db", SEARCHES, 0.3, options=FIXED_RATES)


@pytest.fixture(scope="module")
def prefixes(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("prefixes") / "x.db", PREFIXES, 0.3, *GROWING, "sort", options=FIXED_RATES)


@pytest.fixture(scope="module")
def others(pieprof, tmp_path_factory):
    return profile(tmp_path_factory.mktemp("others") / "x.db", PREFIXES, 0.2, *NOT_GROWING, options=FIXED_RATES)


def of_line(done, program, name):
    return [row for row in done.query("top 1000 redundancy") if (row["file"], row["line"]) == (str(program), line_of(program, name))]


def told(done, program, name):
    (row,) = [row for row in of_line(done, program, name) if row["severity"] == "high"]
    print(row["evidence"])
    assert (row["kind"], row["category"], row["again"]) == ("load", "inefficient algorithm", "read again")
    assert row["wasted_s_low"] < row["wasted_s"] <= row["wasted_s_high"] and row["redundant_fraction"] is None
    return row


@pytest.mark.parametrize("name", SEARCHED)
def test_a_searched_list_is_told_with_its_length(searches, name):
    row = told(searches, SEARCHES, name)
    true = searches.truth["items"][name]
    if counted := COUNTED.match(row["evidence"]):  # by a window, if one was open
        calls, met, items = map(int, counted.groups())
        assert met >= 0.9 * calls and (0.1 if name == "grows" else 0.99) * true <= items <= true
    else:
        items, grows = ITEMS.match(row["evidence"]).groups()
        assert 0.9 * true <= int(items) <= true and bool(grows) == (name == "grows")
    assert row["wasted_s"] == pytest.approx(0.3, rel=0.25), "all of its part of the run goes into the search"
    assert "set" in row["advice"]


@pytest.mark.parametrize("name", NOT_SEARCHED)
def test_where_a_set_gains_nothing_no_search_is_told(searches, name):
    assert [row["evidence"] for row in of_line(searches, SEARCHES, name) if "each test reads" in row["evidence"]] == []


@needs_numpy
@pytest.mark.parametrize("name", GROWING)
def test_an_argument_that_grows_is_told_with_its_length(prefixes, name):
    row = told(prefixes, PREFIXES, name)
    true = prefixes.truth["bytes"][name] / 1e3
    if name == "maximum" and (chosen := CHOSEN.match(row["evidence"])):  # by a window, if one was open
        calls, met, items = map(int, chosen.groups())
        assert met >= 0.9 * calls and 0.1 * true <= items * 8 / 1e3 <= true
        return
    kilobytes, rises, known = BYTES.match(row["evidence"]).groups()
    assert 0.85 * true <= float(kilobytes) <= 1.005 * true
    assert int(rises) >= 0.8 * int(known) and int(known) <= 1.25 * row["cpu_s"] / 0.001 + 20, "a comparison is a sample"


@needs_numpy
def test_a_list_that_is_sorted_again_is_told(prefixes):
    row = told(prefixes, PREFIXES, "sort")
    items, rises, known = map(int, SORTS.match(row["evidence"]).groups())
    true = prefixes.truth["bytes"]["sort"] / 8
    assert 0.7 * true <= items <= true and rises >= 0.8 * known
    assert row["wasted_s"] == pytest.approx(row["cpu_s"]) and row["cpu_s"] >= 0.5 and "bisect.insort" in row["advice"]


@needs_numpy
@pytest.mark.parametrize("name", NOT_GROWING)
def test_what_has_to_read_or_reads_little_is_not_told(others, name):
    assert [row["evidence"] for row in of_line(others, PREFIXES, name) if row["again"] == "read again"] == []


def test_it_leads_the_summary_where_nothing_was_watched(tmp_path):
    """A search is the interpreter's own work, of which no memory is watched."""
    done = run([binary(), "-o", "x.db", SEARCHES, 0.1], cwd=tmp_path)
    first = next(text for text in done.stderr.splitlines() if " of the run wasted: " in text)
    assert re.match(rf"searches\.py:({'|'.join(str(line_of(SEARCHES, name)) for name in SEARCHED)}): \d+ %", first)
    assert first.endswith(" read again)") and "in a set" in done.stderr
