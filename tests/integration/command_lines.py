# SPDX-License-Identifier: Apache-2.0
"""The command lines on which the program is held against python3, and the files that they use.

A case is (name, arguments, standard input or None, additions to the environment).
"""

import textwrap
import zipfile

FILES = {
    "s.py": """
        import sys
        print(sys.argv, __name__, __file__)
        sys.exit(3)
        """,
    "pkg/__init__.py": "",
    "pkg/__main__.py": "import sys; print('pkgmain', sys.argv[1:], sys.path[0])\n",
    "bad.py": "def f(:\n",
    "exc.py": """
        def f():
            1 / 0
        f()
        """,
    "kill.py": """
        import os, signal, time
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
        """,
    "term.py": """
        import os, signal
        os.kill(os.getpid(), signal.SIGTERM)
        """,
    "first.py": """
        #!not python
        print("second line")
        """,
    "threads.py": """
        import sys, threading, time
        def late():
            time.sleep(0.2)
            print("late", file=sys.stderr)
        threading.Thread(target=late).start()
        sys.exit(5)
        """,
    "mp/m.py": """
        import multiprocessing as mp, os, subprocess, sys
        def f(x):
            return x * x, sys.executable, sys.flags.optimize, sys._xoptions.get("zz"), sys.orig_argv[0]
        if __name__ == "__main__":
            for method in "fork", "spawn", "forkserver":
                with mp.get_context(method).Pool(2) as pool:
                    print(method, pool.map(f, range(4)))
            code = "import os, sys; print(sys.executable, sys.prefix, sys.flags, sys.orig_argv, sorted(os.environ))"
            for argv in [sys.executable, "-c", code], ["zzz", "-c", code]:
                for env in None, {}:
                    print(subprocess.run(argv, executable=sys.executable, capture_output=True, env=env))
            print(os.posix_spawn(sys.executable, [sys.executable, "-c", "pass"], {}) > 0, os.wait()[1])
        """,
    "run.sh": """
        #!/usr/bin/python3 -u
        import sys
        print(sys.argv, sys.orig_argv, sys.flags, sys.executable)
        """,
    "env.sh": """
        #!/usr/bin/env python3
        import sys
        print(sys.argv, sys.orig_argv, sys.executable)
        """,
}


def write_files(folder):
    """Writes the files afresh."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        path.chmod(0o755)
    with zipfile.ZipFile(folder / "app.zip", "w") as app:
        app.writestr("__main__.py", 'import sys; print("zip", sys.argv[0], sys.path[0])')


SHOW = "import sys; print(sys.argv, sys.orig_argv, sys.flags, sys.path, sys.prefix)"
WHO = ("import os, sys; print(sys.executable, sys._base_executable, sys.prefix, sys.base_prefix, sys.exec_prefix, "
       "sys.path, sys.orig_argv, sorted(k for k in os.environ if not k.startswith('PIEPROF')))")
CODING = "import sys; print(sys.flags, sys.path, sys.stdout.encoding, sys.getfilesystemencoding())"
EXEC = "import os, sys; os.execv(sys.executable, [%s, '-c', 'import sys; print(sys.argv, sys.executable, sys.prefix)'])"

CASES = [
    # What Python prints and ends.
    ("version", ["-V"], None, {}),
    ("version-long", ["-VV"], None, {}),
    ("version-word", ["--version"], None, {}),
    ("help-letter", ["-h"], None, {}),
    ("help", ["--help"], None, {}),
    ("help-env", ["--help-env"], None, {}),
    ("help-xoptions", ["--help-xoptions"], None, {}),
    ("help-all", ["--help-all"], None, {}),
    ("help-question", ["-?"], None, {}),
    # Options.
    ("flags", ["-c", SHOW, "x", "-y"], None, {}),
    ("who", ["-c", WHO], None, {}),
    ("isolated", ["-I", "-c", SHOW], None, {}),
    ("no-env-no-site", ["-E", "-s", "-S", "-c", SHOW], None, {}),
    ("safe-path", ["-P", "-c", SHOW], None, {}),
    ("many-flags", ["-bb", "-OO", "-B", "-q", "-R", "-u", "-c", SHOW], None, {}),
    ("joined", ["-IBqc", SHOW], None, {}),
    ("warnings-dev-utf8-importtime", ["-W", "error", "-X", "dev", "-X", "utf8", "-X", "importtime", "-c",
                                      "import sys; print(sys.warnoptions, sys._xoptions, sys.flags)"], None, {}),
    ("faulthandler", ["-X", "faulthandler", "-c", "import faulthandler; print(faulthandler.is_enabled())"], None, {}),
    ("tracemalloc", ["-X", "tracemalloc=5", "-c", "import tracemalloc; print(tracemalloc.get_traceback_limit())"],
     None, {}),
    ("x-unknown", ["-X", "nosuch", "-c", "import sys; print(sys._xoptions)"], None, {}),
    ("x-frozen-modules", ["-X", "frozen_modules=off", "-c", "import os; print(os.__spec__.origin)"], None, {}),
    ("x-int-digits", ["-X", "int_max_str_digits=700", "-c", "import sys; print(sys.get_int_max_str_digits())"],
     None, {}),
    ("x-warn-default-encoding", ["-X", "warn_default_encoding", "-c", "open('/dev/null')"], None, {}),
    ("hash-based-pycs", ["--check-hash-based-pycs", "always", "-c",
                         "import _imp; print(_imp.check_hash_based_pycs)"], None, {}),
    ("hash-based-pycs-bad", ["--check-hash-based-pycs", "often", "-c", "pass"], None, {}),
    ("verbose", ["-v", "-S", "-c", "pass"], None, {}),
    # Mistakes.
    ("unknown-letter", ["-z"], None, {}),
    ("c-without-code", ["-c"], None, {}),
    ("m-without-module", ["-m"], None, {}),
    ("unknown-word", ["--nope"], None, {}),
    ("x-without-value", ["-X"], None, {}),
    ("no-such-file", ["nosuch.py"], None, {}),
    ("no-such-module", ["-m", "nosuch"], None, {}),
    ("bad-syntax", ["bad.py"], None, {}),
    ("bad-x-value", ["-X", "tracemalloc=x", "-c", "pass"], None, {}),
    # Programs.
    ("script", ["s.py", "a", "-b"], None, {}),
    ("script-dot", ["./s.py"], None, {}),
    ("script-dashes", ["s.py", "--", "-c", "--quiet"], None, {}),
    ("dashes-script", ["--", "s.py", "-q"], None, {}),
    ("exception", ["exc.py"], None, {}),
    ("sigint", ["kill.py"], None, {}),
    ("sigterm", ["term.py"], None, {}),
    ("threads-at-exit", ["threads.py"], None, {}),
    ("skip-first-line", ["-x", "first.py"], None, {}),
    ("folder", ["pkg", "q"], None, {}),
    ("module-package", ["-m", "pkg", "q"], None, {}),
    ("zip", ["app.zip", "q"], None, {}),
    ("module-json", ["-m", "json.tool"], b'{"a":1}', {}),
    ("module-site", ["-m", "site"], None, {}),
    ("module-sysconfig", ["-m", "sysconfig"], None, {}),
    ("module-platform", ["-m", "platform"], None, {}),
    ("stdin", [], b"import sys\nprint(sys.argv, __name__)\n", {}),
    ("stdin-empty", [], b"", {}),
    ("stdin-dash", ["-", "x"], b"import sys\nprint(sys.argv)\n", {}),
    ("interactive-stdin", ["-i", "-q"], b"1+1\nexit(4)\n", {}),
    ("interactive-after-code", ["-i", "-c", "x=5"], b"x\n", {}),
    # Environment.
    ("env-c-locale", ["-c", CODING], None, {"LC_ALL": "C"}),
    ("env-posix-locale-no-coercion", ["-c", CODING], None, {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}),
    ("env-utf8-ioencoding-path", ["-c", CODING], None,
     {"PYTHONUTF8": "1", "PYTHONIOENCODING": "latin1", "PYTHONPATH": "/x:/y"}),
    ("env-ignored", ["-E", "-c", CODING], None,
     {"PYTHONUTF8": "1", "PYTHONIOENCODING": "latin1", "PYTHONPATH": "/x:/y"}),
    ("env-home", ["-c", SHOW], None, {"PYTHONHOME": "/usr"}),
    ("env-home-bad", ["-c", SHOW], None, {"PYTHONHOME": "/nonexist"}),
    ("env-platlibdir", ["-c", SHOW], None, {"PYTHONPLATLIBDIR": "lib64"}),
    ("env-executable", ["-c", WHO], None, {"PYTHONEXECUTABLE": "/x/python3"}),
    ("env-pyvenv-launcher", ["-c", WHO], None, {"__PYVENV_LAUNCHER__": "/x/bin/python3"}),
    ("env-malloc-debug", ["-c", SHOW], None, {"PYTHONMALLOC": "debug", "PYTHONHASHSEED": "0"}),
    ("env-malloc-malloc", ["-c", "import sys; print(sys.flags, hash('a'))"], None,
     {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}),
    ("env-malloc-bad", ["-c", "pass"], None, {"PYTHONMALLOC": "bogus"}),
    ("env-hashseed-bad", ["-c", "pass"], None, {"PYTHONHASHSEED": "bogus"}),
    ("env-inspect", [], b"print(1)\n", {"PYTHONINSPECT": "1"}),
    # Ways to end.
    ("exit-message", ["-c", "import sys; sys.exit('msg')"], None, {}),
    ("exit-large", ["-c", "import sys; sys.exit(1000)"], None, {}),
    ("fast-exit", ["-c", "import os; os._exit(7)"], None, {}),
    ("abort", ["-c", "import os; os.abort()"], None, {}),
    ("atexit", ["-c", "import atexit; atexit.register(print, 'bye'); 1/0"], None, {}),
    ("broken-stdout", ["-c", "import os; os.close(1); print('lost')"], None, {}),
    # Children.
    ("children", ["mp/m.py"], None, {}),
    ("children-options", ["-O", "-X", "zz=1", "mp/m.py"], None, {}),
    ("exec", ["-c", EXEC % "sys.executable"], None, {}),
    ("exec-other-name", ["-c", EXEC % "'zzz'"], None, {}),
    ("exec-shebang", ["-c", "import os; os.execl('./run.sh', 'zzz', 'a', 'b')"], None, {}),
    ("exec-shebang-env", ["-c", "import os; os.execl('./env.sh', 'zzz', 'a', 'b')"], None, {}),
    ("exec-search", ["-c", "import os; os.execlp('python3', 'py', '-c', 'import sys; print(sys.executable)')"],
     None, {}),
    ("exec-other-program", ["-c", "import os; os.execlp('echo', 'echo', 'x')"], None, {}),
    ("exec-fails", ["-c", "import os\ntry: os.execv('/nonexist', ['x'])\nexcept OSError as e: print(e)"], None, {}),
    ("forks", ["-c", "import os\nfor i in range(3):\n if os.fork() == 0: os._exit(i)\n print(os.wait()[1])"], None, {}),
    # Libraries.
    ("ctypes", ["-c", "import ctypes; print(ctypes.pythonapi.Py_GetVersion, ctypes.CDLL(None).Py_IsInitialized())"],
     None, {}),
    ("extensions", ["-c", "import ssl, sqlite3, readline, _ctypes, zlib, decimal; print(sqlite3.sqlite_version)"],
     None, {}),
    ("numpy", ["-c", "import numpy; print(numpy.__version__, numpy.arange(6).reshape(2, 3) @ numpy.ones((3, 2)))"],
     None, {}),
]
