# SPDX-License-Identifier: Apache-2.0
"""The front page of a forum: for the number of posts of a topic, all of them are fetched and counted in Python."""

import random
import sqlite3

import harness

# The database counts rows itself, and from its index alone. Here each row is read, turned into Python's objects and
# thrown away: the wrong call for the question, API misuse.
CATEGORY = "API misuse"
KIND = "load"
TOPICS, PEOPLE = 120, 400
WORDS = "snow boots tent map trail river camp stove rope lamp ridge cabin weather lake summit train bus".split()

SCHEMA = """
CREATE TABLE topics (id INTEGER PRIMARY KEY, title TEXT NOT NULL, board INTEGER NOT NULL);
CREATE TABLE posts (id INTEGER PRIMARY KEY, topic INTEGER NOT NULL, author INTEGER NOT NULL, day INTEGER NOT NULL,
                    hidden INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL);
CREATE INDEX posts_by_topic ON posts (topic, hidden, day);
"""


class Forum:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.store = sqlite3.connect(":memory:")
        self.store.executescript(SCHEMA)
        titles = [(" ".join(self.random.sample(WORDS, 4)), number % 6) for number in range(TOPICS)]
        self.store.executemany("INSERT INTO topics (title, board) VALUES (?, ?)", titles)

    def write(self, day, count):
        def post():
            topic = min(int(self.random.expovariate(0.05)), TOPICS - 1) + 1
            body = " ".join(self.random.choices(WORDS, k=self.random.randrange(5, 60)))
            return topic, self.random.randrange(PEOPLE), day, self.random.random() < 0.04, body

        self.store.executemany("INSERT INTO posts (topic, author, day, hidden, body) VALUES (?, ?, ?, ?, ?)",
                               [post() for _ in range(count)])
        self.store.commit()

    def size(self, topic):
        posts = self.store.execute("SELECT * FROM posts WHERE topic = ? AND NOT hidden", (topic,)).fetchall()  # waste: load
        return len(posts)

    def last_day(self, topic):
        [day] = self.store.execute("SELECT max(day) FROM posts WHERE topic = ? AND hidden = 0", (topic,)).fetchone()
        return day or 0

    def front_page(self, board):
        """Topics of a board as they are shown: the liveliest ones of the last days first."""
        topics = self.store.execute("SELECT id, title FROM topics WHERE board = ?", (board,)).fetchall()
        lines = [(self.last_day(topic), self.size(topic), title) for topic, title in topics]
        return sorted(lines, reverse=True)[:12]


class FixedForum(Forum):
    def size(self, topic):
        [count] = self.store.execute("SELECT count(*) FROM posts WHERE topic = ? AND hidden = 0", (topic,)).fetchone()
        return count


def work(days, kind):
    forum = kind(510)
    forum.write(0, 6_000)
    found = []
    for day in range(1, days + 1):
        forum.write(day, 20)
        for board in range(6):
            page = forum.front_page(board)
            found.append([sum(count for _, count, _ in page), sum(len(title) for *_, title in page)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Forum), lambda n: work(n, FixedForum), repeats=400)
