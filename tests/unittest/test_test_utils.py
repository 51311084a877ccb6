"""`npcompat.test_utils`: what passes, what fails, and what the messages say."""

import numpy as onp
import pytest

from npcompat import autograd, np, npx, test_utils


def test_equal_arrays_pass_whatever_holds_them():
    for a, b in [
        (np.ones(2), onp.ones(2)),
        ([1, 2], np.array([1, 2])),
        (3, 3.0),
        (np.zeros((0, 3)), onp.zeros((0, 3))),
        (np.array([onp.inf, onp.nan]), [onp.inf, onp.nan]),
        (True, np.array(True)),
    ]:
        test_utils.assert_almost_equal(a, b)
        assert test_utils.same(a, b) and test_utils.almost_equal(a, b)


@pytest.mark.parametrize(
    ("dtype", "passes", "fails"),
    [
        ("float16", 1.001, 1.01),
        ("bfloat16", 1.02, 1.1),
        ("float32", 1.000005, 1.0001),
        ("float64", 1 + 1e-10, 1 + 1e-8),
        ("complex64", 1.000005, 1.0001),
    ],
)
def test_tolerances_follow_the_dtype(dtype, passes, fails):
    one = np.ones(3, dtype=dtype)
    assert test_utils.almost_equal(one, np.full(3, passes, dtype=dtype))
    assert not test_utils.almost_equal(one, np.full(3, fails, dtype=dtype))
    with pytest.raises(AssertionError, match="differ in 3 of 3 elements"):
        test_utils.assert_almost_equal(one, np.full(3, fails, dtype=dtype))


def test_the_less_precise_dtype_decides():
    assert test_utils.almost_equal(np.array([1.001], dtype="float16"), onp.array([1.0]))
    assert not test_utils.almost_equal(np.array([1.001]), onp.array([1.0]))
    assert test_utils.tolerances("int8", "float64") == test_utils.TOLERANCES["float64"]


def test_messages_name_the_worst_element():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.5], [3.0, 14.0]])
    with pytest.raises(AssertionError) as error:
        test_utils.assert_almost_equal(a, b, rtol=1e-3, atol=0, names=("mine", "theirs"))
    assert (
        str(error.value)
        == "mine and theirs differ in 2 of 4 elements (rtol=0.001, atol=0)\nworst at [1, 1]: mine = 4.0, theirs = 14.0, off by 10"
    )
    test_utils.assert_almost_equal(np.full((2, 3), 2.0), 2)
    test_utils.assert_almost_equal(np.ones((1, 2)), np.ones(2), use_broadcast=True)
    with pytest.raises(AssertionError, match="b = 3"):
        test_utils.assert_almost_equal(np.ones((2, 3)), 3)
    for x, y, message in [
        (np.ones((1, 2)), np.ones(2), r"a has shape \(1, 2\), b has shape \(2,\)"),
        (np.ones(2), np.ones(3), r"a has shape \(2,\), b has shape \(3,\)"),
        ([1, onp.nan], [1, 2], r"worst at \[1\]: a = nan, b = 2"),
        ([onp.inf], [-onp.inf], "a = inf, b = -inf"),
        (np.array(2**62), np.array(2**62 + 1), "off by 1"),
    ]:
        with pytest.raises(AssertionError, match=message):
            test_utils.assert_almost_equal(x, y)
    with pytest.raises(AssertionError, match="nan"):
        test_utils.assert_almost_equal([onp.nan], [onp.nan], equal_nan=False)


def test_random_arrays_have_shape_dtype_and_bounds():
    for dtype in ("float16", "bfloat16", "float64", "int32", "uint8", "complex64", "bool", None):
        x = test_utils.rand_ndarray((3, 0, 2), dtype)
        assert x.shape == (3, 0, 2) and x.dtype == np.zeros(1, dtype=dtype).dtype
    x = test_utils.rand_ndarray(1000, "float32", 2, 3, 10).asnumpy()
    assert x.min() >= 20 and x.max() <= 30 and x.std() > 1
    assert set(test_utils.rand_ndarray(200, "int64", -1, 1).tolist()) == {-1, 0, 1}
    assert (
        all(1 <= n <= 4 for n in test_utils.rand_shape_nd(5, 4))
        and test_utils.rand_shape_nd(0) == ()
    )
    assert 0 in test_utils.rand_shape_nd(200, 1, allow_zero_size=True)


def test_right_gradients_pass():
    x, y = np.linspace(-1, 1, 6).reshape(2, 3), np.array([0.5, 1.5, -2.0])

    def writes(x, y, n):
        x[0] *= y
        z = np.exp(x[:, ::2]) * n
        return {"z": z, "s": [x.sum(), n, "text"]}

    for jit in (False, True):
        test_utils.check_numeric_gradient(writes, [x, y, 3], jit=jit)
    test_utils.check_numeric_gradient(lambda c: c * c + c.real, [np.array([1 + 2j, -1j])])
    test_utils.check_numeric_gradient(lambda x: x * np.random.normal(size=3), [y])
    assert x.dtype == "float32" and x.grad is None and y.tolist() == [0.5, 1.5, -2.0]


def test_wrong_gradients_are_found():
    class Wrong(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            dy = dy * 2
            dy[1] += 1
            return dy

    with pytest.raises(
        AssertionError,
        match=r"(?s)gradient of input 0 and central difference differ in 1 of 3 elements.*worst at \[1\]",
    ):
        test_utils.check_numeric_gradient(lambda x: Wrong()(x), [np.ones(3)])
    with pytest.raises(AssertionError, match="the function returns no array of floats"):
        test_utils.check_numeric_gradient(lambda x: x > 1, [np.ones(3)])


def test_consistency_compares_values_dtypes_inputs_and_exceptions():
    def fine(x, n):
        x += n
        return x * np.random.uniform(), {"n": n, "s": np.arange(3)}

    found = test_utils.check_consistency(fine, [np.ones(2), 3])
    assert found[1]["n"] == 3
    assert isinstance(test_utils.check_consistency(lambda x: x[5], [np.ones(2)]), IndexError)

    def by_backend(values):
        return lambda x: values(x) if npx.current_backend() == "numpy" else x * 1

    for values, message in [
        (lambda x: x * 2, "array 0 of numpy and of jax differ in 2 of 2 elements"),
        (lambda x: x.astype("float64"), "array 0: numpy has dtype float64, jax has dtype float32"),
        (lambda x: [x], "numpy returned .* jax returned"),
        (lambda x: 3, "array 0: numpy: 3, jax: array"),
        (lambda x: x[3], "numpy: IndexError"),
        (lambda x: x.__iadd__(0) * 1 if x.fill(5) else np.ones(2), "inputs after numpy"),
    ]:
        with pytest.raises(AssertionError, match=message):
            test_utils.check_consistency(by_backend(values), [np.ones(2)])


def test_a_failure_under_a_seed_names_it(monkeypatch):
    drawn = []

    @test_utils.with_seed()
    def fails():
        drawn.append((np.random.uniform().item(), onp.random.rand()))
        raise KeyError("mine")

    monkeypatch.setenv("NPCOMPAT_TEST_SEED", "17")
    for _ in range(2):
        with pytest.raises(KeyError) as error:
            fails()
        assert "NPCOMPAT_TEST_SEED=17" in error.value.__notes__[0]
    monkeypatch.delenv("NPCOMPAT_TEST_SEED")
    with pytest.raises(KeyError):
        fails()
    assert drawn[0] == drawn[1] != drawn[2] and fails.__name__ == "fails"


def test_assert_exception_waits_for_what_is_compiled():
    test_utils.assert_exception(npx.jit(lambda a, i: a[i]), IndexError, np.ones(3), np.array([5]))
    with pytest.raises(AssertionError, match="did not raise IndexError"):
        test_utils.assert_exception(lambda: 1, IndexError)
    with pytest.raises(ZeroDivisionError):
        test_utils.assert_exception(lambda: 1 / 0, IndexError)
