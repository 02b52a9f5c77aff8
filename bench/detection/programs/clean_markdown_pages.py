# SPDX-License-Identifier: Apache-2.0
"""Notes in a plain mark-up become web pages: a state machine for the lines, compiled patterns within them."""

import html
import random
import re

import harness

INLINE = re.compile(r"(`[^`]+`)|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^)]+)\)")
HEADING, ITEM = re.compile(r"(#{1,3}) (.*)"), re.compile(r"[-*] (.*)")
WORDS = ("river", "stone", "bridge", "old", "mill", "<b>", "fish & chips", "winter", "path", "of", "the", "and", "under", "light")


def sentence(rng):
    words = rng.choices(WORDS, k=rng.randrange(6, 16))
    at = rng.randrange(len(words))
    style = rng.random()
    if style < 0.3:
        words[at] = f"**{words[at]} {rng.randrange(99)}**"
    elif style < 0.5:
        words[at] = f"`{words[at]}_{rng.randrange(99)}`"
    elif style < 0.7:
        words[at] = f"[{words[at]}](page{rng.randrange(999)}.html)"
    return " ".join(words)


def note(rng):
    lines = []
    for _ in range(rng.randrange(8, 25)):
        kind = rng.random()
        if kind < 0.15:
            lines.append("#" * rng.randrange(1, 4) + " " + sentence(rng))
        elif kind < 0.4:
            lines += [f"- {sentence(rng)}" for _ in range(rng.randrange(2, 6))]
        elif kind < 0.5:
            lines += ["~~~", *(f"x{rng.randrange(9)} = {rng.randrange(999)} < y" for _ in range(rng.randrange(2, 8))), "~~~"]
        else:
            lines += [sentence(rng) for _ in range(rng.randrange(2, 5))]
        lines.append("")
    return "\n".join(lines)


def inline(text):
    parts, at = [], 0
    for match in INLINE.finditer(text):
        parts.append(html.escape(text[at:match.start()]))
        code, bold, name, address = match.groups()
        if code:
            parts.append(f"<code>{html.escape(code[1:-1])}</code>")
        elif bold:
            parts.append(f"<strong>{html.escape(bold)}</strong>")
        else:
            parts.append(f'<a href="{html.escape(address)}">{html.escape(name)}</a>')
        at = match.end()
    parts.append(html.escape(text[at:]))
    return "".join(parts)


class Page:
    """What is open: nothing, a paragraph, a list or a block of code."""

    CLOSES = {"p": "</p>", "ul": "</ul>", "pre": "</pre>"}

    def __init__(self):
        self.state, self.parts, self.headings = None, [], []

    def enter(self, state):
        if state != self.state:
            if self.state:
                self.parts.append(self.CLOSES[self.state])
            if state:
                self.parts.append(f"<{state}>")
            self.state = state

    def feed(self, line):
        if line == "~~~":
            self.enter(None if self.state == "pre" else "pre")
        elif self.state == "pre":
            self.parts.append(html.escape(line))
        elif not line:
            self.enter(None)
        elif match := HEADING.match(line):
            self.enter(None)
            self.headings.append(match[2])
            self.parts.append(f"<h{len(match[1])}>{inline(match[2])}</h{len(match[1])}>")
        elif match := ITEM.match(line):
            self.enter("ul")
            self.parts.append(f"<li>{inline(match[1])}</li>")
        else:
            self.enter("p")
            self.parts.append(inline(line))

    def text(self):
        self.enter(None)
        return "\n".join(self.parts)


def work(notes):
    rng, found = random.Random(110), []
    for _ in range(notes):
        page = Page()
        for line in note(rng).splitlines():
            page.feed(line)
        text = page.text()
        found.append([len(text), text.count("<a "), text.count("&lt;"), len(page.headings)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=30000)
