"""`a[key]` and `a[key] = new` for every kind of key, on NumPy, eager and compiled; positions are
operands.
"""

import hypothesis
import numpy as onp
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from internals import host_indexing, jax_array_functions
from oracle import MODES, agrees, execute

from npcompat import np, npx, sym

PLACEMENT = "jax"


@pytest.fixture(autouse=True, params=["small", "large"])
def size(request, monkeypatch):
    """Small arrays on XLA's CPU are read and written through advanced keys by NumPy, large ones and
    those elsewhere by programs.
    """
    if request.param == "large":
        monkeypatch.setattr(host_indexing, "_SMALL", -1)


CUBE = onp.arange(60.0).reshape(3, 4, 5)

BASIC = [
    0, -1, 2, (1, 2), (1, 2, 3), (-1, -1, -1), (), ..., (..., 1), (1, ...), (1, ..., 2), None, (None, 1, None), (..., None),
    slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), slice(2, 0, -1), slice(10, 20),
    slice(-100, 100), slice(1, 1), (slice(None), slice(1, 3)), (slice(None), slice(None), slice(None, None, -2)),
    (slice(1, None), 0, slice(None, None, 3)), (0, slice(3, None, -2), None, 1), (slice(None), None, slice(2)), onp.int64(1),
    (onp.uint8(2), onp.int32(-1)), (1, slice(0, 0), 2), slice(None, None, 2**70), (slice(0, 0, -(2**70)), slice(None, None, -(2**64))),
]  # fmt: skip

ADVANCED = [
    [0, 2], [-1, 0, 0], [[0, 1], [2, 2]], onp.array([2, 0], "int32"), onp.array(1), [], ([0, 1], [1, 2]), ([0, 1], [1, 2], [3, 4]),
    ([[0], [1]], [2, 3]), (slice(None), [0, 2]), (slice(None), [0, 2], slice(1, 3)), ([0, 1], slice(None), [1, 2]), ([0, 2], 1),
    (1, [0, 2]), (0, slice(None), [1, 1]), (..., [0, 1]), ([0, 1], ...), (None, [0, 1]), ([0, 1], None), ([0, 1], None, [1, 2]),
    (slice(None, None, -1), [0, 3], slice(None, None, 2)), (slice(1, 3), [[0, 1], [2, 3]], 2), ([0, 1], slice(None), 2),
    (slice(None, None, -(2**70)), [0, -1]), ([True, False, True],), onp.array([True, False, True]), CUBE > 30, CUBE[:, :, 0] % 2 == 0, (slice(None), [True, False, True, True]),
    (onp.array([True, False, True]), [1, 2]), ([1, 2], slice(None), CUBE[0, 0] > 2), (0, CUBE[0, :, 0] > 5), onp.zeros(3, bool),
    True, False, (True, 0), (None, onp.array(True)), onp.zeros((3, 4, 5), bool), (..., CUBE[0, 0] > 1), onp.array([], "int64"),
    (onp.array([[0], [2]]), slice(None), onp.array([1, 4])), ([0], [[1, 2]], [[3], [4]]),
]  # fmt: skip


def has_mask(key):
    items = key if isinstance(key, tuple) else (key,)
    return any(
        onp.asarray(i).dtype == bool
        for i in items
        if i is not None and i is not Ellipsis and not isinstance(i, slice)
    )


@pytest.mark.parametrize("key", BASIC, ids=repr)
def test_basic_keys_read_and_write_a_view(key):
    def program(xp, a):
        got = a[key] + 0
        a[key] = a[key] * 2 + 1
        a[key] += 3
        a[key] = 7
        return got

    agrees(program, CUBE)


@pytest.mark.parametrize("key", ADVANCED, ids=lambda k: repr(k).replace("\n", ""))
def test_advanced_keys_read_copies_and_write_in_place(key):
    def program(xp, a):
        got = a[key]
        got[...] = got + 0.5  # a copy: the array keeps its values
        b, c = a.copy(), a.copy()
        a[key] = -got
        b[key] = 1
        c[key] += 10
        return got, b, c

    agrees(program, CUBE, modes=("jax", "numpy") if has_mask(key) else MODES)


@pytest.mark.parametrize(
    "key", [k for k in ADVANCED if has_mask(k)], ids=lambda k: repr(k).replace("\n", "")
)
def test_known_masks_work_in_compiled_functions(key):
    def program(xp, a):
        a[key] = 1
        a[key] += 2
        return a[key]

    agrees(program, CUBE)


@pytest.mark.parametrize(
    "key",
    [[0, 2], ([0, 1], [1, 2]), (slice(None), [0, 2], slice(1, 3)), CUBE > 30, (1, [0, 2])],
    ids=repr,
)
def test_keys_made_of_arrays_of_the_library(key):
    def program(xp, a):
        own = tuple(
            xp.array(k) if isinstance(k, list | onp.ndarray) else k
            for k in (key if isinstance(key, tuple) else (key,))
        )
        a[own] += 1
        a[own] = a[own] * 2
        return a[own]

    agrees(program, CUBE, modes=("jax", "numpy"))


def test_an_advanced_key_of_a_view_writes_the_base():
    def program(xp, a, i):
        v = a[1:, ::2].T
        v[i] += 100
        v[:, i[:1]] = -1
        v[v > 50] = 0
        return v[i], v.base is a

    agrees(program, CUBE[0], onp.array([0, 2]))


def test_of_equal_positions_the_last_written_wins():
    def program(xp, a):
        a[[0, 1, 0, 2, 2]] = xp.arange(5.0)
        a[[1, 1]] += 1
        return a

    agrees(program, onp.zeros(4, "float32"))


def test_of_equal_positions_a_gpu_is_given_the_last(monkeypatch):
    """GPUs scatter in any order, so all but the last of equal positions are dropped there.

    The CPU, which scatters in order, stands for one: backwards, the first would win.
    """
    kernels = jax_array_functions
    monkeypatch.setattr(kernels.jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(
        kernels.lax, "platform_dependent", lambda *arrays, default, **_: default(*arrays)
    )
    random = onp.random.default_rng(0)
    for shape, axes in (((5,), 1), ((3, 4), 2), ((4, 3, 2), 1)):
        places = tuple([random.integers(0, n, (2, 6)) for n in shape[:axes]])
        new = random.normal(size=(2, 6, *shape[axes:]))
        with kernels.jax.enable_x64(True):
            index = kernels._last_of_equal_positions(shape, places)
        expected, found = onp.zeros(shape), onp.zeros(shape)
        expected[places] = new
        kept = onp.asarray(index[0]).ravel() < shape[0]
        order = onp.flatnonzero(kept)[::-1]
        flat = [onp.asarray(p).ravel()[order] for p in index]
        found[tuple(flat)] = new.reshape(-1, *shape[axes:])[order]
        onp.testing.assert_array_equal(found, expected)
        assert len({*zip(*flat, strict=True)}) == len(order) < kept.size


def test_values_are_broadcast_and_cast_to_the_part():
    def program(xp, a, i):
        a[1] = xp.arange(5)
        a[:, 2:3] = xp.ones((3, 1, 1))
        i[:2] = 2.9
        i[2:] = xp.array([3.7, -4.2])
        i[i == 2] = 5.5
        i[[0]] = True
        return a, i

    agrees(program, CUBE[:, :3], onp.zeros(4, "int32"))


def test_lists_numbers_and_numpy_arrays_can_be_written(backend):
    a = np.zeros((2, 3))
    a[0] = [1, 2, 3]
    a[1] = onp.array([4, 5, 6])
    a[:, 0] = onp.float64(9)
    a[0, 1] = np.array(7)
    assert a.tolist() == [[9, 7, 3], [9, 5, 6]] and a.dtype == "float32"


def test_a_traced_integer_indexes_and_writes():
    def program(xp, a, i, j):
        a[i] += 1
        a[j, i] = 50
        return a[i], a[:, i], a[i, 2], a[-1 - i]

    agrees(program, CUBE[0], onp.array(1), onp.array(-1))


def test_numbers_read_by_index_are_copies():
    def program(xp, a):
        x, y = a[0], a[-1]
        a[...] = 0
        return x + 0, y + 0

    agrees(program, onp.arange(3) + 1)


ERRORS = {
    "position above": (3,),
    "position below": (-4,),
    "position of a later axis": (0, 4),
    "too many": (0, 0, 0, 0),
    "too many with ellipsis": (..., 0, 0, 0, 0),
    "two ellipses": (..., ...),
    "float": 1.0,
    "float in a tuple": (0, 1.5),
    "float array": onp.array([0.5]),
    "string": "x",
    "array position above": [0, 3],
    "array position below": [-4],
    "array position of a later axis": (slice(None), [4]),
    "index arrays that do not fit": ([0, 1], [0, 1, 2]),
    "mask of another length": [True, False],
    "mask of another shape": onp.ones((3, 5), bool),
    "mask of too many axes": onp.ones((3, 4, 5, 1), bool),
    "too many arrays": ([0], [0], [0], [0]),
    "step of zero": slice(None, None, 0),
    "float in a slice": slice(0.5, 2),
}


@pytest.mark.parametrize("key", ERRORS.values(), ids=ERRORS)
def test_bad_keys_raise_what_numpy_raises_and_write_nothing(key):
    def read(xp, a):
        return a[key]

    def write(xp, a):
        a[key] = 1

    agrees(read, CUBE)
    agrees(write, CUBE)


@pytest.mark.parametrize("key", ["a", b"a", (0, "a"), object(), {1}])
def test_keys_that_are_no_indices_are_named(key):
    a = np.ones((2, 2))
    for use in (lambda: a[key], lambda: a.__setitem__(key, 0)):
        with pytest.raises(IndexError, match=r"^only integers, slices .* valid indices, got "):
            use()
    with pytest.raises(IndexError, match=r"type, got <U1$"):
        a[["a"]]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (0, onp.ones(3)),
        (slice(0, 2), onp.ones((3, 4, 5))),
        ([0, 1], onp.ones((3, 4, 5))),
        (CUBE > 30, onp.ones(3)),
        ((0, 0, 0), onp.ones(2)),
    ],
    ids=["row", "slice", "array", "mask", "element"],
)
def test_values_that_do_not_fit_are_refused_and_nothing_is_written(key, value):
    def program(xp, a):
        a[key] = xp.array(value)

    agrees(program, CUBE)


def test_messages_say_index_axis_and_size(backend):
    a = np.zeros((3, 4))
    for key, message in [
        (3, "index 3 is out of bounds for axis 0 with size 3"),
        ((0, -5), "index -5 is out of bounds for axis 1 with size 4"),
        ((0, 0, 0), "too many indices for array: array is 2-dimensional, but 3 were indexed"),
        ([0, 7], "index 7 is out of bounds for axis 0 with size 3"),
        (np.ones(4) > 0, "boolean index did not match indexed array along axis 0; size of axis is 3 but size of corresponding boolean axis is 4"),
    ]:  # fmt: skip
        with pytest.raises(IndexError) as error:
            a[key]
        assert str(error.value) == message
        with pytest.raises(IndexError):
            a[key] = 1
    with pytest.raises(IndexError, match=r"must be of integer .*float32.*astype"):
        a[np.array([0.0])]
    with pytest.raises(
        ValueError, match=r"could not broadcast input array from shape \(3,\) into shape \(4,\)"
    ):
        a[0] = np.ones(3)


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_what_is_written_is_checked_as_numpys(backend):
    with npx.backend(backend):
        a = np.zeros((3, 4))
        for key in (([0, 1], slice(None)), a[:, 0] == 0, [[0, 1]]):
            values = onp.ones((7, 1, 1))
            with pytest.raises(
                ValueError, match="could not be broadcast|could not broadcast"
            ) as numpys:
                onp.zeros((3, 4))[onp.asarray(key) if isinstance(key, np.ndarray) else key] = values
            for new in (values, values.tolist()):
                with pytest.raises(ValueError, match="shape") as ours:
                    a[key] = np.array(new) if new is values else new
                assert str(ours.value) == str(numpys.value)
        for key in (..., slice(1, 3), [0, 1], (slice(None), 0)):
            with pytest.warns(onp.exceptions.ComplexWarning, match="discards the imaginary part"):
                a[key] = np.array(1 + 2j)
        assert float(a[0, 0]) == 1


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_there_are_at_most_64_axes(backend):
    with npx.backend(backend):
        a = np.ones(())
        assert a[(None,) * 64].ndim == 64
        with pytest.raises(IndexError, match="number of dimensions must be within"):
            a[(None,) * 65]
        with pytest.raises(ValueError, match="maximum supported dimension"):
            np.add.outer(np.ones((1,) * 40), np.ones((1,) * 40))


def test_a_part_of_few_elements_far_apart_is_written_as_one_of_many_close_together():
    for step in (2, -3, 5000, -7000):
        a, ours = onp.zeros((40_000, 2)), np.zeros((40_000, 2), dtype="float64")
        new = onp.arange(a[::step].size).reshape(-1, 2) + 1.0
        a[::step] = new
        ours[::step] = np.array(new)
        assert onp.array_equal(ours.asnumpy(), a)


def test_an_index_out_of_bounds_in_a_compiled_function_raises_at_the_first_read():
    @npx.jit
    def take(a, i):
        return a[i]

    a = np.arange(5.0)
    assert take(a, np.array([0, -1])).tolist() == [0, 4]
    for wrong in (5, -6):
        found = take(a, np.array([0, wrong]))
        with pytest.raises(
            IndexError,
            match=r"out of bounds for axis 0 with size 5 \(compiled at .*test_indexing\.py:\d+\)",
        ):
            found.asnumpy()
    assert take(a, np.array([1, 2])).tolist() == [1, 2]


def test_an_integer_operand_out_of_bounds_in_a_compiled_function_raises_at_the_first_read():
    @npx.jit
    def take(a, i):
        a[i] = 1
        return a[:, i], a[i, 0]

    a = np.zeros((3, 3))
    assert float(take(a, np.array(2))[1]) == 1
    take(a, np.array(3))
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
        a.asnumpy()


def test_reading_with_a_traced_mask_says_what_to_do():
    @npx.jit
    def positive(a):
        return a[a > 0]

    with pytest.raises(
        TypeError,
        match=r"test_indexing\.py:\d+: to return, carry or hand on what a boolean mask selects .*np\.where",
    ):
        positive(np.arange(3.0))

    @npx.jit
    def several(a, b):
        a[a > 0] = b

    with pytest.raises(
        TypeError, match=r"test_indexing\.py:\d+: several values are written through a boolean mask"
    ):
        several(np.arange(3.0), np.ones(2))


def test_writing_one_value_with_a_traced_mask_compiles():
    def program(xp, a, b):
        a[a > 2] = 0
        a[(a < 1) & (b > 1)] -= 3
        b[b > 1, :] = 5
        a[a == 1] = b[0, 0]
        return a

    agrees(
        program,
        onp.arange(6.0).reshape(2, 3),
        onp.arange(6.0).reshape(2, 3),
        modes=("jax", "numpy"),
    )
    found, _ = execute(lambda xp, a: a.__setitem__(a > 2, 0) or a, [onp.arange(4.0)], "jit")
    assert found.tolist() == [0, 1, 2, 0]


def test_distinct_positions_compile_once():
    a = np.arange(1000.0)
    with npx.compile_log() as log:
        for i in range(1000):
            float(a[i])
    assert len(log) <= 2, [str(entry) for entry in log]
    with npx.compile_log() as log:
        for i in range(996):
            a[i : i + 4].asnumpy()
    assert len(log) <= 2, [str(entry) for entry in log]
    with npx.compile_log() as log:
        for i in range(300):
            a[i] = i
            a[i : i + 4] += 1
            a[-i - 1] -= 1
    assert len(log) <= 6, [str(entry) for entry in log]


def test_distinct_positions_are_right(backend):
    a, expected = np.arange(40.0).reshape(4, 10), onp.arange(40.0).reshape(4, 10)
    for i in range(-4, 4):
        for j in range(-10, 10):
            assert float(a[i, j]) == expected[i, j]
            assert a[i, j : j + 3].tolist() == expected[i, j : j + 3].tolist()


shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@hypothesis.settings(max_examples=150)
@hypothesis.given(data=st.data(), shape=shapes)
def test_any_basic_key(data, shape):
    key = data.draw(hnp.basic_indices(shape, allow_newaxis=True, max_dims=6))

    def program(xp, a):
        got = a[key] + 0
        a[key] = -1
        return got

    agrees(program, onp.arange(onp.prod(shape, dtype=int)).reshape(shape), modes=("numpy",))


@hypothesis.settings(max_examples=15)
@hypothesis.given(data=st.data())
def test_any_basic_key_on_xla(data):
    key = data.draw(
        hnp.basic_indices(
            (3, 0, 2) if data.draw(st.booleans()) else (3, 4), allow_newaxis=True, max_dims=4
        )
    )

    def program(xp, a):
        got = a[key] + 0
        a[key] = -1
        return got

    agrees(program, onp.arange(12).reshape(3, 4), modes=("jax",))


@pytest.mark.parametrize(
    "key",
    [slice(None), slice(0, 2), [0, 2], onp.array([True, False, True]), (slice(None, None, 2),)],
    ids=str,
)
@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        ("float64", [0.1, 3]),
        ("complex128", (0.1j, 1)),
        ("int64", [2**53 + 1, 1.0]),
        ("uint8", [3.7, 200]),
        ("float32", [1, 0.2]),
        ("int16", range(2)),
    ],
)
def test_numbers_in_lists_take_the_dtype_of_what_they_are_written_into(key, dtype, numbers):
    new = [*numbers, 1] if type(key) is slice and key.stop is None else numbers

    def program(xp, a):
        a[key] = new
        return a + 0

    agrees(program, onp.zeros(3, dtype))


def test_numbers_in_lists_that_do_not_fit(backend):
    for key in (slice(0, 2), [0, 1], onp.array([True, True, False])):
        a = np.zeros(3, dtype="uint8")
        for new, error in (
            ([300, 1], OverflowError),
            ([1j, 1], TypeError),
            ([-1, 1], OverflowError),
        ):
            with pytest.raises(error):
                a[key] = new
        assert a.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", ["complex64", "float32", "int8", "bool"])
@pytest.mark.parametrize("shape", [(1,), (1, 1), (2,), (0,)])
def test_one_element_is_no_place_for_an_array_with_axes(dtype, shape):
    def program(xp, a, new):
        a[1] = new
        return a + 0

    agrees(program, onp.zeros(3, dtype), onp.ones(shape, dtype), message=True)


@hypothesis.settings(max_examples=150)
@hypothesis.given(
    data=st.data(), shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)
)
def test_any_mixture_of_arrays_and_slices(data, shape):
    sizes = hnp.array_shapes(min_dims=0, max_dims=2, min_side=1, max_side=3)
    result = data.draw(sizes)

    def item(n):
        return st.one_of(
            hnp.arrays("int64", result, elements=st.integers(-n, n - 1)),
            st.slices(n),
            st.integers(-n, n - 1),
            hnp.arrays(bool, n) if result == () else st.nothing(),
        )

    key = tuple(data.draw(item(n)) for n in shape[: data.draw(st.integers(1, len(shape)))])
    place = data.draw(st.integers(0, len(key)))
    key = key[:place] + data.draw(st.sampled_from([(), (None,), (...,)])) + key[place:]

    def program(xp, a):
        got = a[key]
        a[key] = 0
        a[key] = a[key] + 1
        return got + 0

    agrees(program, onp.arange(onp.prod(shape)).reshape(shape), modes=("numpy",))


@pytest.mark.parametrize(
    ("shape", "positions", "axis"),
    [
        ((0,), [0], 0), ((0, 3), [0], 0), ((0, 3), [0], 1), ((3, 0), [5], 0), ((3, 0), [5], 1), ((0,), [], 0), ((5,), [], 0), ((5,), 1, 0),
        ((2, 3), 1, 1), ((2, 3), [[0, 2], [1, 1]], -1), ((5,), [7], 0), ((5,), [-6], 0), ((), [0], 0), ((), [1], 0), ((5,), [7], None),
    ],
)  # fmt: skip
def test_take_by_arrays_of_positions(shape, positions, axis):
    a = onp.arange(float(onp.prod(shape, dtype=int))).reshape(shape)
    agrees(
        lambda xp, a, i: xp.take(a, i, axis=axis),
        a,
        onp.array(positions, "int64"),
        modes=[m for m in MODES if m != "jit"],
        message=True,
    )


def test_an_array_is_read_by_a_symbol_as_part_of_a_graph():
    read = np.array([1.0, 2.0, 3.0])[sym.var("i", shape=(2,), dtype="int64")]
    assert type(read) is sym.Symbol
    (found,) = read.eval(i=np.array([2, 0]))
    assert found.tolist() == [3, 1]


EMPTY = onp.zeros((0, 3), onp.int32)


@pytest.mark.usefixtures("numpy_mode")
def test_positions_are_looked_at_where_anything_is_read():
    key = ([[0]], [-1], onp.array([False]), 0)
    agrees(lambda np, a: a[key], onp.ones((0, 2, 1, 2)))
    agrees(lambda np, a: a[:, 0, False], onp.ones((0, 0)))
    agrees(lambda np, a: a.flat.__setitem__(slice(None, None, -1), np.ones(3)), EMPTY)


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("key", [1, (-1,), (1, 0), (1, ...)])
@pytest.mark.parametrize("new", [[1], [[1]]])
def test_an_element_takes_no_sequence(key, new):
    agrees(
        lambda np, a: a.__setitem__(key, np.asarray(new)), onp.ones((3, 2) if key == (1, 0) else 3)
    )


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("mode", ["raise", "clip"])  # NumPy never returns from "wrap"
def test_nothing_is_taken_from_nothing(mode):
    for shape in ((1, 0, 0), (0, 2), (2, 0)):
        agrees(lambda np, a: np.take(a, [2], 1, mode=mode), onp.zeros(shape), message=True)


@pytest.mark.usefixtures("numpy_mode")
def test_a_bool_takes_the_truth_of_one_element():
    agrees(lambda np, a: a.__setitem__(-1, np.asarray([True])), onp.array([False, True]))


@pytest.mark.usefixtures("numpy_mode")
def test_records_are_written_at_positions_on_a_device():
    records = onp.zeros(4, [("x", "f4"), ("y", "u1")])
    with npx.backend("jax"):
        a = np.array(records)
        a[np.array([0, 2])] = 7
        a[np.array([False, False, False, True])] = 9
        assert a.tolist() == [(7.0, 7), (0.0, 0), (7.0, 7), (9.0, 9)]
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            a[(np.array([0, 2]),)] = -2
