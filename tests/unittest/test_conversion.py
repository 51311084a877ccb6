"""Arrays made from others under conditions, types, and names that are NumPy's own."""

import io
import subprocess
import sys
import warnings

import numpy as onp
import pytest
from oracle import MODES, agrees

from npcompat import np, npx

A = onp.arange(6.0).reshape(2, 3)

PROGRAMS = {
    "asarray_chkfinite": lambda xp, a: (xp.asarray_chkfinite(a), xp.asarray_chkfinite(a.T, "int32"), xp.asarray_chkfinite([1, 2])),
    "asfortranarray": lambda xp, a: (lambda f: (f, f.flags.f_contiguous, f.strides, xp.isfortran(f)))(xp.asfortranarray(a)),
    "asfortranarray of what is one": lambda xp, a: [xp.asfortranarray(x).strides for x in (a.T, a[0], a[:1], a[:, 1])],
    "asfortranarray of a 0-d array": lambda xp, a: (xp.asfortranarray(3), xp.asfortranarray(a[0, 0]), xp.asfortranarray(a, "int8")),
    "isfortran": lambda xp, a: [xp.isfortran(x) for x in (a, a.T, a[0], a[:, :1].T, a[::2].T)],
    "require": lambda xp, a: [xp.require(x, requirements=r).strides for x in (a, a.T, a[:, ::2]) for r in (None, "C", "F", ["A"], "E")],
    "require, dtype": lambda xp, a: xp.require(a, "int32", ["C", "W"]),
    "require, writeable": lambda xp, a: (a.setflags(write=False), xp.require(a, requirements="W").flags.writeable, xp.require(a.T, requirements="FW").flags["W"])[1:],
    "require, owned": lambda xp, a: [xp.require(x, requirements=["OWNDATA"]).flags.owndata for x in (a, a[0], a[:])],
    "require C and F": lambda xp, a: xp.require(a, requirements="CF"),
    "require the unknown": lambda xp, a: xp.require(a, requirements="X"),
    "astype": lambda xp, a: (xp.astype(a, "int8"), xp.astype(a, a.dtype, copy=False) is a, xp.astype(a, a.dtype) is a),
    "astype of a list": lambda xp, a: xp.astype([1], int),
    "common_type": lambda xp, a: [xp.common_type(x, y) for x in (a, a.astype("float16"), a.astype(int)) for y in (a.astype("float32"), a.astype("complex64"), a.astype("int8"))],
    "common_type of bools": lambda xp, a: xp.common_type(a > 1),
    "min_scalar_type": lambda xp, a: [xp.min_scalar_type(x) for x in (a, 3, -300, 1e50, 1.5, True, 1j)],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_numpy(name):
    with npx.np_default_dtype():
        agrees(PROGRAMS[name], A)


def test_min_scalar_type_of_a_0d_array_looks_at_its_value(backend):
    assert np.min_scalar_type(np.array(300)) == np.uint16
    with pytest.raises(TypeError, match="compiled"):
        npx.jit(lambda a: np.min_scalar_type(a))(np.array(300))


@pytest.mark.parametrize("wrong", [onp.inf, onp.nan])
def test_what_must_be_finite_is_checked(wrong, backend):
    with pytest.raises(ValueError, match="array must not contain infs or NaNs"):
        np.asarray_chkfinite([1.0, wrong])
    with pytest.raises(ValueError, match="array must not contain infs or NaNs .compiled at"):
        npx.jit(np.asarray_chkfinite)(np.array([1.0, wrong])).wait_to_read()


def test_common_types_are_by_the_default_float():
    assert np.common_type(np.arange(3)) is np.float32
    assert np.common_type(np.arange(3), np.zeros(2, dtype="float64")) is np.float64


def test_require_of_fortran_order_and_memory_of_its_own():
    made = np.require(np.ones((2, 3)), requirements=["F", "O"])
    assert made.flags.f_contiguous and made.flags.owndata


def test_astype_places_what_it_makes():
    assert np.astype(np.ones(2), int, device="cpu").dtype == np.int64


def test_info_describes_arrays_and_functions(capsys):
    np.info(np.ones((2, 3)))
    assert "shape:  (2, 3)" in capsys.readouterr().out
    printed = io.StringIO()
    np.info(np.select, output=printed)
    assert "first true condition" in printed.getvalue()


PROGRAM = """
import sys
import npcompat.numpy as np
assert not {"npcompat.numpy.ma", "npcompat.numpy.typing"} & set(sys.modules)
import numpy
from npcompat.numpy.typing import ArrayLike, NDArray
from npcompat.numpy.exceptions import AxisError
import npcompat.numpy.ma
assert np.ma.masked is numpy.ma.masked and np.typing.NDArray is numpy.typing.NDArray and NDArray is np.typing.NDArray
assert np.strings.upper(numpy.array(["a"])) == "A" and np.char.upper("a") == "A"
assert np.rec.recarray is np.recarray and np.ctypeslib.as_array is numpy.ctypeslib.as_array
assert np.dtypes.Float32DType is numpy.dtypes.Float32DType and AxisError is numpy.exceptions.AxisError
for name in np.__all__:
    getattr(np, name)
try:
    np.nothing
except AttributeError as error:
    print(error)
"""


def test_numpys_own_modules_are_there_when_they_are_asked_for():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "module 'npcompat.numpy' has no attribute 'nothing'\n"


def test_dates_strings_and_matrices_are_numpys():
    assert np.isnat(np.datetime64("NaT", "s")) and np.busday_count("2024-01-01", "2024-01-08") == 5
    assert np.datetime_as_string(np.busday_offset("2024-01-06", 0, roll="forward")) == "2024-01-08"
    assert (
        np.issubdtype(np.str_, np.character)
        and np.sctypeDict["float32"] is np.float32
        and np.isdtype(np.int8, "integral")
    )
    assert np.__version__ == onp.__version__


class Holder:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_objects_may_give_arrays_of_ours(backend):
    a = np.array([1, 2])
    assert np.array(Holder(a)).tolist() == [1, 2]
    assert np.array([Holder(a), [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert (np.ones(2, int) + Holder(a)).tolist() == [2, 3]
    assert np.array([Holder(a)], dtype="float64").dtype == "float64"


def test_copies_are_asked_for_in_numpys_words(backend):
    a = np.array([1, 2])
    modes = onp._CopyMode
    assert np.asarray(a, copy=modes.IF_NEEDED) is a and np.array(a, copy=modes.NEVER) is a
    assert np.array(a, copy=modes.ALWAYS) is not a
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(a, float, copy=modes.NEVER)


def test_numbers_of_ours_become_strings_as_numpys_do(backend):
    with npx.np_default_dtype():
        for program in (
            lambda xp: xp.array([xp.array(1.5)], dtype="S4"),
            lambda xp: xp.array([xp.array([1.5])[0], "x"], dtype="U"),
            lambda xp: xp.array([xp.array("ab", "O"), xp.array("c", "O")], dtype="S"),
        ):
            ours, theirs = program(np), program(onp)
            assert ours.tolist() == theirs.tolist() and ours.dtype == theirs.dtype
    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        np.array([[1, 2], [3]])


EDGES = {
    "classes of dtypes": lambda xp, a: [
        xp.array(xp.array("abc", "O"), dtype=onp.dtypes.BytesDType).dtype,
        a.astype(onp.dtypes.Float32DType),
    ],
    "a class of many dtypes": lambda xp, a: xp.zeros(2, onp.dtype),
    "fill with a list": lambda xp, a: a.fill([1.0]),
    "fill with an array": lambda xp, a: a.fill(xp.array([1.0])),
    "fill with a 0-d array": lambda xp, a: (a.fill(xp.array(3)), a)[1],
    "fill objects with a list": lambda xp, a: (lambda o: (o.fill([]), o)[1])(
        xp.zeros(2, "O")
    ).tolist(),
    "resize to nothing given": lambda xp, a: (lambda b: (b.resize(), b.resize(None), b)[2])(
        a.copy()
    ),
    "ndmin beyond ndmax": lambda xp, a: xp.array([1], ndmin=3, ndmax=2),
    "too many axes": lambda xp, a: xp.array([1], ndmin=66),
    "a scalar is copied": lambda xp, a: xp.array(1.0, copy=False),
    "endless steps": lambda xp, a: [
        xp.arange(0, 1, xp.inf),
        xp.arange(0, -1, xp.inf),
        xp.arange(0, 1, -xp.inf),
    ],
    "copyto where numbers are true": lambda xp, a: (xp.copyto(a[0], 9, where=[1, 0, 2]), a)[1],
    "copyto where an array of numbers": lambda xp, a: xp.copyto(a[0], 9, where=xp.array([1, 0, 2])),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges_are_numpys(name):
    with npx.np_default_dtype():
        agrees(EDGES[name], A, modes=["jax", "numpy"])


@pytest.mark.usefixtures("placed")
def test_the_dtype_of_another_library_says_whether_elements_are_complex():
    class Values(list):
        dtype = complex

    class Frame:
        dtype = type("Kind", (), {"type": onp.complex128})

    assert np.iscomplexobj(Values([1j])) and np.iscomplexobj(Frame()) and not np.isrealobj(Frame())
    assert np.isrealobj(Values([1.0]))


class Giving:
    """An object whose `__array__` gives an array."""

    def __init__(self, array):
        self.array, self.asked = array, []

    def __array__(self, dtype=None, copy=None):
        self.asked.append(copy)
        return self.array


@pytest.mark.usefixtures("placed")
def test_an_object_that_gives_an_array_of_ours_stands_for_it():
    a = np.arange(3)
    giving = Giving(a)
    assert (
        np.asarray(giving) is a
        and np.array(giving, copy=True) is a
        and giving.asked == [None, True]
    )
    b = np.zeros(3, int)
    b[...] = giving
    assert b.tolist() == [0, 1, 2]


@pytest.mark.usefixtures("placed")
def test_lists_that_hold_themselves():
    rows = []
    rows.append(rows)
    assert np.array([rows, rows], dtype=object).shape[:2] == (2, 1)


@pytest.mark.usefixtures("placed")
def test_no_axis_is_the_least_that_an_array_can_have():
    assert np.array([1, [2, 3]], object, ndmax=0).shape == ()
    with pytest.raises(ValueError, match="maximum number of dimension"):
        np.array([1, 2], ndmax=0)
    with pytest.raises(ValueError, match="ndmin must be <= ndmax"):
        np.array(1, ndmin=1, ndmax=0)


@pytest.mark.usefixtures("placed")
def test_a_list_within_itself_is_refused():
    endless = [1]
    endless.append(endless)
    alone = []
    alone.append(alone)
    for given in (endless, alone):
        with pytest.raises(ValueError, match="setting an array element with a sequence"):
            np.array(given)


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize(
    "dtype", [None, "float32", "float64", "int16", "complex64", "bool", "object", "U3"]
)
@pytest.mark.parametrize(
    "data",
    [
        [1.5, 2],
        [[1, 2.5], (3, 4)],
        [],
        [[], []],
        [True, 0.5],
        ((1j,), [2]),
        [3.0, onp.float64(1)],
        [2**63, 1],
    ],
)
def test_arrays_of_lists_are_as_numpy_makes_them(data, dtype):
    with npx.np_default_dtype(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what NumPy says of lost parts
        for name in ("array", "asarray"):
            modes = (
                ("jax", "numpy") if dtype in ("object", "U3") else MODES
            )  # these live on the host
            agrees(lambda xp, function=name: getattr(xp, function)(data, dtype), modes=modes)


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("data", [[1.5, 2], [[1, 2.5], (3, 4)], [], [[], []], [True, 0.5]])
def test_floats_of_python_are_of_the_default_dtype(data):
    assert np.array(data).dtype == np.asarray(data).dtype == "float32" and np.array(
        data
    ).shape == onp.shape(data)
    assert np.array([*data, onp.ones(onp.shape(data)[1:])]).dtype == "float64"
