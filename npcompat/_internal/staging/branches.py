"""Staged branches: both arms are traced, and the program takes one of them when it runs."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import control_flow as control
from npcompat._internal.backend.jax import language, predicated_arms
from npcompat._internal.backend.jaxpr import python_numbers as numbers
from npcompat._internal.compile.capture import Captured, capture
from npcompat._internal.compile.caught_errors import note
from npcompat._internal.compile.outer_selections import write_back
from npcompat._internal.compile.staged_runs import is_staged, refuse, staged
from npcompat._internal.compile.trace import Trace
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import execution, handles
from npcompat._internal.dispatch.symbolic_number import (
    INFINITE,
    SymbolicNumber,
    interval,
    is_number,
)
from npcompat._internal.source.jumps import RETURNED
from npcompat._internal.staging import context
from npcompat._internal.staging.aliases import (
    arrays_in,
    become_one_of,
    become_read_only,
    holding,
    refusals,
    refuse_shared_lists,
    selected_of,
    tie,
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
    groups_of,
    holders,
    inexact,
    joined,
    same_object,
    types_of,
    values_of,
)
from npcompat._internal.staging.context import Variables
from npcompat._internal.support.errors import RefusedError, user_location

Arm = Callable[[], Any]


class RaisedError(Exception):
    """Error that user code raises in an arm; the program raises it if it takes the arm."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


OF_PROGRAM = (
    LookupError,
    ValueError,
    ZeroDivisionError,
    AssertionError,
    OverflowError,
    NameError,
)
"""Errors in the trace of an arm that the program raises if it takes the arm."""


def no_truth(shape: tuple[int, ...]) -> None:
    """Raise NumPy's error for the truth of an array of several elements."""
    bool(onp.empty(shape))


def expression(flag: Any, then: Arm, otherwise: Arm) -> Any:
    """Stage `then() if flag else otherwise()`."""
    box: list[Any] = [Unbound("the expression")]

    def put(values: Any) -> None:
        box[:] = values

    def arm(function: Arm) -> Arm:
        def run() -> None:
            box[0] = function()

        return run

    variables = Variables(lambda: (box[0],), put, ("the value of the expression",))
    staged_branch(flag, arm(then), arm(otherwise), variables)
    return box[0]


def staged_branch(
    flag: Any,
    then: Arm,
    otherwise: Arm,
    variables: Variables,
    promotes: bool = False,
    unused: tuple[int, ...] = (),
) -> None:
    """Stage a branch on a traced flag.

    If `promotes` is True, a variable that is a number after one arm and an array after the other
    becomes an array.
    """
    saved = list(variables.get())
    with holding(saved):
        _Branch(flag, variables, saved, promotes, unused).run(then, otherwise)


class _Taken:
    """Traced arm: the forms of the variables that it binds, and the error that it raises."""

    def __init__(self, branch: "_Branch", arm: Arm) -> None:
        self.forms: dict[int, Form] = {}
        self.intervals: dict[int, tuple[float, float]] = {}
        self.selected: dict[int, Any] = {}  # why arrays that data have selected are read-only
        self.refused: list[tuple[Any, str]] = []  # arrays that these may be, and why
        # arrays that variables are bound to, and that exist outside or have another name
        self.named: dict[int, list[Any]] = {}
        self.raised: BaseException | None = None
        self.groups: dict[int, int] = {}  # selections by the same mask; see `groups_of`
        variables, saved = branch.variables, branch.saved

        def traced(_: list[Any], trace: Trace) -> tuple[list[Value], Any]:
            variables.put(list(saved))
            with staged():
                try:
                    arm()
                except RaisedError as error:
                    self.raised = error.error
                except OF_PROGRAM as error:
                    if isinstance(error, RefusedError):
                        raise
                    self.raised = error
                except Exception as error:
                    note(error)  # data may choose the other arm
                    raise
            if self.raised is not None:
                return [], None
            after, values = list(variables.get()), list[Value]()
            with holding(after):
                for i in range(len(after)):
                    if i not in branch.unused and not same_object(saved[i], after[i]):
                        refuse_shared_lists(after, i, shown(variables.names[i]))
            for i, (before, now) in enumerate(zip(saved, after, strict=True)):
                if same_object(before, now) or i in branch.unused:
                    continue
                self.forms[i], found = flatten(now, variables.names[i])
                values += found
                self.selected[i] = selected_of(now)
                if is_number(now):
                    self.intervals[i] = interval(now)
            if any(map(any, self.selected.values())):
                self.refused = refusals(trace)
            self.named = _with_other_names(variables.get(), self.forms, trace)
            if any([form.kind == "selection" for form in self.forms.values()]):
                self.groups = groups_of(variables.get())
            return values_of(values), None

        self.captured: Captured = capture("_npx_arm", traced, [])

    def computed(self, position: dict[int, int], arrays: Any) -> tuple[Any, dict[int, Any], Any]:
        """Return payloads of the arm's variables, of written handles by id, and its flags."""
        found = self.captured
        if not found.op.outputs:
            return (), {}, ()
        out = language.function(found.op, ())(*[arrays[position[id(h)]] for h in found.reads])
        outs, _, after, flags = found.split((out,) if found.op.outputs == 1 else tuple(out))
        return outs, dict(zip(map(id, found.written), after, strict=True)), flags


def _with_other_names(values: list[Any], bound: Mapping[int, Form], trace: Trace) -> Any:
    """Return for each variable that an arm binds its arrays that have another name: those that
    existed before the arm, and those of two variables.
    """
    arrays = {i: arrays_in(values[i]) for i in bound}
    times = Counter([id(h) for found in arrays.values() for h in found])
    return {
        i: [h for h in found if times[id(h)] > 1 or (h._view is None and trace.outside(h))]
        for i, found in arrays.items()
    }


def text_of(error: BaseException) -> str:
    """Return the text from which an error of the same class can be made; a KeyError shows its key."""
    if type(error) is KeyError and len(error.args) == 1 and isinstance(error.args[0], str):
        return error.args[0]
    return str(error)


def shown(name: str) -> str:
    """Return the name of a variable for an error message."""
    return "the returned value" if name == RETURNED else repr(name)


def _of_both(one: BaseException, other: BaseException) -> BaseException:
    """Return the error of a branch of which both arms raise."""
    found = one
    if type(one) is not type(other) or str(one) != str(other):
        found = RefusedError(
            f"{user_location()}: both arms of a branch raise, {type(one).__name__} ({one}) and "
            f"{type(other).__name__} ({other}); which of them depends on data, which are not known "
            "while the function is being compiled"
        )
    return RaisedError(found) if is_staged() else found


class _Branch:
    def __init__(
        self,
        flag: Any,
        variables: Variables,
        saved: list[Any],
        promotes: bool,
        unused: tuple[int, ...],
    ) -> None:
        self.flag, self.variables, self.saved, self.promotes = flag, variables, saved, promotes
        self.unused = unused

    def run(self, then: Arm, otherwise: Arm) -> None:
        """Trace both arms, and add the branch to the program."""
        try:
            arms = [_Taken(self, then), _Taken(self, otherwise)]
        finally:
            self.variables.put(list(self.saved))
        raised = [a.raised for a in arms]
        if raised[0] is not None and raised[1] is not None:
            raise _of_both(raised[0], raised[1])
        trace = context.running()
        for which, error in enumerate(raised):
            if error is not None:
                taken = self.flag if which == 0 else numbers.negation(self.flag)
                trace.expect(taken, type(error), text_of(error))
        going = [a for a in arms if a.raised is None]
        changed = sorted({i for a in going for i in a.forms})
        before: dict[int, tuple[Form | None, list[Value]]] = {
            i: (None, []) if all([i in a.forms for a in going]) else self._before(i)
            for i in changed  # what both arms bind may be left over from an arm that was traced
        }
        targets = {i: self._target(i, going, before[i]) for i in changed}
        merged = [i for i in changed if targets[i].kind != "plain"]
        state = list(self.saved)
        results = self._added(arms, merged, targets, before)
        masks = SharedMasks(self._groups(going))
        for i in changed:
            bounds = self._bounds(i, going)
            state[i] = masks.together(i, targets[i], results, self.variables.names[i], bounds)
            selected = [a.selected[i] for a in going if any(a.selected.get(i, ()))]
            if selected or (len(going) == 2 and sum([i in a.forms for a in going]) == 1):
                become_read_only(state[i], self.saved, i)
            for reasons in selected:
                tie(arrays_in(state[i]), reasons)
            named = [h for a in going for h in a.named.get(i, ())]
            if named:
                become_one_of(state[i], named)
        for array, reason in [pair for a in going for pair in a.refused]:
            trace.refuse_writes(array, reason)
        self.variables.put(state)

    def _groups(self, going: list[_Taken]) -> dict[int, Any]:
        """Return for each selection what those by the same mask have in common after all arms."""
        if not any([arm.groups for arm in going]):
            return {}
        found = [arm.groups or groups_of(self.saved) for arm in going]
        shared = set.intersection(*map(set, found))
        return {i: tuple([groups[i] for groups in found]) for i in shared}

    def _before(self, i: int) -> tuple[Form | None, list[Value]]:
        """Return the form and values of a variable before the branch; form None if unbound."""
        if isinstance(self.saved[i], Unbound):
            return None, []
        if isinstance(self.saved[i], Handle) and self.saved[i]._view is not None:
            refuse(
                f"{self.variables.names[i]!r} is a view before a branch, and bound anew in one arm "
                "of it; use a copy"
            )
        refuse_shared_lists(self.saved, i, shown(self.variables.names[i]))
        return flatten(self.saved[i], self.variables.names[i])

    def _target(self, i: int, going: list[_Taken], before: tuple[Form | None, Any]) -> Form:
        found = [a.forms.get(i, before[0]) for a in going]
        forms = [f for f in found if f is not None]
        target: Form | None = forms[0]
        for form in forms[1:]:
            assert target is not None
            target = joined(target, form, self.promotes)
            if target is None:
                name, other = shown(self.variables.names[i]), str(form)
                text = (
                    f"{name} is {forms[0]} after one arm of a branch, and {other} after the other; "
                    "make them alike"
                )
                if other == str(forms[0]):
                    text = (
                        f"{name} is {other} after one arm of a branch, and another after the other; "
                        "only arrays, numbers, and containers of them can depend on data"
                    )
                if {form.kind, forms[0].kind} == {"array", "selection"}:
                    # in a loop, the first round may select from an array, the others from selections
                    raise ChangedTypeError(f"{user_location()}: {text}")
                refuse(text)
        assert target is not None
        return target if len(forms) == len(found) else joined_with_none(target)

    def _bounds(self, i: int, going: list[_Taken]) -> tuple[float, float]:
        found = []
        for arm in going:
            if i in arm.forms:
                found.append(arm.intervals.get(i, (-INFINITE, INFINITE)))
            elif is_number(self.saved[i]):
                found.append(interval(self.saved[i]))
        return min([f[0] for f in found]), max([f[1] for f in found])

    def _added(
        self,
        arms: list[_Taken],
        merged: list[int],
        targets: dict[int, Form],
        before: dict[int, tuple[Form | None, list[Value]]],
    ) -> Any:
        """Add the branch to the program, and write the handles that arms wrote.

        Return the values of the variables after it.
        """
        found = [a.captured for a in arms]
        reads = list({id(h): h for c in found for h in c.reads}.values())
        written = list({id(h): h for c in found for h in c.written}.values())
        operands = list({id(h): h for h in (*reads, *written)}.values())
        position = {id(h): n for n, h in enumerate(operands)}
        written_ids = [id(h) for h in written]
        entering: list[Value] = []
        places = {}
        for i in merged:
            form, values = before[i]
            places[i] = form, len(operands) + len(entering), holders(self.saved[i], len(values))
            entering += values
        errors = [e for c in found for e in c.errors]

        def leave(arm: _Taken, arrays: Any) -> tuple[Any, ...]:
            outs, after, flagged = arm.computed(position, arrays)
            left, at = iter(outs), {}
            for i, form in arm.forms.items():
                at[i] = [next(left) for _ in types_of(form)]
            result = []
            for i in merged:
                target = targets[i]
                before_form, start, held = places[i]
                if i in at:
                    result += converted(arm.forms[i], target, iter(at[i]))
                elif before_form is not None:
                    # the arm may have written the arrays that the variable had before
                    now = [
                        before_arm if h is None else after.get(h, before_arm)
                        for h, before_arm in zip(held, arrays[start:], strict=False)
                    ]
                    result += converted(before_form, target, iter(now))
                else:
                    result += blank(target)
            result += [after.get(h, arrays[position[h]]) for h in written_ids]
            if errors:
                parts = [
                    flagged[0] if a is arm else control.no_flags(len(a.captured.errors))
                    for a in arms
                    if a.captured.errors
                ]
                result.append(control.joined_flags(parts))
            return tuple(result)

        left = [t for i in merged for t in types_of(targets[i])]
        total = len(left) + len(written) + bool(errors)
        if not total:
            return iter(())
        selects = not modes.differentiated()

        def compute(xp: Any, flag: Any, *arrays: Any) -> Any:
            out = predicated_arms.run(
                flag, lambda *a: leave(arms[0], a), lambda *a: leave(arms[1], a), arrays, selects
            )
            return out[0] if total == 1 else tuple(out)

        carries = [b for i in merged for b in inexact(targets[i])]
        carries += [handles.read(h).payload.dtype.kind in "fcV" for h in written]
        op = Op(
            "_npx_branch",
            compute,
            ("arrays",),
            variadic=True,
            outputs=total,
            kernels={"jax": compute},
            differentiable_outputs=(*carries, *[False] * bool(errors)),
        )
        values = [Value(self.flag), *map(handles.read, operands), *entering]
        results = execution.run(op, values)
        results = (results,) if total == 1 else results
        for handle, value in zip(written, results[len(left) :], strict=False):
            write_back(context.running(), handle, value)
        for n, (kind, message) in enumerate(errors):
            context.running().expect(results[-1].payload[n], kind, message)
        return iter(results)


def joined_with_none(form: Form) -> Form:
    """Return the form of a variable that one arm leaves unbound."""
    return form if form.kind == "maybe" else Form("maybe", None, (form,))


__all__ = [
    "OF_PROGRAM",
    "Arm",
    "MaybeBound",
    "RaisedError",
    "SymbolicNumber",
    "expression",
    "no_truth",
    "staged_branch",
    "text_of",
]
