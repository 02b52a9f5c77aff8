# SPDX-License-Identifier: Apache-2.0
"""Two clean programs whose native libraries read and write memory of their own in each call: OpenSSL counts references
to its digests, SQLite runs the same statement. No call has the arguments of another.

usage: native_bookkeeping.py hash|sql"""

import hashlib
import sqlite3
import sys


def hash_chain(rounds=700_000):
    digest = b"seed"
    for _ in range(rounds):
        digest = hashlib.sha256(digest).digest()
    return digest.hex()


def sql_scan(orders=3000):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table item (id integer primary key, of_order int, price real)")
    connection.executemany("insert into item (of_order, price) values (?, ?)", ((i % orders, i * 0.5) for i in range(4000)))
    total = 0.0
    for order in range(orders):
        total += connection.execute("select sum(price) from item where of_order = ?", (order,)).fetchone()[0]
    return total


print({"hash": hash_chain, "sql": sql_scan}[sys.argv[1]]())
