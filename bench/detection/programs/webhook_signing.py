# SPDX-License-Identifier: Apache-2.0
"""A shop tells its partners what has changed: the body of the message is written for each of them, then signed."""

import collections
import hashlib
import hmac
import json
import random

import harness

# All partners of a topic get the same event, so its JSON is the same for each of them: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
TOPICS = ("order.paid", "order.sent", "stock.low", "price.changed")


class Partner:
    def __init__(self, rng, number):
        self.url = f"https://partner{number}.example/hooks"
        self.key = rng.randbytes(32)
        self.topics = set(rng.sample(TOPICS, rng.randrange(1, 4)))
        self.sent = collections.Counter()
        self.refused = 0

    def deliver(self, topic, body, signature):
        """Stands for the network: the partner checks the signature, and some are down now and then."""
        if int(signature[:2], 16) < 4:
            self.refused += 1
            return False
        self.sent[topic] += len(body)
        return True


def event(rng, number):
    """An order with its positions, much as shops send it."""
    lines = [{"sku": f"SKU-{rng.randrange(10**6):06d}", "title": rng.choice(("lamp", "chair", "rug", "desk")) + f" {rng.randrange(999)}",
              "quantity": rng.randrange(1, 5), "price": round(rng.lognormvariate(3, 1), 2), "tags": rng.sample("abcdefgh", 3)}
             for _ in range(rng.randrange(10, 40))]
    total = round(sum(line["quantity"] * line["price"] for line in lines), 2)
    return {"id": number, "topic": rng.choice(TOPICS), "customer": {"id": rng.randrange(10**5), "country": rng.choice(("FR", "DE", "NL"))},
            "lines": lines, "total": total}


def sign(key, body):
    return hmac.new(key, body, hashlib.sha256).hexdigest()


def canonical(message):
    return json.dumps(message, sort_keys=True, separators=(",", ":")).encode()


def publish(message, partners):
    again = []
    for partner in partners:
        if message["topic"] not in partner.topics:
            continue
        body = canonical(message)  # waste: store
        if not partner.deliver(message["topic"], body, sign(partner.key, body)):
            again.append(partner)
    return again


def publish_fixed(message, partners):
    body, again = canonical(message), []
    for partner in partners:
        if message["topic"] in partner.topics and not partner.deliver(message["topic"], body, sign(partner.key, body)):
            again.append(partner)
    return again


def work(hours, publishing):
    rng, found = random.Random(88), []
    partners = [Partner(rng, number) for number in range(25)]
    for hour in range(hours):
        waiting = 0
        for number in range(20):
            waiting += len(publishing(event(rng, hour * 20 + number), partners))
        found.append([waiting, sum(partner.sent.total() for partner in partners) / 1e3])
    return found + [[partner.refused, len(partner.topics)] for partner in partners]


if __name__ == "__main__":
    harness.main(lambda n: work(n, publish), lambda n: work(n, publish_fixed), repeats=4400)
