# SPDX-License-Identifier: Apache-2.0
"""`pieprof serve` in a test: started, asked by HTTP, ended."""

import contextlib
import json
import re
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request

LINE = re.compile(r"(.*) is served at (http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})) until Ctrl-C\n")
# The tables of the data, and the questions whose answers they are.
QUESTIONS = {
    "findings": "redundancy", "pairs": "pairs", "functions": "hot functions", "native_functions": "native functions",
    "libraries": "libraries", "memory": "memory", "peak": "peak", "growth": "growth", "leaks": "leaks",
    "copies": "copies", "needless_copies": "needless copies", "copy_pairs": "copy pairs", "heap": "heap",
    "loops": "traced loops", "loop_calls": "traced calls", "processes": "processes", "threads": "threads",
    "overhead": "overhead", "drops": "drops", "environment": "environment", "slices": "slices",
}


class Server:
    def __init__(self, process):
        self.process = process
        self.line = process.stdout.readline()
        found = LINE.fullmatch(self.line)
        assert found, self.line + process.stderr.read()
        self.name, self.url, port, self.token = found.groups()
        self.port = int(port)

    def ask(self, path="/data", method="GET", **headers):
        """(status, headers, body); headers None are left out, and the token is among them unless told otherwise."""
        headers = {"Authorization": f"Bearer {self.token}", **{k.replace("_", "-"): v for k, v in headers.items()}}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         headers={k: v for k, v in headers.items() if v is not None})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers, refused.read()

    def data(self):
        status, _, body = self.ask()
        assert status == 200, body
        return json.loads(body)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@contextlib.contextmanager
def serving(program, db, *options, **more):
    process = subprocess.Popen([program, "serve", db, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               **more)
    try:
        yield Server(process)
    finally:
        process.kill()
        process.communicate()
