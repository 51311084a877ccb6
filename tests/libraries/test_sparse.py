"""Arrays beside those of `sparse`, whose functions know NumPy's class; NumPy's arrays are the oracle."""

import numpy as onp
import pytest

from npcompat import np, npx

sparse = pytest.importorskip("sparse")

PROGRAMS = """
c * a | a * c | c @ a | a @ c | c @ v | v @ c | c.dot(a) | onp.add(c, a) | c + z | c - z | c > z | c / z
sparse.dot(c, a) | sparse.matmul(c, a) | sparse.tensordot(c, a, axes=1) | sparse.kron(c, a)
sparse.outer(c, v) | sparse.einsum("ij,jk->ik", c, a) | sparse.elemwise(onp.add, c, z)
c * z | z * c | c**z | c.clip(z * 0, z) | sparse.where(c > 0, c, z) | sparse.full((2, 2), z)
sparse.COO(a) | sparse.COO.from_numpy(a) | sparse.COO.from_numpy(a, fill_value=z) | sparse.GCXS(a)
sparse.GCXS.from_numpy(a) @ a | sparse.DOK.from_numpy(a) | sparse.asarray(a)
"""


def _outcome(program, xp):
    names = {
        "sparse": sparse,
        "onp": onp,
        "c": sparse.COO.from_numpy(onp.eye(2)),
        "a": xp.array([[1.0, 2.0], [3.0, 4.0]], dtype="float64"),
        "v": xp.array([1.0, 2.0], dtype="float64"),
        "z": xp.array(2.0, dtype="float64"),
    }
    found = eval(program, names)
    empty = type(getattr(found, "fill_value", None)).__module__.partition(".")[0]
    elements = found.todense() if hasattr(found, "todense") else found
    return type(found).__name__, onp.asarray(elements).tolist(), empty


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("line", PROGRAMS.strip().splitlines())
def test_sparse_takes_arrays_for_numpys(line, backend):
    for program in line.split(" | "):
        with npx.backend(backend):
            assert _outcome(program, np) == _outcome(program, onp), program
