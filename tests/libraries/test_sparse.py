"""Arrays beside those of `sparse`, whose functions know NumPy's class; NumPy's arrays are the oracle."""

import numpy as onp
import pytest

from npcompat import np

from .beside import assert_as_with_numpys, lines_of

sparse = pytest.importorskip("sparse")

PROGRAMS = """
c * a | a * c | c @ a | a @ c | c @ v | v @ c | c.dot(a) | onp.add(c, a) | c + z | c - z | c > z | c / z
sparse.dot(c, a) | sparse.matmul(c, a) | sparse.tensordot(c, a, axes=1) | sparse.kron(c, a)
sparse.outer(c, v) | sparse.einsum("ij,jk->ik", c, a) | sparse.elemwise(onp.add, c, z)
c * z | z * c | c**z | c.clip(z * 0, z) | sparse.where(c > 0, c, z) | sparse.full((2, 2), z)
sparse.COO(a) | sparse.COO.from_numpy(a) | sparse.COO.from_numpy(a, fill_value=z) | sparse.GCXS(a)
sparse.GCXS.from_numpy(a) @ a | sparse.DOK.from_numpy(a) | sparse.asarray(a)
"""


def _names(xp):
    return {
        "sparse": sparse,
        "onp": onp,
        "c": sparse.COO.from_numpy(onp.eye(2)),
        "a": xp.array([[1.0, 2.0], [3.0, 4.0]], dtype="float64"),
        "v": xp.array([1.0, 2.0], dtype="float64"),
        "z": xp.array(2.0, dtype="float64"),
    }


def _described(found):
    empty = type(getattr(found, "fill_value", None)).__module__.partition(".")[0]
    elements = found.todense() if hasattr(found, "todense") else found
    return type(found).__name__, onp.asarray(elements).tolist(), empty


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("line", lines_of(PROGRAMS))
def test_sparse_takes_arrays_for_numpys(line, backend):
    assert_as_with_numpys(line, _names, _described, backend)


def test_products_of_sparse_arrays_with_ours_are_right():
    c = sparse.COO.from_numpy(onp.eye(2))
    assert (c @ np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[1, 2], [3, 4]]
