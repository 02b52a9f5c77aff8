# SPDX-License-Identifier: Apache-2.0
"""Waits for known times and known reasons, each in a thread of its own, at lines that are found by their marks. Holders
of locks are at lines with their marks and "-holder".

usage: waiting_causes.py waits|gil|held|tasks|course|forks
"""

import asyncio
import contextlib
import ctypes
import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from measure import tell

waited, resources, later = {}, {}, []


@contextlib.contextmanager
def timed(mark):
    begun = time.perf_counter()
    yield
    waited[mark] = time.perf_counter() - begun


def clockwork(begun):
    for seconds, function in sorted(later, key=lambda entry: entry[0]):
        time.sleep(max(0, begun + seconds - time.perf_counter()))  # lock-holder
        function()


def sleep():
    with timed("sleep"):
        time.sleep(1)  # sleep


def pipe():
    reading, writing = os.pipe()
    later.append((0.6, lambda: os.write(writing, b"x")))

    def wait():
        with timed("pipe"):
            os.read(reading, 1)  # pipe
    return wait


def set_of_one():
    reading, _ = os.pipe()
    with timed("set-of-one"):
        select.select([reading], [], [], 0.6)  # set-of-one


def set_of_two():
    reading, _ = os.pipe()
    other, _ = os.pipe()
    with timed("set-of-two"):
        select.select([reading], [], [other], 0.6)  # set-of-two


def set_of_none():
    with timed("set-of-none"):
        select.select([], [], [], 0.6)  # set-of-none


def socket_pair():
    listening = socket.create_server(("127.0.0.1", 0))
    sending = socket.create_connection(listening.getsockname())
    receiving, _ = listening.accept()
    resources["recv"] = "{}:{}".format(*listening.getsockname())
    later.append((0.5, lambda: receiving.send(b"x")))

    def wait():
        with timed("recv"):
            sending.recv(1)  # recv
    return wait


def listener():
    listening = socket.create_server(("127.0.0.1", 0))
    resources["accept"] = "at {}:{}".format(*listening.getsockname())
    later.append((0.7, lambda: socket.create_connection(listening.getsockname())))

    def wait():
        with timed("accept"):
            listening._accept()  # accept
    return wait


def child():
    process = subprocess.Popen(["/bin/sleep", "0.4"])
    with timed("child"):
        os.waitpid(process.pid, 0)  # child
    process.returncode = 0


def lock():
    lock = threading.Lock()
    lock.acquire()
    later.append((0.7, lock.release))

    def wait():
        with timed("lock"):
            lock.acquire()  # lock
    return wait


def holder(lock, is_held):
    with lock:
        is_held.set()
        time.sleep(0.8)  # rlock-holder


def rlock():
    lock, is_held = threading.RLock(), threading.Event()
    threading.Thread(target=holder, args=(lock, is_held), daemon=True).start()
    is_held.wait()

    def wait():
        with timed("rlock"):
            with lock:  # rlock
                pass
    return wait


def file_lock():
    file = tempfile.NamedTemporaryFile()
    other = open(file.name, "rb")
    fcntl.flock(file, fcntl.LOCK_EX)
    resources["flock"] = file.name
    later.append((0.8, lambda: fcntl.flock(file, fcntl.LOCK_UN)))

    def wait():
        with timed("flock"):
            fcntl.flock(other, fcntl.LOCK_EX)  # flock
    return wait


def fifo():
    folder = tempfile.TemporaryDirectory()
    resources["fifo"] = path = os.path.join(folder.name, "fifo")
    os.mkfifo(path)
    later.append((0.9, lambda: (os.open(path, os.O_WRONLY), folder.cleanup())))

    def wait():
        with timed("fifo"):
            os.open(path, os.O_RDONLY)  # fifo
    return wait


def signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    with timed("signal"):
        signal.sigtimedwait([signal.SIGUSR1], 0.6)  # signal


def all_waits():
    waits = {"pipe": pipe(), "recv": socket_pair(), "accept": listener(), "lock": lock(), "rlock": rlock(),
             "flock": file_lock(), "fifo": fifo(), "sleep": sleep, "set-of-none": set_of_none,
             "set-of-one": set_of_one, "set-of-two": set_of_two, "child": child, "signal": signals}
    threads = [threading.Thread(target=wait, name=mark) for mark, wait in waits.items()]
    for thread in threads:
        thread.start()
    clockwork(time.perf_counter())
    for thread in threads:
        thread.join()


def spin(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for _ in range(1000):  # spin
            pass


def gil():
    sys.setswitchinterval(0.05)
    threads = [threading.Thread(target=spin, args=(1.5,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def held_gil():
    """A library's call that waits and does not release the GIL: the other thread wants it meanwhile."""
    other = threading.Thread(target=spin, args=(1,))
    other.start()
    with timed("held"):
        ctypes.PyDLL(None).usleep(700000)  # held
    other.join()


async def sleeping():
    await asyncio.sleep(1)  # task-sleep


async def getting(queue):
    await queue.get()  # task-queue


async def reading():
    reading, writing = socket.socketpair()
    reader, _ = await asyncio.open_connection(sock=reading)
    asyncio.get_running_loop().call_later(1, writing.send, b"x")
    await reader.read(1)  # task-socket


async def tasks():
    queue = asyncio.Queue()
    asyncio.get_running_loop().call_later(1, queue.put_nowait, 1)
    await asyncio.gather(sleeping(), getting(queue), reading())


def take(descriptor):
    os.read(descriptor, 1)  # take


def course():
    """The same line, called from the same one, waits for a pipe at first and for a socket then, 1.5 s each."""
    (reading, writing), (receiving, sending) = os.pipe(), socket.socketpair()
    later.extend([(1.5, lambda: os.write(writing, b"x")), (3, lambda: sending.send(b"x"))])
    threading.Thread(target=clockwork, args=(time.perf_counter(),)).start()
    for mark, descriptor in ("pipe", reading), ("socket", receiving.fileno()):
        begun = time.time()
        take(descriptor)
        waited[mark] = begun, time.time()


def forks():
    """What is known of many functions takes long to write, so that fork() has to wait for that."""
    names = {}
    exec(compile("\n".join(f"def f{n}(): return sum(range(300))" for n in range(2500)), "made.py", "exec"), names)
    until = time.perf_counter() + 1.5
    while time.perf_counter() < until:
        for n in range(2500):
            names[f"f{n}"]()
        process = os.fork()  # fork
        if process == 0:
            os._exit(0)  # exit
        os.waitpid(process, 0)


match sys.argv[1]:
    case "waits":
        all_waits()
    case "gil":
        gil()
    case "held":
        held_gil()
    case "course":
        course()
    case "forks":
        forks()
    case "tasks":
        asyncio.run(tasks())
tell(waited=waited, resources=resources)
