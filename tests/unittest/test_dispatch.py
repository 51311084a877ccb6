"""Ownership of buffers, and life of graphs: what the core promises besides values."""

import gc
import math
import re
import threading
import tracemalloc
import weakref

import jax
import numpy as onp
import pytest
from internals import handles, xla

from npcompat import autograd, np, npx
from npcompat.test_utils import assert_almost_equal

PLACEMENT = "jax"


def pointer(a):
    return handles.read(a).payload.unsafe_buffer_pointer()


# --- a buffer that somebody else holds is never overwritten ---------------------------------------

WRITES = {
    "element": lambda a: a.__setitem__(0, 99),
    "slice": lambda a: a.__setitem__(slice(1, 3), 99),
    "everything": lambda a: a.__setitem__(..., 99),
    "array index": lambda a: a.__setitem__([0, 2], 99),
    "mask": lambda a: a.__setitem__(a > 1, 99),
    "in-place operator": lambda a: a.__iadd__(99),
    "operator on a view": lambda a: a[1:].__imul__(99),
    "out": lambda a: np.add(a, 99, out=a),
    "sort": lambda a: (a.__setitem__(0, 99), a.sort()),
    "fill": lambda a: a.fill(99),
    "through a view of a view": lambda a: a[::-1][1:].__setitem__(0, 99),
    "compiled": lambda a: npx.jit(lambda x: x.__setitem__(0, 99))(a),
}


@pytest.fixture(params=WRITES.values(), ids=WRITES)
def write(request):
    """Ways to write an array of four elements."""
    return request.param


def test_what_was_exported_to_numpy_is_not_overwritten(backend, write):
    a = np.arange(4.0)
    copies = [a.asnumpy(), onp.array(a)]
    shared = [onp.asarray(a), onp.array(a, copy=False), a.__array__(copy=False)]
    expected = onp.arange(4.0)
    for _ in range(3):
        write(a)
    on_the_host = backend != "jax"  # where each side sees what the other writes
    for e in copies:
        onp.testing.assert_array_equal(e, expected)
    for e in shared:
        onp.testing.assert_array_equal(e, a.asnumpy() if on_the_host else expected)
    assert not onp.array_equal(a.asnumpy(), expected)


def test_what_another_array_shares_is_not_overwritten(backend, write):
    a = np.arange(4.0)
    sharing = [a.copy(), np.array(a), a.detach(), np.copy(a), a.astype("float32", copy=True), a + 0]
    for _ in range(3):
        write(a)
    for s in sharing:
        assert s.tolist() == [0, 1, 2, 3]
    before = a.tolist()
    sharing[0][0] = -5
    sharing[2] += 1
    assert a.tolist() == before


def test_what_the_tape_needs_is_not_overwritten(backend, write):
    x = np.arange(4.0)
    x.attach_grad()
    with autograd.record():
        y = x * 1
        z = (y * y).sum()
    with autograd.pause():
        write(y)
        write(x)
    z.backward()
    assert x.grad.tolist() == [0, 2, 4, 6]


def test_the_callers_numpy_array_is_copied_in(backend):
    source = onp.arange(4.0)
    a, b = np.array(source), np.asarray(source)
    source[:] = -1
    assert a.tolist() == b.tolist() == [0, 1, 2, 3]
    a += 1
    assert source.tolist() == [-1] * 4


def test_exports_are_shared_read_only_or_copies(backend):
    a = np.arange(4.0)
    assert a.__array__(copy=False).flags.writeable is (backend != "jax")
    mine = a.asnumpy()
    mine[0] = 7
    assert a.tolist() == [0, 1, 2, 3]


# --- writing in place -----------------------------------------------------------------------------


LARGE = 200_000
OPERATORS = {
    "number": lambda a, b: a.__imul__(3),
    "array": lambda a, b: a.__isub__(b),
    "scalar": lambda a, b: a.__iadd__(b[5]),
    "power": lambda a, b: a.__ipow__(3),
    "itself": lambda a, b: a.__iadd__(a),
}


@pytest.mark.parametrize("change", OPERATORS.values(), ids=OPERATORS)
def test_a_large_array_is_overwritten_by_operators_in_place(change):
    theirs, others = onp.arange(LARGE) / LARGE, onp.ones(LARGE) / 3
    a, b = np.array(theirs, dtype="float64") * 1, np.array(others, dtype="float64")
    view, at = a[3:5], pointer(a)
    change(theirs, others)
    change(a, b)
    assert_almost_equal(a, theirs)
    assert_almost_equal(view, theirs[3:5])
    assert pointer(a) == at or change is OPERATORS["itself"]
    held, exported, expected = a.copy(), a.asnumpy(), theirs.copy()
    change(theirs, others)
    change(a, b)
    assert_almost_equal(a, theirs)
    assert_almost_equal(held, expected)
    assert_almost_equal(exported, expected)


def test_a_large_array_keeps_its_values_where_an_operator_in_place_is_refused():
    a = np.arange(LARGE, dtype="int64")
    for refused, error in (
        (lambda: a.__iadd__(1.5), TypeError),
        (lambda: a.__itruediv__(2), TypeError),
        (lambda: a.__iadd__(2**70), OverflowError),
        (lambda: a.__iadd__(np.ones((2, LARGE), dtype="int64")), ValueError),
        (lambda: a.__iadd__(np.ones(3, dtype="int64")), ValueError),
    ):
        with pytest.raises(error):
            refused()
    onp.testing.assert_array_equal(a.asnumpy(), onp.arange(LARGE))
    f = np.ones(LARGE, dtype="float32")
    f += np.full(LARGE, 0.5, dtype="float64")  # which NumPy casts back
    f += np.ones(1, dtype="float32")
    assert f.dtype == onp.float32 and (f == 2.5).all()


def test_the_tape_keeps_a_large_array_that_an_operator_overwrites():
    x = np.ones(LARGE)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        z = y * y
        y *= 3
        total = z.sum() + y.sum()
    with autograd.pause():
        y *= 0
        z += 1
    total.backward()
    assert (x.grad == 8 + 6).all()


def test_writing_an_element_of_an_owned_array_keeps_its_buffer():
    a = np.zeros(100_000)
    a[0] = 1
    at = pointer(a)
    for i in range(20):
        a[i] = i
        a[i : i + 3] = i
        a[-1 - i] += 1
        a[10:][::2][i] = 5
    assert pointer(a) == at


def test_writing_an_array_that_a_copy_shares_moves_it_once():
    a = np.zeros(1000)
    a[0] = 1
    b = a.copy()
    a[0] = 2
    moved = pointer(a)
    a[1] = 3
    assert pointer(a) == moved and pointer(b) != moved and float(b[0]) == 1


def test_one_element_is_written_into_a_large_array_without_a_copy():
    a = np.zeros(10_000_000)
    a[0] = 1
    at = pointer(a)
    with npx.audit("copy") as events:
        for i in range(20):
            a[i] = 2.0
    assert events == [] and pointer(a) == at


def test_the_copy_that_a_write_needs_is_made_once():
    a = np.zeros(10_000_000)
    a[0] = 1
    shared = a.copy()
    with npx.audit("copy") as events:
        for i in range(20):
            a[i] = 2.0
    assert [e.bytes for e in events] == [a.nbytes]
    assert float(shared[1]) == 0 and float(a[19]) == 2


# --- life of graphs -------------------------------------------------------------------------------


@pytest.fixture
def no_collector():
    """The garbage collector is off: what is freed is freed by reference counts.

    JAX leaves cycles when a process first looks for devices.
    """
    jax.devices()
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def build(x):
    with autograd.record():
        y = np.exp(x) * x
        v = y[1:]
        v *= 2
        y[0] = x[1]
        w = np.concatenate([y, v]).reshape(-1, 1).T
        z = (w[w > 0] ** 2).sum()
    return [y, v, w, z]


def in_cycles(function):
    """Count the objects in cycles that a second call leaves; JAX leaves some when it compiles."""
    function()
    gc.collect()
    function()
    return gc.collect()


@pytest.mark.usefixtures("backend", "no_collector")
def test_graphs_go_with_their_last_array():
    def record():
        x = np.array([1.0, 2.0, 3.0])
        x.attach_grad()
        made = build(x)
        payload = weakref.ref(made[0]._value.payload)
        handles = [weakref.ref(h) for h in made]
        del made
        assert all(r() is None for r in handles) and payload() is None
        made = build(x)
        handles = [weakref.ref(h) for h in made]
        made[-1].backward()
        del made
        assert all(r() is None for r in handles)

    assert in_cycles(record) == 0


@pytest.mark.usefixtures("backend", "no_collector")
def test_views_and_arrays_are_no_cycles():
    def view():
        a = np.zeros(4)
        v = a[1:][::-1]
        v[...] += 1
        v.flags.writeable
        v.strides
        v.flat[0] = 3
        refs = [weakref.ref(a), weakref.ref(v)]
        del a, v
        assert all(r() is None for r in refs)

    assert in_cycles(view) == 0


# --- other code in the process --------------------------------------------------------------------


def test_other_jax_code_does_not_notice_us():
    import jax
    import jax.numpy as jnp

    a = np.arange(3) + np.array([1.0], dtype="float64")
    npx.jit(lambda x: (x.__iadd__(1), np.ones(2, dtype="float64")))(a)
    assert not jax.config.jax_enable_x64
    assert (
        jnp.arange(3).dtype == "int32"
        and jnp.ones(2).dtype == "float32"
        and jax.jit(lambda x: x * 2.5)(jnp.ones(1)).dtype == "float32"
    )
    assert npx.jit(lambda x: x * 1)(np.arange(3)).dtype == "int64"


def test_threads_compute_and_keep_their_modes():
    errors, results = [], []

    def work(n):
        try:
            with npx.np_default_dtype(n % 2 == 0), autograd.record():
                x = np.ones(3)
                x.attach_grad()
                y = (x * n).sum()
            y.backward()
            results.append((n, x.grad.tolist(), x.dtype.name))
        except Exception as error:  # whatever it is, the test reports it
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == [] and sorted(results) == [
        (n, [n] * 3, "float64" if n % 2 == 0 else "float32") for n in range(8)
    ]


def test_threads_write_parts_of_one_array():
    base, errors = np.zeros((6, 20000)), []

    def fill(n, row):
        try:
            with npx.backend("jax"):
                for k in range(15):
                    row[...] = np.full(20000, n + k)
        except Exception as error:  # whatever it is, the test reports it
            errors.append(error)

    threads = [threading.Thread(target=fill, args=(n, row)) for n, row in enumerate(base)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == [] and (base.asnumpy() == onp.arange(6)[:, None] + 14).all()


def test_the_process_default_reaches_threads_that_have_none():
    seen = []
    npx.set_np(dtype=True)
    thread = threading.Thread(target=lambda: seen.append(np.ones(1).dtype.name))
    thread.start()
    thread.join()
    npx.reset_np()
    assert seen == ["float64"]


@pytest.mark.parametrize("elements", [(0,), (), (3,), (5, 7), (400, 500)])
@pytest.mark.parametrize(
    "dtype",
    [
        "float32",
        "float64",
        "int8",
        "uint64",
        "bool",
        "complex64",
        "complex128",
        "float16",
        "bfloat16",
        "float8_e4m3fn",
    ],
)
def test_what_goes_to_xla_is_a_copy_in_its_own_dtype(elements, dtype):
    made = (onp.arange(math.prod(elements)) % 3).astype(dtype).reshape(elements)
    if dtype == "bool" and made.size:
        made.view("uint8").ravel()[0] = 2  # what any byte but 0 is to NumPy
    for array in (
        made,
        made.T,
        made[::-1] if made.ndim else made,
        made[..., ::2] if made.ndim else made,
    ):
        expected = array.copy()
        first, second = xla.asarray(array), xla.asarray(array)
        assert (
            first.dtype == array.dtype
            and first.shape == array.shape
            and not first.weak_type
            and not first.committed
        )
        assert first.aval is second.aval  # by which calls alike are recognised
        array[...] = 1 - array if dtype != "bool" else ~array
        assert (onp.asarray(first) == expected).all() and (onp.asarray(second) == expected).all()


@pytest.mark.parametrize(
    "number",
    [
        0,
        1,
        -1,
        True,
        False,
        2**63 - 1,
        -(2**63),
        2**64 - 1,
        2**64,
        0.0,
        -0.0,
        1e300,
        float("inf"),
        0j,
        1j,
        complex(-0.0, 1),
    ],
)
def test_python_numbers_on_xla_are_weak_and_exact(number):
    sent = xla.scalar(number)
    with jax.enable_x64(True):
        known = jax.jit(lambda x: x)(
            number
            if number not in (2**64 - 1, 2**64)
            else (onp.uint64(number) if number < 2**64 else float(number))
        )
    assert sent.aval == known.aval and sent.weak_type == known.weak_type and not sent.committed
    assert onp.asarray(sent).tobytes() == onp.asarray(known).tobytes()


def test_arrays_are_committed_to_a_device_only_where_they_would_not_be_anyway():
    """A program of which some operands are committed gives committed results; called with these, it
    is compiled again.
    """
    with npx.backend("jax"), npx.device("cpu"):
        made = [
            np.array(onp.ones(3)),
            np.zeros(3),
            np.random.uniform(size=3),
            np.ones(3).as_in_ctx(npx.cpu()),
        ]
        assert [handles.read(a).payload.committed for a in made] == [False] * 4
    with npx.device("cpu"):
        double = npx.jit(lambda x: x * 2)
        assert not handles.read(double(np.array([1.0]))).payload.committed


@pytest.mark.parametrize("placement", ["numpy", "jax"])
@pytest.mark.parametrize(
    "make",
    [
        lambda xp, v: xp.full(2, v),
        lambda xp, v: xp.nan_to_num(onp.array([onp.nan, 1.0]), nan=v),
        lambda xp, v: xp.nan_to_num(onp.array([-onp.inf, onp.inf]), posinf=v, neginf=v),
        lambda xp, v: xp.interp(onp.array([-5.0, 5.0]), [0.0, 1.0], [1.0, 2.0], left=v, right=v),
        lambda xp, v: xp.pad(onp.ones(2), 1, constant_values=v),
    ],
)
def test_settings_of_both_zeros_are_two(make, placement):
    with npx.backend(placement):
        for zero in (0.0, -0.0, 0.0, -0.0):
            found, expected = make(np, zero).asnumpy(), make(onp, zero)
            assert (onp.signbit(found) == onp.signbit(expected)).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda xp: xp.zeros((2, 3)),
        lambda xp: xp.full((2,), -0.0, "float32"),
        lambda xp: xp.full(3, onp.nan),
        lambda xp: xp.arange(0, 1, 0.1),
        lambda xp: xp.linspace(0, 1, 7),
        lambda xp: xp.eye(3, k=1, dtype="int8"),
        lambda xp: xp.ones((0, 3)),
        lambda xp: xp.logspace(0, 1, 5),
    ],
)
def test_what_is_made_again_and_again_stays_the_same(make):
    with npx.backend("jax"), npx.np_default_dtype():
        made = [make(np) for _ in range(40)]
        made[-1][...] = 7
        assert len({a.asnumpy().tobytes() for a in made[:-1]}) == 1 and {a.dtype for a in made} == {
            make(onp).dtype
        }
        assert_almost_equal(made[0], make(onp))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(0, "float32"), (1, "bool"), (-0.0, "float64"), (2.5 - 1j, "complex64"), (7, "int8")],
)
def test_a_large_array_of_one_value_is_made_where_it_goes(value, dtype):
    with npx.backend("jax"):
        np.full(1 << 22, value, dtype)
        tracemalloc.start()
        a = np.full((1 << 11, 1 << 11), value, dtype)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert held < a.nbytes / 8, "none is the host's"
        assert (
            a.dtype == dtype and a.asnumpy().tobytes() == onp.full(1 << 22, value, dtype).tobytes()
        )


@pytest.mark.parametrize("shape", [10**13, 2**62, (2**40, 2**40), (-3, -(2**24))], ids=str)
@pytest.mark.parametrize("make", ["zeros", "ones", "full"])
def test_what_is_too_large_is_refused_as_by_numpy(make, shape):
    value = [2.5] if make == "full" else []
    with pytest.raises((MemoryError, ValueError)) as theirs:
        getattr(onp, make)(shape, *value, dtype="float32")
    with npx.backend("jax"), pytest.raises(theirs.type, match=re.escape(str(theirs.value))):
        getattr(np, make)(shape, *value, dtype="float32")


def test_signs_of_zeros_that_are_scalars():
    with npx.backend("jax"):
        x = np.array([1.0, -1.0])
        for zero in (0.0, -0.0, 0.0):
            assert (
                onp.signbit((x * zero).asnumpy()).tolist()
                == onp.signbit(onp.array([1.0, -1.0]) * zero).tolist()
            )
            assert onp.signbit(np.copysign(x, zero).asnumpy()).tolist() == [onp.signbit(zero)] * 2


def test_operating_in_place_on_xla_checks_as_ever():
    with npx.backend("jax"):
        a, other = np.ones(3), np.array([1, 2, 3])
        alias, before = a, a.copy()
        a += 1
        assert a is alias and a.tolist() == [2, 2, 2] and before.tolist() == [1, 1, 1]
        with pytest.raises(TypeError, match="Cannot cast ufunc 'multiply' output"):
            other *= 1.5
        with pytest.raises(ValueError, match="non-broadcastable output operand"):
            a += np.ones((2, 3))
        a.setflags(write=False)
        with pytest.raises(ValueError, match="read-only"):
            a += 1
        assert a.tolist() == [2, 2, 2] and other.tolist() == [1, 2, 3]
        narrow = np.ones(2, dtype="float32")
        narrow += np.ones(2, dtype="float64")
        assert narrow.dtype == "float32" and narrow.tolist() == [2, 2]
