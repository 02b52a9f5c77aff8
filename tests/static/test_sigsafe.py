# SPDX-License-Identifier: Apache-2.0
"""What a signal handler can reach calls nothing that could wait, allocate or be in the middle of something."""
import pathlib
import re
import subprocess

import tree

ALLOWED = pathlib.Path(__file__).with_name("sigsafe-allowed.txt")
DATA_TYPES = "BDRVGSCbdr"  # nm(1): initialised, zeroed, read-only and common data
CPYTHON_DATA = re.compile(r"^_?Py(Runtime|_Version|\w+_(Ref)?Type|_\w*(Struct|TrueStruct|FalseStruct|NoneStruct))$")


def allowed_names():
    lines = ALLOWED.read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def unsafe_symbols(objects, others, allowed):
    """objects: {source: nm()} of the signal-safe files, others: symbols of all other objects of the build."""
    safe = {name for symbols in objects.values() for kind, name in symbols if kind not in "Uwv"}
    safe |= {name for kind, name in others if kind in DATA_TYPES}
    for source, symbols in sorted(objects.items()):
        for kind, name in symbols:
            if kind in "Uwv" and name not in safe | allowed and not CPYTHON_DATA.match(name):
                yield f"{source} uses {name}"


def test_signal_safe_files_call_only_what_is_allowed():
    built = {str(source): output for source, (_, output, _) in tree.compile_commands().items() if output.exists()}
    # A file for another version of Python may be built here for a test alone, which brings what the file uses.
    for_tests = tree.BUILD / "tests"
    built = {source: output for source, output in built.items()
             if not source.startswith(("tests/", "bench/")) and not output.is_relative_to(for_tests)}
    symbols = tree.nm(built.values())
    safe = {source: symbols[str(output)] for source, output in built.items() if source.endswith("_sigsafe.c")}
    others = [symbol for source, output in built.items() if source not in safe for symbol in symbols[str(output)]]
    assert safe, f"nothing signal-safe is built in {tree.BUILD}"
    breaches = list(unsafe_symbols(safe, others, allowed_names()))
    assert not breaches, "\n".join(breaches)


def test_each_signal_safe_file_is_built():
    """At least in some configuration: another version of Python has its own files."""
    sources = [path for path in tree.sources(".c") if path.stem.endswith("_sigsafe")]
    builds = {path.parent: tree.text(path) for path in tree.listed() if path.name == "meson.build"}
    missing = [str(path) for path in sources if f"'{path.name}'" not in builds[path.parent]]
    assert sources and not missing, "no meson.build names " + " ".join(missing)


def called_in_handlers():
    """The functions that collectors have called on a sample, in its handler: pointers, which no symbol of the caller
    shows."""
    for path in tree.sources(".c"):
        for name in re.findall(r"\.(?:sampled|after_sample) = (\w+)", tree.text(path)):
            yield path, name


def test_functions_of_collectors_that_handlers_call_are_signal_safe():
    safe = "\n".join(tree.text(path) for path in tree.sources(".c") if path.stem.endswith("_sigsafe"))
    named = list(called_in_handlers())
    assert len(named) >= 3, "time, copy loops and watching use samples at once"
    unsafe = [f"{path}: {name}" for path, name in named if not re.search(rf"^\w[^;=]*\b{name}\([^;]*\{{$", safe, re.M)]
    assert not unsafe, "defined in no *_sigsafe.c: " + ", ".join(unsafe)


def compiled(source, folder):
    path = folder / "probe.o"
    command = ["gcc", "-x", "c", "-O1", "-c", "-", "-o", path]
    subprocess.run(command, input=source.encode(), check=True)
    return tree.nm([path])[str(path)]


def test_an_unsafe_call_is_found(tmp_path):
    bad = compiled("#include <stdlib.h>\nvoid *pie_bad(void) { return malloc(8); }\n", tmp_path)
    good = compiled("int pie_other(void); int pie_good(void) { return pie_other(); }\n", tmp_path)
    other = compiled("int pie_other(void) { return 1; } int pie_word = 2;\n", tmp_path)
    data = compiled("extern int pie_word; int pie_read(void) { return pie_word; }\n", tmp_path)
    allowed = allowed_names()
    assert "malloc" not in allowed
    assert list(unsafe_symbols({"bad": bad}, [], allowed)) == ["bad uses malloc"]
    assert list(unsafe_symbols({"good": good}, other, allowed)) == ["good uses pie_other"]
    assert not list(unsafe_symbols({"good": good, "other": other}, [], allowed))
    assert not list(unsafe_symbols({"data": data}, other, allowed))
