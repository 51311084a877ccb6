"""Classes derived from `ndarray`: results are instances, finalized with their source."""

import copy
import pickle

import numpy as onp
import pytest

import npcompat.numpy as np
from npcompat import npx


class Tagged(np.ndarray):
    """An array with a tag, which what is made of it gets, too."""

    def __new__(cls, values, tag):
        made = np.asarray(values).view(cls)
        made.tag = tag
        return made

    def __array_finalize__(self, source):
        self.tag = getattr(source, "tag", "none")


class Wrapping(np.ndarray):
    """An array that notes what its results were computed by."""

    def __array_wrap__(self, array, context=None, return_scalar=False):
        made = super().__array_wrap__(array, context, return_scalar)
        made.wrapped_by = context
        return made


@pytest.fixture(params=["numpy", "jax"], autouse=True)
def placed(request):
    with npx.backend(request.param):
        yield


OF_THE_CLASS = {
    "a row": lambda a: a[0],
    "a slice": lambda a: a[:, 1:],
    "an advanced index": lambda a: a[[0, 1]],
    "a mask": lambda a: a[a > 1],
    "transpose": lambda a: a.T,
    "reshape": lambda a: a.reshape(-1),
    "ravel in order K": lambda a: a.ravel("K"),
    "copy": lambda a: a.copy(),
    "astype": lambda a: a.astype("float64"),
    "view(dtype)": lambda a: a.view("int32"),
    "operator": lambda a: a + 1,
    "reflected operator": lambda a: 1 - a,
    "ufunc": np.sin,
    "ufunc with dtype=": lambda a: np.add(a, 1, dtype="float64"),
    "comparison": lambda a: a == 2,
    "sum of all": lambda a: a.sum(),
    "mean over an axis": lambda a: a.mean(0),
    "ufunc.reduce": np.add.reduce,
    "ufunc.outer": lambda a: np.multiply.outer(a, [1, 2]),
    "sort": np.sort,
    "take": lambda a: a.take([0]),
    "dot": lambda a: np.dot(a, a.T),
    "zeros_like": np.zeros_like,
    "full_like": lambda a: np.full_like(a, 3),
    "asanyarray": np.asanyarray,
    "array(subok=True)": lambda a: np.array(a, subok=True),
    "broadcast_to(subok=True)": lambda a: np.broadcast_to(a, (2, 2, 3), subok=True),
    "as_strided(subok=True)": lambda a: np.lib.stride_tricks.as_strided(a, (2,), (8,), subok=True),
    "median": np.median,
    "average": np.average,
    "nancumsum": np.nancumsum,
    "piecewise": lambda a: np.piecewise(a, [a > 1], [0, 1]),
    "apply_along_axis": lambda a: np.apply_along_axis(lambda line: line[::-1], 1, a),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
}

PLAIN = {
    "asarray": np.asarray,
    "array": np.array,
    "view(ndarray)": lambda a: a.view(np.ndarray),
    "zeros_like(subok=False)": lambda a: np.zeros_like(a, subok=False),
    "astype(subok=False)": lambda a: a.astype("float64", subok=False),
    "ufunc with subok=False": lambda a: np.add(a, 1, subok=False),
    "where": lambda a: np.where(a > 1, a, 0),
    "nonzero": lambda a: np.nonzero(a)[0],
}


@pytest.mark.parametrize("make", OF_THE_CLASS.values(), ids=OF_THE_CLASS)
def test_a_result_is_of_the_class_and_has_the_values_of_a_plain_array(make):
    plain = np.arange(6, dtype="int32").reshape(2, 3)
    found, expected = make(Tagged(plain, "mine")), make(plain)
    assert type(found) is Tagged
    assert found.tag == "mine"
    assert found.dtype == expected.dtype
    onp.testing.assert_array_equal(np.asarray(found).asnumpy(), np.asarray(expected).asnumpy())


@pytest.mark.parametrize("make", PLAIN.values(), ids=PLAIN)
def test_what_asks_for_plain_arrays_gets_them(make):
    assert type(make(Tagged(np.arange(6).reshape(2, 3), "mine"))) is np.ndarray


def test_one_element_is_a_scalar():
    assert isinstance(Tagged([1, 2], "mine")[0], np.integer)


def test_views_write_through():
    plain = np.arange(4)
    mine = Tagged(plain, "mine")
    mine[1:][0] = 7
    mine += 1
    assert plain.tolist() == [1, 8, 3, 4]


def test_the_base_of_a_view_is_the_instance_and_that_of_an_advanced_read_is_plain():
    mine = Tagged(np.arange(4), "mine")
    assert mine[:2].base is mine
    assert type(mine[[0, 1]].base) is np.ndarray


def test_the_constructor_makes_instances():
    class Sized(np.ndarray):
        pass

    made = Sized((2, 2), "int32")
    assert type(made) is Sized
    assert made.shape == (2, 2)


def test_a_pickle_keeps_the_class():
    assert type(pickle.loads(pickle.dumps(Tagged([1, 2], "mine")))) is Tagged


def test_repr_names_the_class():
    assert repr(Tagged(np.arange(2), "mine")) == "Tagged([0, 1])"


def test_array_wrap_gets_the_ufunc_and_its_operands():
    mine = np.ones(2).view(Wrapping)
    function, operands, position = (mine + 1).wrapped_by
    assert function is np.add
    assert operands[0] is mine
    assert position == 0
    assert mine.sum().wrapped_by is None


def test_the_highest_priority_decides():
    class High(np.ndarray):
        __array_priority__ = 10

    class Low(np.ndarray):
        __array_priority__ = -10

    plain = np.ones(2)
    high, low = plain.view(High), plain.view(Low)
    assert type(low + high) is High
    assert type(high + low) is High
    assert type(plain + low) is np.ndarray


def test_other_classes_wrap_results_too():
    class Box:
        def __array__(self, dtype=None, copy=None):
            return onp.arange(3)

        def __array_wrap__(self, array, context, return_scalar):
            return ("boxed", array.tolist())

    assert np.negative(Box()) == ("boxed", [0, -1, -2])


def test_an_old_array_wrap_is_called_with_a_warning():
    class Old:
        def __array__(self, dtype=None, copy=None):
            return onp.arange(3)

        def __array_wrap__(self, array):
            return "old"

    with pytest.warns(DeprecationWarning, match="must accept context and return_scalar"):
        assert np.negative(Old()) == "old"


def test_array_ufunc_of_a_subclass_is_asked_and_may_call_the_base():
    class Counting(np.ndarray):
        calls = 0

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            type(self).calls += 1
            plain = [x.view(np.ndarray) if isinstance(x, Counting) else x for x in inputs]
            return super().__array_ufunc__(ufunc, method, *plain, **kwargs)

    found = np.ones(2).view(Counting) + 1
    assert type(found) is np.ndarray
    assert found.tolist() == [2, 2]
    assert Counting.calls == 1


def test_what_finalize_raises_reaches_the_caller():
    class Broken(np.ndarray):
        def __array_finalize__(self, source):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        np.ones(2).view(Broken)


def test_a_gradient_flows_through_instances():
    from npcompat import autograd

    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x.view(Tagged) * x).sum()
    y.backward()
    assert x.grad.tolist() == [2, 4]


def test_what_is_added_in_place_has_no_say(backend):
    def added(xp):
        class Odd(xp.ndarray):  # type: ignore[name-defined]
            def __array_wrap__(self, array, context=None, return_scalar=False):
                raise AssertionError("the array that is written has the say")

        a = xp.ones(3)
        alias = a
        a += xp.ones(3).view(Odd)
        return a is alias, type(a) is xp.ndarray, a.tolist()

    assert added(np) == added(onp) == (True, True, [2, 2, 2])


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, a: xp.where(a > 1, a, 0),
        lambda xp, a: xp.searchsorted(a, a),
        lambda xp, a: xp.digitize(a, a),
        lambda xp, a: xp.bincount(a.astype(int)),
        lambda xp, a: xp.lexsort((a,)),
        lambda xp, a: xp.isin(a, a),
        lambda xp, a: xp.interp(a, xp.arange(3), xp.arange(3)),
        lambda xp, a: xp.sort(a),
        lambda xp, a: xp.cumsum(a),
        lambda xp, a: xp.concatenate([a, a]),
        lambda xp, a: xp.vstack([a, a]),
        lambda xp, a: xp.choose([0, 0, 0], [a, a]),
        lambda xp, a: xp.diag(a),
        lambda xp, a: xp.tril(a[None]),
    ],
)
def test_results_are_of_the_class_where_numpys_are(backend, call):
    def kept(xp):
        class Plain(xp.ndarray):  # type: ignore[name-defined]
            pass

        return type(call(xp, xp.array([1.0, 2.0, 3.0]).view(Plain))) is Plain

    assert kept(np) == kept(onp)


def test_what_can_not_be_compared_is_unequal_in_the_class_too():
    a, b = np.zeros(2, "M8[s]"), Tagged([0.0, 1.0], "t")
    for found in (a == b, b == a, b != a):
        assert type(found) is Tagged and found.tag == "t"
    assert (a == b).tolist() == [False, False] and (b != a).tolist() == [True, True]


def test_the_sum_of_weights_is_of_their_class():
    a = np.ones((2, 3)).view(Plain := type("Plain", (np.ndarray,), {}))
    assert [type(x) for x in np.average(a, weights=a[0], axis=1, returned=True)] == [Plain, Plain]


def test_joined_arrays_are_of_a_class_with_a_higher_priority(backend):
    class First(np.ndarray):
        __array_priority__ = 2

    a = np.ones(2).view(First)
    assert type(np.concatenate([np.ones(2), a])) is type(np.stack([a, a])) is First


@pytest.mark.parametrize(
    "name", ["mean", "sum", "where", "concatenate", "stack", "median", "sort", "dot", "zeros_like"]
)
def test_functions_ask_the_class(name, backend):
    arguments = {
        "where": lambda a: (a > 0, a, 0), "concatenate": lambda a: ([a, a],), "stack": lambda a: ([a, a],),
        "dot": lambda a: (a, a),
    }.get(name, lambda a: (a,))  # fmt: skip

    def asked(xp):
        names = []

        class Asked(xp.ndarray):  # type: ignore[name-defined]
            def __array_function__(self, function, types, args, kwargs):
                names.append(function)
                return super().__array_function__(function, types, args, kwargs)

        a = xp.array([3.0, 1.0, 2.0]).view(Asked)
        names.clear()
        result = getattr(xp, name)(*arguments(a))
        return names, result

    with npx.np_default_dtype():
        (ours, found), (numpys, expected) = asked(np), asked(onp)
    assert ours[0] is getattr(np, name) and numpys[0] is getattr(onp, name)
    onp.testing.assert_array_equal(found, expected)


class Described(np.ndarray):
    """A class whose pickles hold an attribute, by the recipe that NumPy's users publish."""

    def __array_finalize__(self, obj):
        self.info = getattr(obj, "info", None)

    def __reduce__(self):
        function, arguments, state = super().__reduce__()
        return function, arguments, (*state, self.info)

    def __setstate__(self, state):
        self.info = state[-1]
        super().__setstate__(state[:-1])


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "values", [onp.arange(3), onp.ones((2, 3), order="F"), onp.array(2.5), onp.zeros((0, 3), "f4")]
)
def test_pickles_of_classes_with_state_of_their_own(values, protocol):
    given = np.array(values, dtype=values.dtype).view(Described)
    given.info = "mine"
    made = [pickle.loads(pickle.dumps(given, protocol)), copy.copy(given), copy.deepcopy(given)]
    for found in made:
        assert type(found) is Described and found.info == "mine"
        assert (found.dtype, found.shape) == (values.dtype, values.shape)
        onp.testing.assert_array_equal(found.asnumpy(), values)
    made[0][...] = 1
    assert (made[0] == 1).all()


def test_functions_keep_the_class_where_numpys_do():
    x = Tagged(onp.arange(4.0).reshape(2, 2), "mine")
    for found in (
        np.vectorize(lambda v: v + 1)(x),
        np.vectorize(lambda v, w: (v, w), otypes=[float, int])(np.ones(2), x)[1],
        *(np.atleast_3d(x), np.atleast_3d(x[0]), np.atleast_2d(x[0]), np.atleast_1d(x)),
    ):
        assert type(found) is Tagged and found.tag == "mine"
    for found in (
        *(np.einsum("ij->i", x), np.einsum("ij,jk", x, x), np.einsum("ij,jk", x, x, optimize=True)),
        *(np.outer(x, x), np.tensordot(x, x), np.linalg.outer(x[0], x[0])),
    ):
        assert not isinstance(found, Tagged)


class Unprintable(np.ndarray):
    def __array_function__(self, function, types, args, kwargs):
        raise AssertionError(f"called {function.__name__}")


def test_text_is_made_without_asking_the_class():
    x = np.ones(2).view(Unprintable)
    assert f"{x} {x!r} {x!s}" == "[1. 1.] Unprintable([1., 1.]) [1. 1.]"
    with pytest.raises(AssertionError, match="called array_repr"):
        np.array_repr(x)
