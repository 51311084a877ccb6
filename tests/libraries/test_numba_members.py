"""Arrays as members of numba's classes and containers: written on the host, refused on XLA."""

import warnings

import pytest

from npcompat import np, npx

numba = pytest.importorskip("numba")
experimental = pytest.importorskip("numba.experimental")
typed = pytest.importorskip("numba.typed")
FLOATS = numba.float64[:]


@experimental.jitclass([("data", FLOATS)])
class Bag:
    def __init__(self, data):
        self.data = data

    def write(self):
        self.data[1] = 7


@numba.njit
def write(container):
    container[0][1] = 7


def in_a_class(array):
    Bag(array).write()


def in_a_list(array):
    found = typed.List.empty_list(FLOATS)
    found.append(array)
    write(found)


def in_a_dict(array):
    found = typed.Dict.empty(numba.types.int64, FLOATS)
    found[0] = array
    write(found)


@pytest.mark.parametrize("put", [in_a_class, in_a_list, in_a_dict])
def test_members(put):
    with npx.np_default_dtype(), warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaTypeSafetyWarning)
        array = np.arange(3.0)
        put(array)
        assert array.tolist() == [0, 7, 2]
        with npx.backend("jax"):
            constant = np.arange(3.0)
            copy = constant.copy()
            with pytest.raises(numba.TypingError):
                put(constant)
        assert constant.tolist() == copy.tolist() == [0, 1, 2]
