# SPDX-License-Identifier: Apache-2.0
"""Names of code objects in all the shapes that Python's strings have, and ids of equal contents."""
import types

import _walk
import tap

CODE = (lambda: None).__code__


class Text(str):
    """Instances keep their characters outside of the object."""


def described(**changes):
    return _walk.describe(CODE.replace(**changes))


def test_ascii():
    assert described(co_filename="/a/b.py", co_qualname="f.<locals>.g", co_firstlineno=7) == (
        "/a/b.py", "f.<locals>.g", 7)


def test_every_width():
    for name in ("caf\xe9", "\u03b1\u03b2\u20ac", "\U0001f600x", "\xff" * 63 + "\u0100" * 66):
        assert described(co_qualname=name, co_filename=name + ".py")[:2] == (name + ".py", name), name


def test_every_length_up_to_a_few_words():
    for length in range(1, 40):
        name = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"[:length]
        assert described(co_qualname=name)[1] == name


def test_subclass_of_str():
    assert described(co_qualname=Text("text\u20ac"), co_filename=Text("plain"))[:2] == ("plain", "text\u20ac")


def test_the_line_that_starts_a_process_is_no_users():
    import multiprocessing.spawn
    started = multiprocessing.spawn.get_command_line(pipe_handle=7, tracker_fd=5)
    for text in (started[started.index("-c") + 1],
                 "from multiprocessing.forkserver import main; main(3, 4, ['__main__'], **{'main_path': 'a.py'})",
                 "from multiprocessing.resource_tracker import main;main(6)"):
        code = compile(text, "<string>", "exec")
        assert _walk.describe(code) == ("<multiprocessing>", "<module>", 1), text
        assert _walk.intern(code) == _walk.intern_by_content(code)
    for text in ("from multiprocessing.spawn import spawn_main; print(spawn_main)", "from a.spawn import spawn_main",
                 "from multiprocessing import Process; Process().start()", "main()", "1"):
        assert _walk.describe(compile(text, "<string>", "exec"))[0] == "<string>", text
    assert _walk.describe(compile(started[started.index("-c") + 1], "a.py", "exec"))[0] == "a.py"


def describe_sent(names, code=None):
    """As cloudpickle makes a function that was sent: its code has no file, and its globals are some of its module's."""
    def run(code):
        return _walk.describe(code), _walk.intern(code), _walk.intern_by_content(code)

    code = (code or run.__code__).replace(co_filename="<dynamic-code>")
    described, number, same = types.FunctionType(code, {**names, "_walk": _walk})(code)
    assert number == same
    return described[0]


def test_code_that_was_sent_has_the_file_of_its_module():
    assert describe_sent({"__name__": "__main__", "__file__": "/home/me/jobs.py"}) == "/home/me/jobs.py"
    assert describe_sent({"__file__": "/home/me/j\xf6bs.py"}) == "/home/me/j\xf6bs.py"
    assert describe_sent({**{f"name{i}": i for i in range(30)}, "__file__": "/home/me/late.py"}) == "/home/me/late.py"
    assert describe_sent({1: "a key that is no str", "__file__": "/home/me/odd.py"}) == "/home/me/odd.py"


def test_code_that_is_sent_and_not_yet_called_is_looked_at_again():
    def run(code):
        return _walk.describe(code)[0]

    code = run.__code__.replace(co_filename="<dynamic-code>")
    assert _walk.describe(code)[0] == "<dynamic-code>"
    assert types.FunctionType(code, {"_walk": _walk, "__file__": "/home/me/jobs.py"})(code) == "/home/me/jobs.py"


def test_code_that_was_sent_without_a_file_stays_as_it_is():
    for names in ({}, {"__name__": "__main__"}, {"__file__": None}, {"__file__": 7}, {"__file": "a.py"}):
        assert describe_sent(names) == "<dynamic-code>", names


def deeper(code, left):
    return deeper(code, left - 1) if left else (_walk.describe(code), _walk.intern(code), _walk.intern_by_content(code))


def test_the_file_of_sent_code_is_found_below_other_frames():
    def run(code):
        return deeper(code, 300)

    assert describe_sent({"__file__": "/home/me/deep.py", "deeper": deeper}, run.__code__) == "/home/me/deep.py"


def test_characters_that_c_strings_cannot_hold():
    assert described(co_qualname="a\0b", co_filename="x\udc80y")[:2] == ("x\ufffdy", "a\ufffdb")


def test_long_names_are_cut_and_say_so():
    assert described(co_qualname="q" * 4096)[1] == "q" * 4096
    assert described(co_qualname="q" * 4097)[1] == "q" * 4096 + "\u2026"
    assert described(co_qualname="\U0001f600" * 9000)[1] == "\U0001f600" * 4096 + "\u2026"


def test_equal_contents_have_one_id():
    first, second = CODE.replace(co_qualname="twin"), CODE.replace(co_qualname="twin")
    assert first is not second
    assert _walk.intern(first) == _walk.intern(second) == _walk.intern_by_content(first)


def test_other_contents_have_other_ids():
    ids = {_walk.intern(CODE.replace(co_qualname="n", co_firstlineno=line)) for line in range(1, 500)}
    ids |= {_walk.intern(CODE.replace(co_qualname="n%d" % i)) for i in range(500)}
    ids |= {_walk.intern(CODE.replace(co_filename="n%d" % i)) for i in range(500)}
    assert len(ids) == 1499


def test_an_address_used_again_has_a_new_name():
    reused = 0
    addresses = {}
    for i in range(2000):
        name = "life_%04d" % i
        code = CODE.replace(co_qualname=name)
        reused += id(code) in addresses
        addresses[id(code)] = name
        assert _walk.describe(code)[1] == name
        del code
    assert reused > 100, "the case is not covered"


def test_what_is_no_code_object_has_no_id():
    for thing in (None, 7, "text", [], CODE.co_consts, type(CODE)):
        assert _walk.intern_by_content(thing) == 0
        assert _walk.intern(thing) == 0


tap.run_module(globals())
