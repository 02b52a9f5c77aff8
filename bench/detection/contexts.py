# SPDX-License-Identifier: Apache-2.0
"""Where the CPU time of lines lies: two lines share that of the contexts in which both stand."""

import collections
import os

NODES = "select process, id, parent, location, own_location from node"
SAMPLES = "select process, node, sum(python_ns + native_ns + system_ns) cpu_ns from sample group by process, node"
PLACES = ("select l.process, l.id, l.line, f.path from location l "
          "join function u on u.process = l.process and u.id = l.function "
          "join file f on f.process = u.process and f.id = u.file")


class Contexts:
    """Of one profile; `query` runs SQL on it."""

    def __init__(self, query):
        cpu_ns = {(row["process"], row["node"]): row["cpu_ns"] for row in query(SAMPLES)}
        nodes = {(row["process"], row["id"]): row for row in query(NODES)}
        self.nodes = {key: row | {"cpu_ns": cpu_ns.get(key, 0)} for key, row in nodes.items()}
        self.places = {(row["process"], row["id"]): row for row in query(PLACES)}
        self.run_ns = sum(row["cpu_ns"] for row in self.nodes.values())

    def is_at(self, process, location, name, line):
        place = self.places.get((process, location))
        return place is not None and place["line"] == line and os.path.basename(place["path"] or "") == name

    def path(self, key):
        seen = set()
        while key in self.nodes and key not in seen:
            seen.add(key)
            yield self.nodes[key]
            key = (key[0], self.nodes[key]["parent"])

    def of_line(self, name, line, cpu_s):
        """{node: ns} in which the line's own code was at work, or all that it called too: what is nearer to cpu_s."""
        own, below = {}, {}
        for key, node in self.nodes.items():
            if not node["cpu_ns"]:
                continue
            if self.is_at(key[0], node["own_location"], name, line):
                own[key] = below[key] = node["cpu_ns"]
            elif any(self.is_at(key[0], one["location"], name, line) for one in self.path(key)):
                below[key] = node["cpu_ns"]
        return min((own, below), key=lambda some: abs(sum(some.values()) - 1e9 * (cpu_s or 0.0)))

    def once(self, lines):
        """The shares (waste, low, high) of several lines together. lines: [(shares, nodes)]. Of a line only what goes
        beyond the waste that others have in its contexts is added, as the calls that come again may all be those of one
        line. They need not be, so for the upper end the largest part counts in each context, if that is more."""
        ordered = sorted(lines, key=lambda one: -one[0][0] / max(1, sum(one[1].values())))
        ends = [self.added(ordered, end) for end in range(3)]
        most = collections.defaultdict(float)
        for shares, nodes in ordered:
            for key, part in self.parts(shares[2], nodes).items():
                most[key] = max(most[key], part)
        ends[2] = max(ends[2], sum(most.values()) + sum(shares[2] for shares, nodes in ordered if not nodes))
        return tuple(min(1.0, end) for end in ends)

    @staticmethod
    def parts(share, nodes):
        total = sum(nodes.values())
        return {key: share * ns / total for key, ns in nodes.items()}

    def added(self, ordered, end):
        told, sum_of = collections.defaultdict(float), 0.0
        for shares, nodes in ordered:
            sum_of += max(0.0, shares[end] - sum(told[key] for key in nodes))
            for key, part in self.parts(shares[end], nodes).items():
                told[key] = max(told[key], min(part, nodes[key] / self.run_ns))
        return sum_of
