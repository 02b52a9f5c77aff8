# SPDX-License-Identifier: Apache-2.0
"""Account numbers are made, written down as people do, read again and checked; nearly all checks come to the same.

The remainder is 1 for every sound number, and no number comes twice.
"""

import random
import string

import harness

COUNTRIES = {"DE": 18, "NO": 11, "AT": 16, "GB": 18, "FR": 23, "ES": 20}
DIGITS = {letter: str(number) for number, letter in enumerate(string.digits + string.ascii_uppercase)}


def remainder(country, check, account):
    return int("".join(map(DIGITS.__getitem__, account + country + check))) % 97


def new_number(rng):
    country = rng.choice(("DE", "NO", "AT", "GB", "FR", "ES"))
    account = "".join(rng.choices(string.digits, k=COUNTRIES[country]))
    if country == "GB":
        account = "".join(rng.choices(string.ascii_uppercase, k=4)) + account[4:]
    return f"{country}{98 - remainder(country, '00', account):02d}{account}"


def written(rng, number):
    """In groups of four; one in fifty has two neighbours mixed up."""
    if rng.random() < 0.02:
        place = rng.randrange(5, len(number) - 1)
        number = number[:place] + number[place + 1] + number[place] + number[place + 2 :]
    return " ".join(number[start : start + 4] for start in range(0, len(number), 4))


def is_sound(text):
    number = text.replace(" ", "").upper()
    country = number[:2]
    return len(number) == COUNTRIES.get(country, 0) + 4 and remainder(country, number[2:4], number[4:]) == 1


def work(repeats):
    rng = random.Random(754)
    found = []
    for _ in range(repeats):
        forms = [written(rng, new_number(rng)) for _ in range(1000)]
        good = [form for form in forms if is_sound(form)]
        found.append([len(good), sum(len(form) for form in good), sum(form.startswith("FR") for form in good)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=850)
