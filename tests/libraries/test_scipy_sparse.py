"""SciPy's sparse arrays beside ours: with NumPy's in their place, in every format."""

import numpy as onp
import pytest
import scipy.sparse

from npcompat import np

from .beside import assert_as_with_numpys, lines_of

FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
PROGRAMS = """
c * z | z * c | c / z | c + a | a + c | c - a | a - c | c @ v | v @ c | c @ a | a @ c | c.dot(v)
c.multiply(a) | c.multiply(v) | c.multiply(z) | c.maximum(a) | c.minimum(a) | c.maximum(z)
c**i | c.power(i) | c == a | c > z | put(c, (0, 1), z) | put(c, (0, slice(None)), v)
c[i, i] | c[k - 1] | c[:, k] | c[m, k] | c[k, k] | put(c, (m, k), v) | put(c, (k, k), v)
scipy.sparse.kron(c, a) | scipy.sparse.diags(v)
"""


def put(c, key, value):
    c[key] = value
    return c


def _names(xp, form):
    return {
        "put": put,
        "scipy": scipy,
        "c": getattr(scipy.sparse, form)(onp.array([[1.0, 2.0], [0.0, 3.0]])),
        "a": xp.array([[1.0, 2.0], [3.0, 4.0]], dtype="float64"),
        "v": xp.array([1.0, 2.0], dtype="float64"),
        "z": xp.array(2.0, dtype="float64"),
        "i": xp.array(1),
        "k": xp.array([0, 1]),
        "m": xp.array([True, False]),
    }


def _described(found):
    if not scipy.sparse.issparse(found):
        return onp.asarray(found).dtype, onp.asarray(found).tolist()
    held = type(getattr(found, "data", None)).__module__.partition(".")[0]
    return type(found).__name__, found.dtype, found.toarray().tolist(), held


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("form", [f"{f}_{kind}" for f in FORMATS for kind in ("array", "matrix")])
def test_operands_of_sparse_arrays_are_numpys(form, backend):
    for line in lines_of(PROGRAMS):
        assert_as_with_numpys(line, lambda xp: _names(xp, form), _described, backend)


def test_a_number_times_a_sparse_array_keeps_the_format():
    for form in FORMATS:
        c = getattr(scipy.sparse, f"{form}_array")(onp.eye(2))
        assert (c * np.array(2.0)).format == form and (c * np.array(2.0)).sum() == 4
