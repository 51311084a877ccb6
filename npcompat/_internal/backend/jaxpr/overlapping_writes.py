"""Writes whose new values read the memory that is overwritten: a workaround for XLA on the CPU.

XLA writes a `dynamic_update_slice` in place while it computes the new values. It notices that these
read the same memory only if both have one shape. A reshape between them hides that, and elements
that are already overwritten are read (openxla/xla#49176). XLA itself adds reshapes to gathers,
cumulative sums and others.

So each write is checked before it reaches XLA. The roots of an array stand for the memory that it
may share. If the written array and the new values have a common root, and anything but plain slices
lies between, one of the two is copied first. It is the written array if that is reshaped, since XLA
would have to copy it anyway, else the new values. A single element that is written to many places is
computed again for each of them, so that it reads that memory, too.

On the CPU a scatter of several pieces is a kernel of its own, which reads values that are stored;
that of a single piece becomes a `dynamic_update_slice`.
"""

import functools
import math
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from npcompat._internal.backend.jaxpr.compat import Jaxpr, JaxprEqn, Var
from npcompat._internal.backend.jaxpr.loop_bodies import is_apart
from npcompat._internal.backend.jaxpr.primitives import CALLS, ELEMENTWISE, called

_WHOLE, _SLICED, _OTHERWISE = range(3)
"""Kinds of reads of memory: each element at its own place, through plain slices, in other ways."""

Reads = Mapping[Any, int]
_NOTHING: Reads = {}
_SLICES = frozenset(["slice", "dynamic_slice"])
_SHAPES = frozenset(
    ["broadcast_in_dim", "expand_dims", "optimization_barrier", "reshape", "squeeze", "transpose"]
)
_REDUCTIONS = frozenset(
    [
        "argmax",
        "argmin",
        "dot_general",
        "reduce_and",
        "reduce_max",
        "reduce_min",
        "reduce_or",
        "reduce_prod",
        "reduce_sum",
        "reduce_xor",
    ]
)
_OWN_MEMORY = frozenset(["while", "scan", "cond", "iota", "random_bits", "rng_bit_generator"])
_WRITES = frozenset(["dynamic_update_slice", "scatter"])
_MOST_ROOTS = 16
"""Maximum number of roots; arrays with more count as sharing memory with any other."""
_ANY = object()


class _Memory:
    """Memory of the arrays of a jaxpr: their roots, and the roots that their values read."""

    def __init__(self) -> None:
        self.roots: dict[Var, frozenset[Any]] = {}
        self.laid_out: set[Var] = set()  # arrays with a reshape between them and their roots
        self.reads: dict[Var, Reads] = {}
        self.elements: set[Var] = set()  # single elements of arrays

    def own(self, var: Any, root: Any = None) -> None:
        """Make an array a root, or the sole alias of another root."""
        root = var if root is None else root
        self.roots[var], self.reads[var] = frozenset((root,)), {root: _WHOLE}

    def roots_of(self, atom: Any) -> frozenset[Any]:
        if type(atom) is not Var:
            return frozenset()
        if atom not in self.roots:
            self.own(atom)  # an input, or a constant
        return self.roots[atom]

    def reads_of(self, atom: Any) -> Reads:
        if type(atom) is not Var:
            return _NOTHING
        self.roots_of(atom)
        return self.reads[atom]

    def shared(self, array: Any, values: Any) -> list[Any]:
        """Return the roots of an array that values read."""
        roots, reads = self.roots_of(array), self.reads_of(values)
        if _ANY in reads or (_ANY in roots and reads):
            return [*roots]
        return [r for r in roots if r in reads]

    def how(self, array: Any, values: Any) -> int:
        """Return the least plain kind of read of an array's memory by values; -1 for no read."""
        reads = self.reads_of(values)
        return max([reads.get(r, reads.get(_ANY, -1)) for r in self.shared(array, values)] + [-1])

    def note(self, equation: JaxprEqn) -> None:
        """Propagate roots and reads through an equation that writes nothing."""
        name = equation.primitive.name
        if name in _OWN_MEMORY:
            return
        operands = [v for v in equation.invars if _is_large(v)]
        elements = [v for v in equation.invars if type(v) is Var and v in self.elements]
        farther: dict[int, int] = {}
        if name in _SLICES:
            farther = {_WHOLE: _SLICED}
            if any([s != 1 for s in equation.params.get("strides") or ()]):
                farther = {_WHOLE: _OTHERWISE, _SLICED: _OTHERWISE}
        elif name in _SHAPES or name in _REDUCTIONS:
            farther = {_WHOLE: _OTHERWISE}
        elif name not in ELEMENTWISE:
            farther = {_WHOLE: _OTHERWISE, _SLICED: _OTHERWISE}
        reads: dict[Any, int] = {}
        roots: set[Any] = set()
        for operand in (*operands, *elements):
            roots |= self.roots_of(operand)
            for root, how in self.reads_of(operand).items():
                reads[root] = max(reads.get(root, 0), farther.get(how, how))
        if len(reads) > _MOST_ROOTS:
            reads = {_ANY: max(reads.values())}
        moved = name not in ELEMENTWISE or any([v in self.laid_out for v in operands])
        for out in equation.outvars:
            if not reads:
                continue  # computed from scalars: it has memory of its own
            if not _is_large(out):
                self._note_element(out, name, reads)
                continue
            if not operands:
                self.own(out)
                self.reads[out] = {**self.reads[out], **reads}
                continue
            self.roots[out] = frozenset(roots) if len(roots) <= _MOST_ROOTS else frozenset((_ANY,))
            self.reads[out] = reads
            if moved:
                self.laid_out.add(out)

    def _note_element(self, out: Any, name: str, reads: Reads) -> None:
        """Note a single element: the loop that writes computes it for each of its own, but not sums
        and other reductions.
        """
        if name not in _REDUCTIONS:
            self.elements.add(out)
            self.roots[out] = frozenset()
            self.reads[out] = {root: min(how, _SLICED) for root, how in reads.items()}


def _is_large(atom: Any) -> bool:
    """True for arrays that may have several elements."""
    shape = getattr(atom.aval, "shape", ())
    return type(atom) is Var and not (
        all([type(n) is int for n in shape]) and math.prod(shape) <= 1
    )


class Separator:
    """Rewriter of the equations of one jaxpr, which adds copies where writes need them."""

    def __init__(self, on_cpu: bool) -> None:
        self._memory, self._on_cpu = _Memory(), on_cpu

    def equations(self, equation: JaxprEqn) -> list[JaxprEqn]:
        """Return the equations that replace one."""
        name = equation.primitive.name
        if is_apart(equation):
            return [equation]
        if name in _WRITES:
            return self._write(equation)
        if name in CALLS and _writes(called(equation)):
            return self._call(equation)
        self._memory.note(equation)
        return [equation]

    def _write(self, equation: JaxprEqn) -> list[JaxprEqn]:
        memory, made = self._memory, []
        place = 1 if equation.primitive.name == "dynamic_update_slice" else 2
        array, values = equation.invars[0], equation.invars[place]
        out = equation.outvars[0]
        invars = [*equation.invars]
        overlaps = _is_large(values) and _is_large(array) and not self._is_apart(equation)
        how = memory.how(array, values) if overlaps else -1
        if how >= 0 and array in memory.laid_out:
            stored = self._stored(array)
            invars[0] = stored.outvars[0]
            made.append(stored)
            memory.own(out)
        else:
            if how == _OTHERWISE:
                stored = self._stored(values)
                invars[place] = stored.outvars[0]
                made.append(stored)
            roots = memory.roots_of(array)
            memory.roots[out] = roots or frozenset((out,))
            memory.reads[out] = dict.fromkeys(memory.roots[out], _WHOLE)
            if array in memory.laid_out:
                memory.laid_out.add(out)
        return [*made, equation.replace(invars=invars) if made else equation]

    def _is_apart(self, equation: JaxprEqn) -> bool:
        """Return True for a scatter of several pieces, into which XLA fuses nothing on the CPU."""
        if not self._on_cpu or equation.primitive.name != "scatter":
            return False
        places: Any = equation.invars[1].aval
        return bool(math.prod(places.shape[:-1]) > 1)

    def _call(self, equation: JaxprEqn) -> list[JaxprEqn]:
        """Copy operands that share memory before a call that writes some of its operands."""
        memory, made, invars = self._memory, [], [*equation.invars]
        earlier: set[Any] = set()  # the roots of the operands before
        for i, one in enumerate(equation.invars):
            if not _is_large(one):
                continue
            reads = memory.reads_of(one)
            if earlier and (_ANY in reads or _ANY in earlier or not earlier.isdisjoint(reads)):
                stored = self._stored(one)
                invars[i] = stored.outvars[0]
                made.append(stored)
            earlier |= memory.roots_of(one)
        replaced = equation.replace(invars=invars) if made else equation
        memory.note(replaced)
        return [*made, replaced]

    def _stored(self, array: Any) -> JaxprEqn:
        var = Var(array.aval)
        self._memory.own(var)
        stored: JaxprEqn = _storing(array.aval.shape, array.aval.dtype).replace(
            invars=[array], outvars=[var]
        )
        return stored


def _writes(jaxpr: Any) -> bool:
    """Return True if a jaxpr writes a part of an array outside of loops."""
    inner: Jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    return any(
        [
            e.primitive.name in _WRITES or (e.primitive.name in CALLS and _writes(called(e)))
            for e in inner.eqns
        ]
    )


@functools.cache
def _storing(shape: tuple[int, ...], dtype: Any) -> JaxprEqn:
    """Return the equation that copies an array into memory of its own.

    XLA fuses nothing across a conditional. Both of its branches return the array. One of them
    writes the first element again: so XLA copies an array that is used later, too. If both returned
    their operand, the result would be the same memory, of which XLA does not know where it
    overwrites one and reads the other.
    """

    def store(array: Any) -> Any:
        first = lax.index_in_dim(jnp.reshape(array, -1), 0, keepdims=False)
        chosen = first if first.dtype == bool else jnp.real(first) > 0
        return lax.cond(chosen, lambda x, _: x, written_again, array, first)

    def written_again(array: Any, first: Any) -> Any:
        piece = jnp.reshape(lax.optimization_barrier(first), (1,) * len(shape))
        return lax.dynamic_update_slice(array, piece, (0,) * len(shape))

    with jax.enable_x64(True):
        found: JaxprEqn = jax.make_jaxpr(jax.jit(store))(
            jax.ShapeDtypeStruct(shape, dtype)
        ).jaxpr.eqns[0]
    return found


__all__ = ["Separator"]
