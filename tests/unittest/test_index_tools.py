"""Grids, positions, functions applied by condition and along axes, iteration: as NumPy, on both
backends and compiled.
"""

from typing import Any

import numpy as onp
import pytest
from oracle import agrees

from npcompat import autograd, np, npx

A = onp.arange(12.0).reshape(3, 4)
I = onp.array([[3, 0], [1, 2]])
V = onp.array([1.5, -2.0, 0.5])
MASK = onp.array([True, False, True])

GRIDS = {
    "mgrid": lambda xp: xp.mgrid[0:3, 1:7:2],
    "mgrid of one axis": lambda xp: xp.mgrid[2:9:3],
    "mgrid by count": lambda xp: (xp.mgrid[0:1:5j], xp.mgrid[-1:1:5j, 0:3]),
    "mgrid of floats": lambda xp: (xp.mgrid[0:1:0.25], xp.mgrid[:2, 0.5:2]),
    "mgrid of nothing": lambda xp: (xp.mgrid[0:0], xp.mgrid[3:0, 0:2]),
    "mgrid of a count of one": lambda xp: xp.mgrid[0:1:1j],
    "mgrid of numpy numbers": lambda xp: xp.mgrid[
        onp.float32(0) : onp.float32(1) : onp.float32(0.5)
    ],
    "ogrid": lambda xp: xp.ogrid[0:3, 1:7:2],
    "ogrid by count": lambda xp: (xp.ogrid[0:1:5j], xp.ogrid[0:1:3j, 0:2]),
    "diag_indices": lambda xp: xp.diag_indices(3) + xp.diag_indices(2, 3),
    "tril_indices": lambda xp: xp.tril_indices(3) + xp.tril_indices(3, -1, 4) + xp.tril_indices(0),
    "triu_indices": lambda xp: xp.triu_indices(3) + xp.triu_indices(3, 2, 4),
    "mask_indices": lambda xp: xp.mask_indices(3, xp.triu) + xp.mask_indices(3, xp.tril, -1),
    "r_ of ranges": lambda xp: (xp.r_[1:4], xp.r_[1:4, 0, 7], xp.r_[0:1:3j, 5], xp.r_[5:0:-2]),
}
PROGRAMS = {
    "r_": (lambda xp, v: xp.r_[v, 1, 0:3, v], V),
    "r_ of scalars and an array": (lambda xp, v: xp.r_[1, v, 2.5], I[0]),
    "r_ of rows": (lambda xp, a: xp.r_["0,2", a, a[0]], A),
    "r_ of columns": (lambda xp, a: xp.r_["-1", a, a], A),
    "r_ with a place": (
        lambda xp, v: (
            xp.r_["0,3,0", v, v],
            xp.r_["1,3,1", v, v],
            xp.r_["0,2,-1", 0:3, v],
            xp.r_["1,2,0", 0:3, v],
        ),
        V,
    ),
    "c_": (lambda xp, v: (xp.c_[v, v], xp.c_[v.reshape(1, 3), 0, 1], xp.c_[0:3]), V),
    "r_ unknown directive": (lambda xp, v: xp.r_["x", v], V),
    "r_ misplaced directive": (lambda xp, v: xp.r_[v, "0"], V),
    "diag_indices_from": (lambda xp, a: xp.diag_indices_from(a[:, :3]), A),
    "diag_indices_from of a vector": (lambda xp, v: xp.diag_indices_from(v), V),
    "diag_indices_from of a rectangle": (lambda xp, a: xp.diag_indices_from(a), A),
    "tril_indices_from": (lambda xp, a: xp.tril_indices_from(a) + xp.triu_indices_from(a, 1), A),
    "tril_indices_from of a vector": (lambda xp, v: xp.tril_indices_from(v), V),
    "triu_indices_from of a vector": (lambda xp, v: xp.triu_indices_from(v), V),
    "ravel_multi_index": (lambda xp, i: xp.ravel_multi_index((i, i[0]), (4, 5)), I),
    "ravel_multi_index in F order": (
        lambda xp, i: xp.ravel_multi_index((i, i[0]), (4, 5), order="F"),
        I,
    ),
    "ravel_multi_index of an array": (lambda xp, i: xp.ravel_multi_index(i, (4, 5)), I),
    "ravel_multi_index of numbers": (lambda xp, i: xp.ravel_multi_index((1, i[0]), (4, 5)), I),
    "ravel_multi_index of small integers": (
        lambda xp, i: xp.ravel_multi_index((i, i), (4, 5)),
        I.astype("uint8"),
    ),
    "ravel_multi_index, other modes": (
        lambda xp, i: (
            xp.ravel_multi_index((i - 5, i + 3), (2, 4), mode="wrap"),
            xp.ravel_multi_index((i - 5, i + 3), (2, 4), mode=("clip", "wrap")),
        ),
        I,
    ),
    "ravel_multi_index of nothing": (
        lambda xp, i: xp.ravel_multi_index((i[:0, 0], i[:0, 0]), (2, 4)),
        I,
    ),
    "ravel_multi_index of floats": (lambda xp, v: xp.ravel_multi_index((v, v), (3, 4)), V),
    "ravel_multi_index of too few": (lambda xp, i: xp.ravel_multi_index((i,), (3, 4)), I),
    "ravel_multi_index of an unknown mode": (
        lambda xp, i: xp.ravel_multi_index((i, i), (3, 4), mode="bounce"),
        I,
    ),
    "unravel_index": (lambda xp, i: xp.unravel_index(i, (2, 3)), I),
    "unravel_index in F order": (lambda xp, i: xp.unravel_index(i, (2, 3), order="F"), I),
    "unravel_index along one axis": (lambda xp, i: xp.unravel_index(i, 5), I),
    "unravel_index of nothing": (lambda xp, i: xp.unravel_index(i[:0], (0, 3)), I),
    "unravel_index of small integers": (
        lambda xp, i: xp.unravel_index(i, (2, 3)),
        I.astype("int8"),
    ),
    "unravel_index of a 0-d array": (lambda xp, i: xp.unravel_index(i[0, 0], (2, 3)), I),
    "unravel_index of a float": (lambda xp, v: xp.unravel_index(v, (2, 3)), V),
    "unravel_index of uint64": (lambda xp, i: xp.unravel_index(i, (2, 3)), I.astype("uint64")),
    "unravel_index of lists": (
        lambda xp, a: (xp.unravel_index([0, 5], (2, 3)), xp.unravel_index(5, (2, 3))),
        A,
    ),
    "unravel_index of an empty list": (lambda xp, a: xp.unravel_index([], (2, 3)), A),
    "ravel_multi_index of lists": (lambda xp, a: xp.ravel_multi_index(([0, 1], [2, 1]), (2, 3)), A),
    "ravel_multi_index of lists outside": (
        lambda xp, a: xp.ravel_multi_index(([0, 1], [2, 3]), (2, 3)),
        A,
    ),
    "unravel_index in no shape": (lambda xp, i: xp.unravel_index(i, ()), I),
    "select": (lambda xp, v: xp.select([v < 0, v > 1], [v, v**2], 42), V),
    "select of conditions that both hold": (lambda xp, v: xp.select([v < 1, v < 2], [v, -v]), V),
    "select of scalars": (lambda xp, v: xp.select([v < 0, v > 1], [1, 2]), V),
    "select of mixed dtypes": (
        lambda xp, i: xp.select([i < 1, i > 2], [i, 1.5], 7),
        I.astype("int32"),
    ),
    "select that broadcasts": (
        lambda xp, a: xp.select([a[0] < 2, a[:, :1] > 3], [a, a[0]], a[:, 1:2]),
        A,
    ),
    "select of 0-d arrays": (lambda xp, v: xp.select([v[0] > 0], [v[1]]), V),
    "select with a wider default": (lambda xp, v: xp.select([v > 1], [v], 1j), V),
    "select without conditions": (lambda xp, v: xp.select([], []), V),
    "select of too few": (lambda xp, v: xp.select([v > 0], [v, v]), V),
    "select of numbers": (lambda xp, v: xp.select([v], [v]), V),
    "piecewise of constants": (lambda xp, v: xp.piecewise(v, [v < 0, v > 1], [1, 2, 3]), V),
    "piecewise of one condition": (
        lambda xp, v: (xp.piecewise(v, v < 0, [1, 2]), xp.piecewise(v, [True, False, True], [1])),
        V,
    ),
    "piecewise of a 0-d array": (lambda xp, v: xp.piecewise(v[0, ...], [v[0] > 0], [4, 5]), V),
    "piecewise of one number": (lambda xp, v: xp.piecewise(v[0, ...], v[0] > 1, [4, 5]), V),
    "piecewise of too many": (lambda xp, v: xp.piecewise(v, [v < 0], [1, 2, 3]), V),
    "piecewise of matrices": (
        lambda xp, a: xp.piecewise(a, [a < 3, a > 8], [lambda x: x.sum(), 7, lambda x: x / 2]),
        A,
    ),
    "piecewise keeps the dtype": (
        lambda xp, i: xp.piecewise(i, [i < 2], [lambda x: x + 0.75, 2.5]),
        I,
    ),
    "apply_along_axis": (
        lambda xp, a: [xp.apply_along_axis(lambda x: x.sum(), axis, a) for axis in (0, 1, -1)],
        A,
    ),
    "apply_along_axis of a function that keeps the axis": (
        lambda xp, a: [xp.apply_along_axis(lambda x: x - x[0], axis, a) for axis in (0, 1)],
        A,
    ),
    "apply_along_axis of a function that adds axes": (
        lambda xp, a: [xp.apply_along_axis(xp.diag, axis, a) for axis in (0, 1)],
        A,
    ),
    "apply_along_axis of three axes": (
        lambda xp, a: xp.apply_along_axis(
            lambda x, n, k=0: x[:n] + k, 1, a.reshape(2, 3, 2), 2, k=1
        ),
        A,
    ),
    "apply_along_axis of an array of one axis": (
        lambda xp, v: xp.apply_along_axis(xp.max, 0, v),
        V,
    ),
    "apply_along_axis of nothing": (lambda xp, a: xp.apply_along_axis(xp.max, 0, a[:, :0]), A),
    "apply_along_axis of no axis": (lambda xp, a: xp.apply_along_axis(xp.max, 2, a), A),
    "apply_over_axes": (
        lambda xp, a: (xp.apply_over_axes(xp.sum, a, [0, 1]), xp.apply_over_axes(xp.sum, a, -1)),
        A,
    ),
    "apply_over_axes of a function that does neither": (
        lambda xp, a: xp.apply_over_axes(lambda x, axis: x.reshape(1, 1, 3, 4), a, 0),
        A,
    ),
    "broadcast": (
        lambda xp, a: (lambda b: (b.shape, b.ndim, b.nd, b.size, b.numiter, b.index))(
            xp.broadcast(a, a[0], 1)
        ),
        A,
    ),
    "broadcast of what does not fit": (lambda xp, a: xp.broadcast(a, a[0, :3]), A),
    "broadcast of broadcast": (
        lambda xp, a: xp.broadcast(xp.broadcast(a[:, :1], a[0]), a).shape,
        A,
    ),
    "elements": (
        lambda xp, a: [[xp.asarray(x), *place] for place, x in xp.ndenumerate(a[:2, ::3])],
        A,
    ),
    "elements of a 0-d array": (
        lambda xp, a: [[xp.asarray(x), *place] for place, x in xp.ndenumerate(a[0, 0])],
        A,
    ),
    "elements in step": (
        lambda xp, a: [xp.asarray(x + y) for x, y in xp.broadcast(a[:2, :1], a[0, :2])],
        A,
    ),
}
EAGER = {
    "piecewise of functions": (lambda xp, v: xp.piecewise(v, [v < 0, v > 1], [lambda x: -x, lambda x, n: x * n, 9], 4), V),
    "piecewise of a function that is not called": (lambda xp, v: xp.piecewise(v, [v < -9], [lambda x: 1 / 0, lambda x: x]), V),
    "trim_zeros": (lambda xp, v: (xp.trim_zeros(v), xp.trim_zeros(v, "f"), xp.trim_zeros(v, "B")), onp.array([0, 0, 1, 0, 2, 0])),
    "trim_zeros of a matrix": (lambda xp, a: (xp.trim_zeros(a), xp.trim_zeros(a, axis=0), xp.trim_zeros(a, "f", axis=(0, 1))), onp.pad(A[:2, 1:], 2)),
    "trim_zeros of zeros": (lambda xp, a: (xp.trim_zeros(a), xp.trim_zeros(a, axis=())), onp.zeros((2, 3))),
    "trim_zeros of a list": (lambda xp, a: xp.trim_zeros([0, 1, 0]), A),
    "trim_zeros otherwise": (lambda xp, v: xp.trim_zeros(v, "x"), V),
    "trim_zeros along no axis": (lambda xp, v: xp.trim_zeros(v, axis=1), V),
    "vectorize": (lambda xp, v: xp.vectorize(lambda x, y: x if x > y else y)(v, 0.5), V),
    "vectorize of several results": (lambda xp, v: xp.vectorize(lambda x: (x > 0, int(x)))(v), V),
    "vectorize with dtypes": (lambda xp, i: (xp.vectorize(lambda x: x / 2, otypes=["f"])(i), xp.vectorize(lambda x: x, otypes="d")(i)), I),
    "vectorize with what is excluded": (lambda xp, v: xp.vectorize(lambda x, p: x + len(p), excluded=["p"])(v, p=[1, 2, 3]), V),
    "vectorize with a cache": (lambda xp, v: xp.vectorize(lambda x: x * 2, cache=True)(v), V),
    "vectorize with a signature": (lambda xp, a: xp.vectorize(lambda x: x.sum(), signature="(n)->()")(a), A),
    "vectorize with a signature of several": (lambda xp, a: xp.vectorize(lambda x, y: x * y.sum(), signature="(n),(m)->(n)")(a, a[0, :2]), A),
    "vectorize of nothing": (lambda xp, v: xp.vectorize(lambda x: x)(v[:0]), V),
    "vectorize of nothing with dtypes": (lambda xp, v: xp.vectorize(lambda x: x, otypes="d")(v[:0]), V),
    "nditer": (lambda xp, a: [float(x) for x in xp.nditer(a[:, ::2])], A),
    "nditer in memory order": (lambda xp, a: ([float(x) for x in xp.nditer(a.T)], [float(x) for x in xp.nditer(a.T, order="C")]), A),
    "nditer backwards": (lambda xp, a: [float(x) for x in xp.nditer(a[::-1])], A),
    "nditer of two": (lambda xp, a: [float(x) * float(y) for x, y in xp.nditer([a, a[:, :1]])], A),
    "nditer of a read-only array": (lambda xp, a: (a.setflags(write=False), xp.nditer(a, op_flags=["readwrite"]))[1], A),
    "nditer that fails": (lambda xp, a: xp.nditer([a, a[0, :3]]), A),
}  # fmt: skip


def in_numpys_dtypes(program, *arrays, **options):
    with npx.np_default_dtype():
        return agrees(program, *arrays, **options)


@pytest.mark.parametrize("name", GRIDS)
def test_grids(name):
    in_numpys_dtypes(GRIDS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_computed(name):
    program, *arrays = PROGRAMS[name]
    in_numpys_dtypes(program, *arrays)


@pytest.mark.parametrize("name", EAGER)
def test_computed_when_values_are_known(name):
    program, *arrays = EAGER[name]
    in_numpys_dtypes(program, *arrays, modes=("jax", "numpy"))


def test_grids_have_the_default_float():
    assert np.mgrid[0:1:3j].dtype == np.r_[0:1:3j].dtype == np.float32
    assert np.ogrid[0.0:2, 0:2][1].dtype == np.float32
    assert np.mgrid[0:2].dtype == np.int64
    assert np.mgrid[onp.float64(0) : 1 : 3j].dtype == np.float64
    assert np.r_[np.array([1.0]), 2].dtype == np.float32


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_is_numpys():
    assert isinstance(np.r_["c", 1:4], onp.matrix) and np.r_["r", np.arange(3)].shape == (1, 3)
    a = np.array([[1, 2]])
    assert np.r_["a;a"].tolist() == [[1, 2], [1, 2]] and a is not None


@pytest.mark.parametrize(
    "call",
    [
        lambda i: np.ravel_multi_index((i, i), (3, 4)),
        lambda i: np.unravel_index(i, (3, 1)),
        lambda i: np.unravel_index(-i, (3, 4)),
    ],
)
def test_positions_out_of_range_raise(call, backend):
    i = np.array([[3, 0], [1, 2]])
    with pytest.raises(
        ValueError, match="invalid entry in coordinates array|index is out of bounds"
    ):
        call(i)
    with pytest.raises(ValueError, match="compiled at .*test_index_tools"):
        np.asarray(npx.jit(call)(i)).wait_to_read()


def test_what_is_selected_and_applied_is_differentiated(backend):
    x = np.array([1.0, -2.0, 3.0])
    x.attach_grad()
    for program, expected in (
        (lambda: np.select([x < 0, x > 2], [x**2, 5 * x], x), [1, -4, 5]),
        (
            lambda: np.piecewise(x, [x < 0, x > 2], [lambda v: v**2, lambda v: 5 * v, lambda v: v]),
            [1, -4, 5],
        ),
        (lambda: np.apply_along_axis(lambda v: v * v.sum(), 1, x.reshape(1, 3)), [4, 4, 4]),
        (lambda: np.r_[x, 2 * x, 1], [3, 3, 3]),
        (lambda: np.apply_over_axes(np.sum, x.reshape(1, 3), [0, 1]), [1, 1, 1]),
    ):
        with autograd.record():
            y = program()
        y.backward()
        assert x.grad.tolist() == expected


def test_what_depends_on_values_is_not_compiled():
    x = np.array([1.0, -2.0, 0.0])
    for program in (
        np.trim_zeros,
        np.vectorize(lambda v: v),
        lambda a: np.piecewise(a, [a < 0], [np.sort]),
        np.nditer,
    ):
        with pytest.raises(TypeError, match="compiled"):
            npx.jit(program)(x)


# --- functions of scalars, iterators --------------------------------------------------------------


def test_vectorize_decorates_and_keeps_the_default_float(backend):
    @np.vectorize(otypes=[bool])
    def positive(x):
        """Return True for a positive number."""
        return x > 0

    assert positive.__doc__ == "Return True for a positive number." and positive(
        np.array([1, -1])
    ).tolist() == [True, False]
    halved = np.vectorize(lambda x: x / 2)
    assert halved(np.array([1, 2])).dtype == np.float32
    assert halved(np.array([1.0, 2.0], dtype="float64")).dtype == np.float64
    assert np.vectorize(lambda x: x / 2, otypes=[np.float64])(3).dtype == np.float64
    assert isinstance(np.vectorize(str)(np.array([1])), np.ndarray)
    kept = np.vectorize(lambda x, table: float(table[x]), excluded={1})
    table = np.array([5.0, 6.0])
    assert kept(np.array([1, 0]), table).tolist() == [6, 5]


def test_functions_from_python_return_objects(backend):
    largest = np.frompyfunc(max, 2, 1)
    found = largest(np.array([1, 5]), 3)
    assert type(found) is np.ndarray and found.dtype == object and found.tolist() == [3, 5]
    assert largest.reduce(np.array([1, 5, 2])) == 5 and (largest.nin, largest.nout) == (2, 1)
    assert largest.outer([1, 4], [2, 3]).tolist() == [[2, 3], [4, 4]]
    assert np.frompyfunc(lambda x, y: x + y, 2, 1, identity=0).identity == 0


def test_a_broadcast_begins_again(backend):
    together = np.broadcast(np.array([1, 2]), 10)
    assert [int(x + y) for x, y in together] == [11, 12] and together.index == 2
    together.reset()
    assert together.index == 0 and [int(x) for x in together.iters[1]] == [10, 10]
    assert (
        isinstance(np.arange(2).flat, np.flatiter)
        and np.iterable([])
        and not np.iterable(np.array(1))
    )


@pytest.mark.parametrize("values", ["distinct", "few", "one", "ascending", "zeros", "extreme"])
@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int32", "uint32", "int8"]
)
def test_argsort_of_many_is_stable(backend, dtype, values):
    state = onp.random.RandomState(0)
    made = {
        "distinct": lambda: state.permutation(20 * 130),
        "few": lambda: state.randint(0, 5, 20 * 130),
        "one": lambda: onp.ones(20 * 130),
        "ascending": lambda: onp.arange(20 * 130) // 3,
        "zeros": lambda: state.choice([0.0, -0.0, 1.0], 20 * 130),
        "extreme": lambda: state.choice(
            [onp.nan, -onp.nan, onp.inf, -onp.inf, 1.0] if dtype[0] == "f" else [-128, 127],
            20 * 130,
        ),
    }[values]()
    host = (made % 100 if dtype == "int8" else made).astype(dtype).reshape(20, 130)
    for a in (host, host.T, host[::-2], host.reshape(-1)):
        for axis in (-1, 0, None):
            assert onp.array_equal(
                np.argsort(np.array(a), axis).asnumpy(), onp.argsort(a, axis, kind="stable")
            )


def test_descending_order(backend):
    a = np.array([[3.0, 1.0, 3.0], [2.0, 5.0, 4.0]])
    assert np.sort(a, descending=True).tolist() == [[3, 3, 1], [5, 4, 2]]
    assert np.sort(a, axis=None, descending=True).tolist() == [5, 4, 3, 3, 2, 1]
    assert np.argsort(a, descending=True, stable=True).tolist() == [[0, 2, 1], [1, 2, 0]]
    assert np.argsort(a, axis=0, descending=True).tolist() == [[0, 1, 1], [1, 0, 0]]
    assert np.sort(np.array([], dtype="int8"), descending=True).dtype == "int8"
    assert (
        np.argsort(a, -1, True).tolist() == a.argsort(-1, True).tolist() == [[0, 2, 1], [1, 2, 0]]
    )
    assert np.sort(a, -1, True).tolist() == [[3, 3, 1], [5, 4, 2]], "as in MXNet"
    assert np.sort(a, -1, False).tolist() == [[1, 3, 3], [2, 4, 5]]
    with pytest.raises(ValueError, match="descending is given twice"):
        np.argsort(a, -1, True, descending=True)
    with pytest.raises(ValueError, match="descending=True and order="):
        np.sort(onp.zeros(2, [("x", int)]), order="x", descending=True)
    with pytest.raises(ValueError, match="kind='stable' and descending=True"):
        np.sort(a, kind="stable", descending=True)


NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "dtype", "order"),
    [
        ([3, NAN, 1, -0.0, 2, NAN, 0.0], "float32", [0, 4, 2, 3, 6, 1, 5]),
        ([3, NAN, 1, -0.0, 2, NAN, 0.0], "float16", [0, 4, 2, 3, 6, 1, 5]),
        ([1, complex(2, NAN), 1 + 2j, complex(NAN, 1), 2], "complex64", [4, 2, 0, 1, 3]),
        ([1, 3, 2, 3], "int8", [1, 3, 2, 0]),
        ([1, 3, 2, 3], "uint16", [1, 3, 2, 0]),
        ([False, True, False], "bool", [1, 0, 2]),
    ],
)
def test_nan_comes_last_in_descending_order_and_ties_keep_theirs(backend, values, dtype, order):
    a, onps = np.array(values, dtype), onp.array(values, dtype)
    compiled = npx.jit(lambda a: np.sort(a, descending=True))(a)
    in_place = a.copy()
    in_place.sort(descending=True)
    for found in (np.sort(a, descending=True), compiled, in_place):
        onp.testing.assert_array_equal(found.asnumpy(), onps[order], strict=True)
    assert np.argsort(a, descending=True).tolist() == order
    assert a.argsort(descending=True).tolist() == order
    if onp.lib.NumpyVersion(onp.__version__) >= "2.5.0":
        newest: Any = onp  # older stubs lack the argument
        assert newest.argsort(onps, descending=True, stable=True).tolist() == order


def test_not_a_time_comes_last_in_descending_order():
    a = onp.array(["NaT", "2020-01-01", "2021-01-01", "NaT"], "M8[D]")
    assert onp.isnat(np.sort(a, descending=True)).tolist() == [False, False, True, True]
    assert np.argsort(a, descending=True).tolist() == [2, 1, 0, 3]
    assert np.sort(a - a[1], descending=True)[0] == onp.timedelta64(366, "D")


def test_what_an_iterator_yields_outlives_it(backend):
    expected = onp.arange(1000, dtype=">i4")
    found = [
        next(
            np.nditer(
                (np.array(expected),),
                ["buffered", "external_loop"],
                op_dtypes=["f8"],
                casting="unsafe",
            )
        )
        for _ in range(20)
    ]
    assert all((f == expected).all() for f in found)


def test_an_operand_that_is_cast_is_written_through_its_copy(backend):
    a = np.arange(6.0).astype("f8")
    with np.nditer(
        a, [], [["readwrite", "updateifcopy"]], casting="same_kind", op_dtypes=["f4"]
    ) as it:
        assert it.operands[0].dtype == "f4"
        it.operands[0][...] = 3
    assert a.tolist() == [3] * 6


@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.logspace(0, 1, 3, base=[[2.0], [3.0]], axis=1),
        lambda xp: xp.logspace([0, 1], 2, 3, base=[2.0, 3.0]),
        lambda xp: xp.logspace(0, [1, 2], 3, base=[[2.0, 4.0]], axis=-1),
        lambda xp: xp.logspace(xp.float32(0), xp.float32(1), 3, base=10),
        lambda xp: xp.geomspace(1, -1000, 4, dtype=complex),
        lambda xp: xp.linspace(0, 1, 2.5),
    ],
)
def test_spaces_are_numpys(program):
    with npx.np_default_dtype():
        agrees(program)


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_values_in_equal_steps_are_rounded_as_numpys(backend):
    with npx.backend(backend), npx.np_default_dtype():
        for arguments in (
            (0, 49, 50),
            (0.1, 0.7, 100),
            (5, 5, 3),
            (0, -7, 13),
            (0, 10, 4, False),
            (2, 3, 0),
            (2, 3, 1),
            (1j, 2 + 3j, 5),
            (-5, 5, 101),
            (-0.3, 0.9, 50),
        ):
            theirs = onp.linspace(*arguments)
            assert onp.array_equal(np.linspace(*arguments).asnumpy(), theirs)
            assert onp.array_equal(
                np.linspace(*map(np.array, arguments[:2]), *arguments[2:]).asnumpy(), theirs
            )
        assert onp.array_equal(np.linspace(0, 49, 50, dtype=int).asnumpy(), onp.arange(50))


@pytest.mark.usefixtures("placed")
def test_iterators_of_a_broadcast_know_their_arrays():
    a, b = np.zeros((2, 3)), np.ones(3)
    together = np.broadcast(a, b)
    assert together.iters[0].base is a and together.iters[1].base is b
    assert [float(x) for x in together.iters[1]] == [1.0] * 6
