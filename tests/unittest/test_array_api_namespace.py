"""The namespace of the array API: the standard's meaning where NumPy has another."""

import inspect

import numpy as onp
import pytest

from npcompat import array_api as xp
from npcompat import autograd, np, npx

INF, NAN = float("inf"), float("nan")


def test_results_without_axes_are_arrays_that_can_be_written(backend):
    x = xp.asarray([3.0, 1.0, 2.0])
    one = xp.asarray(1.0)
    for result in (
        xp.sum(x), xp.max(x), xp.mean(x), xp.argmax(x), xp.all(x > 0), xp.std(x), xp.add(one, 1.0), one + 1,
        -one, one > 0, xp.sum(x) / 2, 2 * xp.sum(x), xp.sum(x) + xp.mean(x), abs(one), xp.linalg.det(np.eye(2)),
        *xp.linalg.slogdet(np.eye(2)), xp.sum(x).sum(), xp.zeros(()), xp.full_like(xp.sum(x), -xp.asarray(np.inf)),
    ):  # fmt: skip
        assert isinstance(result, np.ndarray) and result.shape == ()
        result[...] = 0
        assert result.item() == 0
    assert x[xp.argmax(x)].item() == 3 and x.tolist() == [3, 1, 2]
    assert repr(xp.sum(x)) == "array(6.)"


def test_operators_and_elements_are_the_standards(backend):
    x = xp.asarray([3.0, 1.0, 2.0])
    total = xp.sum(x)
    found = (
        x,
        x * total,
        total * x,
        xp.stack([total, total]),
        xp.where(x > 1, x, total),
        total[None],
        x[1:],
        x[x > 1],
        x[0],
        x @ x,
        x.mean(),
        *x,
        x.reshape(3, 1).T,
        xp.asarray(np.ones(3)),
    )
    for array in found:
        assert isinstance(array, np.ndarray) and type(array) is type(x)
    assert xp.asarray(x) is x and xp.asarray(x, dtype=xp.int64) is not x
    inf = xp.asarray([float("inf"), -1.0])
    assert (inf // xp.asarray([2.0, float("inf")])).tolist() == [float("inf"), 0.0]
    x //= 2
    assert x.tolist() == [1, 0, 1] and (7 // x[0]).item() == 7
    with pytest.raises(TypeError):
        x // "a"
    assert isinstance(np.asarray(total)[()], onp.float32)
    filled = np.full_like(np.ones((2, 3)).T, total)
    assert type(filled) is type(np.full((2, 3), total)) is np.ndarray
    assert filled.strides == (4, 12) and (filled == 6).all()


def test_arrays_of_numpys_meaning_are_shared(backend):
    plain = np.ones(3)
    x = xp.asarray(plain)
    x[0] = 5
    assert plain.tolist() == [5, 1, 1] and type(plain * 2) is np.ndarray
    element = x[1]
    element[...] = 7
    assert type(np.asarray(x)) is np.ndarray and np.asarray(x).tolist() == plain.tolist()


def test_gradients_and_compiled_functions_go_through_it():
    x = np.array([1.0, 2.0])

    def f(x):
        total = xp.sum(xp.multiply(x, x))
        total[...] = total * 2
        return total

    x.attach_grad()
    with autograd.record():
        y = f(x)
    y.backward()
    assert y.item() == 10 and x.grad.tolist() == [4, 8]
    assert npx.jit(f)(x).item() == 10


def quotient(a, b):
    """The standard's table for floor_divide with infinities."""
    if onp.isinf(a) or onp.isinf(b):
        with onp.errstate(all="ignore"):
            return a / b
    with onp.errstate(all="ignore"):
        return a // b


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_floor_division_of_infinities(backend):
    values = onp.array([-INF, -3.5, -0.0, 0.0, 2.0, INF, NAN])
    a, b = (g.ravel() for g in onp.meshgrid(values, values))
    keep = (b != 0) | onp.isinf(a)
    a, b = a[keep], b[keep]
    expected = onp.array([quotient(*pair) for pair in zip(a, b, strict=True)])
    found = xp.floor_divide(np.array(a), np.array(b)).asnumpy()
    onp.testing.assert_array_equal(found, expected)
    number = ~onp.isnan(expected)
    onp.testing.assert_array_equal(onp.signbit(found[number]), onp.signbit(expected[number]))
    assert xp.floor_divide(np.array([7, -7]), 2).tolist() == [3, -4]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(
    ("function", "z", "expected"),
    [
        (xp.expm1, complex(0, 0), complex(0, 0)),
        (xp.expm1, complex(INF, 0), complex(INF, 0)),
        (xp.expm1, complex(INF, -0.0), complex(INF, -0.0)),
        (xp.expm1, complex(INF, INF), complex(INF, NAN)),
        (xp.expm1, complex(-INF, INF), complex(-1, 0)),
        (xp.expm1, complex(-INF, NAN), complex(-1, 0)),
        (xp.expm1, complex(NAN, 0), complex(NAN, 0)),
        (xp.tanh, complex(INF, 2), complex(1, 0)),
        (xp.tanh, complex(INF, -2), complex(1, -0.0)),
        (xp.tanh, complex(-INF, 2), complex(-1, 0)),
    ],
)
def test_complex_infinities(backend, function, z, expected):
    found = function(np.array(z, dtype="complex128")).item()
    for ours, standard in ((found.real, expected.real), (found.imag, expected.imag)):
        onp.testing.assert_equal(ours, standard)


def test_information_has_numbers_of_python():
    for dtype, real in (("float32", "float32"), ("complex128", "float64")):
        found, theirs = xp.finfo(onp.dtype(dtype)), onp.finfo(dtype)
        assert found == xp.finfo(xp.ones(2, dtype=dtype)) and found.dtype == real
        for name in ("eps", "max", "min", "smallest_normal"):
            assert type(getattr(found, name)) is float and getattr(found, name) == getattr(
                theirs, name
            )
    devices = xp.__array_namespace_info__().devices()
    assert isinstance(devices, tuple) and devices == (*np.__array_namespace_info__().devices(),)
    assert [*devices, None] == devices + [None]  # noqa: RUF005 (as SciPy writes it)


def test_parameters_are_the_standards():
    assert list(inspect.signature(xp.clip).parameters) == ["x", "min", "max"]
    assert str(inspect.signature(xp.add)) == "(x1, x2, /)"
    assert xp.clip(xp.asarray([1, 5]), 2, max=3).tolist() == [2, 3]


def test_eigenvalues_are_complex():
    assert xp.linalg.eigvals(np.eye(2)).dtype.kind == "c"
    values, vectors = xp.linalg.eig(np.eye(2, dtype="float64"))
    assert values.dtype == vectors.dtype == "complex128"


def test_other_names_are_numpys():
    assert xp.nanmean is np.nanmean
    with pytest.raises(AttributeError, match=r"module 'npcompat.array_api' has no attribute 'no'"):
        xp.no


@pytest.mark.parametrize("given", [["yes", "no"], onp.array(["a"]), onp.array([None]), "a"])
def test_elements_for_which_the_standard_has_no_dtype_are_refused(given):
    with pytest.raises(TypeError, match="Unsupported dtype .*: the array API standard"):
        xp.asarray(given)
