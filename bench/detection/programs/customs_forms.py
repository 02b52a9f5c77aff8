# SPDX-License-Identifier: Apache-2.0
"""Customs forms from shipments in XML: the style sheet is parsed and compiled again for each shipment."""

import random

from lxml import etree

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"

FIELDS = ["Consignor", "Consignee", "Origin", "Destination", "Incoterm", "Currency", "Carrier", "Vessel", "Seal", "Office"]
SHEET = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="html"/>
<xsl:template match="/shipment"><html><body><h1>Form <xsl:value-of select="@id"/></h1><dl>%s</dl>
<table><xsl:apply-templates select="item"><xsl:sort select="@code"/></xsl:apply-templates></table>
<p>Total: <xsl:value-of select="format-number(sum(item/@value), '#.00')"/></p></body></html></xsl:template>
<xsl:template match="item"><tr><td><xsl:value-of select="@code"/></td><td><xsl:value-of select="@value"/></td>
<td><xsl:choose>%s<xsl:otherwise>general</xsl:otherwise></xsl:choose></td></tr></xsl:template>
</xsl:stylesheet>""" % (
    "".join(f"<dt>{f}</dt><dd><xsl:value-of select=\"normalize-space(party[@role='{f.lower()}'])\"/></dd>" for f in FIELDS),
    "".join(f"<xsl:when test=\"starts-with(@code, '{n:02d}')\">chapter {n}</xsl:when>" for n in range(1, 60)),
)


def shipment(rng, number):
    root = etree.Element("shipment", id=f"S{number:07d}")
    for field in FIELDS:
        party = etree.SubElement(root, "party", role=field.lower())
        party.text = "  ".join(f"{field}-{rng.randrange(1000)}" for _ in range(3))
    for _ in range(rng.randrange(2, 40)):
        etree.SubElement(root, "item", code=f"{rng.randrange(1, 98):02d}{rng.randrange(10**6):06d}",
                         value=f"{rng.uniform(1, 9000):.2f}")
    return etree.tostring(root)


def render(xml):
    document = etree.fromstring(xml)
    transform = etree.XSLT(etree.fromstring(SHEET))  # waste: store
    return str(transform(document))


compiled = etree.XSLT(etree.fromstring(SHEET))


def render_fixed(xml):
    return str(compiled(etree.fromstring(xml)))


def check(html):
    """The clerk's two questions."""
    total = float(html.rsplit("Total: ", 1)[1].split("<", 1)[0])
    return len(html), total, html.count("general")


def work(shipments, form):
    rng = random.Random(27)
    found = []
    for number in range(shipments):
        html = form(shipment(rng, number))
        found.append(check(html))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, render), lambda n: work(n, render_fixed), repeats=13000)
