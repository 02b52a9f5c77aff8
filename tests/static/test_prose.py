# SPDX-License-Identifier: Apache-2.0
"""Plain English in the manual: short sentences, short lines, and none of the turns of phrase that readers stumble
over."""
import pathlib
import re

import pytest
import tree

SENTENCE_WORDS, LINE_CHARACTERS = 30, 120
FOLDERS = ("docs", "docs/design", "docs/how-to", "bench")
GENERATED = ("docs/file.md",)
FENCE = re.compile(r"^\s*(?:```|~~~)")
ITEM = re.compile(r"^\s*(?:[*+-]|\d+\.)\s+")
COMMENT = re.compile(r"<!--.*?-->", re.S)
IMAGE_OR_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
BACKTICKS = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|cf|vs)\.")
END = re.compile(r"[.!?:;][)\"”*_]*(?=\s|$)")
WORD = re.compile(r"\w")

# Personified code, verbs that are not the field's, and "what …" clauses in place of nouns.
FAULTS = (
    r"heeds?",
    r"mend(?:s|ed)?",
    r"reckon(?:s|ed)?",
    r"hurr(?:y|ies)",
    r"wish(?:es|ed)?",
    r"lest",
    r"dearest",
    r"so many",
    r"in vain",
    r"nobody will",
    r"has the last word",
    r"looks? after",
    r"steps? aside",
    r"what it is worth",
    r"what was there",
    r"takes? itself apart",
    r"(?:is|are|was|were) told",
    r"tells",
)
FAULT = re.compile(rf"\b(?:{'|'.join(FAULTS)})\b", re.I)


def pages():
    """The pages of the manual, the design, the measurements and the guides for developers."""
    names = [p for p in tree.listed() if p.suffix == ".md" and str(p.parent) in FOLDERS and str(p) not in GENERATED]
    return [pathlib.Path("README.md"), pathlib.Path("CONTRIBUTING.md"), pathlib.Path("DESIGN.md"), *names]


def without_comments(source):
    return COMMENT.sub(lambda match: "\n" * match[0].count("\n"), source)


def prose_lines(source):
    """(number, line) outside of code blocks, tables and headings; None where one of these or an empty line is."""
    in_fence, may_be_code, is_item = False, True, False
    for number, line in enumerate(without_comments(source).splitlines(), 1):
        if FENCE.match(line):
            in_fence = not in_fence
            yield number, None
        elif in_fence or line.lstrip().startswith(("|", "#")):
            yield number, None
        elif not line.strip():
            may_be_code = True
            yield number, None
        elif line.startswith("    ") and may_be_code and not is_item:
            yield number, None
        else:
            may_be_code = False
            is_item = bool(ITEM.match(line)) or is_item and line.startswith(" ")
            yield number, line


def paragraphs(source):
    """(number of the first line, text): paragraphs, and each item of a list on its own."""
    first, held = 0, []
    for number, line in [*prose_lines(source), (0, None)]:
        if held and (line is None or ITEM.match(line)):
            yield first, " ".join(held)
            held = []
        if line is not None:
            first = number if not held else first
            held.append(ITEM.sub("", line).strip())


def long_sentences(source, limit=SENTENCE_WORDS):
    for number, paragraph in paragraphs(source):
        plain = IMAGE_OR_LINK.sub(r"\1", BACKTICKS.sub("code", paragraph))
        for sentence in END.split(ABBREVIATION.sub("abbreviation", plain)):
            words = [word for word in sentence.split() if WORD.search(word)]
            if len(words) > limit:
                yield f"{number}: {len(words)} words: {' '.join(words[:8])} …"


def long_lines(source, limit=LINE_CHARACTERS):
    for number, line in prose_lines(source):
        if line is not None and len(line) > limit:
            yield f"{number}: {len(line)} characters"


def faults(source):
    for number, paragraph in paragraphs(source):
        for match in FAULT.finditer(BACKTICKS.sub("code", paragraph)):
            yield f"{number}: “{match[0]}”"


def breaches(check):
    return [f"{path}:{breach}" for path in pages() for breach in check(tree.text(path))]


@pytest.mark.parametrize("check", [long_sentences, long_lines, faults])
def test_the_manual_is_plain(check):
    assert len(pages()) > 3
    found = breaches(check)
    assert not found, "\n".join(found)


def test_generated_pages_are_left_out():
    names = [str(path) for path in pages()]
    assert "docs/file.md" not in names and "docs/cli.md" in names and "bench/README.md" in names


def test_the_design_is_not_left_out():
    names = [str(path) for path in pages()]
    assert "DESIGN.md" in names and len([name for name in names if name.startswith("docs/design/")]) > 30


def sentence(words):
    return " ".join(["word"] * words)


@pytest.mark.parametrize("source", [
    sentence(31) + ".",
    sentence(16) + "\n" + sentence(15),
    "* " + sentence(3) + "\n* " + sentence(31),
    "1. item\n\n   " + sentence(31),
    "A [" + sentence(30) + "](docs/page.md) follows",
    sentence(15) + " 3.11 " + sentence(15),
])
def test_a_long_sentence_is_found(source):
    assert list(long_sentences(source))


@pytest.mark.parametrize("source", [
    sentence(30) + ". " + sentence(30) + ": " + sentence(30) + "; " + sentence(30) + "? " + sentence(30) + "! Done",
    "* " + sentence(20) + "\n* " + sentence(20),
    sentence(20) + "\n\n" + sentence(20),
    sentence(29) + " `" + sentence(20) + "`",
    sentence(29) + " [word](a/link/to/some place/that has words/in its name/and many more/of these/than one)",
    "```\n" + sentence(40) + "\n```",
    "    " + sentence(40),
    "| " + sentence(40) + " |",
    "## " + sentence(40),
    "<!-- " + sentence(40) + " -->",
])
def test_a_short_sentence_is_not_found(source):
    assert not list(long_sentences(source))


def test_a_long_line_is_found():
    line = "x" * (LINE_CHARACTERS + 1)
    assert list(long_lines(line)) == ["1: 121 characters"]
    assert list(long_lines("* item\n  " + line))
    assert not list(long_lines(line[1:] + "\n```\n" + line + "\n```\n\n| " + line + " |\n"))


@pytest.mark.parametrize("source", [
    "It looks after samples.", "The kernel\ntells more.", "* An error\n  is told.", "LEST it ends", "so\nmany rows",
])
def test_a_fault_is_found(source):
    assert list(faults(source))


@pytest.mark.parametrize("source", ["Recommended, such as this.", "`lest`", "```\nmend by\n```", "| is told |", "The latest amendment."])
def test_other_words_are_no_fault(source):
    assert not list(faults(source))
