"""Ufuncs and their methods, reductions, sorting and joining."""

import numpy as onp
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from programs import keys
from programs.machine import DTYPES, attempt, axes, places, settled

UNARY = [
    "negative",
    "square",
    "absolute",
    "conjugate",
    "sign",
    "isnan",
    "isfinite",
    "floor",
    "rint",
    "invert",
    "logical_not",
    "sqrt",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "fmax",
    "equal",
    "less",
    "logical_and",
    "bitwise_xor",
    "floor_divide",
    "remainder",
]
BINARY += ["true_divide", "hypot", "copysign", "left_shift"]
REDUCING = [
    "add",
    "multiply",
    "maximum",
    "minimum",
    "logical_or",
    "logical_and",
    "bitwise_or",
    "subtract",
    "fmin",
]
REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "mean", "var", "argmax", "argmin"]
masks = st.none() | st.lists(st.booleans(), min_size=3, max_size=3)


def negative_as_unsigned(source, target):
    """Return True for a cast of negative floats to unsigned integers, which depends on the CPU."""
    return target.dtype.kind == "u" and source.dtype.kind in "fc" and not (source.real >= 0).all()


class Ufuncs(RuleBasedStateMachine):
    @rule(i=places, name=st.sampled_from(UNARY), into=places)
    def unary(self, i, name, into):
        i = self.pick(i)
        self.do(lambda xp, p: settled(xp, getattr(xp, name)(p[i])), into)

    @rule(i=places, j=places, name=st.sampled_from(BINARY), into=places)
    def binary(self, i, j, name, into):
        i, j = self.pick(i), self.pick(j)
        self.do(lambda xp, p: settled(xp, getattr(xp, name)(p[i], p[j])), into, either=True)

    @rule(i=places, j=places, k=places, name=st.sampled_from(BINARY[:12]), mask=masks)
    def binary_out(self, i, j, k, name, mask):
        i, j, k = self.pick(i), self.pick(j), self.pick(k)
        where = True if mask is None else onp.array(mask)
        a, b, out = self.theirs[i], self.theirs[j], self.theirs[k]
        if mask is not None and (onp.may_share_memory(a, out) or onp.may_share_memory(b, out)):
            # what is masked out of an array that NumPy copies, to write over its operand, it casts
            # to the result's dtype and back
            return
        self.do(
            lambda xp, p: getattr(xp, name)(p[i], p[j], out=p[k], where=where) is None or None,
            either=True,
        )

    @rule(
        i=places,
        name=st.sampled_from(REDUCING),
        data=st.data(),
        keepdims=st.booleans(),
        mask=masks,
        initial=st.booleans(),
        into=places,
    )
    def reduce(self, i, name, data, keepdims, mask, initial, into):
        i = self.pick(i)
        axis = data.draw(keys.kept_axes(self.theirs[i].ndim))
        given = {"keepdims": keepdims}
        if mask is not None:
            given["where"] = onp.array(mask)
        if initial:
            given["initial"] = 1
        self.do(
            lambda xp, p: settled(xp, getattr(xp, name).reduce(p[i], axis, **given)),
            into,
            either=True,
        )

    @rule(i=places, k=places, name=st.sampled_from(REDUCING[:4]), axis=st.integers(-1, 1))
    def reduce_out(self, i, k, name, axis):
        i, k = self.pick(i), self.pick(k)
        if not negative_as_unsigned(self.theirs[i], self.theirs[k]):
            self.do(
                lambda xp, p: getattr(xp, name).reduce(p[i], axis, out=p[k]) is None or None,
                either=True,
            )

    @rule(i=places, name=st.sampled_from(REDUCING), axis=st.integers(-1, 1), into=places)
    def accumulate(self, i, name, axis, into):
        i = self.pick(i)
        self.do(
            lambda xp, p: settled(xp, getattr(xp, name).accumulate(p[i], axis)), into, either=True
        )

    @rule(
        i=places,
        name=st.sampled_from(REDUCING),
        at=st.lists(st.integers(0, 3), min_size=1, max_size=3),
        axis=st.integers(-1, 1),
        into=places,
    )
    def reduceat(self, i, name, at, axis, into):
        i = self.pick(i)
        self.do(
            lambda xp, p: settled(xp, getattr(xp, name).reduceat(p[i], at, axis)), into, either=True
        )

    @rule(i=places, j=places, name=st.sampled_from(BINARY), into=places)
    def outer(self, i, j, name, into):
        i, j = self.pick(i), self.pick(j)
        if self.theirs[i].ndim + self.theirs[j].ndim <= 3:
            self.do(
                lambda xp, p: settled(xp, getattr(xp, name).outer(p[i], p[j])), into, either=True
            )

    @rule(i=places, j=places, name=st.sampled_from(REDUCING), data=st.data())
    def at(self, i, j, name, data):
        i, j = self.pick(i), self.pick(j)
        key = data.draw(keys.advanced(self.theirs[i].shape))
        part = attempt(lambda xp, p: p[i][key], onp, self.theirs)
        if isinstance(part, onp.ndarray) and part.ndim < self.theirs[j].ndim:
            # NumPy 2.4 crashes: np.add.at(np.ones(1), (slice(1), True), np.ones((1, 1, 0, 1)))
            return
        if self.theirs[i].flags.writeable:
            self.do(lambda xp, p: getattr(xp, name).at(p[i], key, p[j]), either=True)

    @rule(i=places, name=st.sampled_from(["negative", "square", "logical_not"]), data=st.data())
    def unary_at(self, i, name, data):
        i = self.pick(i)
        key = data.draw(keys.advanced(self.theirs[i].shape))
        if self.theirs[i].flags.writeable:  # NumPy writes others, too
            self.do(lambda xp, p: getattr(xp, name).at(p[i], key), either=True)

    @rule(i=places, dtype=st.sampled_from(DTYPES), into=places)
    def cast(self, i, dtype, into):
        i = self.pick(i)
        theirs = self.theirs[i]
        if (
            onp.dtype(dtype).kind in "iu"
            and theirs.dtype.kind in "fc"
            and not (onp.abs(onp.nan_to_num(theirs, nan=onp.inf)) < 100).all()
        ):
            return  # Integers that are made of what is out of their range are the processor's.
        self.do(lambda xp, p: p[i].astype(dtype).copy(), into)

    @rule(
        i=places,
        j=places,
        name=st.sampled_from(["dot", "matmul", "inner", "kron", "vdot"]),
        into=places,
    )
    def product(self, i, j, name, into):
        i, j = self.pick(i), self.pick(j)
        if self.theirs[i].dtype.names or self.theirs[j].dtype.names:
            return  # NumPy multiplies records as tuples
        if (
            name == "dot"
            and 1 in (self.theirs[i].size, self.theirs[j].size)
            and not all([onp.isfinite(self.theirs[k]).all() for k in (i, j)])
        ):
            return  # BLAS does not look at what is multiplied by zero
        if (
            self.theirs[i].ndim + self.theirs[j].ndim <= 4
            and self.theirs[i].size * self.theirs[j].size < 100
        ):
            self.do(lambda xp, p: settled(xp, getattr(xp, name)(p[i], p[j])), into, either=True)


class Reductions(RuleBasedStateMachine):
    @rule(
        i=places, name=st.sampled_from([*REDUCTIONS, "cumsum", "cumprod"]), axis=axes, into=places
    )
    def reduced(self, i, name, axis, into):
        i = self.pick(i)
        self.do(lambda xp, p: settled(xp, getattr(p[i], name)(axis=axis)), into)

    @rule(
        i=places,
        name=st.sampled_from(REDUCTIONS[:8]),
        data=st.data(),
        mask=masks,
        keepdims=st.booleans(),
        into=places,
    )
    def reduced_where(self, i, name, data, mask, keepdims, into):
        i = self.pick(i)
        axis = data.draw(keys.kept_axes(self.theirs[i].ndim))
        given = {} if mask is None else {"where": onp.array(mask)}
        if name in ("max", "min"):
            given["initial"] = 0
        self.do(
            lambda xp, p: settled(xp, getattr(xp, name)(p[i], axis, keepdims=keepdims, **given)),
            into,
            either=True,
        )

    @rule(i=places, k=places, name=st.sampled_from(REDUCTIONS), axis=axes)
    def reduced_out(self, i, k, name, axis):
        i, k = self.pick(i), self.pick(k)
        if negative_as_unsigned(self.theirs[i], self.theirs[k]):
            return
        if name not in ("mean", "var") or self.theirs[k].dtype.kind in "fc":
            self.do(
                lambda xp, p: getattr(xp, name)(p[i], axis, out=p[k]) is None or None, either=True
            )

    @rule(
        i=places,
        name=st.sampled_from(
            [
                "nansum",
                "nanmax",
                "nanmean",
                "median",
                "ptp",
                "count_nonzero",
                "diff",
                "trace",
                "cumulative_sum",
            ]
        ),
        axis=axes,
        into=places,
    )
    def summarized(self, i, name, axis, into):
        i = self.pick(i)
        given = {} if name == "trace" else {"axis": -1 if name == "diff" and axis is None else axis}
        self.do(
            lambda xp, p: settled(xp, xp.asarray(getattr(xp, name)(p[i], **given))),
            into,
            either=True,
        )


class Sorting(RuleBasedStateMachine):
    @rule(
        i=places,
        axis=st.sampled_from([None, 0, -1, 1]),
        kind=st.sampled_from([None, "stable"]),
        into=places,
    )
    def sorted(self, i, axis, kind, into):
        i = self.pick(i)
        self.do(lambda xp, p: xp.sort(p[i], axis, kind).copy(), into)

    @rule(i=places, axis=st.integers(-1, 1))
    def sort_in_place(self, i, axis):
        i = self.pick(i)
        self.do(lambda xp, p: p[i].sort(axis))

    @rule(i=places, axis=st.sampled_from([None, 0, -1, 1]), into=places)
    def argsorted(self, i, axis, into):
        i = self.pick(i)
        self.do(lambda xp, p: xp.argsort(p[i], axis, kind="stable").copy(), into)

    @rule(i=places, kth=st.integers(-2, 2), axis=st.sampled_from([0, -1]), into=places)
    def partitioned(self, i, kth, axis, into):
        i = self.pick(i)
        self.do(
            lambda xp, p: xp.take(xp.partition(p[i], kth, axis), kth, axis).copy(),
            into,
            either=True,
        )

    @rule(i=places, j=places, side=st.sampled_from(["left", "right"]), into=places)
    def searched(self, i, j, side, into):
        i, j = self.pick(i), self.pick(j)
        if self.theirs[i].dtype != self.theirs[j].dtype and (
            self.theirs[i].dtype.names or self.theirs[j].dtype.names
        ):
            return  # NumPy looks for what has no common dtype with records, and finds anything
        self.do(lambda xp, p: xp.searchsorted(xp.sort(p[i], None), p[j], side).copy(), into)

    @rule(i=places, j=places, into=places)
    def lexsorted(self, i, j, into):
        i, j = self.pick(i), self.pick(j)
        self.do(lambda xp, p: xp.lexsort((p[i], p[j])).copy(), into, either=True)

    @precondition(lambda self: not self.compiled)
    @rule(i=places, which=st.integers(0, 3), into=places)
    def unique(self, i, which, into):
        i = self.pick(i)
        if self.theirs[i].dtype.kind != "c":
            self.do(lambda xp, p: xp.unique(p[i], True, True, True)[which].copy(), into)


class Joining(RuleBasedStateMachine):
    @rule(i=places, j=places, axis=st.sampled_from([None, 0, 1, -1]), into=places)
    def concatenated(self, i, j, axis, into):
        i, j = self.pick(i), self.pick(j)
        self.do(lambda xp, p: xp.concatenate([p[i], p[j]], axis=axis).copy(), into, either=True)

    @rule(i=places, j=places, axis=st.integers(-1, 1), into=places)
    def stacked(self, i, j, axis, into):
        i, j = self.pick(i), self.pick(j)
        if self.theirs[i].ndim < 4:
            self.do(lambda xp, p: xp.stack([p[i], p[j]], axis=axis).copy(), into, either=True)

    @rule(
        i=places,
        j=places,
        name=st.sampled_from(["hstack", "vstack", "dstack", "column_stack", "block", "append"]),
        into=places,
    )
    def joined(self, i, j, name, into):
        i, j = self.pick(i), self.pick(j)
        self.do(
            lambda xp, p: (
                xp.append(p[i], p[j]) if name == "append" else getattr(xp, name)([p[i], p[j]])
            ).copy(),
            into,
            either=True,
        )

    @rule(i=places, j=places, k=places, axis=st.integers(0, 1))
    def joined_out(self, i, j, k, axis):
        i, j, k = self.pick(i), self.pick(j), self.pick(k)
        if k in (i, j) and not self.theirs[k].size:
            return  # NumPy does not look whether what stays as it is may be written
        self.do(
            lambda xp, p: xp.concatenate([p[i], p[j]], axis=axis, out=p[k]) is None or None,
            either=True,
        )

    @rule(
        i=places,
        name=st.sampled_from(["tile", "repeat", "roll", "insert", "delete", "pad", "resize"]),
        n=st.integers(0, 2),
        axis=st.sampled_from([None, 0, -1]),
        into=places,
    )
    def rearranged(self, i, name, n, axis, into):
        i = self.pick(i)
        if self.theirs[i].size > 40:
            return

        def step(xp, p):
            if name in ("repeat", "roll", "delete"):
                return getattr(xp, name)(p[i], n, axis).copy()
            if name == "insert":
                return xp.insert(p[i], n, 5, axis).copy()
            if name == "pad":
                return xp.pad(p[i], n, mode="wrap" if axis is None else "constant").copy()
            return (xp.tile(p[i], n) if name == "tile" else xp.resize(p[i], (n, 3))).copy()

        self.do(step, into, either=True)
