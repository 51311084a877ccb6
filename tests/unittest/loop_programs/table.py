"""Tables of the programs, and the decorators that add one.

`STAGED` are one program whatever the number of rounds; `UNROLLED` are as before, with a reason in
the compile log; `REFUSED` raise an error that says what to do. Arguments are made by a function of a
dtype.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as onp

FLOATS = ("float32", "float64")
EVERY = (*FLOATS, "int64")


@dataclass
class Program:
    function: Callable[..., Any]
    arguments: Callable[[str], list[Any]]
    dtypes: tuple[str, ...] = EVERY
    derivative: bool = False


STAGED: dict[str, Program] = {}
UNROLLED: dict[str, Program] = {}
REFUSED: dict[str, Program] = {}


def vector(n=20):
    return lambda dtype: [onp.arange(1, n + 1).astype(dtype) % 7 + 1]


def matrix(n=12):
    def made(dtype):
        return [(onp.arange(n * n).reshape(n, n) * 37 % 23 + 1).astype(dtype)]

    return made


def program(where, arguments=None, dtypes=EVERY, derivative=False):
    def add(function):
        found = Program(function, arguments or vector(), dtypes, derivative)
        where[function.__name__] = found
        return function

    return add


def staged(arguments=None, dtypes=EVERY, derivative=False):
    return program(STAGED, arguments, dtypes, derivative)


def unrolled(arguments=None, dtypes=EVERY, derivative=False):
    return program(UNROLLED, arguments, dtypes, derivative)


def refused(arguments=None, dtypes=EVERY):
    return program(REFUSED, arguments, dtypes)
