"""Small programs of other libraries, each with a row in docs/libraries.md.

A program takes `of`, which makes its arrays of NumPy's: NumPy's own, ours, or aliases of ours.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as onp

X = onp.arange(1.0, 31.0).reshape(6, 5) % 7
"""Floats of two axes."""
Y = X @ onp.array([1.0, -1.0, 0.5, 2.0, 0.0])
PICTURE = (onp.arange(12 * 12 * 3).reshape(12, 12, 3) % 251).astype(onp.uint8)
LABELS = onp.array([0, 1, 0, 1, 1, 0])


def values(found: Any) -> Any:
    """The values of a result, to be compared."""
    return onp.asarray(found)


@dataclass
class Case:
    """One program of a library."""

    library: str
    module: str
    program: str
    run: Callable[[Any], Any]
    read: Callable[[Any], Any] = values


CASES: list[Case] = []


def case(library: str, module: str, program: str, read: Callable[[Any], Any] = values) -> Any:
    """Add a program to the table."""

    def add(run: Callable[[Any], Any]) -> Any:
        CASES.append(Case(library, module, program, run, read))
        return run

    return add


def text(found: Any) -> Any:
    """The text of a result, for those that hold no numbers."""
    return onp.array(str(found))


def frame(found: Any) -> Any:
    """The values of a table."""
    return onp.asarray(found.to_numpy())


# --- operators beside objects of libraries --------------------------------------------------------


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


# --- computing ------------------------------------------------------------------------------------


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


# --- tables ---------------------------------------------------------------------------------------


@case("pandas", "pandas", '`pandas.DataFrame({"a": a, "k": k}).groupby("k").sum()`', frame)
def _(of):
    import pandas

    return pandas.DataFrame({"a": of(Y), "k": of(LABELS)}).groupby("k").sum()


@case("pandas", "pandas", "`pandas.DataFrame(a).rolling(2).mean()`", frame)
def _(of):
    import pandas

    return pandas.DataFrame(of(X)).rolling(2).mean()


@case("pandas", "pandas", "`frame[mask]`", frame)
def _(of):
    import pandas

    return pandas.DataFrame(X)[of(Y > 3)]


@case("pandas", "pandas", "`series.loc[mask]`", frame)
def _(of):
    import pandas

    return pandas.Series(Y).loc[of(Y > 3)]


@case("pandas", "pandas", "`series.iloc[mask]`", frame)
def _(of):
    import pandas

    return pandas.Series(Y).iloc[of(Y > 3)]


@case("pandas", "pandas", "`frame.loc[mask, name] = a`", frame)
def _(of):
    import pandas

    found = pandas.DataFrame({"a": Y})
    found.loc[of(Y > 3), "a"] = of(Y)[of(Y > 3)]
    return found


@case("pandas", "pandas", "`series & a`, of integers", frame)
def _(of):
    import pandas

    found = pandas.Series(LABELS)
    found |= of(LABELS)
    return found & of(LABELS)


@case("pandas", "pandas", "`frame.groupby([a]).sum()`", frame)
def _(of):
    import pandas

    return pandas.DataFrame({"a": Y}).groupby([of(LABELS)]).sum()


@case("pandas", "pandas", "`pandas.factorize(a)`, and `unique`", frame)
def _(of):
    import pandas

    return pandas.Series(pandas.factorize(of(LABELS))[0])


@case("polars", "polars", '`polars.DataFrame({"a": a})`', frame)
def _(of):
    import polars

    return polars.DataFrame({"a": of(Y)})


@case("polars", "polars", '`polars.Series("a", a)`', frame)
def _(of):
    import polars

    return polars.Series("a", of(Y))


@case("polars", "polars", "`series + a`", frame)
def _(of):
    import polars

    return polars.Series("a", Y) + of(Y)


@case("PyArrow", "pyarrow", "`pyarrow.array(a)`", frame)
def _(of):
    import pyarrow

    return pyarrow.array(of(Y))


@case("PyArrow", "pyarrow", '`pyarrow.table({"a": a})`', lambda t: t.column("a").to_numpy())
def _(of):
    import pyarrow

    return pyarrow.table({"a": of(Y)})


@case("DuckDB", "duckdb", '`duckdb.sql("select sum(a) from f")`, of a frame', text)
def _(of):
    import duckdb
    import pandas

    f = pandas.DataFrame({"a": of(Y)})  # noqa: F841 (DuckDB finds it by its name)
    return duckdb.sql("select sum(a) from f").fetchall()


@case("xarray", "xarray", '`xarray.DataArray(a, dims=("x", "y")).mean("x")`')
def _(of):
    import xarray

    return xarray.DataArray(of(X), dims=("x", "y")).mean("x")


@case("xarray", "xarray", '`xarray.Dataset({"a": ("x", a)}).a[1:]`')
def _(of):
    import xarray

    return xarray.Dataset({"a": ("x", of(Y))}).a[1:]


# --- statistics and models ------------------------------------------------------------------------


@case("statsmodels", "statsmodels", "`OLS(y, add_constant(a)).fit().params`")
def _(of):
    import statsmodels.api as sm

    return sm.OLS(of(Y), sm.add_constant(of(X[:, :2]))).fit().params


@case("patsy", "patsy", '`patsy.dmatrix("x", {"x": a})`')
def _(of):
    import patsy

    return patsy.dmatrix("x", {"x": of(Y)})


@case("lmfit", "lmfit", "`lmfit.models.LinearModel().fit(y, x=x)`", lambda r: r.best_fit)
def _(of):
    import lmfit

    return lmfit.models.LinearModel().fit(of(Y), x=of(onp.arange(6.0)))


@case("LightGBM", "lightgbm", "`lightgbm.Dataset(a, y)`, trained", lambda p: p)
def _(of):
    import lightgbm

    options = {"verbose": -1, "min_data_in_leaf": 1, "num_threads": 1, "min_data_in_bin": 1}
    data = lightgbm.Dataset(of(X), of(Y), params=options)
    return lightgbm.train(options, data, 2).predict(of(X))


@case("XGBoost", "xgboost", "`xgboost.DMatrix(a, y)`, trained")
def _(of):
    import xgboost

    model = xgboost.train({"nthread": 1}, xgboost.DMatrix(of(X), of(Y)), 2)
    return model.predict(xgboost.DMatrix(of(X)))


@case("NetworkX", "networkx", "`networkx.from_numpy_array(a)`", lambda g: len(g.edges))
def _(of):
    import networkx

    return networkx.from_numpy_array(of(X[:5]))


@case("Gymnasium", "gymnasium", "`Box(low, high).contains(a)`")
def _(of):
    import gymnasium

    space = gymnasium.spaces.Box(-100.0, 100.0, (6,), dtype="float64")
    return space.contains(of(Y))


@case("uncertainties", "uncertainties", "`unumpy.nominal_values(unumpy.uarray(a, s) + 1)`")
def _(of):
    from uncertainties import unumpy

    return unumpy.nominal_values(unumpy.uarray(of(Y), of(onp.ones(6))) + 1)


@case("Pint", "pint", '`Quantity(a, "metre").to("kilometre").magnitude`')
def _(of):
    import pint

    registry = pint.UnitRegistry()
    return registry.Quantity(of(Y), "metre").to("kilometre").magnitude


@case("Astropy", "astropy", "`units.Quantity(a, units.m).to(units.km).value`")
def _(of):
    from astropy import units

    return units.Quantity(of(Y), units.m).to(units.km).value


@case("Shapely", "shapely", "`shapely.Polygon(a).area`")
def _(of):
    import shapely

    return shapely.Polygon(of(onp.array([[0.0, 0], [2, 0], [2, 3]]))).area


# --- pictures and signals -------------------------------------------------------------------------


@case("OpenCV", "cv2", "`cv2.GaussianBlur(a, (3, 3), 0)`")
def _(of):
    import cv2

    return cv2.GaussianBlur(of(PICTURE), (3, 3), 0)


@case("OpenCV", "cv2", "`cv2.rectangle(a, ...)`, which writes `a`")
def _(of):
    import cv2

    a = of(PICTURE)
    cv2.rectangle(a, (1, 1), (5, 5), (255, 0, 0))
    return a


@case("Pillow", "PIL", "`PIL.Image.fromarray(a).resize((6, 6))`")
def _(of):
    import PIL.Image

    return PIL.Image.fromarray(of(PICTURE)).resize((6, 6))


@case("scikit-image", "skimage", "`skimage.filters.sobel(a)`")
def _(of):
    import skimage.filters

    return skimage.filters.sobel(of(X))


@case("imageio", "imageio", "`imageio.v3.imwrite(file, a)`, and read")
def _(of):
    import imageio.v3

    return imageio.v3.imread(imageio.v3.imwrite("<bytes>", of(PICTURE), extension=".png"))


@case("tifffile", "tifffile", "`tifffile.imwrite(file, a)`, and read")
def _(of):
    import tifffile

    file = io.BytesIO()
    tifffile.imwrite(file, of(PICTURE), photometric="rgb")
    return tifffile.imread(io.BytesIO(file.getvalue()))


@case("PyWavelets", "pywt", '`pywt.dwt(a, "haar")`')
def _(of):
    import pywt

    return pywt.dwt(of(Y), "haar")[0]


@case("SoundFile", "soundfile", "`soundfile.write(file, a, 8000)`, and read")
def _(of):
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, of(Y / 100), 8000, format="WAV", subtype="DOUBLE")
    file.seek(0)
    return soundfile.read(file)[0]


@case("Matplotlib", "matplotlib", "`axes.plot(x, y)`, `axes.imshow(a)`", lambda line: line)
def _(of):
    import matplotlib.figure

    axes = matplotlib.figure.Figure().subplots()
    axes.imshow(of(X))
    return axes.plot(of(Y), of(Y))[0].get_ydata()


@case("seaborn", "seaborn", "`seaborn.histplot(a)`")
def _(of):
    import matplotlib.figure
    import seaborn

    axes = matplotlib.figure.Figure().subplots()
    seaborn.histplot(of(Y), bins=3, ax=axes)
    return [bar.get_height() for bar in axes.patches]


@case("Plotly", "plotly", "`plotly.graph_objects.Scatter(x=a, y=a).to_json()`", text)
def _(of):
    import plotly.graph_objects

    return plotly.graph_objects.Scatter(x=of(Y), y=of(Y)).to_json()


# --- files and memory -----------------------------------------------------------------------------


@case("h5py", "h5py", '`file["a"] = a`, and read')
def _(of):
    import h5py

    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["a"] = of(X)
        return file["a"][:]


@case("h5py", "h5py", "`dataset.read_direct(a)`")
def _(of):
    import h5py

    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["a"] = X
        a = of(onp.zeros((6, 5)))
        file["a"].read_direct(a)
        return a


@case("h5py", "h5py", "`dataset[mask]`")
def _(of):
    import h5py

    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["a"] = Y
        return file["a"][of(Y > 3)]


@case("Zarr", "zarr", "`array[:] = a`, and read")
def _(of):
    import zarr

    array = zarr.create_array(store=zarr.storage.MemoryStore(), shape=(6, 5), dtype="float64")
    array[:] = of(X)
    return array[:]


@case("safetensors", "safetensors", '`safetensors.numpy.save({"a": a})`, and read')
def _(of):
    import safetensors.numpy

    return safetensors.numpy.load(safetensors.numpy.save({"a": of(X)}))["a"]


@case("joblib", "joblib", "`joblib.hash(a)`", text)
def _(of):
    import joblib

    return len(joblib.hash(of(X)))


@case("orjson", "orjson", "`orjson.dumps(a, option=orjson.OPT_SERIALIZE_NUMPY)`", text)
def _(of):
    import orjson

    return orjson.dumps(of(X), option=orjson.OPT_SERIALIZE_NUMPY)


@case("msgpack", "msgpack", "`msgpack.packb(memoryview(a))`", text)
def _(of):
    import msgpack

    return msgpack.packb(memoryview(of(Y)).cast("B"))


@case("cffi", "cffi", '`ffi.from_buffer("double[]", a)`, which is written')
def _(of):
    import cffi

    a = of(Y)
    cffi.FFI().from_buffer("double[]", a, require_writable=True)[0] = 7
    return a


@case("Cython", "Cython", "a typed memoryview `double[:]` that is written")
def _(of):
    from Cython.Build.Inline import cython_inline

    a = of(Y)
    double = cython_inline(
        "def double(double[:] m):\n    m[0] = 2 * m[0]\nreturn double",
        locals={},
        globals={},
        quiet=True,
    )
    double(a)
    return a


@case("tqdm", "tqdm", "`[row for row in tqdm(a)]`")
def _(of):
    import tqdm

    return [values(row) for row in tqdm.tqdm(of(X), disable=True)]


@case("rich", "rich", "`rich.pretty.pretty_repr(list(a))`", lambda s: onp.array(s.count("5")))
def _(of):
    import rich.pretty

    return rich.pretty.pretty_repr(list(of(Y)))


@case("IPython", "IPython", "`IPython.lib.pretty.pretty(a)`", text)
def _(of):
    import IPython.lib.pretty

    return IPython.lib.pretty.pretty(of(Y)).split(", dtype")[0].rstrip(")")
