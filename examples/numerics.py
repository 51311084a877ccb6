"""Loops over elements, as numba's users write them: by NumPy, compiled, differentiated, by numba.

python examples/numerics.py [--scale N]

The same four functions run four times: by Python on NumPy's arrays, as one program of `npx.jit`,
with their gradients (compared with finite differences), and compiled by numba, if it is installed.
Times are in milliseconds; the first call compiles.
"""

import argparse
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy

from npcompat import autograd, np, npx


def gauss_seidel(a: Any, b: Any, x: Any) -> Any:
    """Solver: sweeps over the unknowns, each of which takes the latest values of the others."""
    for _ in range(20):
        for i in range(len(b)):
            x[i] = (b[i] - (a[i] * x).sum() + a[i, i] * x[i]) / a[i, i]
    return (x * x).sum()


def springs(q: Any, p: Any, stiffness: Any) -> Any:
    """Simulation: a chain of masses and springs, with fixed ends, by the leapfrog method."""
    for _ in range(200):
        for i in range(1, len(q) - 1):
            p[i] += 0.1 * stiffness[0] * (q[i - 1] - 2 * q[i] + q[i + 1])
        for i in range(1, len(q) - 1):
            q[i] += 0.1 * p[i]
    return (q * q).sum()


def warping(x: Any, y: Any, cost: Any) -> Any:
    """Dynamic program: the distance of two series, of which either may wait for the other."""
    for i in range(len(x)):
        for j in range(len(y)):
            least = cost[i, j]
            if cost[i, j + 1] < least:
                least = cost[i, j + 1]
            if cost[i + 1, j] < least:
                least = cost[i + 1, j]
            cost[i + 1, j + 1] = (x[i] - y[j]) ** 2 + least
    return cost[-1, -1]


def sparse_product(starts: Any, columns: Any, values: Any, x: Any, y: Any) -> Any:
    """Sparse product: a matrix by its rows, whose lengths are data, times a vector."""
    for i in range(len(starts) - 1):
        begin, end = starts[i], starts[i + 1]
        y[i] = (values[begin:end] * x[columns[begin:end]]).sum()
    return (y * y).sum()


class Case(NamedTuple):
    """A function with its arguments.

    Attributes
    ----------
    function : callable
        It may write into its arguments, and returns a number.
    arguments : tuple of numpy.ndarray
        Arrays of float64 and int64.
    variable : int
        The argument with respect to which it is differentiated.
    """

    function: Callable[..., Any]
    arguments: tuple[numpy.ndarray[Any, Any], ...]
    variable: int


def cases(scale: int) -> list[Case]:
    """Return the functions with random arguments."""
    random, n = numpy.random.default_rng(0), 20 * scale
    a = random.normal(size=(n, n)) + 2 * n * numpy.eye(n)
    cost = numpy.full((n + 1, n + 1), 1e6)
    cost[0, 0] = 0
    lengths = random.integers(0, 8, 5 * n)
    starts = numpy.concatenate([[0], numpy.cumsum(lengths)])
    columns, values = random.integers(0, n, starts[-1]), random.normal(size=starts[-1])
    q = numpy.sin(numpy.linspace(0, numpy.pi, n))
    return [
        Case(gauss_seidel, (a, random.normal(size=n), numpy.zeros(n)), 1),
        Case(springs, (q, numpy.zeros(n), numpy.array([0.5])), 2),
        Case(warping, (random.normal(size=n), random.normal(size=n), cost), 0),
        Case(
            sparse_product,
            (starts, columns, values, random.normal(size=n), numpy.zeros(5 * n)),
            3,
        ),
    ]


def run(function: Callable[..., Any], case: Case, array: Callable[..., Any]) -> float:
    """Return what a function makes of copies of a case's arguments."""
    return float(function(*map(array, case.arguments)))


def milliseconds(
    function: Callable[..., Any], case: Case, array: Callable[..., Any]
) -> tuple[float, float]:
    """Return the time of the first call, and the least of five later ones."""
    times = []
    for _ in range(6):
        given = [*map(array, case.arguments)]
        start = time.perf_counter()
        float(function(*given))
        times.append((time.perf_counter() - start) * 1e3)
    return times[0], min(times[1:])


def slope(case: Case, along: numpy.ndarray[Any, Any]) -> float:
    """Return the derivative of a function along a direction of its variable, by differences."""
    found = []
    for step in (1e-5, -1e-5):
        given = [array.copy() for array in case.arguments]
        given[case.variable] += step * along
        found.append(float(case.function(*given)))
    return (found[0] - found[1]) / 2e-5


def gradient(case: Case) -> Any:
    """Return the gradient of the compiled function, which may write into its arguments."""
    arguments = [np.array(array) for array in case.arguments]
    variable = arguments[case.variable]
    variable.attach_grad()
    with autograd.record():
        value = npx.jit(case.function)(*arguments)
    value.backward()
    return variable.grad


def main() -> int:
    """Run every function in each way; returns 1 if results differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scale",
        type=int,
        default=4,
        help="the arrays have 20 times as many elements along an axis",
    )
    given = parser.parse_args()
    npx.set_np(dtype=True)  # float64 is the default, as in NumPy
    print(
        f"{'':>14}  {'NumPy':>8}  {'compiled':>8}  {'first':>6}  {'numba':>8}  result    gradient"
    )
    failures = 0
    for case in cases(given.scale):
        expected = run(case.function, case, numpy.array)
        same = numpy.isclose(run(npx.jit(case.function), case, np.array), expected, rtol=1e-9)
        found = gradient(case).asnumpy()
        along = numpy.random.default_rng(1).normal(size=found.shape)
        right = numpy.isclose((found * along).sum(), slope(case, along), rtol=1e-5)
        failures += not (same and right)
        _, plain = milliseconds(case.function, case, numpy.array)
        first, ours = milliseconds(npx.jit(case.function), case, np.array)
        print(
            f"{case.function.__name__:>14}  {plain:8.2f}  {ours:8.2f}  {first:6.0f}  "
            f"{_by_numba(case):>8}  {'same' if same else 'DIFFERENT':<9} "
            f"{'right' if right else 'WRONG'}"
        )
    return int(failures > 0)


def _by_numba(case: Case) -> str:
    if find_spec("numba") is None:
        return "-"
    import numba  # optional: measured where it is installed

    return f"{milliseconds(numba.njit(case.function), case, numpy.array)[1]:.2f}"


if __name__ == "__main__":
    sys.exit(main())
