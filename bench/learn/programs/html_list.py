# SPDX-License-Identifier: Apache-2.0
"""A flame graph as nested lists of HTML, one element a line, read into a tree with regular expressions and string
functions: the workload of Paikana §4, on generated input. `--size 100` reads 100 MB.

The garbage collector is off: what it takes to go through the growing tree again and again falls upon a handful of
calls."""

import gc
import html
import random
import re
import tempfile

from common import loop, run

COUNT = 600_000  # lines
MB = 57  # of this many lines
ENTRY = re.compile(r'<li class="(\w+)"><span title="([^"]+) \(([\d,]+) samples, ([\d.]+)%\)">')
NOTE = re.compile(r"(\w+)=(\d+)")
PACKAGES = ["java.util.concurrent", "org.apache.spark.sql.execution", "sun.nio.ch", "scala.collection.immutable",
            "io.netty.channel"]
METHODS = ["run", "apply$mcV$sp", "invoke0", "lambda$main$0", "<init>", "hashCode", "processSelectedKeys", "foreach"]


class Node:
    __slots__ = ("name", "package", "samples", "children")

    def __init__(self, name, package, samples):
        self.name = name
        self.package = package
        self.samples = samples
        self.children = []


ROOT = Node("all", "", 0)
STACK = [ROOT]


def lines(count):
    """Elements of a random tree, 60 levels deep at most; of 50 lines one is a note, seldom a long one."""
    choice = random.Random(7)
    depth = 0
    for _ in range(count):
        drawn = choice.random()
        if drawn < 0.02:
            words = min(2000, int(4 * choice.paretovariate(1.1)))
            yield "<!-- " + " ".join(f"counter{i}={i * 37}" for i in range(words)) + " -->\n"
        elif depth and (drawn < 0.51 or depth > 60):
            depth -= 1
            yield " " * depth + "</ul></li>\n"
        else:
            name = html.escape(f"{choice.choice(PACKAGES)}.Class{choice.randrange(400)}.{choice.choice(METHODS)}")
            samples = int(choice.expovariate(1 / 5000)) + 1
            yield f'{" " * depth}<li class="java"><span title="{name} ({samples:,} samples, {samples / 1e4:.2f}%)"></span><ul>\n'
            depth += 1


def items(count):
    gc.disable()
    file = tempfile.TemporaryFile("w+", encoding="utf-8")
    file.writelines(lines(count))
    file.seek(0)
    return file


def split_name(text):
    """Package, class and method of a full name."""
    head, _, method = text.rpartition(".")
    package, _, klass = head.rpartition(".")
    return package, f"{klass}.{method}"


def attach(node):
    STACK[-1].children.append(node)
    STACK.append(node)


def close():
    """Sums what is below a finished node."""
    node = STACK.pop()
    for child in node.children:
        node.samples = max(node.samples, child.samples)
    if not STACK:
        STACK.append(ROOT)


def work(items):
    entries = counters = 0
    for line in loop(items):
        line = line.strip()
        match = ENTRY.match(line)
        if match:
            kind, name, samples, share = match.groups()
            name = html.unescape(name)
            package, name = split_name(name)
            samples = samples.replace(",", "")
            samples = int(samples)
            node = Node(name, package, samples)
            attach(node)
            entries += 1
        elif line[1] == "/":
            close()
        else:
            notes = NOTE.findall(line)
            counters += sum(int(value) for _, value in notes[:40])
    return entries, counters


def hollow(items):
    """The body's own code of work() without its calls, on what entered() makes of the lines: for truth.py."""
    fields, pair, entries = ("java", "name", "1", "0.1"), ("package", "name"), 0
    for match in items:
        line = "</"
        if match:
            kind, name, samples, share = fields
            name = kind
            package, name = pair
            samples = share
            samples = kind
            node = match
            entries += 1
        elif line[1] == "/":
            pass
    return entries, package, name, samples, node


def entered(items):
    """Of each line whether it begins an entry."""
    return ["<li" in line for line in items]


if __name__ == "__main__":
    run(work, items, COUNT, MB)
