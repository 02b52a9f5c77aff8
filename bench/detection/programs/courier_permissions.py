# SPDX-License-Identifier: Apache-2.0
"""The back end of a parcel service: a user's permissions are decoded from JSON each time the property is read."""

import base64
import hashlib
import hmac
import html
import json
import random
import re
import sqlite3
from string import Template
from urllib.parse import parse_qs, urlencode, urlsplit

import harness

# Whoever may see a parcel is asked for every parcel; json.loads gets the same text each time: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"

# settings
REGIONS = [f"{a}{b}" for a in "NSWE" for b in range(12)]
ACTIONS = ("view", "assign", "refund", "print", "reroute")
STATES = ("new", "at depot", "on tour", "delivered", "lost")
SECRET = b"not for production"
PAGE = 60

# models
SCHEMA = """
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, permissions TEXT);
CREATE TABLE parcels (number INTEGER PRIMARY KEY, region TEXT, cents INTEGER, state TEXT, receiver TEXT);
CREATE INDEX parcels_by_region ON parcels (region, number);
"""


class User:
    def __init__(self, row):
        self.id, self.name, self.permissions_json = row

    @property
    def permissions(self):
        return json.loads(self.permissions_json)  # waste: store

    def may(self, action, region):
        return region in self.permissions["regions"].get(action, ())

    @property
    def is_admin(self):
        return self.permissions["role"] == "admin"


class FixedUser(User):
    _permissions = None

    @property
    def permissions(self):
        if self._permissions is None:
            self._permissions = json.loads(self.permissions_json)
        return self._permissions


class Parcel:
    __slots__ = ("number", "region", "cents", "state", "receiver")

    def __init__(self, *values):
        for name, value in zip(self.__slots__, values):
            setattr(self, name, value)

    @property
    def price(self):
        return f"{self.cents // 100}.{self.cents % 100:02d}"


def fill(db, rng):
    db.executescript(SCHEMA)
    for number in range(150):
        regions = {action: sorted(rng.sample(REGIONS, rng.randint(3, 30))) for action in ACTIONS}
        text = json.dumps({"role": "admin" if rng.random() < 0.05 else "clerk", "regions": regions, "theme": "dark"})
        db.execute("INSERT INTO users VALUES (?, ?, ?)", (number, f"user{number}", text))
    for number in range(6000):
        name = "".join(rng.choices("abcdefghij &'", k=14)).title()
        db.execute("INSERT INTO parcels VALUES (?, ?, ?, ?, ?)",
                   (number, rng.choice(REGIONS), rng.randint(0, 30000), rng.choice(STATES), name))


# requests
class Request:
    def __init__(self, url, cookie):
        parts = urlsplit(url)
        self.path = parts.path
        self.query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.cookie, self.user = cookie, None


class Response:
    def __init__(self, body, status=200, kind="application/json"):
        self.body, self.status = body.encode(), status
        self.headers = {"Content-Type": kind, "Content-Length": str(len(self.body))}


def sign(user_id):
    value = str(user_id).encode()
    mac = hmac.new(SECRET, value, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(value + b"." + mac).decode()


def unsign(cookie):
    value, _, mac = base64.urlsafe_b64decode(cookie).partition(b".")
    if not hmac.compare_digest(mac, hmac.new(SECRET, value, hashlib.sha256).digest()):
        raise PermissionError("bad cookie")
    return int(value)


class App:
    def __init__(self, db, user_class):
        self.db, self.user_class = db, user_class
        self.routes, self.middleware = [], [self.with_user, self.with_etag]

    def route(self, pattern):
        def add(view):
            self.routes.append((re.compile(f"^{pattern}$"), view))
            return view

        return add

    def with_user(self, request, proceed):
        number = unsign(request.cookie)
        row = self.db.execute("SELECT id, name, permissions FROM users WHERE id = ?", (number,)).fetchone()
        request.user = self.user_class(row)
        return proceed(request)

    def with_etag(self, request, proceed):
        response = proceed(request)
        response.headers["ETag"] = hashlib.sha1(response.body).hexdigest()
        return response

    def dispatch(self, request):
        for pattern, view in self.routes:
            if match := pattern.match(request.path):
                return view(self, request, **match.groupdict())
        return Response("{}", 404)

    def __call__(self, request):
        handler = self.dispatch
        for layer in reversed(self.middleware):
            handler = lambda r, layer=layer, inner=handler: layer(r, inner)  # noqa: E731
        return handler(request)


# views
ROW = Template("<tr><td>$number</td><td>$region</td><td>$receiver</td><td>$price</td><td>$links</td></tr>")


def parcels_of(app, request):
    first = int(request.query.get("from", 0))
    rows = app.db.execute("SELECT number, region, cents, state, receiver FROM parcels WHERE number >= ? ORDER BY number LIMIT ?",
                          (first, PAGE))
    for row in rows:
        parcel = Parcel(*row)
        if request.user.is_admin or request.user.may("view", parcel.region):
            yield parcel


def list_page(app, request):
    rows = []
    for parcel in parcels_of(app, request):
        links = [f'<a href="/parcels/{parcel.number}/{a}">{a}</a>' for a in ACTIONS[1:] if request.user.may(a, parcel.region)]
        rows.append(ROW.substitute(number=f"{parcel.number:010d}", region=parcel.region, receiver=html.escape(parcel.receiver),
                                   price=parcel.price, links=" ".join(links)))
    return Response("<table>" + "\n".join(rows) + "</table>", kind="text/html")


def list_api(app, request):
    found = [{"number": p.number, "state": p.state, "price": p.price} for p in parcels_of(app, request)]
    following = urlencode({"from": int(request.query.get("from", 0)) + PAGE})
    return Response(json.dumps({"count": len(found), "results": found, "next": f"/api/parcels?{following}"}))


def region_sums(app, request, region):
    if not request.user.may("view", region):
        return Response("{}", 403)
    rows = app.db.execute("SELECT state, count(*), sum(cents) FROM parcels WHERE region = ? GROUP BY state", (region,))
    return Response(json.dumps({state: {"parcels": n, "cents": cents} for state, n, cents in rows}))


def make_app(db, user_class):
    app = App(db, user_class)
    app.route("/parcels")(list_page)
    app.route("/api/parcels")(list_api)
    app.route("/api/regions/(?P<region>[NSWE][0-9]+)")(region_sums)
    return app


def traffic(rng, n):
    for _ in range(n):
        kind, start = rng.random(), rng.randrange(5900)
        path = f"/parcels?from={start}" if kind < 0.3 else f"/api/parcels?from={start}" if kind < 0.5 else \
            f"/api/regions/{rng.choice(REGIONS)}"
        yield Request("https://parcels.example" + path, sign(rng.randrange(150)))


def work(requests, user_class):
    rng = random.Random(88)
    db = sqlite3.connect(":memory:")
    fill(db, rng)
    app, found = make_app(db, user_class), []
    for request in traffic(rng, requests):
        response = app(request)
        found.append([len(response.body), response.status, int(response.headers["ETag"][:4], 16)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, User), lambda n: work(n, FixedUser), repeats=9000)
