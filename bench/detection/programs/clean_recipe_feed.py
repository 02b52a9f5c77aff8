# SPDX-License-Identifier: Apache-2.0
"""A feed of recipes in XML, read as a stream: each entry is used once and freed before the next one comes."""

import io
import random

from lxml import etree

import harness

SPACE = "{urn:recipes}"
FOODS = ("flour", "butter", "egg", "sugar", "milk", "yeast", "salt", "apple", "walnut", "plum", "oats", "honey", "rye")
UNITS = {"g": 1.0, "kg": 1000.0, "ml": 1.03, "l": 1030.0, "piece": 58.0, "pinch": 0.4}


class Kitchen:
    """Writes the feed, with what a real one has too: comments, attributes that are missing, text around elements."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def ingredient(self, parent):
        draw = self.random
        node = etree.SubElement(parent, SPACE + "ingredient", food=draw.choice(FOODS), unit=draw.choice(tuple(UNITS)))
        node.set("amount", str(round(draw.lognormvariate(2.0, 1.2), 1)))
        if draw.random() < 0.1:
            del node.attrib["unit"]
        node.tail = "\n      "

    def recipe(self):
        draw = self.random
        node = etree.Element(SPACE + "recipe", serves=str(draw.randrange(1, 9)), nsmap={None: SPACE[1:-1]})
        etree.SubElement(node, SPACE + "title").text = " & ".join(draw.sample(FOODS, 2)) + f" no. {draw.randrange(9_999)}"
        for _ in range(draw.randrange(3, 12)):
            self.ingredient(node)
        if draw.random() < 0.2:
            node.append(etree.Comment("tried by the editors"))
        steps = etree.SubElement(node, SPACE + "steps")
        for _ in range(draw.randrange(2, 7)):
            etree.SubElement(steps, SPACE + "step", minutes=str(draw.randrange(1, 50))).text = draw.choice(FOODS)
        return node

    def feed(self, count):
        target = io.BytesIO()
        with etree.xmlfile(target, encoding="utf-8") as file, file.element("feed"):
            for _ in range(count):
                file.write(self.recipe())
        target.seek(0)
        return target


def entries(feed):
    """The recipes of a feed, each of them only until the next one."""
    for _, node in etree.iterparse(feed, tag=SPACE + "recipe"):
        yield node
        node.clear()
        while node.getprevious() is not None:
            del node.getparent()[0]


def summary(node):
    """Grams for one person, minutes and the food that weighs most."""
    grams = {}
    for part in node.iterchildren(SPACE + "ingredient"):
        weight = float(part.get("amount")) * UNITS[part.get("unit", "piece")]
        food = part.get("food")
        grams[food] = grams.get(food, 0.0) + weight
    minutes = sum(int(step.get("minutes")) for step in node.iter(SPACE + "step"))
    return sum(grams.values()) / int(node.get("serves")), minutes, max(grams, key=grams.get)


def work(feeds):
    kitchen = Kitchen(1570)
    found = []
    for _ in range(feeds):
        heaviest, weight, time = dict.fromkeys(FOODS, 0), 0.0, 0
        for node in entries(kitchen.feed(250)):
            grams, minutes, food = summary(node)
            heaviest[food] += 1
            weight += grams
            time += minutes
        found.append([weight, time, *heaviest.values()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=330)
