#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what pieprof learned of a loop, or sampled in it, against the truth of truth.py.

Both are distributions over the lines of the loop's body that have calls, and the body's own code. They are compared by
the Kullback-Leibler divergence of the truth from the estimate, sum p ln(p / q), with natural logarithms (Paikana §4 has
0.04 for its own, 2.38 for statprof). A share that the estimate lacks, or that is smaller, counts as EPSILON; both are
scaled to 1. A line's time of several sites is their sum.
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import sqlite3
import subprocess
import tempfile

PIEPROF = os.environ.get("PIEPROF") or pathlib.Path(__file__).resolve().parents[2] / "build" / "pieprof"
EPSILON = 1e-4
OWN = "own"


def kl(truth, estimate, epsilon=EPSILON):
    """KL(truth || estimate) of two {key: share}. Negative shares, which subtraction can leave, are nothing."""
    keys = truth.keys() | estimate.keys()
    p = {key: max(truth.get(key) or 0, 0) for key in keys}
    q = {key: max(estimate.get(key) or 0, epsilon) for key in keys}
    p_sum, q_sum = sum(p.values()), sum(q.values())
    return sum(p[key] / p_sum * math.log(p[key] / p_sum / (q[key] / q_sum)) for key in keys if p[key])


def truth_lines(truth):
    """{line or OWN: share}"""
    lines = {OWN: truth["own"]}
    for site in truth["sites"].values():
        lines[site["line"]] = lines.get(site["line"], 0) + site["share"]
    return lines


def calls_only(lines):
    """Without the body's own code, which is the least sure of the truth in a body of a few microseconds."""
    return {line: share for line, share in lines.items() if line != OWN}


@contextlib.contextmanager
def with_views(db):
    """The profile as `export` writes it for other programs."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "copy.sqlite")
        subprocess.run([PIEPROF, "export", db, "-f", "sqlite", "-o", copy], check=True)
        with contextlib.closing(connect(copy)) as connection:
            yield connection


def connect(db):
    found = sqlite3.connect(f"file:{pathlib.Path(db).resolve()}?mode=ro", uri=True)
    found.row_factory = sqlite3.Row
    return found


def is_own_code(row):
    return not row["function"] or row["function"].startswith("(")


def learned_rows(db, truth):
    """The rows of v_learned of the truth's loop in the last run that has it, as dicts."""
    with with_views(db) as connection:
        rows = [dict(row) for row in connection.execute("select * from v_learned")]
    rows = [r for r in rows if pathlib.Path(r["loop_file"] or r["file"]).stem == truth["program"]
            and r["loop_line"] == truth["loop_line"]]
    last = max((r.get("run") or 0 for r in rows), default=0)
    return [r for r in rows if (r.get("run") or 0) == last]


def learned_lines(rows, column="share"):
    """{line or OWN: sum of the column}"""
    lines = {}
    for row in rows:
        key = OWN if is_own_code(row) else row["line"]
        lines[key] = lines.get(key, 0) + (row[column] or 0)
    return lines


# Samples at or below each line of the body: of a context's frames the outermost one that is in it counts.
SAMPLED = """
with recursive process_of(process) as (select id from process where run = (select max(id) from run)),
place(process, id, line) as (
  select l.process, l.id, l.line from location l join function u on u.process = l.process and u.id = l.function
  join file f on f.process = u.process and f.id = u.file
  where u.kind = 1 and u.name = 'work' and f.path like :path and l.line between :first and :last),
below(process, node, line, is_top) as (
  select n.process, n.id, p.line, 1 from node n join place p on p.process = n.process and p.id = n.location
  union
  select n.process, n.id, b.line, 0 from below b join node n on n.process = b.process and n.parent = b.node)
select b.line, sum(iif(is_top, s.python_ns, 0)) as own_ns, sum(s.python_ns + s.native_ns + s.system_ns + s.wait_ns) as all_ns
from below b join sample s on s.process = b.process and s.node = b.node
where b.process in (select process from process_of) group by b.line
"""


def sampled_lines(db, truth):
    """({line or OWN: share}, the same if a line's own Python code counts as its calls) by pieprof's samples of time;
    the second is what a profiler of lines such as statprof can tell."""
    span = {"path": f"%/{truth['program']}.py", "first": truth["loop_line"] + 1, "last": truth["last_line"]}
    with connect(db) as connection:
        rows = connection.execute(SAMPLED, span).fetchall()
    total = sum(row["all_ns"] for row in rows)
    if not total:
        return {}, {}
    with_calls = {site["line"] for site in truth["sites"].values()}
    apart, together = {OWN: 0.0}, {OWN: 0.0}
    for row in rows:
        called = row["all_ns"] - row["own_ns"] if row["line"] in with_calls else 0
        for lines, value in ((apart, called), (together, row["all_ns"] if row["line"] in with_calls else 0)):
            lines[row["line"]] = value / total
            lines[OWN] += (row["all_ns"] - value) / total
    return apart, together


def covered(truth, rows):
    """(lines with one estimate whose interval holds the truth, such lines)"""
    lines = truth_lines(truth)
    keys = [OWN if is_own_code(row) else row["line"] for row in rows]
    single = [(row, lines[key]) for row, key in zip(rows, keys) if keys.count(key) == 1 and key in lines
              and row["share_low"] is not None]
    return sum(row["share_low"] <= share <= row["share_high"] for row, share in single), len(single)


def decided(rows):
    """Observed iterations until the last call that was made was decided; None: some are not."""
    calls = [row["decided_after"] for row in rows if not is_own_code(row) and row["calls"]]
    return max(calls) if calls and all(calls) else None


def micro(value):
    return "" if value is None else f"{value * 1e6:.2f}"


def table(truth, rows):
    """A markdown table, a row for each line: what is true and what was learned."""
    lines, learned = truth_lines(truth), learned_lines(rows)
    header = ["line", "call", "share", "learned", "interval", "calls", "learned", "p50 µs", "learned", "p95 µs", "learned",
              "p99 µs", "learned", "state", "decided after"]
    text = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for key in sorted(lines.keys() | learned.keys(), key=lambda k: (k == OWN, 0 if k == OWN else k)):
        sites = [s for s in truth["sites"].values() if s["line"] == key]
        found = [r for r in rows if (OWN if is_own_code(r) else r["line"]) == key]
        site, row = (one[0] if len(one) == 1 else {} for one in (sites, found))
        low, high = row.get("share_low"), row.get("share_high")
        words = [key, ", ".join(s["callee"] for s in sites) or ", ".join(r["function"] or "" for r in found),
                 f"{lines.get(key, 0):.4f}", f"{learned[key]:.4f}" if key in learned else "",
                 "" if low is None or high is None else f"{low:.4f}–{high:.4f}",
                 sum(s["calls"] for s in sites) if sites else "",
                 learned_lines(found, "calls").get(key, "") if key != OWN else ""]
        for p in ("p50_s", "p95_s", "p99_s"):
            words += [micro(site.get(p)), micro(row.get(p)) if key != OWN else ""]
        text.append("| " + " | ".join(map(str, [*words, row.get("state") or "", row.get("decided_after") or ""])) + " |")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", help="JSON of truth.py")
    parser.add_argument("estimate", help="a database of pieprof, or the JSON of a second truth")
    options = parser.parse_args()
    truth = json.loads(pathlib.Path(options.truth).read_text(encoding="utf-8"))
    if options.estimate.endswith(".json"):
        other = json.loads(pathlib.Path(options.estimate).read_text(encoding="utf-8"))
        one, two = truth_lines(truth), truth_lines(other)
        print(f"{truth['program']}: KL {kl(one, two):.5f} between two truths, {kl(calls_only(one), calls_only(two)):.5f} of the "
              "calls alone")
        return
    rows = learned_rows(options.estimate, truth)
    print(table(truth, rows))
    inside, of = covered(truth, rows)
    one, two = truth_lines(truth), learned_lines(rows)
    print(f"\n{truth['program']}: KL {kl(one, two):.4f}, {kl(calls_only(one), calls_only(two)):.4f} of the calls alone; "
          f"{inside} of {of} intervals hold the truth; decided after {decided(rows) or 'never'}")


if __name__ == "__main__":
    main()
