"""Whole NumPy programs, as NumPy users write them, that run on NumPy and on npcompat without a
change.

Each module has

- `inputs(...)`: NumPy arrays and numbers, of the size that `SMALL` (for tests) or `FULL` (for
  benchmarks) says;
- `program(np, *inputs)`: the program; it changes none of its inputs;
- `by_hand(*inputs)`: the same as one writes it for `jax.jit`, with loops that are compiled as
  loops; numbers are static.

A program that can't be compiled, because Python decides by the values of its arrays, says so with
`COMPILES = False`.
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
