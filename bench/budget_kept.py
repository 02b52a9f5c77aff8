#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Is --overhead kept?

Each program runs for the given CPU seconds under each budget. It is asked for, so it is kept from the start; with
--unasked, it is the default's. "without" is the printed overhead without start and end, in percent of the program's CPU
time, short threads too: the median of the rounds, and the worst. "with" is all of it. "kept": of how many rounds
"without" is at most a point above the budget. Is the printed overhead the true one? See overhead_truth.py.

--real runs programs with large libraries instead, which --python has (as `scripts/bench --install` puts them beside
the system's): what meets many contexts, functions and libraries in a second. Of those that are not there, the reason is
printed. --before runs another build in turns with this one.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import commands

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = {
    "loop": "def work():\n  s = 0\n  for i in range(20_000): s += i * i % 7",
    "floats": "def work():\n  x = 0.5\n  for _ in range(20_000): x = 3.7 * x * (1 - x)",
    "blocks": "def work(): return [{'a': [i], 'b': str(i)} for i in range(3_000)]",
    "numpy": "import numpy\na = numpy.arange(250_000.0)\ndef work(): return float((a * 2 + 1).sum())",
    "elements": "import numpy\na = numpy.zeros(3000)\ndef work():\n  for i in range(2999): a[i + 1] = a[i] * 0.5 + 1",
    "asyncio": "import asyncio\nasync def step(n): await asyncio.sleep(0)\n"
               "async def steps(): await asyncio.gather(*(step(i) for i in range(200)))\n"
               "loop = asyncio.new_event_loop()\ndef work(): loop.run_until_complete(steps())",
    "exec": "n = 0\ndef work():\n  global n\n  for _ in range(50):\n    n += 1\n"
            "    exec(f'def f{n}(x):\\n  for i in range(100): x += i\\n  return x\\nf{n}({n})', {})",
    "threads": "import threading\ndef one(): sum(range(20_000))\n"
               "def work():\n  t = threading.Thread(target=one)\n  t.start()\n  t.join()",
}
# With large libraries; the module that says whether they are there.
REAL = {
    "black": ("black", "import argparse, inspect, black\nTEXT = inspect.getsource(argparse.HelpFormatter)\n"
              "def work(): black.format_str(TEXT, mode=black.Mode())"),
    "sqlalchemy": ("sqlalchemy", "from sqlalchemy import create_engine, ForeignKey, select\n"
                   "from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, Session\n"
                   "class Base(DeclarativeBase): pass\n"
                   "class User(Base):\n  __tablename__ = 'u'\n  id: Mapped[int] = mapped_column(primary_key=True)\n"
                   "  orders: Mapped[list['Order']] = relationship(back_populates='user')\n"
                   "class Order(Base):\n  __tablename__ = 'o'\n  id: Mapped[int] = mapped_column(primary_key=True)\n"
                   "  uid: Mapped[int] = mapped_column(ForeignKey('u.id'))\n  amount: Mapped[float]\n"
                   "  user: Mapped[User] = relationship(back_populates='orders')\n"
                   "engine = create_engine('sqlite://')\nBase.metadata.create_all(engine)\n"
                   "with Session(engine) as s:\n"
                   "  for i in range(100): s.add(User(orders=[Order(amount=j * 1.5) for j in range(5)]))\n  s.commit()\n"
                   "def work():\n  with Session(engine) as s: return sum(o.amount for u in s.scalars(select(User)) for o in u.orders)"),
    "duckdb": ("duckdb", "import duckdb\nc = duckdb.connect()\n"
               "c.execute('create table t as select i as id, i % 100 as g, random() as v from range(300000) t(i)')\n"
               "def work():\n  for i in range(50): c.execute('select v from t where id = ?', [i * 7]).fetchone()\n"
               "  return c.execute('select g, avg(v) from t group by g order by g').fetchall()"),
    "polars": ("polars", "import polars as pl\ndf = pl.DataFrame({'k': [i % 500 for i in range(200_000)], "
               "'v': [i * 0.5 for i in range(200_000)]})\n"
               "def work():\n  for k in range(0, 500, 20): df.filter(pl.col('k') == k)['v'].mean()\n"
               "  return sum(row['v'] for row in df.head(20_000).iter_rows(named=True))"),
    "pydantic": ("pydantic", "import json, pydantic\nclass Item(pydantic.BaseModel):\n  name: str\n  price: float\n  tags: list[str]\n"
                 "TEXT = json.dumps([{'name': f'n{i}', 'price': i * 1.1, 'tags': ['a', 'b']} for i in range(500)])\n"
                 "def work(): return sum(item.price for item in [Item(**d) for d in json.loads(TEXT)])"),
    # The budget's rules were made with those above. These are looked at last.
    "docutils": ("docutils", "import docutils.core\nTEXT = '\\n'.join(f'Title {i}\\n========\\n\\n* one *two*\\n* ``three``\\n\\n"
                 ".. note:: four `five <http://six>`_\\n' for i in range(20))\n"
                 "def work(): docutils.core.publish_string(TEXT, writer_name='html')"),
    "sympy": ("sympy", "import sympy\nx, y = sympy.symbols('x y')\n"
              "def work(): return sympy.expand((x + y + 1) ** 8), sympy.diff(sympy.sin(x) ** 5 * y, x, 3)"),
    "pandas": ("pandas", "import numpy, pandas\nN = 20_000\nsales = pandas.DataFrame({'shop': numpy.arange(N) % 200, "
               "'item': numpy.arange(N) % 999, 'price': numpy.arange(N) * 0.5})\n"
               "shops = pandas.DataFrame({'shop': range(200), 'size': range(200)})\n"
               "def work(): return sales.merge(shops, on='shop').groupby(['shop', 'item'])['price'].sum().sum()"),
}
CLOCK = "\nimport sys, time\nwhile time.process_time() < float(sys.argv[1]): work()\n"
ENDS = ("start", "end")


def shares(options, file, budget, seconds, folder, build=None):
    """(without, with) in percent: by the file and what the summary knows besides. build: another pieprof."""
    database = folder / "x.db"
    asked = [] if options.unasked else ["--overhead", f"{budget}%"]
    python = ["--python", options.python] if options.python else []
    command = [build or options.pieprof, *python, "-o", database, *asked, file, seconds]
    subprocess.run([str(word) for word in command], check=True, env=commands.environment(), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)

    def rows(question):
        done = subprocess.run([options.pieprof, "query", database, question, "--json"], check=True, text=True,
                              stdout=subprocess.PIPE)
        return json.loads(done.stdout)["rows"]

    parts = {row["collector"]: row["cpu_s"] for row in rows("overhead")}
    (run,) = rows("runs")
    cpu_s, all_s = run["overhead_s"] / run["overhead_share"], sum(parts.values())
    database.unlink()
    return 100 * (all_s - sum(parts.get(name, 0) for name in ENDS)) / cpu_s, 100 * all_s / cpu_s, parts, cpu_s


def costliest(parts, cpu_s):
    most = sorted(((cost, name) for name, cost in parts.items() if name not in ENDS), reverse=True)[:3]
    return ", ".join(f"{name} {100 * cost / cpu_s:.1f}" for cost, name in most)


def lacks(options, module):
    """Why a program cannot run; None if it can."""
    done = subprocess.run([str(options.python or "/usr/bin/python3"), "-c", f"import {module}"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, env=commands.environment(), check=False)  # fmt: skip
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


def chosen(options):
    """{name: text} of the programs that can run here."""
    if not options.real:
        return {name: PROGRAMS[name] for name in options.only or PROGRAMS if name in PROGRAMS}
    found = {}
    for name in options.only or REAL:
        module, text = REAL[name]
        reason = lacks(options, module)
        if reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)
        else:
            found[name] = text
    return found


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--before", metavar="PIEPROF", help="another build, in turns")
    parser.add_argument("--python", help="an interpreter that has the libraries; else pieprof's own")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budgets", type=float, nargs="+", default=[1, 2, 5, 10], metavar="PERCENT")
    parser.add_argument("--unasked", action="store_true", help="name no budget: the default of 5 %%, two seconds of which are free")
    parser.add_argument("--seconds", type=float, nargs="+", default=[1, 3, 10])
    parser.add_argument("--real", action="store_true", help="programs with large libraries")
    parser.add_argument("--only", action="append", choices=(*PROGRAMS, *REAL), help="this program (may be repeated)")
    return parser.parse_args(words)


def line(program, seconds, budget, rounds):
    without, whole = [one[0] for one in rounds], [one[1] for one in rounds]
    kept = sum(one <= budget + 1 for one in without)
    return (f"| {program} | {seconds:g} | {budget:g} % | {statistics.median(without):.1f} % | {max(without):.1f} % "
            f"| {statistics.median(whole):.1f} % | {kept} of {len(rounds)} | {costliest(*rounds[-1][2:])} |")  # fmt: skip


def main():
    options = arguments()
    if options.unasked:
        options.budgets = [5]
    builds = {"before": options.before, "": None} if options.before else {"": None}
    print("| program | CPU s | budget | without | worst | with | kept | what cost most, in the last round |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name, "program.py")
        for program, text in chosen(options).items():
            file.write_text(text + CLOCK, encoding="utf-8")
            for seconds in options.seconds:
                for budget in options.budgets:
                    rounds = {name: [] for name in builds}
                    for _ in range(options.rounds):
                        for which, build in builds.items():
                            rounds[which].append(shares(options, file, budget, seconds, file.parent, build))
                    for which, found in rounds.items():
                        print(line(f"{program} {which}".strip(), seconds, budget, found), flush=True)


if __name__ == "__main__":
    main()
