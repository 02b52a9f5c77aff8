# SPDX-License-Identifier: Apache-2.0
"""Files that a document or a comment names are there."""
import fnmatch
import re

import tree

PATH = re.compile(r"(?<![\w/.-])((?:profiler|runtime|storage|launcher|scripts|packaging|tests|bench|docs|examples)/[\w/*-]+\.(?:c|h|py|sql|txt|map|md))\b")


def missing(source, files):
    """Paths from the root, with * for a part of a name."""
    return sorted({path for path in PATH.findall(source) if not fnmatch.filter(files, path)})


def test_named_files_exist():
    files = [str(path) for path in tree.listed()]
    breaches = [
        f"{path} names {name}"
        for path in tree.listed()
        if path.suffix in (".c", ".h", ".md", ".py", ".sql", ".build") and not path.match("tests/static/*")
        for name in missing(tree.text(path), files)
    ]
    assert not breaches, "\n".join(breaches)


def test_a_file_that_is_not_there_is_found():
    source = "see `profiler/base/ring.h`, (runtime/stacks/pyframe_*_sigsafe.c) and /usr/lib/runtime/gone.c"
    assert missing(source, ["runtime/stacks/pyframe_311_sigsafe.c"]) == ["profiler/base/ring.h"]
