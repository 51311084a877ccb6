"""Executor: a graph bound to arrays, with forward and backward."""

from collections.abc import Mapping, Sequence
from typing import Any

from npcompat import autograd
from npcompat._internal.compile.jit import Compiled
from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Value
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import array_like, devices, handles
from npcompat._internal.graph.symbolic import Symbolic
from npcompat._internal.support.errors import AutogradError
from npcompat.numpy._creation import asarray
from npcompat.numpy._filled import zeros
from npcompat.symbol import _graph


class Executor:
    """Bound graph; `Symbol.bind` creates it.

    Attributes
    ----------
    arg_dict, grad_dict, aux_dict : dict of str to ndarray
        The arrays of the arguments, of their gradients, and of the auxiliary states.
    outputs : list of ndarray
        The results of the last `forward`.

    Examples
    --------
    >>> x, w = symbol.var("x"), symbol.var("w")
    >>> executor = (x * w).bind(args={"x": np.array([1.0, 2.0]), "w": np.array([3.0, 4.0])})
    >>> executor.forward(is_train=True)
    [array([3., 8.])]
    >>> executor.backward()
    >>> executor.grad_dict["w"]
    array([1., 2.])
    """

    def __init__(
        self,
        heads: Sequence[Symbolic],
        device: Any,
        args: Any,
        args_grad: Any,
        grad_req: Any,
        aux_states: Any,
    ) -> None:
        overwritten = _graph.overwritten(heads)
        self._heads, self._next = list(heads), list(overwritten.values())
        variables = [n.name for n in _graph.variables(heads)]
        names = [n for n in variables if n not in overwritten]
        self.arg_dict = _arrays("args", names, args, device)
        states = _arrays(
            "aux_states", [n for n in variables if n in overwritten], aux_states, device
        )
        self.aux_dict = {n: states[n] for n in overwritten}
        _graph.inferred(
            heads,
            {
                n: TensorType(a.shape, a.dtype)
                for n, a in {**self.arg_dict, **self.aux_dict}.items()
            },
        )
        requests = (
            dict.fromkeys(names, grad_req)
            if isinstance(grad_req, str)
            else _by_name("grad_req", names, grad_req)
        )
        wrong = {r for r in requests.values() if r not in ("write", "add", "null")}
        if wrong:
            raise ValueError(
                "bind: grad_req must be 'write', 'add' or 'null', got "
                f"{', '.join(map(repr, sorted(wrong)))}"
            )
        grads = (
            {}
            if args_grad is None
            else {n: a for n, a in _by_name("args_grad", names, args_grad).items() if a is not None}
        )
        for name, grad in grads.items():
            if grad.shape != self.arg_dict[name].shape:
                raise ValueError(
                    f"bind: args_grad of {name} has shape {grad.shape}, expected "
                    f"{self.arg_dict[name].shape}"
                )
        wanted = [
            n
            for n in names
            if dtypes.is_inexact(self.arg_dict[n].dtype) and (args_grad is None or n in grads)
        ]
        self._requests = {n: requests.get(n, "null") for n in wanted}
        self.grad_dict = {
            n: grads[n] if n in grads else zeros(self.arg_dict[n].shape, self.arg_dict[n].dtype)
            for n, request in self._requests.items()
            if request != "null"
        }
        self.outputs: list[Any] = []
        self._recorded = False
        self._program = Compiled(self._evaluate, name="symbol")

    @classmethod
    def of_zeros(
        cls, heads: Sequence[Symbolic], device: Any, shapes: Mapping[str, Any], grad_req: Any
    ) -> "Executor":
        """Create an executor on arrays of zeros; shapes that are not given are inferred."""
        nodes = _graph.variables(heads)
        found = _graph.inferred(heads, {n: TensorType(s) for n, s in shapes.items()})
        types = {n.name: found[id(n)][0] for n in nodes}
        open_ones = [
            n for n, t in types.items() if not TensorType(t.shape, t.dtype or "float32").known
        ]
        if open_ones:
            raise ValueError(
                f"simple_bind: the shapes of {', '.join(open_ones)} don't follow from those "
                "given; give them, too"
            )
        arrays = {n: zeros(t.shape or (), t.dtype or "float32") for n, t in types.items()}
        states = {n: arrays.pop(n) for n in _graph.overwritten(heads)}
        return cls(heads, device, arrays, None, grad_req, states)

    def _evaluate(self, *arrays: Any) -> tuple[list[Any], list[Any]]:
        """Compute the outputs, and the new values of the auxiliary states."""
        values = dict(
            zip([*self.arg_dict, *self.aux_dict], map(array_like.as_value, arrays), strict=True)
        )
        found = [handles.wrap(v) for v in _graph.evaluated([*self._heads, *self._next], values)]
        return found[: len(self._heads)], found[len(self._heads) :]

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[Any]:
        """Compute the outputs.

        Parameters
        ----------
        is_train : bool
            Whether to record for `backward`, and overwrite the auxiliary states.
        **kwargs : array_like
            New values of variables; they are written into the arrays.
        """
        for name, new in kwargs.items():
            arrays = self.aux_dict if name in self.aux_dict else self.arg_dict
            if name not in arrays:
                raise TypeError(
                    f"forward: there is no argument {name}; there are "
                    f"{', '.join([*self.arg_dict, *self.aux_dict])}"
                )
            arrays[name][...] = new
        self._recorded = is_train
        if not is_train:
            self.outputs, _ = self._program(*self.arg_dict.values(), *self.aux_dict.values())
            return self.outputs
        leaves = []
        for (
            name,
            array,
        ) in self.arg_dict.items():  # the caller may have marked these arrays as variables
            leaf = handles.wrap(Value(handles.read(array).payload))
            if name in self.grad_dict:
                autograd.mark_variables([leaf], [self.grad_dict[name]], self._requests[name])
            leaves.append(leaf)
        with autograd.record():
            self.outputs, following = self._program(*leaves, *self.aux_dict.values())
        for state, new in zip(self.aux_dict.values(), following, strict=True):
            state[...] = new.detach()
        return self.outputs

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients of the arguments, written or added to `grad_dict`.

        Parameters
        ----------
        out_grads : ndarray or list of ndarray, optional
            Gradients of the outputs; ones if not given.
        """
        if not self._recorded:
            raise AutogradError("backward: call forward(is_train=True) first")
        heads = (
            out_grads if out_grads is None or isinstance(out_grads, list | tuple) else [out_grads]
        )
        autograd.backward(self.outputs, heads)
        self._recorded = False

    @property
    def arg_arrays(self) -> list[Any]:
        """Arrays of the arguments, in order."""
        return list(self.arg_dict.values())

    @property
    def grad_arrays(self) -> list[Any]:
        """Gradients of the arguments, in order; None where there is none."""
        return [self.grad_dict.get(n) for n in self.arg_dict]

    @property
    def aux_arrays(self) -> list[Any]:
        """Arrays of the auxiliary states, in order."""
        return list(self.aux_dict.values())

    def copy_params_from(
        self,
        arg_params: Mapping[str, Any],
        aux_params: Any = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copy values to the arrays of arguments, and of auxiliary states, by name."""
        parts = (
            ("argument", self.arg_dict, arg_params),
            ("auxiliary state", self.aux_dict, aux_params or {}),
        )
        for what, arrays, given in parts:
            unknown = [n for n in given if n not in arrays]
            if unknown and not allow_extra_params:
                raise ValueError(
                    f"copy_params_from: there is no {what} {', '.join(unknown)}; there are "
                    f"{', '.join(arrays) or 'none'}"
                )
        for _, arrays, given in parts:
            for name in arrays.keys() & given.keys():
                arrays[name][...] = given[name]


def _arrays(what: str, names: Sequence[str], given: Any, device: Any) -> dict[str, Any]:
    """Return one array for each name."""
    found = {n: asarray(a) for n, a in _by_name(what, names, given).items()}
    missing = [n for n in names if n not in found]
    if missing:
        raise ValueError(
            "bind: no array is given for "
            f"{', '.join(missing)}{'' if what == 'args' else f' in {what}'}"
        )
    return {n: found[n] if device is None else devices.moved(found[n], device) for n in names}


def _by_name(what: str, names: Sequence[str], given: Any) -> dict[str, Any]:
    """Return values by name, from a list or a dict."""
    if isinstance(given, Mapping):
        unknown = given.keys() - set(names)
        if unknown:
            raise ValueError(
                f"bind: {what} names {', '.join(sorted(unknown))}, but is for "
                f"{', '.join(names) or 'nothing'}"
            )
        return dict(given)
    if len(given) != len(names):
        raise ValueError(
            f"bind: {what} has {len(given)} entries, but is for {', '.join(names) or 'nothing'}"
        )
    return dict(zip(names, given, strict=True))


__all__ = ["Executor"]
