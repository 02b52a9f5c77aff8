# SPDX-License-Identifier: Apache-2.0
"""Parses, transforms and frees large trees; libxml2 has allocators of its own."""

from without import needs

needs("lxml")
from lxml import etree  # noqa: E402

text = "<all>" + "".join(f"<item n='{n}'><name>{n * 7}</name></item>" for n in range(50_000)) + "</all>"
for _ in range(3):
    tree = etree.fromstring(text)
    found = tree.xpath("//item[name > 1000]/@n")
print(len(found), len(etree.tostring(tree)))
