# SPDX-License-Identifier: Apache-2.0
"""Notices of a court as web pages: the stylesheet is parsed and compiled for each notice."""

import random

from lxml import etree

import harness

# fromstring() and XSLT() get the same text for each notice and build the same transform. A template engine usually
# keeps it; here the function that renders one notice makes it, called from elsewhere: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
KINDS = ("hearing", "sale", "heirs", "bankruptcy")
NAMES = "Amsel Birke Casper Dachs Erle Falk Ginster Hirsch Iltis Juncker Kranich Luchs Marder Nessel Otter".split()

STYLE = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="html" indent="no"/>
<xsl:template match="/notice">
  <article class="{@kind}"><h2><xsl:apply-templates select="@kind"/> <xsl:value-of select="file"/></h2>
    <xsl:apply-templates select="date"/>
    <ul><xsl:apply-templates select="party"><xsl:sort select="@name"/></xsl:apply-templates></ul>
    <xsl:if test="count(claim) &gt; 0"><table>
      <xsl:for-each select="claim"><xsl:sort select="@cents" data-type="number" order="descending"/>
        <tr><td><xsl:value-of select="position()"/></td><td><xsl:value-of select="format-number(@cents div 100, '#,##0.00')"/></td></tr>
      </xsl:for-each>
      <tr class="sum"><td/><td><xsl:value-of select="format-number(sum(claim/@cents) div 100, '#,##0.00')"/></td></tr>
    </table></xsl:if>
    <xsl:call-template name="foot"/></article>
</xsl:template>
<xsl:template match="@kind[. = 'hearing']">Public hearing</xsl:template>
<xsl:template match="@kind[. = 'sale']">Forced sale</xsl:template>
<xsl:template match="@kind[. = 'heirs']">Heirs wanted</xsl:template>
<xsl:template match="@kind[. = 'bankruptcy']">Insolvency proceedings</xsl:template>
<xsl:template match="date"><time><xsl:value-of select="concat(@day, '.', @month, '.', @year)"/></time></xsl:template>
<xsl:template match="party[@role = 'creditor']"><li><b><xsl:value-of select="@name"/></b></li></xsl:template>
<xsl:template match="party"><li><xsl:value-of select="@name"/> (<xsl:value-of select="@role"/>)</li></xsl:template>
<xsl:template name="foot"><footer><xsl:choose>
  <xsl:when test="date/@year &lt; 2020">archived</xsl:when>
  <xsl:when test="@kind = 'sale' and count(claim) = 0">without claims</xsl:when>
  <xsl:otherwise>local court, division <xsl:value-of select="substring-before(file, ' ')"/></xsl:otherwise>
</xsl:choose></footer></xsl:template>
</xsl:stylesheet>"""


class Registry:
    """Notices as the court's system delivers them."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def notice(self):
        draw = self.random
        root = etree.Element("notice", kind=draw.choice(KINDS))
        etree.SubElement(root, "file").text = f"{draw.randrange(1, 90)} IN {draw.randrange(1, 900)}/{draw.randrange(10, 24)}"
        etree.SubElement(root, "date", day=str(draw.randrange(1, 29)), month=str(draw.randrange(1, 13)),
                         year=str(draw.randrange(2017, 2024)))
        for _ in range(draw.randrange(1, 5)):
            etree.SubElement(root, "party", name=draw.choice(NAMES), role=draw.choice(("creditor", "debtor", "trustee")))
        for _ in range(draw.randrange(0, 9)):
            etree.SubElement(root, "claim", cents=str(draw.randrange(1_000, 9_000_000)))
        return root


def render(notice):
    transform = etree.XSLT(etree.fromstring(STYLE))  # waste: store
    return str(transform(notice))


class Renderer:
    """The fix: compiles the stylesheet once."""

    def __init__(self):
        self.transform = etree.XSLT(etree.fromstring(STYLE))

    def __call__(self, notice):
        return str(self.transform(notice))


def index(pages):
    """Characters and words of the pages by kind of notice, for the search box."""
    counts = dict.fromkeys(KINDS, 0)
    for kind, page in pages:
        counts[kind] += len(page) + page.count(" ")
    return list(counts.values())


def work(days, show):
    registry = Registry(1794)
    found = []
    for _ in range(days):
        notices = [registry.notice() for _ in range(40)]
        found.append(index([(notice.get("kind"), show(notice)) for notice in notices]))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, render), lambda n: work(n, Renderer()), repeats=760)
