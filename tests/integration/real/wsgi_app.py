# SPDX-License-Identifier: Apache-2.0
"""A small WSGI application that works and says what descriptors its process has."""

from descriptors import descriptors


def app(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/descriptors":
        body = descriptors()
    elif path == "/fail":
        raise ValueError("as asked")
    else:
        body = str(sum(i * i for i in range(int(path[2:]))))
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body.encode()]
