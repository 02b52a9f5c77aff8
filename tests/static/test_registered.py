# SPDX-License-Identifier: Apache-2.0
"""A file of tests that no meson.build names is never run, and nobody misses it."""
import pathlib

import tree


def endings(stem):
    """"test_watch_odd": "watch_odd" and "odd", as lists of names that stand for test_watch_NAME.c have it."""
    words = stem.split("_")
    return {"_".join(words[i:]) for i in range(len(words))} | {"_" + "_".join(words[i:]) for i in range(1, len(words))}


def is_named(path, build):
    if path.suffix == ".py":
        return f"'{path.name}'" in build or "meson.current_source_dir()]" in build
    return f"'{path.name}'" in build or any(f"'{end}'" in build for end in endings(path.stem))


def unregistered(paths, builds):
    for path in paths:
        if path.name.startswith("test_") and path.parent in builds and not is_named(path, builds[path.parent]):
            yield f"{path} is named by no meson.build"


def test_each_test_is_run():
    builds = {path.parent: tree.text(path) for path in tree.listed() if path.name == "meson.build"}
    paths = tree.sources(".c", ".py", folders=("tests",))
    assert len(paths) > 100
    assert list(unregistered(paths, builds)) == []


def test_one_that_is_not_is_found():
    folder = pathlib.Path("tests/some")
    builds = {folder: "files('test_a.py'), foreach name : ['odd', '_b'] 'test_watch' + name + '.c'"}
    names = ["test_a.py", "test_c.py", "test_watch_odd.c", "test_watch_b.c", "test_watch_d.c", "helpers.py"]
    found = list(unregistered([folder / name for name in names], builds))
    assert found == [f"tests/some/{name} is named by no meson.build" for name in ("test_c.py", "test_watch_d.c")]
