# SPDX-License-Identifier: Apache-2.0
"""What fixes of several lines save together, as the summary and the page have it: time that lines share counts once.
And which lines call which."""

import collections
import functools
import pathlib

STATEMENT = pathlib.Path(__file__).resolve().parents[2] / "storage" / "read" / "statements" / "shared_waste.sql"
MOST = 0.8
NODES = ("SELECT n.process, n.id, n.parent, f.path, l.line FROM node n LEFT JOIN location l ON l.process = n.process AND "
         "l.id = n.location LEFT JOIN function u ON u.process = l.process AND u.id = l.function AND u.kind = 1 "
         "LEFT JOIN file f ON f.process = u.process AND f.id = u.file")
COSTS = "SELECT process, node, sum(cpu_ns) AS ns FROM x_sample WHERE run = :run GROUP BY process, node"
COLUMNS = ("file", "line", "cpu_s", "wasted_s", "wasted_s_low", "wasted_s_high")


def value(of):
    return "'" + of.replace("'", "''") + "'" if isinstance(of, str) else repr(of or 0)


def question(lines, wanted):
    """SQL that asks for `wanted` of these findings, each of another line of own code."""
    values = ", ".join(f"({rank}, {', '.join(value(one.get(name)) for name in COLUMNS)})" for rank, one in enumerate(lines, 1))
    return (f"WITH wasteful(rank, {', '.join(COLUMNS)}) AS MATERIALIZED (VALUES {values}),\n"
            f"{STATEMENT.read_text(encoding='utf-8')}\n{wanted}")


class Contexts:
    """Of one profile; `query` runs SQL on it."""

    def __init__(self, query):
        self.query = query

    def once(self, lines):
        """The parts of the run's CPU time that findings of several lines waste together: the waste, and the ends of its
        interval."""
        (row,) = self.query(question(lines, "SELECT * FROM wasted_together"))
        return tuple(row[name] / row["run_s"] for name in ("all_s", "all_s_low", "all_s_high"))

    @functools.cached_property
    def paths(self):
        """[({(base name of the file, line)}, ns)] of the contexts with CPU time: the Python lines on their stack."""
        above, nodes = {}, self.query(NODES)
        own_ns = collections.Counter({(one["process"], one["node"]): one["ns"] for one in self.query(COSTS)})
        parents = {(one["process"], one["id"]): (one["process"], one["parent"]) for one in nodes}
        place = {(one["process"], one["id"]): (one["path"].rpartition("/")[2], one["line"]) for one in nodes if one["path"]}

        def path(node):
            walk = []
            while node in parents and node not in above:
                walk.append(node)
                node = parents[node]
            for one in reversed(walk):
                above[one] = above.get(parents[one], frozenset()) | ({place[one]} if one in place else frozenset())
            return above.get(walk[0] if walk else node, frozenset())

        return [(path(node), ns) for node, ns in own_ns.items() if ns]

    def are_of_one_path(self, place, others):
        """Does a line, (base name of its file, line), call one of the others or is it called by one? That is so where
        most of the time of one, with all that it calls, is the other's as well."""
        both = sum(ns for path, ns in self.paths if place in path and path & others)
        each = (sum(ns for path, ns in self.paths if place in path), sum(ns for path, ns in self.paths if path & others))
        return 0 < both >= MOST * min(each)
