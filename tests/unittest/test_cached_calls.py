"""Cached calls: equal ones skip the function, with the same results, errors and warnings."""

import functools
import inspect
import itertools

import numpy as onp
import pytest
from both_ways import KINDS, NEEDED, Derived, attempted, described, operands
from internals import REGISTRY, apply_cached, fast_path

from npcompat import autograd, np, npx
from npcompat.numpy._unbound import call_cached

CACHED = {
    "sum": [(), (0,), (None, "f8"), ((0, 1),)],
    "max": [(), (-1,), (5,)],
    "all": [(), (0,)],
    "any": [(), (1,)],
    "prod": [(), (0,)],
    "min": [(), ((),)],
    "mean": [(), (0,)],
    "std": [(), (0,), (0, None, None, 1)],
    "var": [(), (1,)],
    "cumsum": [(), (0,), (0, "f8")],
    "cumprod": [(), (-1,)],
    "round": [(), (1,)],
    "argmax": [(), (0,), (-1,)],
    "argmin": [(), (1,)],
    "sort": [(), (0,), (None,)],
    "argsort": [(), (0,), (None,)],
    "count_nonzero": [(), (0,), (-1,)],
    "clip": [(-1, 1), (0.5, 2.0), (None, 1), (-300, 300), (2, 1), (1, 2.5)],
    "roll": [(1,), (1, 0), (-2, -1), (2**62, 0)],
    "repeat": [(2,), (2, 0), (0, 0), (3, 1)],
    "fft.fft": [(), (None, 0), (2,), (None, -1, "ortho"), (None, -1, "wrong")],
    "fft.ifft": [(), (None, 0)],
    "fft.rfft": [(), (None, 0)],
}


WITH_OTHERS = {
    "dot": ["0-d", "row", "same", "2.5"],
    "inner": ["same", "row", "0-d"],
    "outer": ["row", "same"],
    "where": [("same", "same"), ("0-d", "2.5"), ("5", "same")],
    "take": [
        "row",
        ("row", 0),
        ("row", -1, None, "clip"),
        ("row", 0, None, "wrap"),
        ("row", 0, None, "wrong"),
        "int32",
        "same",
        "0-d",
        ("5", 1),
    ],
}


JOINED = ["concatenate", "stack", "vstack", "hstack", "dstack"]


def first_cached_and_shared(function, *args, **options):
    """Attempt a call with an empty cache, the same again, and one with the function's own cache."""
    fresh = call_cached(function.__wrapped__)
    return [
        attempted(functools.partial(call, **options), *args) for call in (fresh, fresh, function)
    ]


def named(name):
    found = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


@NEEDED
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("backend", "policy"), [("numpy", "float32"), ("numpy", "numpy"), ("jax", "numpy")]
)
@pytest.mark.parametrize("name", [*CACHED, *WITH_OTHERS])
def test_cached_calls_equal_uncached_ones(backend, policy, name):
    kinds = ["float32", "int32", "0-d", "empty", "scalar", "view", "derived", "list"]
    if backend == "numpy":
        kinds += [
            "bool",
            "row",
            "float16",
            "transposed",
            "misfit",
            "float64",
            "complex64",
            "uint8",
            "objects",
            "text",
            "bfloat16",
        ]
    given = operands(backend)
    function, method = named(name), vars(np.ndarray).get(name, getattr(np.ndarray, name, None))
    if name in CACHED:
        calls = [lambda x, rest=rest: (x, *rest) for rest in CACHED[name]]
    else:
        others = [o if isinstance(o, tuple) else (o,) for o in WITH_OTHERS[name]]
        calls = [
            lambda x, rest=rest: (x, *[x if o == "same" else given.get(o, o) for o in rest])
            for rest in others
        ]
    with npx.backend(backend), npx.np_default_dtype(policy == "numpy"):
        for call, kind in itertools.product(calls, kinds):
            args = call(given[kind])
            expected = attempted(function.__wrapped__, *args)
            assert first_cached_and_shared(function, *args) == [expected] * 3, (
                name,
                kind,
                args[1:],
            )
            if isinstance(method, fast_path.native.Method) and isinstance(args[0], np.ndarray):
                assert attempted(method, *args) == attempted(method.__wrapped__, *args), (
                    name,
                    kind,
                    args[1:],
                )


@NEEDED
@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("name", JOINED)
def test_cached_joins_equal_uncached_ones(backend, name):
    given = operands(backend)
    kinds = ["float32", "int32", "0-d", "empty", "row", "list"]
    kinds += (
        ["bool", "scalar", "transposed", "view", "derived", "2.5"] if backend == "numpy" else []
    )
    function = named(name)
    with npx.backend(backend), npx.np_default_dtype():
        for a, b in itertools.product(kinds, kinds):
            for parts in (
                (given[a], given[b]),
                [given[a], given[b]],
                (given[a], given[b], given[a]),
                [given[a]],
            ):
                for options in ({}, {"dtype": "f4"}) if name != "dstack" else ({},):
                    expected = attempted(functools.partial(function.__wrapped__, **options), parts)
                    assert first_cached_and_shared(function, parts, **options) == [expected] * 3, (
                        a,
                        b,
                        type(parts),
                        options,
                    )


@NEEDED
def test_equal_calls_are_cached_per_dtype_rank_and_argument():
    """Equal calls skip the function; another dtype, number of axes or argument calls it."""
    seen = []

    @call_cached
    def total(a, axis=None):
        seen.append(axis)
        return apply_cached(REGISTRY["_npi_sum"], (a,), (axis, None, False, None))

    @call_cached
    def twice(a):
        return total(a) + total(a)

    with npx.backend("numpy"):
        a, row = np.array(KINDS["float32"]), np.array(KINDS["row"])
        assert [total(a, 0).tolist(), total(a + 1, 0).tolist()] == [
            [-1.0, 1.0, 3.0],
            [1.0, 3.0, 5.0],
        ] and seen == [0]
        assert (
            total(a) == 3
            and total(row) == 6
            and total(a.astype("f8")) == 3
            and total(np.array(2.0)) == 2
        )
        assert seen == [0, None, None, None, None]
        assert [twice(a), twice(a), total(np.zeros((0, 3))), total(np.zeros((0, 3)))] == [
            6,
            6,
            0,
            0,
        ]
        assert len(seen) == 7  # calls with empty arrays are not cached
        assert [total(a, axis=1).tolist(), total(a, axis=1).tolist()] == [
            [-3.0, 6.0],
            [-3.0, 6.0],
        ] and len(seen) == 8
        a.attach_grad()
        with autograd.record():
            loss = total(a, axis=1).sum()
        loss.backward()
        assert (
            len(seen) == 9 and a.grad.tolist() == [[1.0] * 3] * 2
        )  # while recording, calls are not cached
        with pytest.raises(onp.exceptions.AxisError, match="axis 2 is out of bounds"):
            total(a, axis=2)


VIEWS = {
    "reshape": [((-1,),), (-1,), ((2, 3),), ((3, 2), "F"), ((1, -1),), ((5,),)],
    "ravel": [(), ("F",)],
    "squeeze": [(), (0,)],
    "expand_dims": [(0,), ((0, -1),)],
    "transpose": [(), ((1, 0),), ((0, 1),)],
    "swapaxes": [(0, 1), (0, -1)],
    "moveaxis": [(0, -1)],
}


def about(view):
    """Describe a view: class, dtype and values, strides, flags, and if it has a base."""
    return described(view), str(view.strides), str(view.flags), view.base is None


@NEEDED
@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("name", [*VIEWS, "T", "real", "imag"])
def test_views_are_cached_per_shape_of_their_base(backend, name):
    """Arrays of other shapes, orders and kinds have other lenses."""
    made = [
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0).reshape(3, 2),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(12.0).reshape(2, 6)[:, ::2],
    ]
    made += [
        np.arange(6),
        np.array(2.0),
        np.zeros((0, 3)),
        np.ones((1, 6, 1)),
        np.array(1 + 2j),
        np.ones((2, 3), dtype="complex64"),
    ]
    with npx.backend(backend), npx.np_default_dtype():
        arrays = (
            [a.copy() for a in made[:2]]
            + [a.copy()[...] for a in made]
            + [np.array(a.asnumpy(), order="F") for a in made[:2]]
        )
        arrays += [np.ones((2, 3))[1], np.ones((2, 3)).view(Derived), np.ones((2, 3))[0, 0]]
        arrays[1].setflags(write=False)
        function = getattr(np, name, None) if name in VIEWS else (lambda a: getattr(a, name))
        uncached = (
            function.__wrapped__
            if name in VIEWS
            else inspect.getattr_static(np.ndarray, name).fget.__wrapped__
        )
        for _ in range(2):  # the second time they are cached
            for a, rest in itertools.product(
                arrays if name in VIEWS else arrays[:-1], VIEWS.get(name, [()])
            ):
                expected = attempted(uncached, a, *rest)
                assert attempted(function, a, *rest) == expected, (a, rest)
                if a.ndim and name in ("ravel", "squeeze", "transpose", "swapaxes"):
                    assert attempted(getattr(a, name), *rest) == expected, (a, rest)
                if isinstance(expected[0], tuple):
                    found, other = function(a, *rest), uncached(a, *rest)
                    assert about(found) == about(other) and np.shares_memory(
                        found, a
                    ) == np.shares_memory(other, a), (a, rest)


@NEEDED
def test_writes_through_cached_views():
    with npx.backend("numpy"):
        for _ in range(3):
            a = np.zeros((2, 3))
            a.T[0, 1] = 1
            a.reshape(-1)[5] = 2
            np.squeeze(a[None])[0] += 3
            a.swapaxes(0, 1).reshape(-1)[:] = 7  # a copy
            assert a.tolist() == [[3, 3, 3], [1, 0, 2]]
        a.attach_grad()
        with autograd.record():
            loss = (a.T * np.arange(2)).sum()
        loss.backward()
        assert a.grad.tolist() == [[0] * 3, [1] * 3]


def test_cached_views_of_transferred_arrays_differ_by_their_axes():
    a = np.zeros((8, 8), "float32")
    row, rows = a[0], a[0:2]
    with npx.backend("jax"):
        a += np.arange(64, dtype="float32").reshape(8, 8).copy()
        assert [np.roll(row, 1, -1).tolist() for _ in range(2)] == [[7.0, *range(7)]] * 2
        assert np.roll(rows, 1, -1).tolist() == [[7.0, *range(7)], [15.0, *range(8, 15)]]


@NEEDED
def test_a_calling_function_caches_only_the_call_that_it_returns():
    @call_cached
    def doubled(a):
        return np.sum(a) * 2

    with npx.backend("numpy"):
        assert [doubled(np.ones(n)) for n in (1, 2, 3)] == [2, 4, 6]
        assert [np.average(np.ones(n), weights=np.ones(n)) for n in (1, 2)] == [1, 1]


MADE = {
    "zeros": [
        (),
        (3,),
        ((2, 3),),
        ((2, 0), "f8"),
        ((),),
        ([2],),
        (2, "S3"),
        (2, int),
        (2, None, "F"),
        ((2, 2), float, "F"),
        (-1,),
        (2.5,),
        (2, "?"),
    ],
    "ones": [(3,), ((2, 3),), ((2, 0), "f8"), (2, complex), (2, int)],
    "empty": [((0, 3),), (0, "i4")],
    "arange": [
        (3,),
        (0,),
        (2, 5),
        (5, 2, -1),
        (0.0, 1.0, 0.25),
        (1, 3, 1, "f4"),
        (True,),
        (3.0,),
        (1, 2, 0),
        ("3",),
    ],
    "eye": [(2,), (2, 3), (3, 2, 1), (0,), (2, None, -1, "i4"), (2, 2, 0, float, "F"), (2.5,)],
    "identity": [(2,), (2, "i4"), (0,)],
    "tri": [(2,), (2, 3, 1), (3, None, -1, "i4")],
    "full": [
        ((2, 2), 7),
        (2, 2.5),
        (2, float("nan")),
        (2, -0.0),
        (2, 0.0),
        (2, 1j),
        (2, True),
        (2, 300, "u1"),
        (2, 1e300, "f4"),
        ((), 3),
        (2, 2**64 - 1, "u8"),
    ],
}


@NEEDED
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MADE)
def test_constructors_are_cached_per_placement_and_policy(name):
    function = named(name)
    uncached = function.__wrapped__
    for backend, policy in [
        ("numpy", False),
        ("jax", False),
        ("auto", True),
        ("jax", True),
        ("numpy", True),
        ("auto", False),
    ]:
        with npx.backend(backend), npx.np_default_dtype(policy):
            for args in MADE[name]:
                expected = attempted(uncached, *args)
                assert first_cached_and_shared(function, *args) == [expected] * 3, (
                    backend,
                    policy,
                    args,
                )
                for _ in range(20):  # so often that a program is kept
                    found = attempted(function, *args)
                assert found == expected, (backend, policy, args)


@NEEDED
@pytest.mark.parametrize("backend", ["numpy", "jax", "auto"])
def test_a_cached_constructor_returns_new_memory(backend):
    with npx.backend(backend):
        for _ in range(30):
            for made in (
                np.zeros(3),
                np.zeros(3)[:],
                np.full(3, 0.0),
                np.arange(0.0, 0.5, 0.2) * 0,
            ):
                assert made.tolist() == [0, 0, 0]
                made[1] = 5
                assert type(
                    made._value.payload if made._view is None else made.base._value.payload
                ) is type(np.ones(1)._value.payload)


@NEEDED
def test_calls_without_array_operands_are_cached_per_placement_and_dtype_policy():
    """The function runs once for each argument, placement and policy; while recording, and on a
    device that is named, it runs each time.
    """
    seen = []

    @call_cached
    def counted(n, is_operand=False):
        seen.append(n)
        if is_operand:
            return apply_cached(REGISTRY["_npi_negative"], (n,), ())
        return apply_cached(
            REGISTRY["_npi_full"],
            (),
            ((n,), 1, onp.dtype("f8" if npx.is_np_default_dtype() else "f4")),
        )

    def asked(*args):
        seen.clear()
        counted(*args)
        return len(seen)

    with npx.backend("numpy"):
        assert [asked(3), asked(3), asked(4), asked(4), asked(3)] == [1, 0, 1, 0, 0]
        with npx.np_default_dtype():
            assert [asked(3), asked(3)] == [1, 0]
            assert counted(3).dtype == "f8"
        assert counted(3).dtype == "f4"
        # a number is an operand, and no array says where
        assert [asked(3, True), asked(3, True)] == [1, 1]
        with autograd.record():
            assert asked(3) == 1
        with npx.cpu():
            assert [asked(3), asked(3)] == [1, 1]
        assert asked(3) == 0
    with npx.backend("auto"):
        assert [asked(5), asked(5)] == [1, 0]
    with npx.backend("jax"):
        assert asked(5) == 1
