"""Whole NumPy programs, as users write them, that run unchanged on NumPy and npcompat.

Each module has

- `inputs(...)`: NumPy arrays and numbers, with the arguments `SMALL` (for tests) or `FULL` (for
  benchmarks);
- `program(np, *inputs)`: the program; it changes none of its inputs;
- `by_hand(*inputs)`: the same as one writes it for `jax.jit`, with loops that are compiled as
  loops; numbers are static.

A program that can't be compiled, because Python branches on values of its arrays, has `COMPILES =
False`.
"""

from types import ModuleType

from benchmarks.programs import (
    black_scholes,
    cholesky,
    conjugate_gradients,
    convolution,
    gram_schmidt,
    heat,
    histogram,
    k_means,
    korteweg_de_vries,
    lattice_boltzmann,
    life,
    low_pass,
    mandelbrot,
    n_body,
    page_rank,
    shortest_paths,
    smith_waterman,
)

MODULES = (
    heat, life, lattice_boltzmann, n_body, black_scholes, mandelbrot, k_means, cholesky,
    gram_schmidt, conjugate_gradients, smith_waterman, shortest_paths, convolution, histogram,
    low_pass, korteweg_de_vries, page_rank,
)  # fmt: skip
PROGRAMS: dict[str, ModuleType] = {module.__name__.rpartition(".")[2]: module for module in MODULES}
