# SPDX-License-Identifier: Apache-2.0
"""Puts a tag on each note, with a key that it makes anew for each."""

import hashlib
import hmac

NOTES, ROUNDS = 2500, 1000


def tags(notes):
    found = []
    for note in notes:
        key = hashlib.pbkdf2_hmac("sha256", b"correct horse", b"diary", ROUNDS)  # planted
        found.append(hmac.digest(key, note, "sha256"))
    return found


print(len(tags([str(n).encode() * 40 for n in range(NOTES)])))
