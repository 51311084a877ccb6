"""Comparison with NumPy of functions that are composed of others: eager on both backends, and
compiled.

The host runs in both policies of dtypes, eager XLA in NumPy's, and one compiled program has all
calls in the default one.
"""

import contextlib
import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as onp
from oracle import public

from npcompat import autograd, np, npx, test_utils

MODES = ("host", "xla", "compiled")
NARROW = {onp.dtype("f8"): onp.dtype("f4"), onp.dtype("c16"): onp.dtype("c8")}


@dataclass(frozen=True)
class Call:
    """A call written over `xp`, and its arrays."""

    run: Any
    arrays: tuple[Any, ...] = ()
    loose: float = 1
    compiled: bool = True
    kept: bool = False  # the dtypes are asked for, and the same in both policies

    def on(self, xp, arrays):
        return leaves(self.run(xp, *arrays))


@contextlib.contextmanager
def quiet():
    """Warnings are no part of the comparison."""
    with onp.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def leaves(result):
    """The arrays of a result, in order."""
    if isinstance(result, list | tuple):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def outcome(run):
    """The arrays of a result on the host, or its exception."""
    try:
        with quiet():
            return [onp.asarray(leaf) for leaf in run()]
    except Exception as error:
        return error


def assert_as_numpy(calls, mode):
    """Assert that calls do what they do on NumPy."""
    expected = [
        outcome(lambda call=call: call.on(onp, [a.copy() for a in call.arrays])) for call in calls
    ]
    if mode == "compiled":
        chosen = [
            (c, e)
            for c, e in zip(calls, expected, strict=True)
            if c.compiled and not isinstance(e, Exception)
        ]
        with quiet():
            results = npx.jit(
                lambda batch: [c.on(np, given) for (c, _), given in zip(chosen, batch, strict=True)]
            )([[np.array(a) for a in c.arrays] for c, _ in chosen])
        for i, ((call, wanted), found) in enumerate(zip(chosen, results, strict=True)):
            verify(call, [onp.asarray(f) for f in found], wanted, False, f"compiled, {i}")
        return
    for numpy_policy in (False, True) if mode == "host" else (True,):
        with npx.backend("numpy" if mode == "host" else "jax"), npx.np_default_dtype(numpy_policy):
            for i, (call, wanted) in enumerate(zip(calls, expected, strict=True)):
                found = outcome(lambda call=call: call.on(np, [np.array(a) for a in call.arrays]))
                verify(call, found, wanted, numpy_policy, f"{mode}, {i}")


def verify(call, found, expected, numpy_policy, where):
    """Compare results, or an exception, with NumPy's."""
    if isinstance(expected, Exception):
        assert isinstance(found, public(type(expected))), (
            f"{where}: expected {expected!r}, got {found!r}"
        )
        return
    if isinstance(found, Exception):
        raise AssertionError(f"{where}: NumPy returns {expected}, this raised {found!r}") from found
    assert len(found) == len(expected), where
    wide = call.kept or numpy_policy or any(a.dtype in NARROW for a in call.arrays)
    for mine, theirs in zip(found, expected, strict=True):
        wanted = theirs.dtype if wide else NARROW.get(theirs.dtype, theirs.dtype)
        assert (mine.dtype, mine.shape) == (wanted, theirs.shape), where
        rtol, atol = (
            call.loose * t
            for t in test_utils.tolerances(
                mine.dtype, wanted, *[a.dtype for a in call.arrays if a.dtype.itemsize == 2]
            )
        )
        test_utils.assert_almost_equal(
            mine, theirs.astype(wanted), rtol, atol, names=(f"{where}: this", "NumPy's")
        )


ADDED = {"exclusive", "descending", "dtype"}
"""Arguments that some of NumPy's functions have not, and ours have by keyword only."""


def assert_signature(mine, theirs):
    """Assert that two functions take the same arguments (names, order, kinds, defaults), but for
    what we added.
    """
    found, expected = (
        [(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()]
        for f in (mine, theirs)
    )
    added = ADDED - {name for name, *_ in expected}
    assert [
        p for p in found if p[0] not in added or p[1] != inspect.Parameter.KEYWORD_ONLY
    ] == expected


def assert_gradient(loss, *arrays, rtol=1e-6):
    """Assert that the gradients of a scalar function of float64 arrays are central differences."""
    variables = [np.array(a) for a in arrays]
    for v in variables:
        v.attach_grad()
    with autograd.record():
        value = loss(*variables)
    value.backward()
    for position, v in enumerate(variables):
        expected = onp.zeros_like(arrays[position])
        directions = (1, 1j) if expected.dtype.kind == "c" else (1,)
        for at in onp.ndindex(expected.shape):
            for direction in directions:
                ends = []
                for sign in (1, -1):
                    moved = [a.copy() for a in arrays]
                    moved[position][at] += sign * 1e-6 * direction
                    with npx.backend("numpy"):  # it compiles nothing
                        ends.append(float(loss(*map(np.array, moved))))
                expected[at] += (ends[0] - ends[1]) / 2e-6 * onp.conj(direction)
        test_utils.assert_almost_equal(v.grad, expected, rtol, rtol)
