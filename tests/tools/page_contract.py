# SPDX-License-Identifier: Apache-2.0
"""web/src/data.d.ts as a check of data: the part of TypeScript that it is written in."""

import pathlib
import re

CONTRACT = pathlib.Path(__file__).resolve().parents[2] / "web" / "src" / "data.d.ts"
TOKEN = re.compile(r'\s*("[^"]*"|\d+|\w+|[{}()\[\]<>|;:?,=])')
ATOMS = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
}


class Contract:
    def __init__(self, text):
        self.tokens = TOKEN.findall(re.sub(r"//.*", "", text))
        self.at = 0
        self.interfaces = {}
        while self.at < len(self.tokens):
            self.statement()

    def take(self, wanted=None):
        token = self.tokens[self.at]
        assert wanted is None or token == wanted, f"{token} where {wanted} should be: {self.tokens[self.at - 5:self.at + 5]}"
        self.at += 1
        return token

    def statement(self):
        if self.tokens[self.at] == "export":
            self.take()
        if self.take() == "type":  # only Table<Row>, which is known here
            while self.take() != ";":
                pass
            return
        name, bases = self.take(), []
        if self.tokens[self.at] == "extends":
            self.take()
            bases.append(self.base())
            while self.tokens[self.at] == ",":
                self.take()
                bases.append(self.base())
        self.interfaces[name] = (bases, self.members())

    def base(self):
        """(name, members that are left out) of A or Omit<A, "b">."""
        name, without = self.take(), set()
        if name == "Omit":
            self.take("<")
            name = self.take()
            self.take(",")
            without.add(self.take().strip('"'))
            self.take(">")
        return name, without

    def members(self):
        """{name: type}, or the type of all members under the name None."""
        found = {}
        self.take("{")
        while self.tokens[self.at] != "}":
            name = self.take()
            if name == "[":
                while self.take() != "]":
                    pass
                name = None
            self.take(":")
            found[name] = self.union()
            if self.tokens[self.at] != "}":
                self.take(";")
        self.take("}")
        return found

    def union(self):
        kinds = [self.kind()]
        while self.tokens[self.at] == "|":
            self.take()
            kinds.append(self.kind())
        return kinds[0] if len(kinds) == 1 else ("union", kinds)

    def kind(self):
        token = self.tokens[self.at]
        if token == "(":
            self.take()
            kind = self.union()
            self.take(")")
        elif token == "{":
            kind = ("object", self.members())
        else:
            kind = ("name", self.take())
            if kind[1] == "Table":
                self.take("<")
                kind = ("table", self.union())
                self.take(">")
        while self.tokens[self.at] == "[":
            self.take()
            self.take("]")
            kind = ("array", kind)
        return kind

    def all_members(self, kind):
        if kind[0] == "object":
            return kind[1]
        bases, found = self.interfaces[kind[1]]
        for name, without in bases:
            found = {**{k: v for k, v in self.all_members(("name", name)).items() if k not in without}, **found}
        return found

    def faults(self, value, kind, path="data"):
        """What is not as it should be: lines."""
        if kind[0] == "union":
            if all(list(self.faults(value, one, path)) for one in kind[1]):
                yield f"{path}: {str(value)[:60]!r}"
        elif kind[0] == "array":
            if not isinstance(value, list):
                yield f"{path}: no array"
                return
            for i, one in enumerate(value):
                yield from self.faults(one, kind[1], f"{path}[{i}]")
        elif kind[0] == "table":
            yield from self.table_faults(value, kind[1], path)
        elif kind[0] == "name" and kind[1] not in self.interfaces:
            word = kind[1]
            if not (ATOMS[word](value) if word in ATOMS else str(value) == word.strip('"')):
                yield f"{path}: {str(value)[:60]!r} is no {word}"
        else:
            yield from self.object_faults(value, self.all_members(kind), path)

    def object_faults(self, value, members, path):
        if not isinstance(value, dict):
            yield f"{path}: no object"
            return
        if None in members:
            members = dict.fromkeys(value, members[None])
        if set(value) != set(members):
            yield f"{path}: has {sorted(set(value) - set(members))}, lacks {sorted(set(members) - set(value))}"
        for name in value.keys() & members.keys():
            yield from self.faults(value[name], members[name], f"{path}.{name}")

    def table_faults(self, value, row, path):
        columns = {name: ("array", kind) for name, kind in self.all_members(row).items()}
        yield from self.object_faults(value, columns, path)
        lengths = {name: len(column) for name, column in value.items() if isinstance(column, list)}
        if len(set(lengths.values())) > 1:
            yield f"{path}: columns differ in length: {lengths}"


def faults(data):
    """What in a page's data is not as the contract says: lines."""
    return list(Contract(CONTRACT.read_text(encoding="utf-8")).faults(data, ("name", "PageData")))
