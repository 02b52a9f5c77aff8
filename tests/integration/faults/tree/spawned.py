# SPDX-License-Identifier: Apache-2.0
"""Children by all other ways: posix_spawn with file actions, preexec_fn, an empty environment, Python's switches."""
import os
import subprocess
import sys

SAY = "import os, sys; print(sorted(os.environ), sys.flags.isolated, sys.flags.no_site, len(os.listdir('/proc/self/fd')))"
python = sys.executable
environment = {"LC_ALL": "C.UTF-8"}


def run(*options, **more):
    done = subprocess.run([python, *options, "-c", SAY], capture_output=True, text=True, check=False, **more)
    print(options, done.returncode, done.stdout, done.stderr, end="", flush=True)


actions = [(os.POSIX_SPAWN_OPEN, 7, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, 7, 8), (os.POSIX_SPAWN_CLOSE, 7)]
for spawn in (os.posix_spawn, os.posix_spawnp):
    child = spawn(python, [python, "-c", SAY], environment, file_actions=actions, setsigmask=[])
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
child = os.posix_spawn("/bin/sh", ["sh", "-c", "env; exit 6"], {"A": "1"})
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
try:
    os.posix_spawn("/nowhere/python3", ["python3"], {})
except OSError as error:
    print(error)
run(env={})
for switch in ("-I", "-E", "-S", "-s"):
    run(switch, env=environment)
run(preexec_fn=lambda: os.umask(0o777), env=environment)
run(preexec_fn=lambda: os.closerange(3, 1 << 16), env=environment)
run(close_fds=False, env=environment)
run(start_new_session=True, umask=0o077, env=environment)
