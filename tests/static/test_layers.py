# SPDX-License-Identifier: Apache-2.0
"""The arrows between the folders, in #include lines and in the symbols of what was compiled."""
import re

import pytest
import tree

# folder: the folders that it may use beside itself, the library headers and symbols that it must not
ARROWS = {
    "profiler": ((), ("Python.h", "sqlite3.h")),
    "storage": (("profiler",), ("Python.h",)),
    "runtime": (("profiler",), ("sqlite3.h",)),
    "launcher": (("runtime", "profiler", "storage"), ("Python.h", "sqlite3.h")),
}
FOREIGN_SYMBOLS = {
    "Python.h": re.compile(r"^_?Py[A-Z_]"),
    "sqlite3.h": re.compile(r"^sqlite3_"),
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)


def upward_includes(folder, source):
    allowed, forbidden = ARROWS[folder]
    for quote, name in INCLUDE.findall(source):
        first = name.split("/")[0]
        if name in forbidden or f"{name.split('/')[-1]}" in forbidden:
            yield f"{folder}/ must not include {name}"
        elif first in tree.CODE_FOLDERS and first != folder and first not in allowed:
            yield f"{folder}/ must not include {name}"
        elif quote == '"' and "/" not in name:
            yield f"include {name} by its path from the root"


def upward_symbols(folder, undefined, owners):
    """owners: which folder defines a symbol."""
    allowed, forbidden = ARROWS[folder]
    for symbol in undefined:
        owner = owners.get(symbol, folder)
        if owner != folder and owner not in allowed:
            yield f"{folder}/ uses {symbol} of {owner}/"
        for header in forbidden:
            if FOREIGN_SYMBOLS[header].match(symbol):
                yield f"{folder}/ uses {symbol}"


def symbols(objects, option):
    """{object: set of names}"""
    found = tree.nm(objects, option)
    return {path: {name for _, name in found[str(path)]} for path in objects}


def built_objects():
    """The objects of the layered folders: [(folder, source, object)]"""
    commands = tree.compile_commands()
    return [
        (source.parts[0], source, output)
        for source, (_, output, _) in sorted(commands.items())
        if source.parts[0] in ARROWS and output.exists()
    ]


@pytest.mark.parametrize("folder", ARROWS)
def test_includes_follow_the_arrows(folder):
    breaches = [
        f"{path}: {breach}"
        for path in tree.sources(".c", ".h", folders=(folder,))
        for breach in upward_includes(folder, tree.text(path))
    ]
    assert not breaches, "\n".join(breaches)


def test_symbols_follow_the_arrows():
    objects = built_objects()
    assert objects, f"nothing is built in {tree.BUILD}"
    defined = symbols([output for _, _, output in objects], "--defined-only")
    undefined = symbols([output for _, _, output in objects], "--undefined-only")
    owners = {name: folder for folder, _, output in objects for name in defined[output] if name.startswith("pie_")}
    breaches = [
        f"{source}: {breach}"
        for folder, source, output in objects
        for breach in upward_symbols(folder, undefined[output], owners)
    ]
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize(
    "folder, line",
    [
        ("profiler", "#include <Python.h>"),
        ("profiler", '#include "sqlite3.h"'),
        ("profiler", '#  include "runtime/embed/embed.h"'),
        ("storage", "#include <python3.11/Python.h>"),
        ("runtime", '#include "storage/write/writer.h"'),
        ("launcher", "#include <sqlite3.h>"),
        ("profiler", '#include "ring.h"'),
    ],
)
def test_an_upward_include_is_found(folder, line):
    assert list(upward_includes(folder, f"#include <stdio.h>\n{line}\n"))


def test_a_downward_include_is_fine():
    source = '#include <stdio.h>\n#include "runtime/embed/embed.h"\n#include "launcher/say.h"\n'
    assert not list(upward_includes("launcher", source))


def test_an_upward_symbol_is_found():
    owners = {"pie_embed_run": "runtime", "pie_ring_put": "profiler"}
    assert list(upward_symbols("profiler", {"pie_embed_run"}, owners))
    assert list(upward_symbols("launcher", {"PyList_New"}, owners))
    assert list(upward_symbols("runtime", {"sqlite3_open"}, owners))
    assert not list(upward_symbols("runtime", {"pie_ring_put", "_PyRuntime", "malloc"}, owners))
