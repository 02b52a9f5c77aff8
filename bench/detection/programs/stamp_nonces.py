# SPDX-License-Identifier: Apache-2.0
"""Stamps on mail: a number is sought to give a mail's digest leading zeros; the whole mail is hashed each time."""

import hashlib
import random

import harness

# Only the number at the end differs between tries; the state after the mail can be copied: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "load"
WORDS = "the offer of our shop ends soon so order your new lamp chair or carpet while there are still some left".split()


class Mail:
    def __init__(self, rng, number):
        self.sender, self.receiver = f"a{rng.randrange(10**6)}@one.example", f"b{rng.randrange(10**6)}@two.example"
        self.number = number
        self.text = " ".join(rng.choices(WORDS, k=rng.randrange(300, 1500)))

    def body(self):
        head = f"From: {self.sender}\nTo: {self.receiver}\nId: {self.number}\n\n"
        return (head + self.text + "\nStamp: ").encode()


def zeros(digest):
    """Leading bits that are zero."""
    value = int.from_bytes(digest[:8], "big")
    return 64 - value.bit_length()


def stamp(body, wanted):
    nonce = 0
    while True:
        digest = hashlib.sha256(body + b"%d" % nonce).digest()  # waste: load
        if zeros(digest) >= wanted:
            return nonce, digest
        nonce += 1


def stamp_fixed(body, wanted):
    nonce, state = 0, hashlib.sha256(body)
    while True:
        tried = state.copy()
        tried.update(b"%d" % nonce)
        digest = tried.digest()
        if zeros(digest) >= wanted:
            return nonce, digest
        nonce += 1


class Office:
    """Checks the stamps of what comes in; a stamp is good for one mail."""

    def __init__(self):
        self.used = set()
        self.refused = 0

    def accept(self, body, nonce, wanted):
        digest = hashlib.sha256(body + b"%d" % nonce).digest()
        if zeros(digest) < wanted or digest in self.used:
            self.refused += 1
            return False
        self.used.add(digest)
        return True


def price(mail):
    """More zeros for long mails."""
    return 9 + (len(mail.text) > 3000) + (len(mail.text) > 6000)


def work(days, stamping):
    rng, office, found = random.Random(107), Office(), []
    for day in range(days):
        tries = 0
        for number in range(10):
            mail = Mail(rng, day * 100 + number)
            body = mail.body()
            nonce, digest = stamping(body, price(mail))
            tries += nonce
            office.accept(body, nonce + (rng.random() < 0.1), price(mail))
        found.append([tries, office.refused, zeros(digest), len(body)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, stamp), lambda n: work(n, stamp_fixed), repeats=170)
