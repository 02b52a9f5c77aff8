# SPDX-License-Identifier: Apache-2.0
"""Voting machines: keys of RSA are made, ballots are blinded and signed, and the signatures are checked."""

import hashlib
import math
import random

import harness

BITS = 512
EXPONENT = 65537


def sieve(limit):
    marks = bytearray([1]) * limit
    marks[:2] = b"\0\0"
    for number in range(2, math.isqrt(limit) + 1):
        if marks[number]:
            marks[number * number::number] = bytes(len(range(number * number, limit, number)))
    return [number for number in range(limit) if marks[number]]


SMALL = sieve(2000)
PRODUCT = math.prod(SMALL)


def is_prime(number, rng, rounds=12):
    """Miller and Rabin, after one greatest common divisor with the small primes."""
    if math.gcd(number, PRODUCT) != 1:
        return False
    twos = ((number - 1) & (1 - number)).bit_length() - 1
    odd = (number - 1) >> twos
    for _ in range(rounds):
        value = pow(rng.randrange(2, number - 1), odd, number)
        if value in (1, number - 1):
            continue
        for _ in range(twos - 1):
            value = value * value % number
            if value == number - 1:
                break
        else:
            return False
    return True


def prime(rng):
    while True:
        number = rng.getrandbits(BITS) | 3 << (BITS - 2) | 1
        if number % EXPONENT != 1 and is_prime(number, rng):
            return number


class Key:
    """With the parts for the Chinese remainder theorem, which make signing four times as fast."""

    def __init__(self, rng):
        self.p, self.q = prime(rng), prime(rng)
        self.modulus = self.p * self.q
        private = pow(EXPONENT, -1, (self.p - 1) * (self.q - 1))
        self.private_p, self.private_q = private % (self.p - 1), private % (self.q - 1)
        self.inverse = pow(self.q, -1, self.p)

    def sign(self, message):
        first = pow(message, self.private_p, self.p)
        second = pow(message, self.private_q, self.q)
        return second + self.q * ((first - second) * self.inverse % self.p)

    def checks(self, message, signature):
        return pow(signature, EXPONENT, self.modulus) == message


def digest(text, modulus):
    """A full-domain hash."""
    return int.from_bytes(hashlib.shake_256(text).digest(modulus.bit_length() // 8), "big") % modulus


def blind(message, key, rng):
    factor = rng.randrange(2, key.modulus)
    return message * pow(factor, EXPONENT, key.modulus) % key.modulus, factor


def vote(key, rng, number):
    message = digest(b"ballot %d %d" % (number, rng.randrange(5)), key.modulus)
    hidden, factor = blind(message, key, rng)
    signature = key.sign(hidden) * pow(factor, -1, key.modulus) % key.modulus
    return signature, key.checks(message, signature)


def work(machines):
    rng, rows = random.Random(652), []
    for _ in range(machines):
        key = Key(rng)
        votes = [vote(key, rng, number) for number in range(60)]
        rows.append([key.modulus % 65521, sum(good for _, good in votes), sum(one % 251 for one, _ in votes)])
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=46)
