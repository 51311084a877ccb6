"""Views of all kinds."""

import numpy as onp
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from npcompat import np
from programs import keys
from programs.machine import places

PLAIN = ["T", "mT", "real", "imag"]
METHODS = ["ravel", "diagonal", "squeeze", "copy", "flatten", "view", "transpose"]
FUNCTIONS = [
    "flip",
    "flipud",
    "fliplr",
    "rot90",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "matrix_transpose",
    "asarray",
    "asanyarray",
]
AS_BYTES = {"c": ["f8"], "f": ["i8", "u2"], "i": ["u4", "i2", "u1"], "u": ["i1"]}


class Views(RuleBasedStateMachine):
    @rule(i=places, data=st.data(), into=places)
    def basic_index(self, i, data, into):
        i = self.pick(i)
        key = data.draw(keys.basic(self.theirs[i].shape))
        self.do(lambda xp, p: p[i][key], into)

    @rule(i=places, position=st.integers(-4, 4), into=places)
    def integer_index(self, i, position, into):
        i = self.pick(i)
        self.do(lambda xp, p: p[i][position], into)

    @rule(i=places, how=st.sampled_from(PLAIN), into=places)
    def attribute(self, i, how, into):
        i = self.pick(i)
        self.do(lambda xp, p: xp.asarray(getattr(p[i], how)), into)

    @rule(i=places, how=st.sampled_from(METHODS), into=places)
    def method(self, i, how, into):
        i = self.pick(i)
        self.do(lambda xp, p: getattr(p[i], how)(), into)

    @rule(i=places, how=st.sampled_from(FUNCTIONS), into=places)
    def function(self, i, how, into):
        i = self.pick(i)
        self.do(lambda xp, p: getattr(xp, how)(p[i]), into)

    @rule(i=places, offset=st.integers(-2, 2), data=st.data(), into=places)
    def diagonal(self, i, offset, data, into):
        i = self.pick(i)
        first, second = data.draw(st.permutations(range(3)))[:2]
        self.do(lambda xp, p: xp.diagonal(p[i], offset, first, second), into)

    @rule(
        i=places,
        shape=st.sampled_from([(-1,), (2, -1), (3, -1), (-1, 2), (1, -1, 1), (4,), ()]),
        order=st.sampled_from(["C", "C", "F", "A"]),
        into=places,
    )
    def reshaped(self, i, shape, order, into):
        i = self.pick(i)
        self.do(lambda xp, p: p[i].reshape(shape, order=order), into)

    @rule(i=places, shape=st.sampled_from([(2, 3), (3, 3), (2, 1, 3), (4,)]), into=places)
    def broadcast(self, i, shape, into):
        i = self.pick(i)
        self.do(lambda xp, p: xp.broadcast_to(p[i], shape), into)

    @rule(i=places, j=places, which=st.integers(0, 1), into=places)
    def broadcast_together(self, i, j, which, into):
        i, j = self.pick(i), self.pick(j)
        given = self.theirs[i], self.theirs[j]
        if all(
            a.base is None or (a.flags.writeable and getattr(a.base, "flags", a.flags).writeable)
            for a in given
        ):  # NumPy refuses some others
            self.do(lambda xp, p: xp.broadcast_arrays(p[i], p[j])[which].copy(), into)

    @rule(i=places, axes=st.permutations(range(3)), into=places)
    def transposed(self, i, axes, into):
        i = self.pick(i)
        axes = [a for a in axes if a < max(self.theirs[i].ndim, 1)]
        self.do(lambda xp, p: xp.transpose(p[i], axes), into)

    @rule(
        i=places,
        how=st.sampled_from(["swapaxes", "moveaxis", "rollaxis"]),
        origin=st.integers(-2, 2),
        goal=st.integers(-2, 2),
        into=places,
    )
    def axis_moved(self, i, how, origin, goal, into):
        i = self.pick(i)
        self.do(lambda xp, p: getattr(xp, how)(p[i], origin, goal), into)

    @rule(
        i=places,
        axis=st.sampled_from([0, 1, -1, (0, 1), (0, -1), 5]),
        how=st.sampled_from(["expand_dims", "squeeze", "flip"]),
        into=places,
    )
    def axes_changed(self, i, axis, how, into):
        i = self.pick(i)
        if how == "expand_dims" and self.theirs[i].ndim > 3:
            return
        self.do(lambda xp, p: getattr(xp, how)(p[i], axis), into)

    @rule(
        i=places,
        how=st.sampled_from(["split", "array_split", "hsplit", "vsplit", "unstack"]),
        sections=st.sampled_from([1, 2, 3, [1], [1, 2], [2, 1]]),
        axis=st.integers(-1, 1),
        which=st.integers(0, 2),
        into=places,
    )
    def part(self, i, how, sections, axis, which, into):
        i = self.pick(i)

        def step(xp, p):
            if how == "unstack":
                parts = xp.unstack(p[i], axis=axis)
            else:
                parts = getattr(xp, how)(
                    p[i], sections, *([axis] if "a" in how or how == "split" else [])
                )
            return parts[which % len(parts)] if len(parts) else None

        self.do(step, into)

    @rule(i=places, data=st.data(), into=places)
    def other_dtype(self, i, data, into):
        i = self.pick(i)
        # The bits of floats are those of NumPy's only where no rounding came in between.
        kind = self.theirs[i].dtype.kind
        if kind in "bV":
            return  # XLA's bools hold nothing else, and records their padding
        if kind in "fc" and onp.isnan(self.theirs[i]).any():
            return  # which of the bits of a nan are set is the processor's choice
        dtype = data.draw(st.sampled_from([k for k in AS_BYTES[kind] if kind != "f"] or ["c16"]))
        self.do(lambda xp, p: p[i].view(dtype), into)

    @rule(i=places, length=st.integers(1, 3), axis=st.sampled_from([None, 0, 1, -1]), into=places)
    def windows(self, i, length, axis, into):
        i = self.pick(i)
        if self.theirs[i].ndim > 2:
            return
        shape = (length,) * self.theirs[i].ndim if axis is None else length
        self.do(lambda xp, p: xp.lib.stride_tricks.sliding_window_view(p[i], shape, axis), into)

    @rule(i=places, how=st.sampled_from(["diagonal", "every other", "overlapping"]), into=places)
    def strided(self, i, how, into):
        i = self.pick(i)
        shape, strides = self.theirs[i].shape, self.theirs[i].strides
        if not shape or 0 in shape:
            return
        writeable = None
        if how == "diagonal":
            shape, strides = (min(shape),), (sum(strides),)
        elif how == "every other":
            shape, strides = ((shape[0] + 1) // 2, *shape[1:]), (2 * strides[0], *strides[1:])
        else:
            shape, strides, writeable = (2, shape[0] - 1, *shape[1:]), (strides[0], *strides), False
        given = {} if writeable is None else {"writeable": writeable}
        self.do(lambda xp, p: xp.lib.stride_tricks.as_strided(p[i], shape, strides, **given), into)

    @rule(i=places, writeable=st.booleans())
    def flags(self, i, writeable):
        i = self.pick(i)
        if self.compiled and self.theirs[i].base is None:
            return  # What is asked of the arrays that a compiled function is given lasts.
        if writeable and self.theirs[i].base is not None:
            return  # NumPy lets more views become writeable.
        self.do(lambda xp, p: p[i].setflags(write=writeable))

    @precondition(lambda self: len(getattr(self, "theirs", ())) > 1)
    @rule()
    def sharing(self):
        for i, a in enumerate(self.theirs):
            for j, b in enumerate(self.theirs[:i]):
                assert np.shares_memory(self.mine[i], self.mine[j]) == onp.shares_memory(a, b), (
                    f"arrays {i} and {j} share memory"
                )
