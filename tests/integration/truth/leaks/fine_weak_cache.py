# SPDX-License-Identifier: Apache-2.0
"""A cache of weak references; only the last users keep pages alive."""

import collections
import weakref

from pace import COUNT, rounds


class Page:
    def __init__(self):
        self.body = bytearray(25_000)


PAGES = weakref.WeakValueDictionary()
users = collections.deque(maxlen=COUNT * 10 * 4 // 10)


def page(key):
    found = PAGES.get(key)
    if found is None:
        found = PAGES[key] = Page()
    users.append(found)


for number in rounds():
    for k in range(10):
        page((number, k))
