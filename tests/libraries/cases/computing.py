"""Libraries that compute."""

import numpy as onp

from .base import X, Y, case


@case("SciPy", "scipy", "`scipy.ndimage.gaussian_filter(a, 1)`")
def _(of):
    import scipy.ndimage

    return scipy.ndimage.gaussian_filter(of(X), 1)


@case("SciPy", "scipy", "`scipy.linalg.solve(m, b)`")
def _(of):
    import scipy.linalg

    return scipy.linalg.solve(of(onp.eye(5) + X[:5] / 20), of(Y[:5]))


@case("SciPy", "scipy", "`scipy.optimize.minimize(f, x0)`", lambda r: r.x)
def _(of):
    import scipy.optimize

    return scipy.optimize.minimize(lambda x: ((x - 3) ** 2).sum(), of(onp.zeros(3)))


@case("SciPy", "scipy", "`scipy.sparse.csr_array(a) @ v`")
def _(of):
    import scipy.sparse

    return scipy.sparse.csr_array(of(X)) @ of(onp.ones(5))


@case("SciPy", "scipy", "`scipy.ndimage.shift(a, 1, output=out)`")
def _(of):
    import scipy.ndimage

    out = of(onp.zeros((6, 5)))
    scipy.ndimage.shift(of(X), 1, output=out, order=0)
    return out


@case("scikit-learn", "sklearn", "`LinearRegression().fit(a, y).predict(a)`")
def _(of):
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(of(X), of(Y)).predict(of(X))


@case("scikit-learn", "sklearn", "`KMeans(2).fit_predict(a)`")
def _(of):
    from sklearn.cluster import KMeans

    return KMeans(2, n_init=1, random_state=0).fit_predict(of(X))


@case("numba", "numba", "`numba.njit(f)(a, b)`, and `f` writes `a`")
def _(of):
    import numba

    @numba.njit
    def f(a, b):
        for i in range(a.shape[0]):
            a[i] += b[i]

    a = of(Y)
    f(a, of(onp.ones(6)))
    return a


@case("numba", "numba", "`numba.njit(f)(a)`")
def _(of):
    import numba

    return numba.njit(lambda a: a * 2 + 1)(of(X))


@case("numba", "numba", "`numba.njit(f)(a)`, and `f` writes `a.flat`")
def _(of):
    import numba

    @numba.njit
    def f(a):
        for i in range(a.size):
            a.flat[i] += i

    a = of(Y)
    f(a)
    return a


@case("numba", "numba", "`numba.vectorize(f)(a, b)`")
def _(of):
    import numba

    return numba.vectorize(lambda a, b: a + 2 * b)(of(X), of(X))


@case("numba", "numba", "`numba.vectorize(f)(a, b, a)`, which is written")
def _(of):
    import numba

    a, f = of(X), numba.vectorize(["f8(f8, f8)"])(lambda a, b: a + 2 * b)
    f(a, of(X), a)
    f(a, of(X), out=a)
    return a


@case("numexpr", "numexpr", '`numexpr.evaluate("2 * a + 1")`')
def _(of):
    import numexpr

    a = of(X)
    return numexpr.evaluate("2 * a + 1", local_dict={"a": a})


@case("Bottleneck", "bottleneck", "`bottleneck.move_mean(a, 3)`")
def _(of):
    import bottleneck

    return bottleneck.move_mean(of(Y), 3)


@case("autograd (HIPS)", "autograd", "`autograd.grad(f)(a)`")
def _(of):
    import autograd
    import autograd.numpy as anp

    return autograd.grad(lambda a: anp.sum(a**2))(of(Y))


@case("SymPy", "sympy", '`sympy.lambdify(x, sin(x) + x**2, "numpy")(a)`')
def _(of):
    import sympy

    x = sympy.Symbol("x")
    return sympy.lambdify(x, sympy.sin(x) + x**2, "numpy")(of(Y))


@case("SymPy", "sympy", "`sympy.Matrix(a)`", lambda m: onp.array(m.tolist(), dtype=float))
def _(of):
    import sympy

    return sympy.Matrix(of(X))


@case("einops", "einops", '`einops.rearrange(a, "a b -> b a")`')
def _(of):
    import einops

    return einops.rearrange(of(X), "a b -> b a")


@case("einops", "einops", '`einops.reduce(a, "a b -> a", "mean")`')
def _(of):
    import einops

    return einops.reduce(of(X), "a b -> a", "mean")


@case("array-api-compat", "array_api_compat", "`array_namespace(a).sum(a)`")
def _(of):
    import array_api_compat

    a = of(X)
    return array_api_compat.array_namespace(a).sum(a)


@case("JAX", "jax", "`jax.numpy.asarray(a) + 1`")
def _(of):
    import jax.numpy

    return jax.numpy.asarray(of(X.astype("float32"))) + 1


@case("PyTorch", "torch", "`torch.as_tensor(a)`, which is written")
def _(of):
    import torch

    a = of(Y)
    torch.as_tensor(a).add_(1)
    return a


@case("PyTorch", "torch", "`torch.asarray(a)`, which is written")
def _(of):
    import torch

    a = of(X)
    torch.asarray(a).add_(1)
    return a


@case("PyTorch", "torch", "`DataLoader(dataset)`, whose samples are arrays", lambda t: t.numpy())
def _(of):
    from torch.utils.data import DataLoader

    (found,) = DataLoader([of(row) for row in X], batch_size=6)
    return found


@case("PyTorch", "torch", "`torch.from_numpy(a)`")
def _(of):
    import torch

    return torch.from_numpy(of(Y))


@case("PyTorch", "torch", "`torch.from_dlpack(a)`, which is written")
def _(of):
    import torch

    a = of(Y)
    torch.from_dlpack(a).mul_(2)
    return a


@case("sparse", "sparse", "`sparse.COO.from_numpy(a).sum(axis=0)`", lambda s: s.todense())
def _(of):
    import sparse

    return sparse.COO.from_numpy(of(X)).sum(axis=0)


@case("Dask", "dask.array", "`dask.array.from_array(a, chunks=2).sum(axis=0).compute()`")
def _(of):
    import dask.array

    return dask.array.from_array(of(X), chunks=2).sum(axis=0).compute()
