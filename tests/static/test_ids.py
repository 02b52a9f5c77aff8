# SPDX-License-Identifier: Apache-2.0
"""Nodes, locations and functions are no bare numbers: the compiler keeps them apart, and those of the tree in memory
from those of the file (profiler/ports/ids.h, storage/write/contexts.h)."""
import os
import re
import subprocess

import pytest
import tree

BARE = re.compile(r"\buint32_t\s+\*?(?:\w+, )*\*?((?:\w+_)?(?:node|location|function))\b(?!\()")
FOLDERS = ("profiler/", "runtime/", "storage/write/")
GRAPH_OF_CODE = "profiler/code/decode_graph.c"  # its nodes are basic blocks


def bare_ids(source):
    return [found[1] for found in BARE.finditer(tree.code(source))]


def test_ids_are_types_of_their_own():
    breaches = [
        f"{path}: {name} is a uint32_t"
        for path in tree.sources(".c", ".h")
        if str(path).startswith(FOLDERS) and str(path) != GRAPH_OF_CODE
        for name in bare_ids(tree.text(path))
    ]
    assert not breaches, "\n".join(breaches)


def test_a_bare_id_is_found():
    source = "int f(uint32_t node); struct s { uint32_t thread, first_node; struct pie_cct_id node; /* uint32_t node */ };"
    assert bare_ids(source) == ["node", "first_node"]
    assert bare_ids("void f(uint32_t own_location, uint32_t *function, struct pie_location_id location);") == [
        "own_location", "function"]


def compile_source(source):
    command = [os.environ.get("CC", "cc"), "-xc", "-std=gnu17", "-fsyntax-only", f"-I{tree.ROOT}", "-"]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("kind, is_refused", [("pie_cct_id", False), ("pie_node_id", True)])
def test_the_compiler_refuses_a_node_of_the_other_kind(kind, is_refused):
    source = f"""#include "profiler/symbols/naming.h"
        struct pie_node_id f(struct pie_naming *naming, struct {kind} id) {{ return pie_naming_node(naming, id); }}"""
    done = compile_source(source)
    assert (done.returncode != 0) == is_refused, done.stderr


@pytest.mark.parametrize("kind, is_refused", [("pie_location_id", False), ("pie_node_id", True), ("pie_function_id", True)])
def test_the_compiler_refuses_an_id_of_anything_but_a_location(kind, is_refused):
    source = f"""#include "storage/write/contexts.h"
        struct pie_location_id f(struct pie_contexts *contexts, struct {kind} id) {{
            return pie_contexts_get_line(contexts, id);
        }}"""
    assert is_refused == (compile_source(source).returncode != 0)
