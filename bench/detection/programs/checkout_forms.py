# SPDX-License-Identifier: Apache-2.0
"""Web shop: each checkout page lists countries and delivery prices, put in order anew for every customer."""

import html
import random
import string

import harness

# Neither countries nor prices change between the requests: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "load"
PAGE = string.Template("""<!doctype html><title>Checkout $number</title>
<h1>Hello $name</h1>
<table>$basket</table>
<p>Sum $sum, delivery $delivery, together $total</p>
<form method="post"><select name="country">$countries</select><button>Buy</button></form>
""")


def countries(rng):
    """Code, name, zone and whether it is served, as the table of settings has them."""
    found = {}
    while len(found) < 190:
        code = "".join(rng.choices(string.ascii_uppercase, k=2))
        name = "".join(rng.choices("aeioulnrst'&é", k=rng.randrange(4, 14))).title()
        found[code] = {"name": name, "zone": rng.randrange(1, 6), "served": rng.random() < 0.92}
    return found


def euro(cents):
    return f"{cents // 100:,}.{cents % 100:02} €"


def options(shop):
    served = [(code, entry) for code, entry in shop.countries.items() if entry["served"]]
    served.sort(key=lambda item: (item[1]["name"].casefold(), item[0]))
    found = []
    for code, entry in served:
        price = euro(shop.delivery[entry["zone"]])
        found.append((code, f'<option value="{code}">{html.escape(entry["name"])} ({price})</option>'))
    return found


class Shop:
    def __init__(self, rng):
        self.rng = rng
        self.countries = countries(rng)
        self.delivery = {zone: 390 + 350 * zone for zone in range(1, 6)}
        self.goods = [("".join(rng.choices(string.ascii_lowercase + " <", k=18)), rng.randrange(150, 20_000))
                      for _ in range(800)]

    def basket(self):
        return [(*self.rng.choice(self.goods), self.rng.randrange(1, 5)) for _ in range(self.rng.randrange(5, 40))]


def rows(basket):
    """Lines of the basket; three of a kind are a tenth cheaper."""
    total, lines = 0, []
    for name, price, count in basket:
        cost = price * count
        if count >= 3:
            cost -= cost // 10
        total += cost
        lines.append(f"<tr><td>{html.escape(name)}</td><td>{count}</td><td>{euro(cost)}</td></tr>")
    return total, "\n".join(lines)


def select(listed, home):
    return "\n".join(line.replace("<option", "<option selected", 1) if code == home else line for code, line in listed)


def page(shop, number, listed):
    total, basket = rows(shop.basket())
    home = shop.rng.choice(listed)[0]
    delivery = 0 if total > 50_000 else shop.delivery[shop.countries[home]["zone"]]
    return PAGE.substitute(number=number, name=f"customer {number % 97}", basket=basket, sum=euro(total),
                           delivery=euro(delivery), total=euro(total + delivery), countries=select(listed, home))


def work(requests):
    shop, found = Shop(random.Random(640)), []
    for number in range(requests):
        found.append(len(page(shop, number, options(shop))))  # waste: load
    return found


def work_fixed(requests):
    shop, found = Shop(random.Random(640)), []
    listed = options(shop)
    for number in range(requests):
        found.append(len(page(shop, number, listed)))
    return found


if __name__ == "__main__":
    harness.main(work, work_fixed, repeats=20000)
