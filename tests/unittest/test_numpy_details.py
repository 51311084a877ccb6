"""What NumPy's own suite looks at closely: `flat`, copies, casts, setters, results written into
NumPy's arrays.
"""

import copy
import operator
import re
import sys
import warnings
from fractions import Fraction

import numpy as onp
import pytest
from oracle import MODES, agrees

import npcompat.numpy as np
from npcompat import npx


@pytest.fixture(params=["numpy", "jax"], autouse=True)
def placed(request):
    with npx.backend(request.param):
        yield request.param


KEYS = [2, -1, slice(1, 4), [0, 3], ..., (), onp.array([True, False, True, False, False, True])]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_reads_and_writes_in_c_order(key, order):
    theirs = onp.arange(6).reshape(2, 3).copy(order)
    ours = np.array(theirs, order=order)
    onp.testing.assert_array_equal(np.asarray(ours.flat[key]).asnumpy(), theirs.flat[key])
    if type(key) is not tuple:
        new = 7 if type(key) is int else [7, 8]
        ours.flat[key] = new
        theirs.flat[key] = new
        onp.testing.assert_array_equal(ours.asnumpy(), theirs)


def test_flat_raises_and_warns_as_numpy_does():
    a = np.arange(3)
    with pytest.raises(IndexError, match="out of bounds"):
        a.flat[3]
    with pytest.raises(IndexError, match="only integers, slices"):
        a.flat["x"]
    with pytest.warns(DeprecationWarning, match="Invalid non-array indices"):
        assert a.flat[[1.0]].tolist() == [1]
    np.copyto(a, a)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a.flat[0] = 1
    np.copyto(a, a)  # which writes nothing


@pytest.mark.parametrize("backend", ["jax", "numpy"])
@pytest.mark.parametrize("new", [[5], onp.array([5]), [1, 2]])
def test_an_element_of_flat_takes_an_element(backend, new):
    with npx.backend(backend):
        a = np.arange(3)
        for given in (new, np.array(new)):
            with pytest.raises(ValueError, match="single item"):
                a.flat[1] = given
        a.flat[1] = np.array(7)
        assert a.tolist() == [0, 7, 2]


def test_a_deep_copy_copies_objects():
    held = [1]
    a = np.array([held, held, None], dtype=object)
    copied = copy.deepcopy(a)
    assert copied[0] is not held
    assert copied[0] is copied[1]


def test_complex_to_real_warns():
    with pytest.warns(onp.exceptions.ComplexWarning):
        assert np.array([1 + 2j]).astype(float).tolist() == [1]


def test_same_value_casts_refuse_what_would_change():
    assert np.array([1.0, 2.0]).astype(int, casting="same_value").tolist() == [1, 2]
    with pytest.raises(ValueError, match="same_value"):
        np.array([1.5]).astype(int, casting="same_value")


def test_python_numbers_are_checked_against_casting():
    with pytest.raises(TypeError, match="Cannot cast"):
        np.add(1.5, 2.5, dtype=int)
    assert np.add(1, 2, dtype=float) == 3


def test_results_are_written_into_arrays_of_numpys():
    out = onp.zeros(2)
    assert np.add(np.ones(2), 1, out=out) is out
    assert out.tolist() == [2, 2]
    np.add(np.ones(2), 4, out=out, where=[True, False])
    assert out.tolist() == [5, 2]
    assert np.sum(np.ones((2, 2)), axis=0, out=out) is out
    assert out.tolist() == [2, 2]
    with pytest.raises(TypeError, match="same_kind"):
        np.add(np.ones(2), 0.5, out=onp.zeros(2, int))
    with pytest.raises(ValueError, match="non-broadcastable"):
        np.add(np.ones(2), 1, out=onp.zeros(1))


def test_dtype_is_set_as_a_view_reads():
    a = np.arange(2, dtype="int32")
    a.dtype = "int16"
    assert a.tolist() == [0, 0, 1, 0]
    base = np.arange(4, dtype="int32")
    view = base[1:3]
    view.dtype = "int16"
    view[0] = 9
    assert base.tolist() == [0, 9, 2, 3]


def test_strides_of_a_view_are_set_with_a_warning():
    base = np.arange(6)
    view = base[:3]
    with pytest.warns(DeprecationWarning, match="strides"):
        view.strides = (16,)
    assert view.tolist() == [0, 2, 4]
    owner = np.ones((2, 2), "int64")
    with (
        pytest.warns(DeprecationWarning, match="strides"),
        pytest.raises(NotImplementedError, match="owns its memory"),
    ):
        owner.strides = (8, 16)


def test_strided_views_may_begin_at_any_byte():
    theirs = onp.arange(6, dtype="int16")
    ours = np.array(theirs)
    view = np.lib.stride_tricks.as_strided(ours, (3,), (3,))
    expected = onp.lib.stride_tricks.as_strided(theirs, (3,), (3,))
    assert view.tolist() == expected.tolist()
    view[1] = 300
    expected[1] = 300
    assert ours.tolist() == theirs.tolist()


def test_overlapping_views_are_written_on_the_host_only(placed):
    view = np.lib.stride_tricks.sliding_window_view(np.arange(4), 2, writeable=True)
    assert view.flags.writeable is (placed == "numpy")


def test_resize_refuses_what_is_referred_to_elsewhere():
    a = np.zeros(2)
    other = a
    with pytest.raises(ValueError, match="cannot resize an array that references"):
        a.resize(3)
    del other
    a.resize(3)
    assert a.shape == (3,)


def test_the_size_of_an_array_counts_its_elements():
    a = np.ones(100)
    assert sys.getsizeof(a) > a.nbytes > sys.getsizeof(a[:])


def test_integers_to_negative_powers_of_another_kind_are_floats():
    with npx.np_default_dtype():
        assert np.power(np.array([2], "uint64"), np.array([-1])).tolist() == [0.5]


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "int32", "bool"])
@pytest.mark.parametrize("exponent", [2, -1, 0.5, 2.0, -2, 3])
@pytest.mark.parametrize("write", [operator.pow, operator.ipow])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_powers_of_some_exponents_are_squares_reciprocals_and_roots(placed, kind, exponent, write):
    def attempted(a):
        try:
            return np.asarray(write(a, exponent)).asnumpy()
        except (TypeError, ValueError) as error:
            return type(error)

    with npx.np_default_dtype():
        host = (
            onp.array([-onp.inf, -0.0, 0, 4, onp.nan]).astype(kind)
            if kind[0] in "fc"
            else onp.array([3, 1, 0]).astype(kind)
        )
        host = (
            host[1:] if kind == "complex64" and placed == "jax" else host
        )  # XLA has 0 for what is nan of infinite ones
        ours, theirs = attempted(np.array(host)), attempted(host.copy())
        assert type(ours) is type(theirs) and getattr(ours, "dtype", None) == getattr(
            theirs, "dtype", None
        )
        onp.testing.assert_allclose(ours, theirs, 1e-6) if type(theirs) is onp.ndarray else None


def test_removed_names_give_numpys_advice():
    with pytest.raises(AttributeError, match="deprecated alias for the builtin"):
        np.float


def test_the_inspection_namespace_knows_its_devices():
    with pytest.raises(ValueError, match="Device not understood"):
        np.__array_namespace_info__().dtypes(device="abacus")


def test_the_first_device_of_a_kind_is_equal_to_its_name():
    assert (
        np.ones(1).device == "cpu" == npx.cpu()
        and np.__array_namespace_info__().devices()[0] == "cpu"
    )
    assert npx.cpu(1) != "cpu" and npx.cpu(1) == "cpu(1)" and {npx.cpu(): 1}["cpu"] == 1


@pytest.mark.parametrize(
    ("dtype", "number", "casting"),
    [("i8", 3.0, "safe"), ("u1", 3, "equiv"), ("f4", 3.0, "equiv"), ("u1", -1, "safe")],
)
def test_copyto_casts_python_numbers_as_numpy_does(dtype, number, casting):
    with pytest.raises((TypeError, OverflowError)) as theirs:
        onp.copyto(onp.zeros(3, dtype), number, casting)
    with pytest.raises(theirs.type, match=re.escape(str(theirs.value))):
        np.copyto(np.zeros(3, dtype), number, casting)
    a = np.zeros(2, "u1")
    np.copyto(a, 3, "safe")
    assert a.tolist() == [3, 3]


def test_the_dtype_of_another_library_says_whether_elements_are_complex():
    class Values(list):
        dtype = complex

    class Frame:
        dtype = type("Kind", (), {"type": onp.complex128})

    assert np.iscomplexobj(Values([1j])) and np.iscomplexobj(Frame()) and not np.isrealobj(Frame())
    assert np.isrealobj(Values([1.0]))


def test_equal_numbers_to_begin_with_are_told_apart(placed):
    """A program is found by its attributes: one made for 0j would be taken for 0.0, and one for 0.0
    for -0.0.
    """
    a, z = np.array([-0.0, -0.0], dtype="f8"), np.array([complex(-0.0, -0.0)], dtype="c16")
    assert (
        np.sum(z, initial=0j) == 0
        and np.sum(a, initial=0.0) == 0
        and np.add.reduce(a, initial=0.0) == 0
    )
    if placed == "numpy":  # XLA begins with 0.0, whatever comes then
        assert (
            not np.signbit(np.sum(a, initial=0.0))
            and np.signbit(np.sum(a, initial=-0.0))
            and np.signbit(np.add.reduce(a, initial=-0.0))
        )
        assert np.signbit(np.sum(z, initial=complex(-0.0, -0.0)).imag) and not np.signbit(
            np.sum(z, initial=0j).imag
        )


# --- what NumPy takes beyond its signatures, and what it refuses ----------------------------------


class Giving:
    """An object whose `__array__` gives an array."""

    def __init__(self, array):
        self.array, self.asked = array, []

    def __array__(self, dtype=None, copy=None):
        self.asked.append(copy)
        return self.array


class Index:
    def __index__(self):
        return 1


DAY = onp.timedelta64(3, "D")
TAKEN = {
    "arange by names": lambda xp: (xp.arange(stop=3), xp.arange(start=1, stop=4), xp.arange(0, stop=3)),
    "arange of nothing": lambda xp: xp.arange(),
    "arange from a start alone": lambda xp: xp.arange(start=3),
    "arange of days": lambda xp: xp.arange(xp.array(DAY), xp.array(DAY) + 2),
    "arange of lists": lambda xp: xp.arange(0, [None, []]),
    "where of None": lambda xp: xp.where(xp.array([True, False]), None, None),
    "where of one": lambda xp: xp.where(xp.array([True, False]), 1),
    "choose one by one": lambda xp: xp.array([0, 1]).choose(xp.array([5, 6]), xp.array([7, 8])),
    "choose of numbers": lambda xp: xp.choose([0], (1000, xp.array([1], dtype="uint8"))),
    "conj into out": lambda xp: xp.array([1j, 2]).conj(xp.zeros(2, complex)),
    "argpartition by name": lambda xp: xp.array([3, 1, 2]).argpartition(kth=0)[0],
    "subarrays": lambda xp: (xp.array([1, 2]).astype("2i"), xp.array(xp.array([1, 2]), dtype="(2,)i")),
    "complex numbers as text": lambda xp: xp.array([1 + 2j]).astype("U8"),
    "infinity into integers": lambda xp: xp.array([xp.array(onp.inf)[()]], dtype="int8"),
    "a sum into integers": lambda xp: xp.sum(xp.array([1.5, 2.0]), out=xp.zeros((), int)),
    "a fold of objects into out": lambda xp: xp.add.reduce(xp.array([1, 2], object), out=xp.zeros((), object)),
    "lists as keys": lambda xp: xp.arange(6.0).reshape(2, 3)[[0, 1], [2, 0]],
    "ragged objects written at a list": lambda xp: xp.arange(3, dtype=object).__setitem__([0, 1], [1, (1, 2)]),
    "an index object beside an array": lambda xp: xp.arange(6).reshape(2, 3)[Index(), xp.array([0, 2])],
    "a bool as length": lambda xp: xp.zeros((True, 2)),
    "a bool as axis": lambda xp: xp.sum(xp.ones((2, 2)), axis=False),
    "a bool as axis of take": lambda xp: xp.take(xp.ones((2, 2)), [0], False),
    "an empty median": lambda xp: xp.median(xp.zeros((0, 2)), axis=1),
    "strides of another number": lambda xp: xp.ndarray((2,), strides=()),
    "a class of dtypes": lambda xp: xp.zeros(2, onp.dtype),
    "outs for modf": lambda xp: xp.modf(xp.ones(2), out=(xp.ones(2),)),
    "matmul in place, too narrow": lambda xp: xp.ones((1, 3)).__imatmul__(xp.ones((3, 1))),
    "matmul in place by a vector": lambda xp: xp.ones((2, 2)).__imatmul__(xp.ones(2)),
    "matmul in place": lambda xp: xp.ones((3, 2, 2)).__imatmul__(xp.ones((2, 2))),
    "matmul of a vector by axes": lambda xp: xp.matmul(xp.ones((2, 3, 4)), xp.arange(3.0), axes=[(0, 1), 0, 0]),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_is_taken_or_refused_as_by_numpy(name):
    with npx.np_default_dtype(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = TAKEN[name](onp)
        except Exception as error:
            with pytest.raises(type(error)):
                TAKEN[name](np)
            return
        found = TAKEN[name](np)
        for mine, its in (
            zip(found, expected, strict=True)
            if isinstance(expected, tuple)
            else [(found, expected)]
        ):
            if its is None:
                assert mine is None
                continue
            onp.testing.assert_array_equal(np.asarray(mine).asnumpy(), its)
            assert mine.dtype == its.dtype and mine.shape == its.shape


def test_quantiles_of_fractions_are_fractions():
    halves = [Fraction(i, 2) for i in range(8)]
    assert np.percentile(halves, Fraction(50)) == Fraction(7, 4) and np.quantile(
        [1, 2], Fraction(1, 2)
    ) == Fraction(3, 2)


def test_an_object_that_gives_an_array_of_ours_stands_for_it():
    a = np.arange(3)
    giving = Giving(a)
    assert (
        np.asarray(giving) is a
        and np.array(giving, copy=True) is a
        and giving.asked == [None, True]
    )
    b = np.zeros(3, int)
    b[...] = giving
    assert b.tolist() == [0, 1, 2]


def test_scalars_have_no_memory_to_share():
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(np.ones(2)[0], copy=False)


def test_lists_that_hold_themselves():
    rows = []
    rows.append(rows)
    assert np.array([rows, rows], dtype=object).shape[:2] == (2, 1)


def test_what_is_read_from_bytes_stays_read_only():
    found = np.frombuffer(b"\x01\x02", "u1")
    assert found.tolist() == [1, 2]
    with pytest.raises(ValueError, match="WRITEABLE"):
        found.setflags(write=True)
    np.frombuffer(bytearray(2), "u1")[0] = 1


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_values_in_equal_steps_are_rounded_as_numpys(backend):
    with npx.backend(backend), npx.np_default_dtype():
        for arguments in (
            (0, 49, 50),
            (0.1, 0.7, 100),
            (5, 5, 3),
            (0, -7, 13),
            (0, 10, 4, False),
            (2, 3, 0),
            (2, 3, 1),
            (1j, 2 + 3j, 5),
            (-5, 5, 101),
            (-0.3, 0.9, 50),
        ):
            theirs = onp.linspace(*arguments)
            assert onp.array_equal(np.linspace(*arguments).asnumpy(), theirs)
            assert onp.array_equal(
                np.linspace(*map(np.array, arguments[:2]), *arguments[2:]).asnumpy(), theirs
            )
        assert onp.array_equal(np.linspace(0, 49, 50, dtype=int).asnumpy(), onp.arange(50))


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_the_magnitude_of_a_number_with_an_infinite_part_is_infinite(backend):
    with npx.backend(backend):
        z = onp.array(
            [complex(onp.nan, onp.inf), complex(-onp.inf, onp.nan), 3 + 4j, complex(onp.nan, 1)]
        )
        assert onp.array_equal(np.abs(np.array(z)).asnumpy(), onp.abs(z), equal_nan=True)


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_any_byte_but_zero_is_true(backend):
    with npx.backend(backend):
        a, b = (np.frombuffer(byte * 5, dtype=bool) for byte in (b"\xff", b"\x02"))
        assert int(a.sum()) == 5
        assert onp.array_equal(np.logical_and(a, b), onp.ones(5, bool))


def test_strings_of_each_dtype_have_memory_of_their_own():
    first, second = onp.dtypes.StringDType(), onp.dtypes.StringDType()
    a = np.array(["a", "b"], dtype=first)
    assert a.astype(second, copy=False).dtype is second and np.asarray(a, dtype=first) is a
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(a, copy=False, dtype=second)
    missing = np.array(["a", onp.nan], dtype=onp.dtypes.StringDType(na_object=onp.nan))
    assert np.array_equal(missing, missing.copy(), equal_nan=True)


def test_slices_of_slices(placed):
    a = rest = np.arange(1500 if placed == "numpy" else 20)
    while len(rest) > 2:
        rest = rest[1:]
    rest[0] = -1
    assert a[-2] == -1 and rest.base is a
    nested = np.arange(12).reshape(3, 4)[:, ::-1]
    for _ in range(151 if placed == "numpy" else 7):
        nested = nested[::-1]
    assert nested.tolist() == [[11, 10, 9, 8], [7, 6, 5, 4], [3, 2, 1, 0]]


def test_an_export_to_a_device_that_does_not_exist_is_a_buffer_error():
    with pytest.raises(BufferError):
        np.arange(5).__dlpack__(dl_device=(10, 0))


def test_iterators_of_a_broadcast_know_their_arrays():
    a, b = np.zeros((2, 3)), np.ones(3)
    together = np.broadcast(a, b)
    assert together.iters[0].base is a and together.iters[1].base is b
    assert [float(x) for x in together.iters[1]] == [1.0] * 6


def test_no_axis_is_the_least_that_an_array_can_have():
    assert np.array([1, [2, 3]], object, ndmax=0).shape == ()
    with pytest.raises(ValueError, match="maximum number of dimension"):
        np.array([1, 2], ndmax=0)
    with pytest.raises(ValueError, match="ndmin must be <= ndmax"):
        np.array(1, ndmin=1, ndmax=0)


def test_a_list_within_itself_is_refused():
    endless = [1]
    endless.append(endless)
    alone = []
    alone.append(alone)
    for given in (endless, alone):
        with pytest.raises(ValueError, match="setting an array element with a sequence"):
            np.array(given)


@pytest.mark.parametrize(
    "dtype", [None, "float32", "float64", "int16", "complex64", "bool", "object", "U3"]
)
@pytest.mark.parametrize(
    "data",
    [
        [1.5, 2],
        [[1, 2.5], (3, 4)],
        [],
        [[], []],
        [True, 0.5],
        ((1j,), [2]),
        [3.0, onp.float64(1)],
        [2**63, 1],
    ],
)
def test_arrays_of_lists_are_as_numpy_makes_them(data, dtype):
    with npx.np_default_dtype(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what NumPy says of lost parts
        for name in ("array", "asarray"):
            modes = (
                ("jax", "numpy") if dtype in ("object", "U3") else MODES
            )  # these live on the host
            agrees(lambda xp, function=name: getattr(xp, function)(data, dtype), modes=modes)


@pytest.mark.parametrize("data", [[1.5, 2], [[1, 2.5], (3, 4)], [], [[], []], [True, 0.5]])
def test_floats_of_python_are_of_the_default_dtype(data):
    assert np.array(data).dtype == np.asarray(data).dtype == "float32" and np.array(
        data
    ).shape == onp.shape(data)
    assert np.array([*data, onp.ones(onp.shape(data)[1:])]).dtype == "float64"


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", ["F", "D", "f", None])
@pytest.mark.parametrize("values", [[1.0, 2.5, 4.0], [1.0 + 2.0j, 0.5j, -1.0]])
def test_spreads_are_in_the_dtype_asked_for(name, dtype, values):
    if dtype == "f" and isinstance(values[0], complex):
        return  # NumPy cuts the imaginary parts off at another step
    found = getattr(np, name)(
        np.array(values, "complex64" if isinstance(values[0], complex) else "float32"), dtype=dtype
    )
    expected = getattr(onp, name)(
        onp.array(values, "complex64" if isinstance(values[0], complex) else "float32"), dtype=dtype
    )
    assert found.dtype == expected.dtype
    onp.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6)


def test_an_array_of_objects_that_holds_itself_has_a_text():
    for xp in (np, onp):
        a, b = xp.array(None, dtype=object), xp.array(None, dtype=object)
        a[()], b[()] = b, a
        assert (repr(a), str(a)) == (
            "array(array(array(..., dtype=object), dtype=object), dtype=object)",
            "...",
        )
        a[()] = None


@pytest.mark.parametrize("options", [{}, {"precision": 3}, {"floatmode": "fixed"}])
def test_coefficients_of_polynomials_are_printed_as_numpys(options):
    values = [0.5, 1 / 7, 1e8 / 7, onp.nan]
    with onp.printoptions(**options):
        ours, theirs = [module.polynomial.Polynomial(onp.array(values)) for module in (np, onp)]
        assert f"{ours:ascii}" == f"{theirs:ascii}" and ours._repr_latex_() == theirs._repr_latex_()


def test_arrays_are_not_joined_into_subarrays():
    with pytest.raises(TypeError, match="subarray dtype"):
        np.concatenate([[1], [1]], dtype="(2,)i")
    with pytest.raises(TypeError, match="bitorder"):
        np.unpackbits(np.zeros(1, "uint8"), bitorder=10)


def test_arrays_say_that_they_have_no_address():
    a = np.ones(3)
    for name in ("__array_interface__", "__array_struct__"):
        assert hasattr(np.ndarray, name) and not hasattr(a, name)
        with pytest.raises(NotImplementedError, match="has no address; take that of `a.asnumpy"):
            getattr(a, name)
    assert onp.asarray(a).flags.writeable and onp.asarray(a).tolist() == [1, 1, 1]


@pytest.mark.parametrize("shape", [(20_000,), (150, 130), (2**14,), (40, 1, 512)])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "complex64"])
def test_any_and_all_of_many_elements_see_each(shape, dtype):
    size = onp.prod(shape)
    for place in (None, 0, 511, 512, 2**14 - 1, size - 1):
        for other in (False, True):
            a = onp.full(size, other, dtype)
            if place is not None:
                a[place] = not other
            a = a.reshape(shape)
            assert (bool(np.any(np.array(a))), bool(np.all(np.array(a)))) == (
                bool(onp.any(a)),
                bool(onp.all(a)),
            )
    assert np.any(np.array(onp.full(shape, onp.nan))) and np.all(np.array(onp.full(shape, onp.nan)))
