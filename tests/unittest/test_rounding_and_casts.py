"""Small details in which results are NumPy's, on the host, on XLA and compiled."""

import numpy as onp
import pytest

from npcompat import np, npx


def outcome(function, module, make):
    try:
        found = onp.asarray(function(module, make))
    except (TypeError, ValueError) as error:
        return type(error), ""
    return found.dtype, found.tolist()


CALLS = {
    "round of bools": lambda m, a: m.round(a([True, False])),
    "tens": lambda m, a: m.round(a([14, 15, 25, 35, -15]), -1),
    "hundreds of bytes": lambda m, a: m.round(a([14, 149], dtype="uint8"), -2),
    "tens of bytes that overflow": lambda m, a: m.round(a([255], dtype="uint8"), -1),
    "beyond all digits": lambda m, a: m.round(a([14]), -25),
    "integers with decimals": lambda m, a: m.round(a([14]), 1),
    "nothing written into flat": lambda m, a: _flat(a([1.0, 2.0, 3.0]), []),
    "sum of a generator": lambda m, a: m.sum(i for i in range(4)),
    "a float added in place": lambda m, a: a([1]).__iadd__(0.5),
}


def _flat(x, new):
    x.flat[::2] = new
    return x


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("name", CALLS)
def test_details(name, backend):
    with npx.np_default_dtype(True):
        expected = outcome(CALLS[name], onp, onp.array)
        with npx.backend(backend):
            assert outcome(CALLS[name], np, np.array) == expected


def test_rounding_of_integers_in_compiled_functions():
    f = npx.jit(lambda x: np.round(x, -1))
    x = onp.array([14, 15, 25, 35, -15])
    assert f(np.array(x)).tolist() == onp.round(x, -1).tolist()
