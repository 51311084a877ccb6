"""Details of NumPy's that programs run into: order in memory, numbers that do not fit, scalars."""

import numpy as onp
import pytest
from oracle import agrees

from npcompat import autograd, np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")
BASE = onp.arange(6).reshape(2, 3)


@pytest.mark.parametrize(
    "shown",
    [
        lambda xp, a: xp.broadcast_to(a[0], (2, 3)),
        lambda xp, a: xp.broadcast_to(a[:, None], (2, 4, 3)),
        lambda xp, a: xp.broadcast_to(a[:, :1], (2, 3)),
        lambda xp, a: xp.broadcast_to(a.T[:, None], (3, 5, 2)),
        lambda xp, a: xp.broadcast_to(a[::-1, None, ::-1], (4, 2, 2, 3)),
        lambda xp, a: a.T[None, ::-1],
        lambda xp, a: a[:, ::-1],
    ],
)
@pytest.mark.parametrize("order", ["K", "A", "C", "F"])
def test_ravel_walks_memory_as_numpy_does(shown, order):
    agrees(lambda xp, a: shown(xp, a).ravel(order), BASE, modes=("jax", "numpy"))
    agrees(lambda xp, a: shown(xp, a).flatten(order), BASE, modes=("jax", "numpy"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "bool", "int64"])
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}])
def test_means_in_integers_wrap(dtype, options):
    a = onp.array([[100, 100, 100], [3, 90, -7]]).astype(dtype)
    agrees(lambda xp, x: xp.mean(x, dtype=dtype, **options), a)
    agrees(lambda xp, x: x.mean(dtype="int8", **options), a)
    mask = onp.array([[True, False, True], [True, True, False]])
    agrees(lambda xp, x, m: xp.mean(x, dtype=dtype, where=m, **options), a, mask)


@pytest.mark.parametrize("number", [-1, 300, 5, 2**40])
def test_choices_among_numbers_wrap(number):
    a = onp.array([1, 2, 3], "uint8")
    agrees(lambda xp, x: xp.where(x < 2, x, number), a)
    agrees(lambda xp, x: xp.where(x < 2, number, x), a)
    agrees(lambda xp, x: xp.select([x < 2], [x], number), a)
    agrees(lambda xp, x: xp.select([x < 2, x > 2], [x, x + 1], number), a.astype("int8"))
    agrees(lambda xp, x: xp.select([x < 2], [number], x), a)  # NumPy raises TypeError


@pytest.mark.parametrize("number", [-1, 300, -1.5, [1, -2, 300]])
def test_real_parts_are_written_without_a_check(number):
    def written(xp, x):
        x.real = number
        return x

    agrees(written, onp.array([1, 2, 3], "uint8"))
    agrees(written, onp.array([1, 2, 3], "complex64"))


@pytest.mark.parametrize("key", [0, slice(None), slice(0, 1), (0,), [0, 1], Ellipsis])
@pytest.mark.parametrize("text", ["x", b"y", ["w", "z"], "", "7"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex128"])
def test_texts_that_are_no_numbers_are_named(key, text, dtype):
    def written(xp, x):
        x[key] = text
        return x

    if dtype == "bool" and type(text) is list:
        pytest.skip("every list is true or false")
    a = onp.zeros(2, dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oracle.public", lambda kind: (TypeError, ValueError))
        agrees(written, a, modes=("jax", "numpy"))


def test_the_text_is_in_the_error_on_both_backends():
    for backend in ("numpy", "jax"):
        with npx.backend(backend):
            a = np.zeros(2)
            with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
                a[0] = "x"
            assert a.tolist() == [0, 0]


def test_numpys_scalars_stay_scalars():
    number = onp.float32(2)
    agrees(lambda xp: [xp.squeeze(number), xp.transpose(number), xp.squeeze(number, ())])
    agrees(lambda xp, x: [xp.squeeze(x.sum()), xp.transpose(x.sum()), x.sum().T], BASE)
    agrees(lambda xp, x: xp.linalg.lstsq(x, xp.ones(2), rcond=None)[2], BASE * 1.0)
    agrees(lambda xp, x: xp.transpose(xp.array(1.0)), BASE)


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize(
    ("shape", "strides"),
    [((2, 3), (8, 16)), ((3,), (8,)), ((2, 2, 2), (8, 8, 16)), ((6,), (8,)), ((0, 2), (8, 8))],
)
def test_strided_views_of_any_order_in_memory(order, shape, strides):
    def program(xp, a):
        memory = xp.array(a, order=order)
        seen = xp.lib.stride_tricks.as_strided(memory, shape, strides)
        memory[1, 1] = 50
        if shape in ((6,), (3,)):
            seen[-1] = 70
        return seen.copy(), memory

    agrees(program, BASE, modes=("jax", "numpy"))


def test_strided_views_of_transposed_and_gathered_arrays():
    def program(xp, a):
        taken = xp.take(a, [2, 0, 1], axis=1)
        windows = xp.lib.stride_tricks.sliding_window_view(taken, 2, axis=1)
        other = xp.asfortranarray(a).transpose(1, 0)
        return windows, xp.lib.stride_tricks.as_strided(other, (2, 2), other.strides)

    agrees(program, BASE, modes=("jax", "numpy"))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8"])
def test_powers_of_integers_take_every_exponent(dtype):
    exponents = onp.array([0, 1, 63, 64, 100, 120], dtype)
    bases = onp.array([3, 2, 2, 3, 5, 7], dtype)
    agrees(lambda xp, x, n: x**n, bases, exponents)
    agrees(lambda xp, x: x ** [0, 1, 5, 300, 2, 70], bases)
    agrees(lambda xp, x: x ** [0, -1, 5, 300, 2, 70], bases, modes=("jax", "numpy"))
    agrees(lambda xp, x: xp.power([2, 3], [-1, 2]), bases, modes=("jax", "numpy"))


@pytest.mark.parametrize("wanted", [">i4", ">f8", "longdouble", "O", "U3"])
@pytest.mark.parametrize(
    "make",
    [
        lambda x, dtype: np.array(x, dtype=dtype),
        lambda x, dtype: x.astype(dtype),
        lambda x, dtype: np.add(x, x, dtype=dtype),
        lambda x, dtype: np.sum(x, dtype=dtype),
    ],
)
def test_dtypes_of_the_host_are_refused_in_compiled_functions_in_our_words(make, wanted):
    with pytest.raises(TypeError) as found:
        npx.jit(lambda x: make(x, wanted))(np.ones(2))
    assert "JAX" not in str(found.value)


def test_eigenvalues_and_eigenvectors_have_gradients(backend):
    start = onp.random.RandomState(0).randn(4, 4)
    weights = np.array(onp.random.RandomState(1).randn(4, 4))

    def loss(a):
        values, vectors = np.linalg.eig(a)
        return (np.abs(vectors) ** 2 * weights).sum() + (values**2 * weights[0]).sum().real

    a = np.array(start)
    a.attach_grad()
    with autograd.record():
        made = loss(a)
    made.backward()
    for i, j in ((0, 0), (1, 2), (3, 1)):
        step = onp.zeros((4, 4))
        step[i, j] = 1e-6
        slope = (loss(np.array(start + step)) - loss(np.array(start - step))) / 2e-6
        onp.testing.assert_allclose(a.grad[i, j], slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "measure",
    [
        lambda a: np.linalg.eig(a)[0].sum(),
        lambda a: np.linalg.eigh(a)[0].sum(),
        lambda a: np.linalg.svd(a)[1].sum(),
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_outputs_that_nothing_depends_on_have_no_part_in_a_gradient(backend, measure, compiled):
    """Derivatives of vectors are not finite where values are equal; times zero they were nan."""
    a = np.array([[2.0, 0], [0, 2]])
    a.attach_grad()

    def run():
        with autograd.record():
            total = measure(a)
        total.backward()

    (npx.jit(run) if compiled else run)()
    assert a.grad.tolist() == [[1, 0], [0, 1]]


def test_least_squares_has_a_gradient_where_singular_values_are_equal(backend):
    a, b = np.array([[2.0, 0], [0, 2]]), np.array([1.0, 3])
    a.attach_grad(), b.attach_grad()
    with autograd.record():
        total = np.linalg.lstsq(a, b, rcond=None)[0].sum()
    total.backward()
    onp.testing.assert_allclose(b.grad.asnumpy(), [0.5, 0.5])
    onp.testing.assert_allclose(a.grad.asnumpy(), [[-0.25, -0.75], [-0.25, -0.75]])
