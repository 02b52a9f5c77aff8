# SPDX-License-Identifier: Apache-2.0
"""A service answers requests of several tenants in threads; the tenant's settings are parsed for each request."""

import concurrent.futures
import hashlib
import html
import json
import random
import threading

import harness

CATEGORY = "repeated native calls"
KIND = "store"
TENANTS, THREADS = 5, 3
LANGUAGES = ("de", "en", "fr", "pl")
PAGE = "<article class='{theme}'><h1>{title}</h1><ul>{items}</ul><footer>{footer}</footer></article>"


def settings_text(random_source, tenant):
    """What administrators have set: a look, prices by product, words by language."""
    return json.dumps({
        "theme": f"theme-{tenant}",
        "prices": {f"product {number}": round(random_source.uniform(1.0, 90.0), 2) for number in range(400)},
        "words": {code: {"hello": f"<{code}> & welcome", "total": f"total ({code})"} for code in LANGUAGES},
        "flags": [random_source.random() < 0.3 for _ in range(100)],
    })


class Service:
    def __init__(self, texts):
        self.texts = texts

    def settings(self, tenant):
        return json.loads(self.texts[tenant])  # waste: store

    def answer(self, request):
        tenant, language, basket = request
        settings = self.settings(tenant)
        words = settings["words"][language]
        total = sum(settings["prices"][product] * count for product, count in basket)
        items = "".join(f"<li>{html.escape(product)}: {count}</li>" for product, count in basket)
        title, footer = html.escape(words["hello"]), f"{html.escape(words['total'])} {total:.2f}"
        page = PAGE.format(theme=settings["theme"], title=title, items=items, footer=footer)
        tag = hashlib.sha256(page.encode()).digest()
        return len(page), round(total, 2), tag[0]


class FixedService(Service):
    def __init__(self, texts):
        super().__init__(texts)
        self.parsed, self.lock = {}, threading.Lock()

    def settings(self, tenant):
        with self.lock:
            if tenant not in self.parsed:
                self.parsed[tenant] = super().settings(tenant)
            return self.parsed[tenant]


def requests(random_source, count):
    for _ in range(count):
        products = [f"product {random_source.randrange(400)}" for _ in range(random_source.randrange(3, 30))]
        basket = [(product, random_source.randrange(1, 9)) for product in products]
        yield random_source.randrange(TENANTS), random_source.choice(LANGUAGES), basket


def work(repeats, kind):
    random_source = random.Random(711)
    service = kind([settings_text(random_source, tenant) for tenant in range(TENANTS)])
    found = []
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for _ in range(repeats):
            found.extend(pool.map(service.answer, list(requests(random_source, 200))))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Service), lambda n: work(n, FixedService), repeats=220)
