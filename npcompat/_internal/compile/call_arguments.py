"""Signature of a compiled function's call, and assembly of its result.

Arguments are flattened into arrays and static values. An array that is passed several times becomes
one input, and several views of one array become that array and their lenses.
"""

import operator as python
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.backend.jaxpr import python_numbers, tracing
from npcompat._internal.compile.trace import Trace
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.graph_node import Leaf
from npcompat._internal.core.handle import (
    Handle,
    Value,
    extra,
    has_history,
    note_variable_view,
    root_of,
)
from npcompat._internal.core.protocols import LensLike
from npcompat._internal.dispatch import array_like, backends, late_bound
from npcompat._internal.dispatch import handles as _handles
from npcompat._internal.dispatch.memory_layout import in_c_order, lay_out, stand_in
from npcompat._internal.dispatch.placement import new_value
from npcompat._internal.dispatch.traced_number import (
    INT_OPERAND_LIMIT,
    NumberArgument,
    NumberGuards,
    Position,
    TracedNumber,
)
from npcompat._internal.indexing.lens import Lens, view

_NO_OPERANDS: Mapping[Any, frozenset[int]] = {}


class Static:
    """Argument that is a compile-time constant, compared by type and value, floats by repr."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = _exact(value)

    def __eq__(self, other: object) -> bool:
        return type(other) is Static and bool(self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)


def _exact(value: Any) -> Any:
    """Return a key of a value that equal values of other types, or of other signs, don't have."""
    kind = type(value)
    if isinstance(value, float | complex):
        return kind, repr(value)
    if isinstance(value, tuple):
        return kind, tuple(map(_exact, value))
    if kind is frozenset:
        return kind, frozenset(map(_exact, value))
    if kind is range or kind is slice:
        return kind, tuple(map(_exact, (value.start, value.stop, value.step)))
    return kind, value


class Call:
    """Flattened arguments of one call: arrays, static values, their nesting, and the cache key.

    Attributes
    ----------
    handles : list of ndarray
        Arrays among the arguments, each once; then variables of which some are views, and the
        gradients of variables.
    inputs : list of ndarray
        Inputs of the program: the handles, with shared roots in place of their views.
    leaves, places : list
        Flattened arguments, and for each the position of its array in `handles`, or None.
    """

    __slots__ = (
        "handles",
        "inputs",
        "kept",
        "key",
        "leaves",
        "numbers",
        "places",
        "shared",
        "tree",
        "uses",
    )

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        recording: bool,
        operands: Mapping[Any, frozenset[int]] = _NO_OPERANDS,
    ) -> None:
        leaves, self.tree = language.flatten((args, kwargs))
        numbers = (
            operands.get(self.tree, ()) if operands else ()
        )  # leaves that become operands if they are numbers
        self.numbers: dict[
            int, tuple[int, type]
        ] = {}  # position in `handles` -> (leaf, class of the number)
        self.uses = NumberGuards()
        handles: list[Any] = []
        places: list[int | None] = []
        entries: list[Any] = []
        statics: list[Static] = []
        seen: dict[int, int] = {}
        views = gradients = False
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, onp.ndarray):
                leaf = leaves[i] = array_like.array_of(array_like.host_array(leaf))
            elif (
                type(leaf) is not late_bound.ndarray
                and late_bound.is_host_scalar(leaf)
                and leaf.dtype.kind in "iu"
            ):
                leaf = leaves[i] = leaf._value.payload[()]  # it may be a length, or a count
            if not isinstance(leaf, Handle):
                if i in numbers and is_operand(leaf):
                    self.numbers[len(handles)] = i, type(leaf)
                    places.append(len(handles))
                    number = onp.asarray(leaf, onp.int64 if type(leaf) is int else None)
                    handles.append(_handles.wrap(Value(backends.placed(number, modes.current()))))
                    entries.append((None, type(leaf)))
                    continue
                places.append(None)
                statics.append(_static(leaf, i))
                continue
            position = seen.get(id(leaf))
            if position is None:
                position = seen[id(leaf)] = len(handles)
                handles.append(leaf)
                entries.append(_entry(leaf, recording))
                views = views or leaf._view is not None
                gradients = gradients or (
                    leaf._extra is not None and leaf._extra.grad_handle is not None
                )
            places.append(position)
        for handle in list(handles) if views else ():  # a variable is an input whole
            root = root_of(handle)
            if root is not handle and root._extra is not None and root._extra.leaf is not None:
                gradients = True
                if id(root) not in seen:
                    seen[id(root)] = len(handles)
                    handles.append(root)
                    entries.append(_entry(root, recording))
        if gradients:  # gradients of variables are inputs, too: the function may run backward
            for handle in list(handles):
                grad = None if handle._extra is None else handle._extra.grad_handle
                if grad is not None and id(grad) not in seen:
                    seen[id(grad)] = len(handles)
                    handles.append(grad)
                    entries.append(_entry(grad, recording))
                    views = views or grad._view is not None
        self.leaves, self.places, self.handles = leaves, places, handles
        self.kept: tuple[int, ...] = ()
        self.inputs = handles
        self.shared: dict[int, int] = {}
        if views or len(handles) != len(leaves):
            self._find_shared(entries)
        self.key = (self.tree, tuple(places), tuple(entries), tuple(statics))

    def with_operands(
        self, recording: bool, operands: Mapping[Any, frozenset[int]] = _NO_OPERANDS
    ) -> "Call":
        """Return the same call with other numbers as operands."""
        args, kwargs = language.unflatten(self.tree, self.leaves)
        return Call(args, kwargs, recording, operands)

    def histories(self) -> tuple[bool, ...]:
        """Return for each array if it was computed or written while recording."""
        return tuple(map(has_history, self.handles))

    @property
    def number_leaves(self) -> Sequence[Any]:
        """All argument leaves if some numbers are runtime operands; else ()."""
        return self.leaves if self.numbers else ()

    def marked(self) -> frozenset[int]:
        """Return the leaves that `static_argnums` or `static_argnames` declare static."""
        return frozenset([i for i, leaf in enumerate(self.leaves) if type(leaf) is Static])

    def _find_shared(self, entries: list[Any]) -> None:
        """Find roots that several of the arrays share.

        Such a root becomes one input; the lenses of its views become part of the key.
        """
        roots: dict[int, int] = {}
        for handle in self.handles:
            root = id(root_of(handle))
            roots[root] = roots.get(root, 0) + 1
        self.shared = {
            root: i for i, root in enumerate([r for r, count in roots.items() if count > 1])
        }
        for i, handle in enumerate(self.handles):
            found = self.shared.get(id(root_of(handle)))
            if found is not None:
                entries[i] = (*entries[i], found, path(handle), _strides(root_of(handle)))
        self._choose_inputs()

    def _choose_inputs(self) -> None:
        chosen = []
        for i, handle in enumerate(self.handles):
            if i not in self.kept:
                chosen.append(root_of(handle) if id(root_of(handle)) in self.shared else handle)
        self.inputs = list({id(h): h for h in chosen}.values())

    def keep(self, own: "Own") -> None:
        """Pass these arrays to the function unproxied, since it captures them, too."""
        self.kept = tuple([i for i, *_ in own])
        self._choose_inputs()

    def proxies(self, inputs: list[Handle]) -> list[Handle]:
        """Return the arguments of the traced function: proxies, views of proxies, or kept arrays.

        Numbers that are operands become `NumberArgument`s.
        """
        by_id = {id(given): proxy for given, proxy in zip(self.inputs, inputs, strict=True)}
        for given in self.inputs:
            if _strides(given) is not None:
                extra(by_id[id(given)]).layout = stand_in(_handles.layout(given))
        seen: list[Any] = []
        self.uses = uses = NumberGuards()
        for i, handle in enumerate(self.handles):
            if i in self.kept:
                seen.append(handle)
                continue
            if i in self.numbers:
                leaf, kind = self.numbers[i]
                number = by_id[id(handle)]._value.payload
                number = tracing.weak(number) if kind in (int, float) else number
                seen.append(
                    NumberArgument(
                        number,
                        kind,
                        INT_OPERAND_LIMIT,
                        frozenset((leaf,)),
                        python.itemgetter(leaf),
                        uses,
                    )
                )
                continue
            proxy = by_id.get(id(handle))
            if proxy is None:
                proxy = _rebuilt(by_id[id(root_of(handle))], _chain(handle))
            seen.append(
                _handles.wrap_scalar(proxy._value) if type(handle) in late_bound.scalars else proxy
            )
        positions = {id(h): i for i, h in enumerate(self.handles)}
        for i, (handle, proxy) in enumerate(zip(self.handles, seen, strict=True)):
            rare = handle._extra
            if rare is None or i in self.kept:
                continue
            copy = extra(proxy)
            copy.readonly = rare.readonly
            if rare.leaf is not None:
                copy.grad_handle = seen[positions[id(rare.grad_handle)]]
                copy.leaf = Leaf(copy.grad_handle, rare.leaf.request, proxy)
                if proxy._view is None:
                    if not has_history(handle):
                        proxy._value = new_value(proxy._value.payload, copy.leaf)
                else:
                    note_variable_view(proxy._view.root)
        return seen

    def arguments(self, seen: Sequence[Handle]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the nested arguments with these arrays in place of `handles`."""
        return _nested(self.leaves, self.places, self.tree, seen)

    def without_arrays(self) -> "Callable[[Sequence[Handle]], Any] | None":
        """Return a function that nests arrays as `arguments` does, and holds none of this call's.

        None if inputs of the program are no arguments, as the roots of views and numbers are.
        """
        alike = len(self.inputs) == len(self.handles) and not (self.numbers or self.kept)
        if not alike or any([a is not b for a, b in zip(self.inputs, self.handles, strict=True)]):
            return None
        leaves = [
            leaf if place is None else None
            for leaf, place in zip(self.leaves, self.places, strict=True)
        ]
        return partial(_nested, leaves, self.places, self.tree)


def _nested(
    leaves: Sequence[Any], places: Sequence[int | None], tree: Any, seen: Sequence[Handle]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    filled = [
        seen[place] if place is not None else leaf.value if type(leaf) is Static else leaf
        for leaf, place in zip(leaves, places, strict=True)
    ]
    args, kwargs = language.unflatten(tree, filled)
    return args, kwargs


def is_operand(number: Any) -> bool:
    """True if a number can be a runtime operand of a program instead of a static value."""
    if type(number) is int:
        return -INT_OPERAND_LIMIT < number < INT_OPERAND_LIMIT
    return type(number) is float or (
        isinstance(number, onp.integer | onp.floating) and dtypes.on_devices(number.dtype)
    )


def _static(leaf: Any, position: int) -> Static:
    static = leaf if type(leaf) is Static else Static(leaf)
    try:
        hash(static)
    except TypeError:
        raise TypeError(
            f"argument {position} of a compiled function: expected an array, a container of "
            "arrays or something hashable, "
            f"got {type(static.value).__name__}"
        ) from None
    return static


def _entry(handle: Handle, recording: bool) -> tuple[Any, ...]:
    """Return the part of the key for an array.

    It holds shape, dtype, strides, `grad_req`, recording, class, the read-only flag, and the layout
    on several devices.
    """
    value = handle._value if handle._view is None else _handles.read(handle)
    payload, rare, strides = value.payload, handle._extra, _strides(handle)
    layout = sharding.spread(payload) if sharding.several[0] else None
    if rare is None:
        return (
            payload.shape,
            payload.dtype,
            strides,
            None,
            recording and value.node is not None,
            type(handle),
            False,
            layout,
        )
    request = None if rare.leaf is None else rare.leaf.request
    return (
        payload.shape,
        payload.dtype,
        strides,
        request,
        recording and value.node is not None,
        type(handle),
        rare.readonly,
        layout,
    )


def _strides(handle: Handle) -> tuple[int, ...] | None:
    """Return the strides of an array in bytes; None for C order, and for fewer than two axes."""
    if type(handle) is late_bound.symbol or in_c_order(handle):
        return None
    found = _handles.layout(handle)
    return None if found.ndim < 2 or found.flags.c_contiguous else found.strides


def _chain(handle: Handle, stop: Handle | None = None) -> list[LensLike]:
    """Return the lenses from the root (or `stop`) to the handle."""
    lenses: list[LensLike] = []
    while handle is not stop and handle._view is not None:
        lenses.append(handle._view.lens)
        handle = handle._view.parent
    return lenses[::-1]


Own = tuple[tuple[int, int, Any], ...]
"""Arguments that the function also captures: position, id of the root, and path of lenses."""


def path(handle: Handle) -> tuple[Any, ...]:
    """Return a key of the handle's lenses, equal for views of the same part."""
    return tuple([(lens.get.name, lens.attrs, lens.operands) for lens in _chain(handle)])


def _rebuilt(
    handle: Handle,
    lenses: Sequence[LensLike],
    leaves: Sequence[Any] = (),
    results: Sequence[Value] = (),
) -> Any:
    """Return a view of an array through lenses; numbers among `leaves`, and results of the program,
    give start positions.
    """
    for lens in lenses:
        handle = view(handle, _placed(lens, leaves, results) if lens.operands else lens)
    return handle


def _placed(lens: LensLike, leaves: Sequence[Any], results: Sequence[Value]) -> LensLike:
    if not any([isinstance(start, TracedNumber | _Result) for start in lens.operands]):
        return lens
    starts: list[Any] = []
    for start in lens.operands:
        if type(start) is _Result:
            starts.append(int(_handles.to_host(_handles.wrap_scalar(results[start.place]))))
        else:
            starts.append(start.place(leaves) if type(start) is Position and leaves else start)
    return Lens(lens.get, lens.put, lens.attrs, lens.look, tuple(starts))


@dataclass(frozen=True)
class _Result:
    """Stands in the lens of a result for a position that the program computes."""

    place: int


def _with_results(lens: LensLike, values: list[Value], makers: list[Any]) -> LensLike:
    """Return a lens of a traced view whose unknown positions are results of the program."""
    starts: list[Any] = [*lens.operands]
    for i, start in enumerate(starts):
        if isinstance(start, TracedNumber) and type(start) is not Position:
            starts[i] = _Result(len(values))
            values.append(Value(python_numbers.element(start.payload, onp.int64)))
            makers.append(_handles.wrap_scalar)
    if not any([type(start) is _Result for start in starts]):
        return lens
    return Lens(lens.get, lens.put, lens.attrs, lens.look, tuple(starts))


class Outputs:
    """Structure of a function's result, with the source of each array in it.

    A source is an output of the program, an input, an argument, or a handle from outside, together
    with the lenses of a view of it.
    """

    __slots__ = ("makers", "sources", "statics", "tree")

    def __init__(
        self, tree: Any, sources: list[Any], statics: list[Any], makers: list[Any]
    ) -> None:
        self.tree, self.sources, self.statics, self.makers = tree, sources, statics, makers

    @property
    def kind(self) -> type | None:
        """Class of the result if it is one new scalar, or one new array in C order; else None."""
        kinds: dict[Any, type] = {
            _handles.wrap: late_bound.ndarray,
            _handles.wrap_scalar: late_bound.scalar,
        }
        return None if self.tree is not None else kinds.get(self.makers[0])

    def build(
        self,
        results: Sequence[Value],
        inputs: Sequence[Handle],
        arguments: Sequence[Handle],
        leaves: Sequence[Any] = (),
    ) -> Any:
        """Build the result of one call.

        `leaves` are its flattened arguments if numbers among them are operands.
        """
        if self.tree is None:
            return self.makers[0](results[0])
        made: dict[int, Any] = {}
        found: list[Any] = []
        for (kind, where, lenses), static in zip(self.sources, self.statics, strict=True):
            if kind == "static":
                found.append(static)
                continue
            if kind == "value":
                root = made.get(where)
                if root is None:
                    root = made[where] = self.makers[where](results[where])
            elif kind == "input":
                root = inputs[where]
            elif kind == "argument":
                root = arguments[where]
            else:
                root = where
            found.append(_rebuilt(root, lenses, leaves, results))
        return language.unflatten(self.tree, found)


def describe(
    result: Any, trace: Trace, inputs: Sequence[Handle], seen: Sequence[Handle]
) -> tuple[list[Value], Outputs]:
    """Return the values that a traced function outputs, and the structure of its result."""
    leaves, tree = language.flatten(result)
    values: list[Value] = []
    slots: dict[int, tuple[int, Handle]] = {}  # by id of a handle, which lives as long
    sources: list[Any] = []
    statics: list[Any] = []
    makers: list[Any] = []
    at_input = {id(p): i for i, p in enumerate(inputs)}
    at_argument = {id(p): i for i, p in enumerate(seen)}
    for leaf in leaves:
        if type(leaf) is NumberArgument:
            leaf.value()
        if isinstance(leaf, TracedNumber):
            leaf = _handles.wrap_scalar(trace.adopt(leaf.as_result()))
        if not isinstance(leaf, Handle):
            sources.append(("static", 0, ()))
            statics.append(leaf)
            continue
        statics.append(None)
        root = root_of(leaf)
        lenses = [_with_results(lens, values, makers) for lens in _chain(leaf)]
        if id(leaf) in at_argument:
            sources.append(("argument", at_argument[id(leaf)], ()))
        elif id(root) in at_input:
            sources.append(("input", at_input[id(root)], tuple(lenses)))
        elif trace.outside(root):
            sources.append(("outside", leaf if leaf._view is None else root, tuple(lenses)))
        else:
            slot, _ = slots.setdefault(id(root), (len(values), root))
            if slot == len(values):
                values.append(_handles.read(root))
                makers.append(_maker(root))
            sources.append(("value", slot, tuple(lenses)))
    if len(leaves) == 1 and leaves[0] is result and sources[0] == ("value", 0, ()):
        tree = None
    return values, Outputs(tree, sources, statics, makers)


def _maker(root: Handle) -> Callable[[Value], Any]:
    """Return a function that wraps a value in a handle of the kind and layout of a traced one."""
    if type(root) in late_bound.scalars:
        return _handles.wrap_scalar
    return _handles.wrap if in_c_order(root) else partial(_wrapped, _handles.layout(root))


def _wrapped(wanted: onp.ndarray[Any, Any], value: Value) -> Any:
    made = _handles.wrap(value)
    lay_out(made, wanted)
    return made


__all__ = ["Call", "Outputs", "Own", "Static", "describe", "is_operand", "path"]
