"""SciPy's sparse arrays beside ours: with NumPy's in their place, in every format."""

import numpy as onp
import pytest
import scipy.sparse

from npcompat import np, npx

FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
PROGRAMS = """
c * z | z * c | c / z | c + a | a + c | c - a | a - c | c @ v | v @ c | c @ a | a @ c | c.dot(v)
c.multiply(a) | c.multiply(v) | c.multiply(z) | c.maximum(a) | c.minimum(a) | c.maximum(z)
c**i | c.power(i) | c == a | c > z | put(c, (0, 1), z) | put(c, (0, slice(None)), v)
c[i, i] | c[k - 1] | c[:, k] | scipy.sparse.kron(c, a) | scipy.sparse.diags(v)
"""


def put(c, key, value):
    c[key] = value
    return c


def _outcome(program, xp, form):
    names = {
        "put": put,
        "scipy": scipy,
        "c": getattr(scipy.sparse, form)(onp.array([[1.0, 2.0], [0.0, 3.0]])),
        "a": xp.array([[1.0, 2.0], [3.0, 4.0]], dtype="float64"),
        "v": xp.array([1.0, 2.0], dtype="float64"),
        "z": xp.array(2.0, dtype="float64"),
        "i": xp.array(1),
        "k": xp.array([0, 1]),
    }
    try:
        found = eval(program, names)
    except Exception as error:
        return type(error).__name__
    if not scipy.sparse.issparse(found):
        return onp.asarray(found).dtype, onp.asarray(found).tolist()
    held = type(getattr(found, "data", None)).__module__.partition(".")[0]
    return type(found).__name__, found.dtype, found.toarray().tolist(), held


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("form", [f"{f}_{kind}" for f in FORMATS for kind in ("array", "matrix")])
def test_operands_of_sparse_arrays_are_numpys(form, backend):
    for line in PROGRAMS.strip().splitlines():
        for program in line.split(" | "):
            with npx.backend(backend):
                assert _outcome(program, np, form) == _outcome(program, onp, form), program
