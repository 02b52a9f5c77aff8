# SPDX-License-Identifier: Apache-2.0
"""The conda package that packaging/conda makes out of a wheel: what it says, and whether it profiles its environment's
python.

rattler-build, as a module of Python, makes it; $RATTLER_BUILD may name the folder that has the module. No channel is
asked for anything: an environment of venv stands for conda's. $CONDA_SMITHY names a Python that has conda-smithy, the
linter of conda-forge, which no registry of Python packages has."""

import json
import os
import pathlib
import shutil
import sys
import tarfile

import pytest

from test_wheel import ROOT, WHEEL, abi_of, cores, run

if "RATTLER_BUILD" in os.environ:
    sys.path.append(os.environ["RATTLER_BUILD"])
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"
LINT = """
import json, sys
from conda_smithy.lint_recipe import main
print(json.dumps(main(sys.argv[1], return_hints=True, feedstock_dir=sys.argv[2])))
"""
WHO = "import sys, pieprof; print(sys.prefix, list(pieprof.loop([1])))"
# As conda installs a package without a version of Python of its own.
IN_PREFIX = {"python-scripts": "bin", "lib": "lib", "site-packages": "lib/python3.11/site-packages"}


def test_the_linter_asks_only_for_what_this_project_has_not_got(tmp_path):
    """No page in public, and nobody who answers for it there."""
    python = os.environ.get("CONDA_SMITHY")
    if not python:
        pytest.skip("CONDA_SMITHY names no Python that has conda-smithy")
    (tmp_path / "recipe").mkdir()
    shutil.copy(RECIPE, tmp_path / "recipe")
    (tmp_path / "conda-forge.yml").write_text("conda_build_tool: rattler-build\n")
    done = run(python, "-c", LINT, tmp_path / "recipe", tmp_path)
    assert done.returncode == 0, done.stderr
    lints, hints = json.loads(done.stdout.splitlines()[-1])
    assert [sorted(word for word in ("homepage", "maintainers") if word in lint) for lint in lints] == [
        ["homepage"], ["maintainers"]]
    assert hints == []


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    rattler_build = pytest.importorskip("rattler_build", reason="rattler-build is not installed")
    if WHEEL is None:
        pytest.skip("no wheel in dist/: scripts/wheel makes one")
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    shutil.copytree(ROOT / "packaging", source / "packaging")
    (source / "dist").mkdir()
    shutil.copy(WHEEL, source / "dist")
    (variant,) = rattler_build.Stage0Recipe.from_file(source / "packaging" / "conda" / "recipe.yaml").render()
    tools = rattler_build.ToolConfiguration(test_strategy="skip")
    variant.run_build(tool_config=tools, output_dir=made, channels=[], package_format="tar.bz2")
    (package,) = made.glob("noarch/pieprof-*.tar.bz2")
    with tarfile.open(package) as file:
        file.extractall(made / "package")
    return made / "package"


def test_it_says_which_pythons_and_which_c_library_it_is_for(unpacked):
    said = json.loads((unpacked / "info" / "index.json").read_text())
    assert (said["name"], said["license"], said["noarch"]) == ("pieprof", "Apache-2.0", "python")
    assert set(said["depends"]) == {"python >=3.11,<3.16", "__glibc >=2.28", "__linux"}
    assert f"pieprof-{said['version']}-py3" in WHEEL
    there = {path.name for path in (unpacked / "lib" / "pieprof").iterdir()}
    assert there == {f"libpieprof-{version}.so" for version in cores()}
    assert len(list((unpacked / "info" / "licenses").rglob("*.txt"))) == 11


def test_the_program_runs_the_python_of_the_active_environment(unpacked, tmp_path):
    if "3.11" not in cores() or abi_of("/usr/bin/python3") != "3.11":
        pytest.skip("the wheel has no core for /usr/bin/python3")
    prefix = tmp_path / "env"
    assert run("/usr/bin/python3", "-m", "venv", "--without-pip", prefix).returncode == 0
    for packed, place in IN_PREFIX.items():
        shutil.copytree(unpacked / packed, prefix / place, dirs_exist_ok=True)
    active = {"CONDA_PREFIX": str(prefix), "PATH": f"{prefix}/bin:/usr/bin:/bin"}
    done = run(prefix / "bin" / "pieprof", "-q", "-o", tmp_path / "run.db", "-c", WHO, env=active)
    assert (done.stdout, done.stderr, done.returncode) == (f"{prefix} [1]\n", "", 0)
    asked = run(prefix / "bin" / "pieprof", "query", tmp_path / "run.db", "select count(*) as runs from v_run", "--csv")
    assert asked.stdout.split() == ["runs", "1"]
