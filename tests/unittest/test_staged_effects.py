"""What a loop's body or a branch's arm changes beside arrays: once a round, if it is taken."""

import collections.abc
import contextlib
import numbers

import numpy as onp
import pytest
from internals import RefusedError, TracedValueError
from loop_programs.effects import EFFECTS

from npcompat import np, npx

pytestmark = [
    pytest.mark.usefixtures("numpy_mode"),
    pytest.mark.filterwarnings("ignore::npcompat.errors.CompileWarning"),
]


@contextlib.contextmanager
def settings():
    options, errors = np.get_printoptions(), np.geterr()
    try:
        yield
    finally:
        np.set_printoptions(**options)
        np.seterr(**errors)


def seen(way, name, program):
    """Return the result of a call, and what is seen of the object after it."""
    effect, made, look = EFFECTS[name]
    subject = made()
    with settings():
        found = way(lambda x: program(effect, x, subject))(np.array([1.0, 2.0, 5.0]))
        return float(found[1]), look(subject)


def in_each_round(effect, x, subject):
    for i in range(40):
        effect(subject)
        x[i % 3] += 1
    return x, x.sum()


def in_an_arm(effect, x, subject):
    if x[0] > 100:
        effect(subject)
    return x, x.sum()


def in_an_expression(effect, x, subject):
    y = 1.0 if x[0] < 100 else (effect(subject), 2.0)[1]
    return x, x.sum() + y


def in_the_third_of_a_comparison(effect, x, subject):
    inside = 100 < x[0] < (effect(subject), 500.0)[1]
    return x, x.sum() + inside


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize(
    "program", [in_each_round, in_an_arm, in_an_expression, in_the_third_of_a_comparison]
)
def test_an_effect_takes_place_as_in_eager_or_is_refused(program, name):
    expected = seen(lambda f: f, name, program)
    try:
        found = seen(npx.jit, name, program)
    except RefusedError:
        assert program is not in_each_round  # Python runs a known number of rounds
    else:
        assert found == expected


# --- iterators


def twice_over_a_zip(x):
    pairs, s = zip(x, x, strict=False), 0.0
    for a, _ in pairs:
        s += a
    for a, _ in pairs:
        s += a
    return s


def on_after_a_break(x):
    pairs, s = enumerate(x), 0.0
    for i, _ in pairs:
        if i == 1:
            break
    for _, a in pairs:
        s += a
    return s


def on_after_next(x):
    pairs, s = zip(x, x[::-1], strict=False), 0.0
    next(pairs)
    for a, b in pairs:
        s += a * b
    return s


def made_in_each_round(x):
    s = 0.0
    for i in range(20):
        pairs = zip(x, x[::-1], strict=False)
        s += sum(a * b for a, b in pairs) * i
        s += sum(pairs, start=0.0)
        a, *b = reversed([1.0, 2.0, 3.0])
        s += a + len(b) + max(v for v in (1, 2)) + x.flat[0]
    return s


@pytest.mark.parametrize("f", [twice_over_a_zip, on_after_next, made_in_each_round])
def test_iterators_are_used_up(f):
    x = np.arange(1.0, 13.0)
    assert npx.jit(f)(x) == f(x)


def test_an_iterator_of_which_a_loop_has_left_items_is_refused():
    with pytest.raises(RefusedError, match="enumerate"):
        npx.jit(on_after_a_break)(np.arange(12.0))


def test_an_iterator_has_no_reverse():
    with pytest.raises(TypeError):
        npx.jit(lambda x: [a for a, _ in reversed(zip(x, x, strict=False))])(np.arange(3.0))


# --- builtin functions of arrays


SPECIAL = [
    [1.0, 2.0, 5.0, -1.0],
    [-1.0, 2.0, onp.nan, 3.0],
    [onp.nan, 0.0, -0.0, 1.0],
    [-0.0, 0.0, -onp.inf, onp.nan],
    [-onp.inf, onp.nan, -onp.inf, -onp.inf],
]


@pytest.mark.parametrize("values", SPECIAL)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_extremes_of_the_items_of_an_array(values, dtype):
    x = onp.array(values, "float64" if dtype == "float64" else "float32")
    if dtype in ("int64", "bool"):
        x = onp.where(onp.isfinite(x), x, -7).astype(dtype)
    for f in (
        lambda x: max(x),
        lambda x: min(x),
        lambda x: max([x[0], x[2]]),
        lambda x: min(x[1:]),
    ):
        expected, found = f(x), npx.jit(f)(np.array(x))
        assert found.dtype == expected.dtype
        onp.testing.assert_array_equal(onp.asarray(found), expected)
        assert onp.signbit(float(found)) == onp.signbit(float(expected))


def memberships(x, k):
    n = 0
    for i in range(20):
        if x[i % 4] in (1.0, 5.0):
            n += 1
        if x[i % 4] not in [1, x[2]]:
            n += 100
        if i in range(5, 15, 3):
            n += 10000
        if x[i % 4] in {1, 2}:
            n += 100000
    j = int(k)
    in_ranges = [j in range(10), j in range(-9, 10, 3), j in range(9, -10, -3), j in range(0)]
    return n, [5.0 in x, 7.0 in x, x[0] in x[1:], *in_ranges, j in [1], j not in {1, 2}]


@pytest.mark.parametrize("values", SPECIAL)
@pytest.mark.parametrize("k", [-9, -3, 0, 1, 9, 10])
def test_membership(values, k):
    x = onp.array(values)
    expected = memberships(x, k)
    found = npx.jit(memberships)(np.array(x), np.array(k))
    assert int(found[0]) == expected[0]
    assert [bool(v) for v in found[1]] == expected[1]


def test_membership_of_what_can_not_be_compared():
    x = np.arange(3.0)
    with pytest.raises(ValueError, match="ambiguous"):
        npx.jit(lambda x: x + 1 in (x, 2))(x)
    with pytest.raises(TypeError, match="unhashable"):
        npx.jit(lambda x: x in {1, 2})(x)


def test_later_values_of_a_comparison_are_computed_if_they_are_needed():
    def f(x, k):
        return 0 < x[0] < x[k]

    assert not npx.jit(f)(np.array([-1.0, 2.0]), 7)
    with pytest.raises(IndexError):
        npx.jit(f)(np.array([1.0, 2.0]), 7).item()


# --- numbers and elements that only the program knows


def asks_for_attributes(x):
    r = np.zeros(20)
    for i in range(20):
        e = x[i % 4]
        r[i] = sum(
            [
                isinstance(e, collections.abc.Iterable),
                2 * hasattr(e, "__len__"),
                4 * hasattr(e, "__index__"),
                8 * hasattr(i, "bit_length"),
                16 * hasattr(i, "real"),
                32 * np.isscalar(i),
                64 * isinstance(i, collections.abc.Hashable),
                128 * np.isscalar(i / 2),
                256 * hasattr(i, "shape"),
                512 * (i.real + i.imag + (i > 3).real + i.conjugate()),
            ]
        )
    return r


def positions_in_a_list(x):
    p = 0
    for i in range(20):
        if x[i % 4] > x[p]:
            p = i % 4
    m = x.reshape(2, 2)
    found = x[[0, p]], m[[p // 2, 0], [0, p % 2]]
    x[[0, p]] = x[[p, 0]]
    x[[p, 1]] += 1
    return (*found, x)


@pytest.mark.parametrize("f", [asks_for_attributes, positions_in_a_list])
def test_numbers_of_a_program_are_used_as_numbers(f):
    x, y = np.array([1.0, 5.0, 2.0, -1.0]), np.array([1.0, 5.0, 2.0, -1.0])
    for one, other in zip(npx.jit(f)(x), f(y), strict=True):
        assert one.tolist() == other.tolist()


def counted(x):
    n = 0
    for i in range(20):
        n += int(x[i % 4] > 0)
    return n


@pytest.mark.parametrize(
    "use",
    [repr, str, ascii, format, np.min_scalar_type, lambda n: n.bit_length(), lambda n: range(n)[0]],
)
def test_the_text_of_a_number_that_is_not_known_is_refused(use):
    with pytest.raises(TracedValueError):
        npx.jit(lambda x: use(counted(x)))(np.ones(4))


@pytest.mark.parametrize(
    "write",
    [
        lambda a, i: a[i : i + 1],
        lambda a, i: [i],
        lambda a, i: np.ones((1, 1)),
        lambda a, i: a[i : i + 1] + 1,
    ],
)
def test_a_sequence_is_not_written_to_an_element(write):
    def f(a):
        for i in range(20):
            a[i] = write(a, i)

    with pytest.raises(ValueError, match="sequence"):
        f(np.zeros(20))
    with pytest.raises(ValueError, match="sequence"):
        npx.jit(f)(np.zeros(20))


def test_a_slice_is_no_number():
    with pytest.raises(TypeError):
        npx.jit(lambda a: sum(float(a[i : i + 1]) for i in range(20)))(np.zeros(20))


def test_an_element_in_an_error_does_no_harm_if_it_is_not_raised():
    def f(a):
        for i in range(12):
            if a[i] < 0:
                raise ValueError("negative", a[i], i)
        return a * 2

    run = npx.jit(f)
    assert run(np.ones(12)).tolist() == [2] * 12
    with pytest.raises(ValueError, match="negative"):
        run(-np.ones(12)).tolist()
    with pytest.raises(ValueError, match="NaN"):
        npx.jit(lambda a: int(a[0]))(np.array([onp.nan])).item()


@pytest.mark.parametrize(
    "use",
    [
        lambda b, a: np.stack([b, b]),
        lambda b, a: np.where(a > 0, b, b),
        lambda b, a: np.dot(b, b),
        lambda b, a: np.maximum(b, b),
        lambda b, a: np.outer(b, b),
    ],
)
def test_two_numbers_or_scalars_have_the_dtypes_of_all_their_types(use):
    def f(a):
        b = 0
        for x in a:
            if x > 20:
                b = x
        return use(b, a)

    with pytest.raises(RefusedError):
        npx.jit(f)(np.arange(12.0, dtype="float32"))


def conversions(x):
    n = 0
    for i in range(20):
        n += int(x[i % 4] > 0)
        x[i % 4] += np.float32(i) - np.int64(x[i % 4]) + round(x[i % 4] * 0.3)
    found = [
        np.float32(n),
        np.int32(n),
        np.float64(n / 2),
        np.int64(n / 2),
        np.bool_(n),
        np.uint8(n),
    ]
    found += [np.float16(x[0]), np.int16(x[1] / 3), np.float64(x.sum()), np.float64(n > 3)]
    return [*found, round(n / 3), round(n), round(x[0] / 3), round(np.int64(n))]


@pytest.mark.parametrize("values", [[1.0, 2.5, -3.5, 4.0], [-1.0, -2.0, -3.0, -4.0]])
def test_classes_of_scalars_and_round_take_what_the_program_knows(values):
    expected = conversions(np.array(values))
    found = npx.jit(conversions)(np.array(values))
    for one, other in zip(found, expected, strict=True):
        assert one == other
        assert type(other) is int or one.dtype == other.dtype
    with pytest.raises(OverflowError):
        npx.jit(lambda x: np.int8(counted(x) * 20))(np.ones(4)).item()
    with pytest.raises(ValueError, match="NaN"):
        npx.jit(lambda x: round(x[0]))(np.array([onp.nan])).item()


def test_options_of_builtin_functions_reach_python():
    def f(x):
        found = int("ff", base=16), str(b"ab", encoding="ascii"), round(2.567, ndigits=1)
        return x + found[0] + len(found[1]) + found[2] + max([1, 2], key=lambda v: -v)

    assert npx.jit(f)(np.zeros(1)).item() == f(np.zeros(1)).item()


def classes_of_numbers(x):
    s = 0
    for k in range(20):
        e = x[k % 3]
        s += isinstance(e, numbers.Number) + 2 * isinstance(e, numbers.Integral)
        s += 4 * isinstance(k, numbers.Integral) + 8 * isinstance(k / 2, numbers.Real)
    return s


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_abstract_classes_of_numbers_know_those_of_a_program(dtype):
    x = np.ones(3, dtype=dtype)
    assert npx.jit(classes_of_numbers)(x) == classes_of_numbers(x)
