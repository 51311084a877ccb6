"""Advanced indexing, read and written, and whatever else writes."""

import numpy as onp
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from programs import keys
from programs.machine import places

IN_PLACE = [
    "__iadd__",
    "__isub__",
    "__imul__",
    "__iand__",
    "__ior__",
    "__ixor__",
    "__ifloordiv__",
    "__imod__",
]
MODES = ["raise", "wrap", "clip"]

whole = st.integers(-3, 3)
positions = st.lists(st.integers(-4, 4), min_size=1, max_size=3)


def bounded(xp, x, n):
    """Any array as positions along an axis of length n, which are known when the program runs."""
    return xp.clip(xp.nan_to_num(x.real), -99, 99).astype("int64") % n


def fit(numbers, dtype):
    """Return True if numbers are in the range of an integer dtype."""
    limits = onp.iinfo(dtype)
    return numbers.dtype.names or all(
        [onp.isfinite(n) and limits.min <= n.real <= limits.max for n in numbers.tolist()]
    )


class Writes(RuleBasedStateMachine):
    # --- reads

    @rule(i=places, data=st.data(), into=places)
    def advanced_read(self, i, data, into):
        i = self.pick(i)
        key = data.draw(keys.advanced(self.theirs[i].shape))
        self.do(lambda xp, p: p[i][key].copy(), into, either=True)

    @rule(
        i=places,
        j=places,
        how=st.sampled_from(["index", "take", "compress", "along"]),
        axis=st.integers(0, 1),
        into=places,
    )
    def read_by_array(self, i, j, how, axis, into):
        i, j = self.pick(i), self.pick(j)
        if self.theirs[i].ndim + self.theirs[j].ndim > 4 or self.theirs[i].ndim <= axis:
            return
        n = self.theirs[i].shape[axis]
        if not n:
            return

        def step(xp, p):
            at = bounded(xp, p[j], n)
            if how == "index":
                return p[i][(slice(None),) * axis + (at,)].copy()
            if how == "take":
                return xp.take(p[i], at, axis=axis).copy()
            if how == "along":
                return xp.take_along_axis(p[i], at, axis).copy()
            return xp.compress([True, False, True][:n], p[i], axis=axis).copy()

        self.do(step, into, either=True)

    @rule(
        i=places,
        at=positions,
        axis=st.sampled_from([None, 0, 1, -1]),
        mode=st.sampled_from(MODES),
        into=places,
    )
    def taken(self, i, at, axis, mode, into):
        i = self.pick(i)
        if (
            mode != "wrap" or self.theirs[i].size
        ):  # NumPy does not return from wrapping around nothing
            self.do(lambda xp, p: xp.take(p[i], at, axis, mode=mode).copy(), into, either=True)

    @rule(
        i=places,
        limit=whole,
        axis=st.sampled_from([None, 0]),
        name=st.sampled_from(["sum", "max", "all"]),
        into=places,
    )
    def selected(self, i, limit, axis, name, into):
        i = self.pick(i)
        given = {"initial": 1} if name == "max" else {}
        if self.theirs[i].dtype.kind != "c":
            self.do(
                lambda xp, p: getattr(p[i][p[i] > limit], name)(axis=axis, **given).copy(), into
            )

    @rule(i=places, j=places, k=places, limit=whole, into=places)
    def chosen(self, i, j, k, limit, into):
        i, j, k = self.pick(i), self.pick(j), self.pick(k)
        self.do(lambda xp, p: xp.where(p[i].real > limit, p[j], p[k]).copy(), into, either=True)

    # --- writes

    @rule(i=places, j=places, data=st.data())
    def write_part(self, i, j, data):
        i, j = self.pick(i), self.pick(j)
        key = data.draw(keys.basic(self.theirs[i].shape, 3))
        self.do(lambda xp, p: p[i].__setitem__(key, p[j]), either=True)

    @rule(i=places, value=whole, data=st.data())
    def write_number(self, i, value, data):
        i = self.pick(i)
        key = data.draw(keys.basic(self.theirs[i].shape))
        self.do(lambda xp, p: p[i].__setitem__(key, value))

    @rule(i=places, j=places, data=st.data())
    def advanced_write(self, i, j, data):
        i, j = self.pick(i), self.pick(j)
        key = data.draw(keys.advanced(self.theirs[i].shape))
        if self.theirs[j].dtype.names and not self.theirs[i].dtype.names:
            # no numbers, which NumPy does not look at where a mask of the whole array selects
            # nothing
            return
        self.do(lambda xp, p: p[i].__setitem__(key, p[j]), either=True)

    @rule(i=places, value=whole, data=st.data())
    def add_to_selected(self, i, value, data):
        i = self.pick(i)
        key = data.draw(keys.advanced(self.theirs[i].shape))

        def step(xp, p):
            p[i][key] += value

        self.do(step, either=True)

    @rule(i=places, j=places, axis=st.integers(0, 1), value=whole)
    def write_by_array(self, i, j, axis, value):
        i, j = self.pick(i), self.pick(j)
        if self.theirs[i].ndim <= axis or not self.theirs[i].shape[axis]:
            return
        n = self.theirs[i].shape[axis]
        self.do(
            lambda xp, p: p[i].__setitem__((slice(None),) * axis + (bounded(xp, p[j], n),), value),
            either=True,
        )

    @rule(i=places, limit=whole, value=whole)
    def write_where(self, i, limit, value):
        i = self.pick(i)
        if self.theirs[i].dtype.kind != "c":
            self.do(lambda xp, p: p[i].__setitem__(p[i] > limit, value))

    @rule(
        i=places,
        j=places,
        limit=whole,
        name=st.sampled_from(["copyto", "putmask", "place"]),
        values=st.lists(whole, min_size=1, max_size=3),
    )
    def write_masked(self, i, j, limit, name, values):
        i, j = self.pick(i), self.pick(j)

        def step(xp, p):
            if name == "copyto":
                return xp.copyto(p[i], p[j], where=p[i].real > limit)
            return getattr(xp, name)(p[i], p[i].real > limit, xp.asarray(values).astype(p[i].dtype))

        self.do(step, either=True)

    @rule(
        i=places,
        at=positions,
        values=st.lists(whole, min_size=1, max_size=3),
        mode=st.sampled_from(MODES),
    )
    def put(self, i, at, values, mode):
        i = self.pick(i)
        at = at[:1] if mode == "raise" else at  # NumPy writes up to the wrong one
        dtype = self.theirs[i].dtype
        if dtype.names and dtype.itemsize != sum(dtype[name].itemsize for name in dtype.names):
            return  # NumPy writes whatever it finds between the fields
        self.do(lambda xp, p: xp.put(p[i], at, values, mode), either=True)

    @rule(i=places, j=places, axis=st.sampled_from([0, 1, -1]))
    def put_along(self, i, j, axis):
        i, j = self.pick(i), self.pick(j)
        if not self.theirs[i].ndim or axis >= self.theirs[i].ndim or not self.theirs[i].shape[axis]:
            return
        n = self.theirs[i].shape[axis]
        self.do(lambda xp, p: xp.put_along_axis(p[i], bounded(xp, p[j], n), 2, axis), either=True)

    @rule(i=places, value=whole, how=st.sampled_from(["fill", "fill_diagonal", "whole", "dots"]))
    def fill(self, i, value, how):
        i = self.pick(i)

        def step(xp, p):
            if how == "fill":
                p[i].fill(value)
            elif how == "fill_diagonal":
                xp.fill_diagonal(p[i], value)
            else:
                p[i][() if how == "whole" else ...] = value

        self.do(step)

    @rule(
        i=places,
        j=places,
        key=st.sampled_from(
            [0, -1, slice(None), slice(1, None, 2), slice(None, None, -1), [0, 2], [0, -1, 0]]
        ),
    )
    def write_flat(self, i, j, key):
        i, j = self.pick(i), self.pick(j)
        whole, new = self.theirs[i].dtype.kind in "iu", self.theirs[j].ravel()[:1]
        if isinstance(key, int) and whole and not fit(new, self.theirs[i].dtype):
            return  # an error, if somebody looks at the number, which is on a device
        if self.theirs[j].dtype.names and not self.theirs[i].dtype.names:
            return  # fields of which NumPy makes a number in some functions, and not here
        if self.theirs[j].size and not (
            isinstance(key, list) and self.theirs[i].size < 3
        ):  # NumPy writes up to the wrong one
            self.do(
                lambda xp, p: p[i].flat.__setitem__(
                    key, p[j].ravel()[0] if isinstance(key, int) else p[j].copy()
                ),
                either=True,
            )

    @rule(
        i=places,
        key=st.sampled_from([0, slice(1, None, 2), slice(None, None, -1), [0, -1, 0]]),
        into=places,
    )
    def read_flat(self, i, key, into):
        i = self.pick(i)
        self.do(lambda xp, p: p[i].flat[key].copy(), into)

    @rule(i=places, j=places)
    def write_parts(self, i, j):
        i, j = self.pick(i), self.pick(j)

        def step(xp, p):
            p[i].real = p[j].real

        if self.theirs[i].flags.writeable:  # NumPy writes floats in any case
            self.do(step, either=True)

    @rule(i=places, j=places, name=st.sampled_from(IN_PLACE))
    def in_place(self, i, j, name):
        i, j = self.pick(i), self.pick(j)
        self.do(lambda xp, p: getattr(p[i], name)(p[j]) is None or None, either=True)

    @rule(
        i=places, axis=st.integers(0, 1), name=st.sampled_from(IN_PLACE[:3]), forward=st.booleans()
    )
    def overlapping(self, i, axis, name, forward):
        i = self.pick(i)
        before = (slice(None),) * axis + (slice(None, -1),)
        after = (slice(None),) * axis + (slice(1, None),)
        target, source = (after, before) if forward else (before, after)
        self.do(
            lambda xp, p: getattr(p[i][target], name)(p[i][source]) is None or None, either=True
        )

    @rule(i=places, j=places, how=st.sampled_from(["rows", "reversed", "transposed"]))
    def overlapping_write(self, i, j, how):
        i = self.pick(i)

        def step(xp, p):
            if how == "rows":
                p[i][1:] = p[i][:-1]
            elif how == "reversed":
                p[i][...] = p[i][::-1]
            else:
                p[i][...] = p[i].T

        self.do(step, either=True)

    # --- what depends on values, or runs on the host: not in compiled programs

    @precondition(lambda self: not self.compiled)
    @rule(i=places, limit=whole, into=places)
    def masked_read(self, i, limit, into):
        i = self.pick(i)
        self.do(lambda xp, p: p[i][p[i].real > limit], into)

    @precondition(lambda self: not self.compiled)
    @rule(i=places, which=st.integers(0, 1), into=places)
    def nonzero(self, i, which, into):
        i = self.pick(i)
        self.do(lambda xp, p: p[i].nonzero()[which].copy(), into)

    @precondition(lambda self: not self.compiled)
    @rule(i=places, order=st.sampled_from("KCF"))
    def by_nditer(self, i, order):
        i = self.pick(i)

        def step(xp, p):
            with xp.nditer(p[i], ["zerosize_ok"], ["readwrite"], order=order) as iterator:
                for x in iterator:
                    x[...] = x * 2

        self.do(step)

    @precondition(lambda self: not self.compiled)
    @rule(i=places)
    def iterated(self, i):
        i = self.pick(i)

        def step(xp, p):
            for n, row in enumerate(p[i]):
                row[...] = n
            return [list(at) for at in xp.ndindex(p[i].shape)]

        self.do(step)
