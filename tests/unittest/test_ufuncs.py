"""Ufuncs as objects: their class, attributes, methods, and the arguments that choose a loop; NumPy
is the oracle.
"""

import copy
import inspect
import pickle

import numpy as onp
import pytest
from numpy._core import _umath_tests as umath_tests

from npcompat import np, npx

UFUNCS = [name for name in onp.__all__ if isinstance(getattr(onp, name), onp.ufunc)]


def test_every_ufunc_of_numpys_is_one():
    assert [name for name in UFUNCS if not isinstance(getattr(np, name), np.ufunc)] == []
    assert isinstance(onp.add, np.ufunc), "those of other libraries, too"
    for other in (np.sum, np.clip, onp.sum, int, 3, np.ones(2)):
        assert not isinstance(other, np.ufunc), other


@pytest.mark.parametrize("attribute", ["nin", "nout", "nargs", "identity", "signature", "__name__"])
def test_attributes_are_numpys(attribute):
    assert {n: getattr(getattr(np, n), attribute) for n in UFUNCS} == {
        n: getattr(getattr(onp, n), attribute) for n in UFUNCS
    }


def test_types_are_numpys_those_of_the_host_included():
    ours = [name for name in UFUNCS if getattr(np, name) is not getattr(onp, name)]
    assert set(UFUNCS) - set(ours) == {"isnat"}
    assert {name: getattr(np, name).types for name in ours} == {
        name: getattr(onp, name).types for name in ours
    }
    assert np.add.ntypes == len(np.add.types)


def test_methods_are_those_of_the_class():
    assert np.add.reduce.__self__ is np.add
    assert np.ufunc.reduce(np.add, [1, 2, 3]) == 6 and np.ufunc.__call__(np.add, 1, 2) == 3
    assert "left to right" in np.add.reduce.__doc__ and str(inspect.signature(np.modf)).startswith(
        "(x: Any, /, out: Any = (None, None), *"
    )
    assert pickle.loads(pickle.dumps(np.add)) is np.add
    with pytest.raises(TypeError, match=r"cannot create 'numpy\.ufunc' instances"):
        np.ufunc()


def test_outputs_are_given_by_position_too():
    fraction, whole = np.zeros(2), np.zeros(2)
    assert np.modf([1.5, -2.25], fraction, whole)[1] is whole
    assert fraction.tolist() == [0.5, -0.25] and whole.tolist() == [1.0, -2.0]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("theirs", [True, False])
@pytest.mark.parametrize("given", [0, 1])
@pytest.mark.parametrize("name", ["modf", "frexp", "divmod"])
def test_an_output_that_out_leaves_out_has_the_shape_of_the_other(name, given, theirs, backend):
    operands = [onp.array([1.5, -2.25, 3.5]), onp.array(1.25)][: getattr(onp, name).nin]
    outs = [onp.zeros((2, 3), int if (name, given) == ("frexp", 1) else float) for _ in range(2)]
    mask = onp.array([[True, False, True], [False, True, True]])
    for where in (True, mask):
        expected = getattr(onp, name)(
            *operands, out=tuple([outs[0] if i == given else None for i in range(2)]), where=where
        )
        with npx.backend(backend):
            mine = outs[1] if theirs else np.array(outs[1], dtype=outs[1].dtype)
            found = getattr(np, name)(
                *[np.array(a, dtype="float64") for a in operands],
                out=tuple([mine if i == given else None for i in range(2)]),
                where=where if where is True else np.array(where),
            )
        assert found[given] is mine
        for a, b in zip(found, expected, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            onp.testing.assert_array_equal(onp.asarray(a)[mask], b[mask])


@pytest.mark.parametrize("name", ["multiply", "add", "maximum", "arctan2", "floor_divide"])
def test_outer_takes_a_number_for_an_array(name, numpy_mode):
    for number in (200, 2.5, True, onp.float32(3), [1, 2]):
        for dtype in ("uint8", "float32"):
            theirs, ours = onp.array([1, 2], dtype), np.array([1, 2], dtype=dtype)
            for pair in ((theirs, number), (number, theirs)):
                mine = [ours if a is theirs else a for a in pair]
                found, expected = getattr(np, name).outer(*mine), getattr(onp, name).outer(*pair)
                assert found.dtype == expected.dtype, (number, dtype)
                onp.testing.assert_allclose(onp.asarray(found), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: np.matmul.reduce(np.ones((2, 2))),
            RuntimeError,
            "Reduction not defined on ufunc with signature",
        ),
        (
            lambda: np.matmul.outer(np.ones(2), np.ones(2)),
            TypeError,
            "outer is not allowed in ufunc with non-trivial signature",
        ),
        (
            lambda: np.vecdot.at(np.ones(2), [0], np.ones(1)),
            TypeError,
            r"vecdot has signature \(n\),\(n\)->\(\)",
        ),
        (
            lambda: np.sin.accumulate([1.0]),
            ValueError,
            "accumulate only supported for binary functions",
        ),
        (
            lambda: np.divmod.reduce([1]),
            ValueError,
            "reduce only supported for functions returning a single value",
        ),
        (
            lambda: np.sin.at(np.ones(2), [0], 1),
            ValueError,
            "second operand provided when ufunc is unary: sin",
        ),
        (lambda: np.add.at(np.ones(2), [0]), ValueError, "second operand needed for ufunc: add"),
        (
            lambda: np.divmod.at(np.ones(2), [0], 1),
            ValueError,
            "only single output ufuncs are supported, this one has 2",
        ),
    ],
)
def test_methods_that_a_ufunc_has_not_say_so(call, error, message):
    with pytest.raises(error, match=message):
        call()


SIGNATURES = [
    ("add", ([1, 2], 2), "dd->d"),
    ("add", (1, 2), (None, None, "f4")),
    ("add", (1.5, 2), "ii->i"),
    ("less", ([1, 2], 1.5), "ff->?"),
    ("divide", ([1, 2], 3), (None, None, "c8")),
    ("modf", ([1.5, 2.25],), "d->dd"),
    ("ldexp", (1.5, 2), (None, "i", None)),
    ("matmul", ([[1, 2]], [3, 4]), "dd->d"),
    ("vecdot", ([1, 2], [3, 4]), (None, None, "f4")),
]


@pytest.mark.parametrize(("name", "operands", "signature"), SIGNATURES)
def test_signature_chooses_the_loop(backend, name, operands, signature):
    with npx.np_default_dtype():
        found, wanted = (
            getattr(np, name)(*operands, signature=signature),
            getattr(onp, name)(*operands, signature=signature),
        )
    for mine, its in zip(
        *[f if isinstance(f, tuple) else (f,) for f in (found, wanted)], strict=True
    ):
        assert mine.dtype == its.dtype and onp.array_equal(mine.asnumpy(), its)


def test_signature_keeps_64_bits_in_the_default_policy_and_compiles():
    compiled = npx.jit(lambda x: np.add(x, 1, signature="dd->d"))
    x = np.array([1, 2], dtype="float32")
    for made in (np.add(x, 1, signature="dd->d"), compiled(x)):
        assert made.dtype == "float64" and made.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("signature", "error"),
    [
        ("dd->f", "No loop matching the specified signature"),
        ("d", "a type-string for add, 2 typecode"),
        (("d",), "one dtype is not enough"),
        (("d", "d"), "type-tuple must be specified of length 3 for ufunc 'add', got 2"),
        ("ddd->d", r"2 typecode\(s\) before and 1 after"),
        (3, "must be a string or a tuple, got int"),
    ],
)
def test_signatures_that_are_none(signature, error):
    with pytest.raises((TypeError, ValueError), match=error):
        np.add(1, 2, signature=signature)


def test_signature_obeys_casting_and_excludes_dtype():
    with pytest.raises(
        TypeError,
        match=r"Cannot cast ufunc 'add' input 0 from dtype\('float64'\) to dtype\('int32'\)",
    ):
        np.add(np.float64(1.5), 2, signature="ii->i")
    assert np.add(np.array([1.5]), 2, signature="ii->i", casting="unsafe").tolist() == [3]
    with pytest.raises(TypeError, match="cannot specify both 'signature' and 'dtype'"):
        np.add(1, 2, signature="dd->d", dtype="f")
    with pytest.raises(TypeError, match="products are of one dtype"):
        np.matmul([1], [1], signature="df->d")


def test_resolve_dtypes():
    int32, float32, float64 = map(onp.dtype, ("int32", "float32", "float64"))
    assert np.add.resolve_dtypes((int32, float, None)) == (float32,) * 3, "the default float"
    assert np.add.resolve_dtypes((int32, float64, None)) == (float64,) * 3
    assert np.add.resolve_dtypes((int32, int32, None), signature="dd->d") == (float64,) * 3
    assert (
        np.add.resolve_dtypes((None, int32, None), reduction=True)[1]
        == onp.add.resolve_dtypes((None, int32, None), reduction=True)[1]
    )
    with npx.np_default_dtype():
        assert np.add.resolve_dtypes((int32, float, None)) == (float64,) * 3
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        np.add.resolve_dtypes((float64, float64, int32), casting="same_kind")


def test_products_along_axes():
    a, b = onp.arange(12.0).reshape(2, 3, 2), onp.arange(6.0).reshape(3, 2)
    for name, options in [
        ("matmul", {"axes": [(0, 1), (0, 1), (0, 1)]}),
        ("vecdot", {"axis": 1}),
        ("vecdot", {"axis": 1, "keepdims": True}),
        ("matvec", {"axes": [(1, 2), 0, 0]}),
        ("vecmat", {"axes": [1, (0, 1), -1]}),
    ]:
        operands = {"matmul": (a, b), "vecdot": (a, a), "matvec": (a, b[:2]), "vecmat": (a, b)}[
            name
        ]
        wanted = getattr(onp, name)(*operands, **options)
        found = getattr(np, name)(*map(np.array, operands), **options)
        assert found.shape == wanted.shape and onp.array_equal(found.asnumpy(), wanted), (
            name,
            options,
        )


def test_products_of_two_vectors_are_numbers():
    a = np.arange(3.0, dtype="float64")
    for found in (np.vecdot(a, a, axis=0), np.linalg.vecdot(a, a), np.vecdot(a, a, axes=[0, 0])):
        assert isinstance(found, onp.float64) and found == 5


def test_functions_from_python_are_ufuncs():
    add = np.frompyfunc(lambda x, y: x + y, 2, 1, identity=0)
    assert isinstance(add, np.ufunc) and (
        add.nin,
        add.nout,
        add.nargs,
        add.types,
        add.identity,
    ) == (2, 1, 3, ["OO->O"], 0)
    assert add(np.arange(3), 1).tolist() == [1, 2, 3] and add.reduce(np.arange(4)) == 6
    assert add.accumulate([1, 2, 3]).tolist() == [1, 3, 6] and add.outer([1, 2], [3]).tolist() == [
        [4],
        [5],
    ]


def test_functions_from_python_write_into_arrays():
    add = np.frompyfunc(lambda x, y: x + y, 2, 1)
    out = np.zeros(3, dtype=object)
    assert add(np.arange(3), 1, out) is out and out.tolist() == [1, 2, 3]
    assert add(np.arange(3), 2, out=out) is out and out.tolist() == [2, 3, 4]
    add.at(out, [0, 0], 5)
    assert out.tolist() == [12, 3, 4]
    total = np.zeros((), dtype=object)
    assert add.reduce(out, out=total) is total and total.item() == 19


def test_ufuncs_of_other_libraries_write_at_indices():
    xlogy = pytest.importorskip("scipy.special", reason="a ufunc of another library").xlogy
    x = np.ones(3, dtype="float64")
    xlogy.at(x, np.array([1, 1]), 3.0)
    assert onp.allclose(x.asnumpy(), [1, onp.log(3) ** 2, 1])


def test_an_ellipsis_asks_for_arrays_in_the_place_of_scalars(backend):
    calls = [
        lambda xp: xp.add(1, 2, out=...),
        lambda xp: xp.add(1, 2, out=..., dtype="f4"),
        lambda xp: xp.divmod(5, 3, out=...)[1],
        lambda xp: xp.add.reduce(xp.ones(3), out=...),
        lambda xp: xp.matmul(xp.ones(2), xp.ones(2), out=...),
        lambda xp: xp.add(xp.ones(2), 1, out=...),
        lambda xp: xp.add(xp.ones((2, 2)), 1, out=(None,), order="F"),
    ]
    with npx.np_default_dtype():
        for call in calls:
            ours, theirs = call(np), call(onp)
            assert type(ours) is np.ndarray and type(theirs) is onp.ndarray
            assert (ours.tolist(), ours.dtype) == (theirs.tolist(), theirs.dtype)


@pytest.mark.parametrize(
    "name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
)
def test_comparisons_of_signed_with_unsigned_integers_are_of_the_numbers(name):
    signed = onp.array([-(2**63), -1, 0, 3, 2**60, 2**60 + 1, 2**63 - 1])[:, None]
    unsigned = onp.array([0, 3, 2**60, 2**60 + 1, 2**63 - 1, 2**63, 2**64 - 1], dtype="uint64")
    ours, theirs = getattr(np, name), getattr(onp, name)
    with npx.backend("jax"):
        for a, b in (
            (signed, unsigned),
            (unsigned, signed),
            (signed.astype("int8"), unsigned),
            (signed, unsigned.astype("uint8")),
        ):
            for function in (ours, npx.jit(ours)):
                onp.testing.assert_array_equal(
                    function(np.array(a), np.array(b)).asnumpy(), theirs(a, b)
                )


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_a_loop_of_objects_runs_on_the_host(backend):
    with npx.backend(backend):
        for options in ({"dtype": object}, {"signature": (None, None, "O")}):
            made = np.equal(np.array([1, 2]), [1, 3], **options)
            assert made.dtype == object and made.tolist() == [True, False]


def test_ufuncs_and_functions_written_in_c_are_not_bound():
    class Layer:
        activation, pair, made, plain = np.tanh, np.maximum, np.array, np.sum

    layer = Layer()
    assert Layer.activation is np.tanh and layer.activation is np.tanh
    assert (
        layer.pair([1, 4], [3, 2]).tolist() == [3, 4]
        and layer.made([1, 2], dtype="int8").dtype == onp.int8
    )
    with pytest.raises(onp.exceptions.AxisError):
        layer.plain([1, 2])  # a function of Python's is, with NumPy as well


@pytest.mark.parametrize("name", ["add", "divmod", "matmul", "array", "arange"])
def test_what_is_not_bound_is_described_and_pickled(name):
    function = getattr(np, name)
    assert pickle.loads(pickle.dumps(function)) is function and copy.deepcopy(function) is function
    assert function.__name__ == name and function.__doc__ and name in repr(function)
    assert next(iter(inspect.signature(function).parameters)) in ("x1", "object", "start_or_stop")


def test_ufuncs_of_numpys_and_others_are_given_the_arrays_for_results():
    inner, cumsum = umath_tests.inner1d, umath_tests.cumsum
    out = np.zeros(3)
    assert inner(np.ones((3, 2)), np.ones(2), out=out) is out and out.tolist() == [2, 2, 2]
    wide = np.zeros((1, 2, 3), dtype=int)
    with pytest.raises(ValueError, match="mismatch"):
        cumsum(np.ones((2, 3), dtype=int), out=wide, axis=0)  # it would broadcast
    distances = np.zeros(3)
    umath_tests.euclidean_pdist(
        np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]]), distances
    )  # whose results have the length of `out`
    assert distances.tolist() == [5, 4, 3]


def test_objects_raise_their_own_errors():
    with pytest.raises(TypeError, match="NoneType"):
        np.array(None, dtype=object) // np.array(True)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_of_objects_may_be_asked_for_bools(name):
    a = [["", "a"], ["0", ""]]
    found = getattr(np, name)(np.array(a, dtype=object), np.array("x", dtype=object), dtype=bool)
    expected = getattr(onp, name)(
        onp.array(a, dtype=object), onp.array("x", dtype=object), dtype=bool
    )
    assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
    assert getattr(np, name)(np.array(a, dtype=object), 1.5, dtype=bool).dtype == bool
    for refused in (
        (np.array(a, dtype=object), np.array("x", dtype=object)),
        (np.array(a, dtype=object), 1.5),
        (np.ones(2, int), 1.5),
    ):
        with pytest.raises(TypeError, match="Cannot cast ufunc 'add' input"):
            np.add(*refused, dtype=bool if refused[0].dtype.hasobject else int)


def test_comparisons_may_be_asked_for_what_objects_return():
    class Compared:
        def __eq__(self, other):
            return "=="

        __hash__ = None

    a = np.array([Compared()])
    assert np.equal(a, a).tolist() == [True] and np.equal(a, a, dtype=object).tolist() == ["=="]


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, -(2**70)])
def test_python_integers_alone_are_as_wide_as_they_must_be(number):
    with npx.backend("numpy"):
        found = np.bitwise_count(number)
    assert found == onp.bitwise_count(number)
    with pytest.raises(OverflowError):
        np.add(np.ones(2, dtype="int64"), number)


@pytest.mark.parametrize("name", ["gcd", "lcm"])
@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u8"])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_divisors_of_the_extreme_integers(name, dtype, backend):
    """The smallest integer of a signed dtype has no absolute value in it."""
    limits = onp.iinfo(dtype)
    numbers = onp.array([limits.min, limits.max, 0, 1, 6, 96, limits.max // 4 * 3], dtype=dtype)
    expected = getattr(onp, name)(numbers[:, None], numbers)
    with npx.backend(backend):
        found = getattr(np, name)(np.array(numbers)[:, None], np.array(numbers))
        empty = getattr(np, name)(np.array(numbers)[:0], np.array(numbers)[:0])
    assert (
        found.dtype == expected.dtype
        and found.tolist() == expected.tolist()
        and empty.shape == (0,)
    )


def test_reductions_without_any_element_are_the_start():
    for module in (onp, np):
        assert module.add.reduce(module.arange(3.0), where=False) == 0
        found = module.maximum.reduce(module.ones((2, 3)), axis=1, where=False, initial=2)
        assert found.tolist() == [2, 2]


@pytest.mark.parametrize("name", ["bitwise_or", "gcd", "add", "logaddexp"])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_starts_that_the_dtype_does_not_hold_are_errors(name, backend):
    with npx.backend(backend):
        numbers = np.array([5], dtype="uint8" if name != "logaddexp" else "float32")
        if name == "logaddexp":
            assert np.logaddexp.reduce(numbers, initial=300) == 300
        else:
            with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
                getattr(np, name).reduce(numbers, initial=300, dtype="uint8")


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_integers_have_negative_powers_in_a_float_dtype(backend):
    with npx.backend(backend):
        assert np.power(np.array([2]), np.array([-1]), dtype="float32").tolist() == [0.5]
        assert np.power(2, -1, signature="dd->d") == np.power(2, -1, dtype=float) == 0.5
        with pytest.raises(ValueError, match="negative integer powers"):
            np.power(np.array([2]), -1, dtype=int)
