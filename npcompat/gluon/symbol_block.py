"""SymbolBlock: a block that computes a graph."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.files import safetensors_file
from npcompat._internal.graph.symbolic import Node
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.parameter import Parameter
from npcompat.numpy._ndarray import ndarray
from npcompat.symbol import Graph, Group, load
from npcompat.symbol._graph import evaluated, inferred, overwritten, variables


def _multiplier(node: Node, label: str) -> float:
    """Return the multiplier that an attribute of a variable gives, else 1."""
    text = node.labels.get(label, "1")
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"SymbolBlock: the attribute {label} of {node.name} is {text!r}, and no number"
        ) from None


class SymbolBlock(HybridBlock):
    """Block that computes a graph; variables that are no inputs are its parameters.

    Parameters
    ----------
    outputs : Symbol, Group or list of Symbol
        Outputs of the graph.
    inputs : Symbol or list of Symbol
        The variables that are arguments of a call, in order.
    params : dict of str to Parameter, optional
        Parameters to use, by the names of the variables.

    Examples
    --------
    >>> x, w = symbol.var("x"), symbol.var("w", shape=(2,), dtype="float32")
    >>> block = gluon.SymbolBlock(x * w, x)
    >>> block.initialize(init.Constant(3))
    >>> block(np.array([1.0, 2.0]))
    array([3., 6.])
    """

    def __init__(
        self, outputs: Any, inputs: Any, params: Mapping[str, Parameter] | None = None
    ) -> None:
        super().__init__()
        graph = outputs if isinstance(outputs, Graph) else Group(outputs)
        self._single, self._heads = not isinstance(graph, Group), graph.heads
        self._inputs = [s.name for s in (inputs if isinstance(inputs, list | tuple) else [inputs])]
        nodes = {n.name: n for n in variables(self._heads)}
        self._overwritten = overwritten(self._heads)
        unknown = [n for n in self._inputs if n not in nodes or n in self._overwritten]
        if unknown:
            raise ValueError(
                f"SymbolBlock: inputs {', '.join(unknown)} are no variables of the graph; those "
                f"are {', '.join(nodes)}"
            )
        for name, node in nodes.items():
            if name in self._inputs:
                continue
            given = (params or {}).get(name)
            shape = node.outputs[0].shape
            if given is None:
                known = (
                    None if shape is None else tuple([n if type(n) is int else -1 for n in shape])
                )
                request = "null" if name in self._overwritten else "write"
                given = Parameter(
                    name,
                    request,
                    known,
                    node.outputs[0].dtype or "float32",
                    lr_mult=_multiplier(node, "__lr_mult__"),
                    wd_mult=_multiplier(node, "__wd_mult__"),
                    allow_deferred_init=True,
                )
            self._reg_params[name] = given

    def infer_shape(self, *args: Any) -> None:
        """Infer the shapes of parameters from the inputs."""
        given = {n: TensorType(a.shape, a.dtype) for n, a in zip(self._inputs, args, strict=True)}
        found = inferred(self._heads, given)
        for node in variables(self._heads):
            shape = found[id(node)][0].shape
            if (
                node.name in self._reg_params
                and shape is not None
                and all([type(n) is int for n in shape])
            ):
                self._reg_params[node.name].shape = shape

    def forward(self, x: ndarray, *args: Any) -> ndarray | list[ndarray]:
        """Compute the outputs of the graph; training mode overwrites its auxiliary states."""
        if 1 + len(args) != len(self._inputs):
            raise TypeError(
                f"SymbolBlock: expected the inputs {', '.join(self._inputs)}, got {1 + len(args)} "
                "arrays"
            )
        arrays = {
            **dict(zip(self._inputs, (x, *args), strict=True)),
            **{n: p.data() for n, p in self._reg_params.items()},
        }
        following = self._overwritten if modes.current().training else {}
        outs = evaluated(
            [*self._heads, *following.values()],
            {n: array_like.as_value(a) for n, a in arrays.items()},
        )
        found = [handles.wrap(v) for v in outs]
        for name, new in zip(following, found[len(self._heads) :], strict=True):
            arrays[name][...] = new.detach()
        return found[0] if self._single else found[: len(self._heads)]

    @staticmethod
    def imports(
        symbol_file: str | os.PathLike[str],
        input_names: str | Sequence[str],
        param_file: str | os.PathLike[str] | None = None,
        device: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        *,
        ctx: Any = None,
    ) -> "SymbolBlock":
        """Load a block from files that `HybridBlock.export` wrote.

        Parameters
        ----------
        symbol_file : path
            The graph.
        input_names : str or sequence of str
            Variables that are inputs.
        param_file : path, optional
            The parameters; without it, the block must be initialized.
        device, ctx : Device or str, optional
            Device of the parameters.
        allow_missing, ignore_extra : bool
            Whether parameters may be missing in the file, and whether it may hold more.

        Raises
        ------
        DefinitionError
            If the graph is damaged, or of another version.
        ParameterFileError
            If the parameters are damaged, or do not fit the graph.
        """
        graph = load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        known = graph.list_arguments()
        unknown = [n for n in names if n not in known]
        if unknown:
            raise ValueError(
                f"{os.fspath(symbol_file)}: there are no variables {', '.join(unknown)}; there "
                f"are {', '.join(known)}"
            )
        nodes = graph.get_internals()
        block = SymbolBlock(graph, [nodes[n] for n in names])
        if param_file is not None:
            for name, array in safetensors_file.load(
                param_file
            ).items():  # dtypes may be unknown in the graph
                if name in block._reg_params and block._reg_params[name].dtype != array.dtype:
                    block._reg_params[name].cast(array.dtype)
            block.load_parameters(param_file, device, allow_missing, ignore_extra, ctx=ctx)
        return block


__all__ = ["SymbolBlock"]
