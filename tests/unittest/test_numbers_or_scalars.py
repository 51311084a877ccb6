"""Variables of compiled functions that are numbers of Python's or scalars, as data decide."""

import math

import numpy as onp
import pytest

from npcompat import autograd, np, npx
from npcompat.errors import RefusedError

DTYPES = ("float64", "float32", "int64")
DATA = ([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], [-3, -1, -4, -1, -5, -9, -2, -6, -5, -3, -5])


def greatest(np, a):
    best, at = -math.inf, -1
    for i in range(len(a)):
        if a[i] > best:
            best, at = a[i], i
    return best, at


def greatest_from_zero(np, a):
    best = 0
    for x in a:
        if x > best:
            best = x
    return best


def least(np, a):
    best = 1000
    for x in a:
        best = min(best, x)
    return best


def selected_sum(np, a):
    s, n = 0, 0
    for x in a:
        if x > 2:
            s += x
            n += 1
    return s, n


def mean_of_selected(np, a):
    s, n = 0.0, 1
    for x in a:
        if x > 2:
            s = s + x * 1.0
            n += 1
    return s / n


def until(np, a):
    best, i = 0, 0
    while i < len(a) and best < 6:
        if a[i] > best:
            best = a[i] * 2
        i += 1
    return best + 1, i


def position(np, a):
    k = 0
    for i in range(len(a)):
        if a[i] > 4:
            k = np.asarray(a).astype(int)[i] % 5
    return a[k], k


def flag(np, a):
    found = False
    for x in a:
        if x > 0:
            found = x > 4
    return 1 if found else 0


def written(np, a):
    last = 0
    for i in range(len(a)):
        a[i] += last
        if a[i] > 3:
            last = a[i]
    return a.sum()


def expression(np, a):
    best = 7
    for x in a:
        best = x if x < best else best
        best = -best if best > 100 else best
    return best * 2 - 1


def in_a_tuple(np, a):
    pair = (0, 0)
    for x in a:
        if x > pair[0]:
            pair = (x, pair[1] + 1)
    return pair


def shortest_paths(np, a):
    n, a = len(a), a.astype(float)
    distances, done = np.full(n, np.inf, dtype=float), np.zeros(n, dtype=bool)
    distances[0] = 0
    for _ in range(n):
        nearest, best = -1, np.inf
        for v in range(n):
            if not done[v] and distances[v] < best:
                nearest, best = v, distances[v]
        done[nearest] = True
        for v in range(n):
            if best + abs(a[nearest] - a[v]) + 1 < distances[v]:
                distances[v] = best + abs(a[nearest] - a[v]) + 1
    return distances


PROGRAMS = (
    *(greatest, greatest_from_zero, least, selected_sum, mean_of_selected, until, position, flag),
    *(written, expression, in_a_tuple, shortest_paths),
)


def results(found):
    return [onp.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("data", DATA, ids=("positive", "negative"))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_computes_what_python_does(program, dtype, data):
    array = onp.array(data, dtype)
    expected = results(program(onp, given := array.copy()))
    with npx.np_default_dtype():
        a = np.array(array)
        found = results(npx.jit(lambda a: program(np, a))(a))
    for one, other in zip(expected, found, strict=True):
        assert other == pytest.approx(one, rel=1e-6)
        assert other.dtype in (one.dtype, dtype)  # that of the scalars, if it is a number
    assert onp.array_equal(a.asnumpy(), given)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_its_loop_is_staged(program, dtype):
    a = np.array(onp.array(DATA[0], dtype))
    with npx.compile_log() as log:
        npx.jit(lambda a: program(np, a))(a)
    assert not any("unrolled" in str(line) for line in log)


OPERATORS = {
    "a sum": lambda x: x + 1,
    "a product with a float": lambda x: 0.1 * x,
    "a quotient": lambda x: 1 / x,
    "a floor quotient": lambda x: x // 2,
    "a remainder": lambda x: 7 % x,
    "its negative": lambda x: -x,
    "its absolute value": abs,
    "a comparison": lambda x: x > 1,
    "a chain": lambda x: (x * x - 1) * 0.3,
    "with a scalar": lambda x: x + onp.float64(0.1),
    "quotient and remainder": lambda x: divmod(x, 2),
    "a float": float,
    "an int": int,
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("taken", [False, True])
def test_an_operator_gives_the_result_of_the_number_or_the_scalar(name, dtype, taken):
    compute = OPERATORS[name]

    def f(a, limit):
        x = 3
        if a[0] > limit:
            x = a[0]
        return compute(x)

    array, limit = onp.array([2], dtype), 1 if taken else 5
    expected = onp.asarray(f(array, limit))
    with npx.np_default_dtype():
        try:
            found = onp.asarray(npx.jit(f)(np.array(array), limit))
        except RefusedError:  # a number comes back as a scalar, if that holds it
            assert not taken
            assert onp.float32(expected) != expected
            return
    assert onp.array_equal(found, expected)
    assert found.dtype == expected.dtype or not taken


def test_its_gradient_flows_through_the_scalar():
    def f(a):
        s = 0.0
        for x in a:
            if x > 2:
                s = s + x * x
        return s * 2 + a.sum()

    for record_inside in (False, True):
        a = np.array(DATA[0], dtype="float32")
        a.attach_grad()
        if record_inside:

            def step(a):
                with autograd.record():
                    y = f(a)
                y.backward()

            npx.jit(step)(a)
        else:
            with autograd.record():
                y = npx.jit(f)(a)
            y.backward()
        expected = onp.where(onp.array(DATA[0]) > 2, 4.0 * onp.array(DATA[0]), 0) + 1
        assert onp.array_equal(a.grad.asnumpy(), expected)


def put_into_ints(x, a):
    b = a.astype("int8")
    b[0] = x
    return b


REFUSED = {
    "a narrower array": (lambda x, a: a.astype("float16") * x, "operand of multiply"),
    "an array of ints": (lambda x, a: a.astype("int8") * x, "operand of multiply"),
    "an item of ints": (put_into_ints, "array of integers"),
    "its dtype": (lambda x, a: x.dtype, "attribute 'dtype'"),
    "a range": (lambda x, a: np.arange(x), "value is asked for"),
    "its type": (lambda x, a: type(x) is float, "type is asked for"),
    "its class": (lambda x, a: isinstance(x, float), "class is asked for"),
    "a list": (lambda x, a: np.array([x, 1.0]), "is in a list"),
    "a filled array": (lambda x, a: np.full(3, x), "fills an array"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_use_that_depends_on_which_it_is_is_refused(name):
    use, text = REFUSED[name]

    def f(a):
        x = 0.5
        for v in a:
            if v > 2:
                x = v
        return use(x, a)

    with npx.np_default_dtype(), pytest.raises(RefusedError, match=text) as found:
        npx.jit(f)(np.array(DATA[0], dtype="float32"))
    assert "float of Python's or a scalar float32" in str(found.value)


def test_a_returned_number_that_the_dtype_does_not_hold_is_refused():
    def f(a):
        x = 0.1
        if a[0] > 100:
            x = a[0]
        return x

    assert npx.jit(f)(np.array([101.0])) == 101
    with pytest.raises(RefusedError, match="does not hold"):
        npx.jit(f)(np.array([1.0])).item()


def test_scalars_of_two_dtypes_are_refused():
    def f(a):
        x = a[0] * 1
        if a[0] > 100:
            x = np.float64(2)
        return x

    with pytest.raises(RefusedError, match="make them alike"):
        npx.jit(f)(np.array([101.0], dtype="float32"))
