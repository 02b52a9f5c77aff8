# SPDX-License-Identifier: Apache-2.0
"""A Python without the GIL, which Debian has no package of: built from the source of Debian's package.

The source comes by apt, which checks it, with folders of its own; the machine's packages and settings stay as they are.
All of it lies under build-test/pythons/, which `rm -r` removes. An archive python3.14_*.orig.tar.xz that lies there is
taken as it is: a mirror may lack the source."""
import glob
import os
import shutil

import builds
import headers

# Where its source is, the newest first.
SUITES = {"3.14": ("sid", "forky")}
VERSIONS = tuple(f"{version}t" for version in SUITES)
OPTIONS = ("--disable-gil", "--enable-shared", "--disable-test-modules")


def folder(version):
    return os.path.join(builds.ROOT, "build-test", "pythons", version)


def program(version):
    """Where its interpreter will be: by the name that it has in PATH."""
    return os.path.join(folder(version), "bin", "python3")


def is_made(version):
    return os.access(program(version), os.X_OK)


def lacking():
    """Why none can be built here; "" if one can."""
    missing = [tool for tool in ("apt-get", "gcc", "make", "tar", "xz") if not shutil.which(tool)]
    if missing:
        return f"{missing[0]} is not installed"
    if not glob.glob("/usr/share/keyrings/debian-archive-keyring.*"):
        return "no key of Debian's archive is here"
    return "" if headers.archives() else "apt's settings name no archive of this Debian"


def logged(words, log, cwd):
    with open(log, "a", encoding="utf-8") as file:
        failed = builds.run(["env", "-C", cwd, *words], file)
    return builds.end_of(log).splitlines()[-1] if failed else ""


def fetch(version, work, log):
    """Puts the source's archive into the folder; returns "" or why not."""
    reason = ""
    for archive in glob.glob(os.path.join(os.path.dirname(work), f"python{version.removesuffix('t')}_*.orig.tar.xz")):
        shutil.copy(archive, work)
        return ""
    for suite in SUITES[version.removesuffix("t")]:
        apt = ["apt-get", "-q", *headers.make_apt_root(os.path.join(work, "apt"), headers.archives(), suite, "deb-src")]
        reason = logged([*apt, "-o", "APT::Update::Error-Mode=any", "update"], log, work) or logged(
            [*apt, "source", "--download-only", f"python{version.removesuffix('t')}"], log, work)
        if glob.glob(os.path.join(work, "*.orig.tar.xz")):
            return ""  # Debian's own changes are not needed, and a mirror may lack them
    return reason


def make(version):
    """Builds it, unless it is there; returns "" or why there is none."""
    if is_made(version):
        return ""
    reason = lacking()
    if reason:
        return reason
    home, log = folder(version), folder(version) + ".log"
    work = home + ".work"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "source"))
    reason = fetch(version, work, log)
    if reason:
        return reason
    [archive] = glob.glob(os.path.join(work, "*.orig.tar.xz"))
    source = os.path.join(work, "source")
    jobs = str(len(os.sched_getaffinity(0)))
    options = [f"--prefix={home}", *OPTIONS, f"LDFLAGS=-Wl,-rpath,{home}/lib", "CFLAGS=-g0", "OPT=-DNDEBUG -O2"]
    for words in (["tar", "-x", "--strip-components=1", "-f", archive], ["./configure", "-q", *options],
                  ["make", "-s", "-j", jobs], ["make", "-s", "install"]):  # fmt: skip
        reason = logged(words, log, source)
        if reason:
            shutil.rmtree(home, ignore_errors=True)
            return reason
    shutil.rmtree(work)
    return ""
