"""Blocks: trees of layers with parameters."""

import contextlib
import re
import weakref
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, overload

from npcompat._internal.compile.staged_runs import is_staged
from npcompat._internal.core import changes, modes
from npcompat._internal.dispatch import late_bound
from npcompat._internal.dispatch.handles import traced_now
from npcompat._internal.dispatch.meshes import Mesh, Sharding
from npcompat._internal.staging.carried import ChangedTypeError
from npcompat._internal.support.errors import InferenceError, user_location
from npcompat.gluon import _variables
from npcompat.gluon._containing import parts
from npcompat.gluon._hooks import Hooked, observed, with_backward_hooks
from npcompat.gluon._placement import Rules
from npcompat.gluon._structure import Structured
from npcompat.gluon._summary import print_summary
from npcompat.gluon.parameter import Parameter, ParameterDict
from npcompat.numpy._typing import DTypeLike

_Self = TypeVar("_Self", bound="Block")


class _Name:
    """Name of a block; a subclass may have an attribute or a child of this name instead."""

    @overload
    def __get__(self, block: None, owner: type) -> "_Name": ...

    @overload
    def __get__(self, block: "Block", owner: type) -> str: ...

    def __get__(self, block: "Block | None", owner: type) -> "_Name | str":
        if block is None:
            return self
        given: str = block.__dict__.get("_given_prefix", "")
        return given.removesuffix("_") or owner.__name__.lower()


class Block(Structured, Hooked):
    """Block: a layer, or a tree of layers.

    Blocks and parameters that are assigned to attributes are registered, and blocks in lists,
    tuples and dicts, such as `self.layers[0]`, which is then named `layers.0`. A subclass defines
    `forward`:

        class Net(gluon.Block):
            def __init__(self):
                super().__init__()
                self.hidden = nn.Dense(16, activation="relu")
                self.output = nn.Dense(2)

            def forward(self, x):
                return self.output(self.hidden(x))

    A block with parameters whose shape depends on the input also defines `infer_shape(self,
    *inputs)`.

    Parameters
    ----------
    prefix : str, optional
        The name, followed by an underscore; names of parameters do not depend on it.
    params : ParameterDict, optional
        Parameters of another block, which `self.params.get(name)` finds and shares.

    Examples
    --------
    >>> gluon.Block(prefix="encoder_").name, nn.Dense(2).name
    ('encoder', 'dense')
    """

    _untracked: ClassVar[frozenset[str]] = frozenset(
        (
            "_active", "_backward_hooks", "_buckets", "_compiled", "_forward_hooks",
            "_forward_pre_hooks", "_given_prefix", "_loops", "_op_hooks", "_order", "_parents",
            "_reg_params", "_watched",
        )
    )  # fmt: skip
    _registries: ClassVar[tuple[str, ...]] = ("_children",)
    _children: dict[str, "Block"]
    _reg_params: ParameterDict
    _order: dict[str, None]
    _parents: "weakref.WeakSet[Block]"

    name = _Name()

    def __init__(self, *, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        if prefix is not None and not isinstance(prefix, str):
            raise TypeError(f"{type(self).__name__}: prefix: expected a str, got {prefix!r}")
        state: dict[str, Any] = {
            "_children": changes.CountedDict(),
            "_order": {},
            "_given_prefix": prefix or "",
            "_reg_params": ParameterDict(shared=params),
            "_forward_hooks": changes.CountedDict(),
            "_forward_pre_hooks": changes.CountedDict(),
            "_backward_hooks": changes.CountedDict(),
            "_op_hooks": changes.CountedDict(),
            "_parents": weakref.WeakSet(),
        }
        self.__dict__.update(state)

    # --- the tree

    def __setattr__(self, name: str, value: Any) -> None:
        if "_children" not in self.__dict__:
            if not isinstance(value, Parameter | Block):
                super().__setattr__(name, value)
                return
            raise RuntimeError(
                f"{type(self).__name__}: call super().__init__() before setting attribute {name!r}"
            )
        before = self.__dict__.get(name)
        for kind, registry in ((Parameter, self._reg_params), (Block, self._children)):
            if isinstance(before, kind) and not isinstance(value, kind):
                if value is not None:
                    raise TypeError(
                        f"{type(self).__name__}.{name} is a {kind.__name__}; it can't become a "
                        f"{type(value).__name__}"
                    )
                registry.pop(name, None)
                self._order.pop(name, None)
        if isinstance(value, Parameter):
            self._reg_params._assign(name, value)
        elif isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, list | tuple | dict):
            self._order[name] = None
        super().__setattr__(name, value)
        changes.note()
        if value is not before and modes.current().trace is None:
            self._changed()  # compiled programs contain the attributes' old values

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._reg_params.pop(name, None)
        self._children.pop(name, None)
        self._order.pop(name, None)
        self._changed()
        changes.note()

    def register_child(self, block: "Block", name: str | None = None) -> None:
        """Register a block as a child; assigning it to an attribute does the same.

        Parameters
        ----------
        block : Block
            The child.
        name : str, optional
            Its name; by default the number of children before it.
        """
        if not isinstance(block, Block):
            raise TypeError(f"register_child: expected a Block, got {type(block).__name__}")
        name = str(len(self._children)) if name is None else name
        self._children[name] = block
        self._order[name] = None
        block._parents.add(self)
        changes.note()
        self._changed()

    def _changed(self) -> None:
        """Discard the compiled programs of this block and of its parents."""
        for parent in self._parents:
            parent._changed()

    @property
    def params(self) -> ParameterDict:
        """Parameters of this block alone, by attribute name.

        `params.get(name, shape=...)` creates and registers one.

        Examples
        --------
        >>> block = gluon.Block()
        >>> block.weight = block.params.get("weight", shape=(2, 3))
        >>> block.collect_params()
        {'weight': Parameter weight (shape=(2, 3), dtype=float32)}
        """
        return self._reg_params

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """Return the parameters of this block and all blocks in it.

        Parameters
        ----------
        select : str, optional
            Regular expression that the beginning of a name must match.

        Returns
        -------
        ParameterDict
            By name: the path of attributes to the parameter, joined by dots.

        Examples
        --------
        >>> net = nn.Sequential()
        >>> net.add(nn.Dense(2), nn.Dense(2))
        >>> list(net.collect_params(".*weight"))
        ['0.weight', '1.weight']
        """
        pattern = re.compile(select or "")
        found = ParameterDict()
        found.update({name: p for name, p in self._named_params("").items() if pattern.match(name)})
        found._owner = self
        return found

    def _named_params(self, prefix: str) -> dict[str, Parameter]:
        found: dict[str, Parameter] = {prefix + name: p for name, p in self._reg_params.items()}
        for name, child in self._blocks().items():
            found |= child._named_params(f"{prefix}{name}.")
        return found

    def _named_blocks(self, prefix: str = "") -> dict[str, "Block"]:
        """Return this block and those in it, by their names followed by a dot."""
        found = {prefix: self}
        for name, child in self._blocks().items():
            found |= child._named_blocks(f"{prefix}{name}.")
        return found

    def _blocks(self) -> dict[str, "Block"]:
        """Return the child blocks by name, in the order in which they were defined."""
        return parts(self)

    def apply(self: _Self, fn: Callable[["Block"], Any]) -> _Self:
        """Call a function on each block in this one, then on itself.

        Examples
        --------
        >>> net = nn.Sequential()
        >>> net.add(nn.Dense(2))
        >>> _ = net.apply(lambda block: print(type(block).__name__))
        Dense
        Sequential
        """
        for child in self._blocks().values():
            child.apply(fn)
        fn(self)
        return self

    def __repr__(self) -> str:
        lines = [f"  ({name}): {_indented(repr(child))}" for name, child in self._blocks().items()]
        return (
            f"{type(self).__name__}(\n{chr(10).join(lines)}\n)"
            if lines
            else f"{type(self).__name__}()"
        )

    # --- parameters

    def initialize(
        self,
        init: Any = None,
        device: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
        *,
        ctx: Any = None,
    ) -> None:
        """Initialize all parameters; those of unknown shape are initialized at the first call.

        Each parameter draws from a random stream of its own. So values depend neither on the time
        when shapes become known, nor on other draws.

        Parameters
        ----------
        init : Initializer or str, optional
            For parameters that have no initializer of their own; `Uniform()` if not given.
        device, ctx : Device, str, Mesh, Sharding or list of Device, optional
            Place of the parameters; each of several devices gets a copy.
        verbose : bool
            Whether to print what is initialized.
        force_reinit : bool
            Whether parameters that have values get new ones.

        Examples
        --------
        >>> net = nn.Dense(2, in_units=3)
        >>> net.initialize(init.One())
        >>> net.weight.data()
        array([[1., 1., 1.],
               [1., 1., 1.]])
        """
        if device is None and ctx is None:
            device = self.__dict__.get("_device")  # set by the function that made the block
        self.collect_params().initialize(init, device, verbose, force_reinit, ctx=ctx)

    def shard(
        self, mesh: Mesh, rules: Rules = None, fsdp: str | None = None, least: int = 2**14
    ) -> dict[str, Sharding | None]:
        """Shard the parameters over a mesh: data, fully sharded (FSDP) or tensor parallel training.

        May be called before or after `initialize`, and before or after the block was compiled.
        Gradients and the states of trainers lie as their parameters do. Initial values are made in
        pieces.

        Parameters
        ----------
        mesh : Mesh
            The devices.
        rules : dict of str to tuple, optional
            Regular expressions, each with the axes of the mesh along which parameters are cut in
            whose names it is found: ``{r"0.weight": ("model", None)}``; None leaves them whole. The
            first that is found counts.
        fsdp : str, optional
            Axis of the mesh along which parameters are cut that no rule names, at their longest
            axis that can be cut evenly.
        least : int
            Number of elements from which on `fsdp` cuts a parameter.

        Returns
        -------
        dict of str to Sharding
            The layout of each parameter; None for one whose shape is not known yet: it is chosen
            when the shape is.

        Raises
        ------
        ValueError
            If a rule does not fit a parameter, is for none of them, or names an axis that the mesh
            has not; nothing is moved then.

        Examples
        --------
        >>> net = nn.Dense(2, in_units=4)
        >>> net.shard(npx.Mesh([npx.cpu(0)], data=1), {"bias": None}, fsdp="data", least=8)
        {'weight': Mesh(data=1)(None, 'data'), 'bias': Mesh(data=1)()}
        """
        return self.collect_params().shard(mesh, rules, fsdp, least)

    def share_parameters(self: _Self, shared: Mapping[str, Parameter] | None) -> _Self:
        """Share parameters with another block: they replace those of the same name.

        Parameters
        ----------
        shared : dict of str to Parameter, or None
            The result of the other block's `collect_params`; None shares nothing.

        Examples
        --------
        >>> a, b = nn.Dense(2, in_units=2), nn.Dense(2, in_units=2)
        >>> _ = b.share_parameters(a.collect_params())
        >>> b.weight is a.weight
        True
        """
        blocks = self._named_blocks()
        for name, parameter in (shared or {}).items():
            path, dot, last = name.rpartition(".")
            block = blocks.get(path + dot)
            if block is not None and last in block._reg_params:
                setattr(block, last, parameter)
        return self

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters, such as `grad_req` or `lr_mult`.

        Examples
        --------
        >>> net = nn.Dense(2)
        >>> net.setattr("grad_req", "null")
        >>> net.weight.grad_req
        'null'
        """
        self.collect_params().setattr(name, value)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        self.collect_params().zero_grad()

    def reset_device(self, device: Any) -> None:
        """Move all parameters to another device."""
        self.collect_params().reset_device(device)

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to another device; an alias of `reset_device`."""
        self.reset_device(ctx)

    def cast(self, dtype: DTypeLike) -> None:
        """Change the dtype of all parameters."""
        for child in self._blocks().values():
            child.cast(dtype)
        for parameter in self._reg_params.values():
            parameter.cast(dtype)
        self._changed()

    # --- calls

    def forward(self, *args: Any) -> Any:
        """Compute the outputs of the block; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(self, x, ...)")

    def infer_shape(self, *args: Any) -> None:
        """Infer the shapes of this block's own parameters from its inputs.

        Subclasses with parameters of unknown shape define it.
        """
        unknown = [name for name, p in self._reg_params.items() if not p.shape_is_known]
        if unknown:
            raise NotImplementedError(
                f"{type(self).__name__} has parameters of unknown shape ({', '.join(unknown)}): "
                "give their shapes, or define "
                "infer_shape(self, *inputs) so that it sets them"
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _variables.begins_graph(args, kwargs):
            with _variables.Variables(self.collect_params()):
                return Block.__call__(self, *args, **kwargs)  # a subclass adds its part once
        if traced_now and modes.current().trace is not None:
            self._note_hooks()
        if self._backward_hooks and modes.current().recording:
            hooks = list(self._backward_hooks.values())
            return with_backward_hooks(self, hooks, self._hooked_call, *args, **kwargs)
        if self._forward_pre_hooks or self._op_hooks or self._forward_hooks:
            return self._hooked_call(*args, **kwargs)
        return self._run(*args, **kwargs)

    def _hooked_call(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        out = (
            observed([*self._op_hooks.values()], self._run, *args, **kwargs)
            if self._op_hooks
            else self._run(*args, **kwargs)
        )
        if self._forward_hooks:
            for hook in list(self._forward_hooks.values()):
                hook(self, args, out)
        return out

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        for parameter in self._reg_params.values():
            if parameter._data is None:
                self._complete(*args)
                break
        if traced_now and modes.current().trace is not None:
            return late_bound.converted(self.forward)(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _complete(self, *args: Any) -> None:
        """Initialize deferred parameters, whose shapes follow from the inputs."""
        # While a graph is built, variables need no values; shapes may stay unknown.
        if _variables.current() is not None:
            if not all([p.shape_is_known for p in self._reg_params.values()]):
                with contextlib.suppress(InferenceError):
                    self.infer_shape(*args)
            return
        waiting = [
            p for p in self._reg_params.values() if p._data is None and p._waiting is not None
        ]
        if waiting and is_staged():
            raise ChangedTypeError(
                f"{user_location()}: a branch or loop initializes the parameters of "
                f"{self.name!r}; give in_units and the like, or call the block once before"
            )
        if any(not p.shape_is_known for p in waiting):
            self.infer_shape(*args)
        for parameter in waiting:
            parameter._finish_deferred()

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Compile the hybrid blocks in this one.

        The arguments are those of `HybridBlock.hybridize`.
        """
        for child in self._blocks().values():
            child.hybridize(active, **kwargs)

    def summary(self, *inputs: Any) -> None:
        """Print a table of the layers: output shapes, numbers of parameters and FLOPs.

        FLOPs are operations on floats, without those of child blocks; a multiplication and an
        addition are two.

        Parameters
        ----------
        *inputs : ndarray
            A batch; the block is called on it in prediction mode.

        Examples
        --------
        >>> net = nn.Dense(2)
        >>> net.initialize()
        >>> net.summary(np.zeros((4, 3)))
        Layer        Output shape    Parameters           FLOPs
        -------------------------------------------------------
        Input              (4, 3)             0               0
        Dense              (4, 2)             8              56
        -------------------------------------------------------
        8 parameters, 8 of them trainable; 56 FLOPs
        """
        print_summary(self, inputs)

    # --- copies

    def __getstate__(self) -> dict[str, Any]:
        return {
            k: v for k, v in self.__dict__.items() if k not in ("_parents", "_compiled", "_watched")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _parents=weakref.WeakSet(), _compiled=None, _watched=None)
        for child in self._children.values():
            child._parents.add(self)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


__all__ = ["Block"]
