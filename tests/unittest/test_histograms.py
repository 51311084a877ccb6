"""Histograms of recorded arrays: their weights and edges have derivatives, counts have none."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx

SAMPLES = onp.array([1.0, 2.2, 3.1, 4.0])
WEIGHTS = onp.array([1.0, 2.0, 3.0, 4.0])

HISTOGRAMS = {
    "weights": lambda np, x, w: np.histogram(x, bins=2, weights=w)[0],
    "density": lambda np, x, w: np.histogram(x, bins=2, weights=w, density=True)[0],
    "density of counts": lambda np, x, w: np.histogram(x, bins=2, density=True)[0],
    "edges": lambda np, x, w: np.histogram(x, bins=3)[1],
    "bin edges": lambda np, x, w: np.histogram_bin_edges(x, bins=3),
    "two axes": lambda np, x, w: np.histogram2d(x, x, bins=2, weights=w)[0],
    "edges of two axes": lambda np, x, w: np.histogram2d(x, x, bins=2)[2],
    "rows": lambda np, x, w: np.histogramdd(np.stack([x, w], 1), bins=2, weights=w)[0],
    "integers": lambda np, x, w: np.bincount(np.array([0, 2, 1, 2]), weights=w),
}


def slope(function, *operands):
    """Return the derivative of a sum of squares along all ones, by central differences."""
    h = 1e-6
    sums = [(function(onp, *[a + s * h for a in operands]) ** 2).sum() for s in (1, -1)]
    return (sums[0] - sums[1]) / (2 * h)


@pytest.mark.usefixtures("placed", "numpy_mode")
@pytest.mark.parametrize("which", HISTOGRAMS)
@pytest.mark.parametrize("compiled", [False, True])
def test_derivatives_of_histograms(which, compiled):
    def loss(x, w):
        return (HISTOGRAMS[which](np, x, w) ** 2).sum()

    x, w = np.array(SAMPLES), np.array(WEIGHTS)
    for a in (x, w):
        a.attach_grad()
    with autograd.record():
        total = (npx.jit(loss) if compiled and which != "integers" else loss)(x, w)
    total.backward()
    expected = slope(HISTOGRAMS[which], SAMPLES, WEIGHTS)
    assert float(x.grad.sum() + w.grad.sum()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.usefixtures("placed")
def test_recorded_ends_of_the_range_are_refused():
    x = np.array(SAMPLES)
    x.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match="not known"):
        np.histogram(x, range=(x[0], x[3]))


@pytest.mark.parametrize(
    "call",
    [
        lambda c: np.histogram(c),
        lambda c: np.histogram(c, bins=[0, 1, 2]),
        lambda c: np.histogram_bin_edges(c),
        lambda c: np.histogram2d(c, c.real),
        lambda c: np.histogramdd(np.stack([c, c], 1), bins=2),
        lambda c: np.interp(c, [0, 1], [1, 2]),
        lambda c: np.interp([1.0], c, [1, 2, 3]),
    ],
)
def test_complex_elements_lose_no_part(call):
    with pytest.raises(TypeError, match="may not be complex|rule 'safe'"):
        call(np.array([1 + 1j, 2, 3j]))
