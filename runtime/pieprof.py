# SPDX-License-Identifier: Apache-2.0
"""The module `pieprof` where no profile runs: what a program says to pieprof has no effect. Under pieprof a module of
the same name is built in and comes first."""


def loop(iterable, /):
    """iter(iterable). Under pieprof the calls made in the body of the for loop that runs over it are traced."""
    return iter(iterable)
