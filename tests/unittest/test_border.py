"""The border between a program that `python -m npcompat` runs and the packages that it calls."""

import contextlib
import copy
import importlib
import pickle
import sys
import textwrap
import warnings
from unittest import mock

import numpy as onp
import pytest
from internals import BorrowedValue

from npcompat import autograd, np, npx
from npcompat._internal.native import fast_path
from npcompat._script import border, importer
from npcompat._script.source import converted


def execute(source, **names):
    namespace = dict(names)
    importer.bind()
    exec(converted(textwrap.dedent(source), "<program>"), namespace)
    return namespace


def test_calls_of_the_programs_own_are_left_alone():
    def own(x):
        return x

    for function in (own, np.add, np.ones(3).sum, len, [].append, "".join, print, np.ndarray, int):
        assert border.across(function) is function
    import scipy.special

    assert border.across(scipy.special.softmax) is not scipy.special.softmax


def test_arrays_change_class_at_the_border_without_a_copy():
    with npx.backend("numpy"):
        ours = np.arange(4.0)
        theirs = border.handed_over({"a": [ours, (ours[1:], 3)], "b": "text"})
        theirs["a"][0][0] = 5
        theirs["a"][1][0][0] = 6
        assert ours.tolist()[:2] == [5, 6] and theirs["b"] == "text"
        assert type(border.handed_over(ours.sum())) is onp.float32

        fresh = border.received((onp.ones(3), "text", [onp.ones(2)]))
        assert (
            type(fresh[0]) is np.ndarray and type(fresh[2][0]) is np.ndarray and fresh[1] == "text"
        )
        assert border.received(onp.float64(3)) == 3
        kept = onp.ones(3)
        alias = border.received(kept)
        kept[0] = 7
        assert alias[0] == 7 and type(alias._value) is BorrowedValue


def test_results_without_another_owner_are_not_borrowed():
    import scipy.special

    with npx.backend("numpy"):
        made = border.across(scipy.special.expit)(np.zeros(3))
        assert made.tolist() == [0.5] * 3
        import scipy.ndimage

        made = border.across(scipy.ndimage.gaussian_filter1d)(np.zeros(3), 1)
        assert type(made) is np.ndarray and type(made._value) is not BorrowedValue


def test_keys_of_objects_of_packages_are_handed_over():
    import scipy.sparse

    matrix = scipy.sparse.csr_array(onp.eye(3))
    names = execute(
        """
        mask = x > 0
        found = matrix[mask]
        own = x[mask]
        for i in range(2):
            last = x[i]
        """,
        matrix=matrix,
        x=np.array([1.0, 0.0, 2.0]),
    )
    assert names["found"].shape == (2, 3) and names["own"].tolist() == [1, 2] and names["last"] == 0


def test_keys_of_what_no_name_stands_for_are_handed_over():
    import scipy.sparse

    class Holder:
        asked = 0

        def __init__(self):
            self.kept = {"m": scipy.sparse.lil_array(onp.eye(3)), "x": np.zeros(3)}

        @property
        def matrix(self):
            Holder.asked += 1
            return self.kept["m"]

    names = execute(
        """
        chosen = np.array([0, 2])
        found = holder.matrix[chosen]
        holder.matrix[chosen, chosen] = 5
        holder.kept["x"][chosen] = 7
        holder.kept["x"][chosen[1]] += 1
        texts = [holder.kept[name] is not None for name in ("m", "x") if holder.kept[name] is not None]
        def nested(i): return holder.kept["x"][chosen[chosen[i] // 2]]
        last = nested(1)
        """,
        holder=Holder(),
        np=np,
    )
    assert names["found"].shape == (2, 3) and Holder.asked == 2
    assert names["holder"].matrix.toarray().diagonal().tolist() == [5, 1, 5]
    assert names["holder"].kept["x"].tolist() == [7, 0, 8]
    assert names["texts"] == [True, True] and names["last"] == 8


def test_attributes_of_objects_of_packages_are_handed_over():
    import scipy.sparse

    class Own:
        def __init__(self, x):
            self.x = x

    with npx.backend("numpy"):
        x = np.arange(3.0)
        names = execute(
            """
            own = Own(x)
            own.y, (matrix.given, *own.more) = x, [x, x]
            matrix.data = x
            for matrix.step in [x[1:]]:
                matrix.total = own.total = 0
                matrix.total += x.sum()
                own.total += x.sum()
            with manager(x) as matrix.managed:
                matrix.note: str = "text"
            """,
            Own=Own,
            matrix=scipy.sparse.csr_array(onp.eye(3)),
            manager=contextlib.nullcontext,
            x=x,
        )
        x[1] = 7
    own, matrix = names["own"], names["matrix"]
    assert own.x is x and own.y is x and own.more == [x] and own.total == 3
    for found in (matrix.data, matrix.given, matrix.managed):
        assert type(found) is onp.ndarray and found[1] == 7
    assert type(matrix.step) is onp.ndarray and type(matrix.total) is not type(x.sum())
    assert matrix.note == "text" and (matrix @ onp.ones(3)).tolist() == [0, 7, 2]


def test_functions_in_c_are_of_the_module_they_were_reached_through():
    from scipy.linalg import blas

    assert border.across(blas.ddot, blas) is not blas.ddot
    assert border.across(len) is len and border.across(print, sys) is print
    names = execute("found = blas.ddot(x, x), type(blas.dscal(2.0, x))", blas=blas, x=np.ones(3))
    assert names["found"] == (3, np.ndarray)


# --- a package ------------------------------------------------------------------------------------

PACKAGE = """
    import functools, inspect, sys, warnings
    import numpy

    def write(x): x[0] = 9
    def seen(x): return type(x)
    def call(function, *args): return function(*args)
    def first(*values): return values[0]
    def apply_and_look(function, x):
        names = tuple(inspect.signature(function).parameters)
        return type(function(numpy.asarray(x))), function.__name__, names
    def caller(): return sorted(sys._getframe(1).f_locals)
    def warn(): warnings.warn("doubtful", stacklevel=2)
    def fail(values): raise ValueError("given " + str(len(values)))
    def naming(function):
        @functools.wraps(function)
        def wrapper(*args): return function(*args)
        return wrapper

    class Keeper:
        def __init__(self, kept=None): self.kept = kept
        def minimize(self, function, x, args): return function(numpy.asarray(x), *args)

    class Series:
        values = numpy.arange(3.0)

    class Table:
        def __init__(self): self.columns, self.at = {}, self
        def __getitem__(self, key): return self.columns[key]
        def __setitem__(self, key, value): self.columns[key] = value
        def __delitem__(self, key): del self.columns[key]
"""


@pytest.fixture
def away(tmp_path, monkeypatch):
    """An installed package."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "away_from_here.py").write_text(textwrap.dedent(PACKAGE))
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("away_from_here")
    del sys.modules["away_from_here"]


@pytest.fixture(autouse=True)
def on_host():
    with npx.backend("numpy"):
        yield


def test_containers_are_handed_over_themselves(away):
    names = execute(
        """
        log, best = [x], {"x": x, "n": [0]}
        both = (log, best, [1.0])
        def step(y, log, best, plain):
            log.append(y * 2)
            best["x"], best["last"] = y + 1, "text"
            best["n"][0] += 1
            plain.append(2.0)
            return type(log[0]), log is both[0]
        found = away.Keeper().minimize(step, x, both)
        """,
        away=away,
        x=np.ones(2),
    )
    log, best = names["log"], names["best"]
    assert names["found"] == (onp.ndarray, True)
    assert log[0] is names["x"] and log[1].tolist() == [2, 2] and names["both"][2] == [1.0, 2.0]
    assert best["x"].tolist() == [2, 2] and best["last"] == "text" and best["n"] == [1]


def test_assigned_items_are_handed_over(away):
    names = execute(
        """
        table, tables, plain = away.Table(), [away.Table()], {}
        table["x"] = plain["x"] = x
        table.at["y"] = [x, 1]
        table[1, "z"], *tables[0]["more"] = x, x
        table["x"] += 1
        table["x"] *= np.ones(2)
        tables[0].at["y"] = 3.0
        tables[0].at["y"] += x[0]
        del table[1, "z"], plain["x"]
        for table["k"] in [x]: pass
        kinds = [type(v) for v in tables[0]["more"]], sorted(table.columns), sorted(plain)
        """,
        away=away,
        np=np,
        x=np.ones(2),
    )
    table, x = names["table"].columns, names["x"]
    assert type(table["x"]) is type(table["y"][0]) is type(table["k"]) is onp.ndarray
    assert x.tolist() == table["x"].tolist() == table["y"][0].tolist() == [2, 2]
    assert names["kinds"] == ([onp.ndarray], ["k", "x", "y"], [])
    assert names["tables"][0]["y"] == 5


def test_what_a_package_keeps_stays_shared(away):
    names = execute(
        """
        history, grid = [x], {"a": x, "b": [x, (x, 1)]}
        keeper, other = away.Keeper(history), away.Keeper(kept=grid)
        history.append(3)
        """,
        away=away,
        x=np.zeros(2),
    )
    assert names["keeper"].kept is names["history"] and names["history"][1] == 3
    grid = names["other"].kept
    assert grid is names["grid"] and type(grid["a"]) is type(grid["b"][1][0]) is onp.ndarray
    names["x"][0] = 4
    assert grid["b"][0][0] == grid["b"][1][0][0] == names["history"][0][0] == 4


def test_functions_of_the_program_hand_over_what_they_return(away):
    names = execute(
        """
        def scaled(x, k=2): return x * k
        class Model:
            def step(self, x): return [x, (x, 1)], {"x": x}
        kinds = [
            type(away.call(scaled, x)), type(away.call(lambda: (x, x[0]))[0]),
            type(away.call(Model().step, x)[0][1][0]), type(away.call(Model().step, x)[1]["x"]),
        ]
        seen = away.apply_and_look(scaled, x)
        keeper = away.Keeper(scaled)
        own = keeper.kept(x), keeper.kept.__name__, away.first(scaled)(x)
        """,
        away=away,
        x=np.ones(2),
    )
    assert names["seen"] == (onp.ndarray, "scaled", ("x", "k"))
    assert all(type(found) is np.ndarray for found in (names["own"][0], names["own"][2]))
    assert names["own"][1] == "scaled" and names["kinds"][0] is np.ndarray


def test_containers_of_a_call_that_fails_are_as_before(away):
    x = np.zeros(2)
    values = [x, [x, {"x": x}]]
    values.append(values)
    with pytest.raises(ValueError, match="given 3"):
        execute("away.fail(values)", away=away, values=values)
    assert values[0] is x and values[1][0] is x and values[1][1]["x"] is x and values[2] is values


def test_tuples_with_names_and_arrays_of_objects(away):
    names = execute(
        """
        from collections import OrderedDict, namedtuple
        Pair = namedtuple("Pair", "a b")
        objects = np.empty(2, dtype=object)
        objects[0], objects[1] = x, "text"
        pair = away.first(Pair(x, 1))
        kinds = [type(away.first(objects)[1]), away.call(lambda o: type(o[0]), objects)]
        def look(d): return type(d["x"])
        kinds.append(away.call(look, OrderedDict(x=x)))
        """,
        away=away,
        np=np,
        x=np.zeros(2),
    )
    assert type(names["pair"]) is names["Pair"] and type(names["pair"].a) is onp.ndarray
    assert names["kinds"] == [str, onp.ndarray, onp.ndarray]
    assert names["objects"][0] is names["x"]


def test_arrays_of_the_programs_own_classes_stay_what_they_are(away):
    names = execute(
        """
        class Info(np.ndarray):
            def __array_finalize__(self, other): self.info = getattr(other, "info", None)
        x = np.arange(3.0).view(Info)
        x.info = "mine"
        kept = away.Keeper(x).kept
        found = away.Keeper().minimize(lambda y, d: d.info, np.ones(2), (x,))
        away.write(x)
        """,
        away=away,
        np=np,
    )
    assert names["kept"] is names["x"] and names["found"] == "mine" and names["x"][0] == 9


@pytest.mark.skipif(fast_path.native is None, reason="the calls have no frame in C only")
def test_packages_that_look_at_their_caller_find_the_program(away):
    found = execute(
        """
        def f(item, key): return away.caller()
        found = f(1, 2)
        """,
        away=away,
    )["found"]
    assert found == ["item", "key"]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        execute("away.warn()\naway.warn()", away=away)
    assert [(w.filename, w.lineno) for w in told] == [("<program>", 1), ("<program>", 2)]


def test_arrays_of_numpys_are_instances_of_the_programs_class(away):
    found = execute(
        """
        values = away.Series.values
        found = [
            isinstance(values, np.ndarray), isinstance(values, (int, (list, np.ndarray))),
            isinstance(values, np.ndarray | list), issubclass(type(values), np.ndarray),
            isinstance(x, np.ndarray), isinstance(values, np.generic), isinstance(3, np.ndarray),
            issubclass(int, (np.ndarray, str)), isinstance(values, list),
        ]
        """,
        away=away,
        np=np,
        x=np.ones(1),
    )["found"]
    assert found == [True] * 5 + [False] * 4


def test_wrappers_belong_to_the_module_of_what_they_wrap(away):
    @contextlib.contextmanager
    def own(x):
        yield type(x)

    @contextlib.contextmanager
    def theirs(x):
        yield type(x)

    theirs.__module__ = "away_from_here"
    for _ in range(2):
        names = execute(
            "with theirs(x) as a, own(x) as b: pass", theirs=theirs, own=own, x=np.ones(1)
        )
        assert (names["a"], names["b"]) == (onp.ndarray, np.ndarray)
    assert execute("f = away.naming(g)(x)", away=away, g=type, x=np.ones(1))["f"] is np.ndarray


def test_functions_that_others_call_cross_the_border(away):
    from scipy.linalg.blas import ddot

    x = np.ones(2)
    found = execute(
        """
        from functools import partial, reduce
        from concurrent.futures import ThreadPoolExecutor
        from threading import Thread
        found = [*map(away.seen, [x]), partial(away.seen)(x), *map(ddot, [x], [x]), ddot(x, x)]
        found.append(reduce(away.first, [x, x]).tolist())
        assert reduce(ddot, [x, x]) == 2 and max([x], key=away.seen) is x
        with ThreadPoolExecutor(1) as pool:
            found += [*pool.map(away.seen, [x]), pool.submit(away.seen, x).result()]
        thread = Thread(target=away.write, args=(x,))
        thread.start(); thread.join()
        found += [np.apply_along_axis(away.seen, 0, x).item(), sorted([x], key=ddot_of)[0] is x]
        """,
        away=away,
        ddot=ddot,
        ddot_of=lambda y: ddot(onp.asarray(y), onp.asarray(y)),
        np=np,
        x=x,
    )["found"]
    assert found[:4] == [onp.ndarray, onp.ndarray, 2, 2] and found[4] == [1, 1]
    assert found[5:] == [onp.ndarray, onp.ndarray, onp.ndarray, True] and x[0] == 9


def test_what_only_looks_at_a_function_gets_it_itself(away):
    names = execute(
        """
        from functools import wraps
        @wraps(away.seen)
        def own(x): return away.seen(x)
        parsed = datetime.datetime.strptime("2020", "%Y").year, dict.fromkeys([x.tobytes()])
        """,
        away=away,
        datetime=importlib.import_module("datetime"),
        x=np.ones(1),
    )
    assert names["own"].__name__ == "seen" and names["own"].__wrapped__ is away.seen
    assert names["parsed"] == (2020, {onp.ones(1, "f4").tobytes(): None})
    for function in (dict.fromkeys, names["datetime"].datetime.strptime, str.maketrans):
        assert border.across(function) is function


def test_classes_in_c_that_name_no_module_are_of_the_package():
    import scipy.sparse
    import scipy.sparse.linalg

    found = execute(
        """
        lu = linalg.splu(matrix)
        solve = linalg.factorized(matrix)
        found = [lu.solve(b), solve(b), *map(lu.solve, [b])]
        """,
        linalg=scipy.sparse.linalg,
        matrix=scipy.sparse.csc_array(2 * onp.eye(2)),
        b=np.ones(2),
    )["found"]
    assert [type(x) for x in found] == [np.ndarray] * 3
    assert all((onp.asarray(x) == 0.5).all() for x in found)


def test_calls_over_the_border_are_pickled_and_copied():
    call = border.across(importlib.import_module("scipy.special").softmax)
    for made in (pickle.loads(pickle.dumps(call)), copy.deepcopy(call)):
        assert made.function is call.function and made(np.zeros(2)).tolist() == [0.5, 0.5]


class AnswersAll:
    """Callable that has every attribute, as a column of polars, and can't be hashed."""

    def __getattr__(self, name):
        return AnswersAll()

    def __eq__(self, other):
        raise TypeError("no truth")

    __hash__ = None

    def __call__(self, x):
        return type(x)


class Items(dict):
    def __getattr__(self, name):
        return self[name]

    def __call__(self, x):
        return self["a"] + x

    @property
    def __self__(self):
        raise ValueError("of the program")


def test_callables_are_asked_for_no_attribute_that_they_do_not_have():
    for function in (AnswersAll(), AnswersAll().sort, Items(a=1), mock.call, mock.call.predict):
        assert border.across(function) is function
    names = execute(
        "found = f(np.ones(2)), f.g(2), items(2), call(3), call.predict(3)",
        np=np,
        f=AnswersAll(),
        items=Items(a=1),
        call=mock.call,
    )
    assert names["found"] == (np.ndarray, int, 3, mock.call(3), mock.call.predict(3))


def test_columns_of_polars_are_called():
    polars = pytest.importorskip("polars")
    names = execute("found = pl.col('a') * 2", pl=polars)
    assert str(polars.DataFrame({"a": [1, 2]}).select(names["found"])["a"].to_list()) == "[2, 4]"


def test_transformed_functions_of_jax_get_numpys_arrays():
    import jax
    import jax.numpy as jnp

    x = np.array([1.0, 2.0])
    names = execute(
        """
        def g(x):
            return jnp.sum(x * x)
        found = [
            jax.grad(g)(x), jax.value_and_grad(g)(x)[1], jax.vmap(lambda v: v * 2)(x),
            jax.jacfwd(g)(x), jax.hessian(g)(x).sum(0), jax.checkpoint(jax.grad(g))(x),
            jax.jit(jax.grad(g))(x), jax.grad(jax.jit(g))(x),
        ]
        """,
        jax=jax,
        jnp=jnp,
        x=x,
    )
    for result in names["found"]:
        assert isinstance(result, jax.Array)
    assert [r.tolist() for r in names["found"]] == [[2, 4], [2, 4], [2, 4], [2, 4], [2, 2]] + [
        [2, 4]
    ] * 3


def test_objects_that_give_arrays_are_taken_by_packages():
    import scipy.ndimage

    names = execute(
        """
        class Frame:
            def __init__(self, rows):
                self.rows = rows
            def __array__(self, dtype=None, copy=None):
                return self.rows if dtype is None else self.rows.astype(dtype)
        frame = Frame(np.array([[1.0, 2.0], [3.0, 5.0]]))
        filtered = scipy.ndimage.gaussian_filter(frame, 1.0)
        added = np.add(frame, 1)
        with autograd.record():
            x = np.ones(2)
            x.attach_grad()
            y = (np.asarray(Frame(x)) * 3).sum()
        y.backward()
        """,
        np=np,
        scipy=scipy,
        autograd=autograd,
    )
    expected = scipy.ndimage.gaussian_filter(onp.array([[1.0, 2.0], [3.0, 5.0]]), 1.0)
    assert type(names["filtered"]) is np.ndarray
    onp.testing.assert_allclose(names["filtered"], expected, rtol=1e-6)
    assert type(names["added"]) is np.ndarray
    assert names["added"].tolist() == [[2, 3], [4, 6]]
    assert names["x"].grad.tolist() == [3, 3]


def test_functions_that_a_package_has_kept_equal_the_programs():
    namespace = execute(
        """
        def double(x):
            return x * 2
        def triple(x):
            return x * 3
        """
    )
    double = namespace["double"]
    calls = [border._callback(f) for f in (double, namespace["triple"])]
    for made in (fast_path._FramelessCall, fast_path.FramelessCall):
        kept = made(double, calls[0].prepare, calls[0].finish)
        assert kept == double and double == kept and kept == made(double, None, None)
        assert kept != namespace["triple"] and kept != 1
        assert hash(kept) == hash(double) and repr(kept) == repr(double)
        with pytest.raises(TypeError):
            kept < double  # noqa: B015
