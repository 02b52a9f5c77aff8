# SPDX-License-Identifier: Apache-2.0
"""Reads settings files of routers with one compiled pattern; every file differs from those before."""

import collections
import random
import re

import harness

TOKEN = re.compile(
    r"""(?P<comment>[#;][^\n]*)
    |\[(?P<section>[^\]\n]+)\]
    |^(?P<key>[A-Za-z][\w.-]*)[ \t]*=[ \t]*(?:"(?P<quoted>(?:[^"\\\n]|\\.)*)"|(?P<bare>[^\n;#]*))""",
    re.M | re.X,
)
ADDRESS = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:/(\d\d?))?\Z")


def settings_file(rng):
    lines = [f"# router {rng.randrange(10_000)}"]
    for port in range(rng.randrange(8, 20)):
        lines += [f"[port {port}]", f"speed = {rng.choice((100, 1000, 10_000))} ; Mbit/s"]
        place = ".".join(str(rng.randrange(256)) for _ in range(3))
        lines.append(f"address=10.{place}/{rng.randrange(16, 31)}")
        if rng.random() < 0.5:
            lines.append(f'label = "to \\"hall {rng.randrange(40)}\\", desk {rng.randrange(900)}"')
        lines.append(f"enabled = {rng.choice(('yes', 'no'))}")
    return "\n".join(lines) + "\n"


def read(text):
    sections, current = {}, {}
    for token in TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "section":
            current = sections.setdefault(token["section"], {})
        elif kind == "quoted":
            current[token["key"]] = token["quoted"].replace('\\"', '"')
        elif kind == "bare":
            current[token["key"]] = token["bare"].strip()
    return sections


def work(repeats):
    rng = random.Random(192)
    masks, speed, labels = collections.Counter(), 0, 0
    for _ in range(repeats):
        for port in read(settings_file(rng)).values():
            first, second, third, fourth, mask = map(int, ADDRESS.match(port["address"]).groups())
            masks[mask] += (first + second + third + fourth) % 7
            labels += len(port.get("label", ""))
            if port["enabled"] == "yes":
                speed += int(port["speed"])
    return [*(masks[mask] for mask in range(16, 31)), speed, labels]


if __name__ == "__main__":
    harness.main(work, repeats=27_000)
