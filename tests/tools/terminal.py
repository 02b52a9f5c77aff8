# SPDX-License-Identifier: Apache-2.0
"""A program on a pseudo-terminal, and the screen that its output makes."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte


class Screen(pyte.Screen):
    """CSI r without numbers is the whole screen, which pyte takes for a region that begins at 0."""

    def set_margins(self, top=None, bottom=None):
        if not top and not bottom:
            self.margins = None
            self.cursor_position()
        else:
            super().set_margins(top, bottom)


class Terminal:
    """TERM is one of which pyte knows all: that of xterm has sequences which it leaves out."""

    def __init__(self, argv, env, columns=80, lines=24, term="linux"):
        self.screen = Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.raw, self.status = b"", None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            self._set_size(0, columns, lines)
            for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # under nohup, or in a script's background
                signal.signal(ignored, signal.SIG_DFL)
            os.execve(argv[0], [str(word) for word in argv], {**env, "TERM": term})

    @staticmethod
    def _set_size(fd, columns, lines):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds):
        """Takes what comes within this time. False: the program has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        with contextlib.suppress(OSError):  # EIO: nobody has the other side any more
            data = os.read(self.fd, 65536)
            self.raw += data
            self.stream.feed(data)
            return bool(data)
        return False

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def until(self, is_so, seconds=60):
        """Reads until the screen is so, and returns its lines."""
        end = time.monotonic() + seconds
        while not is_so(self.text):
            assert time.monotonic() < end and (self.read(0.05) or is_so(self.text)), self.text
        return self.lines

    def type(self, keys, is_so):
        os.write(self.fd, keys.encode())
        return self.until(is_so)

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        self._set_size(self.fd, columns, lines)

    def state(self):
        return termios.tcgetattr(self.fd)

    def end(self, seconds=60):
        """Reads to the end; the wait status."""
        end = time.monotonic() + seconds
        while self.read(0.05):
            assert time.monotonic() < end, self.text
        self.status = os.waitpid(self.pid, 0)[1]
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
