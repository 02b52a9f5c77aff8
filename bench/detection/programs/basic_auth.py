# SPDX-License-Identifier: Apache-2.0
"""A package index with basic authentication: the slow hash of the password is derived again at each request."""

import base64
import hashlib
import hmac
import random

import harness

CATEGORY = "repeated native calls"
KIND = "store"
ROUNDS, USERS = 4000, 30


def derived(password, salt):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ROUNDS)  # waste: store


class Accounts:
    def __init__(self, passwords):
        self.known = {}
        for number, (user, password) in enumerate(passwords.items()):
            salt = number.to_bytes(16, "big")
            self.known[user] = salt, derived(password, salt)

    def derive(self, password, salt):
        return derived(password, salt)

    def is_valid(self, header):
        """Of the value of a request's header `Authorization`."""
        method, _, encoded = header.partition(" ")
        user, _, password = base64.b64decode(encoded).decode().partition(":")
        if method != "Basic" or user not in self.known:
            return False
        salt, expected = self.known[user]
        return hmac.compare_digest(self.derive(password, salt), expected)


class AccountsFixed(Accounts):
    """Remembers what it derived lately."""

    def __init__(self, passwords):
        super().__init__(passwords)
        self.lately = {}

    def derive(self, password, salt):
        key = password, salt
        if key not in self.lately:
            if len(self.lately) > 1000:
                self.lately.clear()
            self.lately[key] = super().derive(password, salt)
        return self.lately[key]


def header(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def requests(random_source, passwords):
    """(header, bytes of the package); one request in 40 has a mistyped password."""
    users = list(passwords)
    for _ in range(100):
        user = random_source.choice(users)
        password = passwords[user] if random_source.random() > 0.025 else f"typo{random_source.randrange(10**6)}"
        yield header(user, password), random_source.randrange(20_000, 60_000)


def work(repeats, kind):
    random_source = random.Random(406)
    passwords = {f"builder{number}": f"{random_source.getrandbits(64):x}" for number in range(USERS)}
    accounts, found = kind(passwords), []
    for _ in range(repeats):
        refused, served = 0, 0
        for value, size in requests(random_source, passwords):
            if accounts.is_valid(value):
                package = random_source.randbytes(size)
                served += hashlib.md5(package).digest()[0]
            else:
                refused += 1
        found.append([refused, served])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Accounts), lambda n: work(n, AccountsFixed), repeats=45)
