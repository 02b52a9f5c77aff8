# SPDX-License-Identifier: Apache-2.0
"""A web service asks for each request which features are switched on; the tenant's rules are parsed again each time."""

import json
import random

import harness

CATEGORY = "repeated native calls"
KIND = "store"
TENANTS, FLAGS = 25, 60
COUNTRIES = ("DE", "FR", "IT", "JP", "NO", "PL", "US")


def settings(random_source):
    """The text of one tenant's rules, as an editor stores it."""
    rules = {}
    for number in range(FLAGS):
        rules[f"flag-{number}"] = {
            "share": random_source.randrange(0, 101),
            "countries": sorted(random_source.sample(COUNTRIES, random_source.randrange(1, 6))),
            "from_version": [random_source.randrange(1, 5), random_source.randrange(0, 20)],
            "note": f"changed by editor {random_source.randrange(100)}",
        }
    return json.dumps({"rules": rules})


class Flags:
    """Of all tenants. A tenant's text is replaced when somebody edits it."""

    def __init__(self, texts):
        self.texts = texts

    def replace(self, tenant, text):
        self.texts[tenant] = text

    def rules(self, tenant):
        return json.loads(self.texts[tenant])["rules"]  # waste: store

    def is_on(self, flag, tenant, user, country, version):
        rule = self.rules(tenant)[flag]
        return country in rule["countries"] and version >= rule["from_version"] and user % 100 < rule["share"]


class FlagsFixed(Flags):
    def __init__(self, texts):
        super().__init__(texts)
        self.parsed = {}

    def replace(self, tenant, text):
        super().replace(tenant, text)
        self.parsed.pop(tenant, None)

    def rules(self, tenant):
        if tenant not in self.parsed:
            self.parsed[tenant] = super().rules(tenant)
        return self.parsed[tenant]


def request(random_source, flags):
    """How many of three features this user has."""
    tenant, user = random_source.randrange(TENANTS), random_source.randrange(10**6)
    country, version = random_source.choice(COUNTRIES), [random_source.randrange(1, 6), random_source.randrange(0, 20)]
    asked = random_source.sample(range(FLAGS), 3)
    return sum(flags.is_on(f"flag-{number}", tenant, user, country, version) for number in asked)


def work(repeats, kind):
    random_source = random.Random(403)
    flags = kind([settings(random_source) for _ in range(TENANTS)])
    found = []
    for _ in range(repeats):
        found.append(sum(request(random_source, flags) for _ in range(1000)))
        flags.replace(random_source.randrange(TENANTS), settings(random_source))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Flags), lambda n: work(n, FlagsFixed), repeats=40)
