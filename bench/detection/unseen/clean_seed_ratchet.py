# SPDX-License-Identifier: Apache-2.0
"""A messenger: each message has a key of its own, from a chain that both sides turn on; letters may come late."""

import hashlib
import hmac
import random

import harness

WORDS = "the ship leaves at dawn from pier nine with all of the grain and none of our friends on board".split()
LABELS = b"\x01", b"\x02"
WINDOW = 24


def advance(chain):
    """Key of this message, and the chain for the next one."""
    return tuple(hmac.digest(chain, label, "sha256") for label in LABELS)


def keystream(key, length):
    """Bytes from the key by counter."""
    hasher = hashlib.sha256(key)
    parts = []
    for number in range(-(-length // 32)):
        block = hasher.copy()
        block.update(number.to_bytes(4, "big"))
        parts.append(block.digest())
    return b"".join(parts)[:length]


def crypt(key, text):
    stream = keystream(key, len(text))
    return (int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(text), "big")


class Sender:
    def __init__(self, secret):
        self.chain, self.number = secret, 0

    def send(self, text):
        key, self.chain = advance(self.chain)
        sealed = crypt(key, text)
        tag = hmac.digest(key, sealed, "sha256")[:8]
        self.number += 1
        return self.number - 1, sealed, tag


class Receiver:
    """Turns the chain on as far as a message needs, and keeps the keys of those that are still to come."""

    def __init__(self, secret):
        self.chain, self.number, self.waiting = secret, 0, {}

    def key(self, number):
        while self.number <= number:
            self.waiting[self.number], self.chain = advance(self.chain)
            self.number += 1
        return self.waiting.pop(number, None)

    def receive(self, message):
        number, sealed, tag = message
        key = self.key(number)
        if key is None or not hmac.compare_digest(hmac.digest(key, sealed, "sha256")[:8], tag):
            return None
        return crypt(key, sealed)

    def forget(self):
        """Keys that are too old; their messages are lost."""
        old = [number for number in self.waiting if number < self.number - WINDOW]
        for number in old:
            del self.waiting[number]
        return len(old)


def texts(rng, count):
    for _ in range(count):
        yield " ".join(rng.choices(WORDS, k=rng.randrange(4, 30))).encode()


def network(rng, messages):
    """Delays some and loses a few."""
    late = []
    for message in messages:
        if (chance := rng.random()) < 0.02:
            continue
        if chance < 0.2:
            late.append((message[0] + rng.randrange(1, 30), message))
        else:
            yield message
        while late and late[0][0] <= message[0]:
            yield late.pop(0)[1]
    yield from (message for _, message in late)


def talk(rng, secret, count):
    sender, receiver = Sender(secret), Receiver(secret)
    read, lost, letters = 0, 0, 0
    for message in network(rng, map(sender.send, texts(rng, count))):
        if (text := receiver.receive(message)) is not None:
            read += 1
            letters += len(text)
        lost += receiver.forget()
    return [read, lost, letters, len(receiver.waiting), receiver.chain[0]]


def work(talks):
    rng = random.Random(7117)
    return [talk(rng, rng.randbytes(32), 500) for _ in range(talks)]


if __name__ == "__main__":
    harness.main(work, repeats=500)
