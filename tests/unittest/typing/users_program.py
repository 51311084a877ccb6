"""A user's program, which mypy reads and nobody runs.

A comment that begins with "is:" holds the type that `reveal_type` shows, one that begins with
"error:" the code of the error that mypy reports for the line.
"""

from fractions import Fraction
from typing import reveal_type

import numpy

import npcompat.numpy as np


class Table:
    """An object of another library that NumPy can convert."""

    def __array__(self, dtype: object = None, copy: bool | None = None) -> numpy.ndarray:
        return numpy.zeros(2)


def results(x: np.ndarray, y: np.ndarray) -> None:
    reveal_type(np.add(x, y))  # is: ndarray
    reveal_type(np.add.reduce(x))  # is: ndarray
    reveal_type(np.add.outer(x, y))  # is: ndarray
    reveal_type(np.divmod(x, y))  # is: tuple[ndarray, ndarray]
    reveal_type(np.sum(x, axis=0))  # is: ndarray
    reveal_type(np.shape(x))  # is: tuple[int, ...]
    reveal_type(np.nonzero(x))  # is: tuple[ndarray, ...]
    reveal_type(np.where(x > 0))  # is: tuple[ndarray, ...]
    reveal_type(np.where(x > 0, x, 0))  # is: ndarray
    reveal_type(np.unique(x))  # is: ndarray
    reveal_type(np.unique(x, return_counts=True))  # is: tuple[ndarray, ...]
    reveal_type(np.meshgrid([1, 2], (3, 4)))  # is: tuple[ndarray, ...]
    reveal_type(np.split(x, 2))  # is: list[ndarray]
    reveal_type(np.linspace(0, 1, retstep=True))  # is: tuple[ndarray, ndarray]
    reveal_type(np.atleast_1d(x))  # is: ndarray
    reveal_type(np.mgrid[0:2])  # is: ndarray
    reveal_type(np.allclose(x, y))  # is: bool
    reveal_type(np.result_type(x, 1))  # is: dtype[Any]
    reveal_type(np.polyadd([1], [2]))  # is: ndarray
    reveal_type(np.polyadd([1], np.poly1d([2])))  # is: poly1d
    reveal_type(np.linalg.svd(x).S)  # is: ndarray
    reveal_type(np.linalg.svd(x, compute_uv=False))  # is: ndarray
    reveal_type(np.linalg.qr(x).Q)  # is: ndarray
    reveal_type(np.linalg.norm(x))  # is: ndarray
    reveal_type(np.fft.rfft(x))  # is: ndarray
    reveal_type(np.random.default_rng().normal(size=3))  # is: ndarray
    reveal_type(np.random.uniform(0, 1, (2, 3)))  # is: ndarray
    reveal_type(np.random.default_rng().spawn(2))  # is: list[Generator]


def methods(x: np.ndarray, y: np.ndarray) -> None:
    reveal_type(x + y)  # is: ndarray
    reveal_type(2 * x)  # is: ndarray
    reveal_type([1, 2] - x)  # is: ndarray
    reveal_type(-x)  # is: ndarray
    reveal_type(x < 1)  # is: ndarray
    reveal_type(x == y)  # is: ndarray
    reveal_type(x[0])  # is: ndarray
    reveal_type(x[x > 0])  # is: ndarray
    reveal_type(x.T)  # is: ndarray
    reveal_type(x.dtype)  # is: dtype[Any]
    reveal_type(x.shape)  # is: tuple[int, ...]
    reveal_type(x.sum())  # is: ndarray
    reveal_type(x.exp())  # is: ndarray
    reveal_type(x.astype("int64"))  # is: ndarray
    reveal_type(x.reshape(-1, 2))  # is: ndarray
    reveal_type(x.nonzero())  # is: tuple[ndarray, ...]
    reveal_type(x.asnumpy())  # is: ndarray[Any, Any]
    reveal_type(float(x[0]))  # is: float
    reveal_type([row for row in x])  # is: list[ndarray]
    x += 1
    x[0], x[1:] = 3, [1.5, 2]


def accepted(x: np.ndarray) -> None:
    np.add(1, True)
    np.add([1, 2.5], (3, 4j))
    np.add([[x, 1], [2, x]], x)
    np.add(numpy.float32(2), numpy.ones(3))
    np.add(Table(), range(2))
    np.add([Table()], x, out=x, where=[True, False], dtype="float64")
    np.equal("a", b"a")
    np.array([Fraction(1, 2), None, {}], dtype=object)
    np.zeros((2, 3), np.bfloat16)
    np.zeros(2, dtype=[("a", int), ("b", "f4")])
    np.sum(x, (0, 1), np.float32, x, keepdims=True)
    np.concatenate([x, [1, 2]], axis=None)
    np.exp(x, ..., casting="unsafe")


def refused(x: np.ndarray) -> None:
    np.add({}, x)  # error: arg-type
    np.add(object(), 1)  # error: arg-type
    np.add({1, 2}, 3)  # error: arg-type
    np.add(1, 2, casting="save")  # error: arg-type
    np.add(1)  # error: call-arg
    np.add.reduce(None)  # error: arg-type
    np.exp(x, out=3)  # error: arg-type
    np.sum(None)  # error: arg-type
    np.sum(x, axs=0)  # error: call-arg
    np.sum(x, axis="rows")  # error: arg-type
    np.zeros("a")  # error: arg-type
    np.ones(2, dtype=3.5)  # error: arg-type
    np.reshape(x, (2, "a"))  # error: arg-type
    np.linalg.norm({"a": 1})  # error: arg-type
    np.random.normal(size=2.5)  # error: arg-type
    np.absent(x)  # error: attr-defined
    x.absent()  # error: attr-defined
    x + {}  # error: operator
    x[0] = object()  # error: assignment
    count: int = np.sum(x)  # error: assignment
    first, second = np.add(x, x), np.split(x, 2).sum()  # error: attr-defined
    print(count, first, second)
