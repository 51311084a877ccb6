"""Padding by functions, and what `np.pad` refuses, in NumPy's words."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx


def border(vector, widths, axis, options):
    before, after = widths
    vector[:before] = options.get("padder", 10) + axis
    vector[vector.shape[0] - after :] = vector[before]


def test_functions_write_the_border(backend):
    a = onp.arange(6.0).reshape(2, 3)
    for options in ({}, {"padder": 7}):
        found = np.pad(np.array(a), ((1, 2), (2, 1)), border, **options)
        assert found.tolist() == onp.pad(a, ((1, 2), (2, 1)), border, **options).tolist()


def test_functions_are_compiled_and_differentiated():
    a = np.array([1.0, 2.0])
    assert npx.jit(lambda x: np.pad(x, 1, border))(a).tolist() == [10, 1, 2, 1]
    a.attach_grad()
    with autograd.record():
        total = np.pad(a, 1, border).sum()
    total.backward()
    assert a.grad.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("width", "mode", "options", "message"),
    [
        (
            (1, 2, 3, 4),
            "constant",
            {},
            r"operands could not be broadcast together: pad_width .*; got shape \(4,\)",
        ),
        (
            onp.ones((3, 1, 2), int),
            "edge",
            {},
            "input operand has more dimensions than allowed by the axis remapping",
        ),
        (1, "circular", {}, "mode 'circular' is not supported; expected one of constant"),
        (1, "mean", {"stat_length": -2}, "stat_length: index can't contain negative values"),
        (-1, "constant", {}, "pad_width: index can't contain negative values"),
        (1, "maximum", {"stat_length": 0}, "stat_length of 0 yields no value for padding"),
        (1, "edge", {"stat_length": 2}, "unsupported keyword arguments for mode 'edge'"),
    ],
)
def test_what_is_refused(width, mode, options, message):
    with pytest.raises(ValueError, match=message):
        np.pad(np.ones((2, 3)), width, mode, **options)


def test_medians_of_complex_numbers_are_padded_on_the_host_only():
    a = onp.array([1 + 1j, 2, 4 - 1j], "complex64")
    with npx.backend("numpy"):
        assert np.pad(np.array(a), 1, "median").tolist() == onp.pad(a, 1, "median").tolist()
    with npx.backend("jax"), pytest.raises(NotImplementedError, match="median"):
        np.pad(np.array(a), 1, "median")
