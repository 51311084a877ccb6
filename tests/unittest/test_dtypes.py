"""Dtypes: NumPy's kinds, float32 as the default float, exact 64-bit, NEP 50 with Python scalars,
low precision.
"""

import array
import itertools

import ml_dtypes
import numpy as onp
import pytest
from oracle import agrees

from npcompat import np, npx

PLACEMENT = "jax"

DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
UFUNCS = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "power",
    "maximum",
    "equal",
    "less",
    "logical_and",
    "bitwise_and",
    "left_shift",
    "arctan2",
    "hypot",
    "float_power",
    "remainder",
    "copysign",
    "logaddexp",
]
UNARY = [
    "negative",
    "absolute",
    "sqrt",
    "exp",
    "sin",
    "floor",
    "rint",
    "sign",
    "square",
    "reciprocal",
    "invert",
    "logical_not",
    "isnan",
    "conjugate",
    "cbrt",
    "signbit",
    "positive",
    "angle",
]
SCALARS = [True, 1, 1.5, 1j]
NARROW = {
    onp.dtype("float64"): onp.dtype("float32"),
    onp.dtype("complex128"): onp.dtype("complex64"),
}


def by_default(dtype, operands):
    """The default policy in one line: a 64-bit float comes out only where one went in."""
    return dtype if dtype not in NARROW or any(d in NARROW for d in operands) else NARROW[dtype]


def kind_or_error(call):
    try:
        with onp.errstate(all="ignore"):
            return call().dtype
    except (TypeError, ValueError, OverflowError) as error:
        return (
            type(error)
            .__name__.replace("_UFuncNoLoopError", "TypeError")
            .replace("_UFuncBinaryResolutionError", "TypeError")
            .replace("UFuncTypeError", "TypeError")
        )


# --- promotion ------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["default", "numpy"])
@pytest.mark.parametrize("name", UFUNCS)
def test_pairs_of_dtypes_promote_as_numpy_or_by_default(name, policy):
    theirs, ours = getattr(onp, name), getattr(np, name)
    with npx.backend("numpy"), npx.np_default_dtype(policy == "numpy"):
        for a, b in itertools.product(DTYPES, DTYPES):
            x, y = onp.ones(2, a), onp.ones(2, b)
            expected = kind_or_error(lambda: theirs(x, y))
            if policy == "default" and not isinstance(expected, str):
                expected = by_default(expected, [x.dtype, y.dtype])
            assert kind_or_error(lambda: ours(np.array(x), np.array(y))) == expected, (name, a, b)


@pytest.mark.parametrize("policy", ["default", "numpy"])
@pytest.mark.parametrize("name", UFUNCS)
def test_python_scalars_are_weak(name, policy):
    theirs, ours = getattr(onp, name), getattr(np, name)
    with npx.backend("numpy"), npx.np_default_dtype(policy == "numpy"):
        for a, s in itertools.product(DTYPES, SCALARS):
            x = onp.ones(2, a)
            for left in (False, True):
                expected = kind_or_error(lambda: theirs(s, x) if left else theirs(x, s))
                if policy == "default" and not isinstance(expected, str):
                    expected = by_default(expected, [x.dtype])
                mine = np.array(x)
                assert (
                    kind_or_error(lambda: ours(s, mine) if left else ours(mine, s)) == expected
                ), (name, a, s, left)


@pytest.mark.parametrize("policy", ["default", "numpy"])
@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_promote_as_numpy_or_by_default(name, policy):
    if not hasattr(np, name):
        pytest.skip(f"np.{name} is not there yet")
    theirs, ours = getattr(onp, name), getattr(np, name)
    with npx.backend("numpy"), npx.np_default_dtype(policy == "numpy"):
        for a in DTYPES:
            x = onp.ones(2, a)
            expected = kind_or_error(lambda: theirs(x))
            if policy == "default" and not isinstance(expected, str):
                expected = by_default(expected, [x.dtype])
            assert kind_or_error(lambda: ours(np.array(x))) == expected, (name, a)


def test_xla_promotes_as_the_host():
    pairs = [
        ("int8", "uint8"),
        ("int64", "uint64"),
        ("int32", "float32"),
        ("int64", "float16"),
        ("bool", "bool"),
        ("uint64", "float32"),
        ("complex64", "float64"),
        ("int8", "complex64"),
    ]
    for policy in (False, True):
        with npx.np_default_dtype(policy):
            for a, b in pairs:
                for name in ("add", "divide", "arctan2" if "complex" not in a + b else "multiply"):
                    found = []
                    for backend in ("numpy", "jax"):
                        with npx.backend(backend):
                            found.append(
                                getattr(np, name)(np.ones(2, dtype=a), np.ones(2, dtype=b)).dtype
                            )
                    assert found[0] == found[1], (name, a, b)


# --- defaults -------------------------------------------------------------------------------------

MADE = {
    "ones": (lambda xp: xp.ones(2), "float32"),
    "zeros of int": (lambda xp: xp.zeros(2, int), "int64"),
    "zeros of float": (lambda xp: xp.zeros(2, float), "float32"),
    "zeros of complex": (lambda xp: xp.zeros(2, complex), "complex64"),
    "zeros of a name": (lambda xp: xp.zeros(2, "float64"), "float64"),
    "zeros of 'f8'": (lambda xp: xp.zeros(2, "f8"), "float64"),
    "array of floats": (lambda xp: xp.array([1.5, 2]), "float32"),
    "array of ints": (lambda xp: xp.array([1, 2]), "int64"),
    "array of bools": (lambda xp: xp.array([True]), "bool"),
    "array of complex": (lambda xp: xp.array([1j]), "complex64"),
    "array of numpy floats": (lambda xp: xp.array(onp.ones(2)), "float64"),
    "array of a numpy scalar": (lambda xp: xp.array(onp.float64(3)), "float64"),
    "array of large ints": (lambda xp: xp.array([2**63]), "uint64"),
    "arange of ints": (lambda xp: xp.arange(3), "int64"),
    "arange of floats": (lambda xp: xp.arange(3.0), "float32"),
    "linspace": (lambda xp: xp.linspace(0, 1, 3), "float32"),
    "eye": (lambda xp: xp.eye(2), "float32"),
    "full of int": (lambda xp: xp.full(2, 3), "int64"),
    "full of float": (lambda xp: xp.full(2, 3.5), "float32"),
    "full of bool": (lambda xp: xp.full(2, True), "bool"),
    "mean of ints": (lambda xp: xp.arange(3).mean(), "float32"),
    "std of ints": (lambda xp: xp.std(xp.arange(3)), "float32"),
    "division of ints": (lambda xp: 1 / xp.arange(1, 3), "float32"),
    "sum of ints": (lambda xp: xp.ones(2, "int32").sum(), "int64"),
    "sum of bools": (lambda xp: xp.ones(2, bool).sum(), "int64"),
    "sum of uint8": (lambda xp: xp.ones(2, "uint8").sum(), "uint64"),
    "sum of float16": (lambda xp: xp.ones(2, "float16").sum(), "float16"),
    "mean of float16": (lambda xp: xp.ones(2, "float16").mean(), "float16"),
    "comparison": (lambda xp: xp.arange(3) > 1, "bool"),
    "float plus float64": (lambda xp: xp.ones(2) + xp.ones(2, "float64"), "float64"),
    "int32 plus float32": (lambda xp: xp.ones(2, "int32") + xp.ones(2, "float32"), "float32"),
    "int64 plus float": (lambda xp: xp.arange(2) + 0.5, "float32"),
    "sqrt of ints": (lambda xp: xp.sqrt(xp.arange(3)), "float32"),
    "sqrt of int8": (lambda xp: xp.sqrt(xp.ones(2, "int8")), "float16"),
    "astype(float)": (lambda xp: xp.arange(2).astype(float), "float32"),
    "like": (lambda xp: xp.zeros_like(xp.ones(2, "float16")), "float16"),
    "0-d": (lambda xp: xp.array(3.5), "float32"),
    "where": (lambda xp: xp.where(xp.arange(2) > 0, 1.5, 0), "float32"),
    "dtype argument": (lambda xp: xp.add(xp.arange(2), 1, dtype="float64"), "float64"),
}


@pytest.mark.parametrize(("make", "expected"), MADE.values(), ids=MADE)
def test_default_dtypes(make, expected, backend):
    assert make(np).dtype == expected
    with npx.np_default_dtype():
        assert make(np).dtype == make(onp).dtype


def test_switching_the_policy_for_the_process():
    assert not npx.is_np_default_dtype()
    npx.set_np(dtype=True)
    assert (
        npx.is_np_default_dtype()
        and np.ones(1).dtype == "float64"
        and (np.arange(2) / 2).dtype == "float64"
    )
    with npx.np_default_dtype(False):
        assert np.ones(1).dtype == "float32"
    npx.reset_np()
    assert np.ones(1).dtype == "float32"
    with pytest.raises(NotImplementedError, match="set_np"):
        npx.set_np(shape=False)


# --- exactness ------------------------------------------------------------------------------------


def test_64_bits_are_exact_on_xla():
    big = 2**53 + 1
    a = np.array([big, -big])
    assert (
        (a + 0).tolist() == [big, -big]
        and (a * 3).tolist() == [big * 3, -big * 3]
        and int(a.sum()) == 0
        and (a + big).tolist() == [2 * big, 0]
    )
    f = np.array([1.0, 1e-17], dtype="float64")
    assert (f + 1e-17).tolist() == [1.0, 2e-17]
    onp.testing.assert_allclose((f / 3).asnumpy(), onp.array([1.0, 1e-17]) / 3, rtol=4e-16)
    onp.testing.assert_allclose(np.exp(f).asnumpy(), onp.exp([1.0, 1e-17]), rtol=4e-16)
    assert np.array([2**64 - 1], dtype="uint64").tolist() == [2**64 - 1]
    assert npx.jit(lambda x: x * 3 + big)(a).tolist() == [big * 4, -big * 2]
    assert np.array(0.1, dtype="float64").item() == 0.1 and np.array(0.1).item() == float(
        onp.float32(0.1)
    )


def test_python_floats_keep_64_bits_where_the_dtype_has_them(backend):
    a = np.zeros(3, dtype="float64")
    a[0] = 0.1
    a[1:2] = 0.1
    a[[2]] = 0.1
    for found in (a, a + 0 * 0.1, np.full(2, 0.1, dtype="float64"), np.full_like(a, 0.1), np.array([0.1], dtype="float64"), np.zeros(1, dtype="float64") + 0.1,
                  np.maximum(a, 0.1), np.clip(a, 0.1, 1.0), np.where(a > 5, a, 0.1), np.asarray(0.1, "float64"), np.sum(a[:1], initial=0.0), np.linspace(0.1, 1, 3, dtype="float64")[:1],
                  np.arange(0.1, 1, 2, dtype="float64")):  # fmt: skip
        assert set(found.ravel().tolist()) == {0.1}, found


def test_python_ints_that_do_not_fit_are_refused(backend):
    a = np.ones(2, dtype="uint8")
    for call in (
        lambda: a + 256,
        lambda: a - (-1),
        lambda: np.add(a, 1000),
        lambda: a.__setitem__(0, 300),
        lambda: a.__iadd__(-1),
        lambda: np.ones(1, dtype="int64") + 2**63,
    ):
        with pytest.raises(
            OverflowError, match=r"Python integer -?\d+ out of bounds for (u?int\d+)"
        ):
            call()
    assert (
        (a < 1000).tolist() == [True, True]
        and (a == -1).tolist() == [False, False]
        and (a > -5).tolist() == [True, True]
    )
    assert (a + 255).tolist() == [0, 0]


def test_integers_wrap_as_numpys(backend):
    a = onp.array([127, -128, 1], "int8")
    for f in (
        lambda x: x + x,
        lambda x: -x,
        lambda x: x * x,
        lambda x: abs(x),
        lambda x: x << 1,
        lambda x: x // -1,
    ):
        with onp.errstate(all="ignore"):
            onp.testing.assert_array_equal(f(np.array(a)).asnumpy(), f(a))


def test_division_of_integers_by_zero_is_zero(backend):
    with onp.errstate(all="ignore"):
        a = np.array([1, -1, 0])
        assert (a // 0).tolist() == [0, 0, 0] and (a % 0).tolist() == [0, 0, 0]


def test_casts_are_numpys(backend):
    values = onp.array([-1.7, 0.0, 2.5, 255.9])
    for dtype in ("int64", "int8", "bool", "float16", "complex64"):
        with onp.errstate(all="ignore"):
            onp.testing.assert_array_equal(
                np.array(values[:3]).astype(dtype).asnumpy(), values[:3].astype(dtype)
            )
    with pytest.warns(onp.exceptions.ComplexWarning, match="discards the imaginary part"):
        assert np.array([1 + 2j]).astype("float32").tolist() == [1]
    assert np.array([0.5, 0.0]).astype(bool).tolist() == [True, False]
    with pytest.raises(
        TypeError,
        match=r"Cannot cast array data from dtype\('float32'\) to dtype\('int64'\) according to the rule 'same_kind'",
    ):
        np.ones(2).astype("int64", casting="same_kind")
    a = np.ones(2)
    assert a.astype("float32", copy=False) is a and a.astype("float32") is not a


def test_unsafe_casting_into_out_is_refused(backend):
    out = np.zeros(2, dtype="int64")
    with pytest.raises(
        TypeError,
        match=r"Cannot cast ufunc 'add' output from dtype\('float32'\) to dtype\('int64'\) with casting rule 'same_kind'",
    ):
        np.add(np.ones(2), 1, out=out)
    np.add(np.ones(2), 1.5, out=out, casting="unsafe")
    assert out.tolist() == [2, 2]
    with pytest.raises(
        TypeError, match=r"Cannot cast ufunc 'multiply' input 0 from .* with casting rule 'no'"
    ):
        np.multiply(np.ones(2, dtype="int32"), np.ones(2), casting="no")


# --- low precision --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_keeps_its_dtype(dtype, backend):
    a = np.array([1.0, 2.0, 3.0], dtype=dtype)
    expected = onp.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else onp.dtype("float16")
    for found in (
        a,
        a + a,
        a * 2,
        a / 2.5,
        a - 1,
        a.sum(),
        a.mean(),
        np.exp(a),
        a[1:],
        a.T,
        a.reshape(3, 1),
        np.maximum(a, 0.5),
        -a,
        a**2,
        np.dot(a, a),
        np.concatenate([a, a]),
        np.sqrt(a),
        np.where(a > 1, a, 0),
    ):
        assert found.dtype == expected, found
    assert (a + np.ones(3)).dtype == "float32" and (a > 1).tolist() == [False, True, True]
    a[0] = 5
    a += 1
    assert (
        a.tolist() == [6, 3, 4] and a.astype("float32").dtype == "float32" and float(a.sum()) == 13
    )


def test_bfloat16_promotes():
    b = np.ones(2, dtype="bfloat16")
    for other, expected in (
        ("float32", "float32"),
        ("float64", "float64"),
        ("int8", "bfloat16"),
        ("bool", "bfloat16"),
        ("bfloat16", "bfloat16"),
        ("float16", "float32"),
    ):
        assert (b + np.ones(2, dtype=other)).dtype == np.zeros(1, dtype=expected).dtype, other


@pytest.mark.parametrize("name", ["int4", "uint4"])
def test_integers_of_four_bits(name, backend):
    a = np.array([1, 2, 3]).astype(getattr(ml_dtypes, name))
    assert a.dtype.name == name and (a + a).dtype.name == name
    assert (
        (a + a).astype(int).tolist() == [2, 4, 6]
        and int(a.sum()) == 6
        and a.sum().dtype == name.replace("4", "64")
    )
    assert (
        float(a.mean()) == 2
        and int(a.argmax()) == 2
        and a.argsort().tolist() == [0, 1, 2]
        and int(a[1]) == 2
    )
    assert (a == 2).tolist() == [False, True, False] and (
        a + np.array([1, 1, 1], dtype="int32")
    ).dtype == "int32"
    assert npx.jit(lambda x: x + x)(a).dtype.name == name


# --- scalars --------------------------------------------------------------------------------------


def test_python_and_numpy_scalars_out_of_arrays(backend):
    a = np.array([1.5, 2.5])
    assert (
        type(a[0].item()) is float
        and type(np.arange(2)[1].item()) is int
        and type((a > 2)[1].item()) is bool
    )
    assert (
        float(a[0]) == 1.5
        and int(a[1]) == 2
        and bool(a[0])
        and complex(a[0]) == 1.5
        and range(5)[np.array(2)] == 2
    )
    assert a.tolist() == [1.5, 2.5] and f"{a[0]:.2f}" == "1.50"
    with pytest.raises(
        TypeError, match="only integer scalar arrays can be converted to a scalar index"
    ):
        range(5)[np.array(2.0)]
    with pytest.raises(
        ValueError, match="truth value of an array with more than one element is ambiguous"
    ):
        bool(a)
    with pytest.raises(TypeError, match="only"):
        float(np.ones((2, 2)))
    assert np.float32 is onp.float32 and isinstance(np.dtype("int8"), onp.dtype)


def test_numpy_scalars_are_strong_and_python_scalars_weak(backend):
    a = np.ones(2, dtype="float32")
    assert (
        (a + onp.float64(1)).dtype == "float64"
        and (a + 1.0).dtype == "float32"
        and (a + onp.float32(1)).dtype == "float32"
    )
    assert (onp.float64(1) + a).dtype == "float64" and (onp.ones(2) + a).dtype == "float64"
    assert (np.ones(2, dtype="int8") + onp.int64(1)).dtype == "int64"
    assert isinstance(onp.float64(2) * a, np.ndarray) and isinstance(onp.ones(2) * a, np.ndarray)


BIG = {
    "fill": lambda xp, u, f: u.fill(2**64 - 1),
    "write": lambda xp, u, f: u.__setitem__(..., 2**63),
    "write at positions": lambda xp, u, f: u.__setitem__([0, 2], 2**64 - 1),
    "write into floats": lambda xp, u, f: f.__setitem__(slice(1, None), 2**70),
    "write into floats at positions": lambda xp, u, f: f.__setitem__([1], -(2**70)),
    "write the largest": lambda xp, u, f: f.fill(2**64 - 1),
    "add": lambda xp, u, f: (f + 2**70, f + 2**64, f - 2**63, u + 2**63, xp.maximum(f, 2**100)),
    "add in place": lambda xp, u, f: f.__iadd__(2**70),
    "compare": lambda xp, u, f: (u < 2**70, u == 2**63, f < 2**70),
    "choose": lambda xp, u, f: (xp.where(u > 0, u, 2**63), xp.clip(u, 0, 2**64 - 1)),
    "too big": lambda xp, u, f: u.__setitem__(..., 2**64),
    "too small": lambda xp, u, f: u.fill(-1),
    "too big for a float": lambda xp, u, f: f + 10**400,
}


@pytest.mark.parametrize("name", BIG)
def test_python_integers_of_any_size_meet_arrays_as_in_numpy(name):
    u, f = onp.array([0, 1, 2**64 - 1], dtype="uint64"), onp.array([0.5, 1.0, 2.0], dtype="float32")

    def outcome(xp, u, f):
        try:
            made = BIG[name](xp, u, f)
        except OverflowError:
            return "OverflowError"
        parts = (*(made if isinstance(made, tuple) else (made,)), u, f)
        return [(onp.asarray(p).tolist(), onp.asarray(p).dtype) for p in parts if p is not None]

    wanted = outcome(onp, u.copy(), f.copy())
    for backend in ("jax", "numpy"):
        with npx.backend(backend), npx.np_default_dtype():
            assert outcome(np, np.array(u), np.array(f)) == wanted, backend


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_any_byte_but_zero_is_true(backend):
    with npx.backend(backend):
        a, b = (np.frombuffer(byte * 5, dtype=bool) for byte in (b"\xff", b"\x02"))
        assert int(a.sum()) == 5
        assert onp.array_equal(np.logical_and(a, b), onp.ones(5, bool))


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1j, 1 + 1j), (complex("nan"), 1)])
def test_clipped_complex_numbers_keep_nan(low, high):
    agrees(
        lambda np, a: np.clip(a, low, high),
        onp.array([1 + 2j, complex("nan"), complex(0, onp.nan), -2j]),
    )


def test_differences_of_truth_values_are_refused():
    error = agrees(lambda np, a: np.gradient(a), onp.array([True, False, True]))
    assert isinstance(error, TypeError)


def test_what_says_its_elements_keeps_64_bits(backend):
    numbers = array.array("d", [1.0, 1 / 3])
    for given in (numbers, memoryview(numbers), [numbers], onp.array(numbers)):
        assert np.array(given).dtype == "float64"
        assert np.array(given).ravel()[1] == 1 / 3
        assert np.add(given, 0).dtype == "float64"
    assert np.array(array.array("f", [1.0])).dtype == "float32"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The given NumPy array")
def test_tensors_of_torch_keep_64_bits(backend):  # torch warns of its own calls of NumPy
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([1.0, 1 / 3], dtype=torch.float64)
    assert np.array(tensor).dtype == np.array([tensor]).dtype == "float64"
    assert (np.ones(2, dtype="uint8") / tensor).dtype == torch.float64
