"""Functions that make integers of floats, or look at floats for integers: NumPy's numbers, on the
host, on XLA and compiled.
"""

import jax
import numpy as onp
import pytest
from internals import signal

from npcompat import np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")

CALLS = {
    "a sum without nan": lambda m: m.nansum(m.array([[1.5, onp.nan], [2, 3]]), 1, dtype="int32"),
    "a product without nan": lambda m: m.nanprod(m.array([3, 2, onp.nan]), dtype="int32"),
    "a mean of integers": lambda m: m.nanmean(m.array([100, 100, 100, 101]), dtype="int8"),
    "a variance": lambda m: m.var(m.array([0, -3, 0, 5, 1]), dtype="int64"),
    "a variance of some": lambda m: m.var(
        m.array([[0.5, 2.5], [3.5, 9]]), 0, "int8", where=m.array([[True], [True]]), ddof=1
    ),
    "a deviation": lambda m: m.std(m.array([0, -3, 0, 5, 0]), dtype="uint8"),
    "a variance of complex numbers": lambda m: m.var(
        m.array([0.6 - 0.8j, 1.1 + 1.5j, -2.2 + 1j]), dtype="int64"
    ),
    "a deviation of complex numbers": lambda m: m.std(
        m.array([[0.6 - 9.8j, 7.1 + 1.5j, -2.2 + 1j]]), dtype="int16", ddof=1
    ),
    "steps that do not fit": lambda m: m.linspace(m.int8(100), m.int8(-100), 3, retstep=True)[1],
    "steps between bools": lambda m: m.linspace(True, False, 3, retstep=True)[1],
    "steps, one of them 0": lambda m: m.linspace([0.0, 1.0], [0.0, 9.0], 10),
    "quantiles that are elements": lambda m: m.nanquantile(
        m.array([-onp.inf, 0, onp.inf, onp.nan]), [0, 1]
    ),
    "a ramp": lambda m: m.pad(m.array([0]), 10, "linear_ramp", end_values=100),
    "a ramp from a fraction": lambda m: m.pad(
        m.array([[3, 5], [7, 9]], "uint8"), 3, "linear_ramp", end_values=1.9
    ),
    "a ramp of large numbers": lambda m: m.pad(
        m.array([16777217, 5], "int32"), (2, 3), "linear_ramp", end_values=16777217
    ),
    "large means": lambda m: m.pad(m.array([16777217] * 3, "uint32"), 1, "mean"),
    "large medians": lambda m: m.pad(
        m.array([16777217, 5, 16777219], "int32"), (1, 2), "median", stat_length=1
    ),
    "an infinity at the end": lambda m: m.convolve(
        m.array([1.0, 2, 3]), m.array([1.0, 2, onp.inf])
    ),
    "nan in the middle": lambda m: m.convolve(
        m.array([1.0, 2, 3, 4], "float32"), m.array([1, onp.nan, 2], "float32"), "same"
    ),
    "a correlation with nan": lambda m: m.correlate(
        m.array([1.0, 6, 2, 1, -1]), m.array([onp.nan, -1.5, -1.5]), "same"
    ),
    "a correlation of complex numbers": lambda m: m.correlate(
        m.array([1, onp.inf, 3]), m.array([1j, -1.5, 1, 2]), "full"
    ).imag[:1],
    "sums in a wider output": lambda m: m.cumsum(
        m.array([60000, 60000], "float16"), out=m.zeros(2, "float32")
    ),
    "a sum in a wider output": lambda m: m.sum(
        m.full(10, 0.1, "float32"), out=m.zeros((), "float64")
    ),
    "a mean in a wider output": lambda m: m.mean(
        m.array([1.5, 1.0009765625], "float16"), out=m.zeros((), "float32")
    ),
    "products of bytes in bools": lambda m: m.cumprod(
        m.array([16, 16, 3], "int8"), out=m.zeros(3, bool)
    ),
    "differences in a wider output": lambda m: m.subtract.accumulate(
        m.array([-100, 100, 50], "int8"), out=m.zeros(3, "int64")
    ),
    "a reduction in a wider output": lambda m: m.hypot.reduce(
        m.array([300, 400, 0], "float16"), out=m.zeros((), "float64")
    ),
    "a trace in integers": lambda m: m.trace(m.array([[1.5, 2], [3, 4]]), out=m.array(0)),
    "a range in a wider output": lambda m: m.ptp(
        m.array([-100, 100], "int8"), out=m.zeros((), "int64")
    ),
    "sums that begin with 0 in a wider output": lambda m: m.cumulative_sum(
        m.array([60000, 60000], "float16"), include_initial=True, out=m.zeros(3, "float32")
    ),
    "products of bytes in a wider output": lambda m: m.einsum(
        "ij,jk->ik",
        m.full((2, 9), 100, "int8"),
        m.full((9, 2), 100, "int8"),
        out=m.zeros((2, 2), int),
    ),
    "bins that end with nan": lambda m: m.digitize(
        m.array([3.0, -5, onp.nan, 0]), [-1, 0, onp.nan]
    ),
    "logical functions of numbers": lambda m: m.logical_and(m.array([1.5, 0]), 1, dtype=bool),
    "a mean of integers in floats": lambda m: m.mean(
        m.array([[1.5, 2]]), 1, "uint8", out=m.array([0.0])
    ),
    "a median in integers": lambda m: m.median(m.array([1.5, 2, 9, 3]), out=m.array(0)),
    "a median without nan in integers": lambda m: m.nanmedian(
        m.array([1.5, 2, onp.nan]), out=m.array(0)
    ),
    "integers among others of other signs": lambda m: m.isin(
        m.array([2**63 - 1, 2**64 - 1, 5], "uint64"), m.array([2**63 - 2, -1, 5], "int64")
    ),
    "integers not among others": lambda m: m.isin(
        m.array([2**63 - 1, -1, 5], "int64"),
        m.array([2**63 - 2, 2**64 - 1, 5], "uint64"),
        invert=True,
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("way", ["numpy", "jax", "compiled"])
@pytest.mark.parametrize("name", CALLS)
def test_numbers_are_numpys(name, way):
    call = CALLS[name]
    expected = onp.asarray(call(onp))
    if way == "compiled":
        found = npx.jit(lambda: call(np))()
    else:
        with npx.backend(way):
            found = call(np)
    found = onp.asarray(found)
    assert found.dtype == expected.dtype
    onp.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("subscripts", "options"),
    [("ii->i", {"order": "F"}), ("ij->ji", {"order": "C"}), ("ii->i", {"dtype": "float64"})],
)
def test_what_einsum_rearranges_is_a_view(subscripts, options):
    a = np.ones((2, 2))
    np.einsum(subscripts, a, **options)[...] = 0
    b = onp.ones((2, 2))
    onp.einsum(subscripts, b, **options)[...] = 0
    assert a.tolist() == b.tolist()


def test_the_gradient_of_a_convolution_takes_no_memory_for_its_shifts():
    a, v = jax.numpy.ones(50_000), jax.numpy.ones(1_000)
    for function in (signal.convolve, signal.correlate):
        gradient = jax.grad(lambda a, v, f=function: (f(a, v, "full") ** 2).sum(), argnums=(0, 1))
        memory = jax.jit(gradient).lower(a, v).compile().memory_analysis()
        assert memory.temp_size_in_bytes < 10 * a.nbytes


@pytest.mark.parametrize("value", [1e300, onp.nan, 1e5, 300.7, 1 + 2j])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_copies_of_any_number_are_numpys(value):
    for dtype in ("uint16", "int8", "int64", "float32"):
        mine, theirs = np.zeros(2, dtype=dtype), onp.zeros(2, dtype)
        np.copyto(mine, value, "unsafe")
        onp.copyto(theirs, value, "unsafe")
        onp.testing.assert_array_equal(mine.asnumpy(), theirs)


def test_results_that_are_no_integers_are_refused():
    for call in (
        lambda m: m.std(m.array([1.5, 2, 4]), out=m.array(0)),
        lambda m: m.cov(m.array([1.5, 2, 4]), dtype=int),
    ):
        for module in (onp, np):
            with pytest.raises(TypeError):
                call(module)


def test_deviations_of_rows_are_no_integers():
    for m in (onp, np):
        for options in ({"axis": 0}, {"axis": 1, "ddof": 1}, {"keepdims": True}):
            with pytest.raises(TypeError, match="Cannot cast ufunc"):
                m.std(m.arange(6.0).reshape(2, 3), dtype="int32", **options)
