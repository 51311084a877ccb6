"""Symbols: arrays without values, on which functions build a graph."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as onp

from npcompat._internal import wiring
from npcompat._internal.core.handle import Value
from npcompat._internal.core.tensor_type import Dim, TensorType, dimension, dims, shown
from npcompat._internal.dispatch import handles
from npcompat._internal.graph import symbolic
from npcompat._internal.graph.symbolic import Node, Symbolic
from npcompat._internal.support.argument_errors import number
from npcompat._internal.support.errors import InferenceError
from npcompat.numpy._ndarray import ndarray
from npcompat.symbol import _drawing, _files, _graph, _scopes
from npcompat.symbol._executor import Executor

Shape = tuple[Any, ...] | None
_numbers = itertools.count()


class Graph:
    """Base class of symbols and groups: a graph, with its requested outputs."""

    __slots__ = ()

    @property
    def heads(self) -> list[Symbolic]:
        """Outputs of the graph."""
        raise NotImplementedError

    # --- contents

    @property
    def name(self) -> str:
        """Name of the node, or names of several."""
        return ", ".join(dict.fromkeys(h.node.name for h in self.heads))

    def list_arguments(self) -> list[str]:
        """List the variables without auxiliary states, in the order of their use.

        Examples
        --------
        >>> x, w = symbol.var("x"), symbol.var("w")
        >>> np.matmul(x, w).list_arguments()
        ['x', 'w']
        """
        states = _graph.overwritten(self.heads)
        return [n for n in self.list_inputs() if n not in states]

    def list_inputs(self) -> list[str]:
        """List all variables, in the order of their use."""
        return [n.name for n in _graph.variables(self.heads)]

    def list_outputs(self) -> list[str]:
        """List the outputs."""
        return [_output_name(h) for h in self.heads]

    def list_auxiliary_states(self) -> list[str]:
        """List the auxiliary states: variables that the graph overwrites.

        An example are the running statistics of normalization in training mode.

        Examples
        --------
        >>> names = ["x", "gamma", "beta", "mean", "variance"]
        >>> x, gamma, beta, mean, variance = map(symbol.var, names)
        >>> with autograd.train_mode():
        ...     y = npx.batch_norm(x, gamma, beta, mean, variance)
        >>> y.list_auxiliary_states()
        ['mean', 'variance']
        """
        states = _graph.overwritten(self.heads)
        return [n for n in self.list_inputs() if n in states]

    def get_internals(self) -> "Group":
        """Return all outputs of all nodes, as one group."""
        return Group(
            [
                Symbolic(n, i)
                for n in _graph.ordered(self.heads)
                for i in range(len(n.outputs))
                if n.value is None
            ]
        )

    def get_children(self) -> "Group | None":
        """Return the inputs of the node; None for a variable."""
        inputs = [p for h in self.heads for p in h.node.inputs if type(p) is Symbolic]
        return Group(inputs) if inputs else None

    def attr(self, key: str) -> Any:
        """Return an attribute of the node, or None.

        It is an argument of the operator, or an attribute of `AttrScope` or `attr=`; `__key__` is
        found by `key`, too.

        Examples
        --------
        >>> x = symbol.var("x", attr={"__group__": "first"})
        >>> x.attr("group"), np.sum(x, axis=0).attr("axis")
        ('first', 0)
        """
        (node,) = {id(h.node): h.node for h in self.heads}.values()
        found = _attributes(node)
        return found.get(key, found.get(f"__{key}__"))

    def list_attr(self) -> dict[str, Any]:
        """Return all attributes of the node."""
        (node,) = {id(h.node): h.node for h in self.heads}.values()
        return _attributes(node)

    def attr_dict(self) -> dict[str, dict[str, Any]]:
        """Return the attributes of all nodes that have some, by name."""
        nodes = _graph.ordered(self.heads)
        return {n.name: found for n in nodes if (found := _attributes(n))}

    # --- types

    def infer_shape(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """Infer the shapes of arguments, outputs and auxiliary states from some variables' shapes.

        Parameters
        ----------
        *args : tuple
            Shapes of the variables, in the order of `list_arguments`.
        **kwargs : tuple
            Shapes by name.

        Returns
        -------
        tuple
            Three lists; or three times None if not enough is known.

        Raises
        ------
        InferenceError
            At a contradiction.

        Examples
        --------
        >>> x = symbol.var("x", dtype="float32")
        >>> np.sum(x, axis=0).infer_shape(x=(4, 3))
        ([(4, 3)], [(3,)], [])
        """
        found = self._types(
            {n: TensorType(s) for n, s in self._by_name(args, kwargs, "infer_shape").items()}
        )
        shapes = [[t.shape for t in types] for types in found]
        if any([s is None or None in s for part in shapes for s in part]):
            return None, None, None
        return tuple(shapes)  # type: ignore[return-value]

    def infer_shape_partial(
        self, *args: Any, **kwargs: Any
    ) -> tuple[list[Shape], list[Shape], list[Shape]]:
        """Infer shapes as `infer_shape` does; unknown lengths or shapes are None.

        Examples
        --------
        >>> (np.exp(symbol.var("x"))).infer_shape_partial()
        ([None], [None], [])
        """
        found = self._types(
            {
                n: TensorType(s)
                for n, s in self._by_name(args, kwargs, "infer_shape_partial").items()
            }
        )
        return tuple([[t.shape for t in types] for types in found])  # type: ignore[return-value]

    def infer_type(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """Infer the dtypes of arguments, outputs and auxiliary states from some variables' dtypes.

        Returns three times None if not enough is known.
        """
        found = self._types(
            {n: TensorType(None, d) for n, d in self._by_name(args, kwargs, "infer_type").items()}
        )
        kinds = [[t.dtype for t in types] for types in found]
        if any([d is None for part in kinds for d in part]):
            return None, None, None
        arguments, outputs, states = kinds
        return arguments, outputs, states

    def infer(self, **types: TensorType) -> tuple[dict[str, TensorType], list[TensorType]]:
        """Infer the types of the variables, by name, and of the outputs, as far as known.

        Parameters
        ----------
        **types : TensorType
            Types of variables by name, as far as they are known.
        """
        found = _graph.inferred(self.heads, self._by_name((), types, "infer"))
        return {n.name: found[id(n)][0] for n in _graph.variables(self.heads)}, [
            found[id(h.node)][h.index] for h in self.heads
        ]

    def _types(
        self, given: Mapping[str, TensorType]
    ) -> tuple[list[TensorType], list[TensorType], list[TensorType]]:
        """Return the types of arguments, outputs and auxiliary states."""
        inputs, outputs = self.infer(**given)
        return (
            [inputs[n] for n in self.list_arguments()],
            outputs,
            [inputs[n] for n in self.list_auxiliary_states()],
        )

    def _by_name(self, args: Sequence[Any], kwargs: Mapping[str, Any], what: str) -> dict[str, Any]:
        names, known = self.list_arguments(), self.list_inputs()
        if len(args) > len(names):
            raise TypeError(
                f"{what}: there are {len(names)} arguments ({', '.join(names)}), {len(args)} are "
                "given"
            )
        unknown = kwargs.keys() - set(known)
        if unknown:
            raise TypeError(
                f"{what}: there is no argument {', '.join(sorted(unknown))}; there are "
                f"{', '.join(known)}"
            )
        positional = zip(names, args, strict=False)
        return {
            **{n: a for n, a in positional if a is not None},
            **{n: a for n, a in kwargs.items() if a is not None},
        }

    # --- values

    def bind(
        self,
        device: Any = None,
        args: Any = None,
        args_grad: Any = None,
        grad_req: Any = "write",
        aux_states: Any = None,
        *,
        ctx: Any = None,
    ) -> Executor:
        """Bind arrays to the variables; returns an executor.

        Parameters
        ----------
        device, ctx : Device or str, optional
            Required device of the arrays.
        args : list or dict of ndarray
            One array for each argument, in the order of `list_arguments` or by name.
        args_grad : list or dict of ndarray, optional
            Arrays for the gradients; those that are not given are created.
        grad_req : str, list or dict
            'write', 'add' or 'null', for all or each of the arguments.
        aux_states : list or dict of ndarray, optional
            One array for each auxiliary state; `forward(is_train=True)` writes them.

        Raises
        ------
        InferenceError
            If the types of the arrays contradict each other or the graph.
        """
        return Executor(
            self.heads,
            device if device is not None else ctx,
            args or {},
            args_grad,
            grad_req,
            aux_states or {},
        )

    def simple_bind(
        self, device: Any = None, grad_req: Any = "write", *, ctx: Any = None, **shapes: Any
    ) -> Executor:
        """Bind arrays of zeros, of given shapes, to variables; auxiliary states are zeros, too."""
        return Executor.of_zeros(
            self.heads,
            device if device is not None else ctx,
            self._by_name((), shapes, "simple_bind"),
            grad_req,
        )

    def eval(self, device: Any = None, *, ctx: Any = None, **kwargs: Any) -> list[Any]:
        """Compute the outputs for given values of the variables.

        Examples
        --------
        >>> x = symbol.var("x")
        >>> (x * x).eval(x=np.array([1.0, 2.0]))
        [array([1., 4.])]
        """
        states = self.list_auxiliary_states()
        given = self._by_name((), kwargs, "eval")
        args = {n: a for n, a in given.items() if n not in states}
        return self.bind(
            device,
            args,
            grad_req="null",
            aux_states={n: given[n] for n in states if n in given},
            ctx=ctx,
        ).forward()

    # --- other forms

    def tojson(self) -> str:
        """Serialize the graph to text, which `symbol.load_json` reads."""
        return _files.to_json(self.heads)

    def save(self, fname: Any) -> None:
        """Write the graph to a file; an interruption leaves an older file as it was."""
        _files.save(fname, self.heads)

    def debug_str(self) -> str:
        """Return a listing of the graph, one node in each line.

        Examples
        --------
        >>> y = np.exp(symbol.var("x", shape=("n", 2), dtype="float32"))
        >>> print(y.debug_str().splitlines()[0])
        x = variable: (n, 2) float32
        """
        return _drawing.listing(self.heads)

    def fusable_groups(self) -> list[list[str]]:
        """Return groups of two or more nodes that can be fused, by the patterns of their operators.

        Elementwise and broadcasting operators and rearrangements fuse with each other, and with a
        reduction that ends the group; elementwise ones fuse with the product or convolution that
        they follow.

        Examples
        --------
        >>> x, w = symbol.var("x"), symbol.var("w")
        >>> y = np.sum(npx.relu(np.matmul(x, w) + 1) * 2)
        >>> [[name.rstrip("0123456789") for name in group] for group in y.fusable_groups()]
        [['matmul', 'add', 'relu', 'multiply']]
        """
        return [[node.name for node in group] for group in _graph.fusable(self.heads)]

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT language."""
        return _drawing.dot(self.heads)


class Symbol(Graph, ndarray):
    """Array without a value: functions of it build a graph, with types as far as known.

    Created by `symbol.var` and by every function of `np` and `npx` that is called with a symbol. It
    has the methods of arrays. After a write to it, or to a view of it, it stands for the written
    value.
    """

    __slots__ = ()

    @property
    def heads(self) -> list[Symbolic]:
        """Output of the symbol, in a list."""
        return [handles.read(self).payload]

    @property
    def type(self) -> TensorType:
        """Type as far as known."""
        return self.heads[0].type

    @property
    def shape(self) -> tuple[Dim, ...]:
        """Length of each axis, an int or a symbol.

        Raises InferenceError if the number of axes is unknown.
        """
        return self.heads[0].shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        ndarray.shape.__set__(self, shape)  # type: ignore[attr-defined]

    @property
    def dtype(self) -> onp.dtype[Any]:
        """Dtype of the elements; raises InferenceError if it is unknown."""
        return self.heads[0].dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        ndarray.dtype.__set__(self, dtype)  # type: ignore[attr-defined]

    def __call__(self, *args: "Symbol", **kwargs: "Symbol") -> "Symbol":
        """Compose the graph: replace variables by other symbols, by position or name.

        Examples
        --------
        >>> x, y = symbol.var("x"), symbol.var("y")
        >>> np.exp(x)(x=y + 1).list_arguments()
        ['y']
        """
        (head,) = _composed(self.heads, self._by_name(args, kwargs, "composition"))
        return handles.wrap(Value(head))

    def __getitem__(self, key: Any) -> "Symbol":
        try:
            return cast("Symbol", super().__getitem__(key))
        except dims.Inconclusive as error:
            raise InferenceError(
                f"symbol {self.name!r} of type {self.type!r}: which elements are meant is not "
                f"known: {error}"
            ) from error

    def __iter__(self) -> Iterator["Symbol"]:
        if not self.shape or type(self.shape[0]) is not int:
            raise TypeError(
                f"symbol {self.name!r} of type {self.type!r} can't be iterated: the length of its "
                "first axis is not known"
            )
        return (self[i] for i in range(self.shape[0]))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _from_json, (self.tojson(),)

    def __deepcopy__(self, memo: Any) -> "Symbol":
        return _from_json(self.tojson())

    def __len__(self) -> int:
        if self.shape and type(self.shape[0]) is not int:
            raise TypeError(
                f"symbol {self.name!r} of type {self.type!r} has no len(): take its first axis by "
                "shape[0], which is a symbol"
            )
        return super().__len__()

    def __repr__(self) -> str:
        kind = self.heads[0].type
        return (
            f"<Symbol {self.name}: {shown(kind.shape)} {'?' if kind.dtype is None else kind.dtype}>"
        )

    __str__ = __repr__


class Group(Graph):
    """Group of several outputs of one graph.

    Parameters
    ----------
    symbols : sequence of Symbol or Group
        Symbols whose outputs are grouped, in order.

    Examples
    --------
    >>> x = symbol.var("x")
    >>> symbol.Group([x + 1, x * 2]).eval(x=np.array([1.0]))
    [array([2.]), array([2.])]
    """

    __slots__ = ("_heads",)

    def __init__(self, symbols: Sequence[Any]) -> None:
        self._heads = [h for s in symbols for h in ([s] if type(s) is Symbolic else s.heads)]

    @property
    def heads(self) -> list[Symbolic]:
        """Outputs of the group."""
        return self._heads

    def __len__(self) -> int:
        return len(self._heads)

    def __getitem__(self, index: Any) -> "Symbol | Group":
        """Return an output by index or name, as a symbol; a slice as a group."""
        if isinstance(index, slice):
            return Group(self._heads[index])
        if isinstance(index, str):
            names = self.list_outputs()
            if index not in names:
                raise ValueError(f"there is no output {index!r}; there are {', '.join(names)}")
            index = names.index(index)
        return handles.wrap(Value(self._heads[index]))

    def __call__(self, *args: Symbol, **kwargs: Symbol) -> "Group":
        """Compose the graph: replace variables by other symbols, by position or name."""
        return Group(_composed(self.heads, self._by_name(args, kwargs, "composition")))

    def __repr__(self) -> str:
        return f"<Group {', '.join(self.list_outputs())}>"


def _from_json(text: str) -> Symbol:
    """Return the symbol of a pickle."""
    (head,) = _files.from_json(text, "the pickle of a symbol")
    return handles.wrap(Value(head))


def _attributes(node: Node) -> dict[str, Any]:
    """Return the user's attributes of a node, and its operator's arguments."""
    return {**node.labels, **({} if node.op is None else node.op.named(node.attrs))}


def _output_name(head: Symbolic) -> str:
    node = head.node
    return node.name if len(node.outputs) == 1 else f"{node.name}_output{head.index}"


def _composed(heads: Sequence[Symbolic], given: Mapping[str, Any]) -> list[Symbolic]:
    wrong = [n for n, s in given.items() if not isinstance(s, Symbol)]
    if wrong:
        raise TypeError(
            f"composition: expected symbols, got {type(given[wrong[0]]).__name__} for {wrong[0]}; "
            "bind takes arrays"
        )
    made: dict[int, list[Symbolic]] = {}
    for node in _graph.ordered(heads):
        if node.is_variable and node.name in given:
            made[id(node)] = given[node.name].heads
        elif node.op is None:
            made[id(node)] = [Symbolic(node)]
        else:
            inputs = tuple(
                [made[id(p.node)][p.index] if type(p) is Symbolic else p for p in node.inputs]
            )
            same = all(
                a is b or (type(a) is Symbolic and a.node is b.node)
                for a, b in zip(inputs, node.inputs, strict=True)
            )
            again = node if same else symbolic.call(node.op, inputs, node.attrs, node)
            made[id(node)] = [Symbolic(again, i) for i in range(len(node.outputs))]
    return [made[id(h.node)][h.index] for h in heads]


def var(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    *,
    attr: Mapping[str, str] | None = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
) -> Symbol:
    """Create a variable of a graph.

    Parameters
    ----------
    name : str
        Its name, which identifies the variable in a graph.
    shape : tuple, optional
        A length is an int, a name such as "batch" (the same name is the same length everywhere), or
        None (or -1) if it is not known. Without a shape the number of axes is unknown, too.
    dtype : dtype, optional
        Type of the elements; unknown if not given.
    attr : dict of str, optional
        Attributes of the user's, beside those of an `AttrScope`.
    lr_mult, wd_mult : float, optional
        Multipliers of the learning rate and of the weight decay, which the parameter of a
        `gluon.SymbolBlock` takes; the attributes `__lr_mult__` and `__wd_mult__`.

    Raises
    ------
    TypeError
        If the name, or an attribute, is no string.

    Examples
    --------
    >>> x = symbol.var("x", shape=("batch", 8), dtype="float32")
    >>> np.matmul(x, np.ones((8, 3))).type
    TensorType((batch, 3), float32)
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"var: expected a name, got {name!r}")
    if isinstance(shape, int):
        shape = (shape,)
    if shape is not None:
        # An unknown length gets a unique name, so that it is equal to itself everywhere.
        shape = tuple(
            [
                dims.parse(f"_d{next(_numbers)}") if n is None or n == -1 else dimension(n)
                for n in shape
            ]
        )
    labels = {**symbolic.labels.get(), **_scopes.checked(attr or {}, "var")}
    for argument, multiplier in (("lr_mult", lr_mult), ("wd_mult", wd_mult)):
        if multiplier is not None:
            number("var", argument, multiplier)
            labels[f"__{argument}__"] = str(multiplier)
    return handles.wrap(Value(Symbolic(Node(name, (TensorType(shape, dtype),), labels=labels))))


wiring.connect_symbols(Symbol, Symbolic, symbolic.run, [Symbolic(node) for node in symbolic.STREAM])

__all__ = ["Graph", "Group", "Symbol", "var"]
