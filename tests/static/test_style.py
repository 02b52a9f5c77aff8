# SPDX-License-Identifier: Apache-2.0
"""Rules for sources that a program can check: sizes, licences, what library code must not call, units in names."""
import collections
import pathlib
import re

import pytest
import tree

FILE_LINES, FUNCTION_LINES, FOLDER_FILES = 700, 80, 40
LIBRARY_FOLDERS = ("profiler", "runtime", "storage")
SPDX = "SPDX-License-Identifier: Apache-2.0"
# A call, and not a declaration, which has a type before the name.
CALL = r"(?<![\w.>])(?<!void )(?<!int )(?<!noreturn )(?:{})\s*\("
KILLS = re.compile(CALL.format("exit|_Exit|quick_exit|abort|assert|err|errx|__builtin_trap|__builtin_unreachable"))
# To standard output or error; what is written to a stream that the caller gives is not printing.
PRINTS = re.compile(
    CALL.format(r"v?printf|v?dprintf|wprintf|puts|putchar|perror|psignal|v?warnx?|error|write\s*\(\s*(?:1|2|STD\w+)")
    + r"|\b(?:stdout|stderr)\b"
)
DECLARED = re.compile(r"\b(?:u?int(?:8|16|32|64)_t|size_t|double|float|unsigned|int|long)\s+\*?(\w+)\s*[;,)\[]")
SQL_COLUMN = re.compile(r"^\s*(\w+)\s+(?:INTEGER|REAL)\b", re.M | re.I)
BARE_QUANTITY = re.compile(r"(^|_)(time|duration|period|interval|delay|timeout|elapsed|deadline|frequency|latency)$")


def long_functions(source, limit=FUNCTION_LINES):
    """Functions whose definition, signature to closing brace, is longer than the limit."""
    plain = tree.without_directives(tree.code(source))
    depth, start = 0, 0
    for match in re.finditer(r"[{};]", plain):
        if match[0] == "{":
            depth += 1
            if depth == 1:
                head = plain[start : match.start()]
                is_function = head.rstrip().endswith(")")
        elif match[0] == "}":
            depth -= 1
        if depth == 0:
            first = tree.line_of(plain, start + len(plain[start:]) - len(plain[start:].lstrip()))
            length = tree.line_of(plain, match.start()) - first + 1
            if match[0] == "}" and is_function and length > limit:
                name = re.search(r"(\w+)\s*\(", head)
                yield f"{first}: {name[1] if name else '?'}() has {length} lines"
            start = match.end()


def matches(pattern, source):
    plain = tree.without_directives(tree.code(source))
    for match in pattern.finditer(plain):
        yield f"{tree.line_of(plain, match.start())}: {match[0]}…"


def names_without_unit(source, pattern=DECLARED):
    for match in pattern.finditer(tree.without_directives(tree.code(source))):
        if BARE_QUANTITY.search(match[1]):
            yield f"{match[1]} does not say its unit"


def breaches(paths, check):
    return [f"{path}:{breach}" for path in paths for breach in check(tree.text(path))]


def test_no_file_is_too_long():
    paths = tree.sources(".c", ".h", ".py", ".sql") + tree.sources(".py", folders=("scripts", "examples"))
    long = [f"{path} has {n} lines" for path in paths if (n := tree.text(path).count("\n")) > FILE_LINES]
    assert paths and not long, "\n".join(long)


def full_folders(paths, limit=FOLDER_FILES):
    counts = collections.Counter(path.parent for path in paths)
    return [f"{folder} has {n} files" for folder, n in sorted(counts.items()) if n > limit]


def test_no_folder_has_too_many_files():
    found = full_folders(tree.sources(".c", ".h", ".S", ".sql"))
    assert not found, "\n".join(found)


def test_a_full_folder_is_found():
    paths = [pathlib.Path(f"some/file{i}.c") for i in range(FOLDER_FILES + 1)]
    assert full_folders(paths) == ["some has 41 files"] and not full_folders(paths[1:] + [pathlib.Path("other/a.c")])


def test_no_function_is_too_long():
    found = breaches(tree.sources(".c", ".h"), long_functions)
    assert not found, "\n".join(found)


def has_licence_line(source):
    return any(SPDX in line for line in source.splitlines()[:3])


def test_each_source_names_its_licence():
    named = (".c", ".h", ".S", ".py", ".sql", ".sh", ".build", ".wrap")
    paths = [p for p in tree.listed() if p.suffix in named or p.name in ("meson.build", "packages.txt")]
    paths += [p for p in tree.listed() if not p.suffix and tree.text(p).startswith("#!")]
    without = [str(path) for path in paths if not has_licence_line(tree.text(path))]
    assert paths and not without, "\n".join(without)


def test_headers_are_included_once():
    without = [str(path) for path in tree.sources(".h") if "#pragma once" not in tree.text(path)]
    assert not without, "\n".join(without)


def test_library_code_never_ends_the_program():
    found = breaches(tree.sources(".c", ".h", folders=LIBRARY_FOLDERS), lambda source: matches(KILLS, source))
    assert not found, "\n".join(found)


def test_library_code_never_prints():
    found = breaches(tree.sources(".c", ".h", folders=LIBRARY_FOLDERS), lambda source: matches(PRINTS, source))
    assert not found, "\n".join(found)


def test_only_tracing_of_loops_sets_an_audit_hook():
    """With one each event of the process builds its arguments, id() too: 4.5 % of a run of pprint."""
    users = [str(path) for path in tree.sources(".c", folders=LIBRARY_FOLDERS) if "PySys_AddAuditHook" in tree.text(path)]
    assert users == ["runtime/trace/places.c"]


def test_names_in_headers_say_their_unit():
    found = breaches(tree.sources(".h", folders=LIBRARY_FOLDERS + ("launcher",)), names_without_unit)
    found += breaches(tree.sources(".sql"), lambda source: names_without_unit(source, SQL_COLUMN))
    assert not found, "\n".join(found)


BODY = "static int\nlong_one(int a)\n{\n%s}\n"


def test_a_long_function_is_found():
    assert list(long_functions("int x;\n" + BODY % ("    a();\n" * FUNCTION_LINES)))
    assert list(long_functions(BODY % ("    if (a) { b(); }\n" * FUNCTION_LINES)))
    assert not list(long_functions(BODY % ("    a();\n" * (FUNCTION_LINES - 4))))
    assert not list(long_functions("static int table[] = {\n" + "    1,\n" * 200 + "};\n"))
    assert not list(long_functions("/* { */\n" + (BODY % "    a();\n") * 50))


def test_a_missing_licence_is_found():
    assert not has_licence_line("#pragma once\nint x;\n\n/* " + SPDX + " */\n")


@pytest.mark.parametrize("line", ["exit(1);", "abort ();", "assert(x > 0);", "__builtin_unreachable();", "_Exit(2);"])
def test_an_end_of_the_program_is_found(line):
    assert list(matches(KILLS, f"int f(void)\n{{\n    {line}\n}}\n"))


@pytest.mark.parametrize("line", ["/* exit(1) */", 'f("abort()");', "static_assert(1);", "thread_exit(1);", "ops->exit(1);",
             "void quick_exit(int status);"])
def test_what_only_looks_like_an_end_is_not_found(line):
    assert not list(matches(KILLS, f"int f(void)\n{{\n    {line}\n}}\n"))


@pytest.mark.parametrize(
    "line", ["printf(x);", "fprintf(stderr, x);", "puts(x);", "perror(x);", "dprintf(2, x);", "vfprintf(stderr, x, l);"]
)
def test_printing_is_found(line):
    assert list(matches(PRINTS, line))


@pytest.mark.parametrize("line", ["fprintf(file, x);", "snprintf(b, n, x);", "vsnprintf(b, n, x, l);", "sink_error(x);"])
def test_formatting_is_not_printing(line):
    assert not list(matches(PRINTS, line))


def test_a_quantity_without_unit_is_found():
    assert list(names_without_unit("struct x { uint64_t start_time; };"))
    assert list(names_without_unit("void f(double timeout);"))
    assert list(names_without_unit("CREATE TABLE t (\n  period INTEGER NOT NULL\n);", SQL_COLUMN))
    assert not list(names_without_unit("struct x { uint64_t period_ns; bool time; };"))


CONTEXTS = ("signal", "hook", "gil", "drain", "cli", "launcher", "engine start", "fork", "fork child", "vfork child", "any")
CONTEXT = re.compile(r"Context:((?:[^.*]|\*(?!/))*)")
ONE_CONTEXT = rf"(?:{'|'.join(sorted(CONTEXTS, key=len, reverse=True))})(?: \([^()]*(?:\(\)[^()]*)*\))?"


def odd_contexts(source):
    """Who may call, in other words than those of CONTRIBUTING.md: "signal, drain (one thread)"."""
    for match in CONTEXT.finditer(re.sub(r"\n\s*\* ?", " ", source)):
        told = match[1].split(" --- ")[0].removesuffix(" ---").strip()
        if not re.fullmatch(rf"{ONE_CONTEXT}(?:, {ONE_CONTEXT})*", told):
            yield f"Context: {told}"


def test_contexts_are_of_a_closed_vocabulary():
    found = breaches(tree.sources(".h", folders=LIBRARY_FOLDERS + ("launcher",)), odd_contexts)
    assert not found, "\n".join(found)


def test_an_odd_context_is_found():
    assert not list(odd_contexts("/* Asks. Context: signal, drain (one thread). */\n/* Context: fork\n * child */"))
    assert list(odd_contexts("/* Context: the GIL is held. */")) == ["Context: the GIL is held"]
    assert list(odd_contexts("/* Context: signal; drain */"))
