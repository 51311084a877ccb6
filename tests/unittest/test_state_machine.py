"""Random programs of views, writes, ufuncs and reductions: NumPy, eager and compiled agree, exceptions included.

Results are copied to C order, which NumPy does not promise for those of functions.  Each step runs on NumPy and eagerly, and all arrays are compared after it; at the end the recorded steps are replayed
under `npx.jit`.  In CI the examples are few and always the same; `HYPOTHESIS_PROFILE=thorough pytest
tests/unittest/test_state_machine.py` tries a thousand other programs.
"""

import os
import warnings

import hypothesis
import numpy as onp
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle import public

from npcompat import np, npx

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SHAPES = [(2, 3), (4,), (3, 2), (2, 2, 3), (), (0, 3), (6,), (1, 3)]
DTYPES = ["float64", "int64", "float32", "complex128", "bool"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum"]
UNARY = ["negative", "square", "absolute", "conjugate"]
KEPT = 7

places = st.integers(0, KEPT - 1)
whole = st.integers(-3, 3)


def as_array(xp, x):
    """A scalar as an array, which can be written."""
    return xp.asarray(x) if isinstance(x, onp.generic) else x


def attempt(step, xp, pool):
    """What a step returns, or the exception that it raises."""
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return as_array(xp, step(xp, pool))
        except (ValueError, TypeError, IndexError, RuntimeError, OverflowError) as error:
            return error


def compare(mine, theirs, what):
    """Assert that two arrays agree."""
    assert mine.dtype == theirs.dtype, f"{what}: expected dtype {theirs.dtype}, got {mine.dtype}"
    assert mine.shape == theirs.shape, f"{what}: expected shape {theirs.shape}, got {mine.shape}"
    found = mine.asnumpy()
    if (found == theirs).all():
        return
    with onp.errstate(all="ignore"):
        onp.testing.assert_allclose(found, theirs, rtol=1e-5 if theirs.dtype == onp.float32 else 1e-9, atol=1e-6, err_msg=what)


class Programs(RuleBasedStateMachine):
    """Arrays on NumPy and on npcompat, to which the same happens."""

    backend = "numpy"
    replays = False

    @initialize(data=st.data())
    def begin(self, data):
        shapes = data.draw(st.lists(st.sampled_from(SHAPES), min_size=2, max_size=3))
        dtypes = data.draw(st.lists(st.sampled_from(DTYPES), min_size=3, max_size=3))
        self.start = []
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=False)):
            values = onp.arange(onp.prod(shape, dtype=int)).reshape(shape) - i - 1
            if dtype == "complex128":
                values = values * (1 - 2j)
            self.start.append(onp.array(values % 2 == 0 if dtype == "bool" else values, dtype))
        self.theirs = [a.copy() for a in self.start]
        with npx.backend(self.backend):
            self.mine = [np.array(a) for a in self.start]
        self.steps = []

    def do(self, step, position=None, either=False):
        """Run a step on both sides; its result takes a place in the pool.

        With `either`, a step that is wrong in two ways may raise for either.
        """
        expected = attempt(step, onp, self.theirs)
        with npx.backend(self.backend), npx.np_default_dtype():
            found = attempt(step, np, self.mine)
        if isinstance(expected, Exception):
            kinds = (ValueError, IndexError, TypeError) if either else public(type(expected))
            assert isinstance(found, kinds), f"expected {expected!r}, got {found!r}"
        elif isinstance(found, Exception):
            raise AssertionError(f"NumPy returns {expected!r}") from found
        place = None
        if isinstance(expected, onp.ndarray):
            place = len(self.theirs) if len(self.theirs) < KEPT else (position or 0) % KEPT
            self.put(self.theirs, place, expected)
            self.put(self.mine, place, found)
        self.steps.append((step, place, type(found) if isinstance(found, Exception) else None))

    @staticmethod
    def put(pool, place, value):
        pool[place : place + 1] = [value]

    def pick(self, place):
        """The place of an array that is there."""
        return place % len(self.theirs)

    @invariant()
    def all_arrays_agree(self):
        for i, (mine, theirs) in enumerate(zip(getattr(self, "mine", ()), getattr(self, "theirs", ()), strict=True)):
            compare(mine, theirs, f"array {i} after {len(self.steps)} steps")

    # --- views

    @rule(i=places, data=st.data(), into=places)
    def basic_index(self, i, data, into):
        i = self.pick(i)
        key = data.draw(hnp.basic_indices(self.theirs[i].shape, allow_newaxis=True, max_dims=4))
        self.do(lambda xp, p: p[i][key], into)

    @rule(i=places, position=st.integers(-4, 4), into=places)
    def integer_index(self, i, position, into):
        i = self.pick(i)
        self.do(lambda xp, p: p[i][position], into)

    @rule(i=places, how=st.sampled_from(["T", "ravel", "real", "imag", "diagonal", "squeeze", "copy", "flatten"]), into=places)
    def rearranged(self, i, how, into):
        i = self.pick(i)
        self.do((lambda xp, p: getattr(p[i], how)) if how in ("T", "real", "imag") else (lambda xp, p: getattr(p[i], how)()), into)

    @rule(i=places, shape=st.sampled_from([(-1,), (2, -1), (3, -1), (-1, 2), (1, -1, 1), (4,), ()]), into=places)
    def reshaped(self, i, shape, into):
        i = self.pick(i)
        self.do(lambda xp, p: p[i].reshape(shape), into)

    @rule(i=places, shape=st.sampled_from([(2, 3), (3, 3), (2, 1, 3), (4,)]), into=places)
    def broadcast(self, i, shape, into):
        i = self.pick(i)
        self.do(lambda xp, p: xp.broadcast_to(p[i], shape), into)

    @rule(i=places, axes=st.permutations(range(3)), into=places)
    def transposed(self, i, axes, into):
        i = self.pick(i)
        axes = [a for a in axes if a < max(self.theirs[i].ndim, 1)]
        self.do(lambda xp, p: xp.transpose(p[i], axes), into)

    # --- writes

    @rule(i=places, j=places, data=st.data())
    def write_part(self, i, j, data):
        i, j = self.pick(i), self.pick(j)
        key = data.draw(hnp.basic_indices(self.theirs[i].shape, allow_newaxis=True, max_dims=3))
        self.do(lambda xp, p: p[i].__setitem__(key, p[j]), either=True)

    @rule(i=places, value=whole, data=st.data())
    def write_number(self, i, value, data):
        i = self.pick(i)
        key = data.draw(hnp.basic_indices(self.theirs[i].shape))
        self.do(lambda xp, p: p[i].__setitem__(key, value))

    @rule(i=places, j=places, positions=st.lists(st.integers(-4, 4), min_size=1, max_size=3), axis=st.integers(0, 1))
    def write_at(self, i, j, positions, axis):
        i, j = self.pick(i), self.pick(j)
        key = (slice(None),) * axis + (positions,)
        self.do(lambda xp, p: p[i].__setitem__(key, p[j]), either=True)

    @rule(i=places, positions=st.lists(st.integers(-4, 3), min_size=1, max_size=3), axis=st.integers(0, 1), into=places)
    def read_at(self, i, positions, axis, into):
        i = self.pick(i)
        key = (slice(None),) * axis + (positions,)
        self.do(lambda xp, p: p[i][key].copy(), into)

    @rule(i=places, limit=whole, value=whole)
    def write_where(self, i, limit, value):
        i = self.pick(i)
        if self.theirs[i].dtype.kind != "c":
            self.do(lambda xp, p: p[i].__setitem__(p[i] > limit, value))

    @rule(i=places, j=places, name=st.sampled_from(["__iadd__", "__isub__", "__imul__"]))
    def in_place(self, i, j, name):
        i, j = self.pick(i), self.pick(j)
        self.do(lambda xp, p: getattr(p[i], name)(p[j]) is None or None, either=True)

    # --- functions

    @rule(i=places, name=st.sampled_from(UNARY), into=places)
    def unary(self, i, name, into):
        i = self.pick(i)
        self.do(lambda xp, p: getattr(xp, name)(p[i]).copy(), into)

    @rule(i=places, j=places, name=st.sampled_from(BINARY), into=places)
    def binary(self, i, j, name, into):
        i, j = self.pick(i), self.pick(j)
        self.do(lambda xp, p: getattr(xp, name)(p[i], p[j]).copy(), into)

    @rule(i=places, j=places, k=places, name=st.sampled_from(BINARY), mask=st.none() | st.lists(st.booleans(), min_size=3, max_size=3))
    def binary_out(self, i, j, k, name, mask):
        i, j, k = self.pick(i), self.pick(j), self.pick(k)
        where = True if mask is None else onp.array(mask)
        self.do(lambda xp, p: getattr(xp, name)(p[i], p[j], out=p[k], where=where) is None or None, either=True)

    @rule(
        i=places,
        name=st.sampled_from(["sum", "max", "min", "any", "all", "mean", "cumsum"]),
        axis=st.sampled_from([None, 0, -1, 1, 2]),
        into=places,
    )
    def reduced(self, i, name, axis, into):
        i = self.pick(i)
        self.do(lambda xp, p: getattr(p[i], name)(axis=axis).copy(), into)

    @rule(i=places, dtype=st.sampled_from(DTYPES), into=places)
    def cast(self, i, dtype, into):
        i = self.pick(i)
        self.do(lambda xp, p: p[i].astype(dtype).copy(), into)

    @precondition(lambda self: len(getattr(self, "theirs", ())) > 1)
    @rule()
    def sharing(self):
        for i, a in enumerate(self.theirs):
            assert self.mine[i].flags.writeable == a.flags.writeable, f"array {i}: writeable"
            for j, b in enumerate(self.theirs[:i]):
                assert np.shares_memory(self.mine[i], self.mine[j]) == onp.shares_memory(a, b), f"arrays {i} and {j} share memory"

    # --- the same program, compiled

    def teardown(self):
        if not self.replays or not getattr(self, "steps", None):
            return

        def program(*arrays):
            pool, raised = list(arrays), []
            for step, place, _ in self.steps:
                result = attempt(step, np, pool)
                raised.append(type(result) if isinstance(result, Exception) else None)
                if place is not None and isinstance(result, np.ndarray):
                    self.put(pool, place, result)
            return pool, raised

        with npx.np_default_dtype():
            pool, raised = npx.jit(program)(*[np.array(a) for a in self.start])
        for n, ((_, _, expected), found) in enumerate(zip(self.steps, raised, strict=True)):
            assert (expected is None) == (found is None), f"compiled, step {n}: expected {expected}, got {found}"
            assert expected is None or issubclass(found, public(expected)), f"compiled, step {n}: expected {expected}, got {found}"
        for i, (mine, theirs) in enumerate(zip(pool, self.theirs, strict=True)):
            compare(mine, theirs, f"compiled: array {i}")


class OnXla(Programs):
    """Eager on XLA, and replayed in one program."""

    backend = "jax"
    replays = True


PHASES = (hypothesis.Phase.explicit, hypothesis.Phase.generate, hypothesis.Phase.shrink)
TestHost = Programs.TestCase
TestHost.settings = hypothesis.settings(max_examples=2000 if THOROUGH else 100, stateful_step_count=30, phases=PHASES)
TestXla = OnXla.TestCase
TestXla.settings = hypothesis.settings(max_examples=1000 if THOROUGH else 12, stateful_step_count=20, phases=PHASES)
