"""Records: their fields are views, and arrays like others.

They live on the host, so that no compiled program has them.
"""

import numpy as onp
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from programs.machine import RECORD, places

RECORDS = {
    "pair": RECORD,
    "padded": onp.dtype([("x", "f4"), ("y", "u1")], align=True),
    "nested": onp.dtype([("x", RECORD), ("y", "i2", (2,))]),
}
names = st.sampled_from(["x", "y"])
numbers = st.integers(0, 99)


class Records(RuleBasedStateMachine):
    @precondition(lambda self: not self.compiled)
    @rule(i=places, kind=st.sampled_from(sorted(RECORDS)), into=places)
    def records(self, i, kind, into):
        i = self.pick(i)

        def step(xp, p):
            made = xp.zeros(p[i].shape, RECORDS[kind])
            made[...] = 7
            (made["x"]["y"] if kind == "nested" else made["y"])[...] = p[i] != 0
            return made

        self.do(step, into)

    @precondition(lambda self: self.has_records())
    @rule(i=places, name=names, into=places)
    def field(self, i, name, into):
        i = self.pick_records(i)
        self.do(lambda xp, p: p[i][name], into)

    @precondition(lambda self: self.has_records())
    @rule(i=places, chosen=st.sampled_from([["x"], ["y"], ["y", "x"]]), into=places)
    def fields(self, i, chosen, into):
        i = self.pick_records(i)
        self.do(lambda xp, p: p[i][chosen], into)

    @precondition(lambda self: self.has_records())
    @rule(i=places, j=places, name=names)
    def write_field(self, i, j, name):
        i, j = self.pick_records(i), self.pick(j)
        self.do(lambda xp, p: p[i].__setitem__(name, p[j]), either=True)

    @precondition(lambda self: self.has_records())
    @rule(i=places, j=places, name=names)
    def add_to_field(self, i, j, name):
        i, j = self.pick_records(i), self.pick(j)

        def step(xp, p):
            p[i][name] += p[j]

        self.do(step, either=True)

    @precondition(lambda self: self.has_records())
    @rule(
        i=places,
        name=names,
        value=numbers,
        part=st.sampled_from([0, -1, slice(1, None), ..., [0, 1], [True, False]]),
    )
    def write_part_of_field(self, i, name, value, part):
        i = self.pick_records(i)

        def step(xp, p):
            p[i][part][name] = value
            p[i][name][part] = value + 1

        self.do(step, either=True)

    @precondition(lambda self: self.has_records())
    @rule(i=places, value=numbers, part=st.sampled_from([0, -1, slice(1, None), ..., [1, 0]]))
    def write_records(self, i, value, part):
        i = self.pick_records(i)
        first = (
            (value, 1)
            if self.theirs[i].dtype.names == ("x", "y") and self.theirs[i].dtype["x"].names
            else value
        )
        self.do(lambda xp, p: p[i].__setitem__(part, (first, value)), either=True)

    @precondition(lambda self: self.has_records())
    @rule(i=places, into=places)
    def copied(self, i, into):
        i = self.pick_records(i)
        self.do(lambda xp, p: p[i].copy(), into)

    @precondition(lambda self: self.has_records())
    @rule(i=places, order=st.sampled_from([None, "x", "y", ["y", "x"]]), into=places)
    def sorted_by_fields(self, i, order, into):
        i = self.pick_records(i)
        self.do(lambda xp, p: xp.sort(p[i], axis=-1, order=order, kind="stable").copy(), into)

    def has_records(self):
        return any(a.dtype.names for a in getattr(self, "theirs", ()))

    def pick_records(self, place):
        """The place of an array of records that is there."""
        found = [i for i, a in enumerate(self.theirs) if a.dtype.names]
        return found[place % len(found)]
