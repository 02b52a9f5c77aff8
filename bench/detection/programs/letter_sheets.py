# SPDX-License-Identifier: Apache-2.0
"""Turns orders into letters with an XSLT style sheet, which is parsed and compiled for each letter."""

import random

from lxml import etree

import harness

CATEGORY = "repeated native calls"
KIND = "load"
RULES = "".join(
    f"""<xsl:template match="{name}"><p class="{name}"><b>{name.title()}:</b>
    <xsl:value-of select="normalize-space(.)"/></p></xsl:template>"""
    for name in ("customer", "street", "city", "phone", "mail", "note", "carrier", "weight")
)
SHEET = f"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="xml" indent="no"/>
<xsl:template match="/order"><html><head><title>Order <xsl:value-of select="@number"/></title></head>
<body><xsl:apply-templates select="*"/></body></html></xsl:template>{RULES}
<xsl:template match="items"><table><xsl:for-each select="item"><xsl:sort select="@code"/>
<tr><td><xsl:value-of select="@code"/></td><td><xsl:value-of select="@count * @price"/></td></tr></xsl:for-each>
</table><p>Sum: <xsl:value-of select="format-number(sum(item/@price), '0.00')"/></p></xsl:template>
</xsl:stylesheet>"""
COMPILED = None


def order(rng, number):
    root = etree.Element("order", number=str(number))
    for name in ("customer", "street", "city", "note"):
        etree.SubElement(root, name).text = f"  {name} {rng.randrange(10_000)} "
    items = etree.SubElement(root, "items")
    for _ in range(rng.randrange(1, 5)):
        price = f"{rng.randrange(100, 9_000) / 100:.2f}"
        etree.SubElement(items, "item", code=f"A{rng.randrange(500)}", count=str(rng.randrange(1, 9)), price=price)
    return root


def letter(tree):
    sheet = etree.XSLT(etree.fromstring(SHEET))  # waste: load
    return sheet(tree)


def letter_fixed(tree):
    global COMPILED
    if COMPILED is None:
        COMPILED = etree.XSLT(etree.fromstring(SHEET))
    return COMPILED(tree)


def work(repeats, write):
    rng = random.Random(811)
    found = []
    for number in range(repeats):
        page = write(order(rng, number)).getroot()
        rows = page.findall(".//tr")
        text = "".join(page.itertext())
        found.append([len(rows), len(text), sum(float(row[1].text) for row in rows)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, letter), lambda n: work(n, letter_fixed), repeats=22_000)
