# SPDX-License-Identifier: Apache-2.0
"""The development files of a Python that this Debian does not have, from the packages of Debian's newest suite.

They are unpacked beside the build and not installed. apt works in folders of its own, so the machine's packages and
settings stay as they are. The library is linked against and cannot run: it needs a newer C library.
"""
import glob
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SUITE = "sid"
FIELDS = "$(REPO_URI) $(CODENAME) $(COMPONENT)"
TIMEOUT_S = 300


def failed(command, folder):
    """Runs it; returns "" or the last line that it printed."""
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
                          env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)  # fmt: skip
    if not done.returncode:
        return ""
    said = (done.stdout + done.stderr).split("\n")
    return next((line for line in reversed(said) if line.startswith(("E:", "dpkg-deb:"))), f"{command[0]} failed")


def archives():
    """The addresses from which this machine gets the main part of its own Debian."""
    with open("/etc/os-release", encoding="utf-8") as file:
        release = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    command = ["apt-get", "indextargets", "--format", FIELDS, "Created-By: Packages"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wanted = [release.get("VERSION_CODENAME", "").strip('"'), "main"]
    return sorted({line.split()[0] for line in done.stdout.splitlines() if line.split()[1:] == wanted})


def make_apt_root(folder, addresses, suite=SUITE, kind="deb"):
    """Folders of apt's own; returns the options that make it use nothing else."""
    for name in ("etc/sources.list.d", "etc/preferences.d", "state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    open(os.path.join(folder, "status"), "w", encoding="utf-8").close()
    keys = glob.glob("/usr/share/keyrings/debian-archive-keyring.*")[0]
    with open(os.path.join(folder, "etc", "sources.list"), "w", encoding="utf-8") as file:
        file.writelines(f"{kind} [signed-by={keys}] {address} {suite} main\n" for address in addresses)
    settings = {"Dir::Etc": f"{folder}/etc", "Dir::State": f"{folder}/state", "Dir::State::status": f"{folder}/status",
                "Dir::Cache": f"{folder}/cache", "APT::Sandbox::User": "root",
                # A mirror may lag behind; the signature is checked all the same.
                "Acquire::Check-Valid-Until": "false"}  # fmt: skip
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def download(version, folder):
    """Puts the two packages into the folder; returns "" or why not."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        return "only Debian's packages are known"
    if not glob.glob("/usr/share/keyrings/debian-archive-keyring.*"):
        return "no key of Debian's archive is here"
    addresses = archives()
    if not addresses:
        return "apt's settings name no archive of this Debian"
    apt = ["apt-get", "-q", *make_apt_root(os.path.join(folder, "apt"), addresses)]
    packages = [f"libpython{version}-dev", f"libpython{version}"]
    update = [*apt, "-o", "APT::Update::Error-Mode=any", "update"]
    return failed(update, folder) or failed([*apt, "download", *packages], folder)


def stand_in(folder, version):
    return os.path.join(folder, f"python{version}")


def fetch(folder, version):
    """Makes what stand_in() names, unless it is there; returns "" or why there is none."""
    program = stand_in(folder, version)
    if os.path.exists(program):
        return ""
    os.makedirs(folder, exist_ok=True)
    try:
        reason = download(version, folder)
        for package in [] if reason else glob.glob(os.path.join(folder, "*.deb")):
            reason = reason or failed(["dpkg-deb", "-x", package, folder], folder)
    except subprocess.TimeoutExpired:
        reason = "Debian's archive does not answer"
    if not reason:
        os.symlink(os.path.join(HERE, "headers_python"), program)
    return reason and f"no development files of Python {version}: {reason}"
