"""The protocol `__array_function__`, by which classes of other libraries take part in functions of
ours.
"""

import numpy as onp
import pytest

from npcompat import autograd, np, npx


class Foreign:
    """An array of another library, which makes what it can of the functions that it knows."""

    def __init__(self, known=(), found=None):
        self.known, self.found = known, found

    def __array_function__(self, func, types, args, kwargs):
        if func not in self.known:
            return NotImplemented
        return Foreign(found=(func, types, args, kwargs))


@pytest.mark.parametrize("known", [np.zeros, onp.zeros])
def test_the_class_of_like_makes_the_array(known):
    made = np.zeros((2, 3), dtype="int8", like=Foreign([known]))
    assert type(made) is Foreign and made.found == (known, (Foreign,), ((2, 3),), {"dtype": "int8"})


def test_a_class_that_makes_nothing_of_a_function_is_an_error():
    with pytest.raises(
        TypeError,
        match=r"no implementation found for 'numpy\.asarray' on types that implement __array_function__",
    ):
        np.asarray(1, like=Foreign([np.zeros]))


@pytest.mark.parametrize("like", [1, [1], object()])
def test_like_must_have_the_protocol(like):
    with pytest.raises(
        TypeError,
        match="The `like` argument must be an array-like that implements the `__array_function__` protocol",
    ):
        np.arange(3, like=like)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_like_an_array_of_ours_or_of_numpys(backend):
    with npx.backend(backend):
        assert type(np.full((2,), 3, like=np.ones(1))) is np.ndarray
        made = np.full((2,), 3, like=onp.ones(1))
    assert type(made) is onp.ndarray and made.tolist() == [3, 3]


def test_like_an_instance_of_a_derived_class():
    class Derived(np.ndarray):
        def __array_function__(self, func, types, args, kwargs):
            return super().__array_function__(func, types, args, kwargs).view(Derived)

    made = np.identity(2, dtype=int, like=np.ones(2).view(Derived))
    assert type(made) is Derived and made.tolist() == [[1, 0], [0, 1]]


def test_the_protocol_of_our_arrays_leaves_other_classes_their_say():
    class Other:
        def __array_function__(self, func, types, args, kwargs):
            return "Other's"

    assert onp.concatenate([np.ones(2), Other()]) == "Other's"
    assert np.ones(2).__array_function__(onp.sum, (np.ndarray, Other), (), {}) is NotImplemented


def test_the_protocol_runs_what_is_no_function_of_numpys_as_it_is():
    a = np.ones(2)
    assert a.__array_function__(lambda x: x, (np.ndarray,), (a,), {}) is a
    with pytest.raises(TypeError, match="args must be a tuple"):
        a.__array_function__(onp.sum, (np.ndarray,), [a], {})
    with pytest.raises(TypeError, match="kwargs must be a dict"):
        a.__array_function__(onp.sum, (np.ndarray,), (a,), None)


def test_reductions_of_a_derived_class_ask_it():
    asked = []

    class Counted(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            asked.append((ufunc, method, kwargs))
            plain = [i.view(np.ndarray) if isinstance(i, Counted) else i for i in inputs]
            return super().__array_ufunc__(ufunc, method, *plain, **kwargs)

    a = np.array([[1, 2, 3], [4, 5, 6]]).view(Counted)
    assert a.sum() == 21 and np.max(a, axis=1).tolist() == [3, 6] and a.any()
    assert np.prod(a, axis=0, keepdims=True, initial=2).tolist() == [[8, 20, 36]]
    assert [(ufunc, method) for ufunc, method, _ in asked] == [
        (np.add, "reduce"), (np.maximum, "reduce"), (np.logical_or, "reduce"), (np.multiply, "reduce"),
    ]  # fmt: skip
    assert asked[1][2] == {"axis": 1} and asked[3][2] == {"axis": 0, "keepdims": True, "initial": 2}


def test_results_of_several_arrays_need_a_tuple_of_them():
    with pytest.raises(TypeError, match="'out' must be a tuple of arrays"):
        np.modf(1.5, out=None)
    with pytest.raises(ValueError, match="one entry per ufunc output"):
        np.modf(1.5, out=(np.zeros(()),))


@pytest.mark.parametrize("known", [np.sum, onp.sum])
def test_reductions_ask_the_classes_of_other_libraries(known):
    made = np.sum(foreign := Foreign([known]), axis=0)
    assert type(made) is Foreign and made.found == (known, (Foreign,), (foreign,), {"axis": 0})
    masked = np.std(np.ones(2), where=(foreign := Foreign([np.std])))
    assert type(masked) is Foreign and masked.found[3] == {"where": foreign}
    with pytest.raises(TypeError, match=r"no implementation found for 'numpy\.max'"):
        np.max(Foreign([known]))


def test_histograms_and_polynomials_of_a_plane_ask_the_classes_of_other_libraries():
    foreign, polyval2d = Foreign([np.histogram2d]), np.polynomial.polynomial.polyval2d
    assert np.histogram2d([1, 2], [3, 4], bins=[foreign, 5]).found[1:] == (
        (Foreign,),
        ([1, 2], [3, 4]),
        {"bins": [foreign, 5]},
    )
    assert polyval2d(1, 2, Foreign([polyval2d])).found[0] is polyval2d


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any", "mean", "var", "std"])
def test_reductions_call_the_method_of_a_derived_class(name):
    def reduced(self, axis=None, out=None, **options):
        return "own", axis, options, getattr(np.ndarray, name)(self, axis=axis).tolist()

    a = np.array([[1.0, 0.0], [3.0, 4.0]])
    derived = a.view(type("Derived", (np.ndarray,), {name: reduced}))
    expected = getattr(np, name)(a, 0).tolist()
    assert getattr(np, name)(derived, axis=0, keepdims=True) == (
        "own",
        0,
        {"keepdims": True},
        expected,
    )
    assert getattr(np.ndarray, name)(derived, 0).tolist() == expected


class Lazy:
    """An array of a library that computes with NumPy's arrays only, as Dask's and sparse's do."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        known = (Lazy, onp.ndarray, onp.generic, int, float)
        if not all(isinstance(x, known) for x in inputs):
            return NotImplemented
        return ufunc.__name__, method, [type(x).__name__ for x in inputs]

    def __mul__(self, other):
        return onp.multiply(self, other)

    def __rmul__(self, other):
        return onp.multiply(other, self)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_classes_that_know_numpys_arrays_only_get_those(backend):
    with npx.backend(backend):
        a, lazy = np.arange(3.0), Lazy()
        for found in (a * lazy, np.multiply(a, lazy), onp.multiply(a, lazy)):
            assert found == ("multiply", "__call__", ["ndarray", "Lazy"])
        for found in (lazy * a, np.multiply(lazy, a), onp.multiply(lazy, a)):
            assert found == ("multiply", "__call__", ["Lazy", "ndarray"])
        a.attach_grad()
        with autograd.record(), pytest.raises(TypeError, match="recorded meets a Lazy"):
            np.multiply(a * 2, lazy)


def test_a_derived_class_is_asked_before_it_is_written():
    asked = []

    class Derived(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            asked.append((ufunc.__name__, method, len(kwargs["out"])))
            return "own"

    a = np.arange(3.0).view(Derived)
    a += 1
    assert a == "own" and asked == [("add", "__call__", 1)]


class Tensor:
    """An array whose results are made of NumPy's arrays, by the older form of the method."""

    __array_priority__ = 1000

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return onp.array(self.values, dtype)

    def __array_wrap__(self, array):
        if type(array) is not onp.ndarray:  # as torch
            raise TypeError("expected np.ndarray")
        return Tensor(array)

    def __dlpack__(self, **how):
        raise NotImplementedError

    def __index__(self):
        raise TypeError("only integer tensors of a single element can be converted to an index")


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")
def test_results_beside_tensors_are_tensors():
    a, t = np.arange(3.0), Tensor(onp.array([1, 0, 2]))
    for found, expected in (
        (np.add(a, t), [1, 1, 4]),
        (a * t, [0, 0, 4]),
        (np.sqrt(t), [1, 0, 2**0.5]),
    ):
        assert type(found) is Tensor
        onp.testing.assert_allclose(found.values, expected, rtol=1e-6)
    assert a[t].tolist() == [1, 0, 2] and a[Tensor(onp.array([True, False, True]))].tolist() == [
        0,
        2,
    ]
    a.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match="a recorded array meets a Tensor"):
        np.add(a * 2, t)


class SymbolicMatrix:
    """A matrix of no numbers, whose operators come before those of arrays."""

    __array_priority__ = 11

    def __array__(self, dtype=None, copy=None):
        return onp.array([[None]])

    def __rmul__(self, other):
        return "product", type(other).__name__

    __rmatmul__ = __rmul__


def test_matrices_of_symbols_have_their_own_products():
    a = np.eye(2)
    assert a * SymbolicMatrix() == a @ SymbolicMatrix() == ("product", "ndarray")
    assert (a.sum() * SymbolicMatrix())[0] == "product"
    assert "numpy" in [kind.__module__ for kind in type(a).__mro__]  # SymPy's test of arrays


class Box:
    """A container of another library, as a series of pandas."""

    __array_priority__ = 1000

    def __init__(self, values):
        self.values = onp.asarray(values)

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)
    dtype = property(lambda self: self.values.dtype)

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return onp.array(self.values, dtype)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] if return_scalar else array


BESIDE = {
    "interp": lambda b, y: np.interp(b, [1.0, 2.0], [y[0], y[1]]),
    "dot": lambda b, y: np.dot(b, [y, y, y]),
    "dot reversed": lambda b, y: np.dot(y, b),
    "where": lambda b, y: np.where(onp.asarray(b) > 1, y, b),
    "concatenate": lambda b, y: np.concatenate([y, b]),
    "outer": lambda b, y: np.outer(b, [y[0], y[1]]),
    "average": lambda b, y: np.average(y, weights=b),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_is_recorded_or_traced_beside_a_container_is_computed_by_us(name):
    def gradient(other):
        x = np.array([1.0, 2.0, 3.0])
        x.attach_grad()
        with autograd.record():
            loss = BESIDE[name](other, x * 2).sum()
        loss.backward()
        return x.grad.tolist()

    values = onp.array([1.0, 2.0, 3.0], "float32")
    assert gradient(Box(values)) == gradient(values)
    compiled = npx.jit(lambda y: BESIDE[name](Box(values), y))(np.ones(3))
    onp.testing.assert_allclose(compiled, BESIDE[name](values, np.ones(3)), rtol=1e-6)


def test_results_of_functions_of_containers_are_ours():
    box = Box(onp.eye(2))
    for made in (np.linalg.qr(box)[0], np.linalg.svd(box)[0], np.linalg.svd(box).S):
        assert type(made) is np.ndarray
    counted = np.unique_counts(box)
    assert type(counted.values) is np.ndarray and counted.counts.tolist() == [2, 2]
    assert np.select([np.ones(2, bool)], [Box([1.0, 2.0])]).tolist() == [1, 2]
    assert np.einsum("ij->", box) == 2


class Passing(np.ndarray):
    def __array_function__(self, function, types, args, kwargs):
        return super().__array_function__(function, types, args, kwargs)


def test_a_class_that_passes_on_is_asked_once_for_all_its_operands():
    a = np.ones(3).view(Passing)
    mask = (a > 0).view(Passing)
    for made in (np.sum(a, where=mask), onp.sum(a, where=mask), np.dot(a, a), np.vdot(a, a)):
        assert made == 3
    assert np.max(a, where=mask, initial=0) == np.mean(a, where=mask) == 1
    assert np.histogram2d(a, a)[0].shape == (10, 10)
    square = np.ones((2, 2, 2)).view(Passing)
    assert np.linalg.trace(square).tolist() == np.trace(square).tolist() == [2, 2]


def test_classes_that_decline_leave_a_function_to_the_next():
    class Declining(np.ndarray):
        def __array_function__(self, function, types, args, kwargs):
            return NotImplemented

    a = np.ones(3).view(Declining)
    assert np.dot(a, Box(onp.ones(3))) == 3
    with pytest.raises(TypeError, match="no implementation found for 'numpy.dot'"):
        np.dot(a, a)


class Reading:
    """A class of a program, which is an array where one is asked for."""

    __array_priority__ = 10

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("compiled", [False, True])
def test_classes_without_a_say_in_results_are_taken_as_arrays(compiled):
    def program(x):
        reading = Reading(x)
        found = [np.sum(reading), np.mean(reading), np.dot(reading, reading)]
        parts = (np.cumsum(reading), np.concatenate([reading, reading]), np.sort(reading))
        return [*found, *parts, np.where(reading, 1, 0), np.sin(reading)]

    x = np.array([2.0, 1.0])
    found = (npx.jit(program) if compiled else program)(x)
    assert [float(a) for a in found[:3]] == [3, 1.5, 5]
    assert [a.tolist() for a in found[3:7]] == [[2, 3], [2, 1, 2, 1], [1, 2], [1, 1]]
    onp.testing.assert_allclose(found[7], np.sin(x), rtol=1e-6)


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_pass_through_classes_that_are_taken_as_arrays(compiled):
    def loss(x):
        reading, b = Reading(x), np.zeros(2)
        np.put(b, [1, 0], reading)
        parts = [np.sum(reading), np.dot(x, reading), np.array([reading, x]).sum(), b[1]]
        return parts[0] + parts[1] + parts[2] + np.sin(reading)[0] + 10 * parts[3]

    def plainly(x):
        return x.sum() + np.dot(x, x) + np.stack([x, x]).sum() + np.sin(x)[0] + 10 * x[0]

    x = np.array([2.0, 1.0])
    x.attach_grad()
    found = []
    for function in (loss, plainly):
        with autograd.record():
            total = (npx.jit(function) if compiled else function)(x)
        total.backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]
