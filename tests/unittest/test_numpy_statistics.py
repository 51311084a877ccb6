"""Averages, covariance, order statistics without nan and with weights, joint histograms, integrals,
derivatives, convolution.
"""

import operator
import warnings
from fractions import Fraction

import numpy as onp
import pytest
from mathematics import MODES, Call, assert_as_numpy, assert_gradient, assert_signature

from npcompat import np, npx

RNG = onp.random.default_rng(5)


def floats(*shape, dtype="f4"):
    return RNG.uniform(-2, 2, shape).astype(dtype)


def integers(*shape):
    return RNG.integers(-4, 5, shape)


def holey(*shape, dtype="f4"):
    a = floats(*shape, dtype=dtype)
    a[RNG.random(shape) < 0.3] = onp.nan
    return a


A, B, D, I, N = floats(4, 5), floats(4, 5), floats(4, 5, dtype="f8"), integers(4, 5), holey(4, 5)
C = (floats(3, 6) + 1j * floats(3, 6)).astype("c8")
W, V, U = onp.abs(A), onp.arange(1, 6), onp.array([0, 1, 2, 1, 3, 0])
ALL_NAN = onp.where(onp.arange(4)[:, None] == 1, onp.nan, N).astype("f4")
EMPTY, SCALAR, ROW = onp.zeros((0, 3), "f4"), onp.array(2.5, "f4"), floats(6)
METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]

CALLS = {
    "average": [
        Call(lambda xp, a: xp.average(a), (A,)),
        Call(lambda xp, a: xp.average(a, axis=(0, 1), keepdims=True, returned=True), (I,)),
        Call(lambda xp, a, w: xp.average(a, weights=w, returned=True), (I, W)),
        Call(lambda xp, a, w: xp.average(a, 1, w, True), (A, V)),
        Call(lambda xp, a, w: xp.average(a, -1, w, True, keepdims=True), (D, V)),
        Call(lambda xp, a, w: xp.average(a, (2, 0), w), (floats(2, 3, 4), onp.abs(floats(4, 2)))),
        Call(lambda xp, a, w: xp.average(a, weights=w), (A, V)),
        Call(lambda xp, a, w: xp.average(a, 0, w), (A, V)),
        Call(lambda xp, a: xp.average(a, weights=[[0, 0, 0, 0, 0]] * 4), (A,), compiled=False),
        Call(lambda xp, a: xp.average(a, 3), (A,)),
        Call(lambda xp, a: xp.average(a), (SCALAR,)),
        Call(lambda xp, a: xp.average(a, 0), (EMPTY,)),
    ],
    "cov": [
        Call(lambda xp, a: xp.cov(a), (A,)),
        Call(lambda xp, a: xp.cov(a, rowvar=False, bias=True), (I,)),
        Call(lambda xp, a, b: xp.cov(a, b, ddof=0), (A, B)),
        Call(lambda xp, a, b: xp.cov(a, b, rowvar=False), (D, B)),
        Call(lambda xp, a, b: xp.cov(a, b), (ROW, ROW[::-1])),
        Call(lambda xp, a: xp.cov(a), (ROW,)),
        Call(lambda xp, a: xp.cov(a), (C,)),
        Call(lambda xp, a, f: xp.cov(a, fweights=f), (C, U)),
        Call(lambda xp, a, f, w: xp.cov(a, fweights=f, aweights=w), (C, U, onp.abs(ROW))),
        Call(lambda xp, a, w: xp.cov(a, aweights=w, ddof=0), (ROW, onp.abs(ROW))),
        Call(lambda xp, a, w: xp.cov(a, aweights=w), (ROW, onp.abs(ROW))),
        Call(lambda xp, a: xp.cov(a, dtype="f4"), (D,)),
        Call(lambda xp, a: xp.cov(a), (onp.zeros((0, 3), "f4"),)),
        Call(lambda xp, a: xp.cov(a), (onp.zeros((2, 0), "f4"),)),
        Call(lambda xp, a: xp.cov(a), (floats(3, 1),)),
        Call(lambda xp, a: xp.cov(a), (floats(2, 2, 2),)),
        Call(lambda xp, a: xp.cov(a, ddof=1.5), (A,)),
        Call(lambda xp, a: xp.cov(a, a[None]), (A,)),
        Call(lambda xp, a: xp.cov(a, fweights=[1, 2]), (A,)),
        Call(lambda xp, a: xp.cov(a, aweights=a), (A,)),
        Call(lambda xp, a: xp.cov(a, fweights=[1, 2.5, 1, 1, 1]), (A,), compiled=False),
        Call(lambda xp, a: xp.cov(a, aweights=[1, -2.5, 1, 1, 1]), (A,), compiled=False),
    ],
    "corrcoef": [
        Call(lambda xp, a: xp.corrcoef(a), (A,)),
        Call(lambda xp, a: xp.corrcoef(a), (C,)),
        Call(lambda xp, a, b: xp.corrcoef(a, b, rowvar=False, dtype="f8"), (A, B), kept=True),
        Call(lambda xp, a: xp.corrcoef(a), (ROW,)),
        Call(lambda xp, a: xp.corrcoef(a), (I,)),
    ],
    "nanvar": [
        Call(lambda xp, a: xp.nanvar(a), (N,), 4),
        Call(lambda xp, a: xp.nanvar(a, 1, ddof=1, keepdims=True), (ALL_NAN,), 4),
        Call(lambda xp, a: xp.nanvar(a, 0, correction=4), (N,), 4),
        Call(lambda xp, a: xp.nanvar(a, 0), (I,)),
        Call(lambda xp, a: xp.nanvar(a, 1), (C,), 4),
        Call(lambda xp, a: xp.nanvar(a, 1), (N.astype("f2"),), 4),
        Call(lambda xp, a: xp.nanvar(a, 0, where=a < 1), (N,), 4),
        Call(lambda xp, a: xp.nanvar(a, 0, mean=xp.nanmean(a, 0, keepdims=True)), (N,), 4),
        Call(lambda xp, a: xp.nanvar(a, dtype=int), (N,)),
        Call(lambda xp, a: xp.nanvar(a, out=xp.zeros((), int)), (N,)),
        Call(lambda xp, a: xp.nanvar(a, 0, out=xp.zeros(5, "f4")), (N,), 4),
        Call(lambda xp, a: xp.nanvar(a, 0), (EMPTY,)),
    ],
    "nanstd": [
        Call(lambda xp, a: xp.nanstd(a, 1), (N,), 4),
        Call(lambda xp, a: xp.nanstd(a, (0, 1), ddof=2), (ALL_NAN,), 4),
        Call(lambda xp, a: xp.nanstd(a, (0, 1), ddof=2), (I,), 4),
    ],
    "nanmedian": [
        Call(lambda xp, a: xp.nanmedian(a), (N,)),
        Call(lambda xp, a: xp.nanmedian(a, 1), (ALL_NAN,)),
        Call(lambda xp, a: xp.nanmedian(a, (0, 2), keepdims=True), (holey(3, 2, 4, dtype="f8"),)),
        Call(lambda xp, a: xp.nanmedian(a, 0), (I,)),
        Call(
            lambda xp, a: xp.nanmedian(a, 0),
            (onp.array([[onp.inf, onp.inf], [onp.inf, 1], [onp.nan, -onp.inf]]),),
        ),
        Call(lambda xp, a: xp.nanmedian(a, 0), (EMPTY,)),
        Call(lambda xp, a: xp.nanmedian(a), (SCALAR,)),
        Call(lambda xp, a: xp.nanmedian(a, 2), (N,)),
        Call(lambda xp, a: xp.nanmedian(a, 0, out=xp.zeros(5, "f4")), (N,)),
    ],
    "nanquantile": [
        *[
            Call(
                lambda xp, a, m=m: xp.nanquantile(a, [0.0, 0.1, 0.3, 0.5, 0.75, 1.0], 1, method=m),
                (holey(3, 10, dtype="f8"),),
            )
            for m in METHODS
        ],
        *[
            Call(lambda xp, a, m=m: xp.nanquantile(a, 0.4, 0, method=m), (ALL_NAN,))
            for m in ("linear", "nearest", "inverted_cdf")
        ],
        Call(
            lambda xp, a, q: xp.nanquantile(a, q, (0, 1), keepdims=True),
            (N, onp.array([[0.2, 0.4]])),
        ),
        Call(lambda xp, a: xp.nanquantile(a, 0.5, 0), (I,)),
        Call(lambda xp, a: xp.nanquantile(a, 0.5), (EMPTY,)),
        Call(lambda xp, a: xp.nanquantile(a, 1.5), (N,)),
        Call(lambda xp, a: xp.nanquantile(a, 0.5, method="best"), (N,)),
        Call(
            lambda xp, a, w: xp.nanquantile(a, [0, 0.5, 1], 1, weights=w, method="inverted_cdf"),
            (ALL_NAN, W),
        ),
    ],
    "nanpercentile": [
        Call(lambda xp, a: xp.nanpercentile(a, [0, 30, 100], 1), (N,)),
        Call(lambda xp, a: xp.nanpercentile(a, 30), (N,)),
        Call(lambda xp, a, w: xp.nanpercentile(a, 30, weights=w, method="inverted_cdf"), (N, W)),
        Call(lambda xp, a: xp.nanpercentile(a, 130), (N,)),
    ],
    "quantile": [
        Call(lambda xp, a: xp.quantile(a, a), (onp.array([False, True, True]),)),
        Call(lambda xp, a: xp.quantile(a, 0.999), (onp.arange(50_001).astype("f2"),)),
        Call(lambda xp, a, w: xp.quantile(a, 0.3, weights=w, method="inverted_cdf"), (A, W)),
        Call(
            lambda xp, a, w: xp.quantile(
                a, [[0, 0.2], [0.9, 1]], 1, weights=w, method="inverted_cdf", keepdims=True
            ),
            (D, V),
        ),
        Call(
            lambda xp, a, w: xp.quantile(a, 0.5, (2, 0), weights=w, method="inverted_cdf"),
            (floats(2, 3, 4), onp.abs(floats(4, 2))),
        ),
        Call(
            lambda xp, a, w: xp.quantile(a, [0, 0.5, 1], 1, weights=w, method="inverted_cdf"),
            (I, V * (V > 2)),
        ),
        Call(lambda xp, a, w: xp.quantile(a, 0.5, 1, weights=w, method="inverted_cdf"), (N, V)),
        Call(lambda xp, a, w: xp.quantile(a, 0.5, 1, weights=w), (A, V)),
        Call(lambda xp, a, w: xp.quantile(a, 0.5, weights=w, method="inverted_cdf"), (A, V)),
        Call(
            lambda xp, a, w: xp.quantile(a, 0.5, 1, weights=w, method="inverted_cdf"),
            (A, -V),
            compiled=False,
        ),
        Call(
            lambda xp, a, w: xp.quantile(a, 0.5, 1, weights=w, method="inverted_cdf"),
            (A, V * 0),
            compiled=False,
        ),
    ],
    "percentile": [
        Call(
            lambda xp, a, w: xp.percentile(a, [10, 50], 1, weights=w, method="inverted_cdf"), (A, V)
        )
    ],
    "nancumsum": [
        Call(lambda xp, a: xp.nancumsum(a), (N,)),
        Call(lambda xp, a: xp.nancumsum(a, 1, dtype="f8"), (N,), kept=True),
        Call(lambda xp, a: xp.nancumsum(a, 0), (I,)),
        Call(lambda xp, a: xp.nancumsum(a, 0, out=xp.zeros((4, 5), "f4")), (N,)),
        Call(lambda xp, a: xp.nancumsum(a), (SCALAR,)),
    ],
    "nancumprod": [
        Call(lambda xp, a: xp.nancumprod(a, -1), (N,)),
        Call(lambda xp, a: xp.nancumprod(a), (N[0] + 1j,)),
    ],
    "cumulative_sum": [
        Call(lambda xp, a: xp.cumulative_sum(a, axis=1, include_initial=True), (A,)),
        Call(lambda xp, a: xp.cumulative_sum(a, axis=-2, dtype="f4"), (I,)),
        Call(lambda xp, a: xp.cumulative_sum(a, include_initial=True), (ROW,)),
        Call(lambda xp, a: xp.cumulative_sum(a), (SCALAR,)),
        Call(lambda xp, a: xp.cumulative_sum(a), (A,)),
        Call(lambda xp, a: xp.cumulative_sum(a, axis=0, include_initial=True), (EMPTY,)),
        Call(
            lambda xp, a: xp.cumulative_sum(a, include_initial=True, out=xp.zeros(7, "f4")), (ROW,)
        ),
    ],
    "cumulative_prod": [
        Call(lambda xp, a: xp.cumulative_prod(a, axis=1, include_initial=True), (A,)),
        Call(lambda xp, a: xp.cumulative_prod(a), (ROW.astype("i1"),)),
    ],
    "histogram": [
        Call(
            lambda xp, a: xp.histogram(a, 10, range=(-5, 5)), (integers(40),)
        ),  # each element is an edge
        Call(lambda xp, a: xp.histogram(a, 100, range=(-5, 5)), (integers(40),)),
        Call(
            lambda xp, a: xp.histogram(a, 7, range=(-4, 3)),
            (onp.array([0, 1, 2, 5, 3, 200], "u1"),),
        ),  # bins as wide as uint8 is not
        Call(
            lambda xp, a, w: xp.histogram(a, 3, range=(-2, 4), weights=w),
            (integers(40), floats(40)),
        ),
        Call(lambda xp, a: xp.histogram(a, 7), (floats(300, dtype="f4"),)),
        Call(
            lambda xp, a, w: xp.histogram(a, 7, weights=w), (floats(30, dtype="f8"), floats(30)), 4
        ),
        Call(lambda xp, a: xp.histogram(a, 4, range=(0, 0)), (floats(30, dtype="f8"),)),
        Call(
            lambda xp, a: xp.histogram(a, 3, range=(-0.5, 0.5), density=True),
            (floats(5, 6, dtype="f8"),),
        ),
    ],
    "histogramdd": [
        Call(lambda xp, a: xp.histogramdd(a, 3), (floats(20, 2),)),
        Call(
            lambda xp, a: xp.histogramdd(a, (2, [-2, 0, 1, 2]), density=True),
            (floats(20, 2, dtype="f8"),),
            4,
        ),
        Call(lambda xp, a: xp.histogramdd(a, 2), (integers(12, 3),)),
        Call(
            lambda xp, a, w: xp.histogramdd(a, 2, weights=w, range=((-1, 1), None)),
            (floats(20, 2), floats(20)),
            4,
        ),
        Call(
            lambda xp, a, b: xp.histogramdd([a, b], [xp.asarray([0, 1, 2]), 2]),
            (integers(9), integers(9)),
        ),
        Call(lambda xp, a: xp.histogramdd(a, 3), (onp.zeros((0, 2), "f4"),)),
        *[
            Call(lambda xp, a, bins=bins: xp.histogramdd(a, bins), (floats(20, 2),), compiled=False)
            for bins in ((3,), (3, 0), (2.5, 3), ([2, 1], 3), ([[1]], 2))
        ],
        Call(lambda xp, a: xp.histogramdd(a, 3, range=((0, 1),)), (floats(20, 2),)),
        Call(lambda xp, a: xp.histogramdd(a, 3), (floats(2, 2, 2),)),
    ],
    "histogram2d": [
        Call(lambda xp, a, b: xp.histogram2d(a, b), (floats(20), floats(20))),
        Call(
            lambda xp, a, b: xp.histogram2d(a, b, [-1, 0, 1], density=True),
            (floats(20), floats(20)),
            4,
        ),
        Call(lambda xp, a, b: xp.histogram2d(a, b, (2, 3), weights=a), (floats(20), floats(20)), 4),
        Call(lambda xp, a, b: xp.histogram2d(a, b), (floats(20), floats(19))),
    ],
    "trapezoid": [
        Call(lambda xp, a: xp.trapezoid(a), (A,)),
        Call(lambda xp, a: xp.trapezoid(a, dx=2, axis=0), (I,)),
        Call(lambda xp, a, x: xp.trapezoid(a, x), (D, V)),
        Call(lambda xp, a, x: xp.trapezoid(a, x, axis=-2), (A, B)),
        Call(lambda xp, a: xp.trapezoid(a), (C,)),
        Call(lambda xp, a: xp.trapezoid(a), (SCALAR,)),
        Call(lambda xp, a: xp.trapezoid(a), (EMPTY,)),
        Call(lambda xp, a: xp.trapezoid(a, axis=0), (EMPTY,)),
    ],
    "gradient": [
        Call(lambda xp, a: xp.gradient(a), (A,)),
        Call(lambda xp, a: xp.gradient(a, 0.5, edge_order=2), (D,)),
        Call(lambda xp, a: xp.gradient(a, 2, 3), (I,)),
        Call(lambda xp, a, x: xp.gradient(a, x, axis=1), (A, V**2)),
        Call(lambda xp, a, x: xp.gradient(a, x, edge_order=2, axis=-1), (A, (V**2).astype("f4"))),
        Call(lambda xp, a, x: xp.gradient(a, 1.5, x), (A, V)),
        Call(lambda xp, a: xp.gradient(a, axis=(1, 0)), (C,)),
        Call(lambda xp, a: xp.gradient(a, axis=()), (A,)),
        Call(lambda xp, a: xp.gradient(a), (A.astype("f2"),)),
        Call(lambda xp, a: xp.gradient(a), (SCALAR,)),
        *[
            Call(lambda xp, a, rest=rest, more=more: xp.gradient(a, *rest, **more), (A,))
            for rest, more in (
                ((1, 2, 3), {}),
                (([1, 2],), {"axis": 0}),
                (([[1]],), {"axis": 0}),
                ((), {"edge_order": 3}),
                ((), {"axis": 2}),
            )
        ],
        Call(lambda xp, a: xp.gradient(a), (A[:1],)),
        Call(lambda xp, a: xp.gradient(a, edge_order=2), (A[:2],)),
    ],
    "unwrap": [
        Call(lambda xp, a: xp.unwrap(a), ((A * 4),)),
        Call(lambda xp, a: xp.unwrap(a, 5, axis=0), ((D * 4),)),
        Call(lambda xp, a: xp.unwrap(a, period=4), (I,)),
        Call(lambda xp, a: xp.unwrap(a, period=5), (I,)),
        Call(lambda xp, a: xp.unwrap(a, period=2.5), (I,)),
        Call(lambda xp, a: xp.unwrap(a), (I,)),
        Call(lambda xp, a: xp.unwrap(a), (onp.array([0, onp.pi, 0, -onp.pi]),)),
        Call(lambda xp, a: xp.unwrap(a), (SCALAR,)),
        Call(lambda xp, a: xp.unwrap(a), (EMPTY,)),
    ],
    "convolve": [
        *[
            Call(lambda xp, a, v, m=m: xp.convolve(a, v, m), (ROW, V))
            for m in ("full", "same", "valid")
        ],
        *[
            Call(lambda xp, a, v, m=m: xp.convolve(a, v, m), (ROW, V))
            for m in (0, 1, 2, 3, -1, None)
        ],
        *[Call(lambda xp, a, v, m=m: xp.correlate(a, v, m), (ROW, V)) for m in (0, 1, 2, 3, "v")],
        *[
            Call(lambda xp, a, v, m=m: xp.convolve(a, v, m), (I[0], integers(8)))
            for m in ("full", "same", "valid")
        ],
        Call(lambda xp, a, v: xp.convolve(a, v), (C[0], ROW)),
        Call(lambda xp, a, v: xp.convolve(a, v), (I[0] > 0, I[1] > 0)),
        Call(lambda xp, a, v: xp.convolve(a, v), (I[0].astype("u1"), I[1].astype("u1"))),
        Call(lambda xp, a, v: xp.convolve(a, v), (I[0].astype("u8"), I[1].astype("u8"))),
        Call(lambda xp, a, v: xp.convolve(a, v), (ROW, SCALAR)),
        Call(lambda xp, a, v: xp.convolve(a, v), (A, ROW)),
        Call(lambda xp, a, v: xp.convolve(a, v), (ROW, EMPTY[0:0, 0])),
        Call(lambda xp, a, v: xp.convolve(a, v, "wrong"), (ROW, ROW)),
    ],
    "correlate": [
        *[
            Call(lambda xp, a, v, m=m: xp.correlate(a, v, m), (ROW, V))
            for m in ("full", "same", "valid")
        ],
        *[
            Call(lambda xp, a, v, m=m: xp.correlate(a, v, m), (V, ROW))
            for m in ("full", "same", "valid")
        ],
        *[
            Call(lambda xp, a, v, m=m: xp.correlate(a, v, m), (C[0], C[1, :4]))
            for m in ("full", "same", "valid")
        ],
        Call(lambda xp, a, v: xp.correlate(a, v, "full"), (C[0, :3], ROW)),
        Call(lambda xp, a, v: xp.correlate(a, v, "full"), (integers(40), integers(30))),
        Call(lambda xp, a, v: xp.correlate(a, v), (I[0] > 0, I[1] > 0)),
        Call(lambda xp, a, v: xp.correlate(a, v), (ROW, EMPTY[0:0, 0])),
        Call(lambda xp, a, v: xp.correlate(a, v), (A, ROW)),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_signatures_are_numpys(name):
    assert_signature(getattr(np, name), getattr(onp, name))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("mode", MODES)
def test_as_numpy(name, mode):
    assert_as_numpy(CALLS[name], mode)


def test_the_host_warns_of_slices_without_elements_as_numpy():
    for xp in (onp, np):
        with npx.backend("numpy"):
            a = xp.array([[1.0, onp.nan], [2.0, onp.nan]])
            for name in ("nanmedian", "nanvar", "nanstd"):
                with pytest.warns(RuntimeWarning, match="All-NaN|Degrees of freedom") as caught:
                    getattr(xp, name)(a, 0)
                assert len(caught) == 1
            with pytest.warns(RuntimeWarning, match="All-NaN"):
                xp.nanquantile(a, 0.5, 0)


def test_floats_are_not_reduced_to_integers(backend):
    for name in ("nanmean", "nanvar", "nanstd"):
        for options in ({"dtype": int}, {"out": np.zeros((), int)}):
            with pytest.raises(TypeError, match="must be inexact"):
                getattr(np, name)(np.array([1.0]), **options)
    with pytest.raises(ValueError, match="simultaneously"):
        np.nanvar(np.array([1.0]), ddof=1, correction=1)


@pytest.mark.parametrize(
    ("loss", "arrays"),
    [
        (lambda a, w: np.average(a, 1, w).sum(), (D, floats(5, dtype="f8") + 3)),
        (lambda a: np.cov(a)[0, 1] + np.corrcoef(a)[1, 0], (floats(2, 4, dtype="f8"),)),
        (lambda a: np.nanstd(a, 0, ddof=1).sum(), (holey(9, 2, dtype="f8"),)),
        (lambda a: np.nanmedian(a, 1).sum(), (holey(3, 6, dtype="f8"),)),
        (
            lambda a: (np.nanquantile(a, 0.3, 1) ** 2).sum(),
            (onp.where(onp.arange(6) % 3 == 1, onp.nan, floats(3, 6, dtype="f8")),),
        ),
        (
            lambda a: (
                np.quantile(a, 0.3, 1, weights=[1, 2, 3, 1, 2], method="inverted_cdf") ** 2
            ).sum(),
            (D,),
        ),
        (
            lambda a: (
                np.nancumsum(a)[-1]
                + np.nancumprod(a, 1)[0, -1] * 0
                + np.cumulative_sum(a, axis=0)[1].sum()
            ),
            (D,),
        ),
        (lambda y, x: np.trapezoid(y, x), (floats(5, dtype="f8"), floats(5, dtype="f8"))),
        (
            lambda f, x: (np.gradient(f, x, edge_order=2) ** 2).sum(),
            (floats(5, dtype="f8"), onp.array([0, 1, 2.5, 3, 4.5])),
        ),
        (lambda p: (np.unwrap(p) ** 2).sum(), (floats(5, dtype="f8") * 3,)),
        (
            lambda a, v: (np.convolve(a, v, "same") ** 2).sum(),
            (floats(5, dtype="f8"), floats(3, dtype="f8")),
        ),
        (
            lambda a, v: (np.correlate(a, v, "full") ** 2).sum(),
            (floats(3, dtype="f8"), floats(5, dtype="f8")),
        ),
    ],
)
def test_gradients_are_central_differences(loss, arrays):
    assert_gradient(loss, *arrays)


def _interpolated(points, values, options):
    x = onp.array([-onp.inf, -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, onp.inf, onp.nan])
    with onp.errstate(all="ignore"):
        wanted = onp.interp(x, points, values, **options)
    with npx.backend("jax"), npx.np_default_dtype():
        found = np.interp(np.array(x), np.array(points), np.array(values), **options).asnumpy()
    assert found.dtype == wanted.dtype
    onp.testing.assert_allclose(found, wanted, rtol=1e-14, err_msg=f"{points} {values} {options}")


@pytest.mark.parametrize("factor", [1, 1 + 2j])
@pytest.mark.parametrize(
    "points",
    [
        [1.0, 2, 3, 4],
        [1.0, 2, 2, 4],
        [-onp.inf, 0, 1, onp.inf],
        [0.0, 0, 0],
        [3.0],
        [1, onp.inf],
        [-onp.inf, onp.inf],
    ],
)
def test_interp_beside_infinities_and_of_complex_numbers(points, factor):
    inf, nan = onp.inf, onp.nan
    for values in ([1.0, 2, 3, 4], [inf, 0, inf, 5], [-inf, inf, 2, 2], [nan, 0, 1, 2], [5.0] * 4):
        with onp.errstate(all="ignore"):
            values = onp.array(values[: len(points)]) * factor
        _interpolated(points, values, {})
        _interpolated(points, values, {"left": -9, "right": inf})
        if onp.isfinite(points).all():
            _interpolated(points, values, {"period": 2.5})


NOTHING = {
    "mean": (lambda: np.mean([]), "Mean of empty slice"),
    "mean of rows": (lambda: np.zeros((2, 0)).mean(axis=1), "Mean of empty slice"),
    "masked mean": (
        lambda: np.mean([[1, 2], [3, 4]], axis=1, where=[[True], [False]]),
        "Mean of empty slice",
    ),
    "masked var": (
        lambda: np.ones(3).var(where=np.array([True, False, False]), ddof=1),
        "Degrees of freedom <= 0 for slice",
    ),
    "average": (lambda: np.average([]), "Mean of empty slice"),
    "var": (lambda: np.var([]), "Degrees of freedom <= 0 for slice"),
    "std": (lambda: np.std(np.ones((3, 1)), axis=1, ddof=1), "Degrees of freedom <= 0 for slice"),
    "nanmean": (lambda: np.nanmean([np.nan, np.nan]), "Mean of empty slice"),
    "nanmean of integers": (lambda: np.nanmean(np.zeros((0, 2), dtype=int)), "Mean of empty slice"),
    "nanmax": (
        lambda: np.nanmax(np.array([[np.nan, 1], [np.nan, np.nan]]), axis=0),
        "All-NaN slice encountered",
    ),
    "nanmin": (lambda: np.nanmin([np.nan]), "All-NaN slice encountered"),
    "nanmedian": (lambda: np.nanmedian([np.nan]), "All-NaN slice encountered"),
    "nanpercentile": (lambda: np.nanpercentile([np.nan], [10, 20]), "All-NaN slice encountered"),
    "nanstd": (lambda: np.nanstd([np.nan]), "Degrees of freedom <= 0 for slice"),
}


@pytest.mark.parametrize("backend", ["jax", "numpy"])
@pytest.mark.parametrize("name", NOTHING)
def test_summaries_of_nothing_warn_on_both_backends(name, backend):
    call, text = NOTHING[name]
    with npx.backend(backend), onp.errstate(all="ignore"), pytest.warns(RuntimeWarning, match=text):
        call()


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_medians_and_quantiles_warn_of_each_slice(backend):
    a = onp.array([[onp.nan, 1.0, onp.nan], [onp.nan, 2.0, onp.nan]])
    for function, count in (
        (np.nanmedian, 2),
        (lambda x, axis: np.nanquantile(x, 0.5, axis), 2),
        (np.nanmax, 1),
        (np.nanmean, 1),
    ):
        with npx.backend(backend), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(np.array(a), axis=0)
        assert len(caught) == count


@pytest.mark.filterwarnings("error")
def test_summaries_do_not_warn_of_other_nan_nor_in_compiled_functions():
    with npx.backend("jax"):
        assert onp.isnan(np.nanmean([np.inf, -np.inf])) and np.nanmax([np.nan, 1]) == 1
        assert np.mean(np.zeros((0, 2)), axis=1).shape == (0,) and np.var([3.0, 3.0], ddof=1) == 0
        for function in (np.mean, np.var, np.nanmean, np.nanstd):
            assert onp.isnan(npx.jit(function)(np.zeros(0)))
        assert onp.isnan(npx.jit(np.nanmax)(np.array([np.nan])))


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "mean",
        "cumsum",
        "cumprod",
        "std",
        "var",
        "trace",
        "nansum",
        "nanmean",
        "nancumsum",
        "add.reduce",
        "add.accumulate",
    ],
)
def test_a_dtype_that_drops_imaginary_parts_warns(backend, name):
    function, expected = operator.attrgetter(name)(np), operator.attrgetter(name)(onp)
    x = onp.array([[1 + 2j, 3], [0, 1]], "c8")
    for given in (x, x.tolist()):
        for _ in range(3):  # a cached call would not warn
            for dtype in ("f4",) if name in ("nanmean", "std", "var") else ("f4", "i4"):
                with pytest.warns(
                    onp.exceptions.ComplexWarning, match="discards the imaginary part"
                ):
                    found = function(np.array(given) if given is x else given, dtype=dtype)
                with pytest.warns(onp.exceptions.ComplexWarning):
                    onp.testing.assert_allclose(
                        found.asnumpy(), expected(given, dtype=dtype), rtol=1e-6
                    )
    function(np.array(x), dtype="c16")
    function(np.array(x.real), dtype="i4" if name != "nanmean" else "f8")


@pytest.mark.usefixtures("placed")
def test_quantiles_of_fractions_are_fractions():
    halves = [Fraction(i, 2) for i in range(8)]
    assert np.percentile(halves, Fraction(50)) == Fraction(7, 4) and np.quantile(
        [1, 2], Fraction(1, 2)
    ) == Fraction(3, 2)
