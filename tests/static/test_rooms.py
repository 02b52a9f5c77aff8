# SPDX-License-Identifier: Apache-2.0
"""The rooms of a folder and the arrows between them, in #include lines and in the symbols of what was compiled."""
import collections
import pathlib
import re

import pytest
import test_layers
import tree

# folder: its rooms from the ground up, each with the rooms that it may use, all of which stand above its row.
ROOMS = {
    "profiler": {
        "base": (),
        "race": (),
        "govern": ("base", "race"),
        "ports": ("race",),
        "code": ("base",),
        "thread": ("base",),
        "machine": ("base", "code"),
        "stacks": ("base", "ports", "code", "thread"),
        "trace": ("base", "govern", "race", "ports"),
        "process": ("base", "ports", "thread"),
        "symbols": ("base", "ports", "code", "stacks"),
        "time": ("base", "govern", "ports", "code", "thread", "machine", "stacks", "symbols"),
        "watch": ("base", "govern", "race", "ports", "code", "thread", "machine", "stacks", "symbols", "time"),
        "heap": ("base", "govern", "ports", "thread", "stacks", "symbols", "watch"),
        "doctor": ("base", "machine", "symbols"),
        "copies": ("base", "ports", "code", "thread", "stacks", "symbols", "time", "heap"),
        "reads": ("base", "ports", "thread", "stacks", "symbols", "time", "watch"),
        "windows": ("base", "govern", "ports", "thread", "stacks", "time"),
        "collect": ("base", "govern", "ports", "code", "thread", "machine", "stacks", "trace", "process", "symbols", "time",
                    "watch", "heap", "copies", "reads", "windows"),
    },
    "runtime": {
        "interpreter": (),
        "stacks": (),
        "objects": ("stacks",),
        "code": ("stacks", "objects"),
        "libc": ("interpreter",),
        "retention": ("stacks", "objects"),
        "memory": ("interpreter", "stacks", "libc", "retention"),
        "trace": ("interpreter", "code"),
        "confirm": ("interpreter", "code", "trace"),
        "embed": ("interpreter", "stacks", "objects", "code", "libc", "retention", "memory", "trace", "confirm"),
    },
    "storage": {
        "base": (),
        "own": ("base",),
        "file": (),
        "copy": ("file",),
        "write": ("base", "own", "file"),
        "read": ("base", "file", "copy"),
        "export": ("base", "file", "read"),
        "formats": ("base", "file", "copy", "read", "export"),
        "ask": ("base", "file", "read", "export"),
        "page": ("base", "read", "export", "ask"),
        "merge": ("base", "file", "copy", "read"),
    },
    "launcher": {
        "text": (),
        "progress": ("text",),
        "options": ("text",),
        "answers": ("text",),
        "summary": ("text", "answers"),
        "session": ("text", "progress", "options", "answers", "summary"),
        "command": ("text", "answers"),
        "page": ("text", "answers", "command"),
        "ask": ("text", "answers", "summary", "command", "page"),
        "top": ("text", "answers", "command"),
        "serve": ("text", "answers", "command", "page"),
        "install": ("text", "answers", "command"),
        "python": (),
        "guest": ("text", "options", "session", "command", "python"),
        "doctor": ("text", "answers", "command", "python", "guest"),
        "confirm": ("text", "answers", "session", "command", "python", "guest"),
        "run": ("text", "progress", "options", "answers", "summary", "session", "command", "ask", "top", "serve", "doctor",
                "install", "confirm", "python", "guest"),
    },
}
FILES_MAX, COMMENT_LINES_MAX = 40, 5


def arrows(folder, source):
    """The rooms of a folder that a source includes from."""
    return set(re.findall(rf'^[ \t]*#[ \t]*include[ \t]*"{folder}/(\w+)/', source, re.M))


def foreign(rooms, room, used):
    """Of what a room uses that it may not."""
    return sorted(used - {room} - set(rooms.get(room, ())))


def room_comment(text):
    """The lines of the comment at the head of a room's meson.build, after the licence."""
    lines = text.splitlines()[1:]
    while lines and not lines[0]:
        lines.pop(0)
    return lines[: next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))]


@pytest.mark.parametrize("folder", ROOMS)
def test_rooms_stand_on_floors(folder):
    """No cycle: each uses only rooms that are listed before it."""
    seen = []
    for room, used in ROOMS[folder].items():
        assert set(used) <= set(seen), f"{room} uses {set(used) - set(seen)}, which are above it or unknown"
        seen.append(room)


@pytest.mark.parametrize("folder", ROOMS)
def test_each_source_is_in_a_room(folder):
    strays = [str(path) for path in tree.sources(".c", ".h", folders=(folder,)) if path.parts[1] not in ROOMS[folder]]
    assert not strays, " ".join(strays)


@pytest.mark.parametrize("folder", ROOMS)
def test_includes_follow_the_arrows_between_rooms(folder):
    breaches = [
        f"{path} includes from {', '.join(wrong)}"
        for path in tree.sources(".c", ".h", folders=(folder,))
        if (wrong := foreign(ROOMS[folder], path.parts[1], arrows(folder, tree.text(path))))
    ]
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize("folder", ROOMS)
def test_symbols_follow_the_arrows_between_rooms(folder):
    objects = [(source, output) for owner, source, output in test_layers.built_objects() if owner == folder]
    assert objects, f"nothing is built in {tree.BUILD}"
    defined = test_layers.symbols([output for _, output in objects], "--defined-only")
    undefined = test_layers.symbols([output for _, output in objects], "--undefined-only")
    owners = {name: source.parts[1] for source, output in objects for name in defined[output] if name.startswith("pie_")}
    breaches = [
        f"{source} uses {name} of {owners[name]}"
        for source, output in objects
        for name in sorted(undefined[output] & set(owners))
        if foreign(ROOMS[folder], source.parts[1], {owners[name]})
    ]
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize("folder", ROOMS)
def test_no_room_is_crowded(folder):
    files = collections.Counter(path.parent for path in tree.listed() if path.parts[0] == folder)
    crowded = [f"{path}: {count} files" for path, count in sorted(files.items()) if count > FILES_MAX]
    assert not crowded, "\n".join(crowded)


@pytest.mark.parametrize("folder, room", [(folder, room) for folder in ROOMS for room in ROOMS[folder]])
def test_a_room_says_what_it_is(folder, room):
    comment = room_comment(tree.text(pathlib.Path(folder, room, "meson.build")))
    assert 1 <= len(comment) <= COMMENT_LINES_MAX


def test_an_include_from_above_is_found():
    source = '#include "profiler/heap/drain.h"\n#  include "profiler/base/region.h"\n#include "storage/read/reader.h"\n'
    assert arrows("profiler", source) == {"heap", "base"}
    assert foreign(ROOMS["profiler"], "stacks", {"heap", "base", "stacks"}) == ["heap"]
    assert foreign(ROOMS["profiler"], "nowhere", {"base"}) == ["base"]


def test_the_comment_of_a_room_is_read():
    assert room_comment("# SPDX\n\n# Copies.\n# More.\nfiles()\n# not this\n") == ["# Copies.", "# More."]
    assert room_comment("# SPDX\nfiles()\n") == []
