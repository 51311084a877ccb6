"""The arrays of a random program, and one step of it: the same on NumPy, eager and compiled,
exceptions included.
"""

import warnings

import numpy as onp
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant
from oracle import public

from npcompat import np, npx

SHAPES = [(2, 3), (4,), (3, 2), (2, 2, 3), (), (0, 3), (6,), (1, 3)]
DTYPES = ["float64", "int64", "float32", "complex128", "bool", "int32", "uint8"]
RECORD = onp.dtype([("x", "f8"), ("y", "i4")])
SPECIAL = [onp.nan, -0.0, onp.inf, 0.0, -onp.inf, 1.5]
CAUGHT = (ValueError, TypeError, IndexError, KeyError, RuntimeError, OverflowError, BufferError)
WRONG_INPUT = (ValueError, IndexError, KeyError, TypeError, OverflowError)
KEPT = 7

places = st.integers(0, KEPT - 1)
axes = st.sampled_from([None, 0, -1, 1, 2])


def settled(xp, x):
    """A function's result in C order, its floats as small multiples of 1/64: rounding errors must
    not grow until integers differ.
    """
    if x.dtype.kind == "f":
        return (xp.floor(xp.clip(x, -999, 999) * 64 + 0.37) / 64).copy()
    return x.copy()


def attempt(step, xp, pool):
    """Run a step; return its result, or the exception that it raises."""
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = step(xp, pool)
            if isinstance(result, onp.void):
                return (
                    xp.asarray(result).copy()
                )  # NumPy's record of an array looks into it; here an array made of it does not
            return xp.asarray(result) if isinstance(result, onp.generic) else result
        except CAUGHT as error:
            return error


def compare(mine, theirs, what, scale=1.0):
    """Assert that two arrays agree; `scale` is the magnitude of the numbers from which their floats
    come.
    """
    assert mine.dtype == theirs.dtype, f"{what}: expected dtype {theirs.dtype}, got {mine.dtype}"
    assert mine.shape == theirs.shape, f"{what}: expected shape {theirs.shape}, got {mine.shape}"
    compare_values(onp.asarray(mine), theirs, what, scale)


def compare_values(found, theirs, what, scale):
    """Assert that two of NumPy's arrays of one type hold the same; records field by field, as nan
    is no reason to differ.
    """
    for name in theirs.dtype.names or ():
        compare_values(found[name], theirs[name], f"{what}, field {name}", scale)
    if theirs.dtype.names or (found == theirs).all():
        return
    if theirs.dtype.kind not in "fc":
        raise AssertionError(f"{what}: expected {theirs!r}, got {found!r}")
    error = 1e-5 if theirs.dtype.itemsize < 8 else 1e-9
    with onp.errstate(all="ignore"):
        onp.testing.assert_allclose(found, theirs, rtol=error, atol=scale * error, err_msg=what)


def steps(a):
    """The strides that mean something: along axes of more than one element."""
    return [n for n, length in zip(a.strides, a.shape, strict=True) if length > 1] if a.size else []


def magnitude(a):
    """The largest finite number of an array of floats."""
    if a.dtype.kind not in "fc":
        return 0.0
    found = onp.abs(a[onp.isfinite(a)])
    return float(found.max(initial=0))


class Machine(RuleBasedStateMachine):
    """Arrays on NumPy and on npcompat, to which the same happens; a program that can be compiled
    is, when it ends.
    """

    backend = "numpy"

    @initialize(data=st.data(), compiled=st.booleans())
    def begin(self, data, compiled):
        shapes = data.draw(st.lists(st.sampled_from(SHAPES), min_size=2, max_size=3))
        dtypes = data.draw(st.lists(st.sampled_from(DTYPES), min_size=3, max_size=3))
        special = data.draw(st.integers(0, 3))
        self.start = []
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=False)):
            values = onp.arange(onp.prod(shape, dtype=int)).reshape(shape) * 7 % 11 - i - 1
            if dtype == "complex128":
                values = values * (1 - 2j)
            elif dtype[0] == "f" and special == i:
                values = onp.resize(onp.array(SPECIAL), shape)
            self.start.append(
                onp.array(values % 2 == 0 if dtype == "bool" else values).astype(dtype)
            )
        if not compiled and data.draw(st.booleans()):
            self.start.append(
                onp.broadcast_to(onp.array((1, 2), RECORD), shapes[-1]).copy()
            )  # which a compiled function refuses
        self.theirs = [a.copy() for a in self.start]
        with npx.backend(self.backend):
            self.mine = [np.array(a) for a in self.start]
        self.steps = []
        self.compiled = compiled
        self.scale = 1.0
        self.agreed = True

    def do(self, step, into=0, either=False):
        """Run a step on both sides; an array that it returns takes a place in the pool, anything
        else must be equal.

        With `either`, a step that is wrong in two ways may raise for either.
        """
        self.agreed = False
        expected = attempt(step, onp, self.theirs)
        with npx.backend(self.backend), npx.np_default_dtype():
            found = attempt(step, np, self.mine)
        if isinstance(expected, Exception):
            kinds = WRONG_INPUT if either else (public(type(expected)),)
            assert isinstance(found, kinds), f"expected {expected!r}, got {found!r}"
        elif isinstance(found, Exception):
            raise AssertionError(f"NumPy returns {expected!r}") from found
        else:
            kinds = ()
        place = None
        if isinstance(expected, onp.ndarray):
            assert isinstance(found, np.ndarray), f"expected an array, got {found!r}"
            place = len(self.theirs) if len(self.theirs) < KEPT else into % KEPT
            self.theirs[place : place + 1] = [expected]
            self.mine[place : place + 1] = [found]
            note(f"  array {place} is {expected!r}")
        elif not isinstance(expected, Exception):
            assert found == expected, f"expected {expected!r}, got {found!r}"
        else:
            note(f"  {expected!r}")
        self.steps.append((step, place, kinds))

    def pick(self, place):
        """The place of an array that is there."""
        return place % len(self.theirs)

    @invariant()
    def all_arrays_agree(self):
        theirs = getattr(self, "theirs", ())
        self.agreed = False
        self.scale = max([getattr(self, "scale", 1.0), *map(magnitude, theirs)])
        for i, a in enumerate(theirs):
            mine, what = self.mine[i], f"array {i} after {len(self.steps)} steps"
            compare(mine, a, what, self.scale)
            assert steps(mine) == steps(a), (
                f"{what}: expected strides {a.strides}, got {mine.strides}"
            )
            assert mine.flags.writeable == a.flags.writeable, f"{what}: writeable"
            for j, b in enumerate(theirs[:i]):
                assert np.may_share_memory(mine, self.mine[j]) == onp.may_share_memory(a, b), (
                    f"{what}: bounds of its memory and of {j}"
                )
        self.agreed = True

    def teardown(self):
        """Replay the program, compiled."""
        if not getattr(self, "compiled", False) or not self.steps or not self.agreed:
            return

        def program(*arrays):
            pool = list(arrays)
            for step, place, _ in self.steps:
                result = attempt(step, np, pool)
                raised.append(result if isinstance(result, Exception) else None)
                if place is not None and isinstance(result, np.ndarray):
                    pool[place : place + 1] = [result]
            return pool

        raised = []
        with npx.backend(self.backend), npx.np_default_dtype():
            pool = npx.jit(program)(*[np.array(a) for a in self.start])
        for n, ((_, _, kinds), found) in enumerate(zip(self.steps, raised, strict=True)):
            assert isinstance(found, kinds or type(None)), (
                f"compiled, step {n}: expected {kinds or None}, got {found!r}"
            )
        for i, (mine, theirs) in enumerate(zip(pool, self.theirs, strict=True)):
            compare(mine, theirs, f"compiled: array {i}", self.scale)
