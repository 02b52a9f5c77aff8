# SPDX-License-Identifier: Apache-2.0
"""Sorts a mail box by sender and subject; for that, each mail is taken apart with all of its attachments."""

import base64
import collections
import email
import email.parser
import email.utils
import random

import harness

# With headersonly=True, a parser leaves the body alone: API misuse.
CATEGORY = "API misuse"
KIND = "store"
SUBJECTS = ("Invoice", "Your order", "Meeting on Monday", "Photos", "Newsletter", "Re: offer", "Out of office")
HOSTS = ("shop.example", "club.example", "office.example", "news.example")


def attachment(rng):
    data = base64.encodebytes(rng.randbytes(rng.randrange(2_000, 30_000))).decode()
    name = f"file{rng.randrange(1000)}.{rng.choice(('pdf', 'jpg', 'zip'))}"
    return ("Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n"
            f'Content-Disposition: attachment; filename="{name}"\n\n{data}')


def mail(rng, number):
    parts = [f"Content-Type: text/plain; charset=utf-8\n\n{' '.join(rng.choices(SUBJECTS, k=rng.randrange(10, 60)))}\n"]
    parts += [attachment(rng) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    edge = f"=={number:08d}=="
    head = [f"From: Person {rng.randrange(40)} <p{rng.randrange(40)}@{rng.choice(HOSTS)}>",
            f"To: desk{rng.randrange(3)}@firm.example", f"Subject: {rng.choice(SUBJECTS)} {rng.randrange(100)}",
            f"Date: {email.utils.formatdate(1.6e9 + rng.randrange(10**7))}", f"Message-ID: <{number}@{rng.choice(HOSTS)}>",
            "MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{edge}"']
    if rng.random() < 0.2:
        head.append("List-Unsubscribe: <https://news.example/off>")
    body = "".join(f"--{edge}\n{part}" for part in parts) + f"--{edge}--\n"
    return "\n".join(head) + "\n\n" + body


def parse(text):
    return email.message_from_string(text)  # waste: store


def parse_fixed(text):
    return email.parser.Parser().parsestr(text, headersonly=True)


class Rules:
    """Where a mail belongs."""

    def __init__(self):
        self.folders = collections.defaultdict(list)
        self.seen = set()

    def folder(self, message):
        name, address = email.utils.parseaddr(message["From"])
        host = address.partition("@")[2]
        if "List-Unsubscribe" in message:
            return "news"
        if message["Subject"].startswith(("Invoice", "Your order")):
            return "money"
        return f"{host}/{name[-1]}"

    def file(self, message):
        if message["Message-ID"] in self.seen:
            return
        self.seen.add(message["Message-ID"])
        when = email.utils.parsedate_to_datetime(message["Date"])
        self.folders[self.folder(message)].append((when, message["Subject"]))

    def summary(self):
        for name in sorted(self.folders):
            mails = sorted(self.folders[name])
            yield [len(mails), mails[-1][0].timestamp() / 1e9, sum(len(subject) for _, subject in mails)]


def work(days, parser):
    rng, found = random.Random(99), []
    for day in range(days):
        rules = Rules()
        for number in range(60):
            rules.file(parser(mail(rng, day * 1000 + number)))
        found.append([sum(values) for values in zip(*rules.summary())])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, parse), lambda n: work(n, parse_fixed), repeats=180)
