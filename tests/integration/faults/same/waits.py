# SPDX-License-Identifier: Apache-2.0
"""Every way to wait for a child: the same results, errors and signals."""
import ctypes
import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # forks while threads run, and that names the pid
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
C = ctypes.CDLL(None, use_errno=True)


def child(end):
    pid = os.fork()
    if pid == 0:
        end()
        os._exit(0)
    return pid


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(7)


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(3)


told = []
signal.signal(signal.SIGCHLD, lambda *_: told.append(1))
for end in (die, leave):
    pid = child(end)
    print(os.waitpid(pid, 0)[1])
    pid = child(end)
    print(os.wait()[1], os.wait3.__name__)
    pid = child(end)
    found = os.wait3(0)
    print(found[0] == pid, found[1], found[2].ru_maxrss > 0)
    pid = child(end)
    found = os.wait4(pid, 0)
    print(found[0] == pid, found[1], found[2].ru_maxrss > 0)
    pid = child(end)
    for options in (os.WEXITED | os.WNOWAIT, os.WEXITED | os.WNOWAIT, os.WEXITED):
        found = os.waitid(os.P_PID, pid, options)
        print(found.si_pid == pid, found.si_code, found.si_status, found.si_signo)
    handle = os.pidfd_open(pid := child(end))
    found = os.waitid(os.P_PIDFD, handle, os.WEXITED)
    print(found.si_pid == pid, found.si_status)
    os.close(handle)
    for call in (lambda pid: C.waitpid(pid, None, 0), lambda pid: C.wait4(pid, None, 0, None), lambda pid: C.wait(None),
                 lambda pid: C.wait3(None, 0, None), lambda pid: C.waitid(1, pid, None, 4) or pid):
        pid = child(end)
        print(call(pid) == pid)
print(len(told) > 0)

pid = child(lambda: time.sleep(60))
print(os.waitpid(pid, os.WNOHANG), os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG), os.wait3(os.WNOHANG)[:2])
os.kill(pid, signal.SIGTERM)
print(os.waitpid(pid, 0)[1])
pid = child(stop)
print(os.waitpid(pid, os.WUNTRACED)[1])
os.kill(pid, signal.SIGCONT)
print(os.waitpid(pid, os.WCONTINUED)[1], os.waitpid(pid, 0)[1])

for call in (os.wait, lambda: os.waitpid(-1, 0), lambda: os.waitid(os.P_ALL, 0, os.WEXITED), lambda: os.waitpid(1, 0)):
    try:
        print(call())
    except OSError as error:
        print(errno.errorcode[error.errno])
print(C.waitpid(-1, None, 0), errno.errorcode[ctypes.get_errno()], C.waitpid(-1, None, 1 << 20),
      errno.errorcode[ctypes.get_errno()])

# A thread that waits while others fork and end theirs.
results = []


def many():
    results.extend(os.waitstatus_to_exitcode(os.waitpid(child(leave), 0)[1]) for _ in range(10))


threads = [threading.Thread(target=many) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results)

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child(leave)
try:
    print(os.wait())
except ChildProcessError:
    print("nobody")
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
    print(process.poll())
    process.kill()
    print(process.wait(), os.popen("exit 4").close(), os.system("exit 5"))
