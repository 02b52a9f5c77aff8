#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The true shares of the calls in a loop of programs/: every call of the body is timed, none is left out.

The loop's body is there three times. In one every call site that stands directly in it (not in a lambda, a
comprehension or a function of its own) is wrapped in readings of perf_counter_ns(): after its arguments are there and
when it has returned. In the second there is another reading between these two: by the difference it is known what a
reading costs there, and that is subtracted from every call. The third is left as it is. A hundred iterations after each
other take one of them, by lot, and each is timed as a whole, from the item's arrival to the request for the next. As
the input is seeded, the program does the same in every repetition, a new process; in three of them an iteration takes
each of the bodies once. A call's or an iteration's time is the mean over the repetitions, without those that were
disturbed.

The body's own code is what the calls leave of the body's time: of the same iteration, less the calibrated cost of the
wrappers, where these add less than a tenth; else of the iterations without them, unless the program has a body without
calls to measure it by. `check` is the body's time by the first way to that of iterations as they are; `calls_and_rest`
is what the calls, in parts of that time, and the own share come to: how far the shares are from adding up.

The time of a call is that of the call instruction: it includes pushing the frame, and not the evaluation of callee and
arguments (but the look-up of a method of a name).
"""

import argparse
import ast
import copy
import gc
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import statistics
import sys
import time
from array import array

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

FORK = multiprocessing.get_context("fork")
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ["html_list", "json_pipeline", "numpy_loop", "recursive", "mixed_phases"]
OWN_CODE = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
TRUSTED = 0.1  # so much of the body may the wrappers add, when their calibrated cost is believed
PLAIN, TIMED, TWICE = range(3)
BLOCK = 100  # iterations one after the other of the same kind: the processor learns each kind's code anew
SITE_BITS = 6
SHORT_NS = 2000
DISTURBED_NS = 500_000
MOST_KEPT = 12  # arguments of one call
now = time.perf_counter_ns


def name(text):
    return ast.Name(text, ast.Load())


def walrus(target, value):
    return ast.NamedExpr(ast.Name(target, ast.Store()), value)


def is_simple(node):
    """Can it be evaluated after the clock is read as well?"""
    return isinstance(node, (ast.Name, ast.Constant))


def is_direct(function):
    """Is the callee a name, or a method of one, whose look-up is left in the call's time? A few nanoseconds."""
    return is_simple(function) or isinstance(function, ast.Attribute) and is_simple(function.value)


def wrapper(site, call, is_twice):
    """pick(a0 := argument, ..., t := now(), None, f(a0, ...), add(now() - t << 6 | site), a0 := None, ...), which
    returns the call's result. In place of None stands a second reading in the copy that learns what a reading costs.
    Not a tuple: a container that the garbage collector counts may make it run here, out of the call."""
    kept = []

    def before(value):
        if is_simple(value):
            return value
        variable = f"_{site}_{len(kept)}"
        kept.append(walrus(variable, value))
        return name(variable)

    function = call.func if is_direct(call.func) else before(call.func)
    args = [ast.Starred(before(a.value), ast.Load()) if isinstance(a, ast.Starred) else before(a) for a in call.args]
    keywords = [ast.keyword(k.arg, before(k.value)) for k in call.keywords]
    begin = f"_{site}_t"
    reading = ast.Call(name("_now"), [], [])
    again = reading if is_twice else ast.Constant(None)
    steps = [*kept, walrus(begin, reading), again, ast.Call(function, args, keywords),
             ast.Call(name("_add"), [ast.BinOp(
                 ast.BinOp(ast.BinOp(reading, ast.Sub(), name(begin)), ast.LShift(), ast.Constant(SITE_BITS)), ast.BitOr(),
                 ast.Constant(site))], [])]
    # What a program frees at once must be freed at once here.
    steps += [walrus(f"_{site}_{i}", ast.Constant(None)) for i in range(len(kept))]
    return ast.Call(name(f"_pick_{len(kept)}"), steps, [])


def pick(kept):
    """A function that returns the result of a wrapped call with this number of kept arguments."""
    words = [f"a{i}" for i in range(2 * kept + 4)]
    return eval(f"lambda {', '.join(words)}: {words[kept + 2]}")


def shape(call):
    """What the cost of a wrapper depends on: arguments kept, arguments as they are, is the callee kept?"""
    arguments = [getattr(a, "value", a) if isinstance(a, ast.Starred) else a for a in call.args]
    arguments += [k.value for k in call.keywords]
    simple = sum(map(is_simple, arguments))
    return len(arguments) - simple, simple, not is_direct(call.func)


class Wrapping(ast.NodeTransformer):
    """Wraps the calls of a loop's body and notes them in .sites."""

    def __init__(self, is_twice):
        self.sites, self.is_twice = [], is_twice

    def visit(self, node):
        if isinstance(node, OWN_CODE):
            return node
        if isinstance(node, COMPREHENSIONS):
            if any(isinstance(inner, ast.Call) for inner in ast.walk(node.generators[0].iter)):
                raise SystemExit(f"line {node.lineno}: a call in the iterable of a comprehension cannot be wrapped")
            return node
        return super().visit(node)

    def visit_Call(self, call):
        number = len(self.sites)
        self.sites.append({"line": call.lineno, "callee": ast.unparse(call.func),
                           "shape": shape(call)})
        self.generic_visit(call)
        return ast.copy_location(wrapper(number, call, self.is_twice), call)


def is_learned(node):
    return (isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name)
            and node.iter.func.id == "loop")


def learned_loop(tree):
    """The one `for … in loop(…)`."""
    found = [node for node in ast.walk(tree) if is_learned(node)]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} loops over loop(), want one")
    return found[0]


class Program:
    """A program, loaded from its source, with three bodies of its loop. What was measured: .body, the nanoseconds of
    each iteration; .calls, nanoseconds and site of each call that was timed; .ends, how many there were after each
    iteration."""

    def __init__(self, text, path, kinds=None, repetition=0):
        tree = ast.parse(text, str(path))
        loop = learned_loop(tree)
        bodies = [loop.body]
        for kind in (TIMED, TWICE):
            wrapping = Wrapping(kind == TWICE)
            bodies.append([wrapping.visit(copy.deepcopy(statement)) for statement in loop.body])
        self.sites, self.loop_line, self.last_line = wrapping.sites, loop.lineno, loop.end_lineno
        is_timed = ast.Compare(name("_kind"), [ast.Eq()], [ast.Constant(TIMED)])
        loop.body = [ast.If(name("_kind"), [ast.If(is_timed, bodies[TIMED], bodies[TWICE])], bodies[PLAIN])]
        ast.fix_missing_locations(tree)
        self.calls, self.body, self.ends = array("q"), array("q"), array("q")
        self.kinds = kinds or drawn_kinds(repetition)
        self.names = {"__name__": "learned", "__file__": str(path), "_now": now, "_kind": PLAIN}
        exec(compile(tree, str(path), "exec"), self.names)
        self.names.update({"loop": self.loop, "_add": self.calls.append})
        self.names.update((f"_pick_{n}", pick(n)) for n in range(MOST_KEPT))

    def loop(self, items):
        """Keeps the time of each iteration's body."""
        add, end, calls, names = self.body.append, self.ends.append, self.calls, self.names
        for item, kind in zip(items, itertools.cycle(self.kinds)):
            names["_kind"] = kind
            begun = now()
            yield item
            add(now() - begun)
            end(len(calls))

    def run(self, scale):
        count = max(1, round(self.names["COUNT"] * scale))
        self.names["work"](self.names["items"](count))
        return {"body": self.body, "calls": self.calls, "ends": self.ends}


def drawn_kinds(repetition):
    """Of three repetitions that follow each other an iteration is of each kind in one."""
    choice = random.Random(29)
    return [kind for _ in range(997) for kind in [(choice.randrange(3) + repetition) % 3] * BLOCK]


def repeat(pipe, text, path, repetition, scale):
    """One repetition, and what the wrappers cost while the processor is as fast as it is now."""
    program = Program(text, path, None, repetition)
    shapes = {site["shape"]: shape_cost(site["shape"]) for site in program.sites}
    costs = {"costs": [shapes[site["shape"]] for site in program.sites], "empty": empty_cost()}
    gc.collect()  # so that it runs in the same calls in every repetition
    pipe.send({**costs, **program.run(scale)})


def measure(what, *arguments):
    """In a process of its own: the garbage collector starts in the same state."""
    pipe, end = multiprocessing.Pipe()
    process = FORK.Process(target=what, args=(end, *arguments), daemon=True)
    process.start()
    end.close()
    found = pipe.recv()
    process.join()
    return found


SHAPE = """
class Thing:
    def call(self{parameters}):
        pass
thing = Thing()
thing.inner = thing
COUNT = {count}
items = range
def work(items):
    target = thing
    for item in loop(items):
        {body}
"""


def shape_cost(shape, count=4000, trials=5):
    """Nanoseconds that a wrapper adds to the body's time."""
    kept, simple, is_callee_kept = shape
    arguments = ["+item"] * kept + ["item"] * simple
    body = f"target{'.inner' if is_callee_kept else ''}.call({', '.join(arguments)})"
    text = SHAPE.format(parameters="".join(f", a{i}" for i in range(kept + simple)), count=count, body=body)
    differences = []
    for _ in range(trials):
        timed, plain = (statistics.median(Program(text, "<shape>", [kind]).run(1)["body"]) for kind in (TIMED, PLAIN))
        differences.append(timed - plain)
    return statistics.median(differences)


def empty_cost(count=20_000):
    """Nanoseconds that an empty body seems to take."""
    text = SHAPE.format(parameters="", count=count, body="pass")
    return statistics.median(Program(text, "<empty>", [PLAIN]).run(1)["body"])


def quantile(ordered, part):
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def site_row(site, times, body):
    """What one site comes to."""
    row = {"line": site["line"], "callee": site["callee"], "calls": len(times), "seconds": sum(times) / 1e9,
           "share": sum(times) / body}
    if times:
        ordered = sorted(times)
        row["mean_s"] = row["seconds"] / len(times)
        row.update((f"p{p}_s", max(0, quantile(ordered, p / 100)) / 1e9) for p in (50, 95, 99))
    return row


def hollow_share(pipe, text, path, count=50_000, trials=9):
    """The body's own share by running it without its calls, which a program may have by hand: where a call takes no
    longer than a reading, what the readings hold up is as much as the own code."""
    program = Program(text, path)
    names = program.names
    names["loop"] = iter
    lines = list(names["items"](count))
    entered = names["entered"](lines)

    def took(work, items):
        begun = now()
        work(items)
        return now() - begun

    def nothing(items):
        for _ in items:
            pass

    shares = []
    for _ in range(trials):
        own, body = took(names["hollow"], entered), took(names["work"], lines)
        shares.append((own - took(nothing, entered)) / (body - took(nothing, lines)))
    pipe.send(statistics.median(shares))


def lower(values):
    return sorted(values)[len(values) // 4]


def undisturbed(values):
    """The mean over repetitions of the same work, without those in which another program ran meanwhile. A page fault,
    which the program has now here and now there, is its own."""
    most = 1.5 * min(values) + DISTURBED_NS
    return statistics.fmean(value for value in values if value <= most)


class Collected:
    """Means over the repetitions, of every iteration: .plain, the body's nanoseconds; .own, what the calls leave of
    the body where they are timed; .calls, by site; .readings, what one costs, by site."""

    def __init__(self, sites, found):
        self.plain, self.own = array("d"), array("d")
        self.calls, self.twice = ([array("d") for _ in sites] for _ in range(2))
        count = len(found[0]["body"])
        if any(len(repetition["body"]) != count for repetition in found):
            raise SystemExit("repetitions did not do the same")
        kinds = [drawn_kinds(number) for number in range(len(found))]
        for i in range(count):
            self.iteration(i, [[r for r, of in zip(found, kinds) if of[i % len(of)] == kind] for kind in range(3)])
        readings = [self.reading(site) for site in range(len(sites))]
        usual = statistics.median([r for r in readings if r is not None])
        self.readings = [usual if r is None else r for r in readings]
        self.calls = [array("d", (t - cost for t in times)) for times, cost in zip(self.calls, self.readings)]

    def iteration(self, i, found):
        self.plain.append(undisturbed([r["body"][i] for r in found[PLAIN]]))
        calls = {kind: [r["calls"][r["ends"][i - 1] if i else 0:r["ends"][i]] for r in found[kind]] for kind in (TIMED, TWICE)}
        in_calls = [sum(call >> SITE_BITS for call in its) for its in calls[TIMED]]
        self.own.append(undisturbed([r["body"][i] - its for r, its in zip(found[TIMED], in_calls)]))
        for kind, into in ((TIMED, self.calls), (TWICE, self.twice)):
            for same in zip(*calls[kind]):
                into[same[0] & (1 << SITE_BITS) - 1].append(undisturbed([call >> SITE_BITS for call in same]))

    def reading(self, site):
        """Of calls that take long the difference is lost in what the processor's speed changes: None."""
        if not self.calls[site] or statistics.median(self.calls[site]) > SHORT_NS:
            return None
        return statistics.median(b - a for a, b in zip(self.calls[site], self.twice[site]))


def combine(sites, found, hollow):
    """Rows of the sites, seconds of the body, and what is known of the own code."""
    costs = [lower([r["costs"][i] for r in found]) for i in range(len(sites))]
    got = Collected(sites, found)
    counts = [len(times) for times in got.calls]
    iterations, empty = len(got.plain), lower([r["empty"] for r in found])
    plain, in_calls = sum(got.plain) - iterations * empty, sum(map(sum, got.calls))
    added = sum(cost * count for cost, count in zip(costs, counts))
    # Of what a wrapper adds the readings are in the calls' times as they were measured.
    own = sum(got.own) - iterations * empty - added + sum(cost * count for cost, count in zip(got.readings, counts))
    body = in_calls + own
    if hollow is not None:
        body = in_calls / (1 - hollow)
    elif added > TRUSTED * plain:
        body = plain
    return {"iterations": iterations, "body_s": plain / 1e9, "body_us": plain / iterations / 1e3,
            "check": (in_calls + own) / plain, "calls_and_rest": in_calls / plain + (1 - in_calls / body),
            "wrappers": added / body, "reading_ns": statistics.median(got.readings),
            "sites": [site_row(site, times, body) for site, times in zip(sites, got.calls)], "own": 1 - in_calls / body}


def truth(program, scale=1.0, repetitions=9):
    """The true shares of a program; those of the sites and `own` add up to 1."""
    path = HERE / "programs" / f"{program}.py"
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    text = path.read_text(encoding="utf-8")
    loaded = Program(text, path)
    found = combine(loaded.sites, [measure(repeat, text, path, number, scale) for number in range(repetitions)],
                    measure(hollow_share, text, path) if "hollow" in loaded.names else None)
    keys = [f"{row['line']} {row['callee']}" for row in found["sites"]]
    keys = [key if keys.count(key) == 1 else f"{key} #{keys[:i].count(key) + 1}" for i, key in enumerate(keys)]
    return {"program": program, "scale": scale, "python": sys.version.split()[0], "repetitions": repetitions,
            "loop_line": loaded.loop_line, "last_line": loaded.last_line, **found, "sites": dict(zip(keys, found["sites"]))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repetitions", type=int, default=9, help="a multiple of 3")
    parser.add_argument("-o", "--output", help="file for the JSON; otherwise standard output")
    options = parser.parse_args()
    if options.repetitions % 3:
        parser.error("--repetitions must be a multiple of 3")
    text = json.dumps(truth(options.program, options.scale, options.repetitions), indent=1)
    if options.output:
        pathlib.Path(options.output).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
