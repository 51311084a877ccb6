"""Compiled functions, `npx.jit` and `hybridize`: one trace for each kind of call, then replays.

The cache key of a call consists of the types of its arrays, its static arguments, the aliasing of
arrays, and the modes. If a call differs from an earlier one only in numbers, these become operands,
unless the function reads their values. Each replay reads and writes the outside arrays that the
trace found; buffers of overwritten arrays are donated to the program.
"""

import functools
import operator as python
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.compile import loop_policy, recompilation
from npcompat._internal.compile.call_arguments import Call, Static
from npcompat._internal.compile.plain_arguments import NO_CACHED_RUN, is_plain, kinds
from npcompat._internal.compile.program import Program
from npcompat._internal.compile.recent_calls import Recent, rerun_recent, rerun_recorded
from npcompat._internal.compile.trace import CapturedTypeError
from npcompat._internal.core import modes, program_lock
from npcompat._internal.core.handle import Value, have_variable_views
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import handles as _handles
from npcompat._internal.dispatch import late_bound
from npcompat._internal.dispatch.backends import ON_DEVICES, XLA, engine_of
from npcompat._internal.dispatch.placement import transfer_to_xla
from npcompat._internal.native import fast_path
from npcompat._internal.support import gc_pause
from npcompat._internal.support.errors import CompileWarning, user_location

_rerun_recent = fast_path.rerun_recent(rerun_recent)
_RECENT = 4
MOST_PROGRAMS = 512
"""Maximum number of programs that a function keeps, so that memory stays bounded."""
_VARIANTS = 8
"""Programs kept for one key whose guards differ, for state that alternates between values."""
_current_mode, _default_mode = modes._MODE.get, modes._process_default


class Compiled:
    """Function that is traced once for each kind of call, and then runs as one compiled program.

    Parameters
    ----------
    function : callable
        Function of arrays, nested containers of arrays, and static arguments.
    name : str, optional
        Name in the compile log.
    static_argnums, static_argnames : sequence
        Arguments that are static as a whole; they must be hashable. Arguments that are no arrays
        are static anyway, except numbers that change: see `_changed_numbers`.
    loops : {"staged", "python"}, optional
        If "staged", loops and branches are parts of the program. The default is that of the
        environment variable `NPCOMPAT_LOOPS`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        static_argnums: Sequence[int] = (),
        static_argnames: Sequence[str] = (),
        loops: str | None = None,
    ) -> None:
        self.function, self.converts = function, loop_policy.is_staged(loops)
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.static_argnums, self.static_argnames = (
            frozenset(static_argnums),
            frozenset(static_argnames),
        )
        self._programs: dict[Any, Program] = {}
        self._recent: list[
            tuple[Program, tuple[Any, ...]]
        ] = []  # programs of calls with plain arrays only: see `rerun_recent`
        self._recorded: list[Recent] = []  # the same while recording: see `rerun_recorded`
        self._variants: dict[Any, list[Program]] = {}  # programs whose guards have failed once
        self._drops = False
        self._warned_of_views = False
        self._latest: Any = None
        self._operands: dict[
            Any, frozenset[int]
        ] = {}  # by structure of the arguments: leaves that are operands, as their numbers changed
        self._asked: dict[Any, frozenset[int]] = {}  # leaves whose values the function reads
        self._misses = recompilation.Misses(self.name)
        functools.update_wrapper(self, function, updated=())

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which compiles its own programs."""
        empty: dict[str, Any] = {
            "_programs": {},
            "_recent": [],
            "_recorded": [],
            "_variants": {},
            "_latest": None,
        }
        return vars(self) | empty | {"_misses": recompilation.Misses(self.name)}

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else partial(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        mode = _current_mode(_default_mode[0])
        if mode.trace is not None or (
            (observer := mode.observer) is not None and observer.needs_every_op
        ):
            # operators join the enclosing trace, or are observed one by one
            return self._eagerly(args, kwargs)
        if self._recent and not kwargs and not mode.recording:
            result = _rerun_recent(self._recent, args, mode)
            if result is not NO_CACHED_RUN:
                return result
        elif self._recorded and not kwargs and mode.recording:
            result = rerun_recorded(self._recorded, args, mode)
            if result is not NO_CACHED_RUN:
                return result
        return self._looked_up(args, kwargs, mode)

    def _looked_up(self, args: tuple[Any, ...], kwargs: dict[str, Any], mode: modes.Mode) -> Any:
        """Run the program for a call on the slow path; trace the function if there is none."""
        call = Call(self._marked(args), self._named(kwargs), mode.recording, self._operands)
        if mode.recording and have_variable_views(call.handles):
            return self._recorded_eagerly(args, kwargs)
        key, program = self._found(call, mode)
        changed = ""
        if program is None and (numbers := self._changed_numbers(key, call)):
            changed = f"{recompilation.reason(key, self._latest)[0]}; an operand from now on"
            self._operands[call.tree] = self._operands.get(call.tree, frozenset()) | numbers
            call = call.with_operands(mode.recording, self._operands)
            key, program = self._found(call, mode)
        if call.numbers and program is not None and not program.uses.hold(call.leaves):
            call = call.with_operands(mode.recording)
            key, program = self._found(call, mode)
        if program is not None and not program.guards.hold():
            program, why = self._variant(key, program)
        else:
            why = "", ""
        if program is not None and program.fits(mode.recording):
            if mode.recording and have_variable_views(program.reads):
                return self._recorded_eagerly(args, kwargs)
            plain = not (kwargs or call.kept or program.captured.changed or program.only_checks)
            if plain and _are_plain(args):
                self._note(program, args, mode)
            try:
                return program.replay(call)
            except CapturedTypeError:
                why = "a captured array has another shape or dtype", "captured"
        elif changed:
            why = changed, ""
        elif why[0]:
            pass
        elif program is None:
            why = recompilation.reason(key, self._latest)
        else:
            why = "a captured array is differentiated now, or no longer", "mode"
        with program_lock.held:
            with gc_pause.gc_paused():
                program, call = self._traced(key, call, why, mode)
            if mode.recording and have_variable_views(program.reads):
                return self._recorded_eagerly(args, kwargs)
            return program.replay(call)

    def _eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        function = late_bound.converted(self.function) if self.converts else self.function
        return function(*args, **kwargs)

    def _recorded_eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function operator by operator, as it reads views that are variables.

        A program has whole arrays as operands, so that its gradients would be theirs.
        """
        if not self._warned_of_views:
            self._warned_of_views = True
            warnings.warn(
                CompileWarning(
                    f"{user_location()}: {self.name} reads an array that has a view on which "
                    "attach_grad was called, and is not compiled while recording; call attach_grad "
                    "on a copy of the view, or compile the whole step"
                ),
                stacklevel=2,
            )
        return self._eagerly(args, kwargs)

    def _variant(self, key: Any, program: "Program") -> tuple["Program | None", tuple[str, str]]:
        """Return another program of the key whose guards hold, or None, and why one is needed."""
        others = self._variants.setdefault(key, [])
        why = f"{program.guards.broken()} since the function was compiled", "guard"
        found = next((p for p in others if p.guards.hold()), None)
        if program not in others:
            others.insert(0, program)
            del others[_VARIANTS:]
        if found is not None:
            self._programs[key] = found
        return found, why

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the program for a kind of call ahead of its first call.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the call. An `ops.TensorType` without unknown dimensions may stand for an
            array.

        Raises
        ------
        NotImplementedError
            While recording, or while another function is being compiled.

        Examples
        --------
        >>> f = npx.jit(lambda x, k: x * k)
        >>> f.compile(ops.TensorType((2, 3), "float32"), 2)
        >>> with npx.compile_log() as log:
        ...     y = f(np.ones((2, 3)), 2)
        >>> log
        []
        """
        mode = modes.current()
        if mode.recording or mode.trace is not None:
            when = (
                "while recording" if mode.recording else "while another function is being compiled"
            )
            raise NotImplementedError(
                f"compile() {when}: compile a function that records itself, outside"
            )
        leaves, tree = language.flatten((args, kwargs))
        args, kwargs = language.unflatten(
            tree, [_stand_in(leaf) if type(leaf) is TensorType else leaf for leaf in leaves]
        )
        call = Call(self._marked(args), self._named(kwargs), False, self._operands)
        key, program = self._found(call, mode)
        with gc_pause.gc_paused():
            if program is None:
                program, call = self._traced(
                    key, call, ("compiled ahead of the first call", ""), mode
                )
            program.compile(call)

    def _found(self, call: "Call", mode: modes.Mode) -> tuple[Any, "Program | None"]:
        """Return the key of the program for a call, and the program or None."""
        key: tuple[Any, ...] = (call.key, mode.recording, mode.training, mode.numpy_dtypes)
        program = self._programs.get(key)
        if program is not None:
            own = program.own_arrays(call)
            if own:
                key = (*key, own)
                call.keep(own)
                program = self._programs.get(key)
        if program is not None and program.differentiates:
            histories = call.histories()
            if histories != program.histories:
                key = (*key, histories)
                program = self._programs.get(key)
        return key, program

    def _changed_numbers(self, key: Any, call: "Call") -> frozenset[int]:
        """Return the leaves that become operands: numbers, by which alone a call differs from an
        earlier one.
        """
        known = self._asked.get(call.tree, frozenset()) | call.marked()
        return next(
            (
                found
                for before in reversed(self._programs)
                if (found := recompilation.numbers(key, before) - known)
            ),
            frozenset(),
        )

    def _traced(
        self, key: Any, call: "Call", why: tuple[str, str], mode: modes.Mode
    ) -> tuple["Program", "Call"]:
        """Trace the program for a call; return it with the call for which it was made.

        If the function reads the values of numbers that are operands, they become static, and it is
        traced again.
        """
        tree, before = call.tree, (dict(self._asked), dict(self._operands))
        while True:
            try:
                program = self._compiled(key, call, why[0])
            except (
                TypeError
            ):  # raised for reading the value of an operand, and for using it where it can't be
                if not call.numbers:
                    self._asked, self._operands = before  # numbers are not the cause
                    raise
                asked = frozenset(call.uses.asked) or frozenset(
                    [leaf for leaf, _ in call.numbers.values()]
                )
                self._asked[tree] = self._asked.get(tree, frozenset()) | asked
                self._operands[tree] -= asked
                call = call.with_operands(mode.recording, self._operands)
            else:
                self._misses.note(*why)
                if program.uses.hold(call.leaves):
                    return program, call
                call = call.with_operands(mode.recording)  # with static numbers it raises the error
            key, found = self._found(call, mode)
            if found is not None:
                return found, call
            why = recompilation.reason(key, self._latest)

    def latest_inputs(self) -> list[tuple[tuple[int, ...], Any]]:
        """Return shape and dtype of each array argument of the call that was compiled last."""
        if self._latest is None:
            return []
        _, places, entries, _ = self._latest[0]
        return [
            entries[place][:2]
            for place in places
            if place is not None and entries[place][0] is not None
        ]

    def clear(self) -> None:
        """Drop the compiled programs."""
        self._programs.clear()
        self._variants.clear()
        self._recent.clear()
        self._recorded.clear()

    def _compiled(self, key: Any, call: "Call", reason: str) -> "Program":
        program = Program(self.function, self.name, call, reason, self.converts)
        own = program.own_arrays(call)
        # an argument is also captured, and one of the two is written: trace again with the argument
        # unproxied, so that both are one array
        if own:
            self._keep(key, program)
            key = (*key, own)
            call.keep(own)
            program = Program(self.function, self.name, call, reason, self.converts)
        self._keep(key, program)
        self._latest = key
        return program

    def _keep(self, key: Any, program: "Program") -> None:
        """Keep a program; drop the oldest if there are more than MOST_PROGRAMS."""
        self._programs[key] = program
        if len(self._programs) <= MOST_PROGRAMS:
            return
        oldest = next(iter(self._programs))
        del self._programs[oldest]
        self._variants.pop(oldest, None)
        self._recent.clear()
        self._recorded.clear()
        if not self._drops:
            self._drops = True
            warnings.warn(
                CompileWarning(
                    f"{self.name} has {MOST_PROGRAMS} programs for as many kinds of calls; from now "
                    "on the oldest is dropped for each new one, and compiled again when it is "
                    "called. Call it with fewer shapes (bucket=), or clear() it"
                ),
                stacklevel=2,
            )

    def _note(self, program: "Program", args: tuple[Any, ...], mode: modes.Mode) -> None:
        """Add a program to the recent ones, with the types of its arguments."""
        if mode.recording:
            recent = Recent(program, *kinds(args))
            known = any([_are_equal(recent, r) for r in self._recorded])
            if "calls" in fast_path.enabled and not sharding.several[0] and not known:
                self._recorded.insert(0, recent)
                del self._recorded[_RECENT:]
            return
        if mode.backend == "numpy":
            return
        types = tuple([_aval(a._value.payload, mode, self.name) for a in args])
        if not any(
            [p is program and all(map(python.is_, known, types)) for p, known in self._recent]
        ):
            self._recent.insert(0, (program, types))
            del self._recent[_RECENT:]

    def _marked(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if not self.static_argnums:
            return args
        return tuple([Static(a) if i in self.static_argnums else a for i, a in enumerate(args)])

    def _named(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        if not self.static_argnames or not kwargs:
            return kwargs
        return {k: Static(v) if k in self.static_argnames else v for k, v in kwargs.items()}


def _stand_in(kind: TensorType) -> Any:
    """Return an uninitialized array of a type."""
    if not kind.known:
        raise TypeError(f"compile: expected types of which nothing is unknown, got {kind!r}")
    return _handles.wrap(Value(onp.empty(kind.shape, kind.dtype)))


def _aval(payload: Any, mode: modes.Mode, name: str) -> Any:
    """Return the aval that an operand has, or would have on XLA or the mode's plug-in."""
    if type(payload) in ON_DEVICES:
        return payload.aval
    if engine_of(mode) is None:
        return XLA.aval(payload)
    return transfer_to_xla(payload, mode, name).aval


def _are_equal(one: Recent, other: Recent) -> bool:
    """Return True for the same program of arrays with the same avals."""
    same = one.program is other.program and one.nodes == other.nodes
    return same and all(map(python.is_, one.avals, other.avals))


def _are_plain(args: tuple[Any, ...]) -> bool:
    return all(map(is_plain, args)) and len({*map(id, args)}) == len(args)


__all__ = ["Compiled"]
