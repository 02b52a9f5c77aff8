# SPDX-License-Identifier: Apache-2.0
"""A node is no bare number: the compiler keeps those of the tree in memory and those of the file
apart (profiler/ports/ids.h)."""
import os
import re
import subprocess

import pytest
import tree

BARE = re.compile(r"\buint32_t\s+\*?(?:\w+, )*\*?((?:\w+_)?node)\b")
FOLDERS = ("profiler/", "runtime/", "storage/write/")
GRAPH_OF_CODE = "profiler/code/decode_graph.c"  # its nodes are basic blocks


def bare_nodes(source):
    return [found[1] for found in BARE.finditer(tree.code(source))]


def test_nodes_are_types_of_their_own():
    breaches = [
        f"{path}: {name} is a uint32_t"
        for path in tree.sources(".c", ".h")
        if str(path).startswith(FOLDERS) and str(path) != GRAPH_OF_CODE
        for name in bare_nodes(tree.text(path))
    ]
    assert not breaches, "\n".join(breaches)


def test_a_bare_node_is_found():
    source = "int f(uint32_t node); struct s { uint32_t thread, first_node; struct pie_cct_id node; /* uint32_t node */ };"
    assert bare_nodes(source) == ["node", "first_node"]


@pytest.mark.parametrize("kind, is_refused", [("pie_cct_id", False), ("pie_node_id", True)])
def test_the_compiler_refuses_a_node_of_the_other_kind(kind, is_refused):
    source = f"""#include "profiler/symbols/naming.h"
        struct pie_node_id f(struct pie_naming *naming, struct {kind} id) {{ return pie_naming_node(naming, id); }}"""
    command = [os.environ.get("CC", "cc"), "-xc", "-std=gnu17", "-fsyntax-only", f"-I{tree.ROOT}", "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    assert (done.returncode != 0) == is_refused, done.stderr
