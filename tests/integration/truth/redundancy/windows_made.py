# SPDX-License-Identifier: Apache-2.0
"""What calls make of text and hand on, and what min() and max() choose of. Arguments: CPU seconds of each part."""

import io
import sys
import time
import zipfile


def archive(number):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for i in range(20):
            packed.writestr(f"{number}-{i}", "some text")
    return file.getvalue()


ARCHIVE = archive(0)


def made(end):
    while time.thread_time() < end:
        zipfile.ZipFile(io.BytesIO(ARCHIVE))  # made


def various(end):
    number = 0
    while time.thread_time() < end:
        number += 1  # before the archive, which begins behind it
        zipfile.ZipFile(io.BytesIO(b"%9d" % number + ARCHIVE))  # various


def held(end):
    while time.thread_time() < end:
        file = io.BytesIO(ARCHIVE)
        zipfile.ZipFile(file)  # held


def chosen(end):
    front, number = set(range(400)), 400
    while time.thread_time() < end:
        front.remove(min(front))  # chosen
        number += 1
        front.add(number)


def renewed(end):
    values, number = [0] * 400, 0
    while time.thread_time() < end:
        number += 400
        values[:] = range(number, number + 400)
        max(values, key=lambda value: value % 7)  # renewed


def resting(end):
    values = list(range(400))
    while time.thread_time() < end:
        max(values)  # resting


if __name__ == "__main__":
    for part in (made, various, held, chosen, renewed, resting):
        part(time.thread_time() + float(sys.argv[1]))
