# SPDX-License-Identifier: Apache-2.0
"""Comments in sources: lines that fit on a screen, and none of the turns of phrase that test_prose.py keeps out of the
manual."""
import io
import re
import tokenize

import pytest
import tree
from test_prose import BACKTICKS, FAULT, LINE_CHARACTERS

SQL_COMMENT = re.compile(r"--[^\n]*(?:\n[ \t]*--[^\n]*)*")
MARGIN = re.compile(r"^[ \t]*(?:/\*+|//|--|#+|\*(?!/))[ \t]?", re.M)
NAME_OR_QUOTE = re.compile(r"\w+\(\)|\"[^\"\n]*\"")


def c_comments(source):
    for match in tree.COMMENT_OR_LITERAL.finditer(source):
        if match[0].startswith("/"):
            yield match.start(), match.end()


def sql_comments(source):
    for match in SQL_COMMENT.finditer(source):
        yield match.start(), match.end()


def python_comments(source):
    """Comments, and strings that are statements: docstrings."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = token.type == tokenize.STRING and not token.line[: token.start[1]].strip()
        if token.type == tokenize.COMMENT or is_docstring and token.string.startswith('"""'):
            yield tuple(starts[row - 1] + column for row, column in (token.start, token.end))


COMMENTS = {".c": c_comments, ".h": c_comments, ".sql": sql_comments, ".py": python_comments}


def long_lines(suffix, source):
    lines = source.split("\n")
    for start, end in COMMENTS[suffix](source):
        first, last = tree.line_of(source, start), tree.line_of(source, end)
        follows_code = source[source.rfind("\n", 0, start) + 1 : start].strip()
        for number in range(first + (suffix == ".py" and bool(follows_code)), last + 1):
            if len(lines[number - 1]) > LINE_CHARACTERS:
                yield f"{number}: {len(lines[number - 1])} characters"


def faults(suffix, source):
    for start, end in COMMENTS[suffix](source):
        plain = NAME_OR_QUOTE.sub("name", BACKTICKS.sub("code", MARGIN.sub(" ", source[start:end])))
        for match in FAULT.finditer(" ".join(plain.split())):
            yield f"{tree.line_of(source, start)}: “{match[0]}”"


@pytest.mark.parametrize("check", [long_lines, faults])
def test_comments_are_plain(check):
    paths = list(tree.sources(*COMMENTS))
    found = [f"{path}:{breach}" for path in paths for breach in check(path.suffix, tree.text(path))]
    assert len(paths) > 500 and not found, "\n".join(found)


LONG = "x" * LINE_CHARACTERS


@pytest.mark.parametrize("suffix, source", [
    (".c", f"int a; /* {LONG} */"), (".h", f"/* a\n * {LONG} */"), (".c", f"// {LONG}"), (".sql", f"a INTEGER, -- {LONG}"),
    (".py", f"# {LONG}"), (".py", f'def f():\n    """A\n    {LONG}"""'),
])
def test_a_long_line_is_found(suffix, source):
    assert list(long_lines(suffix, source))


@pytest.mark.parametrize("suffix, source", [
    (".c", f'char *a = "{LONG}";'), (".py", f'a = "{LONG}"'), (".py", f"a = 1  # {LONG}"), (".sql", f"SELECT '{LONG}'"),
    (".c", "/* " + LONG[6:] + " */"),
])
def test_a_line_that_is_no_long_comment_is_not_found(suffix, source):
    assert not list(long_lines(suffix, source))


@pytest.mark.parametrize("suffix, source", [
    (".c", "/* It tells all. */"), (".h", "/* so\n * many */"), (".sql", "-- so\n  -- many"), (".py", "a = 1  # in vain"),
    (".py", '"""Who is\ntold."""'),
])
def test_a_fault_is_found(suffix, source):
    assert list(faults(suffix, source))


@pytest.mark.parametrize("suffix, source", [
    (".c", 'f("so many"); heed();'), (".c", '/* heed() says "so many". */'), (".sql", "SELECT 'in vain'"),
    (".py", "tells = 'is told'"),
])
def test_other_words_are_no_fault(suffix, source):
    assert not list(faults(suffix, source))
