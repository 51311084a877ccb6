"""Attempts of calls on the fast and the slow path, in a form that compares equal."""

import warnings

import numpy as onp
import pytest
from internals import Handle, fast_path, handles

from npcompat import np, npx

NEEDED = pytest.mark.skipif(
    fast_path.native is None, reason="the fast path is not compiled, or disabled"
)


KINDS = {
    "float32": onp.linspace(-2, 3, 6, dtype="f4").reshape(2, 3),
    "float64": onp.array([[1.5, -0.0, onp.nan], [onp.inf, 2, -3]]),
    "int32": onp.array([[1, -2, 3], [0, 5, 127]], "i4"),
    "uint8": onp.array([[1, 2, 3], [0, 255, 7]], "u1"),
    "bool": onp.array([[True, False, True], [False, False, True]]),
    "complex64": onp.array([[1 + 2j, 0, -1j], [3, 2, 1]], "c8"),
    "0-d": onp.array(2.0, "f4"),
    "empty": onp.zeros((0, 3), "f4"),
    "row": onp.array([3, 1, 2], "i8"),
    "misfit": onp.ones(4, "f4"),
    "float16": onp.array([1, 2, 3], "f2"),
    "swapped": onp.array([1, 2, 3], ">i4"),
    "objects": onp.array([1, 2.5, 3], object),
    "records": onp.zeros(3, [("x", "f8"), ("y", "i4")]),
    "text": onp.array(["a", "b", "c"]),
}


NUMBERS = (0, 5, 127, 128, -1, 300, 2**40, 2**70, 0.0, -0.0, 2.5, 1e300, float("nan"), 1j, True)


def operands(backend):
    with npx.backend(backend):
        found = {name: np.array(x) for name, x in KINDS.items()}
        found["scalar"] = np.array(KINDS["float32"])[1, 1]
        found["view"] = np.array(KINDS["float64"])[:, ::-1]
        found["transposed"] = np.array(KINDS["int32"]).T
        found["bfloat16"] = np.array([1, 2, 3], dtype="bfloat16")
        found["derived"] = np.array(KINDS["float32"]).view(Derived)
    scalars = (onp.float64(2), onp.float32(-1.5), onp.int8(3), onp.True_, onp.complex64(1j))
    return (
        found
        | {repr(n): n for n in (*NUMBERS, *scalars)}
        | {"list": [1, 2, 3], "numpys": onp.ones(3)}
    )


class Derived(np.ndarray):
    """A class that a user derives."""


def attempted(function, *args):
    """Call a function; return its result and warnings, or its exception, for comparison."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*args)
        except Exception as error:
            text = str(error)
            for python, numpys in (
                ("Float", "Float64"),
                ("Long", "Int64"),
                ("Complex", "Complex128"),
            ):
                text = text.replace(f"_Py{python}DType", f"{numpys}DType")  # of numbers alone
            return type(error), text
    return described(found), sorted({(w.category, str(w.message)) for w in caught}, key=str)


def described(found):
    if isinstance(found, tuple):
        return tuple([described(f) for f in found])
    if not isinstance(found, Handle):
        return type(found), repr(found)
    host = onp.asarray(handles.to_host(found))
    return (
        type(found),
        host.dtype,
        host.shape,
        host.tobytes() if host.dtype != object else repr(host.tolist()),
    )


_KEPT = []  # a buffer that an array shares


def made(x, how):
    """An array of the kind, whose buffer is its own or shared, plain, a view, a view of a view,
    read-only or on its way to be learnt.
    """
    a = np.array(x)
    if how == "view":
        return a[...]
    if how == "reversed" and a.ndim:
        return a[::-1][...]
    if how == "transposed":
        return a.T
    if how == "readonly":
        a.setflags(write=False)
    if how == "shared":
        _KEPT[:] = [a._value.payload]
    if how == "variable" and a.dtype.kind == "f":
        a.attach_grad()
    return a


HOWS = ("plain", "view", "reversed", "transposed", "readonly", "shared", "variable")
