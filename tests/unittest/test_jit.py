"""`npx.jit` means the same as the function it compiles: arguments, results, closures, nesting,
exceptions.
"""

import copy
import math

import numpy as onp
import pytest
from oracle import agrees, both

from npcompat import autograd, np, npx

PLACEMENT = "jax"


def test_arguments_and_results_are_nested_containers():
    @npx.jit
    def f(pair, options, *rest, scale, more=None):
        x, (y, z) = pair
        return {
            "sum": x + y,
            "parts": [z * options["k"], (rest[0] + scale,)],
            "none": more,
            "text": options["name"],
        }

    found = f(
        (np.ones(2), [np.arange(2), np.array(3)]),
        {"k": 2, "name": "n"},
        np.zeros(1),
        scale=np.array(0.5),
        more=None,
    )
    assert (
        found["sum"].tolist() == [1, 2]
        and int(found["parts"][0]) == 6
        and found["parts"][1][0].tolist() == [0.5]
    )
    assert found["none"] is None and found["text"] == "n" and isinstance(found["parts"][1], tuple)


def test_numpy_arrays_and_numbers_are_accepted():
    @npx.jit
    def f(x, n):
        assert isinstance(n, int)
        return x * n, x.dtype.name

    found, dtype = f(onp.arange(3, dtype="float64"), 3)
    assert found.tolist() == [0, 3, 6] and found.dtype == "float64" and dtype == "float64"


def test_a_function_without_arrays_or_results():
    calls = []
    f = npx.jit(lambda: calls.append(1))
    assert f() is None and f() is None and len(calls) == 1
    assert npx.jit(lambda: np.ones(2) + 1)().tolist() == [2, 2]


def test_constants_are_results_too():
    c = np.arange(3)
    f = npx.jit(lambda x: (c, 5, x, "s", np.arange(2)))
    x = np.ones(2)
    found = f(x)
    assert found[0] is c and found[2] is x and found[1] == 5 and found[4].tolist() == [0, 1]
    second = f(x)
    second[4][0] = 9
    assert f(x)[4].tolist() == [0, 1]


def test_results_that_alias_each_other_or_an_argument_keep_aliasing():
    def program(xp, a, b):
        c = a * 2
        return c, c[1:], c.T, c.reshape(-1), a, a[0], b[::-1], b

    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    c, part, transposed, flat, same, row, backwards, again = npx.jit(
        lambda a, b: program(np, a, b)
    )(a, b)
    assert same is a and again is b and row.base is a.base and backwards.base is b
    assert part.base is c and transposed.base is c and flat.base is c
    flat[0] = -1
    row[...] = 7
    backwards[0] = 50
    assert (
        float(c[0, 0]) == -1
        and float(transposed[0, 0]) == -1
        and a[0].tolist() == [7, 7, 7]
        and float(b[2]) == 50
    )


def test_the_same_result_twice_is_one_array():
    def f(x):
        y = x + 1
        return y, y, [y]

    found = npx.jit(f)(np.ones(2))
    found[0][0] = 9
    assert found[1].tolist() == [9, 2] and found[2][0].tolist() == [9, 2]


def test_results_of_a_replay_are_new_arrays():
    f = npx.jit(lambda x: x * 2)
    x = np.ones(2)
    first, second = f(x), f(x)
    first += 5
    assert second.tolist() == [2, 2] and f(x).tolist() == [2, 2]


def test_methods_and_bound_methods_compile():
    class Model:
        def __init__(self):
            self.w = np.ones(2)

        @npx.jit
        def step(self, x):
            self.w += x
            return self.w * 2

    m, other = Model(), Model()
    assert m.step(np.ones(2)).tolist() == [4, 4] and m.step(np.ones(2)).tolist() == [6, 6]
    assert (
        other.step(np.ones(2)).tolist() == [4, 4]
        and m.w.tolist() == [3, 3]
        and other.w.tolist() == [2, 2]
    )


def test_static_arguments_are_part_of_the_program():
    traced = []

    @npx.jit(static_argnums=(1,), static_argnames=("axis",))
    def f(x, how, *, axis=0):
        traced.append((how, axis))
        return x.sum(axis) if how == "sum" else x.max(axis)

    x = np.arange(6.0).reshape(2, 3)
    assert (
        f(x, "sum").tolist() == [3, 5, 7]
        and f(x, "max").tolist() == [3, 4, 5]
        and f(x, "sum", axis=1).tolist() == [3, 12]
    )
    f(x, "sum", axis=1)
    f(x, "max")
    assert traced == [("sum", 0), ("max", 0), ("sum", 1)]


def test_static_arguments_of_different_types_have_programs_of_their_own():
    f = npx.jit(lambda x, n: x * n)
    x = np.arange(3)
    assert f(x, 1).dtype == "int64" and f(x, 1.0).dtype == "float32" and f(x, True).dtype == "int64"
    assert (
        f(np.array([0.0]), 0.0).tolist() == [0.0]
        and onp.signbit(f(np.array([1.0]), -0.0).asnumpy()).all()
    )


def test_an_argument_that_is_no_array_and_not_hashable_is_refused():
    class Unhashable:
        __hash__ = None

    with pytest.raises(
        TypeError,
        match="argument 1 of a compiled function: expected an array, a container of arrays or something hashable, got Unhashable",
    ):
        npx.jit(lambda x, y: x)(np.ones(1), Unhashable())


def test_a_slice_of_numbers_is_an_argument():
    f = npx.jit(lambda x, s: x[s] * 2)
    x = np.arange(6.0)
    for s in (slice(1, 3), slice(2), slice(None, None, -2), (slice(0, 2),), slice(1, 3)):
        assert f(x, s).tolist() == (x[s] * 2).tolist()
    with pytest.raises(TypeError, match="got slice"):
        f(x, slice(np.array(1), None))


def test_defaults_and_keywords():
    @npx.jit
    def f(x, y=2, *, z=np.array(10.0)):
        return x * y + z

    assert (
        f(np.array(1.0)).item() == 12
        and f(x=np.array(1.0), y=3).item() == 13
        and f(np.array(1.0), z=np.array(0.0)).item() == 2
    )


def test_zero_size_and_0d_arguments():
    def program(xp, a, b):
        a += 1
        b *= 2
        return a.sum(), a.reshape(3, 0), b + a.sum(), xp.concatenate([a.reshape(-1), b[None]])

    agrees(program, onp.zeros((0, 3)), onp.array(4.0))


# --- closures, nesting, exceptions ----------------------------------------------------------------


def test_nested_compiled_functions_join_one_program():
    state = np.zeros(2)

    @npx.jit
    def inner(x):
        state[...] += x
        return state * 2

    @npx.jit
    def outer(x):
        y = inner(x) + inner(x)
        return y, inner

    with npx.compile_log() as log:
        found, function = outer(np.ones(2))
    assert found.tolist() == [6, 6] and state.tolist() == [2, 2] and function is inner
    assert [entry.name for entry in log] == ["outer"]
    assert inner(np.ones(2)).tolist() == [6, 6]


def test_a_compiled_function_may_define_and_call_closures():
    def make(jit):
        scale = np.array(3.0)

        @jit
        def f(x):
            local = np.zeros(3)

            def add(i):
                local[i] += x[i] * scale

            for i in range(3):
                add(i)
            return local

        found = [f(np.arange(3.0))]
        scale[...] = 5
        found.append(f(np.arange(3.0)))
        return found

    both(make)


def test_recursion_unrolls():
    @npx.jit
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    assert power(np.array([2.0]), 5).tolist() == [32]


def test_an_exception_while_tracing_leaves_everything_as_it_was():
    a, x = np.arange(3.0), np.ones(3)
    v = a[1:]
    v + 0

    @npx.jit
    def f(x, fail):
        a[...] = 100
        v[0] = 7
        x[...] = 50
        np.random.normal()
        if fail:
            raise KeyError("mine")
        return a.sum()

    np.random.seed(3)
    with pytest.raises(KeyError, match="mine"):
        f(x, True)
    drawn = np.random.normal()
    np.random.seed(3)
    assert drawn.item() == np.random.normal().item()
    assert a.tolist() == [0, 1, 2] and v.tolist() == [1, 2] and x.tolist() == [1, 1, 1]
    assert f(x, False).item() == 207 and a.tolist() == [100, 7, 100] and x.tolist() == [50, 50, 50]
    assert not autograd.is_recording() and (np.ones(2) + 1).tolist() == [2, 2]


def test_asking_for_a_traced_value_names_the_line_and_the_way_out():
    def on_item(x):
        return x[0].item()

    def on_index(x):
        return [1, 2, 3][x.astype("int64")[0]]

    def on_numpy(x):
        return onp.sin(x.asnumpy())

    def on_math(x):
        return math.sin(x[0])

    for f in (on_item, on_index, on_numpy, on_math):
        line = f.__code__.co_firstlineno + 1
        with pytest.raises(
            TypeError, match=rf"test_jit\.py:{line}: .*npx\.cond, npx\.while_loop or npx\.foreach"
        ):
            npx.jit(f)(np.ones(2))


def test_printing_a_traced_array_shows_its_type():
    assert npx.jit(lambda x: repr(x))(np.ones(2)) == "array(<traced>, shape=(2,), dtype=float32)"


def test_shapes_and_dtypes_are_known_while_tracing():
    @npx.jit
    def f(x):
        if x.ndim == 2 and x.shape[0] > 1 and x.dtype == "float32" and len(x) == 2 and x.size == 6:
            return x.T.reshape(-1)
        raise AssertionError

    assert f(np.zeros((2, 3))).shape == (6,)


def test_an_array_that_leaks_out_of_a_trace_says_so():
    kept = []

    @npx.jit
    def f(x):
        kept.append(x * 2)
        return x

    f(np.ones(2))
    for use in (
        lambda: kept[0] + 1,
        lambda: kept[0].asnumpy(),
        lambda: repr(kept[0]),
        lambda: kept[0][0],
        lambda: bool(kept[0][0]),
    ):
        with pytest.raises(
            RuntimeError, match="made inside a compiled function and kept after it had returned"
        ):
            use()


def test_reading_an_array_that_an_earlier_call_has_leaked_says_so():
    kept = {}

    @npx.jit
    def average(x):
        if "mean" not in kept:
            kept["mean"] = np.zeros(2)
        kept["mean"][...] = 0.5 * kept["mean"] + x
        return kept["mean"].sum()

    assert average(np.ones(2)) == 2
    with pytest.raises(RuntimeError, match="made inside a compiled function, kept after it had"):
        average(np.ones(2))
    kept["mean"] = np.zeros(2)
    assert [float(average(np.ones(2))) for _ in range(2)] == [2, 3]


def test_numpys_errors_are_raised_while_tracing():
    for f, kind, message in [
        (lambda x: x.reshape(4), ValueError, "cannot reshape array of size 3 into shape"),
        (lambda x: x + np.ones(2), ValueError, "could not be broadcast together with shapes"),
        (lambda x: x[3], IndexError, "index 3 is out of bounds for axis 0 with size 3"),
        (lambda x: x.sum(axis=1), ValueError, "axis 1 is out of bounds for array of dimension 1"),
        (lambda x: x.__ior__(1), TypeError, "bitwise_or"),
    ]:
        with pytest.raises(kind, match=message):
            npx.jit(f)(np.ones(3))


def test_on_the_host_what_a_program_has_flagged_raises_at_once():
    with npx.backend("numpy"):
        element = npx.jit(lambda x, i: x[i])
        x = np.arange(3.0)
        assert element(x, np.array([2])).tolist() == [2]
        with pytest.raises(IndexError, match="index out of bounds for axis 0 with size 3"):
            element(x, np.array([5]))


def test_constants_of_a_compiled_function_are_made_within_a_device():
    with npx.cpu(0):
        assert npx.jit(lambda x: x + np.asarray(1.5))(np.ones(2)).tolist() == [2.5, 2.5]


def test_copies_of_compiled_functions():
    class Model:
        def __init__(self):
            self.k = np.ones(2)
            self.f = npx.jit(self.scaled)

        def scaled(self, x):
            return x * self.k

    model = Model()
    assert model.f(np.ones(2)).tolist() == [1, 1]
    for other in (copy.deepcopy(model), copy.deepcopy(copy.deepcopy(model))):
        other.k[:] = 5
        assert other.f(np.ones(2)).tolist() == [5, 5]
    assert model.f(np.ones(2)).tolist() == copy.copy(model.f)(np.ones(2)).tolist() == [1, 1]
