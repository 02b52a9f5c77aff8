#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts a tag on each note of a diary, so that a changed one is noticed; about 5 s.

usage: tagged_notes.py [SCALE]        (SCALE 0.1 takes a tenth of the time)

What a profile should show: nearly all of the time goes into one line, which makes the key of the tags from
the passphrase. It is slow on purpose, so that guessing takes long, and it makes the same key for each note.
pieprof names that line as computation that does not change in the loop, and `pieprof confirm` counts it:
one distinct argument in thousands of calls. With the line before the loop the program takes a fraction of a
second.
"""
import hashlib
import hmac
import random
import sys

SEED = 20260
NOTES = 10_000
PASSPHRASE, SALT, ROUNDS = b"correct horse battery staple", b"diary", 1000


def diary(count):
    """Notes of made-up words."""
    rng = random.Random(SEED)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(2, 9))) for _ in range(500)]
    return [" ".join(rng.choices(words, k=60)).encode() for _ in range(count)]


def tags(notes):
    found = []
    for note in notes:
        key = hashlib.pbkdf2_hmac("sha256", PASSPHRASE, SALT, ROUNDS)
        found.append(hmac.digest(key, note, "sha256"))
    return found


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    found = tags(diary(max(1, int(NOTES * scale))))
    print(f"notes: {len(found)}, all tags: {hashlib.sha256(b''.join(found)).hexdigest()[:16]}")


if __name__ == "__main__":
    main()
