# SPDX-License-Identifier: Apache-2.0
"""The wheel that scripts/wheel has made: what is in it, what it needs, and whether it works in fresh environments.

It takes minutes to build one, so the tests take $PIEPROF_WHEEL, or the newest in dist/."""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import pytest

ROOT = pathlib.Path(os.environ.get("PIEPROF_SOURCE") or pathlib.Path(__file__).parents[2])
FOUND = [os.environ["PIEPROF_WHEEL"]] if "PIEPROF_WHEEL" in os.environ else glob.glob(str(ROOT / "dist" / "pieprof-*.whl"))
WHEEL = max(FOUND, key=os.path.getmtime, default=None)
MAX_BYTES = 10_000_000
LIBRARIES = {"libdw-dev", "libelf-dev", "libiberty-dev", "libjansson-dev", "liblzma-dev", "libprotobuf-c-dev",
             "libsmartcols-dev", "libsqlite3-dev", "libzycore-dev", "libzydis-dev", "zlib1g-dev"}
PYTHONS = ["/usr/bin/python3", *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[1-9]*/bin/python3")))]
pytestmark = pytest.mark.skipif(WHEEL is None, reason="no wheel in dist/: scripts/wheel makes one")


def run(*words, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIEPROF", "PYTHON", "VIRTUAL_ENV"))}
    more["env"] = {**kept, **more.get("env", {})}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, **more)


def abi_of(python):
    return run(python, "-I", "-c", "import sys; print('%d.%d%s' % (*sys.version_info[:2], sys.abiflags))").stdout.strip()


def names():
    with zipfile.ZipFile(WHEEL) as wheel:
        return wheel.namelist()


def cores():
    return [found[1] for name in names() if (found := re.search(r"/data/lib/pieprof/libpieprof-(.*)\.so$", name))]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(folder)
    return folder


def programs(unpacked):
    return [*unpacked.glob("*.data/scripts/pieprof"), *unpacked.glob("*.data/data/lib/pieprof/*.so")]


def test_it_has_a_program_cores_a_module_and_all_licences():
    assert os.path.getsize(WHEEL) <= MAX_BYTES
    assert len([name for name in names() if re.search(r"\.data/scripts/pieprof$", name)]) == 1
    assert "pieprof.py" in names() and len(cores()) >= 1
    licences = {pathlib.Path(name).stem for name in names() if "/licenses/" in name}
    assert licences == LIBRARIES


def test_it_needs_only_the_c_library_that_its_name_says(unpacked):
    major, minor = map(int, re.search(r"manylinux_(\d+)_(\d+)_x86_64", WHEEL).groups())
    assert (major, minor) <= (2, 28)
    for path in programs(unpacked):
        needed = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", path).stdout))
        assert needed <= {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}
        versions = re.findall(r"\*UND\*.*GLIBC_(\d+)\.(\d+)", run("objdump", "-T", path).stdout)
        assert max((int(a), int(b)) for a, b in versions) <= (major, minor)
        private = [name for name in re.findall(r" (\w+)$", run("nm", "-D", "--defined-only", path).stdout, re.M)
                   if name.startswith(("sqlite3_", "pie_", "dwarf_", "elf_", "json_", "Zydis"))]
        assert private == []


def test_auditwheel_finds_the_same():
    tool = shutil.which("auditwheel") or os.environ.get("AUDITWHEEL")
    if not tool:
        pytest.skip("auditwheel is not installed")
    tag = re.search(r"manylinux_\d+_\d+_x86_64", WHEEL)[0]
    done = run(tool, "show", WHEEL)
    assert done.returncode == 0, done.stderr
    assert f'is consistent with the following platform tag: "{tag}"' in " ".join(done.stdout.split())


def profile(program, folder, environment):
    """Runs an example with the environment's python3, and asks for its threads."""
    done = run(program, "-q", "-o", folder / "run.db", ROOT / "examples" / "threads.py", "0.05", env=environment)
    assert done.returncode == 0, done.stderr
    asked = run(program, "query", folder / "run.db", "threads", "--json", env=environment)
    assert asked.returncode == 0, asked.stderr
    return {row["name"] for row in json.loads(asked.stdout)["rows"]}


@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: path.replace("/", "_"))
def test_it_works_in_a_fresh_environment(python, tmp_path):
    if abi_of(python) not in cores():
        pytest.skip(f"the wheel has no core for {python}")
    venv = tmp_path / "venv"
    assert run(python, "-m", "venv", venv).returncode == 0
    done = run(venv / "bin" / "python", "-m", "pip", "install", "--no-index", WHEEL)
    assert done.returncode == 0, done.stdout + done.stderr
    activated = {"VIRTUAL_ENV": str(venv), "PATH": f"{venv}/bin:{os.environ['PATH']}"}
    program = venv / "bin" / "pieprof"
    assert profile(program, tmp_path, activated) >= {"hasher", "counter", "packer", "reader"}
    who = "import sys, pieprof; print(sys.executable, sys.prefix, list(pieprof.loop([1])))"
    done = run(program, "-q", "-o", tmp_path / "who.db", "-c", who, env=activated)
    assert (done.stdout, done.stderr) == (f"{venv}/bin/python {venv} [1]\n", "")


def test_a_python_without_a_core_gets_one_line(unpacked, tmp_path):
    others = [python for python in PYTHONS if abi_of(python) not in cores()]
    if not others:
        pytest.skip("there is a core for each Python of this machine")
    program = programs(unpacked)[0]
    program.chmod(0o755)
    done = run(program, "-o", tmp_path / "x.db", "--python", others[0], "-c", "1")
    assert done.returncode == 125 and done.stderr.count("\n") == 1 and "has no core" in done.stderr


def test_uv_and_pipx_install_it(tmp_path):
    """Where they are: each makes an environment of its own and puts a link to the program elsewhere."""
    if abi_of("/usr/bin/python3") not in cores():
        pytest.skip("the wheel has no core for /usr/bin/python3")
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    tools = {
        "uv": ("tool", "install", "--offline", "--python", "/usr/bin/python3", WHEEL),
        "pipx": ("install", "--python", "/usr/bin/python3", WHEEL),
    }
    found = [name for name in tools if shutil.which(name)]
    if not found:
        pytest.skip("neither uv nor pipx is installed")
    for name in found:
        bin_ = tmp_path / name
        done = run(shutil.which(name), *tools[name],
                   env={**plain, "UV_TOOL_BIN_DIR": str(bin_), "UV_TOOL_DIR": str(tmp_path / "tools"),
                        "PIPX_BIN_DIR": str(bin_), "PIPX_HOME": str(tmp_path / "pipx-home")})
        if done.returncode != 0 and name == "pipx" and re.search("network|resolve|connection", done.stderr, re.I):
            continue  # pipx updates its own pip from the registry
        assert done.returncode == 0, done.stdout + done.stderr
        assert profile(bin_ / "pieprof", tmp_path, plain) >= {"hasher", "counter"}


def test_the_command_that_tries_them_all_tells_each_in_a_line(tmp_path):
    if abi_of("/usr/bin/python3") not in cores():
        pytest.skip("the wheel has no core for /usr/bin/python3")
    command = ROOT / "packaging" / "test-wheel"
    done = run(command, "--wheel", WHEEL, "pip, /usr/bin/python3")
    by_pip, by_uv = done.stdout.splitlines()
    assert done.returncode == 0, done
    assert re.match(r"pip, /usr/bin/python3 \(3\..*\) +works +…/venv/bin/python 3\.", by_pip)
    assert re.match(r"uv pip, /usr/bin/python3 \(3\..*\) +(works +…/venv/bin/python 3\.|skipped +uv )", by_uv)
    for words, why in ((["--wheel", tmp_path / "no.whl"], "there is no wheel"), (["--wheel", WHEEL, "--root", "x=/no"], "there is no folder /no")):
        done = run(command, *words)
        assert done.returncode == 1 and why in done.stderr and done.stderr.count("\n") == 1, done
