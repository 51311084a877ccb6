"""Custom operators: users' functions with type rules, gradients and registration."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import custom_ops, language
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.compile import custom_gradient
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.op import REQUIRED, Op
from npcompat._internal.core.tensor_type import TensorType, is_symbolic
from npcompat._internal.dispatch import array_like, execution, handles, late_bound
from npcompat._internal.dispatch.placement import host_payload
from npcompat._internal.graph import op_serialization
from npcompat._internal.support import shared_library
from npcompat._internal.support.errors import AutogradError, OperatorError
from npcompat.numpy._creation import asarray
from npcompat.numpy_extension import _custom_info, _custom_torch

FUNC_TYPES = ("hybrid", "jax", "pyfunc", "pallas", "aot", "torch")
_OWN_DERIVATIVE = frozenset(("hybrid", "jax"))
_ON_HOST = frozenset(("pyfunc", "aot", "torch"))
Types = list[tuple[Any, Any]]
"""Shape and dtype of each output; None for what is not declared."""


class Custom:
    """Custom operator, defined by a user's function.

    Parameters
    ----------
    func : callable or str
        The computation; `func_type` defines its arguments and results.
    out_shape : tuple, function, or list of them, optional
        Shape of the output, or a function of the inputs' shapes that returns it; a list for several
        outputs. Results of `func` are checked against it. Required unless `func` is a function over
        `np` or JAX.
    out_dtype : dtype, function, or list of them, optional
        Dtype of the output, or a function of the inputs' dtypes, in the same way.
    func_type : str
        - 'hybrid': a function over `np` and `npx`, of arrays;
        - 'jax': a function of JAX arrays;
        - 'pyfunc': a Python function of NumPy arrays, run on the host, by a callback in compiled
          functions;
        - 'pallas': a kernel for `jax.experimental.pallas`, of references to the inputs and to the
          outputs;
        - 'aot': a function of a compiled shared library, named ``"./lib.so:function"``, with the
          signature ``int f(int nparam, void **params, int *ndims, int64_t **shapes, const char
          **dtypes, void *stream, void *extra)``;
        - 'torch': a function of PyTorch's tensors on the CPU, run as 'pyfunc' is; without `bprop`
          its derivative is torch's own.
    bprop : callable, optional
        ``bprop(*inputs, out, dout)`` returns a tuple of one gradient (or None: zero) for each
        input; `out` and `dout` are tuples if there are several outputs. Without it, functions over
        `np` and JAX are differentiated automatically, the others have no gradient.
    reg_info : dict, CustomRegOp, or sequence of them, optional
        Allowed types and attributes for each target, from `CustomRegOp`; replaces those that
        `custom_info_register` attached.
    name : str, optional
        The operator's name in saved graphs; a graph can be loaded where an operator of this name
        exists.

    Notes
    -----
    The instance is called with the inputs, and with attributes by name, which `func` and `bprop`
    get by name, too. In a compiled function JAX functions and host functions run as part of the
    program, and must not have side effects.

    Examples
    --------
    >>> def bprop(x, out, dout):
    ...     return (2 * x * dout,)
    >>> square = npx.Custom(lambda x: x * x, lambda x: x, lambda x: x, bprop=bprop)
    >>> x = np.array([1.0, 4.0, 9.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = square(x)
    >>> y.backward()
    >>> x.grad
    array([ 2.,  8., 18.])
    """

    def __init__(
        self,
        func: Any,
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str = "hybrid",
        bprop: Callable[..., Any] | None = None,
        reg_info: Any = None,
        *,
        name: str | None = None,
    ) -> None:
        if func_type not in FUNC_TYPES:
            raise ValueError(
                f"func_type: expected one of {', '.join(FUNC_TYPES)}, got {func_type!r}"
            )
        if func_type == "aot" and not isinstance(func, str):
            raise TypeError(
                "func of an 'aot' operator: expected a path such as './lib.so:add', got "
                f"{type(func).__name__}"
            )
        if func_type != "aot" and not callable(func):
            raise TypeError(
                f"func of a {func_type!r} operator: expected a function, got {type(func).__name__}"
            )
        if func_type not in _OWN_DERIVATIVE and (out_shape is None or out_dtype is None):
            missing = "out_shape" if out_shape is None else "out_dtype"
            raise ValueError(
                f"{missing} is missing: a {func_type!r} operator's types don't follow from its "
                "function"
            )
        if bprop is not None and not callable(bprop):
            raise TypeError(f"bprop: expected a function, got {type(bprop).__name__}")
        own_name = (
            func.rpartition(":")[2]
            if isinstance(func, str)
            else getattr(func, "__name__", type(func).__name__)
        )
        self.name: str = name or own_name
        if func_type == "torch":
            if bprop is None:
                bprop = _custom_torch.pullback(self._gradient_of, func)
            func = _custom_torch.on_arrays(func)
        self.func, self.func_type, self.bprop = func, func_type, bprop
        self._out_shape, self._out_dtype = out_shape, out_dtype
        given = _custom_info.registered(func) if reg_info is None else reg_info
        listed = list(given) if isinstance(given, list | tuple) else [given]
        self._infos = _custom_info.checked([_custom_info.as_info(i) for i in listed])
        self._library = shared_library.function(func) if func_type == "aot" else None
        self._with_jax = custom_ops.jax_function(func) if func_type == "jax" else None
        self._ops: dict[Any, Op] = {}
        self._counts: dict[Any, int] = {}
        self.overwrites: tuple[
            tuple[int, int], ...
        ] = ()  # as `Op.overwrites`; code that sets it writes the overwritten inputs itself
        if name is not None:
            op_serialization.name_custom(name, self)

    def _gradient_of(self, function: Callable[..., Any], inputs: int) -> "Custom":
        """Return the operator that computes gradients of the inputs on the host."""
        return Custom(
            function,
            lambda *shapes: list(shapes[:inputs]),
            lambda *kinds: list(kinds[:inputs]),
            "pyfunc",
            name=None,
        )

    def __repr__(self) -> str:
        return f"<custom operator {self.name} ({self.func_type})>"

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        """Apply the operator to arrays, or to symbols."""
        arrays, attrs = self._arguments(args, attrs)
        values = list(map(handles.read, arrays))
        payloads = [v.payload for v in values]
        if any([type(p) is late_bound.symbolic for p in payloads]):
            return self._run(values, attrs, symbolic=True)
        if self.bprop is None and self.func_type in _OWN_DERIVATIVE:
            return self._forward(attrs)(*arrays)
        if self.bprop is None and modes.current().trace is not None:
            return self._run(values, attrs, symbolic=False)
        return custom_gradient.call(
            self.name, self._forward(attrs), self._backward(attrs), arrays, "bprop"
        )

    # --- parts of a call

    def _arguments(
        self, args: Sequence[Any], attrs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return inputs as arrays, and attributes, both checked against the registration."""
        attrs = {key: _custom_info.hashable(value) for key, value in attrs.items()}
        if not self._infos:
            self._check_attrs(attrs)
            return [x if isinstance(x, Handle) else asarray(x) for x in args], attrs
        info = (
            self._infos[0]
            if len(self._infos) == 1 and self._infos[0]["target"] is None
            else self._info_here()
        )
        inputs = len(info["inputs"])
        for entry, value in zip(info["attr"], args[inputs:], strict=False):
            if entry["name"] in attrs:
                raise OperatorError(f"{self.name}: attribute {entry['name']} is given twice")
            attrs[entry["name"]] = _custom_info.hashable(value)
        if len(args) > inputs + len(info["attr"]):
            raise OperatorError(
                f"{self.name}: expected {inputs} inputs and {len(info['attr'])} attributes, got "
                f"{len(args)} arguments"
            )
        attrs = _custom_info.bound_attrs(self.name, info, attrs)
        self._check_attrs(attrs)
        arrays = [x if isinstance(x, Handle) else asarray(x) for x in args[:inputs]]
        types = [_type(handles.read(a).payload) for a in arrays]
        _custom_info.check_types(self.name, info, types)
        if self._out_dtype is not None and info["outputs"] and all([None not in t for t in types]):
            declared = self._declared([t[0] for t in types], [t[1] for t in types])
            _custom_info.check_types(self.name, info, types, declared or ())
        return arrays, attrs

    def _check_attrs(self, attrs: Mapping[str, Any]) -> None:
        if attrs and self.func_type == "aot":
            raise NotImplementedError(
                f"{self.name}: attributes ({', '.join(attrs)}) of an 'aot' operator: give them as "
                "inputs"
            )
        try:
            hash(tuple(attrs.values()))
        except TypeError:
            raise OperatorError(
                f"{self.name}: attributes must be hashable, got {attrs}; arrays are inputs, given "
                "by position"
            ) from None

    def _info_here(self) -> dict[str, Any]:
        device = modes.current().device
        platform = xla.platform_of(device if device is not None else xla.default_device())
        found = _custom_info.chosen(
            self.name,
            self._infos,
            {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU"}.get(platform, platform.upper()),
        )
        assert found is not None
        return found

    def _declared(self, shapes: Sequence[Any], kinds: Sequence[Any]) -> Types | None:
        """Return the declared types of the outputs for given input types; None if undeclared."""
        if self._out_shape is None and self._out_dtype is None:
            return None
        found_shapes = None if self._out_shape is None else _shapes(self._out_shape, shapes)
        found_dtypes = None if self._out_dtype is None else _dtypes(self._out_dtype, kinds)
        if found_shapes is None or found_dtypes is None:
            return (
                [(s, None) for s in found_shapes]
                if found_shapes is not None
                else [(None, d) for d in found_dtypes or ()]
            )
        if len(found_shapes) != len(found_dtypes):
            raise ValueError(
                f"{self.name}: out_shape declares {len(found_shapes)} outputs, and out_dtype "
                f"{len(found_dtypes)}"
            )
        return list(zip(found_shapes, found_dtypes, strict=True))

    def _check(self, arrays: Sequence[Any], outs: Sequence[Any]) -> None:
        """Raise unless the function returned the declared types."""
        declared = self._declared(
            [tuple(a.shape) for a in arrays], [onp.dtype(a.dtype) for a in arrays]
        )
        if declared is None:
            return
        if len(declared) != len(outs):
            raise ValueError(
                f"{self.name}: {len(declared)} outputs are declared, but the function returned "
                f"{len(outs)}"
            )
        for i, ((shape, dtype), out) in enumerate(zip(declared, outs, strict=True)):
            if shape is not None and tuple(out.shape) != shape:
                raise ValueError(
                    f"{self.name}: output {i}: out_shape declares {shape}, but the function "
                    f"returned {tuple(out.shape)}"
                )
            if dtype is not None and out.dtype != dtype:
                raise TypeError(
                    f"{self.name}: output {i}: out_dtype declares {dtype}, but the function "
                    f"returned {out.dtype}"
                )

    # --- forward and backward, on arrays

    def _forward(self, attrs: dict[str, Any]) -> Callable[..., Any]:
        """Return the function of arrays that `__call__` applies."""
        if self.func_type == "hybrid":
            return lambda *arrays: _unpacked(self._hybrid(attrs, arrays))
        if self.func_type in _ON_HOST and modes.current().trace is None:
            return lambda *arrays: _unpacked(
                [
                    array_like.array_of(o)
                    for o in self._host([host_payload(handles.read(a)) for a in arrays], attrs)
                ]
            )
        return lambda *arrays: self._run(list(map(handles.read, arrays)), attrs, symbolic=False)

    def _hybrid(self, attrs: dict[str, Any], arrays: Sequence[Handle]) -> list[Any]:
        result = self.func(*arrays, **attrs)
        outs = list(result) if isinstance(result, list | tuple) else [result]
        for i, out in enumerate(outs):
            if not isinstance(out, Handle):
                raise TypeError(
                    f"{self.name}: output {i}: expected an npcompat ndarray, but the function "
                    f"returned {type(out).__name__}"
                )
        self._check(arrays, outs)
        return outs

    def _host(self, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> list[onp.ndarray[Any, Any]]:
        operands = [onp.asarray(a) for a in arrays]
        if self._library is not None:
            return self._library(
                operands,
                self._declared([a.shape for a in operands], [a.dtype for a in operands]) or [],
            )
        result = self.func(*operands, **attrs)
        outs = [onp.asarray(r) for r in (result if isinstance(result, list | tuple) else [result])]
        self._check(operands, outs)
        return [onp.array(o) for o in outs]

    def _backward(self, attrs: dict[str, Any]) -> custom_gradient.Backward:
        """Return the backward function, which calls `bprop`."""

        def backward(xs: Sequence[Handle], outs: Sequence[Handle], grads: Sequence[Handle]) -> Any:
            if self.bprop is None:
                raise AutogradError(self._no_derivative)
            returned = self.bprop(*xs, _unpacked(outs), _unpacked(grads), **attrs)
            if not isinstance(returned, tuple):
                raise TypeError(
                    f"{self.name}.bprop: expected a tuple of {len(xs)} gradients, one for each "
                    f"input, got {type(returned).__name__}"
                )
            return returned

        return backward

    @property
    def _no_derivative(self) -> str:
        return (
            f"custom operator {self.name} ({self.func_type}) has no derivative: give "
            "npx.Custom a bprop"
        )

    # --- as an operator of programs and graphs

    def _run(self, values: Sequence[Value], attrs: dict[str, Any], symbolic: bool) -> Any:
        count = self._count([v.payload for v in values], attrs)
        op = self.operator(count, tuple(sorted(attrs)), symbolic)
        result = execution.run(op, values, op.bind(**attrs))
        return handles.wrap(result) if count == 1 else tuple(map(handles.wrap, result))

    def _count(self, payloads: Sequence[Any], attrs: dict[str, Any]) -> int:
        """Return the number of outputs for these inputs; 1 if it can't be known yet."""
        fixed = _fixed_count(self._out_shape) or _fixed_count(self._out_dtype)
        if fixed:
            return fixed
        types = list(map(_type, payloads))
        if any([s is None or d is None for s, d in types]):
            return 1
        key = (tuple(types), tuple(sorted(attrs.items())))
        if key not in self._counts:
            declared = self._declared([s for s, _ in types], [d for _, d in types])
            self._counts[key] = (
                custom_ops.output_count(self._function(attrs), types)
                if declared is None
                else len(declared)
            )
        return self._counts[key]

    def operator(self, outputs: int, names: tuple[str, ...], symbolic: bool = True) -> Op:
        """Return the operator with a number of outputs and attribute names.

        As a node of graphs (`symbolic`), it contains `bprop`.
        """
        key = (outputs, names, symbolic)
        if key not in self._ops:
            ending = "" if outputs == 1 else f":{outputs}"
            compute = self._compute(outputs, symbolic)
            kernels = {"jax": compute}
            if self.func_type in _ON_HOST:
                kernels["numpy"] = self._compute_on_host(outputs)
            self._ops[key] = Op(
                f"_npx_custom_{self.name}{ending}",
                compute,
                ("inputs",),
                variadic=True,
                attrs=dict.fromkeys(names, REQUIRED),
                outputs=outputs,
                kernels=kernels,
                doc=getattr(self.func, "__doc__", None) or "",
                overwrites=self.overwrites,
                prefers_xla=self.func_type not in _ON_HOST,
            )
        return self._ops[key]

    def _compute(self, outputs: int, symbolic: bool) -> Callable[..., Any]:
        def compute(xp: Any, *arrays: Any, **attrs: Any) -> Any:
            function = self._function(attrs)
            if self.bprop is not None and symbolic:
                function = custom_ops.differentiated(function, self._pullback(attrs, len(arrays)))
            elif self.func_type not in _OWN_DERIVATIVE and self.bprop is None:
                function = custom_ops.not_differentiated(function, self._no_derivative)
            elif (
                self.bprop is not None
            ):  # never differentiated: the gradient is defined outside of the operator
                arrays = language.stop_gradient(arrays)
            return self._results(function(*arrays), outputs)

        return compute

    def _compute_on_host(self, outputs: int) -> Callable[..., Any]:
        return lambda xp, *arrays, **attrs: self._results(self._host(arrays, attrs), outputs)

    def _results(self, outs: Sequence[Any], outputs: int) -> Any:
        if len(outs) != outputs:
            raise OperatorError(
                f"{self.name}: expected {outputs} outputs, but the function returned {len(outs)}; "
                "declare them as lists in out_shape and out_dtype"
            )
        return outs[0] if outputs == 1 else tuple(outs)

    def _function(self, attrs: dict[str, Any]) -> custom_ops.Function:
        """Return the operator as a function of XLA arrays, without its gradient."""
        if self.func_type == "hybrid":
            return custom_gradient.of_payloads(
                self.name, lambda *arrays: self._hybrid(attrs, arrays)
            )

        def function(*arrays: Any) -> Sequence[Any]:
            if self._with_jax is not None:
                outs = self._with_jax(*arrays, **attrs)
                self._check(arrays, outs)
                return outs
            types = (
                self._declared(
                    [tuple(a.shape) for a in arrays], [onp.dtype(a.dtype) for a in arrays]
                )
                or []
            )
            if self.func_type == "pallas":
                return custom_ops.pallas(lambda *refs: self.func(*refs, **attrs), types, arrays)
            return custom_ops.callback(lambda *given: self._host(given, attrs), types, arrays)

        return function

    def _pullback(self, attrs: dict[str, Any], inputs: int) -> custom_ops.Function:
        """Return `bprop` as a function of XLA arrays."""

        def pull(*arrays: Handle) -> list[Any]:
            outputs = (len(arrays) - inputs) // 2
            xs, outs, grads = (
                arrays[:inputs],
                arrays[inputs : inputs + outputs],
                arrays[inputs + outputs :],
            )
            returned = self._backward(attrs)(xs, outs, grads)
            return list(
                map(handles.wrap, custom_gradient.gradients(f"{self.name}.bprop", returned, xs))
            )

        return custom_gradient.of_payloads(f"{self.name}.bprop", pull)


def _unpacked(arrays: Sequence[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _type(payload: Any) -> tuple[Any, Any]:
    """Return shape and dtype of a payload; None for unknown ones of a symbol."""
    if isinstance(payload, late_bound.symbolic):
        known: TensorType = payload.type  # type: ignore[attr-defined]
        return (None if known.shape is None or None in known.shape else known.shape), known.dtype
    return tuple(payload.shape), onp.dtype(payload.dtype)


def _is_dim(found: Any) -> bool:
    return isinstance(found, int | onp.integer) or is_symbolic(found)


def _several(found: Any) -> bool:
    """Return True if a declaration of shapes is for several outputs."""
    return isinstance(found, list | tuple) and len(found) > 0 and not any(map(_is_dim, found))


def _fixed_count(declared: Any) -> int:
    """Return the number of declared outputs; 0 if only a call can determine it."""
    if declared is None or (callable(declared) and not isinstance(declared, type)):
        return 0
    return (
        len(declared)
        if isinstance(declared, list | tuple) and not all(map(_is_dim, declared))
        else 1
    )


def _shapes(declared: Any, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
    found = declared(*shapes) if callable(declared) else declared
    if _several(found):
        return [_shape(s(*shapes) if callable(s) else s) for s in found]
    return [_shape(found)]


def _shape(found: Any) -> tuple[Any, ...]:
    if _is_dim(found):
        return (found,)
    if not isinstance(found, list | tuple) or not all(map(_is_dim, found)):
        raise TypeError(f"out_shape: expected a tuple of ints, got {found!r}")
    return tuple(found)


def _dtypes(declared: Any, kinds: Sequence[Any]) -> list[Any]:
    found = declared(*kinds) if _is_rule(declared) else declared
    if isinstance(found, list | tuple):
        return [dtypes.canonical(d(*kinds) if _is_rule(d) else d) for d in found]
    return [dtypes.canonical(found)]


def _is_rule(declared: Any) -> bool:
    """Return True for a function of dtypes, but not for dtype classes, which are callable, too."""
    return callable(declared) and not isinstance(declared, type)


__all__ = ["Custom"]
