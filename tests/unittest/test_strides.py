"""Strides: `as_strided`, windows, and setting them; NumPy is the oracle."""

import contextlib

import numpy as onp
import pytest
from internals import handles
from oracle import agrees

from npcompat import autograd, np, npx

PLACEMENT = "jax"


def test_windows_are_views():
    def program(xp, a):
        tricks = xp.lib.stride_tricks
        windows = tricks.sliding_window_view(a, 3)
        pairs = tricks.sliding_window_view(a[::-2], (2,))
        square = tricks.as_strided(a[2:], (2, 3), (3 * a.itemsize, a.itemsize))
        before = windows.sum(axis=-1), pairs * 1, square + 0
        a[3] = 50
        square[1] = [1, 2, 3]
        square[:, ::-1][0, 0] = -7
        square += 1
        return (
            before,
            windows.sum(axis=-1),
            pairs * 1,
            square.max(),
            a,
            windows.shape,
            windows.strides,
            windows.flags.writeable,
        )

    with npx.np_default_dtype():
        agrees(program, onp.arange(9.0))
        agrees(program, onp.arange(9))


def test_windows_of_several_axes_and_of_nothing():
    def program(xp, a, none):
        windows = xp.lib.stride_tricks.sliding_window_view
        return (
            windows(a, (2, 2)) * 1,
            windows(a.T, 2, axis=1) * 1,
            windows(a, (1, 2), axis=(0, 0)) * 1,
            windows(none, (1, 2)) * 1,
        )

    agrees(program, onp.arange(12).reshape(3, 4), onp.zeros((0, 3), "int64"))
    for wrong in ((5,), (2, 2, 2), (-1, 1), (4, 1)):
        agrees(
            lambda xp, a, wrong=wrong: xp.lib.stride_tricks.sliding_window_view(a, wrong),
            onp.arange(12).reshape(3, 4),
            message=True,
        )


def test_strides_stay_in_the_array(backend):
    a = np.arange(4)
    with pytest.raises(ValueError, match="out of bounds of the array's"):
        np.lib.stride_tricks.as_strided(a, (5,), (8,))
    with pytest.raises(ValueError, match="out of bounds of the array's"):
        np.lib.stride_tricks.as_strided(a[1:], (2,), (-16,))
    assert (
        np.lib.stride_tricks.as_strided(a, (2,), (4,)).tolist()
        == onp.lib.stride_tricks.as_strided(onp.arange(4), (2,), (4,)).tolist()
    )
    assert np.lib.stride_tricks.as_strided(a.view("int32"), (2,), (8,)).tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        np.lib.stride_tricks.sliding_window_view(a, 2)[0] = 1
    overlapping = np.lib.stride_tricks.as_strided(a.copy(), (3, 2), (8, 8))
    if backend not in ("numpy", "auto"):
        with pytest.raises(ValueError, match="read-only"):
            overlapping[0] = 9
    else:
        overlapping[0] = 9
        assert overlapping.tolist() == [[9, 9], [9, 2], [2, 3]]
    assert np.shares_memory(np.lib.stride_tricks.as_strided(a, (2, 2), (8, 8)), a)
    assert np.lib.stride_tricks.as_strided(a, (1, 2), (-3, 8)).tolist() == [
        [0, 1]
    ]  # an axis of one element has no step
    assert np.lib.stride_tricks.as_strided(a, (0, 2), (8, 3)).shape == (0, 2)


@pytest.mark.parametrize(
    "fill",
    [
        lambda x, y: np.add(y.T, 1, out=x),
        lambda x, y: np.copyto(x, y.T),
        lambda x, y: x.__setitem__(..., y.T),
    ],
    ids=["out", "copyto", "setitem"],
)
def test_what_is_written_takes_the_memory_order_of_the_array(backend, fill):
    for recording in (False, True):
        x, y = np.zeros((2, 3)), np.ones((3, 2))
        flat = x.reshape(-1)
        with autograd.record() if recording else contextlib.nullcontext():
            fill(x, y)
        assert x.strides == (12, 4)
        flat[0] = 5
        assert x[0, 0] == 5 and flat[0] == 5


def test_arrays_over_the_memory_of_others(backend):
    a = np.arange(6)
    part = np.ndarray((2, 2), "int64", buffer=a, offset=8)
    part += 10
    assert a.tolist() == [0, 11, 12, 13, 14, 5] and part.base is a
    assert np.ndarray((2, 3), "int64", a, order="F").tolist() == [[0, 12, 14], [11, 13, 5]]
    assert np.ndarray(3, "int64", a, 0, (16,)).tolist() == [0, 12, 14]
    assert np.ndarray((2,), "int64", a, 8, (-8,)).tolist() == [11, 0]
    assert np.ndarray(2, "uint32", a, 8).tolist() == [11, 0]
    letters = np.ndarray((2,), "uint8", b"ab")
    assert letters.tolist() == [97, 98] and not letters.flags.writeable
    with pytest.raises(TypeError, match="buffer is too small"):
        np.ndarray(7, "int64", a)
    assert np.ndarray(2, "int64", bytearray(16)).tolist() == [0, 0]
    with pytest.raises(NotImplementedError, match="without a buffer"):
        np.ndarray(2, "int64", strides=(8,))


def test_waiting_for_a_view_of_the_hosts_memory_makes_no_array(monkeypatch):
    with npx.backend("auto"):
        a = np.ones((4, 4))
        view = a[1:].T

        def run(*args):
            raise AssertionError("the view is made, which takes longer than all the rest")

        with monkeypatch.context() as patched:
            patched.setattr(handles, "run", run)
            view.wait_to_read()
        a[1, 2] = 3
        view.wait_to_read()
        assert view[2, 0] == 3


TABLE = onp.arange(6.0).reshape(2, 3)
EMPTY = onp.zeros((0, 3), onp.int32)


def test_slices_of_slices(placed):
    a = rest = np.arange(1500 if placed == "numpy" else 20)
    while len(rest) > 2:
        rest = rest[1:]
    rest[0] = -1
    assert a[-2] == -1 and rest.base is a
    nested = np.arange(12).reshape(3, 4)[:, ::-1]
    for _ in range(151 if placed == "numpy" else 7):
        nested = nested[::-1]
    assert nested.tolist() == [[11, 10, 9, 8], [7, 6, 5, 4], [3, 2, 1, 0]]


@pytest.mark.usefixtures("numpy_mode")
def test_what_does_nothing_returns_its_argument():
    agrees(lambda np, a: [a.squeeze() is a, np.squeeze(a) is a], TABLE)
    agrees(lambda np, a: np.flip(a), onp.array(3.0))
    agrees(lambda np, a: list(np.unstack(a)), onp.arange(3.0))


@pytest.mark.usefixtures("numpy_mode")
def test_windows_of_nothing_have_their_shape():
    agrees(lambda np, a: np.lib.stride_tricks.sliding_window_view(a, 2, -1) + 1, EMPTY)
    assert isinstance(
        agrees(lambda np, a: np.fill_diagonal(a, -1), EMPTY.astype("u1")), OverflowError
    )


@pytest.mark.usefixtures("numpy_mode")
def test_the_imaginary_part_of_real_numbers_lies_as_they_do():
    for get in (
        lambda a: a,
        lambda a: a.T,
        lambda a: a.T.T,
        lambda a: a.T[:, ::2],
        lambda a: a.T[:1],
    ):
        agrees(lambda np, a: [get(a).imag, get(a).imag.strides], TABLE)


@pytest.mark.usefixtures("numpy_mode")
def test_a_view_is_iterated_over_and_written_after_its_base_is_not_to_be():
    def program(np, a):
        view = a[:, 1:]
        a.setflags(write=False)
        with np.nditer(view, [], ["readwrite"]) as iterator:
            for x in iterator:
                x[...] = x * 2
        return view

    agrees(program, TABLE, modes=("jax", "numpy"))
