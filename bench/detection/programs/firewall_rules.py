# SPDX-License-Identifier: Apache-2.0
"""A firewall's log is replayed against a list of rules; the network of each rule is parsed for each packet."""

import collections
import ipaddress
import random

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"


def networks(random_source, count):
    """[(first address, bits of the prefix)]"""
    prefixes = random_source.choices((8, 12, 16, 20, 24), k=count)
    return [(random_source.getrandbits(prefix) << (32 - prefix), prefix) for prefix in prefixes]


def rule_list(random_source, known):
    """[(network, port or None, verdict)]; the last one lets nothing through."""
    rules = []
    for number, (base, prefix) in enumerate(known):
        port = random_source.choice((None, 22, 80, 443))
        rules.append((f"{ipaddress.IPv4Address(base)}/{prefix}", port, ("accept", "drop", "log")[number % 3]))
    return [*rules, ("0.0.0.0/0", None, "reject")]


def packets(random_source, known, count):
    """(source, port); half of them come from networks that a rule names."""
    for _ in range(count):
        if random_source.random() < 0.5:
            base, prefix = random_source.choice(known)
            number = base + random_source.getrandbits(32 - prefix)
        else:
            number = random_source.getrandbits(32)
        yield str(ipaddress.IPv4Address(number)), random_source.choice((22, 80, 443, 8080))


def replay(log, rules):
    verdicts = collections.Counter()
    for source, port in log:
        address = ipaddress.ip_address(source)
        for text, rule_port, verdict in rules:
            network = ipaddress.ip_network(text)  # waste: store
            if address in network and rule_port in (None, port):
                verdicts[verdict] += 1
                break
    return verdicts


def replay_fixed(log, rules):
    parsed = [(ipaddress.ip_network(text), rule_port, verdict) for text, rule_port, verdict in rules]
    verdicts = collections.Counter()
    for source, port in log:
        address = ipaddress.ip_address(source)
        for network, rule_port, verdict in parsed:
            if address in network and rule_port in (None, port):
                verdicts[verdict] += 1
                break
    return verdicts


def work(repeats, run):
    random_source = random.Random(717)
    found = []
    for _ in range(repeats):
        known = networks(random_source, 60)
        verdicts = run(packets(random_source, known, 400), rule_list(random_source, known))
        found.append([verdicts[verdict] for verdict in ("accept", "drop", "log", "reject")])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, replay), lambda n: work(n, replay_fixed), repeats=90)
