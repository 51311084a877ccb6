"""Small NumPy programs, run with NumPy and with npcompat: the same code, the same results.

python examples/numpy_programs.py [--backend NAME]
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy

import npcompat.numpy
from npcompat import npx


def game_of_life(np: Any) -> Any:
    """Game of life, forty generations of a glider and a blinker: views and masked writes."""
    board = np.zeros((24, 24), dtype="int64")
    board[1:4, 1:4] = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]])
    board[12, 10:13] = 1
    for _ in range(40):
        inner = board[1:-1, 1:-1]
        neighbours = (
            sum(board[1 + i : 23 + i, 1 + j : 23 + j] for i in (-1, 0, 1) for j in (-1, 0, 1))
            - inner
        )
        born = (neighbours == 3) & (inner == 0)
        stays = ((neighbours == 2) | (neighbours == 3)) & (inner == 1)
        inner[...] = 0
        inner[born | stays] = 1
    return board


def jacobi(np: Any) -> Any:
    """Heat equation of a plate with one hot edge: `out=` and views of two swapped buffers."""
    now, after = np.zeros((20, 20), dtype="float64"), np.zeros((20, 20), dtype="float64")
    now[0] = after[0] = 100.0
    for _ in range(60):
        np.add(now[:-2, 1:-1], now[2:, 1:-1], out=after[1:-1, 1:-1])
        after[1:-1, 1:-1] += now[1:-1, :-2]
        after[1:-1, 1:-1] += now[1:-1, 2:]
        after[1:-1, 1:-1] /= 4
        now, after = after, now
    return now


def mandelbrot(np: Any) -> Any:
    """Mandelbrot set: masks select the points that are still iterated."""
    x, y = np.meshgrid(
        np.linspace(-2.0, 0.5, 48, dtype="float64"), np.linspace(-1.2, 1.2, 32, dtype="float64")
    )
    c = x + 1j * y
    z = np.zeros_like(c)
    steps = np.zeros(c.shape, dtype="int64")
    for _ in range(30):
        inside = abs(z) <= 2
        z[...] = np.where(inside, z * z + c, z)
        steps[inside] += 1
    return steps


def k_means(np: Any) -> Any:
    """K-means with three clusters: integer indices, and masks of the members of each."""
    points = np.array(
        numpy.random.RandomState(0).normal(size=(150, 2))
        + numpy.repeat([[0, 0], [4, 4], [0, 5]], 50, axis=0)
    )
    centres = points[[0, 60, 120]].copy()
    for _ in range(10):
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        for k in range(3):
            centres[k] = points[nearest == k].mean(axis=0)
    return centres


def cholesky(np: Any) -> Any:
    """Cholesky factorization, by loops that write in place."""
    n = 8
    root = np.array(numpy.random.RandomState(1).normal(size=(n, n)))
    a = root @ root.T + n * np.eye(n, dtype="float64")
    factor = np.tril(a)
    for j in range(n):
        factor[j, j] = np.sqrt(factor[j, j] - (factor[j, :j] ** 2).sum())
        for i in range(j + 1, n):
            factor[i, j] = (factor[i, j] - (factor[i, :j] * factor[j, :j]).sum()) / factor[j, j]
    assert np.allclose(factor @ factor.T, a)
    return factor


PROGRAMS: list[Callable[[Any], Any]] = [game_of_life, jacobi, mandelbrot, k_means, cholesky]


def main() -> int:
    """Run every program twice; returns 1 if a result differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--backend", default=None, help="where arrays are placed: jax, numpy, torch, ..."
    )
    backend = parser.parse_args().backend or npx.current_backend()
    failures = 0
    with npx.backend(backend):
        for program in PROGRAMS:
            expected = program(numpy)
            start = time.perf_counter()
            got = program(npcompat.numpy)
            seconds = time.perf_counter() - start
            host = numpy.asarray(got)
            agree = host.dtype == expected.dtype and numpy.allclose(host, expected, rtol=1e-10)
            failures += not agree
            print(
                f"{program.__name__:>14}  {'same' if agree else 'DIFFERENT':<9}  {got.dtype!s:<8} "
                f"{got.shape!s:<9} {seconds:6.2f} s"
            )
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
