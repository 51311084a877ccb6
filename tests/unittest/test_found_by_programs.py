"""What random programs (`test_state_machine.py`) found: cases in which eager, compiled and NumPy
differed.
"""

import numpy as onp
import pytest
from oracle import agrees

from npcompat import np, npx

SMALL = onp.array([1, 2, 3], onp.uint8)
TABLE = onp.arange(6.0).reshape(2, 3)
EMPTY = onp.zeros((0, 3), onp.int32)


@pytest.fixture(autouse=True)
def numpy_mode():
    npx.set_np(dtype=True)
    yield
    npx.reset_np()


@pytest.mark.parametrize(
    "program",
    [
        lambda np, a: a > -3,
        lambda np, a: a < 300,
        lambda np, a: np.equal(a, -1),
        lambda np, a: a != 256,
    ],
)
def test_integers_are_compared_with_python_integers_of_any_size(program):
    agrees(program, SMALL)


@pytest.mark.parametrize(
    "program",
    [
        lambda np, a: a + -1,
        lambda np, a: np.maximum(a, 300),
        lambda np, a: a.__iadd__(-1),
        lambda np, a: np.sum(a, initial=-1),
        lambda np, a: np.max(a, initial=256),
        lambda np, a: np.put(a, [1], [-1]),
        lambda np, a: np.place(a, [True, False, True], [-1]),
        lambda np, a: np.putmask(a, [True, False, True], [300]),
        lambda np, a: np.insert(a, 1, -1),
        lambda np, a: a.__setitem__(a < 2, -1),
        lambda np, a: a.flat.__setitem__(slice(None), [-1]),
    ],
)
def test_python_integers_must_fit(program):
    assert isinstance(agrees(program, SMALL, message=True), OverflowError)


def test_at_casts_python_integers_as_arrays():
    agrees(lambda np, a: np.add.at(a, [0, 0, 2], -1), SMALL)
    agrees(lambda np, a: np.multiply.at(a, [0, 1], True), SMALL > 1)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("source", ["f8", "f4", "f2", "c16"])
@pytest.mark.filterwarnings("ignore")
def test_floats_become_integers_by_dropping_bits(source, dtype):
    # One element each: what NumPy makes of numbers out of range differs between single elements and
    # many.
    for x in (
        300.0,
        -3.0,
        70000.5,
        -0.7,
        3e9 if source != "f2" else 3.0,
        onp.inf,
        -onp.inf if dtype != "uint64" else -1.0,
    ):
        if not (dtype == "uint32" and onp.isinf(x)):
            agrees(lambda np, a: a.astype(dtype), onp.array([x]).astype(source))


@pytest.mark.parametrize("x", [2.0**63, 3 * 2.0**62, 2.0**64, 1e30, -(2.0**63), onp.nan])
@pytest.mark.filterwarnings("ignore")
def test_large_floats_become_uint64(x):
    agrees(lambda np, a: a.astype("uint64"), onp.array([x]))


def test_a_mask_without_axes_selects():
    for a in (onp.array(3.0), onp.array(0.5)):
        agrees(lambda np, a: a[a > 1].sum(), a)
        agrees(lambda np, a: a.__setitem__(a > 1, 7), a)


def test_initial_stands_for_what_a_mask_does_not_select():
    assert agrees(lambda np, a: a[a > 9].max(initial=1.0), TABLE) == 1


def test_one_axis_is_written_through_a_mask_of_all_axes():
    for new in (onp.ones((1, 3)), onp.ones((1, 1))):
        for key in (onp.array([True, True, True]), (onp.array([True, False, False]),)):
            assert isinstance(
                agrees(
                    lambda np, a: a.__setitem__(key, np.asarray(new)), onp.arange(3.0), message=True
                ),
                TypeError,
            )


def test_a_mask_is_broadcast_to_what_is_reduced_and_not_the_other_way():
    mask = onp.array([False, True, True])
    agrees(lambda np, a: np.sum(a, 0, where=mask), TABLE)
    for a in (onp.array(2.0), onp.ones(1), onp.ones((2, 1))):
        for name in ("sum", "any", "mean", "var"):
            agrees(lambda np, a: getattr(np, name)(a, None, where=mask), a, message=True)
        agrees(lambda np, a: np.multiply.reduce(a, None, where=mask), a, message=True)
        agrees(lambda np, a: np.minimum.reduce(a, None, where=mask, initial=1), a, message=True)


def test_known_starts_of_slices_are_checked_while_compiling():
    for starts in ([3, 0], [-1], [0, 1]):
        agrees(lambda np, a: np.add.reduceat(a, starts), onp.arange(3.0), message=True)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "var", "all"])
@pytest.mark.parametrize("target", ["?", "u1", "i8", "f4", "c16"])
@pytest.mark.filterwarnings("ignore")
def test_reductions_write_into_any_dtype(name, target):
    agrees(
        lambda np, a, out: getattr(np, name)(a, 0, out=out) is out, TABLE * 2, onp.zeros(3, target)
    )
    if name == "prod":
        agrees(
            lambda np, a, out: np.multiply.reduce(a, 0, out=out) is out, TABLE, onp.zeros(3, target)
        )
        agrees(lambda np, a, out: np.cumsum(a, 0, out=out) is out, TABLE, onp.zeros((2, 3), target))


def test_what_does_nothing_returns_its_argument():
    agrees(lambda np, a: [a.squeeze() is a, np.squeeze(a) is a], TABLE)
    agrees(lambda np, a: np.flip(a), onp.array(3.0))
    agrees(lambda np, a: list(np.unstack(a)), onp.arange(3.0))


def test_positions_are_looked_at_where_anything_is_read():
    key = ([[0]], [-1], onp.array([False]), 0)
    agrees(lambda np, a: a[key], onp.ones((0, 2, 1, 2)))
    agrees(lambda np, a: a[:, 0, False], onp.ones((0, 0)))
    agrees(lambda np, a: a.flat.__setitem__(slice(None, None, -1), np.ones(3)), EMPTY)


def test_the_extremes_of_complex_numbers_are_the_first_nan():
    nan = onp.nan
    for values in ([-3 + 6j, 4, nan, -1j], [1, complex(1, nan), nan], [nan, nan + 1j]):
        a = onp.array([values, values[::-1]])
        for name in ("max", "min"):
            for axis in (None, 0, 1, (1, 0)):
                agrees(lambda np, a: getattr(np, name)(a, axis), a)
            agrees(
                lambda np, a: getattr(np, name)(
                    a, 0, where=onp.array([[True], [False]]), initial=0
                ),
                a,
            )
        agrees(lambda np, a: np.maximum.at(a, [0, 1, 0], a[0]), onp.array(values))


def test_products_of_bool():
    agrees(lambda np, a: np.kron(a, a), TABLE > 2)


def test_the_mean_without_nan_of_an_integer_has_no_axis():
    agrees(lambda np, a: np.nanmean(a, axis=-1), onp.array(1), message=True)


def test_the_shape_of_fractions_without_elements_is_kept():
    agrees(lambda np, a: np.linalg.pinv(a, rtol=onp.zeros((0, 2))), onp.zeros((0, 2, 3, 3)))


def test_dlpack_of_every_version():
    from npcompat import np

    for backend in ("numpy", "jax"):
        with npx.backend(backend):
            for version in (None, (0, 0), (1, 0), (2, 0)):
                assert np.ones(3).__dlpack__(max_version=version) is not None


@pytest.mark.parametrize("target", ["?", "i4", "f8", "c16"])
def test_logical_functions_write_into_any_dtype(target):
    mask = onp.array([True, True, False])
    for name in ("logical_and", "logical_xor"):
        agrees(
            lambda np, a, out: getattr(np, name)(a, out, out=out) is out,
            onp.ones(3, bool),
            onp.ones(3, target),
        )
        agrees(
            lambda np, a, out: getattr(np, name)(a, out, out=out, where=mask) is out,
            onp.ones(3, bool),
            onp.ones(3, target),
        )


@pytest.mark.parametrize("key", [1, (-1,), (1, 0), (1, ...)])
@pytest.mark.parametrize("new", [[1], [[1]]])
def test_an_element_takes_no_sequence(key, new):
    agrees(
        lambda np, a: a.__setitem__(key, np.asarray(new)), onp.ones((3, 2) if key == (1, 0) else 3)
    )


def test_windows_of_nothing_have_their_shape():
    agrees(lambda np, a: np.lib.stride_tricks.sliding_window_view(a, 2, -1) + 1, EMPTY)
    assert isinstance(
        agrees(lambda np, a: np.fill_diagonal(a, -1), EMPTY.astype("u1")), OverflowError
    )


@pytest.mark.parametrize("views", [("u1", "u4"), ("u4", "u1"), ("i2", "u1"), ("u1", "i2")])
def test_bytes_are_written_in_one_size_and_read_in_another(views):
    def program(np, a):
        a.view(views[0])[...] = 1
        return a.view(views[1]) + a.view(views[1])

    agrees(program, onp.ones((3, 2), onp.int64))


def test_parts_that_a_mask_selects_are_not_enlarged():
    for mask in ([False, False], [True, False]):
        agrees(lambda np, a: a.__setitem__(onp.array(mask), np.ones((2, 3))), onp.zeros((2, 1, 3)))
        agrees(
            lambda np, a, m: a.__setitem__(m, np.ones((1, 3))),
            onp.zeros((2, 1, 3)),
            onp.array(mask),
        )


@pytest.mark.parametrize("mode", ["raise", "clip"])  # NumPy never returns from "wrap"
def test_nothing_is_taken_from_nothing(mode):
    for shape in ((1, 0, 0), (0, 2), (2, 0)):
        agrees(lambda np, a: np.take(a, [2], 1, mode=mode), onp.zeros(shape), message=True)


def test_a_bool_takes_the_truth_of_one_element():
    agrees(lambda np, a: a.__setitem__(-1, np.asarray([True])), onp.array([False, True]))


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
@pytest.mark.filterwarnings("ignore")
def test_false_times_nan_is_nan(dtype):
    mask = onp.array([True, False, False, False])
    a = onp.array([onp.nan, onp.nan, onp.inf, -1.0]).astype(dtype)
    agrees(
        lambda np, m, a: [
            m * a,
            m[1] * a,
            np.inner(m[1], a[1]),
            m.astype(dtype) * a,
            np.signbit((m * a).real),
        ],
        mask,
        a,
    )


def test_the_imaginary_part_of_real_numbers_lies_as_they_do():
    for get in (
        lambda a: a,
        lambda a: a.T,
        lambda a: a.T.T,
        lambda a: a.T[:, ::2],
        lambda a: a.T[:1],
    ):
        agrees(lambda np, a: [get(a).imag, get(a).imag.strides], TABLE)


def test_what_is_written_in_another_shape_is_read_before_it_is_overwritten():
    def write(np, a, how):
        if how == "put":
            np.put(a, [4], [2], "wrap")
        elif how == "reshape":
            a.reshape(-1)[4] = 2
        elif how == "flat":
            a.flat[4] = 2
        else:
            np.add.at(a.reshape(-1), [4], 2)
        a[-2][...] = a[-2][::-1]
        a[0] = a[0].T
        return a + 1

    for how in ("put", "reshape", "flat", "at"):
        agrees(lambda np, a: write(np, a, how), onp.arange(18.0).reshape(2, 3, 3))


def test_a_view_is_iterated_over_and_written_after_its_base_is_not_to_be():
    def program(np, a):
        view = a[:, 1:]
        a.setflags(write=False)
        with np.nditer(view, [], ["readwrite"]) as iterator:
            for x in iterator:
                x[...] = x * 2
        return view

    agrees(program, TABLE, modes=("jax", "numpy"))


def test_records_have_no_median():
    assert isinstance(
        agrees(lambda np, a: np.median(a), onp.zeros(3, [("x", "f8")]), modes=("jax", "numpy")),
        TypeError,
    )


@pytest.mark.filterwarnings("ignore")
def test_what_at_computes_in_floats_becomes_an_integer_by_dropping_bits():
    agrees(
        lambda np, a, x: np.subtract.at(a, [0, 0, 1], x),
        onp.array([253, 4], onp.uint8),
        onp.array(-2.0, onp.float32),
    )


def test_what_is_shifted_in_place_is_read_in_another_shape():
    def program(np, a):
        a[1:] = a[:-1]
        a[:, 1:] += a[:, :-1]
        return [a.reshape(1, -1) + 1, np.maximum.accumulate(a, axis=-1), a.T.reshape(-1).copy()]

    for shape in ((1, 3), (3, 1), (8, 16), (4, 2, 1)):
        agrees(program, onp.arange(onp.prod(shape)).reshape(shape) * 3 % 7 - 2)


def test_what_was_made_in_another_shape_is_shifted_in_place():
    def program(np, a, shape, step):
        b = np.concatenate((a, a))[..., True].reshape(shape)
        b[step:] = b[:-step]
        b[..., 1::2] += b[..., :-1:2]
        return b

    for shape in ((12, 1), (1, 12), (3, 4), (2, 3, 2), (6, 2)):
        agrees(lambda np, a: program(np, a, shape, 1), onp.arange(6.0) + 1)
        agrees(
            lambda np, a: program(np, a[::-1], shape[::-1], min(2, shape[-1])), onp.arange(6.0) + 1
        )


@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanmean", "nanmedian"])
@pytest.mark.filterwarnings("ignore")
def test_summaries_of_one_nan_without_axes(name):
    for axis in (None, 0, -1):
        agrees(lambda np, a: getattr(np, name)(a, axis=axis), onp.array(onp.nan))


def test_elements_are_copied_to_where_they_are():
    def program(np, a):
        view = a[::2]
        view.setflags(write=False)
        for same in (view, a[::2], view[:]):
            np.copyto(view, same)
            np.copyto(view, same, where=False)
        np.copyto(np.broadcast_to(a, a.shape), a)
        return view

    agrees(program, TABLE, modes=("jax", "numpy"))
    assert isinstance(
        agrees(
            lambda np, a: [a.setflags(write=False), np.copyto(a, a[::-1])],
            TABLE,
            modes=("jax", "numpy"),
        ),
        ValueError,
    )
    assert isinstance(
        agrees(
            lambda np, a: np.copyto(a, a, where=np.array([0.5, 1.0])), TABLE, modes=("jax", "numpy")
        ),
        TypeError,
    )


def test_copies_of_single_elements_onto_themselves_are_writes():
    def program(np, a):
        a.setflags(write=False)
        np.copyto(a, a[...])

    assert isinstance(agrees(program, onp.array(1.0), modes=("jax", "numpy")), ValueError)


def test_scalars_that_do_not_fit_are_no_single_items():
    big = onp.array([4294967294], onp.uint32)
    assert isinstance(
        agrees(
            lambda np, a, x: a.flat.__setitem__(-1, x[0]),
            onp.arange(3, dtype="i4"),
            big,
            modes=("numpy",),
        ),
        ValueError,
    )


def test_bytes_of_overlapping_windows_are_read_as_another_type():
    def program(np, a):
        return np.matrix_transpose(np.lib.stride_tricks.sliding_window_view(a, 2)).view("u4")

    agrees(program, onp.array([-1, 6, 2, 9]), modes=("jax", "numpy"))


def test_records_keep_what_lies_between_their_fields():
    table = onp.zeros((3, 2), [("x", "f8"), ("y", "i4")])
    assert (
        agrees(
            lambda np, a: np.insert(a[["y"]], 1, 5, axis=-1), table, modes=("jax", "numpy")
        ).dtype
        == table[["y"]].dtype
    )


@pytest.mark.parametrize("shape", [(3,), (0,), (1, 4), (3, 2), (0, 5), (3, 0), (2, 3, 4)])
def test_masks_of_no_length_select_nothing(shape):
    masks = [(0,), (0, 0), (shape[0], 0), (0, shape[-1]), (0, 5), (5, 0)]
    for mask in [onp.zeros(m, bool) for m in masks if len(m) <= len(shape)]:
        for new in (1, onp.ones(0), onp.ones((1,) * len(shape))):

            def write(np, a, m, new=new):
                a[m] = np.asarray(new) if isinstance(new, onp.ndarray) else new

            agrees(write, onp.ones(shape), mask)
        agrees(lambda np, a, m: [a[m], a[m, ...]], onp.ones(shape), mask)


def test_nothing_is_cast_where_a_mask_selects_nothing():
    record = onp.zeros((), [("x", "f8"), ("y", "i4")])
    agrees(
        lambda np, a, r: a.__setitem__(np.zeros((0, 3), bool), r),
        onp.zeros((0, 3), int),
        record,
        modes=("jax", "numpy"),
    )
    found = agrees(
        lambda np, a, r: a.flat.__setitem__(slice(None), np.ones(2, r.dtype)),
        onp.zeros((0, 3), int),
        record,
        modes=("jax", "numpy"),
    )
    assert isinstance(found, TypeError)


@pytest.mark.parametrize("name", ["exp2", "expm1", "hypot", "logaddexp", "logaddexp2"])
def test_functions_of_halves_are_rounded_once(name):
    numbers = onp.array([0.5, 1.5, 2, 5.5, 6], "f2")
    with npx.backend("jax"):
        given = [np.array(numbers)[:, None], np.array(numbers)][: getattr(onp, name).nin]
        expected = getattr(onp, name)(*[x.asnumpy().astype("f4") for x in given]).astype("f2")
        for function in (getattr(np, name), npx.jit(getattr(np, name))):
            onp.testing.assert_array_max_ulp(function(*given).asnumpy(), expected, 1, "f2")


def test_records_are_written_at_positions_on_a_device():
    records = onp.zeros(4, [("x", "f4"), ("y", "u1")])
    with npx.backend("jax"):
        a = np.array(records)
        a[np.array([0, 2])] = 7
        a[np.array([False, False, False, True])] = 9
        assert a.tolist() == [(7.0, 7), (0.0, 0), (7.0, 7), (9.0, 9)]
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            a[(np.array([0, 2]),)] = -2
