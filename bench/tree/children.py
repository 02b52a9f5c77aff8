# SPDX-License-Identifier: Apache-2.0
"""The program of run.py: starts children one after the other and prints what one of them took.

usage: children.py KIND N
"""

import json
import multiprocessing
import os
import resource
import subprocess
import sys
import time


def by_vfork():
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def by_fork_and_exec():
    subprocess.run([sys.executable, "-c", "pass"], check=True, preexec_fn=int)


def by_fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def by_multiprocessing(method):
    context = multiprocessing.get_context(method)

    def start():
        process = context.Process(target=int)
        process.start()
        process.join()
        assert process.exitcode == 0
    return start


def cpu_s(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def main():
    kind, n = sys.argv[1], int(sys.argv[2])
    start = {"subprocess": by_vfork, "fork + exec": by_fork_and_exec, "os.fork": by_fork}.get(kind)
    start = start or by_multiprocessing(kind.split()[-1])
    start()  # what is made once (a resource tracker, a first fork) is no part of a child
    cpu, own, begun = cpu_s(resource.RUSAGE_CHILDREN), cpu_s(resource.RUSAGE_SELF), time.perf_counter()
    for _ in range(n):
        start()
    wall = time.perf_counter() - begun
    cpu, own = cpu_s(resource.RUSAGE_CHILDREN) - cpu, cpu_s(resource.RUSAGE_SELF) - own
    print(json.dumps({"wall_s": wall / n, "cpu_s": cpu / n, "parent_cpu_s": own / n}))


if __name__ == "__main__":
    main()
