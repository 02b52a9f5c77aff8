# SPDX-License-Identifier: Apache-2.0
"""Children, started in one way, that are killed at the given ages; prints the CPU time that each had reached.

They say so in a file, which is there after their death."""
import json
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import time

BURN = """
import os, struct, sys, time
file = os.open(sys.argv[1], os.O_WRONLY)
while True:
    sum(range(10_000))
    os.pwrite(file, struct.pack("d", time.thread_time()), 0)
"""


def burn(path):
    sys.argv[1:] = [path]
    exec(compile(BURN, "burn.py", "exec"), {})  # as a program of its own would


def fork(path):
    pid = os.fork()
    if pid == 0:
        burn(path)
    return pid


def exec_later(path):
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", BURN, path])
    return pid


def spawn(path):
    return os.posix_spawn(sys.executable, [sys.executable, "-c", BURN, path], os.environ)


def start(how, path):
    """The new process's pid, and what waits for it and gives its status."""
    if how in ("fork", "exec_later", "spawn"):
        pid = globals()[how](path)
        return pid, lambda: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if how == "subprocess":
        child = subprocess.Popen([sys.executable, "-c", BURN, path])
        return child.pid, child.wait
    child = multiprocessing.get_context(how.split()[1]).Process(target=burn, args=(path,))
    child.start()
    return child.pid, lambda: (child.join(), child.exitcode)[1]


def main():
    how, folder, *ages = sys.argv[1:]
    for age in ages:
        path = os.path.join(folder, age)
        with open(path, "wb") as file:
            file.write(struct.pack("d", 0))
        pid, wait = start(how, path)
        time.sleep(float(age))
        os.kill(pid, signal.SIGKILL)
        status = wait()
        with open(path, "rb") as file:
            print(json.dumps({"pid": pid, "age": float(age), "status": status, "cpu_s": struct.unpack("d", file.read())[0]}))


if __name__ == "__main__":
    main()
