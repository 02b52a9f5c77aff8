# SPDX-License-Identifier: Apache-2.0
"""The kit (packaging/kit) in the roots of images: the image's own python is profiled by one folder and two variables.

The roots have the layouts of images, made of this machine's interpreters: without a shell as distroless ones, with an
interpreter in /usr/local as python:3.x ones, and with one in /usr whose library lies in /usr/lib64, beside a python3
of the system's own that is too old, as RHEL-like ones."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from test_wheel import PYTHONS, ROOT, WHEEL, abi_of, cores, run

pytestmark = [
    pytest.mark.skipif(WHEEL is None, reason="no wheel in dist/: scripts/wheel makes one"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the root folder"),
]
WHO = "import json, sys; print(json.dumps([sys.executable, sys.prefix, sum(i * i for i in range(3000000))]))"
OF_THE_C_LIBRARY = ("libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1")
SUM = sum(i * i for i in range(3000000))


def libraries(program):
    """What the loader needs for it, and the loader."""
    return set(re.findall(r"(/\S+)", re.sub(r"\S+ =>", "", run("ldd", program).stdout)))


def copy(path, root, link=None):
    to = root / (link or path).lstrip("/")
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(os.path.realpath(path), to)


@pytest.fixture(params=["distroless", "usr-local", "usr-lib64"])
def image(request, tmp_path):
    """A root folder, the folder of its interpreter, its name, and where its library lies."""
    root, layout = tmp_path / "root", request.param
    own = layout != "distroless"
    found = [python for python in PYTHONS if abi_of(python) in cores() and python.startswith("/usr/bin/") != own]
    if not found:
        pytest.skip("the wheel has no core for an interpreter of this kind here")
    python = found[0]
    version = abi_of(python)
    prefix = run(python, "-I", "-c", "import sys; print(sys.base_prefix)").stdout.strip()
    there = {"distroless": prefix, "usr-local": "/usr/local", "usr-lib64": "/usr"}[layout]
    folder = f"{there}/lib64" if layout == "usr-lib64" else f"{there}/lib"
    copy(python, root, f"{there}/bin/python{version}")
    if layout == "usr-lib64":
        (root / "usr/bin/python3.9").write_text("#!/bin/sh\nexit 9\n")
        (root / "usr/bin/python3.9").chmod(0o755)
    (root / there.lstrip("/") / "bin" / "python3").symlink_to("python3.9" if layout == "usr-lib64" else f"python{version}")
    for path in libraries(python):
        copy(path, root, path.replace(f"{prefix}/lib", folder, 1))
    shutil.copytree(f"{prefix}/lib/python{version}", root / there.lstrip("/") / "lib" / f"python{version}", symlinks=True,
                    ignore=shutil.ignore_patterns("test", "site-packages", "dist-packages", "__pycache__", "config-*"))
    for path in {one for module in ("_sqlite3", "_ssl") for one in libraries(module_file(python, module))}:
        copy(path, root, path.replace(prefix, there, 1))
    for name in OF_THE_C_LIBRARY:  # an image has it as a whole
        copy(f"/lib/x86_64-linux-gnu/{name}", root)
    done = run(ROOT / "packaging" / "kit", WHEEL, root / "pieprof")
    assert done.returncode == 0, done.stderr
    (root / "work").mkdir()
    return root, f"{there}/bin", "python3" if layout != "usr-lib64" else f"python{version}", own and folder


def module_file(python, module):
    return run(python, "-I", "-c", f"import {module}; print(getattr({module}, '__file__', '/bin/true'))").stdout.strip()


def call(root, folder, library, *words, **more):
    env = {"PATH": f"/pieprof/bin:{folder}", **more}
    if library:
        env["LD_LIBRARY_PATH"] = library  # ldconfig's list is not copied
    return subprocess.run(["chroot", root, *words], env={**env, "PATH": f"/usr/sbin:{env['PATH']}"}, capture_output=True,
                          text=True, timeout=120)


def test_python_is_the_images_own_and_profiled_on_request(image):
    root, folder, name, library = image
    for wanted in ({}, {"PIEPROF_OUTPUT": "/work/run.db"}):
        done = call(root, folder, library, f"/pieprof/bin/{name}", "-c", WHO, **wanted)
        assert (done.returncode, done.stderr) == (0, "")
        executable, prefix, total = json.loads(done.stdout)
        assert (executable, prefix, total) == (f"{folder}/{name}", str(pathlib.Path(folder).parent), SUM)
    asked = run(root / "pieprof" / "bin" / "pieprof", "query", root / "work" / "run.db", "select samples >= 20 as many from v_run", "--csv")
    assert asked.stdout.split() == ["many", "1"], asked


def test_the_path_of_the_documented_pod_has_the_program(tmp_path):
    """An image volume is the root folder of its image, or the folder of it that subPath names."""
    docs = (ROOT / "docs" / "containers.md").read_text()
    there = re.search(r"^COPY --from=unpack /pieprof (\S+)$", (ROOT / "packaging" / "Containerfile.wheel").read_text(), re.M)[1]
    path = re.search(r'name: PATH, value: "([^":]+):', docs)[1]
    mount = re.search(r"name: pieprof, mountPath: ([^,}]+)(?:, subPath: ([^,}]+))?\}", docs)
    image, pod = tmp_path / "image", tmp_path / "pod"
    done = run(ROOT / "packaging" / "kit", WHEEL, image / there.lstrip("/"))
    assert done.returncode == 0, done.stderr
    pod.mkdir()
    (pod / mount[1].lstrip("/")).symlink_to(image / (mount[2] or "."))
    assert os.access(pod / path.lstrip("/") / "python", os.X_OK)
