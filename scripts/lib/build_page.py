# SPDX-License-Identifier: Apache-2.0
"""usage: build_page.py WEB OUTPUT DEPFILE enabled|auto|disabled

The page of `pieprof report --html`, for the build: OUTPUT is the page that web/ makes, or empty where there is none.
web/dist/page.html is taken where it was made of these sources (release archives have it, so they need no npm); else npm
makes it there, for all build folders. Without npm, or where npm fails, a page of other sources is better than none; and
no page is an error only for -Dpage=enabled.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

LEFT_OUT = ("node_modules", "dist", "test")
MINUTES = 5
# Without a network this ends within seconds.
INSTALL = ("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1", "--fetch-timeout=20000")
BUILD = ("npm", "run", "--silent", "build")


class NoPage(Exception):
    """One line that says why."""


def sources(web):
    """What the page is made of: files and folders, the latter to see new files."""
    yield web
    for path in sorted(web.rglob("*")):
        if path.relative_to(web).parts[0] not in LEFT_OUT:
            yield path


def stamp(web):
    found = hashlib.sha256()
    for path in sources(web):
        if path.is_file():
            found.update(f"{path.relative_to(web)}\0{path.stat().st_size}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def npm(web, words):
    try:
        done = subprocess.run(words, cwd=web, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=60 * MINUTES,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoPage(f"{' '.join(words[:2])}: {error}") from error
    if done.returncode != 0:
        lines = done.stdout.strip().splitlines() or ["it failed"]
        raise NoPage(f"{' '.join(words[:2])}: {lines[-1]}")


def is_installed(web):
    """npm writes this file last."""
    mark, lock = web / "node_modules" / ".package-lock.json", web / "package-lock.json"
    return mark.is_file() and mark.stat().st_mtime >= lock.stat().st_mtime


def build(web, page, stamped):
    """Makes the page with npm, unless another build folder does just that."""
    if not (web / "package.json").is_file():
        raise NoPage("there are no sources of the page in web/")
    if not shutil.which("npm"):
        raise NoPage("npm is not there")
    page.parent.mkdir(exist_ok=True)
    with open(page.parent / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_of_these_sources(web, page, stamped):
            return
        if not is_installed(web):
            npm(web, INSTALL)
        npm(web, BUILD)
        stamped.write_text(stamp(web) + "\n", encoding="utf-8")


def is_of_these_sources(web, page, stamped):
    return page.is_file() and stamped.is_file() and stamped.read_text(encoding="utf-8").strip() == stamp(web)


def find(web, mode):
    """The page's bytes; none is an error only where it is asked for."""
    page, stamped = web / "dist" / "page.html", web / "dist" / "page.sources"
    if mode == "disabled":
        return b""
    try:
        if not is_of_these_sources(web, page, stamped):
            build(web, page, stamped)
        return page.read_bytes()
    except (NoPage, OSError) as error:
        if page.is_file():
            print(f"page: made of older sources; {error}")
            return page.read_bytes()
        if mode == "enabled":
            sys.exit(f"page: {error}")
        print(f"page: none, so report --html is left out; {error}")
        return b""


def main(web, output, depfile, mode):
    web = pathlib.Path(web)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(output)
    pathlib.Path(output).write_bytes(find(web, mode))
    names = [str(path).replace("\\", "\\\\").replace(" ", "\\ ") for path in sources(web)] if web.is_dir() else []
    pathlib.Path(depfile).write_text(f"{output}: {' '.join(names)}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
