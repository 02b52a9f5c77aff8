# SPDX-License-Identifier: Apache-2.0
"""A forum colours the source code in its posts: lexer and formatter are looked up and set up for each snippet."""

import collections
import random
import zlib

from pygments import highlight
from pygments.formatters import get_formatter_by_name
from pygments.lexers import get_lexer_by_name

import harness

# There are four languages and one style; the same objects could serve all snippets: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
NAMES = ("total", "queue", "rows", "user", "depth", "limit", "found")


def python(rng):
    a, b = rng.sample(NAMES, 2)
    return f"{a} = [{b} + {rng.randrange(99)} for {b} in items]\nprint({a})\n"


def sql(rng):
    a, b = rng.sample(NAMES, 2)
    return f"SELECT {a}, count({b}) FROM {rng.choice(NAMES)} WHERE {a} > {rng.randrange(999)} GROUP BY {a};\n"


def ini(rng):
    return f"[{rng.choice(NAMES)}]\n; defaults\n" + "".join(f"{name} = {rng.randrange(99)}\n" for name in rng.sample(NAMES, 3))


def json(rng):
    return "{" + ", ".join(f'"{name}": {rng.random():.3f}' for name in rng.sample(NAMES, 3)) + "}\n"


LANGUAGES = {"python": python, "sql": sql, "ini": ini, "json": json}


class Post:
    def __init__(self, rng):
        self.words = rng.choices(NAMES, k=rng.randrange(5, 40))
        self.snippets = []
        for _ in range(rng.randrange(0, 4)):
            language = rng.choice(list(LANGUAGES))
            self.snippets.append((language, LANGUAGES[language](rng)))

    def html(self, colour):
        parts = [f"<p>{' '.join(self.words)}</p>"]
        parts += [colour(language, text) for language, text in self.snippets]
        return "\n".join(parts)


def colour(language, text):
    lexer = get_lexer_by_name(language, stripall=True)
    formatter = get_formatter_by_name("html", style="monokai", cssclass="code", linenos=False)  # waste: store
    return highlight(text, lexer, formatter)


class Colours:
    """Keeps what it has set up."""

    def __init__(self):
        self.lexers = {name: get_lexer_by_name(name, stripall=True) for name in LANGUAGES}
        self.formatter = get_formatter_by_name("html", style="monokai", cssclass="code", linenos=False)

    def colour(self, language, text):
        return highlight(text, self.lexers[language], self.formatter)


def thread(rng, colouring):
    spans, size, digest = collections.Counter(), 0, 0
    for _ in range(25):
        page = Post(rng).html(colouring)
        size += len(page)
        digest = zlib.crc32(page.encode(), digest)
        spans.update(part[:2] for part in page.split('<span class="')[1:])
    return [size, digest % 9973, spans["k"] + spans["kn"], len(spans)]


def work(threads, colouring):
    rng = random.Random(89)
    return [thread(rng, colouring) for _ in range(threads)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, colour), lambda n: work(n, Colours().colour), repeats=720)
