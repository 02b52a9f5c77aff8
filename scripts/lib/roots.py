# SPDX-License-Identifier: Apache-2.0
"""Roots of other Debian releases, in which their Pythons are had and run.

A root has a compiler and libraries of its own: a Python of a newer Debian needs its C library. The sources are seen there
at /src. All mounts are in a namespace of their own, so nothing is left mounted on the machine."""
import os
import shutil
import subprocess

import builds
import headers

SOURCES = "/src"  # in a root
SUITES = {"3.13": "trixie", "3.14": "sid", "3.15": "sid"}
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# A mirror may lag behind, and unstable's list is only valid for days; its signature is checked all the same.
APT_SETTINGS = 'Acquire::Check-Valid-Until "false";\n'
ENTER = """
set -eu
root=$1 source=$2
shift 2
mount --make-rprivate /
mount --bind "$source" "$root/src"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
exec chroot "$root" "$@"
"""


def folder(suite):
    return os.path.join(builds.ROOT, "build-test", "roots", suite)


def lacking():
    """Why there can be no root here; "" if there can."""
    if os.geteuid() != 0:
        return "only root can make a root of another Debian"
    if not shutil.which("debootstrap"):
        return "debootstrap is not installed (scripts/bootstrap matrix)"
    if not headers.archives():
        return "apt's settings name no archive of this Debian"
    return ""


def command(suite, words):
    """Runs the words in the root of that suite."""
    return enter(folder(suite), words)


def enter(root, words):
    """Runs the words in a root that has a folder /src, where the sources are seen."""
    clean = ["env", "-i", f"PATH={PATH}", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
    mounted = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "enter"]
    return [*mounted, root, builds.ROOT, *clean, *words]


def logged(words, log):
    """Runs it; returns "" or the end of what it said."""
    with open(log, "w", encoding="utf-8") as file:
        failed = builds.run(words, file)
    return builds.end_of(log) if failed else ""


def bootstrapped(suite):
    """A fresh root; it gets its name when it is whole."""
    root = folder(suite)
    if os.path.exists(root):
        return ""
    fresh = root + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh)
    made = logged(["debootstrap", "--variant=minbase", suite, fresh, headers.archives()[0]], root + ".log")
    if not made:
        os.mkdir(os.path.join(fresh, SOURCES.lstrip("/")))
        shutil.copy("/etc/resolv.conf", os.path.join(fresh, "etc", "resolv.conf"))
        with open(os.path.join(fresh, "etc", "apt", "apt.conf.d", "90matrix"), "w", encoding="utf-8") as file:
            file.write(APT_SETTINGS)
        os.rename(fresh, root)
    return made


def prepare(suite, versions):
    """Makes the root, with these Pythons and what builds and tests pieprof in it; returns "" or why there is none."""
    log = folder(suite) + ".log"
    if all(os.path.exists(os.path.join(folder(suite), "usr", "include", f"python{v}", "Python.h")) for v in versions):
        return ""  # these packages come last
    packages = [word for version in versions for word in (f"python{version}-dev", f"python{version}-venv")]
    return (
        bootstrapped(suite)
        or logged(command(suite, ["apt-get", "-q", "update"]), log)
        or logged(command(suite, ["sh", f"{SOURCES}/scripts/bootstrap", "build", "root"]), log)
        or logged(command(suite, ["apt-get", "-q", "-y", "--no-install-recommends", "install", *packages]), log)
    )
