# SPDX-License-Identifier: Apache-2.0
"""Standalone Pythons (python-build-standalone), as uv installs them, out of a module of Go that carries them.

One package manager is asked for one module; what it brings is checked by Go's own sums. A Python takes 100 MB under
build-test/pythons/, which `rm -r` removes. It has neither pip nor ensurepip, so uv makes its environments."""
import os
import shutil
import subprocess

import builds

MODULE = "github.com/kluctl/go-embed-python"
# 3.11.11 needs a library that it names by a path; 3.14.6 is static, stripped, and its interpreter is one of tail calls.
VERSIONS = {"3.11.11": "v0.0.0-3.11.11-20241219-1", "3.14.6": "v0.0.0-3.14.6-20260610-1"}
TIMEOUT_S = 600
PROGRAM = f"""package main

import (
	"fmt"
	"os"

	"{MODULE}/python"
)

func main() {{
	if _, err := python.NewEmbeddedPythonWithTmpDir(os.Args[1], false); err != nil {{
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}}
}}
"""


def folder(version):
    return os.path.join(builds.ROOT, "build-test", "pythons", f"standalone-{version}")


def program(version):
    return os.path.join(folder(version), "bin", "python3")


def put(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def unpack(version, work):
    """Returns "" or the last line of what Go said."""
    put(os.path.join(work, "go.mod"), "module unpack\n\ngo 1.22\n")
    put(os.path.join(work, "main.go"), PROGRAM)
    env = {**os.environ, "GOFLAGS": "-mod=mod", "GOMODCACHE": os.path.join(work, "modules")}
    for words in (["get", f"{MODULE}@{VERSIONS[version]}"], ["mod", "tidy"], ["run", ".", folder(version) + ".new"],
                  ["clean", "-modcache"]):  # fmt: skip
        done = subprocess.run(["go", *words], cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode:
            return (done.stdout.strip().splitlines() or [f"go {words[0]} ended with {done.returncode}"])[-1]
    return ""


def make(version):
    """Gets it, once; returns "" or why not."""
    if os.access(program(version), os.X_OK):
        return ""
    if not shutil.which("go"):
        return "go is not installed, whose module brings it"
    work = folder(version) + ".work"
    for path in (work, folder(version) + ".new"):
        shutil.rmtree(path, ignore_errors=True)
    os.makedirs(work)
    reason = unpack(version, work)
    shutil.rmtree(work, ignore_errors=True)
    if not reason:
        os.rename(folder(version) + ".new", folder(version))
        os.unlink(folder(version) + ".new.lock")
    return reason
