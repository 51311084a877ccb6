"""Staged loops: the body runs once, on symbolic values, for all of its rounds.

The carried state consists of the variables that a round rebinds, and of the arrays that it writes.
Running the body shows which variables these are.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import control_flow as control
from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jaxpr import loop_bodies, tracing
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.capture import Captured, capture
from npcompat._internal.compile.outer_selections import write_back
from npcompat._internal.compile.staged_runs import refuse, staged
from npcompat._internal.compile.trace import Trace
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import execution, handles, writes
from npcompat._internal.dispatch.symbolic_number import SymbolicNumber
from npcompat._internal.staging import context, items
from npcompat._internal.staging.aliases import (
    arrays_in,
    become_read_only,
    holding,
    readonly_of,
    refusals,
    refuse_shared_lists,
    shared_arrays,
    stand_for_shared,
    tie,
    with_arrays,
)
from npcompat._internal.staging.carried import (
    ChangedTypeError,
    Form,
    MaybeBound,
    SharedMasks,
    Unbound,
    blank,
    converted,
    flatten,
    flatten_as,
    groups_of,
    inexact,
    is_used_unbound,
    joined,
    same_object,
    types_of,
    values_of,
)
from npcompat._internal.staging.iterables import Rounds
from npcompat._internal.staging.round_checks import (
    check_derivative,
    check_numbers,
    names_afterwards,
)
from npcompat._internal.staging.truths import truth
from npcompat._internal.support.errors import RefusedError, TracedValueError

_ATTEMPTS = 12
_CARRIED: dict[Any, frozenset[int]] = {}
"""By site: the variables that a loop was found to carry, with which the next trace begins."""


class StagedLoop:
    """One try to stage a loop.

    Parameters
    ----------
    site : object
        Loop in the source, with `body`, `variables`, `first`, `line` and `key`.
    rounds : Rounds or None
        Rounds of a `for`; None for a `while`.
    first : int
        Number of rounds of a `for` that have run already.
    going : callable or None
        Function that is called after each round, and is true if another one follows.
    """

    def __init__(
        self, site: Any, rounds: Rounds | None, first: int, going: Callable[[], Any] | None
    ) -> None:
        self.site, self.rounds, self.first, self.going = site, rounds, first, going
        self.variables, self.names = site.variables, site.variables.names
        self.init = list(self.variables.get())
        self.entered = False  # True if the first round is certain to run
        self.active: Any = None  # flag: the first round of a while runs
        self.reset: set[int] = set()  # variables that each round binds before it uses them
        self.wider: dict[int, Form] = {}  # variables that are numbers or scalars, as data decide
        self.selected: dict[int, list[Any]] = {}  # why arrays are read-only after the first round
        self.maybe: dict[int, Form] = {}  # variables that enter unbound, and may become bound
        self.entering: dict[int, Form] = {}
        self.leaving: dict[int, Form] = {}
        self.permuted: dict[int, int] = {}
        self.passing: dict[int, list[bool]] = {}  # by container: which of its arrays stay in it
        self.groups: dict[int, int] = {}  # selections by the same mask; see `groups_of`
        self.parted: set[int] = set()  # selections whose masks differ after a round
        self.written_names: set[int] = set()
        self.tied: dict[
            int, list[bool | str]
        ] = {}  # for each array of a variable, why it may be its first one after a round
        self.refused: list[tuple[Handle, str]] = []  # arrays that tied ones may be, and why
        self.wide = False
        self.captured: Captured
        self.small: Captured | None = None  # the round with slices read through windows

    @property
    def _is_first(self) -> bool:
        """True if no round has run yet that could give arrays the order that the others keep."""
        return self.rounds is not None and self.first == 0

    @property
    def runs(self) -> bool:
        """True if at least one round is certain to run."""
        if self.entered:
            return True
        if self.rounds is None:
            return False
        count = self.rounds.total
        low = count.low if isinstance(count, SymbolicNumber) else count
        return low > self.first

    def run(self) -> None:
        """Trace the body, and add the loop to the program."""
        with holding(self.init):
            self._trace()
            check_numbers(self)
            if self.wide and not modes.differentiated():
                self._trace_windows()
            self.returning = names_afterwards(self)
            check_derivative(self)
            state = self._added()
            self.variables.put(state)
        notes = context.outermost().notes
        notes["staged"] = notes.get("staged", 0) + 1
        self._report()

    # --- the body

    def _trace(self) -> None:
        """Trace the body until its carried variables, and their forms, are found."""
        names = Counter([id(x) for x in self.init])  # one array may have had two names less before
        known = _CARRIED.get(self.site.key, ())
        carried = {i for i in known if i < len(self.init) and names[id(self.init[i])] == 1}
        for _ in range(_ATTEMPTS):
            values = self._enter(carried)
            parted = len(self.parted)
            grown = self._captured(carried, values)
            carried |= grown
            if grown or len(self.parted) > parted:
                continue
            if _which(self.tied).items() - _which(self.selected).items():
                self.selected |= self.tied
                continue
            if not self._widened():
                break
        else:
            refuse("the variables of a loop change their types from round to round")
        _CARRIED[self.site.key] = frozenset(carried)
        while len(_CARRIED) > 4096:
            del _CARRIED[next(iter(_CARRIED))]

    def _enter(self, carried: set[int]) -> list[Value]:
        """Return the initial values of the carried variables."""
        self.entering = {}
        values: list[Value] = []
        for i in sorted(carried - self.reset):
            now = self.init[i]
            if type(now) is Unbound:
                if i not in self.maybe:
                    continue
                form = self.maybe[i]
                values += [Value(p) for p in blank(form)]
            elif self.runs and i in self.site.first and not _is_root(now):
                self.reset.add(i)
                continue
            elif isinstance(now, Handle) and now._view is not None:
                raise ChangedTypeError(
                    f"{self.names[i]!r} begins as a view, and is bound anew by each round; begin "
                    "with a copy"
                )
            else:
                form, found = flatten_as(now, self.names[i], self.wider.get(i))
                if form.kind == "plain":
                    if self.runs and i in self.site.first:
                        self.reset.add(i)
                        continue
                    raise ChangedTypeError(
                        f"{self.names[i]!r} begins as {form} and changes from round to round"
                    )
                values += found
            self.entering[i] = form
        groups = groups_of(self.init)
        self.groups = {i: groups[i] for i in self.entering if i in groups and i not in self.parted}
        return values

    def _captured(self, carried: set[int], values: list[Value]) -> set[int]:
        """Trace one round; return the variables that it binds and that are not in `carried`."""
        self.leaving, self.permuted, self.written_names, self.tied = {}, {}, set(), {}
        self.passing = {}
        shared = {i: shared_arrays(self.init, i) for i in self.entering}
        if not (self.runs and self.going is None):  # it may be that no round binds them
            for i in self.entering:
                refuse_shared_lists(self.init, i, repr(self.names[i]))
        grown: set[int] = set()
        indices = [] if self.rounds is None else [Value(control.index_type())]

        def traced(proxies: list[Any], trace: Trace) -> tuple[list[Value], Any]:
            remaining = iter([p._value for p in proxies])
            item = None
            if self.rounds is not None:
                item = self.rounds.at_payload(numbers.weak(int, next(remaining).payload))
            state = [
                Unbound(self.names[i]) if i in self.reset else x for i, x in enumerate(self.init)
            ]
            masks = SharedMasks(self.groups)
            for i, form in self.entering.items():
                state[i] = masks.together(i, form, remaining, self.names[i])
                readonly = readonly_of(self.init[i])
                tie(arrays_in(state[i]), readonly)
                tie(arrays_in(state[i]), self.selected.get(i, ()))
                flags = [bool(a or b) for a, b in zip(shared[i], readonly, strict=True)]
                stand_for_shared(arrays_in(state[i]), flags)
            # apart from the arrays, so that no container refers to them: aliases are counted
            entered = [h for i in self.entering for h in arrays_in(state[i])]
            begun = [(i, h._value) for i in self.entering for h in arrays_in(state[i])]
            self.variables.put(list(state))
            in_place = loop_bodies.body(not modes.differentiated())
            with staged(), in_place, holding(state, entered):
                self.site.body(*([] if self.rounds is None else [item]))
                again = True if self.going is None else truth(self.going())
            after = list(self.variables.get())
            with holding(after, state):
                for i in carried:
                    refuse_shared_lists(after, i, repr(self.names[i]))
            left: list[Value] = []
            seen: set[int] = set()
            for i, (before, now) in enumerate(zip(state, after, strict=True)):
                if i in carried:
                    form, found = self._left(i, now, trace, begun, entered, seen)
                    if form.kind not in ("array", "selection"):
                        own = [h for (j, _), h in zip(begun, entered, strict=True) if j == i]
                        self._note_passing(i, arrays_in(now), own, any(shared.get(i, ())))
                    self.leaving[i] = form
                    left += found
                    reasons = [r if type(r) is str else False for r in readonly_of(now)]
                    if any(reasons):
                        self.tied[i] = reasons
                elif not same_object(before, now):
                    grown.add(i)
            self.refused = refusals(trace) if self.tied else []
            for (i, start), handle in zip(begun, entered, strict=True):
                if handle._value.payload is not start.payload:
                    if self.entering[i].kind not in ("array", "selection"):
                        refuse(f"{self.names[i]!r} holds an array that a round writes in place")
                    self.written_names.add(i)
            if self.groups:
                now = groups_of(after)
                for i, first in self.groups.items():
                    if now.get(i) != now.get(first):
                        self.parted |= {j for j in self.groups if self.groups[j] == first}
            self.wide = "wide" in trace.notes
            flag = Value(numbers.truth(again))
            too_long = [Value(numbers.either(*f)) for f in [trace.notes.get("too long", [])] if f]
            return values_of([flag, *left, *too_long]), again

        self.variables.put(list(self.init))
        self.captured = capture("_npx_round", traced, [*indices, *values])
        self.variables.put(list(self.init))
        if not grown and self.entered and self.captured.result is True:
            raise RefusedError(f"{self.site.line}: the condition of the loop does not depend on it")
        return grown

    def _trace_windows(self) -> None:
        """Trace the round again with slices read through windows, for rounds of short slices."""
        whole = self.captured, self.leaving, self.permuted, self.written_names
        about_arrays = self.passing, self.tied, self.refused
        try:
            with items.windows():
                grown = self._captured({*self.leaving}, self._enter({*self.leaving}))
            small = self.captured
            ids = {id(h) for h in (*whole[0].reads, *whole[0].written)}
            same = (
                not grown
                and small.outputs == whole[0].outputs + 1
                and self.leaving == whole[1]
                and {id(h) for h in small.reads} <= ids
                and {id(h) for h in small.written} == {id(h) for h in whole[0].written}
                and [e[0] for e in small.errors] == [e[0] for e in whole[0].errors]
            )
            self.small = small if same else None
        except (TracedValueError, ChangedTypeError):
            self.small = None  # all rounds run without windows
        finally:
            self.variables.put(list(self.init))
            self.captured, self.leaving, self.permuted, self.written_names = whole
            self.passing, self.tied, self.refused = about_arrays

    def _left(
        self,
        i: int,
        now: Any,
        trace: Trace,
        begun: list[tuple[int, Value]],
        entered: list[Handle],
        seen: set[int],
    ) -> tuple[Form, list[Value]]:
        """Return the form and values of a variable after a round."""
        name = self.names[i]
        if type(now) is Unbound:
            if i in self.reset:
                self.reset.discard(i)
            raise ChangedTypeError(f"{name!r} is not bound by each round")
        form, values = flatten(now, name)
        if form.kind == "plain":
            refuse(f"{name!r} is {form}, and changes from round to round")
        for array in arrays_in(now):
            if id(array) in seen:
                refuse(f"{name!r} has an array that another variable has, too, after a round")
            seen.add(id(array))
            owners = [j for (j, _), h in zip(begun, entered, strict=True) if h is array]
            if owners and owners[0] != i:
                if form.kind != "array" or self.entering[owners[0]].kind != "array":
                    refuse(f"{name!r} takes over an array from a container, or into one")
                self.permuted[i] = owners[0]
            elif not owners and trace.outside(array):
                refuse(
                    f"{name!r} becomes another array that exists already, and which one depends "
                    "on the round; use a copy"
                )
        return form, values

    def _note_passing(self, i: int, now: list[Handle], entered: list[Handle], shared: bool) -> None:
        """Note which arrays of a container stay in their places: afterwards they are the same ones."""
        places = {id(h): k for k, h in enumerate(entered)}
        found = [places.get(id(h)) for h in now]
        stays = [k == place for k, place in enumerate(found)]
        alike = len(now) == len(entered)
        self.passing[i] = stays if alike else []
        if shared and any(
            [p is not None and not (s and alike) for p, s in zip(found, stays, strict=True)]
        ):
            refuse(
                f"{self.names[i]!r} moves an array within a container, and its array has another "
                "name; use a copy"
            )

    def _widened(self) -> bool:
        """Compare forms of variables before and after a round; return True to trace it again."""
        again = False
        for i, form in self.leaving.items():
            entry = self.entering.get(i)
            if entry is None:
                if form.kind == "maybe" and i not in self.reset:
                    self.maybe[i] = form
                    again = True
                elif i not in self.reset and self._is_handed_on(i):
                    self.maybe[i] = Form("maybe", None, (form,))
                    again = True
                elif form.kind == "maybe":
                    self.reset.discard(i)
                    raise ChangedTypeError(f"{self.names[i]!r} is bound by some rounds only")
                continue
            if joined(entry, form) == entry and not (self._is_first and form.axes != entry.axes):
                continue
            wider = joined(entry, form)
            if form.kind == "either" and wider is not None:
                self.wider[i] = wider
                again = True
                continue
            if self.runs and i in self.site.first and i not in self.reset:
                self.reset.add(i)
                again = True
                continue
            raise ChangedTypeError(f"{self.names[i]!r} begins as {entry} and becomes {form}")
        return again

    def _is_handed_on(self, i: int) -> bool:
        """Return True for a variable without a value before the loop that a round may use before
        it binds it: the round before, or a part of this one, has bound it.
        """
        return i not in self.site.first and is_used_unbound(self.names[i])

    # --- the loop

    def _added(self) -> list[Any]:
        """Add the loop to the program; return the values of the variables after it."""
        order = list(self.leaving)
        carry_forms = {i: self.entering.get(i, self.leaving[i]) for i in order}
        entering = [v for i in self.entering for v in apart_again(self, i)]
        written = self.captured.written
        written_ids = {id(h) for h in written}
        fixed = [h for h in self.captured.reads if id(h) not in written_ids]
        count = None if self.rounds is None else self.rounds.total
        extra = []
        if self.active is not None:
            extra.append(Value(self.active))
        elif isinstance(count, SymbolicNumber):
            extra.append(Value(numbers.element(count.payload, onp.int64)))
        errors = self.captured.errors
        left = [t for i in order for t in types_of(carry_forms[i])]
        total = len(left) + len(written) + bool(errors)
        if not total:  # nothing is computed, but empty containers may be bound
            return self._after(order, carry_forms, iter(()))
        compute = self._compute(order, carry_forms, fixed, len(entering))
        op = Op(
            "_npx_loop",
            compute,
            ("arrays",),
            variadic=True,
            outputs=total,
            kernels={"jax": compute},
            differentiable_outputs=(
                *[b for i in order for b in inexact(carry_forms[i])],
                *[handles.read(h).payload.dtype.kind in "fcV" for h in written],
                *[False] * bool(errors),
            ),
        )
        operands = [*map(handles.read, fixed), *entering, *map(handles.read, written), *extra]
        results = execution.run(op, operands)
        results = (results,) if total == 1 else results
        for handle, value in zip(written, results[len(left) :], strict=False):
            write_back(context.running(), handle, value)
        trace = context.running()
        for n, (kind, message) in enumerate(errors):
            trace.expect(results[-1].payload[n], kind, message)
        return self._after(order, carry_forms, iter(results))

    def _after(
        self, order: list[int], forms: dict[int, Form], results: Iterator[Value]
    ) -> list[Any]:
        state = list(self.init)
        ran, masks = self._ran(), SharedMasks(self.groups)
        for i in order:
            if i in self.returning:
                # write the array's last value into its original handle
                target = self.init[self.returning[i]]
                writes.write_back(target, next(results))
                state[i] = target
                continue
            state[i] = masks.together(i, forms[i], results, self.names[i])
            if i not in self.entering and ran is not True:
                if type(self.init[i]) is not Unbound:
                    refuse(f"{self.names[i]!r} is another kind of value if no round runs")
                state[i] = MaybeBound(self.names[i], state[i], ran)
            elif i in self.tied:
                tie(arrays_in(state[i]), self.tied[i])
                for old, reason in zip(arrays_in(self.init[i]), self.tied[i], strict=False):
                    if reason:
                        context.running().refuse_writes(old, str(reason))
            elif not self.runs:
                become_read_only(state[i], self.init, i)
            if any(self.passing.get(i, ())):
                same = zip(self.passing[i], arrays_in(self.init[i]), strict=True)
                state[i] = with_arrays(state[i], iter([h if flag else None for flag, h in same]))
        for array, reason in self.refused:
            context.running().refuse_writes(array, reason)
        return state

    def _ran(self) -> Any:
        """Return True if a round is certain to run, else the flag that one has run."""
        if self.runs:
            return True
        if self.active is not None:
            return self.active
        assert self.rounds is not None
        count = self.rounds.total
        return numbers.computed("gt", bool, getattr(count, "payload", count), self.first)

    def _compute(
        self, order: list[int], forms: dict[int, Form], fixed: list[Handle], entering: int
    ) -> Callable[..., Any]:
        """Return the loop as a function of the payloads of fixed arrays, initial values, written
        arrays, and a count or a flag.
        """
        found, entry, rounds = self.captured, self.entering, self.rounds
        leaving, site_first, going = self.leaving, self.first, self.going
        body, small = language.function(found.op, ()), self.small
        small_body = None if small is None else language.function(small.op, ())
        written_ids = [id(h) for h in found.written]
        fixed_ids = [id(h) for h in fixed]
        errors = len(found.errors)
        differentiated, active = modes.differentiated(), self.active
        stops = bool(errors) and not differentiated and self._may_run_forever()
        count: Any = None if rounds is None else rounds.total

        def compute(xp: Any, *arrays: Any) -> Any:
            a, b = len(fixed), len(fixed) + entering
            c = b + len(found.written)
            known = dict(zip(fixed_ids, arrays[:a], strict=True))
            remaining = iter(arrays[a:b])
            state: list[Any] = []
            for i in order:
                if i in entry:
                    for shape, dtype in types_of(forms[i]):
                        state.append(control.of_type(next(remaining), shape, dtype))
                else:
                    state += blank(forms[i])

            def step(k: Any, carry: Any) -> tuple[Any, Any]:
                now, arrays_now, flags = carry
                by_id = known | dict(zip(written_ids, arrays_now, strict=True))
                at, operands = iter(now), []
                for i in order:
                    parts = [next(at) for _ in types_of(forms[i])]
                    operands += parts if i in entry else []

                def ran(which: Captured, run: Any) -> Any:
                    out = run(
                        *[by_id[id(h)] for h in which.reads],
                        *([] if k is None else [control.index(k)]),
                        *operands,
                    )
                    outs, _, after, flags = which.split(
                        (out,) if which.op.outputs == 1 else tuple(out)
                    )
                    written = dict(zip(map(id, which.written), after, strict=True))
                    return tuple(outs), tuple([written[w] for w in written_ids]), tuple(flags)

                if small is None:
                    outs, after, new_flags = ran(found, body)
                else:
                    too_long = ran(small, small_body)[0][-1]

                    def through_windows() -> tuple[Any, Any, Any]:
                        outs, after, flags = ran(small, small_body)
                        return outs[:-1], after, flags

                    outs, after, new_flags = control.conditional(
                        too_long, (lambda: ran(found, body), through_windows), ()
                    )
                left = iter(outs[1:])
                new = [p for i in order for p in converted(leaving[i], forms[i], left)]
                raised = tuple(f | g for f, g in zip(flags, new_flags, strict=True))
                return control.truth(outs[0]), (tuple(new), tuple(after), raised)

            flags = (control.no_flags(errors),) if errors else ()
            carry = (tuple(state), tuple(arrays[b:c]), flags)
            stop = arrays[c] if isinstance(count, SymbolicNumber) else count
            if count is None:
                carry = control.while_staged(step, carry, arrays[c] if active is not None else True)
            elif differentiated and (going is not None or isinstance(count, SymbolicNumber)):
                most = int(count.high) if isinstance(count, SymbolicNumber) else count
                carry = control.bounded_rounds(site_first, most, stop, step, carry)
            elif going is not None or stops:
                carry = control.rounds_while(site_first, stop, step, carry, going is not None)
            else:
                carry = control.counted(site_first, stop, lambda k, s: step(k, s)[1], carry)
            result = (*carry[0], *carry[1], *carry[2])
            return result[0] if len(result) == 1 else result

        return compute

    def _may_run_forever(self) -> bool:
        """Return True if a round has a while loop of its own, which may not end after an error."""
        return tracing.contains_loop(self.captured.jaxpr, ("while",))

    def _report(self) -> None:
        carried = [self.names[i] for i in self.leaving if not self.names[i].startswith("_npc_")]
        parts = [f"carries {', '.join(carried)}"] if carried else []
        if self.captured.written:
            count = len(self.captured.written)
            parts.append(f"writes {count} array{'s' if count > 1 else ''}")
        context.report("one loop", self.site.line, "; ".join(parts) or "carries nothing")


def apart_again(loop: StagedLoop, i: int) -> list[Value]:
    """Return the initial values of a carried variable."""
    now = loop.init[i]
    if type(now) is Unbound:
        return [Value(p) for p in blank(loop.entering[i])]
    return flatten_as(now, loop.names[i], loop.wider.get(i))[1]


def _which(selected: dict[int, list[Any]]) -> dict[int, tuple[bool, ...]]:
    """Return for each variable which of its arrays data have selected."""
    return {i: tuple(map(bool, reasons)) for i, reasons in selected.items()}


def _is_root(value: Any) -> bool:
    return isinstance(value, Handle) and value._view is None


__all__ = ["ChangedTypeError", "StagedLoop"]
