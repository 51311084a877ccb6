"""The memory order of arrays in compiled functions: what is a view there, and what a copy, is what
it is outside.
"""

import numpy as onp
import pytest

from npcompat import np, npx


def table(xp):
    return xp.array(onp.arange(12.0, dtype="float32").reshape(3, 4))


MAKERS = {
    "C": table,
    "transposed": lambda xp: table(xp).T,
    "Fortran": lambda xp: xp.array(table(xp), order="F"),
    "columns": lambda xp: table(xp)[:, :2],
    "rows": lambda xp: table(xp)[1:],
    "reversed": lambda xp: table(xp)[::-1],
    "row": lambda xp: table(xp)[1],
    "column": lambda xp: table(xp)[:, 1],
    "axes": lambda xp: xp.array(onp.arange(24.0, dtype="float32").reshape(2, 3, 4)).transpose(
        1, 0, 2
    ),
    "axes in Fortran order": lambda xp: xp.array(
        onp.arange(24.0, dtype="float32").reshape(2, 3, 4), order="F"
    )[0],
}


def written_flat(xp, x):
    flat = x.reshape(-1)
    flat[0], flat[-1] = 50, 60
    return x + 0, flat


def written_flat_in_fortran_order(xp, x):
    flat = x.reshape(-1, order="F")
    flat[1] = 50
    return x + 0, flat


def raveled(xp, x):
    return x.ravel(order="K"), x.copy(order="A").ravel(order="K"), xp.copy(x).ravel(order="A")


def flags(xp, x):
    return (
        x.flags.c_contiguous,
        x.flags.f_contiguous,
        x.T.flags.c_contiguous,
        xp.shares_memory(x, x.reshape(-1)),
    )


def windows(xp, x):
    tricks = xp.lib.stride_tricks
    return tricks.sliding_window_view(x, 2, -1) + 0, tricks.as_strided(
        x, (2,), (sum(x.strides),)
    ) + 0


FUNCTIONS = [written_flat, written_flat_in_fortran_order, raveled, flags, windows]


def lists(results):
    return [r.tolist() if hasattr(r, "tolist") else r for r in results]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", MAKERS)
def test_of_an_argument(backend, kind, function):
    if kind == "column" and function is flags:
        pytest.skip(
            "arrays with one axis are taken as contiguous, so that what looks at one of many columns is compiled once"
        )
    x = MAKERS[kind](onp)
    expected = lists(function(onp, x))
    compiled = npx.jit(lambda x: function(np, x))
    for _ in range(2):
        given = MAKERS[kind](np)
        assert lists(compiled(given)) == expected
        assert given.tolist() == x.tolist()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", MAKERS)
def test_of_a_captured_array(backend, kind, function):
    x, captured = MAKERS[kind](onp), MAKERS[kind](np)
    compiled = npx.jit(lambda: function(np, captured))
    for _ in range(3):
        assert lists(compiled()) == lists(function(onp, x))
        assert captured.tolist() == x.tolist()
    assert captured.strides == x.strides
    for f in (
        written_flat,
        written_flat_in_fortran_order,
    ):  # nor has the array another order afterwards
        assert lists(f(np, captured)) == lists(f(onp, x))


def test_of_two_that_share_memory(backend):
    def f(xp, x, y):
        x.reshape(-1)[1] = 50
        y.reshape(-1)[2] = 60
        return x + 0, y + 0

    compiled = npx.jit(lambda x, y: f(np, x, y))
    for order in ("C", "F", "C"):
        theirs, ours = onp.array(table(onp), order=order), np.array(table(np), order=order)
        assert lists(compiled(ours, ours.T)) == lists(f(onp, theirs, theirs.T))
        assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_known_is_written_in_the_order_of_a_captured_array(backend, order):
    def f(xp, held, x):
        held[...] = xp.asarray(xp.arange(6.0).reshape(3, 2).T)
        flat = held.reshape(-1, order=order)  # a view
        flat[2] = x
        held[:] = xp.arange(3.0)  # broadcast
        flat[1] = x
        return held + 1, held.strides, xp.shares_memory(flat, held)

    ours, theirs = (
        np.array(onp.zeros((2, 3), "float32"), order=order),
        onp.zeros((2, 3), "float32", order=order),
    )
    compiled = npx.jit(lambda x: f(np, ours, x))
    for x in (1, 2, 3):
        assert lists(compiled(np.array(x, dtype="float32"))) == lists(f(onp, theirs, x))
        assert ours.tolist() == theirs.tolist()


def test_of_a_result(backend):
    x = table(np)
    made, of_ones, sub = npx.jit(
        lambda x: (np.asfortranarray(x), np.ones((2, 3), order="F"), np.array(x, order="F")[:2])
    )(x)
    for array in (made, of_ones):
        assert array.flags.f_contiguous and not array.flags.c_contiguous
        array.reshape(-1, order="F")[1] = 50
        assert array[1, 0] == 50
    assert sub.strides == (4, 12)


def test_another_order_is_another_program(backend):
    f = npx.jit(lambda x: x.ravel(order="K"))
    with npx.compile_log() as log:
        f(table(np))
        f(table(np))
        f(table(np).copy(order="F"))
        f(table(np).copy(order="F"))
    assert [entry.reason for entry in log] == [
        "first call",
        "argument 0: strides None became (4, 12)",
    ]
