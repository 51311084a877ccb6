"""What NumPy's own suite looks at closely: `flat`, copies, casts, setters, results written into NumPy's arrays."""

import copy
import re
import sys

import numpy as onp
import pytest

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
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a.flat[0] = 1


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
    with pytest.warns(DeprecationWarning, match="strides"), pytest.raises(NotImplementedError, match="owns its memory"):
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


def test_removed_names_give_numpys_advice():
    with pytest.raises(AttributeError, match="deprecated alias for the builtin"):
        np.float


def test_the_inspection_namespace_knows_its_devices():
    with pytest.raises(ValueError, match="Device not understood"):
        np.__array_namespace_info__().dtypes(device="abacus")


def test_the_first_device_of_a_kind_is_equal_to_its_name():
    assert np.ones(1).device == "cpu" == npx.cpu() and np.__array_namespace_info__().devices()[0] == "cpu"
    assert npx.cpu(1) != "cpu" and npx.cpu(1) == "cpu(1)" and {npx.cpu(): 1}["cpu"] == 1


@pytest.mark.parametrize(
    ("dtype", "number", "casting"), [("i8", 3.0, "safe"), ("u1", 3, "equiv"), ("f4", 3.0, "equiv"), ("u1", -1, "safe")]
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
    """A program is found by its attributes: one made for 0j would be taken for 0.0, and one for 0.0 for -0.0."""
    a, z = np.array([-0.0, -0.0], dtype="f8"), np.array([complex(-0.0, -0.0)], dtype="c16")
    assert np.sum(z, initial=0j) == 0 and np.sum(a, initial=0.0) == 0 and np.add.reduce(a, initial=0.0) == 0
    if placed == "numpy":  # XLA begins with 0.0, whatever comes then
        assert not np.signbit(np.sum(a, initial=0.0)) and np.signbit(np.sum(a, initial=-0.0)) and np.signbit(np.add.reduce(a, initial=-0.0))
        assert np.signbit(np.sum(z, initial=complex(-0.0, -0.0)).imag) and not np.signbit(np.sum(z, initial=0j).imag)


def test_an_export_to_a_device_that_does_not_exist_is_a_buffer_error():
    with pytest.raises(BufferError):
        np.arange(5).__dlpack__(dl_device=(10, 0))
