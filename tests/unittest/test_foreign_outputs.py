"""Outputs that other libraries write, which ask for NumPy's class, and memory that they stride over."""

import inspect
import os
import subprocess
import sys

import numpy as onp
import pytest
import scipy.linalg
import scipy.ndimage
from numpy.lib import recfunctions

from npcompat import autograd, np, npx

PICTURE = onp.random.RandomState(0).rand(8, 8)
WRITERS = {
    "binary_closing": (bool, {}),
    "binary_dilation": (bool, {}),
    "binary_erosion": (bool, {"iterations": 2}),
    "binary_fill_holes": (bool, {}),
    "binary_hit_or_miss": (bool, {}),
    "binary_opening": (bool, {}),
    "binary_propagation": (bool, {}),
    "distance_transform_edt": (float, {}),
    "gaussian_filter": (float, {"sigma": 1}),
    "geometric_transform": (float, {"mapping": lambda at: at}),
    "label": ("int32", {}),
    "median_filter": (float, {"size": 3}),
    "morphological_gradient": (float, {"size": 3}),
    "morphological_laplace": (float, {"size": 3}),
    "sobel": (float, {}),
    "white_tophat": (float, {"size": 3}),
    "zoom": (float, {"zoom": 1}),
}


def parameter(name):
    return "distances" if name.startswith("distance") else "output"


@pytest.mark.parametrize("name", WRITERS)
def test_outputs_of_ndimage_are_written(name):
    dtype, options = WRITERS[name]
    function = getattr(scipy.ndimage, name)
    of_bools = name.startswith(("binary", "label", "distance"))
    picture = PICTURE > 0.4 if of_bools else PICTURE
    theirs = onp.zeros((8, 8), dtype)
    with npx.backend("numpy"):
        mine = np.zeros((8, 8), dtype=theirs.dtype)
        found = function(np.array(picture), **options, **{parameter(name): mine})
    expected = function(picture, **options, **{parameter(name): theirs})
    onp.testing.assert_array_equal(onp.asarray(mine), theirs)
    assert type(found) is type(expected)


def test_every_function_of_ndimage_with_an_output_is_replaced():
    for name in {*scipy.ndimage.__all__} - {"vectorized_filter"}:
        function = getattr(scipy.ndimage, name)
        if {"output", "distances", "indices"} & set(inspect.signature(function).parameters):
            assert function.__globals__["__name__"] == "npcompat._libraries.replacing", name


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_the_function_that_writes_any_output_itself(backend):
    vectorized = getattr(scipy.ndimage, "vectorized_filter", None)
    if vectorized is None:
        pytest.skip("SciPy has it since 1.16")
    with npx.backend(backend):
        out = np.zeros((8, 8), dtype="float64")
        vectorized(PICTURE, onp.mean, size=(3, 3), output=out)
    expected = vectorized(onp.asarray(PICTURE), onp.mean, size=(3, 3))
    onp.testing.assert_allclose(onp.asarray(out), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_methods_of_numpys_arrays_divide_in_our_memory(name):
    data, theirs = onp.arange(6.0).reshape(3, 2), onp.zeros(2)
    getattr(data, name)(axis=0, out=theirs)
    with npx.backend("numpy"):
        mine = np.zeros(2, dtype="float64")
        getattr(data, name)(axis=0, out=mine)
        recorded = np.zeros(2, dtype="float64")
        recorded.attach_grad()
        with autograd.record(), pytest.raises(TypeError, match="call the function of npcompat"):
            getattr(data, name)(axis=0, out=recorded)
    assert mine.tolist() == theirs.tolist()
    assert recorded.tolist() == [0, 0]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("module", [np, onp], ids=["ours", "numpy"])
def test_functions_that_run_on_the_host_write_their_outputs(module, backend):
    with npx.backend(backend):
        days, work = np.zeros(1, dtype="int64"), np.zeros((), dtype=bool)
    found = module.busday_count(["2020-01-01"], ["2020-02-01"], out=days)
    assert found is days and days.tolist() == [23]
    module.is_busday("2020-01-01", out=work)
    assert work.item() is True
    to = np.zeros(1, dtype="datetime64[D]")
    module.busday_offset(["2020-01-01"], 3, out=to)
    assert str(to[0]) == "2020-01-06"
    lengths = np.zeros(2, dtype="int64")
    assert module.strings.str_len(np.array(["a", "bcd"]), lengths) is lengths
    assert lengths.tolist() == [1, 3]
    record = np.array(onp.zeros(1, [("a", "i4"), ("b", "f8")]))
    recfunctions.assign_fields_by_name(record, onp.array([(1, 2.0)], record.dtype))
    assert record.tolist() == [(1, 2.0)]


def test_outputs_that_others_cannot_write_are_refused():
    with npx.backend("jax"):
        on_xla = np.zeros((8, 8), dtype="int32")
    recorded = np.zeros((8, 8))
    recorded.attach_grad()
    with pytest.raises(ValueError, match="output array is read-only"):
        scipy.ndimage.label(PICTURE > 0.5, output=on_xla)
    with autograd.record(), pytest.raises(ValueError, match="output array is read-only"):
        scipy.ndimage.gaussian_filter(PICTURE, 1, output=recorded * 2)
    assert on_xla.sum() == 0


@pytest.mark.parametrize("name", ["circulant", "toeplitz", "hankel"])
def test_matrices_of_strides_over_an_array(name, placed):
    x = np.array([1.0, 2.0, 3.0, 4.0])
    found = getattr(scipy.linalg, name)(x)
    assert found.tolist() == getattr(scipy.linalg, name)(onp.asarray(x)).tolist()


def test_an_alias_of_a_view_has_the_memory_around_it(placed):
    a = np.arange(12.0).reshape(3, 4)
    for view in (a[1:], a[::-1], a[:, ::2], a.T, a[1, 1:], a.reshape(-1)[3:], a[None, :, 1:]):
        alias = onp.asarray(view)
        assert alias.tolist() == view.tolist() and alias.strides == view.strides
    row = onp.asarray(a[2])
    before = onp.lib.stride_tricks.as_strided(row, (3, 4), (-16, 4), writeable=False)
    assert before.tolist() == a[::-1].tolist()


PROGRAM = """
import sys, warnings
warnings.simplefilter("error", RuntimeWarning)
if sys.argv[1] == "scipy":
    import scipy.ndimage
from npcompat import np
import scipy.ndimage
a, out = np.array([[True, False], [True, True]]), np.zeros((2, 2), dtype="int32")
scipy.ndimage.label(a, output=out)
print(out.tolist())
"""


@pytest.mark.parametrize("first", ["npcompat", "scipy"])
@pytest.mark.parametrize("array_api", ["", "1"])
def test_outputs_are_written_or_it_is_said_whichever_is_imported_first(first, array_api):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, first],
        capture_output=True,
        text=True,
        env={**os.environ, "SCIPY_ARRAY_API": array_api},
    )
    if first == "scipy" and array_api:
        assert "imported before npcompat" in done.stderr
    else:
        assert done.stdout == "[[1, 0], [1, 1]]\n", done.stderr
