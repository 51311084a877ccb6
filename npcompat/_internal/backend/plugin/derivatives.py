"""Recorded calls on plug-ins: an operator with its pullback, both executed by the engine.

The derivative is that of the operator's declaration, which JAX takes of its equations. An engine's
own automatic differentiation is not asked: of the same equations it gives other answers where
operators have rules of their own.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as onp

from npcompat._internal.backend.equations.program import UnsupportedError
from npcompat._internal.backend.jax import differentiation, language
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import modes
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.op import Attrs, Op


class Residuals:
    """Residuals of a recorded program: the place and the use of each value that its pullback needs.

    Attributes
    ----------
    sources : list of tuple
        For each residual: ("input", i), ("output", i) or ("kept", i).
    """

    def __init__(self) -> None:
        self.sources: list[tuple[str, int]] = []
        self.tree: Any = None
        self.outputs: Any = None
        self.avals: list[Any] = []


def recorded_function(
    apply: Callable[..., Any], mask: tuple[bool, ...], found: Residuals
) -> Callable[..., Any]:
    """Return the function of JAX's arrays whose results are the outputs, then kept residuals."""

    def recorded(*arrays: Any) -> Any:
        with jax.enable_x64(True):
            outs, vjp = differentiation._vjp(apply, arrays, mask)
            leaves, found.tree = jax.tree.flatten(vjp)
        flat = outs if isinstance(outs, tuple) else (outs,)
        known = {id(o): ("output", i) for i, o in enumerate(flat)}
        known |= {id(a): ("input", i) for i, a in enumerate(arrays)}
        kept: list[Any] = []
        found.sources = []
        for leaf in leaves:
            source = known.get(id(leaf))
            if source is None:
                source = ("kept", len(kept))
                kept.append(leaf)
            found.sources.append(source)
        found.outputs = jax.tree.map(lambda o: jax.ShapeDtypeStruct(o.shape, o.dtype), outs)
        found.avals = [_aval(leaf) for leaf in leaves]
        return (*flat, *kept)

    return recorded


def _aval(leaf: Any) -> Any:
    aval = jax.typeof(leaf)
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


class Recorded:
    """An operator on payloads of a plug-in that also returns its pullback."""

    def __init__(self, backend: Any, op: Op, attrs: Attrs, mask: tuple[bool, ...]) -> None:
        self._backend, self._op, self._attrs, self._mask = backend, op, attrs, mask
        self._apply = language.function(op, attrs)
        self._programs: dict[Any, Any] = {}

    def __call__(self, *payloads: Any) -> tuple[Any, language.Pullback]:
        from_types = self._backend.key_of(payloads)
        program = self._programs.get(from_types)
        if program is None:
            program = self._programs[from_types] = self._built(payloads)
        if type(program) is UnsupportedError:
            if modes.current().fallback != "xla":
                raise program
            return self._across(payloads)
        outs, pull, residuals = program(payloads)
        return (outs[0] if self._op.outputs == 1 else tuple(outs)), language.Pullback(
            pull, residuals
        )

    def _built(self, payloads: Sequence[Any]) -> Any:
        try:
            return _Program(self._backend, self._op, self._apply, self._mask, payloads)
        except UnsupportedError as error:
            return error.with_traceback(None)

    def _across(self, payloads: Sequence[Any]) -> tuple[Any, language.Pullback]:
        """The call on XLA, and its pullback there, too."""
        backend, op = self._backend, self._op
        outs = backend.across(op, self._attrs)(*payloads)

        def pull(arrays: Any, cotangents: Sequence[Any]) -> Sequence[Any]:
            present = tuple([c is not None for c in cotangents])
            gradient = language.pullback_op(op, self._attrs, self._mask, present)
            program = xla.forward(gradient, ())
            name, single = f"{op.name}_pullback", gradient.outputs == 1
            rest = [c for c in cotangents if c is not None]
            found: Sequence[Any] = backend.across_function(name, program, single)(*arrays, *rest)
            return found

        return (outs[0] if op.outputs == 1 else tuple(outs)), language.Pullback(
            pull, tuple(payloads)
        )


class _Program:
    """The recorded program for one kind of operands, and its pullbacks by which cotangents are given."""

    def __init__(
        self,
        backend: Any,
        op: Op,
        apply: Callable[..., Any],
        mask: tuple[bool, ...],
        payloads: Sequence[Any],
    ) -> None:
        self.backend, self.op = backend, op
        on_engine = [p for p in payloads if type(p) is EngineArray]
        self.device = backend.device_of(on_engine[0])
        self.residuals = Residuals()
        function = recorded_function(apply, mask, self.residuals)
        self.program, self.types, _ = backend.build(
            op.name, function, backend.avals_of(payloads), self.device
        )
        self._pullbacks: dict[Any, Any] = {}
        # refused now, where the engine lacks what the derivative needs, and not by backward
        outputs = self.residuals.outputs
        flat = outputs if isinstance(outputs, tuple) else (outputs,)
        present = tuple([jax.numpy.issubdtype(o.dtype, jax.numpy.inexact) for o in flat])
        self._pullback(present, [o for o, p in zip(flat, present, strict=True) if p])

    def __call__(self, payloads: Sequence[Any]) -> Any:
        backend = self.backend
        operands = [backend._data(p, None, self.device) for p in payloads]
        made = self.program(*operands)
        count = self.op.outputs
        outs = [
            EngineArray(o, t.shape, t.dtype, backend)
            for o, t in zip(made[:count], self.types[:count], strict=True)
        ]
        holders = {"input": payloads, "output": outs, "kept": made[count:]}
        residuals = tuple([holders[where][i] for where, i in self.residuals.sources])
        return outs, self.pull, residuals

    def pull(self, residuals: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
        """Gradients of the inputs asked for, from those of the outputs (None: zero)."""
        backend, present = self.backend, tuple([c is not None for c in cotangents])
        nonzero = [c for c in cotangents if c is not None]
        program, types = self._pullback(present, nonzero)
        kept = [backend._data(r, None, self.device) if _is_payload(r) else r for r in residuals]
        found = program(*kept, *[backend._data(c, None, self.device) for c in nonzero])
        return [
            EngineArray(g, t.shape, t.dtype, backend) for g, t in zip(found, types, strict=True)
        ]

    def _pullback(self, present: tuple[bool, ...], given: Sequence[Any]) -> Any:
        key = (present, tuple([onp.dtype(c.dtype) for c in given]))
        found = self._pullbacks.get(key)
        if found is None:
            residuals, separate = self.residuals, self.op.separate_outputs
            count = len(residuals.avals)

            def gradients(*arrays: Any) -> Any:
                rest = iter(arrays[count:])
                cotangents = [next(rest) if p else None for p in present]
                filled = differentiation._fill(residuals.outputs, cotangents, separate)
                return tuple(jax.tree.unflatten(residuals.tree, arrays[:count])(filled))

            avals = [*residuals.avals, *[jax.ShapeDtypeStruct(c.shape, c.dtype) for c in given]]
            name = f"{self.op.name}_pullback"
            program, types, _ = self.backend.build(name, gradients, avals, self.device)
            found = self._pullbacks[key] = program, types
        return found


def _is_payload(x: Any) -> bool:
    """Return True for an operand or output that stands among residuals, not the engine's own array."""
    return type(x) is EngineArray or type(x) in (bool, int, float, complex)


__all__ = ["Recorded", "recorded_function"]
