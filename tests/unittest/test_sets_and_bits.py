"""Sets of two arrays, bits in bytes, and methods of arrays that rearrange: as NumPy."""

import pickle

import numpy as onp
import pytest
from oracle import agrees, assert_alike

from npcompat import np, npx
from npcompat.numpy._ndarray_selection import Selection

A, B = onp.array([[3, 1, 2], [3, 7, 1]]), onp.array([7, 3, 9, 9])
M = onp.array([[3.5, 1.0, 2.0], [0.0, onp.nan, -1.0]])

SETS = {
    "intersect1d": lambda xp, a, b: xp.intersect1d(a, b),
    "intersect1d with positions": lambda xp, a, b: xp.intersect1d(a, b, return_indices=True),
    "intersect1d of distinct elements": lambda xp, a, b: xp.intersect1d(a[0], b[:3], True, True),
    "intersect1d of nothing": lambda xp, a, b: xp.intersect1d(a[:0], b),
    "union1d": lambda xp, a, b: xp.union1d(a, b),
    "union1d of mixed dtypes": lambda xp, a, b: xp.union1d(a, b.astype("float64")),
    "union1d of small dtypes": lambda xp, a, b: xp.union1d(a.astype("int8"), b.astype("uint8")),
    "union1d of 0-d arrays": lambda xp, a, b: xp.union1d(a[0, 0], b[0]),
    "setdiff1d": lambda xp, a, b: (xp.setdiff1d(a, b), xp.setdiff1d(b, a)),
    "setdiff1d of distinct elements": lambda xp, a, b: xp.setdiff1d(
        a[0, ::-1], b, assume_unique=True
    ),
    "setdiff1d of lists": lambda xp, a, b: xp.setdiff1d([3, 1], [3]),
    "setxor1d": lambda xp, a, b: (xp.setxor1d(a, b), xp.setxor1d(a[0], b[:3], assume_unique=True)),
    "isin of texts and numbers": lambda xp, a, b: xp.isin(xp.array(["3", "b"]), b),
    "isin of texts and bytes": lambda xp, a, b: xp.isin(xp.array([b"a"]), xp.array(["a"])),
    "union1d of nan": lambda xp, a, b: xp.union1d(
        xp.asarray([onp.nan, 1.0, onp.nan], dtype="float64"), b
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_sets(name):
    agrees(SETS[name], A, B, modes=("jax", "numpy"))


@pytest.mark.parametrize("function", [np.intersect1d, np.union1d, np.setdiff1d, np.setxor1d])
def test_sets_are_not_compiled(function):
    with pytest.raises(
        TypeError, match=f"np.{function.__name__}: the shape of the result depends on the values"
    ):
        npx.jit(function)(np.array([1, 2]), np.array([2]))


@pytest.mark.parametrize("shift", [2**100, -(2**100) - 1, onp.uint64(2**63 + 2), (2**70, -1), 0])
def test_roll_by_numbers_of_any_size(shift):
    agrees(
        lambda xp, a, b: (
            xp.roll(a, shift),
            xp.roll(a, shift, axis=(0, 1)),
            xp.roll(b[:0], shift),
            a,
        ),
        A,
        B,
        modes=("jax", "numpy"),
    )


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_of_complex_numbers(side):
    parts = [0.0, -0.0, 1.0, -onp.inf, onp.nan]
    found = onp.sort(onp.array([complex(x, y) for x in parts for y in parts]))
    agrees(
        lambda xp, a, b: (
            xp.searchsorted(a, b, side),
            xp.searchsorted(a[:0], b, side),
            xp.searchsorted(a, b[3], side),
        ),
        found,
        found[::-1],
    )


def test_a_sorter_is_within_the_vector():
    for sorter in ([0, 1, 3], [-1, 0, 1]):
        agrees(
            lambda xp, a, b: xp.searchsorted(a[0], 2, sorter=sorter), A, B, modes=("jax", "numpy")
        )


BITS = {
    "packbits of floats": lambda xp, a: xp.packbits(a / 2),
    "packbits of a list": lambda xp, a: xp.packbits([1, 0, True]),
    "packbits along no axis": lambda xp, a: xp.packbits(a, axis=2),
    "packbits of a 0-d array": lambda xp, a: (xp.packbits(a[0, 0]), xp.packbits(a[0, 0], axis=0)),
    "packbits of nothing": lambda xp, a: (
        xp.packbits(a[:, :0], axis=0),
        xp.packbits(a[:, :0], axis=1),
        xp.packbits(a[:0]),
    ),
    "packbits otherwise": lambda xp, a: xp.packbits(a, bitorder="middle"),
    "unpackbits of integers": lambda xp, a: xp.unpackbits(a),
    "unpackbits of a 0-d array": lambda xp, a: xp.unpackbits(a[0, 0].astype("uint8")),
    "unpackbits along no axis": lambda xp, a: xp.unpackbits(a.astype("uint8"), axis=-3),
    "unpackbits otherwise": lambda xp, a: xp.unpackbits(a.astype("uint8"), bitorder="middle"),
    "unpackbits, some": lambda xp, a: [
        xp.unpackbits(a.astype("uint8"), count=n) for n in (0, 5, 60, -3, -48)
    ],
    "unpackbits, fewer than none": lambda xp, a: xp.unpackbits(a.astype("uint8"), count=-49),
    "there and back": lambda xp, a: xp.packbits(xp.unpackbits(a.astype("uint8"), axis=1), axis=1),
}


@pytest.mark.parametrize("name", BITS)
def test_bits(name):
    agrees(BITS[name], A)


# --- methods --------------------------------------------------------------------------------------


def method(xp, name):
    """A method of NumPy's arrays, or of the part of npcompat's that is tested here."""
    return getattr(onp.ndarray if xp is onp else Selection, name)


METHODS = {
    "choose": lambda xp, a, i: method(xp, "choose")(i, [a, 10 * a, 7]),
    "choose, mode": lambda xp, a, i: method(xp, "choose")(i - 1, [a, 10 * a], mode="wrap"),
    "choose, out": lambda xp, a, i: (
        lambda out: (method(xp, "choose")(i, [a, a, a], out=out), out)
    )(xp.zeros((2, 3), dtype="float64")),
    "put": lambda xp, a, i: method(xp, "put")(a, [1, -1], [9, 8]),
    "put into a view": lambda xp, a, i: method(xp, "put")(a.T[1:], i, 5.0, mode="wrap"),
    "put outside": lambda xp, a, i: method(xp, "put")(a, [6], 0),
    "byteswap": lambda xp, a, i: (
        method(xp, "byteswap")(i),
        method(xp, "byteswap")(method(xp, "byteswap")(a)),
    ),
    "byteswap in place": lambda xp, a, i: (method(xp, "byteswap")(i[::-1, 1], inplace=True), i),
}
EAGER = {
    "compress": lambda xp, a, i: (method(xp, "compress")(a, [True, False, True], axis=1), method(xp, "compress")(a, [False, True])),
    "tolist of a pickle": lambda xp, a, i: pickle.loads(method(xp, "dumps")(i)).tolist(),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    agrees(METHODS[name], M, onp.array([[0, 1, 2], [2, 0, 1]]))


@pytest.mark.parametrize("name", EAGER)
def test_methods_whose_result_depends_on_values(name):
    agrees(EAGER[name], M, onp.array([[0, 1, 2], [2, 0, 1]]), modes=("jax", "numpy"))


def test_partition_writes_through_a_view(backend):
    a = np.array([[5, 1, 4], [3, 9, 2]])
    Selection.partition(a.T[:2], 1, axis=0)
    assert a.tolist() == [[1, 5, 4], [3, 9, 2]]
    Selection.partition(a, (0, -1))
    assert (a[:, 0] == a.min(axis=1)).all() and (a[:, -1] == a.max(axis=1)).all()
    order = Selection.argpartition(np.array([3, 1, 2]), 1)
    assert order.tolist()[1] == 2
    for wrong in (lambda: Selection.partition(a, 3), lambda: Selection.partition(a, 0, axis=2)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError, match="integer"):
        Selection.partition(a, 0, axis=None)


def test_partition_compiles():
    def program(a):
        Selection.partition(a[1:], 0)
        return Selection.argpartition(a, 0)

    a = np.array([1, 3, 2])
    assert npx.jit(program)(a).tolist() == [0, 1, 2] and a.tolist() == [1, 2, 3]


def test_arrays_are_written_to_files(backend, tmp_path):
    a, theirs = np.array([[1.5, 2], [3, 4]]), onp.array([[1.5, 2], [3, 4]], dtype="float32")
    Selection.tofile(a.T, tmp_path / "ours")
    theirs.T.tofile(tmp_path / "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    Selection.tofile(a, tmp_path / "text", sep=",", format="%.1f")
    assert (tmp_path / "text").read_text() == "1.5,2.0,3.0,4.0"
    Selection.dump(a, tmp_path / "pickle")
    with open(tmp_path / "pickle2", "wb") as file:
        Selection.dump(a, file)
    for name in ("pickle", "pickle2"):
        assert_alike(pickle.loads((tmp_path / name).read_bytes()), theirs)


@pytest.mark.parametrize("name", ["allclose", "array_equal", "array_equiv"])
def test_questions_about_all_elements_are_answered_in_compiled_functions_too(name):
    question = getattr(np, name)
    x, near = np.array([1.0, np.nan]), np.array([1.0 + 1e-7, np.nan])
    nans = {} if name == "array_equiv" else {"equal_nan": True}
    for a, b in ((x, x), (x, near), (x[:1], near[:1]), (x, np.ones(3))):
        if name == "allclose" and b.shape == (3,):
            continue
        eager = question(a, b, **nans)
        compiled = npx.jit(lambda a, b: question(a, b, **nans))(a, b)
        assert type(eager) is bool and eager == bool(compiled) == getattr(onp, name)(
            a.asnumpy(), b.asnumpy(), **nans
        )
    assert npx.jit(lambda a: np.where(question(a, a), a, 0))(np.ones(2)).tolist() == [1, 1]


@pytest.mark.usefixtures("placed")
def test_arrays_are_not_joined_into_subarrays():
    with pytest.raises(TypeError, match="subarray dtype"):
        np.concatenate([[1], [1]], dtype="(2,)i")
    with pytest.raises(TypeError, match="bitorder"):
        np.unpackbits(np.zeros(1, "uint8"), bitorder=10)
