"""Backend of the core over an engine that a plug-in brings.

The declarations of operators stay the only source of types and derivatives: JAX traces and
differentiates them, the equations are normalised, and the engine executes them. What depends on
types is built once and kept by types; a program that can't be built is refused before it runs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import jax
import numpy as onp

from npcompat._internal.backend.equations.normalise import program_of
from npcompat._internal.backend.equations.program import Function, Program, Type, UnsupportedError
from npcompat._internal.backend.jax import language, placement
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.plugin import scalars
from npcompat._internal.backend.plugin.derivatives import Recorded
from npcompat._internal.core import compile_log, modes
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.op import Attrs, Op, short_name
from npcompat._internal.support.errors import UnsupportedDtypeError

_WORTH_SHARING = 1 << 16
"""Bytes from which on a part looks into the memory of the whole; smaller ones are copied, so that a
later write of the whole need not copy it.
"""
_NUMBERS = (bool, int, float, complex)


class Plugin:
    """Backend over an engine.

    Parameters
    ----------
    name : str
        Its name.
    engine : Engine
        What executes programs.

    Attributes
    ----------
    compiled : Counter
        Programs that were built, by what they compute.
    fell_back : Counter
        Calls that XLA computed in the engine's place, by operator.
    """

    def __init__(self, name: str, engine: Any) -> None:
        self.name, self.engine = name, engine
        self.compiled: Counter[str] = Counter()
        self.fell_back: Counter[str] = Counter()
        self.composites = frozenset(getattr(engine, "composites", ()))
        self.devices = tuple(engine.devices())
        self._dtypes = {d: frozenset(map(onp.dtype, engine.dtypes(d))) for d in self.devices}
        self._views = getattr(engine, "views", None) or {}
        self._writes = getattr(engine, "writes", None) or {}
        self._kernel = getattr(engine, "kernel", None)
        self._context = getattr(engine, "context", None)
        self.key_of, self.avals_of = key_of, avals_of
        self.scalar = lru_cache(maxsize=4096, typed=True)(self._scalar)

    def __repr__(self) -> str:
        return f"<backend {self.name}>"

    aval = staticmethod(placement._aval)

    # --- arrays

    def has_dtype(self, dtype: onp.dtype[Any], device: Any = None) -> bool:
        """Return True for a dtype that the engine holds exactly."""
        return dtype in self._dtypes[device or self.devices[0]]

    def check_dtype(self, dtype: onp.dtype[Any], device: Any = None) -> None:
        """Raise UnsupportedDtypeError for a dtype that the engine lacks."""
        if not self.has_dtype(dtype, device):
            known = ", ".join(sorted([d.name for d in self._dtypes[device or self.devices[0]]]))
            raise UnsupportedDtypeError(
                f"the {self.name} backend has no dtype {dtype}; it has {known}. Convert the array, "
                "or place it on another backend: `with npx.backend('numpy')`"
            )

    def device(self, wanted: Any) -> Any:
        """The engine's device of a mode; the default one, if the mode names none of the engine."""
        return wanted if wanted in self.devices else self.devices[0]

    def asarray(self, array: Any, device: Any = None) -> EngineArray:
        """Copy a host array to the engine."""
        array, where = onp.asarray(array), self.device(device)
        self.check_dtype(array.dtype, where)
        return EngineArray(self.engine.from_host(array, where), array.shape, array.dtype, self)

    def to_host(self, payload: EngineArray, moving: bool = False) -> onp.ndarray[Any, Any]:
        """Copy the values to the host, read-only; waits for them."""

        def read() -> onp.ndarray[Any, Any]:
            found = onp.asarray(self.engine.to_host(payload.data, payload.dtype))
            found.flags.writeable = False
            return found

        audit = modes.current().audit
        return read() if audit is None else audit.record_read(payload, read, moving)

    def copied(self, payload: EngineArray) -> EngineArray:
        """The value in a buffer of its own."""
        return EngineArray(self.engine.fresh(payload.data), payload.shape, payload.dtype, self)

    def to_dlpack(self, payload: EngineArray) -> Any:
        """Return what speaks DLPack over the same memory; BufferError if the engine has nothing."""
        make = getattr(self.engine, "to_dlpack", None)
        if make is None:
            raise BufferError(
                f"the {self.name} backend does not share memory by DLPack: take a copy, as by asnumpy()"
            )
        return make(payload.data, payload.dtype)

    def from_dlpack(self, x: Any, copy: bool | None) -> EngineArray:
        """An array over the memory of another library's, if the engine can; else a copy."""
        make = getattr(self.engine, "from_dlpack", None)
        if make is None:
            if copy is False:
                raise ValueError(
                    f"from_dlpack(copy=False): the {self.name} backend takes copies only"
                )
            return self.asarray(onp.from_dlpack(x))
        data, shape, dtype = make(x)
        made = EngineArray(data, shape, dtype, self)
        self.check_dtype(dtype)
        made.owner = EngineArray(x, shape, dtype, self)  # it is somebody else's, and never written
        return self.copied(made) if copy else made

    def device_of(self, payload: EngineArray) -> Any:
        """The engine's device on which the values are."""
        return self.engine.device_of(payload.data)

    def common_device(self, name: str, payloads: Sequence[Any]) -> Any:
        """The engine's device on which an operator runs: that of its operands, else the mode's.

        Raises
        ------
        ValueError
            If the operands lie on several devices.
        """
        found = None
        for payload in payloads:
            if type(payload) is not EngineArray:
                continue
            device = self.engine.device_of(payload.data)
            if found is None:
                found = device
            elif device != found:
                raise ValueError(
                    f"{short_name(name)}: operands lie on several devices of the {self.name} backend, "
                    f"{found.kind}({found.index}) and {device.kind}({device.index}): move one of "
                    "them, as by a.to_device(b.device)"
                )
        return self.device(modes.current().device) if found is None else found

    def moved(self, payload: EngineArray, device: Any) -> EngineArray:
        """The value on a device of the engine; itself, if it is there."""
        if self.device_of(payload) == device:
            return payload
        self.check_dtype(payload.dtype, device)
        data = self.engine.move(payload.data, device)
        return EngineArray(data, payload.shape, payload.dtype, self)

    def is_heavy(self, op: Op, payloads: Sequence[Any]) -> bool:
        """Return True if placement `auto` sends an operator on the host's arrays to the engine."""
        heavy = getattr(self.engine, "heavy", None)
        if heavy is None:
            return False
        types = [Type(p.shape, p.dtype) for p in payloads if hasattr(p, "shape")]
        return bool(heavy(op.name, types))

    def wait(self, payload: EngineArray) -> None:
        """Wait until the value is computed."""
        wait = getattr(self.engine, "wait", None)
        if wait is not None:
            wait(payload.data)

    def wait_all(self) -> None:
        """Wait until everything that was started has run."""
        wait = getattr(self.engine, "wait_all", None)
        if wait is not None:
            wait()

    def _scalar(self, number: Any, dtype: Any, device: Any, _sign: float = 1.0) -> Any:
        """The engine's array of a number, which programs share; zeros are told apart by sign."""
        return self.engine.from_host(scalars.array(number, dtype), device)

    def _data(self, payload: Any, dtype: Any, device: Any) -> Any:
        """The engine's array of an operand that is a number, or on the host."""
        if type(payload) in _NUMBERS:
            return self.scalar(payload, dtype, device, scalars.sign(payload))
        if type(payload) is EngineArray:
            return payload.data
        return self.asarray(placement.to_host(payload), device).data

    # --- programs

    def build(
        self,
        name: str,
        function: Callable[..., Any],
        avals: Sequence[Any],
        device: Any,
        donate: Collection[int] = (),
        whole: bool = False,
        numbers: Sequence[int] = (),
    ) -> tuple[Function, list[Type], dict[int, onp.dtype[Any]]]:
        """Build the program of a function of JAX's arrays.

        Parameters
        ----------
        whole : bool
            Whether it is a function of the user's, which the engine may compile.
        numbers : sequence of int
            Operands that are Python numbers.

        Returns
        -------
        tuple
            The engine's function, the types of its results, and the dtypes to which numbers are
            cast before they are handed over.

        Raises
        ------
        UnsupportedError
            If the engine lacks a primitive; the message says of what and what to do.
        """
        kind = device.kind
        try:
            program, types = program_of(name, function, avals, self.composites, kind)
            casts: dict[int, onp.dtype[Any]] = {}
            if numbers:
                program, casts = scalars.hoisted(program, numbers)
            self._check_types(program, device)
            with self._entered(device):  # engines put constants there, and compute what is known
                made = self.engine.program(program, frozenset(donate), device)
                compile_whole = getattr(self.engine, "compile", None) if whole else None
                if compile_whole is not None:
                    made = compile_whole(made, program)
        except UnsupportedError as error:
            raise self._refused(name, error) from error
        self.compiled[name] += 1
        return self._in_context(made, device), types, casts

    def _check_types(self, program: Program, device: Any) -> None:
        """Refuse programs with arrays of dtypes that the engine lacks."""
        variables = [*program.inputs, *program.outputs]
        variables += [v for e in program.equations for v in e.outputs]
        known = self._dtypes[device]
        for variable in variables:
            if variable.type.dtype not in known:
                self.check_dtype(variable.type.dtype, device)

    def _refused(self, name: str, error: UnsupportedError) -> UnsupportedError:
        refused = UnsupportedError(error.primitive, error.reason)
        refused.args = (
            f"{short_name(name)}: the {self.name} backend has {error}; call it on arrays of another "
            "backend (`with npx.backend('jax')`), allow XLA in its place (`npx.backend("
            f"{self.name!r}, fallback='xla')`), or give the engine a kernel for {name!r}",
        )
        return refused

    def _entered(self, device: Any) -> AbstractContextManager[Any]:
        """The engine's context for a device; one that does nothing, if it has none."""
        made = None if self._context is None else self._context(device)
        return nullcontext() if made is None else made

    def _in_context(self, function: Function, device: Any) -> Function:
        context = self._context
        if context is None:
            return function
        made = context(device)
        if made is None:
            return function

        def call(*arrays: Any) -> Sequence[Any]:
            with context(device):
                return function(*arrays)

        return call

    def forward(self, op: Op, attrs: Attrs, donate: Collection[int] = ()) -> Callable[..., Any]:
        """The operator as a function of payloads: a program for each kind of operands."""
        if donate == (0,) and op.name in self._writes:
            return self._writing(op, attrs)
        plain = _Calls(self, op, attrs, donate)
        if op.name in self._views and not donate:
            return self._looking(op, attrs, plain)
        return plain

    def _looking(self, op: Op, attrs: Attrs, plain: "_Calls") -> Callable[..., Any]:
        """An operator whose result looks into the memory of its operand, where that is large."""
        view, named = self._views[op.name], op.named(attrs)

        def call(base: Any, *rest: Any) -> Any:
            if type(base) is not EngineArray or any([type(r) is not int for r in rest]):
                return plain(base, *rest)
            data = view(base.data, *rest, **named)
            made = EngineArray(data, tuple(data.shape), base.dtype, self, base.owner or base)
            return made if made.nbytes >= _WORTH_SHARING else self.copied(made)

        return call

    def _writing(self, op: Op, attrs: Attrs) -> Callable[..., Any]:
        """An operator that writes a part of its first operand, whose buffer nobody else holds."""
        write, named = self._writes[op.name], op.named(attrs)
        plain = _Calls(self, op, attrs, ())

        def call(base: Any, new: Any, *rest: Any) -> Any:
            if base.owner is not None or any([type(r) is not int for r in rest]):
                return plain(base, new, *rest)
            if type(new) in _NUMBERS:
                data = self.scalar(new, base.dtype, self.device_of(base), scalars.sign(new))
            elif new.dtype == base.dtype:
                data = self._data(new, None, self.device_of(base))
            else:
                return plain(base, new, *rest)
            write(base.data, data, *rest, **named)
            return base

        return call

    def forward_and_pullback(
        self, op: Op, attrs: Attrs, mask: tuple[bool, ...]
    ) -> Callable[..., Any]:
        """The same with the pullback, by the operator's rules: the engine executes both."""
        return Recorded(self, op, attrs, mask)

    def compile_ahead(self, program: Any, payloads: Sequence[Any]) -> None:
        """Build the program of an operator for operands."""
        program.found(payloads)

    # --- in the engine's place

    def across(self, op: Op, attrs: Attrs) -> Callable[..., Sequence[Any]]:
        """The operator on XLA, for operands that are brought there, and its results back."""
        return self.across_function(op.name, xla.forward(op, attrs), op.outputs == 1)

    def across_function(
        self, name: str, program: Callable[..., Any], single: bool
    ) -> Callable[..., Sequence[Any]]:
        """A program of XLA's as a function of payloads of this backend: counted and audited."""

        def compute(payloads: Sequence[Any]) -> Sequence[Any]:
            operands = [
                placement.scalar(p)
                if type(p) in _NUMBERS
                else placement.asarray(
                    self.engine.to_host(p.data, p.dtype) if type(p) is EngineArray else p
                )
                for p in payloads
            ]
            try:
                outs = program(*operands)
            finally:
                language.exit_x64_scope()
            return [self.asarray(onp.asarray(o)) for o in ((outs,) if single else outs)]

        def call(*payloads: Any) -> Sequence[Any]:
            self.fell_back[name] += 1
            audit = modes.current().audit
            if audit is None:
                return compute(payloads)
            return audit.record_xla_fallback(name, payloads, lambda: compute(payloads))

        return call


def avals_of(payloads: Sequence[Any]) -> list[Any]:
    """Types of payloads as arguments of a trace; Python numbers are weak."""
    return [
        jax.ShapeDtypeStruct((), scalars.array(p, None).dtype, weak_type=type(p) is not bool)
        if type(p) in _NUMBERS
        else jax.ShapeDtypeStruct(p.shape, p.dtype)
        for p in payloads
    ]


def key_of(payloads: Sequence[Any]) -> tuple[Any, ...]:
    """Return the cache key of a program: the operands' types, dtypes by numbers, which hash fast."""
    return tuple(
        [
            (p.shape, p.dtype.num)
            if type(p) is EngineArray
            else scalars.kind(p)
            if type(p) in _NUMBERS
            else (p.shape, p.dtype.num)
            for p in payloads
        ]
    )


class _Calls:
    """Calls of an operator on payloads of a plug-in.

    Hot path: the types of operands find what was built for them.
    """

    __slots__ = ("attrs", "backend", "donate", "function", "op", "programs")

    def __init__(self, backend: Plugin, op: Op, attrs: Attrs, donate: Collection[int]) -> None:
        self.backend, self.op, self.attrs, self.donate = backend, op, attrs, donate
        self.function = language.function(op, attrs)
        self.programs: dict[Any, Any] = {}

    def __call__(self, *payloads: Any) -> Any:
        backend = self.backend
        key = key_of(payloads)
        if len(backend.devices) > 1:
            key = (*key, backend.common_device(self.op.name, payloads))
        found = self.programs.get(key)
        if found is None or type(found) is UnsupportedError:
            found = self.found(payloads)
        program, types, casts, device = found
        if casts is None:  # all are arrays of the engine
            operands = [p.data for p in payloads]
        elif casts is _ACROSS:
            made = program(*payloads)
            return made[0] if self.op.outputs == 1 else tuple(made)
        else:
            operands = [
                p.data if type(p) is EngineArray else backend._data(p, casts.get(i), device)
                for i, p in enumerate(payloads)
            ]
        if self.donate:
            self._free(payloads, operands)
        outs = program(*operands)
        if len(types) == 1:
            shape, dtype = types[0]
            return EngineArray(outs[0], shape, dtype, backend)
        return tuple([EngineArray(o, s, d, backend) for o, (s, d) in zip(outs, types, strict=True)])

    def _free(self, payloads: Sequence[Any], given: list[Any]) -> None:
        """Copy donated operands that look into the memory of another array."""
        for i in self.donate:
            if type(payloads[i]) is EngineArray and payloads[i].owner is not None:
                given[i] = self.backend.engine.fresh(given[i])

    def found(self, payloads: Sequence[Any]) -> Any:
        """Return the program for operands of these types, built once; refused if the engine can't."""
        device = self.backend.common_device(self.op.name, payloads)
        key = key_of(payloads) if len(self.backend.devices) == 1 else (*key_of(payloads), device)
        found = self.programs.get(key)
        if found is None:
            try:
                found = self._built(payloads, device)
            except UnsupportedError as error:
                found = error.with_traceback(None)
            self.programs[key] = found
        if type(found) is not UnsupportedError:
            return found
        if modes.current().fallback != "xla":
            raise found
        return self.backend.across(self.op, self.attrs), (), _ACROSS, None

    def _built(self, payloads: Sequence[Any], device: Any) -> Any:
        backend, op = self.backend, self.op
        on_engine = [p for p in payloads if type(p) is EngineArray]
        avals = avals_of(payloads)
        kernel = (
            None
            if backend._kernel is None
            else backend._kernel(
                op.name, op.named(self.attrs), [Type(a.shape, onp.dtype(a.dtype)) for a in avals]
            )
        )
        numbers = [i for i, p in enumerate(payloads) if type(p) in _NUMBERS]
        if kernel is not None:
            outs = jax.eval_shape(self.function, *avals)
            found = outs if isinstance(outs, tuple) else (outs,)
            types = [(o.shape, onp.dtype(o.dtype)) for o in found]
            single = op.outputs == 1
            program = (lambda *x: (kernel(*x),)) if single else kernel
            return program, types, {} if len(on_engine) < len(payloads) else None, device
        whole = op.prefers_xla and op.variadic and "jax" in op.kernels
        program, kinds, casts = backend.build(
            op.name, self.function, avals, device, self.donate, whole, numbers
        )
        compile_log.compiled(op.name, avals, op.reason, op.groups, op.loops)
        types = [(t.shape, t.dtype) for t in kinds]
        return program, types, casts if len(on_engine) < len(payloads) else None, device


_ACROSS: Any = object()

__all__ = ["Plugin", "avals_of", "key_of"]
