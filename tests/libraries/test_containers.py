"""Functions of containers of other libraries give what NumPy's functions give."""

import warnings

import numpy as onp
import pytest

from npcompat import np, npx

pytest.importorskip("pandas")

FUNCTIONS = [
    "abs",
    "argsort",
    "argwhere",
    "atleast_1d",
    "average",
    "clip",
    "copy",
    "count_nonzero",
    "cumsum",
    "diff",
    "ediff1d",
    "exp",
    "flip",
    "gradient",
    "isfinite",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "logical_not",
    "max",
    "mean",
    "median",
    "min",
    "nan_to_num",
    "nanmax",
    "nansum",
    "nonzero",
    "ones_like",
    "partition",
    "percentile",
    "prod",
    "ptp",
    "ravel",
    "round",
    "signbit",
    "sort",
    "split",
    "sqrt",
    "squeeze",
    "std",
    "sum",
    "transpose",
    "unique",
    "var",
    "where",
    "zeros_like",
]
OTHERS = {
    "clip": (0, 2), "partition": (1,), "percentile": (50,), "split": (1,),
}  # fmt: skip
CONTAINERS = [
    "Series", "DataFrame", "Index", "Int64", "Float64", "boolean", "DataArray", "csr_array", "dask",
    "Quantity", "COO",
]  # fmt: skip


def container(name):
    import pandas

    if name == "DataFrame":
        return pandas.DataFrame({"a": [1.0, onp.nan], "b": [3.0, -4.0]})
    if name == "Index":
        return pandas.Index([4, 1, 2])
    if name in ("Int64", "Float64", "boolean"):
        return pandas.Series([1, None, 0], dtype=name)
    if name == "DataArray":
        return pytest.importorskip("xarray").DataArray([3.0, onp.nan, 1.0])
    if name == "csr_array":
        return pytest.importorskip("scipy.sparse").csr_array([[1.0, 0], [0, 4]])
    if name == "dask":
        return pytest.importorskip("dask.array").from_array(onp.arange(4.0), chunks=2)
    if name == "Quantity":
        return onp.arange(3.0) * pytest.importorskip("astropy.units").m
    if name == "COO":
        return pytest.importorskip("sparse").COO.from_numpy(onp.eye(3))
    return pandas.Series([3.0, onp.nan, 1.0])


def outcome(space, name, function):
    """The class and the text of a result, or the class of an error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(space, container(name))
    except Exception as error:
        return type(error).__name__
    if space is np and name != "Quantity":
        assert type(found) is not onp.ndarray, "a plain result is an array of this library"
    return shown(found)


def shown(found):
    if isinstance(found, list | tuple):
        return [shown(x) for x in found]
    if isinstance(found, np.ndarray | onp.ndarray) and type(found).__name__ == "ndarray":
        found = onp.asarray(found)
    text = str(found.todense() if type(found).__name__ == "COO" else found)
    return type(found).__name__, text, str(getattr(found, "dtype", ""))


@pytest.mark.parametrize("name", CONTAINERS)
def test_functions_of_containers_are_numpys(name):
    differing = {}
    with npx.np_default_dtype():
        for f in FUNCTIONS:
            ours, numpys = [
                outcome(m, name, lambda m, x, f=f: getattr(m, f)(x, *OTHERS.get(f, ())))
                for m in (np, onp)
            ]
            if ours != numpys:
                differing[f] = ours, numpys
    assert not differing


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("f", ["concatenate", "stack", "maximum", "where"])
def test_functions_of_several_containers_are_numpys(name, f):
    def call(m, x):
        if f in ("concatenate", "stack"):
            return getattr(m, f)([x, x])
        return m.maximum(x, 1) if f == "maximum" else m.where(m.asarray([True]), x, x)

    with npx.np_default_dtype():
        assert outcome(np, name, call) == outcome(onp, name, call)
