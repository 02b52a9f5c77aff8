# SPDX-License-Identifier: Apache-2.0
"""Quality of students' programs: each source is parsed once, and its tree, names and tokens are counted."""

import ast
import collections
import io
import random
import tokenize

import harness

NAMES = ("total", "count", "item", "left", "right", "value", "rows", "best", "limit", "index")


def expression(rng, depth):
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(NAMES) if rng.random() < 0.6 else str(rng.randrange(100))
    kind = rng.random()
    if kind < 0.6:
        return f"({expression(rng, depth - 1)} {rng.choice('+-*%')} {expression(rng, depth - 1)})"
    if kind < 0.8:
        return f"max({expression(rng, depth - 1)}, {expression(rng, depth - 1)})"
    return f"{rng.choice(NAMES)}[{expression(rng, depth - 1)}]"


def block(rng, depth, indent):
    lines, pad = [], "    " * indent
    for _ in range(rng.randrange(1, 4)):
        kind = rng.random()
        if depth and kind < 0.25:
            lines += [f"{pad}for {rng.choice(NAMES)} in range({rng.randrange(99)}):", *block(rng, depth - 1, indent + 1)]
        elif depth and kind < 0.5:
            lines += [f"{pad}if {expression(rng, 1)} > {expression(rng, 1)}:", *block(rng, depth - 1, indent + 1)]
        else:
            lines.append(f"{pad}{rng.choice(NAMES)} = {expression(rng, 3)}  # {rng.choice(NAMES)} {rng.randrange(99)}")
    return lines


def source(rng):
    lines = []
    for number in range(rng.randrange(3, 8)):
        lines += [f"def task{number}({', '.join(rng.sample(NAMES, 3))}):", *block(rng, 3, 1), f"    return {rng.choice(NAMES)}", ""]
    return "\n".join(lines)


class Metrics(ast.NodeVisitor):
    """Branches and depth of each function, and which names it stores and loads."""

    def __init__(self):
        self.functions, self.depth = [], 0

    def visit_FunctionDef(self, node):
        self.functions.append({"branches": 1, "depth": 0, "stores": set(), "loads": collections.Counter()})
        self.depth = 0
        self.generic_visit(node)

    def nested(self, node):
        own = self.functions[-1]
        own["branches"] += 1
        self.depth += 1
        own["depth"] = max(own["depth"], self.depth)
        self.generic_visit(node)
        self.depth -= 1

    visit_For = visit_If = nested

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.functions[-1]["stores"].add(node.id)
        else:
            self.functions[-1]["loads"][node.id] += 1


def comment_share(text):
    kinds = collections.Counter(token.type for token in tokenize.generate_tokens(io.StringIO(text).readline))
    return kinds[tokenize.COMMENT] / kinds[tokenize.NEWLINE], kinds[tokenize.OP]


def work(students):
    rng, found = random.Random(115), []
    for _ in range(students):
        text = source(rng)
        metrics = Metrics()
        metrics.visit(ast.parse(text))
        branches = [own["branches"] for own in metrics.functions]
        unused = sum(len(own["stores"] - own["loads"].keys()) for own in metrics.functions)
        deepest = max(own["depth"] for own in metrics.functions)
        found.append([max(branches), sum(branches), unused, deepest, *comment_share(text)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=4400)
