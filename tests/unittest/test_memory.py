"""Memory of arrays: buffers, fields, strides and order; NumPy is the oracle."""

import copy
import ctypes
import pickle
import sys
import weakref

import numpy as onp
import pytest

from npcompat import autograd, np, npx


def test_data_and_ctypes_are_of_the_memory(backend):
    x = np.arange(3, dtype="int32")
    on_xla = backend == "jax"
    assert x.data.tolist() == [0, 1, 2] and x.data.readonly is on_xla and x.data.format == "i"
    if on_xla:
        with pytest.raises(NotImplementedError, match="no address that may be written"):
            x.ctypes
    address = onp.asarray(x).ctypes if on_xla else x.ctypes
    assert list(ctypes.cast(address.data, ctypes.POINTER(ctypes.c_int32))[:3]) == [0, 1, 2]
    assert list(address.shape) == [3] and list(address.strides) == [4]
    before = x.data
    x[0] = 7
    assert before.tolist() == [0 if on_xla else 7, 1, 2] and x.data.tolist() == [7, 1, 2]


FIELDS = [
    (onp.array([[1 + 2j, 3 + 4j]], "complex64"), "float32", 4),
    (onp.array([1, 258], "int32"), "int8", 1),
    (onp.array([1.5, 2.5]), "float64", 0),
    (onp.array(66051, "int32"), "int16", 2),
    (onp.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")]), "float64", 4),
]


@pytest.mark.parametrize(("array", "dtype", "offset"), FIELDS)
def test_fields_are_views(backend, array, dtype, offset):
    ours, theirs = np.array(array), array.copy()
    field = ours.getfield(dtype, offset)
    assert field.dtype == dtype and onp.array_equal(field.asnumpy(), theirs.getfield(dtype, offset))
    assert field.base is ours
    ours.setfield(5, dtype, offset)
    theirs.setfield(5, dtype, offset)
    assert onp.array_equal(ours.asnumpy(), theirs) and onp.array_equal(
        field.asnumpy(), theirs.getfield(dtype, offset)
    )


def test_fields_that_do_not_fit():
    with pytest.raises(ValueError, match="new type is larger than original type"):
        np.arange(3, dtype="int32").getfield("int64")
    with pytest.raises(ValueError, match=r"offset"):
        np.arange(3, dtype="int32").getfield("int16", 3)


def test_states_are_those_of_numpys_pickles():
    _, _, state = onp.arange(6, dtype="int16").reshape(2, 3).__reduce__()  # type: ignore[str-unpack]
    x = np.zeros(1)
    x.__setstate__(state)
    assert x.dtype == "int16" and x.strides == (6, 2) and x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()
    with pytest.raises(ValueError, match="does not own its data"):
        x[0].__setstate__(state)


def test_what_numpys_machinery_asks_for():
    x = np.ones(2)
    wrapped = x.__array_wrap__(onp.arange(2))
    assert type(wrapped) is np.ndarray and wrapped.tolist() == [0, 1]
    assert (
        isinstance(x.__array_wrap__(onp.array(3.0), None, True), onp.floating)
        and x.__array_finalize__(None) is None
    )
    assert np.ndarray[int].__origin__ is np.ndarray
    with pytest.raises(ValueError, match="cannot delete array elements"):
        del x[0]


# --- memory order: NumPy is the oracle for strides, flags, sharing and values ---------------------

SOURCES = {
    "C": lambda xp, a: xp.array(a),
    "F": lambda xp, a: xp.array(a, order="F"),
    "transposed": lambda xp, a: xp.array(a).T,
    "axes": lambda xp, a: xp.array(a).transpose(1, 0, 2),
    "steps": lambda xp, a: xp.array(a).T[::2],
}
MADE = {
    **{f"array {o}": lambda xp, x, o=o: xp.array(x, order=o) for o in "CFAK"},
    **{f"asarray {o}": lambda xp, x, o=o: xp.asarray(x, order=o) for o in "CFAK"},
    **{f"cast {o}": lambda xp, x, o=o: xp.array(x, "float64", order=o) for o in "CFAK"},
    **{f"copy {o}": lambda xp, x, o=o: x.copy(o) for o in "CFAK"},
    **{f"astype {o}": lambda xp, x, o=o: x.astype("float64", order=o) for o in "CFAK"},
    **{
        f"astype {o} of the same": lambda xp, x, o=o: x.astype(x.dtype, order=o, copy=False)
        for o in "CFAK"
    },
    **{f"like {o}": lambda xp, x, o=o: xp.zeros_like(x, order=o) for o in "CFAK"},
    **{
        f"full like {o}": lambda xp, x, o=o: xp.full_like(x, 3, order=o, shape=(3, 2, 5))
        for o in "CFAK"
    },
    **{f"add {o}": lambda xp, x, o=o: xp.add(x, 1, order=o) for o in "CFA"},
    **{f"reshape {o}": lambda xp, x, o=o: x.reshape(4, -1, order=o) for o in "CF"},
    **{f"flatten {o}": lambda xp, x, o=o: x.flatten(o) for o in "CFAK"},
    "np.copy": lambda xp, x: xp.copy(x),
    "copy.copy": lambda xp, x: copy.copy(x),
    "asfortranarray": lambda xp, x: xp.asfortranarray(x),
    "ascontiguousarray": lambda xp, x: xp.ascontiguousarray(x),
    "require FO": lambda xp, x: xp.require(x, requirements="FO"),
    "view": lambda xp, x: x.view("int32"),
    "NumPy's": lambda xp, x: xp.array(onp.ones((2, 3, 4), order="F")),
    "zeros": lambda xp, x: xp.zeros((2, 3), order="F"),
    "full": lambda xp, x: xp.full((2, 3), 1, order="F"),
    "eye": lambda xp, x: xp.eye(2, 3, order="F"),
    "of lists": lambda xp, x: xp.array([[1, 2], [3, 4]], order="F"),
    "bytes": lambda xp, x: xp.array(list(x.tobytes("A"))),
}


def laid_out(made, source, xp):
    return (
        made.shape,
        made.dtype,
        made.strides,
        made.flags.fnc,
        xp.shares_memory(made, source),
        made.tolist(),
    )


@pytest.mark.parametrize("source", SOURCES)
def test_arrays_lie_in_the_memory_order_of_numpys(backend, source):
    values = onp.arange(24, dtype="float32").reshape(2, 3, 4)
    with npx.np_default_dtype():
        theirs, ours = (SOURCES[source](xp, values) for xp in (onp, np))
        differing = [
            name
            for name, make in MADE.items()
            if laid_out(make(np, ours), ours, np) != laid_out(make(onp, theirs), theirs, onp)
        ]
    assert differing == []


def test_fortran_order_is_kept_by_writes_and_decides_what_is_a_view(backend):
    x = np.zeros((2, 3), order="F")
    flat = x.T.reshape(-1)
    x[...] = np.arange(6).reshape(2, 3)
    x += 1
    assert x.strides == (4, 8) and flat.tolist() == [1, 4, 2, 5, 3, 6]
    flat[0] = 9
    assert (
        x[0, 0] == 9
        and not np.shares_memory(x, x.reshape(-1))
        and np.shares_memory(x, x.ravel("F"))
    )
    assert x.base is None and x.flags.owndata and np.isfortran(x)
    x.shape = (2, 3, 1)
    assert x.flags.f_contiguous and x.tolist() == [[[9], [2], [3]], [[4], [5], [6]]]


def test_filled_arrays_have_memory_of_their_own(backend):
    assert np.full(3, 1.0).strides == (4,) and np.full_like(np.ones((2, 3)), 2).strides == (12, 4)


def test_flags_have_numpys_names():
    theirs = onp.zeros(2, [("a", "i1"), ("b", "f4")])["b"]
    ours = np.array(onp.zeros(2, [("a", "i1"), ("b", "f4")]))["b"]
    for name in (
        "C",
        "F",
        "W",
        "A",
        "O",
        "X",
        "B",
        "CA",
        "FNC",
        "FORC",
        "CONTIGUOUS",
        "FORTRAN",
        "ALIGNED",
        "BEHAVED",
        "CARRAY",
    ):
        assert ours.flags[name] == theirs.flags[name], name
        assert np.ones((2, 3), order="F").flags[name] == onp.ones((2, 3), order="F").flags[name], (
            name
        )


def test_orders_that_are_none():
    with pytest.raises(ValueError, match=r"order must be one of 'C', 'F', 'A', or 'K' \(got 'Z'\)"):
        np.array([1], order="Z")
    with pytest.raises(ValueError, match="only 'C' or 'F' order is permitted"):
        np.zeros(2, order="K")
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(np.ones((2, 3)), order="F", copy=False)


def test_fortran_order_in_compiled_and_recorded_functions():
    def function(x):
        y = np.array(x, order="F")
        assert y.flags.f_contiguous
        return (y.reshape(-1, order="F") * y.ravel()).sum()

    x = np.arange(6.0).reshape(2, 3)
    x.attach_grad()
    with autograd.record():
        total = function(x)
    total.backward()
    assert (
        npx.jit(function)(x)
        == total
        == sum(a * b for a, b in zip([0, 3, 1, 4, 2, 5], range(6), strict=True))
    )
    assert x.grad.tolist() == [[0, 5, 5], [5, 5, 10]]


def resized(xp, case):
    """An array after a resize, or the error; written out, as a reference more is an error."""
    if case in (
        "another name",
        "a view of it",
        "unchecked",
        "weakly referred to",
        "nothing changes",
    ):
        a = xp.ones(4)
        other = {
            "another name": lambda: a,
            "a view of it": lambda: a[1:],
            "weakly referred to": lambda: weakref.ref(a),
        }.get(case, lambda: a)()
        shape = (2, 2) if case == "nothing changes" else (5,)
        outcome = None
        try:
            a.resize(shape, refcheck=case != "unchecked")
        except ValueError as error:
            outcome = str(error)
        return outcome, a.tolist(), other is a
    a = {"grow": xp.ones(3), "cut": xp.arange(6).reshape(2, 3).copy(), "0-d": xp.array(3)}.get(case)
    if a is None:
        a = xp.array([[1, 2], [3, 4]], order="F")
    a.resize(
        {
            "grow": (2, 3),
            "cut": 4,
            "0-d": (2,),
            "fortran": (3,),
            "fortran grows": (2, 3),
            "fortran is flat": 4,
        }[case]
    )
    return a.tolist(), a.flags.f_contiguous


@pytest.mark.parametrize(
    "case",
    [
        "grow",
        "cut",
        "0-d",
        "fortran",
        "fortran grows",
        "fortran is flat",
        "another name",
        "a view of it",
        "unchecked",
        "weakly referred to",
        "nothing changes",
    ],
)
def test_resizing_in_place_is_numpys(backend, case):
    assert resized(np, case) == resized(onp, case)


def test_a_view_is_not_resized(backend):
    a = np.ones(4)
    v = a[:]
    v.resize(2, 2)
    v[0] = 5
    assert a.tolist() == [5, 5, 1, 1] and v.base is a
    with pytest.raises(ValueError, match="cannot resize this array: it does not own its data"):
        v.resize(5)
    with pytest.raises(ValueError, match="negative dimensions not allowed"):
        a.resize(-1)


@pytest.mark.usefixtures("placed")
def test_dtype_is_set_as_a_view_reads():
    a = np.arange(2, dtype="int32")
    a.dtype = "int16"
    assert a.tolist() == [0, 0, 1, 0]
    base = np.arange(4, dtype="int32")
    view = base[1:3]
    view.dtype = "int16"
    view[0] = 9
    assert base.tolist() == [0, 9, 2, 3]


@pytest.mark.usefixtures("placed")
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


@pytest.mark.usefixtures("placed")
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


@pytest.mark.usefixtures("placed")
def test_resize_refuses_what_is_referred_to_elsewhere():
    a = np.zeros(2)
    other = a
    with pytest.raises(ValueError, match="cannot resize an array that references"):
        a.resize(3)
    del other
    a.resize(3)
    assert a.shape == (3,)


@pytest.mark.usefixtures("placed")
def test_the_size_of_an_array_counts_its_elements():
    a = np.ones(100)
    assert sys.getsizeof(a) > a.nbytes > sys.getsizeof(a[:])


@pytest.mark.usefixtures("placed")
def test_scalars_have_no_memory_to_share():
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(np.ones(2)[0], copy=False)


@pytest.mark.usefixtures("placed")
def test_what_is_read_from_bytes_stays_read_only():
    found = np.frombuffer(b"\x01\x02", "u1")
    assert found.tolist() == [1, 2]
    with pytest.raises(ValueError, match="WRITEABLE"):
        found.setflags(write=True)
    np.frombuffer(bytearray(2), "u1")[0] = 1


@pytest.mark.usefixtures("placed")
def test_an_export_to_a_device_that_does_not_exist_is_a_buffer_error():
    with pytest.raises(BufferError):
        np.arange(5).__dlpack__(dl_device=(10, 0))


@pytest.mark.usefixtures("placed")
def test_what_has_no_address_says_so(placed):
    a = np.ones(3)
    for name in ("__array_interface__", "__array_struct__"):
        assert hasattr(np.ndarray, name)
        if name == "__array_struct__" or placed == "jax" or not npx.build_info()["native"]:
            assert not hasattr(a, name)
            with pytest.raises(NotImplementedError):
                getattr(a, name)
        else:
            assert getattr(a, name)["shape"] == (3,)
        if placed == "jax":
            assert not hasattr(a.sum(), name)
    assert onp.array(a).flags.writeable and onp.asarray(a).tolist() == [1, 1, 1]
    assert [float(onp.asarray((a * i).sum())) for i in range(50)] == [3.0 * i for i in range(50)]


@pytest.mark.usefixtures("numpy_mode")
def test_dlpack_of_every_version():
    from npcompat import np

    for backend in ("numpy", "jax"):
        with npx.backend(backend):
            for version in (None, (0, 0), (1, 0), (2, 0)):
                assert np.ones(3).__dlpack__(max_version=version) is not None
