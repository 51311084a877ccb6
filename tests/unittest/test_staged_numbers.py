"""Numbers of staged loops: returned, and beside NumPy's scalars, as eager."""

import operator

import numpy as onp
import pytest
from internals import TracedValueError

from npcompat import autograd, np, npx


def counted(x):
    q = 0
    while q < 12:
        q += 1
    return q, q * 2, q * 3, q - 1, [q / 5, {"third": q / 3}], x + q, q * 5, -q


def halved(x):
    s = 1.0
    for _ in range(20):
        s = s * 0.75 + 1
    return s / 2, s / 3, x * s, (s / 5, s + 1), s > 2, s


def leaves(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [x for t in tree for x in leaves(t)] if isinstance(tree, list | tuple) else [tree]


@pytest.mark.parametrize("function", [counted, halved])
def test_several_numbers_are_returned(function):
    x = np.arange(3.0)
    found, expected = npx.jit(function)(x), function(x)
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        assert onp.asarray(one).tolist() == onp.asarray(other).tolist()


OPERATORS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.mod, operator.pow, operator.and_, operator.xor, operator.lshift),
    *(operator.lt, operator.ge, operator.eq, operator.ne, max, min),
)
REFUSED = (max, min, operator.pow, operator.lt, operator.ge, operator.eq, operator.ne)
"""Operators whose result may have two types, or that depend on whether a number fits a dtype."""
SCALARS = (
    *(onp.uint8(250), onp.int8(2), onp.int64(7), onp.float32(0.1), onp.float16(2)),
    *(onp.float64(0.5), onp.bool_(True), onp.complex64(1)),
)


def outcome(function, x):
    try:
        found = function(x)
    except TracedValueError:
        return TracedValueError, None, None  # refused in words
    except (TypeError, OverflowError, ValueError, ZeroDivisionError) as error:
        return type(error), None, None
    return type(onp.asarray(found)), onp.asarray(found).dtype, onp.asarray(found)


@pytest.mark.parametrize("kind", [int, float, bool])
@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_a_scalar_of_numpys_has_its_dtype_beside_a_number(kind, scalar):
    x = np.ones(3)
    for op in OPERATORS:
        for reflected in (False, True):

            def f(x, op=op, reflected=reflected):
                p = kind(1)
                for i in range(12):
                    p = (p * 3 + 1) % 100 if kind is not bool else i > 5
                return op(scalar, p) if reflected else op(p, scalar)

            with onp.errstate(all="ignore"):
                expected = outcome(f, x)
                found = outcome(npx.jit(f), x)
            if found[0] is TracedValueError:
                assert op in REFUSED, op
                continue
            if op in (max, min) and expected[1] == kind:  # a number or the scalar, as data decide
                assert found[1] in (expected[1], scalar.dtype), (op, reflected)
            else:
                assert found[:2] == expected[:2], (op, reflected)
            if expected[2] is not None:
                onp.testing.assert_allclose(found[2], expected[2], rtol=1e-6)


def test_complex_numbers_of_pythons_are_refused():
    def f(x):
        p = 0
        while p < 3:
            p += 1
        return p * 2j

    with pytest.raises(TracedValueError, match=r"complex number of Python's; use np\.complex128"):
        npx.jit(f)(np.ones(3))


def test_the_greater_of_an_element_and_a_scalar():
    def f(a):
        w = np.float32(1.5)
        for i in range(12):
            a[i % 8] = max(a[i % 8], w)
        for i in range(12):
            a[i % 4] = min(np.float32(1.75), a[i % 4])

    a = np.linspace(0.1, 2, 8)
    b = a.copy()
    f(a)
    npx.jit(f)(b)
    assert b.tolist() == a.tolist()


def test_an_array_of_a_number():
    def f(_):
        p, s = 0, 0.5
        for _ in range(9):
            p, s = p + 2, s * 1.5
        return np.array(p), np.asarray(s), np.array(p > 3), np.array(p, dtype="int8")

    for found, expected in zip(npx.jit(f)(np.ones(2)), f(np.ones(2)), strict=True):
        assert found.dtype == expected.dtype and found.shape == ()
        assert found.tolist() == pytest.approx(expected.tolist())


def test_bools_that_data_decide_stay_bools():
    def f(x):
        hit, other = True, False
        for i in range(10):
            if x[i] > 2:
                hit = False
        for i in range(10):
            other |= bool(x[i] > 2)
        part = x[:2].copy()
        return (
            *(hit & True, hit | other, hit ^ True, hit & 3, other | 1, other & other),
            *(~np.array(hit & True), np.ones(2, dtype=bool) & (hit & True), part * (other | hit)),
        )

    found, expected = npx.jit(f)(np.arange(10.0)), f(np.arange(10.0))
    for one, other in zip(found, expected, strict=True):
        assert onp.asarray(one).dtype == onp.asarray(other).dtype
        assert onp.asarray(one).tolist() == onp.asarray(other).tolist()


@pytest.mark.parametrize(
    "compute",
    [lambda x: x.sum(), lambda x: x @ x, lambda x: x.max(), lambda x: np.sqrt(x @ x) * 2],
)
def test_a_recorded_loop_whose_rounds_compute_the_same(compute):
    def f(x):
        s = t = x[0]
        for _ in range(10):
            t = s
            s = compute(x)
        return s + t

    gradients = []
    for function in (f, npx.jit(f)):
        x = np.arange(1.0, 11)
        x.attach_grad()
        with autograd.record():
            y = function(x)
        y.backward()
        gradients.append([y.item(), *x.grad.tolist()])
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-5)


def factorial(a):
    f = 1
    for i in range(1, 30):
        f *= i
    return a * float(f)


def until_it_is_large(a):
    f = 1
    for i in range(1, 60):
        f *= i
        if f > 10**20:
            break
    return a * i


def fibonacci(a):
    x, y = 0, 1
    for _ in range(100):
        x, y = y, x + y
    return a * float(x)


@pytest.mark.parametrize("program", [factorial, until_it_is_large, fibonacci])
def test_integers_of_any_size_in_loops_without_arrays(program):
    with npx.compile_log() as log:
        found = npx.jit(program)(np.ones(2))
    assert found.tolist() == program(np.ones(2)).tolist()
    assert "run by Python" in "".join(line for entry in log for line in entry.loops)


def test_integers_of_more_than_64_bits_that_data_decide_are_an_error():
    def power(a):
        f = 1
        for _ in range(1, 30):
            f = f * int(a[0])
        return a * f

    compiled = npx.jit(power)
    assert compiled(np.full(2, 2.0)).tolist() == power(np.full(2, 2.0)).tolist()
    with pytest.raises(OverflowError, match="more than 64 bits"):
        compiled(np.full(2, 20.0)).asnumpy()


def compared_with_a_counter(a, k):
    n = 0
    for i in range(20):
        if a[i % 4] > 0:
            n += k
        if a[i % 4] < n:
            n += 1
        if a[i % 4] == n:
            n -= 1
        if n >= a[i % 4]:
            n += 2
    return n, a < n, n <= a, a == n, n != a, a[0] > n


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "bool"])
@pytest.mark.parametrize("k", [1, 100, -50, 10**6])
def test_comparisons_with_ints_that_a_dtype_does_not_hold_are_exact(dtype, k):
    a = np.array(onp.array([1, 3, 0, 100]).astype(dtype))
    for one, other in zip(
        npx.jit(compared_with_a_counter)(a, k), compared_with_a_counter(a, k), strict=True
    ):
        onp.testing.assert_array_equal(onp.asarray(one), onp.asarray(other))


# --- numbers that only the program knows, where Python's are checked or looked at


def ends_at(number, a):
    """Return a number that data decide."""
    return number if a[0] > 0 else type(number)(5)


CHECKED = {
    "fill": (lambda a, u: u.fill(ends_at(300, a)), OverflowError),
    "full": (lambda a, u: np.full(2, ends_at(300, a), dtype="u1"), OverflowError),
    "full_like": (lambda a, u: np.full_like(u, ends_at(-1, a)), OverflowError),
    "array": (lambda a, u: np.array([ends_at(300, a)], dtype="u1"), OverflowError),
    "nan": (lambda a, u: np.array(ends_at(onp.nan, a), dtype="i4"), ValueError),
    "nan in a list": (
        lambda a, u: np.array([ends_at(onp.nan, a), 1.0], dtype=int),
        ValueError,
    ),
    "fill of inf": (lambda a, u: u.fill(ends_at(onp.inf, a)), OverflowError),
    "range": (lambda a, u: [0 for i in range(ends_at(3.5, a))], TypeError),
    "invert": (lambda a, u: ~ends_at(3.5, a), TypeError),
}


@pytest.mark.parametrize("name", CHECKED)
def test_a_number_is_checked_as_pythons(name):
    use, error = CHECKED[name]
    u = np.array([0, 1], dtype="uint8")
    with pytest.raises(error):
        use(np.ones(2), u)

    def compiled():
        found = npx.jit(lambda a: use(a, u))(np.ones(2))
        return onp.asarray(u if found is None else found)

    with pytest.raises((error, TracedValueError)):
        compiled()


def test_select_takes_a_number_as_pythons():
    def f(a):
        return np.select([a > 1], [a], ends_at(3.0, a)), np.result_type(ends_at(3, a), a)

    x = np.arange(1.0, 4, dtype="float32")
    assert npx.jit(f)(x)[0].dtype == f(x)[0].dtype
    assert npx.jit(f)(x)[1] == f(x)[1]
    assert npx.jit(lambda a: (np.ndim(ends_at(3, a)), np.shape(ends_at(3, a))))(x) == (0, ())


@pytest.mark.parametrize(
    "use",
    [
        lambda n: onp.arange(3.0) * n,
        lambda n: n + onp.arange(3.0),
        lambda n: onp.full(3, n),
        lambda n: onp.array([n, 1.0]),
        onp.asarray,
        onp.sqrt,
    ],
)
def test_numpy_makes_no_objects_of_a_number_that_is_not_known(use):
    with pytest.raises(TracedValueError):
        npx.jit(lambda a: use(ends_at(3, a)))(np.ones(2))


@pytest.mark.parametrize("before", [None, 5, (1, 2)])
def test_a_loop_binds_an_empty_tuple(before):
    def f(a):
        r = before
        for _ in range(20):
            r = ()
        return a * 2 if r == () else a * 3

    assert npx.jit(f)(np.ones(2)).tolist() == [2, 2]
