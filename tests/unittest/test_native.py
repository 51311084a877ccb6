"""The fast path equals the slow path in results, classes, errors and writes, and leaks nothing."""

import functools
import gc
import inspect
import itertools
import operator
import os
import pickle
import shutil
import sys
import sysconfig
import textwrap
import tracemalloc
import warnings

import numpy as onp
import pytest
from both_ways import HOWS, KINDS, NEEDED, attempted, described, made, operands
from internals import REGISTRY, Program, apply, apply_module, fast_path

from npcompat import autograd, gluon, np, npx

UFUNCS = sorted(
    name for name, op in REGISTRY.items() if op.ufunc is not None and op.name.startswith("_npi_")
)


def has_axes(op):
    """Return True for generalized ufuncs, whose operands have core dimensions."""
    return op.ufunc is not None and op.ufunc.signature is not None


@pytest.mark.skipif(os.environ.get("NPCOMPAT_NATIVE") == "0", reason="NPCOMPAT_NATIVE=0")
def test_it_is_compiled_where_there_is_a_compiler():
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    assert fast_path.native is not None or shutil.which(compiler) is None, (
        "build it: pip install -e ."
    )


ON_BOTH = ("add", "divide", "less", "equal")
ON_THE_HOST = (*ON_BOTH, "matmul", "divmod", "left_shift", "maximum")


@NEEDED
@pytest.mark.parametrize(
    ("backend", "name"),
    [*itertools.product(["numpy"], ON_THE_HOST), *itertools.product(["jax"], ON_BOTH)],
)
@pytest.mark.parametrize("policy", ["float32", "numpy"])
def test_operators(backend, name, policy):
    op, given = REGISTRY[f"_npi_{name}"], operands(backend)
    first = second = list(given)
    if backend == "jax":
        second = [kind for kind in given if kind not in ("float64", "complex64", "objects")]
        first = second[:8]
    with npx.backend(backend), npx.np_default_dtype(policy == "numpy"):
        for a, b in itertools.product(first, second):
            args = given[a], given[b]
            if has_axes(op) and any([type(x) is int for x in args]):
                continue  # NumPy checks the axes first, the slow path the range of the number
            fast, slow = (
                attempted(apply, op, args),
                attempted(apply_module.apply_slow_path, op, args),
            )
            # warnings of BLAS depend on the alignment of operands
            compared = 1 if has_axes(op) and not isinstance(fast[0], type) else 2
            assert fast[:compared] == slow[:compared], (a, b)


@NEEDED
@pytest.mark.parametrize("name", UFUNCS)
def test_each_ufunc(name):
    op = REGISTRY[name]
    given = operands("numpy")
    with npx.backend("numpy"), npx.np_default_dtype():
        for kinds in itertools.product(
            ("float32", "int32", "uint8", "0-d", "empty", "scalar", "view", "2.5", "300"),
            repeat=len(op.inputs),
        ):
            args = tuple([given[kind] for kind in kinds])
            if has_axes(op) and "300" in kinds:
                continue
            assert attempted(apply, op, args) == attempted(
                apply_module.apply_slow_path, op, args
            ), kinds


@NEEDED
@pytest.mark.parametrize("backend", ["numpy", "jax", "auto"])
def test_methods_of_two_operands(backend):
    given = operands(backend)
    kinds = (
        "int32",
        "0-d",
        "view",
        "row",
        "misfit",
        "derived",
        "scalar",
        "records",
        "text",
        "5",
        "300",
        "-1",
        "2.5",
        "1j",
        "list",
        "numpys",
    )
    with npx.backend(backend), npx.np_default_dtype():
        for method in (
            "__add__",
            "__radd__",
            "__rsub__",
            "__pow__",
            "__rpow__",
            "__eq__",
            "__ne__",
            "__lt__",
            "__matmul__",
            "__divmod__",
        ):
            slow_path = vars(Operators)[method].__wrapped__
            for a, b in itertools.product(kinds[:9], kinds):
                args = given[a], given[b]
                assert attempted(getattr(type(args[0]), method), *args) == attempted(
                    slow_path, *args
                ), (method, a, b)


Operators = next(kind for kind in np.ndarray.__mro__ if "__add__" in vars(kind))


InPlace = next(kind for kind in np.ndarray.__mro__ if "__iadd__" in vars(kind))


@NEEDED
@pytest.mark.parametrize("backend", ["numpy", "jax", "auto"])
def test_methods_in_place(backend):
    given = operands(backend)
    kinds = (
        "float32",
        "int32",
        "row",
        "0-d",
        "view",
        "scalar",
        "5",
        "300",
        "2.5",
        "1j",
        "misfit",
        "list",
        "2.5",
        "float16",
    )
    with npx.backend(backend), npx.np_default_dtype():
        for method in ("__iadd__", "__itruediv__", "__imod__", "__iand__"):
            slow_path = vars(InPlace)[method].__wrapped__
            for x, how, other in itertools.product(
                ("float32", "int32", "0-d", "bool"), HOWS, kinds
            ):
                first, second = made(KINDS[x], how), made(KINDS[x], how)
                case = method, x, how, other
                ways = (
                    attempted(getattr(np.ndarray, method), first, given[other]),
                    attempted(slow_path, second, given[other]),
                )
                assert ways[0] == ways[1], case
                assert described(first) == described(second), case


def calls(a, b, s):
    a + b
    a + 1.5
    2 * a
    -a
    np.less(a, b)
    a.__lt__(b)
    np.add(a, b)
    np.exp(a)
    np.divmod(a, 2.0)
    a[1]
    a[1, 2]
    a[1:, None]
    a[1, 2] = 3
    a[1] = b[0]
    a[:, 1] = s
    a[...] = 2.5
    a[1:] += 1
    a += b
    a *= 1.0
    s + s
    for wrong in (
        lambda: a[7],
        lambda: a + np.ones(5),
        lambda: a.__setitem__(0, np.ones(5)),
        lambda: np.add(a, "x"),
    ):
        try:
            wrong()
        except (ValueError, IndexError, TypeError):
            continue
        raise AssertionError("that should not have been possible")


@NEEDED
@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_nothing_is_leaked(backend):
    with npx.backend(backend):
        a, b = np.ones((3, 4)), np.full((3, 4), 0.5)
        s = b[0, 0]
        shared = [
            None,
            0,
            1,
            (),
            np.ndarray,
            type(s),
            REGISTRY["_npi_add"],
            a,
            b,
            s,
            b._value,
            b._value.payload,
            onp.dtype("f4"),
        ]

        def counted():
            for _ in range(50):
                calls(a, b, s)
            gc.collect()
            return len(gc.get_objects()), [sys.getrefcount(x) for x in shared]

        counted()
        objects, references = counted()
        later_objects, later = counted()
    assert later_objects <= objects + 5
    assert all(after - before < 40 for before, after in zip(references, later, strict=True)), list(
        zip(references, later, strict=True)
    )


@NEEDED
def test_wrong_use_is_an_error():
    native = fast_path.native
    with pytest.raises(TypeError, match="expected an operator"):
        native.Method("binary", len)
    with pytest.raises(ValueError, match="a method of kind 'sideways'"):
        native.Method("sideways", len)
    with pytest.raises(TypeError, match="without a function"):
        native.Function.__new__(native.Function)()
    with pytest.raises(TypeError, match="knows nothing of 'nothing'"):
        native.connect(nothing=1)
    with pytest.raises(TypeError, match="2 or 3 arguments"):
        native.apply(REGISTRY["_npi_add"])


def test_parts_of_expressions_are_written_into_each_other_only():
    """Sums may be written into an operand that nobody holds; whoever holds one keeps it, also if he
    has not counted that.
    """
    with npx.np_default_dtype():
        host = onp.linspace(1, 2, 100_000)
        a, ones = np.array(host), np.ones(100_000)

        def doubled():
            return a * 2

        def local():
            z = a * 2
            return z + 1, z

        held = [a * 2]
        added = functools.partial(
            operator.add, a * 2
        )  # which holds its argument once, and hands it on without holding it again
        for found, expected in (
            ((a * 2 + a) * 3 - 1, (host * 2 + host) * 3 - 1),
            (1 / (a * 2 + 1), 1 / (host * 2 + 1)),
            (a - (a * 2 - a), host - (host * 2 - host)),
            (doubled() * doubled(), host * 2 * (host * 2)),
            (added(ones), host * 2 + 1),
            (added(ones), host * 2 + 1),
            (held[0] + 1, host * 2 + 1),
            (held[0], host * 2),
            (local()[0], host * 2 + 1),
            (local()[1], host * 2),
            (sum([a * 1.0, a * 2.0]), host + host * 2),
            ((a * 2).reshape(2, -1).T + 1, (host * 2).reshape(2, -1).T + 1),
            ((a * 2)[::-1] + a, (host * 2)[::-1] + host),
            (a * 2 + np.float32(1), host * 2 + 1),
            (a * 2 + 1j, host * 2 + 1j),
            (a * 2 + a[:, None][:2], host * 2 + host[:, None][:2]),
            ((a * 2 + np.ones(1)).astype("f4") + a, (host * 2 + 1).astype("f4") + host),
        ):
            onp.testing.assert_array_equal(found.asnumpy(), expected)
            assert found.dtype == expected.dtype
        onp.testing.assert_array_equal(a.asnumpy(), host)


@NEEDED
def test_an_expression_needs_one_new_array():
    with npx.backend("numpy"), npx.np_default_dtype():
        a = np.ones(1_000_000)
        a + 1
        tracemalloc.start()
        try:
            found = ((a * 2 + a) * 3 - a) / 2
            assert tracemalloc.get_traced_memory()[1] < 1.5 * a.nbytes
        finally:
            tracemalloc.stop()
        assert found[0] == 4


class Unreadable:
    """Object whose conversion to a number fails."""

    def __float__(self):
        raise ValueError("unreadable")


@pytest.mark.parametrize("backend", ["numpy", "jax", "auto"])
@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.__setitem__(7, 1.0),
        lambda y: y.__setitem__([9], 1.0),
        lambda y: y.__setitem__(slice(None), np.ones(5)),
        lambda y: y[1:].__setitem__(0, "text"),
        lambda y: y.__iadd__(np.ones(5)),
        lambda y: np.add(y, np.ones(5), out=y),
        lambda y: y.__setitem__(0, Unreadable()),
    ],
)
def test_what_could_not_be_written_is_still_recorded(backend, write):
    with npx.backend(backend):
        x = np.array([1.0, 2.0, 3.0])
        x.attach_grad()
        with autograd.record():
            y = x * x
        with pytest.raises((IndexError, ValueError)):
            write(y)
        y.backward()
        assert x.grad.tolist() == [2, 4, 6]

        with autograd.record():
            y = x * x
        y[0] = 5
        with pytest.raises(autograd.AutogradError):
            y.backward()


@NEEDED
def test_the_fast_path_writes_results_into_out():
    with npx.backend("numpy"):
        a, b = np.array(KINDS["float32"]), np.array(KINDS["float32"])
        kept = a.copy()
        assert np.add(a, b, out=a) is a and a.tolist() == (kept + b).tolist()
        np.multiply(a[:, 1:], 2, out=a[:, :-1])  # which overlap
        assert a.tolist() == [[-4.0, 0.0, 0.0], [8.0, 12.0, 6.0]] and kept.tolist() == b.tolist()
        view = a[0]
        view.setflags(write=False)
        with pytest.raises(ValueError, match="read-only"):
            np.add(view, 1, out=view)
        with pytest.raises(TypeError, match="Cannot cast"):
            np.add(a, b, out=np.zeros((2, 3), dtype=int))
        with pytest.raises(ValueError, match="broadcast"):
            np.add(a, b, out=np.zeros((3, 3)))
        assert np.add(a, b, out=None).shape == (2, 3) and np.power(
            np.array([2, 3]), 2, out=np.zeros(2)
        ).tolist() == [4.0, 9.0]
        a.attach_grad()
        with autograd.record():
            c = a * 2
        np.add(c, 1, out=c)
        with pytest.raises(Exception, match=r"record|graph|differentiat"):
            c.backward()


@pytest.mark.slow
@NEEDED
@pytest.mark.parametrize("backend", ["numpy", "jax", "auto"])
def test_what_is_recorded(backend):
    """The same nodes, gradients and kinds of results, of arrays, scalars, views, numbers, and of
    what has no gradient.
    """
    names = [
        "_npi_add",
        "_npi_multiply",
        "_npi_divide",
        "_npi_maximum",
        "_npi_less",
        "_npi_power",
        "_npi_matmul",
        "_npi_divmod",
    ]

    def gradients(apply, name, kinds):
        given = [
            np.array(KINDS["float32"][:, :2]),
            np.array(KINDS["float32"][:, 1:]),
            np.array([1, 2]),
            np.array(2.5),
        ]
        for x in given:
            if x.dtype.kind == "f":
                x.attach_grad()
        with autograd.record():
            variables = {
                "a": given[0],
                "b": given[1],
                "ints": given[2],
                "0-d": given[3],
                "view": given[0][:, ::-1],
                "number": 2.5,
                "5": 5,
            }
            variables |= {
                "scalar": given[3] * 2,
                "plain": np.ones((2, 2)),
                "element": given[0][0, 1],
            }
            found = attempted(apply, REGISTRY[name], tuple([variables[k] for k in kinds]))
            result = (
                apply(REGISTRY[name], tuple([variables[k] for k in kinds]))
                if found and not isinstance(found[0], type)
                else None
            )
            result = result[0] if isinstance(result, tuple) else result
            recorded = getattr(getattr(result, "_value", None), "node", None)
        if recorded is None:
            return found, None
        result.backward()
        kept = [x.grad.asnumpy().tolist() for x in given if x.grad is not None]
        return (
            found,
            type(recorded),
            recorded.op.name if hasattr(recorded, "op") else None,
            str(kept),
        )

    with npx.backend(backend), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            for kinds in itertools.product(
                ("a", "b", "ints", "0-d", "view", "scalar", "plain", "element"),
                ("a", "number", "5", "ints", "0-d", "view", "scalar"),
            ):
                ways = (
                    gradients(apply, name, kinds),
                    gradients(apply_module.apply_slow_path, name, kinds),
                )
                assert ways[0] == ways[1], (name, kinds)


@NEEDED
def test_a_step_that_checks_values_is_finished_in_c_and_raises_at_the_next_read(monkeypatch):
    with npx.backend("jax"):
        state, loss = np.zeros(3), gluon.loss.SoftmaxCrossEntropyLoss()

        @npx.jit
        def step(scores, labels):
            state[:] += 1
            return loss(scores, labels).mean()

        scores, labels = np.ones((2, 3)), np.array([0, 2], dtype="int32")
        for _ in range(4):
            found = step(scores, labels)
        monkeypatch.delattr(Program, "finished")  # what Python would call
        assert state.tolist() == [4, 4, 4] and abs(found.item() - onp.log(3)) < 1e-5
        for _ in range(200):  # more than are kept before they are looked at
            step(scores, labels)
        step(scores, np.array([0, 3], dtype="int32"))
        with pytest.raises(IndexError, match="numbers of classes, from 0 to 2"):
            state.tolist()
        assert state.tolist() == [205, 205, 205]


@pytest.mark.parametrize("kind", [fast_path.FramelessCall, fast_path._FramelessCall])
def test_calls_without_a_frame_look_like_their_function(kind):
    call = kind(textwrap.dedent, lambda a, k: (a, k, None), None)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__"):
        assert getattr(call, name) == getattr(textwrap.dedent, name)
    assert call.__wrapped__ is call.function is textwrap.dedent and call.finish is None
    assert inspect.signature(call) == inspect.signature(textwrap.dedent)
    assert functools.lru_cache(call).__name__ == "dedent"
    assert pickle.loads(pickle.dumps(kind(len, divmod, None))).function is len
    with pytest.raises(AttributeError, match="missing"):
        call.missing


def test_calls_without_a_frame_check_what_they_are_given():
    kind = fast_path.FramelessCall
    afterwards = []
    call = kind(divmod, lambda a, k: (a, k, afterwards.append), None)
    assert call(7, 2) == (3, 1) and afterwards == [False]
    with pytest.raises(ZeroDivisionError):
        call(7, 0)
    assert afterwards == [False, True]
    with pytest.raises((TypeError, ValueError)):
        kind(divmod, lambda a, k: (a,), None)(1, 2)
    with pytest.raises(KeyError):
        kind(divmod, lambda a, k: (a, k, {}.__getitem__), None)(1, 2)
    with pytest.raises(IndexError):
        kind(int, lambda a, k: (a, k, None), [].__getitem__)(1)
