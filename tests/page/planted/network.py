# SPDX-License-Identifier: Apache-2.0
"""Asks a slow service for one price after the other."""

import json
import socketserver
import socket
import threading
import time


class Prices(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            time.sleep(0.1)
            self.wfile.write(json.dumps({"item": line.decode().strip(), "price": len(line)}).encode() + b"\n")


def price(connection, item):
    connection.write(f"{item}\n".encode())
    connection.flush()
    answer = connection.readline()  # planted
    return json.loads(answer)["price"]


def main():
    service = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Prices)
    service.daemon_threads = True
    threading.Thread(target=service.serve_forever, daemon=True).start()
    with socket.create_connection(service.server_address) as client, client.makefile("rwb") as connection:
        print(sum(price(connection, f"item {n}") for n in range(25)))


main()
