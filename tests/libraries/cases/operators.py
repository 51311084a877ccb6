"""Operators beside objects of other libraries."""

import numpy as onp

from .base import X, Y, case, text


@case(
    "Astropy",
    "astropy",
    "`a * q`, `np.concatenate([q, a * units.m])` of quantities",
    lambda q: q.value,
)
def _(of):
    from astropy import units

    q = onp.arange(5.0) * units.km
    return onp.concatenate([(of(X) * q)[0], of(Y[:5]) * units.m * units.one])


@case("PyTorch", "torch", "`t + a`, `a[t]` of a tensor", lambda t: t.numpy())
def _(of):
    import warnings

    import torch

    t = torch.arange(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return t + of(Y[:5])[t]


@case("Dask", "dask.array", "`d + a`, `d @ a`", lambda d: d.compute())
def _(of):
    import dask.array

    return dask.array.ones((6, 5)) + of(X) + dask.array.ones(5) @ of(Y[:5])


@case("sparse", "sparse", "`c * a`, `c @ a`", lambda s: s.todense())
def _(of):
    import sparse

    c = sparse.COO.from_numpy(X)
    return c * of(X) * (c.T @ of(X))[0]


@case("SymPy", "sympy", "`x + a`, `a * M` of a matrix", text)
def _(of):
    import sympy

    x, square = sympy.Symbol("x"), of(onp.array([[1, 1], [0, 1]]))
    return (x + of(onp.arange(3)))[1] * (square * sympy.Matrix([[1, 2], [3, 4]]))
