"""Memory that other libraries look into: each side sees the other's writes, or they are refused."""

import array
import ctypes
import gc
import hashlib
import io
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc

import numpy as onp
import pytest
import scipy.ndimage
from internals import BorrowedValue, TracedValueError, fast_path

from npcompat import autograd, np, npx

with_buffers = pytest.mark.skipif(
    not fast_path.has_buffers, reason="Python 3.11 has the buffer protocol in C only"
)


def is_borrowed(a):
    root = a if a._view is None else a._view.root
    return type(root._value) is BorrowedValue


# --- who writes -----------------------------------------------------------------------------------
# Each writer gets an array of zeros and writes 7 into its first element, by another library's means.


def by_index(a):
    onp.asarray(a)[(0,) * a.ndim] = 7


def by_memoryview(a):
    memory = memoryview(a)
    memory[(0,) * a.ndim] = 7.0


def by_ctypes(a):
    a.ctypes.data_as(ctypes.POINTER(ctypes.c_float))[0] = 7.0


def by_address(a):
    ctypes.c_float.from_address(a.__array_interface__["data"][0]).value = 7.0


def by_dlpack(a):
    onp.from_dlpack(a)[(0,) * a.ndim] = 7


def by_numpys_out(a):
    onp.add(onp.full(a.shape, 3.0), 4.0, out=onp.asarray(a))


def by_copyto(a):
    onp.copyto(onp.asarray(a), 7)


def by_scipy(a):
    scipy.ndimage.maximum_filter(onp.full(a.shape, 7.0), 3, output=onp.asarray(a))


def by_struct(a):
    struct.pack_into("f", memoryview(a).cast("B"), 0, 7.0)


def by_file(a):
    io.BytesIO(onp.full(a.shape, 7, "float32").tobytes()).readinto(a)


def by_sort(a):
    given = onp.asarray(a)
    given[(-1,) * a.ndim] = -7
    given *= -1
    given[(0,) * a.ndim] += 7


WRITERS = [
    by_index,
    by_memoryview,
    by_ctypes,
    by_address,
    by_dlpack,
    by_numpys_out,
    by_copyto,
    by_scipy,
    by_struct,
    by_file,
    by_sort,
]


def whole():
    a = np.zeros((2, 3))
    return a, a


def view():
    a = np.zeros((4, 3))
    return a, a[1:3]


def view_of_view():
    a = np.zeros((2, 3, 2))
    return a, a.transpose(2, 0, 1)[1].T.T[:, :]


def contiguous_view_of_view():
    a = np.zeros((4, 6))
    return a, a.reshape(2, 2, 6)[1][:1]


def shared_value():
    a = np.zeros((300, 300))
    return a, a.copy()


SOURCES = [whole, view, view_of_view, contiguous_view_of_view, shared_value]


def readable(writer, a):
    """Return True unless the writer takes contiguous memory only, which this is not."""
    return onp.asarray(a).flags.c_contiguous or writer not in (by_struct, by_file)


@with_buffers
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_others_write_is_seen(writer, source):
    with npx.backend("numpy"):
        root, a = source()
        if not readable(writer, a):
            pytest.skip("the writer takes contiguous memory only")
        writer(a)
        assert a[(0,) * a.ndim] == 7
        assert (root is a) or source is shared_value or (root == 7).any()
        assert source is not shared_value or not root.any()
        a[(0,) * a.ndim] = 8
        assert onp.asarray(a)[(0,) * a.ndim] == 8
        gc.collect()
        # Nothing says when an address is not used.
        assert is_borrowed(a) is (writer in (by_address, by_ctypes))


@with_buffers
@pytest.mark.parametrize("writer", WRITERS)
def test_what_others_write_is_seen_by_compiled_functions(writer):
    with npx.backend("numpy"):
        a = np.zeros((2, 3))
        double = npx.jit(lambda: a * 2)
        assert not double().any()
        writer(a)
        assert double()[0, 0] == 14


@with_buffers
@pytest.mark.parametrize("kind", ["recorded", "readonly", "xla"])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_not_to_be_written_is_refused_and_stays(writer, kind):
    with npx.backend("jax" if kind == "xla" else "numpy"):
        a = np.zeros((2, 3))
        if kind == "recorded":
            a.attach_grad()
            with autograd.record():
                a = a * 2
        elif kind == "readonly":
            a.flags.writeable = False
        if writer in (by_ctypes, by_address) and kind == "readonly":
            pytest.skip("as NumPy's: addresses know no flags")
        with pytest.raises((ValueError, TypeError, BufferError, RuntimeError, NotImplementedError)):
            writer(a)
        assert not a.any()


# --- both sides, and for how long -----------------------------------------------------------------


def test_each_side_sees_the_other_and_the_memory_comes_back_without_a_copy():
    with npx.backend("numpy"):
        a = np.ones((3, 4))
        address = onp.asarray(a).ctypes.data
        theirs = onp.asarray(a)
        assert type(theirs) is onp.ndarray and theirs.flags.writeable and is_borrowed(a)
        a += 1
        a[0] = 5
        a[1:, 1] *= 3
        np.add(a, 1, out=a)
        assert theirs.tolist() == a.tolist() and theirs[0, 0] == 6
        part = theirs[1:]
        del theirs
        part[...] = 0
        assert is_borrowed(a) and not a[1:].any()
        assert np.shares_memory(a, part)
        del part
        assert not is_borrowed(a) and onp.asarray(a).ctypes.data == address


WRITES = {
    "a slice": lambda x: x.__setitem__(slice(5, 9), 1.0),
    "positions": lambda x: x.__setitem__(np.arange(5), 2.0),
    "a mask": lambda x: x.__setitem__(onp.zeros(x.shape, bool), 2.0),
    "flat": lambda x: x.flat.__setitem__(3, 1.0),
    "out": lambda x: np.add(onp.ones(10), 1.0, out=x[10:20]),
    "copyto": lambda x: np.copyto(x[2:9], 1.0),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_into_borrowed_memory_copies_none_of_it(name):
    write = WRITES[name]
    with npx.backend("numpy"):
        x = np.zeros(1_000_000, dtype="float64")
        theirs = onp.asarray(x)
        write(x)
        tracemalloc.start()
        try:
            write(x)
            assert tracemalloc.get_traced_memory()[1] < 2_000_000  # the mask has a million bytes
        finally:
            tracemalloc.stop()
        assert (theirs == x.copy().asnumpy()).all()


LIVING_EXPORTS = """
import sys, numpy as onp
from npcompat import np
x, large = np.zeros(1000), np.zeros(1_000_000)
theirs = onp.asarray(x), onp.asarray(x[3:]), onp.asarray(large), onp.from_dlpack(x)
reader = onp.nditer(theirs[0])
if "memoryview" in sys.argv:
    view = memoryview(x)
"""


@pytest.mark.parametrize("native", ["1", "0"])
def test_a_program_ends_silently_while_memory_is_borrowed(native):
    asked = ["memoryview"] if native == "1" and fast_path.has_buffers else []
    ended = subprocess.run(
        [sys.executable, "-c", LIVING_EXPORTS, *asked],
        env={**os.environ, "NPCOMPAT_NATIVE": native},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_results_and_copies_do_not_change_when_the_memory_is_written():
    with npx.backend("numpy"):
        a = np.ones(5)
        theirs = onp.asarray(a)
        made = [a + 0, a.copy(), np.array(a), a[[0, 1]], a.astype("float64"), +a, np.sort(a)]
        made += [a.reshape(5, 1).copy(), a.flatten(), np.where(a > 0, a, a), np.real(a).copy()]
        theirs[...] = 9
        assert [m.max() for m in made] == [1] * len(made)


def test_what_was_saved_for_a_gradient_stays():
    with npx.backend("numpy"):
        x, c = np.arange(3.0), np.array([2.0, 3.0, 4.0])
        x.attach_grad()
        constant = onp.asarray(c)
        with autograd.record():
            y = (x * x * c).sum()
            assert not onp.asarray(x).flags.writeable
            constant[...] = 100
        onp.asarray(x)[...] = 50
        y.backward()
        assert x.grad.tolist() == [0, 6, 16] and x.tolist() == [50] * 3


def test_views_of_variables_are_read_again():
    with npx.backend("numpy"):
        x = np.arange(4.0)
        x.attach_grad()
        part, theirs = x[1:], onp.asarray(x)
        for value in (3, 4):
            theirs[...] = value
            with autograd.record():
                y = (part * part).sum()
            y.backward()
            assert x.grad.tolist() == [0, *[2 * value] * 3]


def test_recorded_writes_into_borrowed_memory_are_refused():
    with npx.backend("numpy"):
        x, a = np.ones(3), np.zeros(3)
        x.attach_grad()
        theirs = onp.asarray(a)
        with autograd.record(), pytest.raises(BufferError, match="exported: .*numpy.asarray"):
            a[:] = x * 2
        assert theirs.tolist() == a.tolist() == [0] * 3
        del theirs
        with autograd.record():
            a[:] = x * 2
        a.backward()
        assert x.grad.tolist() == [2] * 3


def test_compiled_functions_write_into_borrowed_memory_and_read_it_at_each_call():
    with npx.backend("numpy"):
        w, x = np.zeros(3), np.ones(3)
        theirs, inputs = onp.asarray(w), onp.asarray(x)

        @npx.jit
        def step(given):
            w[:] += x * given
            return w.sum()

        assert step(np.ones(3)) == 3 and theirs.tolist() == [1] * 3
        inputs[...] = 10
        theirs[0] = 100
        assert step(np.ones(3)) == 132 and theirs.tolist() == w.tolist() == [110, 11, 11]
        argument = np.ones(3)
        borrowed = onp.asarray(argument)
        npx.jit(lambda a: a.__setitem__(0, 7.0))(argument)
        assert borrowed.tolist() == argument.tolist() == [7, 1, 1]
        del theirs, inputs
        assert step(np.ones(3)) == 162


def test_borrowed_memory_does_not_move():
    with npx.backend("numpy"):
        a = np.ones(3)
        theirs = onp.asarray(a)
        with pytest.raises(BufferError, match="numpy.asarray"):
            a.resize(5, refcheck=False)
        with pytest.raises(BufferError):
            a.__setstate__(onp.ones(4).__reduce__()[2])
        del theirs
        a.resize(5, refcheck=False)
        assert a.tolist() == [1, 1, 1, 0, 0]


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u8", "f2", "f8", "c8", "O", "U3", "M8[s]", "bfloat16"]
)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3)])
def test_dtypes_and_shapes(dtype, shape):
    with npx.backend("numpy"):
        a = np.zeros(shape, np.bfloat16 if dtype == "bfloat16" else dtype)
        theirs = onp.asarray(a)
        assert (theirs.shape, theirs.dtype) == (a.shape, a.dtype)
        assert theirs.strides == a.strides or not a.size
        assert theirs.flags.writeable and (not a.size or np.shares_memory(a, theirs))
        fortran = onp.asarray(np.asfortranarray(a))
        assert fortran.flags.f_contiguous and fortran.shape == (shape or (1,))


def test_a_copy_is_a_copy():
    with npx.backend("numpy"):
        a = np.ones(3)
        for copied in (onp.array(a), onp.asarray(a, dtype="float64"), onp.asarray(a, copy=True)):
            copied[...] = 5
        assert a.tolist() == [1] * 3
        with pytest.raises(ValueError, match="avoid copy"):
            onp.asarray(a, dtype="float64", copy=False)
        onp.asarray(a, copy=False)[0] = 2
        assert a[0] == 2


def test_while_a_function_is_compiled_there_is_no_memory():
    with pytest.raises(TracedValueError, match="being compiled"):
        npx.jit(lambda a: onp.asarray(a))(np.ones(3))


@pytest.mark.parametrize("placement", ["numpy", "jax"])
def test_an_array_from_outside_is_not_handed_on_by_dlpack_while_compiling(placement):
    with npx.backend(placement):
        outside, x = np.ones(3), np.ones(3)
        with pytest.raises(TracedValueError, match="being compiled"):
            npx.jit(lambda v: v * np.array(onp.from_dlpack(outside)))(x)
        assert onp.from_dlpack(outside).tolist() == [1, 1, 1]


# --- the other way --------------------------------------------------------------------------------


@pytest.mark.parametrize("placement", ["numpy", "jax"])
@pytest.mark.parametrize("make", [np.asarray, np.frombuffer, lambda b: np.ndarray(4, "f8", b)])
@pytest.mark.parametrize("kind", ["array", "memoryview", "bytearray", "readonly", "bytes"])
def test_memory_of_others_is_shared(kind, make, placement):
    with npx.backend(placement):
        numbers = array.array("d", [1, 2, 3, 4])
        owner = bytearray(numbers.tobytes()) if kind in ("bytearray", "readonly") else numbers
        given = {
            "array": owner,
            "memoryview": memoryview(owner),
            "bytearray": owner,
            "readonly": memoryview(owner).toreadonly(),
            "bytes": numbers.tobytes(),
        }[kind]
        if make is np.asarray and kind in ("bytearray", "readonly", "bytes"):
            given = memoryview(given).cast("B").cast("d")
        a = make(given)
        assert a.dtype == "float64" and a.tolist() == [1, 2, 3, 4]
        if kind in ("readonly", "bytes"):
            assert not a.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                a[0] = 5
        else:
            a[0] = 5
            assert struct.unpack_from("d", owner)[0] == 5
        if kind != "bytes":
            struct.pack_into("d", owner, 8, 6.0)
            assert a[1] == 6 and (a + 1)[1] == 7


@pytest.mark.parametrize("placement", ["numpy", "jax"])
@pytest.mark.parametrize("name", ["__array_interface__", "__array_struct__"])
@pytest.mark.parametrize("place", ["class", "object"])
def test_memory_of_objects_that_give_its_address_is_shared(name, place, placement):
    owner, fixed = onp.arange(3.0), onp.arange(3.0)
    fixed.flags.writeable = False
    objects = []
    for memory in (owner, fixed):
        given = {name: getattr(memory, name)}
        kind = type("Given", (), given if place == "class" else {})
        objects.append(kind())
        vars(objects[-1]).update(given if place == "object" else {})
    with npx.backend(placement):
        a, copied = np.asarray(objects[0]), np.array(objects[0])
        a[0], copied[1] = 5, 6
        owner[2] = 7
        assert (
            owner.tolist() == a.tolist() == np.array(objects[0], copy=False).tolist() == [5, 1, 7]
        )
        assert np.asarray(objects[0], "float32").dtype == "float32"
        assert not np.asarray(objects[1]).flags.writeable


def test_copies_of_memory_of_others_are_copies():
    with npx.backend("numpy"):
        owner = array.array("d", [1, 2])
        a, b = np.array(owner), np.asarray(owner, dtype="float32")
        owner[0] = 9
        assert a[0] == b[0] == 1


@pytest.mark.parametrize("placement", ["numpy", "jax"])
def test_memory_of_others_that_may_not_be_copied_is_shared(placement):
    owner = array.array("d", [1, 2])
    with npx.backend(placement):
        shared = np.array(memoryview(owner), copy=False)
        shared += 1
        assert owner.tolist() == [2, 3]
        with pytest.raises(ValueError, match="Unable to avoid copy"):
            np.array(owner, dtype="float32", copy=False)


def test_memory_of_others_is_read_only_in_compiled_functions():
    owner = bytearray(8)

    def written(x):
        found = np.frombuffer(owner, "uint8")
        found[0] = 7
        return x + found

    def copied(x):
        return x + np.array(memoryview(owner), copy=False)

    assert npx.jit(lambda x: x + np.frombuffer(owner, "uint8"))(np.ones(8)).tolist() == [1] * 8
    with pytest.raises(ValueError, match="read-only"):
        npx.jit(written)(np.ones(8))
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        npx.jit(copied)(np.ones(8))


def test_arrays_from_dlpack_on_xla_are_read_only_unless_copied():
    theirs = onp.ones(3)
    with npx.backend("jax"):
        ours = np.from_dlpack(theirs)
        with pytest.raises(ValueError, match="read-only"):
            ours[0] = 5
        copied = np.from_dlpack(theirs, copy=True)
        copied[0] = 5
        assert copied.tolist() == [5, 1, 1] and (ours + 1).tolist() == [2, 2, 2]


def test_arrays_from_dlpack_share_memory():
    with npx.backend("numpy"):
        theirs = onp.ones(3)
        ours = np.from_dlpack(theirs)
        ours[0] = 5
        theirs[1] = 6
        assert theirs.tolist() == ours.tolist() == [5, 6, 1]
        copied = np.from_dlpack(theirs, copy=True)
        theirs[2] = 7
        assert copied.tolist() == [5, 6, 1]


# --- bytes ----------------------------------------------------------------------------------------


@with_buffers
def test_what_takes_bytes_takes_arrays(tmp_path):
    values = onp.arange(6, dtype="float32").reshape(2, 3)
    with npx.backend("numpy"):
        a = np.array(values)
        assert bytes(a) == values.tobytes() and bytearray(a) == values.tobytes()
        assert hashlib.sha256(a).digest() == hashlib.sha256(values).digest()
        (tmp_path / "a").write_bytes(a)
        assert (tmp_path / "a").read_bytes() == values.tobytes()
        assert struct.unpack("6f", a) == tuple(range(6))
        assert b"".join([a, a]) == values.tobytes() * 2
        assert memoryview(a).format == "f" and memoryview(a).shape == (2, 3)
        assert memoryview(a.T).tolist() == values.T.tolist()


@pytest.mark.parametrize("order", "CF")
def test_pickles_out_of_band(order):
    with npx.backend("numpy"):
        a, buffers = np.array(onp.arange(6.0).reshape(2, 3), order=order), []
        data = pickle.dumps(a, protocol=5, buffer_callback=buffers.append)
        assert len(buffers) == 1 and memoryview(buffers[0]).nbytes == 48
        loaded = pickle.loads(data, buffers=buffers)
        del buffers
        assert loaded.tolist() == a.tolist() and loaded.strides == a.strides
        loaded[0, 0] = 5
        assert a[0, 0] == 0
        inside = pickle.loads(pickle.dumps(a, protocol=5))
        assert inside.tolist() == a.tolist() and inside.flags.writeable


@pytest.mark.parametrize(
    "borrow", [onp.asarray, memoryview, onp.from_dlpack], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("of", ["whole", "view"])
def test_an_alias_outlives_that_its_array_becomes_a_variable(borrow, of):
    with npx.backend("numpy"):
        x = np.array([1.0, 2.0, 3.0])
        part = x if of == "whole" else x[1:]
        alias = borrow(part)
        x.attach_grad()
        alias[0] = 9
        assert part[0] == 9 and x[0 if of == "whole" else 1] == 9
        with autograd.record():
            y = (x * x).sum()
        y.backward()
        assert x.grad.tolist() == [2 * v for v in x.tolist()]
        autograd.mark_variables([x], [np.zeros(3)])
        alias[-1] = 5
        assert x[2] == 5
        x.drop_grad()
        alias[-1] = 6
        assert x[2] == 6 and x.grad is None
        x.attach_grad()
        with autograd.record(), pytest.raises(BufferError, match="memory is exported"):
            x[0] = 1


def test_arrays_over_the_same_foreign_memory_share_it():
    memory = bytearray(64)
    a, b = np.frombuffer(memory, dtype="f8"), np.ndarray((8,), dtype="f8", buffer=memory)
    for m in (np, onp):
        assert m.shares_memory(a, b) and m.may_share_memory(a[1:], b) and m.shares_memory(b[::2], a)
        assert not m.shares_memory(a[:2], b[2:])
    other = np.frombuffer(bytearray(64), dtype="f8")
    assert not np.shares_memory(a, other) and not np.shares_memory(a, np.zeros(8))
    a[2] = 5
    assert b[2] == 5


def test_a_lent_array_keeps_its_dtype():
    a = np.arange(4.0)
    alias = onp.asarray(a)
    with pytest.raises(BufferError, match="cannot set the dtype of this array"):
        a.dtype = "int32"
    a.dtype = a.dtype
    assert a.tolist() == alias.tolist() == [0, 1, 2, 3]
    del alias
    a.dtype = "int32"
    assert a.tolist() == onp.arange(4, dtype="float32").view("int32").tolist()


def test_several_aliases_share_the_memory_until_the_last_goes():
    a = np.zeros(4)
    aliases = [onp.asarray(a), memoryview(a), onp.asarray(a)[1:], onp.asarray(a)]
    for i, alias in enumerate(aliases):
        alias[i % 3] = i + 1.0
    assert a.tolist() == onp.asarray(a).tolist() == [4, 2, 0, 3]
    del aliases[1:], alias
    aliases[0][2] = 7
    assert a[2] == 7
    with pytest.raises(BufferError):
        a.resize(5)
    aliases.clear()
    saved = a.copy()
    a += 1
    a.resize(5)
    assert a.tolist() == [5, 3, 8, 4, 0] and saved.tolist() == [4, 2, 7, 3]
