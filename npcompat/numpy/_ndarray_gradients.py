"""Methods of arrays for gradients: variables, `backward`, `detach`."""

from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.autograd import backward, tape
from npcompat._internal.core import modes
from npcompat._internal.core.retained_outputs import clear
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.detaching import detached
from npcompat._internal.dispatch.placement import set_node, value_on_same_device

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


class Gradients:
    """Mixin of `ndarray` for gradients."""

    __slots__ = ()

    def attach_grad(self: Any, grad_req: str = "write", *, stype: None = None) -> None:
        """Mark the array as a variable: `backward` stores its gradient in `grad`.

        Parameters
        ----------
        grad_req : {'write', 'add', 'null'}
            Effect of each backward: replace the gradient, or add to it. With 'null' the array is no
            variable, and `grad` is None.
        stype : None
            Sparse storage is not supported.
        """
        if stype is not None:
            raise NotImplementedError("attach_grad(stype=...): gradients are dense")
        zeros: ndarray | None = None
        if grad_req != "null":
            zeros = handles.wrap(
                value_on_same_device(handles.read(self).payload, onp.zeros(self.shape, self.dtype))
            )
        tape.attach_leaf(self, zeros, grad_req)

    @property
    def grad(self: Any) -> "ndarray | None":
        """Gradient of a variable; None if `attach_grad` was not called."""
        return None if self._extra is None else self._extra.grad_handle

    @grad.setter
    def grad(self: Any, new: Any) -> None:  # the last step of `x.grad *= 0.5`
        if new is None or new is not self.grad:
            raise AttributeError("grad can't be set: write into it, x.grad[...] = new")

    def drop_grad(self: Any) -> None:
        """Stop being a variable: drop the gradient."""
        if self._extra is not None:
            self._extra.leaf = self._extra.grad_handle = None
            if self._view is None:
                set_node(self, None)
            else:
                self._view.cached = None

    def zero_grad(self: Any) -> None:
        """Set the gradient to zero."""
        if self.grad is not None:
            with modes.recorded(False):
                self.grad[...] = 0
            clear(self.grad)

    def backward(
        self: Any,
        out_grad: "ndarray | None" = None,
        retain_graph: bool = False,
        train_mode: bool = True,
        *,
        create_graph: bool = False,
    ) -> None:
        """Compute the gradients of all variables from which this array was computed.

        Parameters
        ----------
        out_grad : ndarray, optional
            Gradient with respect to this array; ones if not given.
        retain_graph : bool
            If True, keep the graph for another backward.
        train_mode : bool
            If True, backward runs in training mode.
        create_graph : bool
            If True, record the gradients, for higher derivatives.
        """
        with modes.changed(training=train_mode):
            backward.backward(
                [self], None if out_grad is None else [out_grad], retain_graph, create_graph
            )

    def detach(self: Any) -> "ndarray":
        """Return an array of the same values that is detached from the autograd graph."""
        made: ndarray = handles.wrap(detached(handles.read(self)))
        return made
